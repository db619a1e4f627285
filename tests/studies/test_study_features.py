"""The experiments on features of pairs, as far as they need no data sets."""

import numpy as np
import pandas as pd

from linktopics import RelationalTopicModel
from studies.features import experiments as features


def test_models_with_features_compared(tmp_path, a_run):
    from linktopics.evaluation.baselines import BASELINES

    models, described = features.make_models(a_run(tmp_path, topics=(7,)), 7)
    assert list(models) == list(described)
    assert all(about["model"] == label for label, about in described.items())
    groups = {g: [label for label in models if described[label]["group"] == g] for g in ("paper", "features")}
    assert {label for label, about in described.items() if about["group"] == "baseline"} == set(BASELINES)
    for label in groups["paper"]:
        assert models[label].pair_features is None
        assert models[label].weight_variance == 1.0
        assert models[label].n_chains == (4 if "4 chains" in label else 1)
        assert models[label].n_samples == (1 if "one sample" in label else 10)
    assert {models[label].n_topics for name in groups for label in groups[name]} == {7}
    usual = RelationalTopicModel(7).get_params()
    assert models["default"].get_params() == usual
    assert models["default, 1 chain"].get_params() == {**usual, "n_chains": 1}
    assert models["no features, 1 chain"].get_params() == {**usual, "n_chains": 1, "pair_features": None}
    names = features.ALL_FEATURES
    assert models["all features, 1 chain"].get_params() == {**usual, "n_chains": 1, "pair_features": names}
    alone = {name: models[f"{name} alone, 1 chain"].pair_features for name in names if name != "intercept"}
    assert alone == {name: [name] for name in alone}
    quick, _ = features.make_models(a_run(tmp_path, topics=(7,), quick=True), 7)
    assert all(getattr(model, "n_burn_in", 20) <= 20 for model in quick.values())


def test_settings_that_defaults_were_chosen_from():
    """Each value is one that the model takes, and no two values of a choice are the same."""
    for values in features.CHANGES.values():
        given = [{**features.BASE_SETTINGS, **changed} for changed in values.values()]
        for parameters in given:
            RelationalTopicModel(5, **parameters)._validate_params()
        assert all(one != two for number, one in enumerate(given) for two in given[:number])


def test_table_of_models_with_features():
    values = {"median_rank": 3.0, "auc": 0.9, "auc_std": 0.1, "mrr": 0.5, "hits_at_20": 0.25, "hits_at_20_std": 0.0}
    values |= {"link_rank_std": 2.0, "word_rank": np.nan, "train_seconds": 1.25, "test_seconds": 0.5}
    rows = [("a", "paper", 30.0), ("b", "features", 10.0), ("c", "baseline", 20.0)]
    summary = pd.DataFrame([{"model": m, "group": g, "link_rank": rank, **values} for m, g, rank in rows])
    lines = features.results_table(summary, "Cora").splitlines()
    assert lines[0].startswith("Cora (+ ours, * baselines)")
    assert [line.split("±")[0].split() for line in lines[2:]] == [["b", "+", "10"], ["c", "*", "20"], ["a", "30"]]
    assert max(map(len, lines)) <= 100
