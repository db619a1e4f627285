"""The experiments of the paper, as far as they need no data sets: what is counted, queries, models compared."""

import numpy as np
import pandas as pd
import pytest

from linktopics import DocumentNetwork, RelationalTopicModel
from studies.paper.comparison import OURS, VARIANTS, make_models
from studies.paper.discovery import fit_topics, main_class
from studies.paper.suggestions import genetic_query, planning_query, queries_page, summarise_hits, table
from studies.paper.weights import count_signs


def test_signs_of_weights():
    weights = np.array([[2.0, 1.0, 0.5, 3.0], [-1.0, 1.0, -1.0, 2.0], [-1.0, -1.0, -0.5, 0.1], [-1.0, -2.0, -3.0, 4.0]])
    counts = count_signs(weights, diagonal=False)
    assert counts == {
        "n_topics": 4,
        "positive_diagonal": 3,
        "n_off_diagonal": 12,
        "negative_off_diagonal": 7,
        "generic_topic": 1,
        "generic_positive": 3,
    }
    assert str(counts).startswith(
        "3 of 4 diagonal weights are positive, 7 of 12 others are negative; topic 1 is generic"
    )
    by_column = np.where(np.arange(4) == 2, 1.0, -1.0) * np.ones((4, 1))
    by_column[0, 2] = -1.0
    counts = count_signs(by_column, diagonal=False)
    assert (counts["generic_topic"], counts["generic_positive"], counts["positive_diagonal"]) == (3, 2, 1)
    assert "topic 3 comes nearest to a generic one: 2 of its 3 weights" in str(counts)


def test_signs_of_diagonal_weights():
    assert str(count_signs(np.diag([1.0, -2.0, 3.0]), diagonal=True)) == "2 of 3 diagonal weights are positive."


def test_main_class_needs_to_stand_out():
    classes = ["Rule_Learning", "Theory", "Neural_Networks"]
    assert main_class(np.array([0.1, 0.1, 0.4]), classes) == "Neural Networks"
    assert main_class(np.array([0.10, 0.11, 0.09]), classes) == "mixed"


def test_topics_in_classes():
    labels = ["x", "y"] * 10
    counts = np.array([[6, 0] if label == "x" else [0, 6] for label in labels])
    network = DocumentNetwork(counts, [(0, 2), (1, 3)], labels=labels)
    model = RelationalTopicModel(2, alpha=0.1, n_burn_in=30, n_samples=1, thin=1, negatives=2, random_state=0)
    found = fit_topics(model, network)
    assert found["classes"] == ["x", "y"]
    means = np.array(found["means"])
    np.testing.assert_allclose(means.sum(axis=0), 1)  # proportions of topics in each class
    assert sorted(means.argmax(axis=1)) == [0, 1]
    assert len(found["documents"]) == 12
    for topic, _, _, label, proportion in found["documents"]:
        assert label == found["classes"][means[topic - 1].argmax()]
        assert proportion > 0.9


@pytest.fixture
def papers():
    titles = [
        "A survey of Genetic Algorithms.",
        '"Planning by Incremental Dynamic Programming."',
        "On genetic algorithms",
        "Temporal differences",
    ]
    return DocumentNetwork(np.ones((4, 2)), [(2, 0), (2, 3), (1, 3), (3, 1), (3, 2)], titles=titles)


def test_queries_are_chosen_by_rule(papers):
    assert planning_query(papers) == 1
    assert genetic_query(papers) == 2  # three links to one


def test_titles_that_are_not_there():
    with pytest.raises(ValueError, match="no title in cora-r contains 'genetic algorithm'"):
        genetic_query(DocumentNetwork(np.ones((2, 1)), [(0, 1)], titles=["x", "y"]))


def test_true_links_count_either_way(papers):
    found = table(papers, "m", 0, {"documents": [0, 1], "suggested": [[2, 1], [3, 0]]})
    assert found["true_link"].tolist() == [True, False, True, False]
    assert found["rank"].tolist() == [1, 2, 1, 2]
    assert found["fold"].unique().tolist() == [1]
    page = queries_page(papers, found, 5)
    assert "## Planning by Incremental Dynamic Programming." in page
    assert "1. **Temporal differences**\n2. A survey of Genetic Algorithms." in page
    assert "Linked with 1 paper in the network." in page
    assert "**m**: 1 of 2 true" in page


def test_mean_of_true_links_is_over_documents_not_folds():
    per_fold = pd.DataFrame(
        {"model": ["m", "m"], "fold": [1, 2], "mean_true_links": [1.0, 0.0], "true_links": [3, 0], "documents": [3, 1]}
    )
    summary = summarise_hits(per_fold)
    assert summary.loc[0, ["true_links", "documents", "mean_true_links"]].tolist() == [3, 4, 0.75]


def test_models_compared(tmp_path, a_run):
    from linktopics.evaluation.baselines import BASELINES

    models, described = make_models(a_run(tmp_path), "cora")
    frame = pd.DataFrame([{**what, "label": label} for label, what in described.items()])
    assert list(models) == frame["label"].tolist()
    assert frame.groupby("group").size().to_dict() == {
        "paper": 7 * 2,
        "variant": 2 * 2,
        "ours": len(OURS),
        "baseline": len(BASELINES),
    }
    paper = models["Gibbs-gMMRTM, K = 10"]
    assert (paper.n_topics, paper.loss, paper.n_burn_in, paper.n_samples) == (10, "hinge", 400, 1)
    assert models["Var-RTM, K = 5"].negatives is None
    assert models["Var-RTM (neg 0.2%), K = 5"].negatives == 0.002
    variant = models["Gibbs-RTM (c=1, neg 0.2%), K = 5"]
    assert (variant.link_cost, variant.negatives, variant.weights) == (1.0, 0.002, "diagonal")
    ours = models["Gibbs-gRTM, 4 chains x 10 samples, K = 10"]
    assert (ours.n_chains, ours.n_samples, ours.n_burn_in) == (4, 10, 300)
    assert models["Gibbs-gRTM, 10 samples, K = 10"].n_chains == 1
    for model in models.values():
        assert getattr(model, "pair_features", None) is None
    assert set(VARIANTS) == {"cora", "webkb", "citeseer"}


def test_quick_models_have_few_sweeps(tmp_path, a_run):
    models, _ = make_models(a_run(tmp_path, quick=True), "citeseer")
    assert all(getattr(model, "n_burn_in", 20) <= 20 for model in models.values())
    assert models["Var-RTM (neg 1%), K = 5"].max_iter == 20
