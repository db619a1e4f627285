"""What is shown of the model as a whole, of its topics and of its quality."""

import numpy as np
import pandas as pd
import pytest

from linktopics import DataError, RelationalTopicModel
from linktopics.evaluation import Evaluation, evaluate
from linktopics.evaluation.folds import RESULT_KEY, ResultFile
from linktopics.explorer import Explorer
from linktopics.explorer.overview import describe_quality
from linktopics.explorer.topics import LAMBDAS, N_WORDS
from support.explored_models import NETWORK, SETTINGS, K, N, strict_json

pytestmark = pytest.mark.filterwarnings("ignore::linktopics.errors.MixingWarning")


def test_meta_of_all_models(explorer, model):
    meta = strict_json(explorer.meta())
    assert meta == explorer.meta()
    assert meta["version"] == 1
    assert (meta["data"]["documents"], meta["data"]["links"]) == (N, model.network_.n_links)
    assert meta["data"]["labels"] == ["0", "1"]
    assert meta["data"]["fingerprint"] == model.network_.fingerprint()
    assert [row["quantity"] for row in meta["mixing"]["table"]] == list(model.trace_)
    assert dict(meta["settings"])["n_topics"] == str(K)
    assert dict(meta["provenance"])["seed"] == "0"
    assert [feature["name"] for feature in meta["features"]] == model.feature_names_
    np.testing.assert_allclose(meta["weights"]["mean"], model.link_weights_, rtol=1e-3)
    assert sorted(meta["weights"]["order"]) == list(range(K))
    assert np.all((np.array(meta["weights"]["layout"]) >= 0) & (np.array(meta["weights"]["layout"]) <= 1))
    assert meta["weights"]["symmetric"] == (not model.network_.directed)
    mentioned = {str(i) for topic in meta["topics"] for i in topic["documents"]}
    assert set(meta["names"]) == mentioned
    assert sum(topic["share"] for topic in meta["topics"]) == pytest.approx(1, abs=1e-3)


def test_deviations_and_signs_of_weights(explorer, model):
    weights = explorer.meta()["weights"]
    drawn = np.stack([sample.weights for sample in model.predictor.reference_samples])
    if len(drawn) == 1:  # one sample does not tell
        assert weights["sd"] == weights["positive"] == [[None] * K] * K
        assert {feature["sd"] for feature in explorer.meta()["features"]} <= {None}
    else:
        np.testing.assert_allclose(weights["sd"], drawn.std(axis=0), rtol=6e-3)
        np.testing.assert_allclose(weights["positive"], (drawn > 0).mean(axis=0), rtol=1e-3)


def test_links_between_topics_observed_and_by_chance(explorer, model):
    links, directed = model.network_.links, model.network_.directed
    shares = np.mean([sample.doc_topic for sample in model.predictor.reference_samples], axis=0)
    observed = sum(np.outer(shares[i], shares[j]) for i, j in links)
    ends = [(i, j) for i in links[:, 0] for j in links[:, 1]]
    if not directed:
        observed = (observed + observed.T) / 2
        ends = [(i, j) for i in links.ravel() for j in links.ravel()]
    chance = len(links) * np.mean([np.outer(shares[i], shares[j]) for i, j in ends], axis=0)
    weights = explorer.meta()["weights"]
    np.testing.assert_allclose(weights["observed"], observed, rtol=1e-3)
    np.testing.assert_allclose(weights["chance"], chance, rtol=1e-3)
    assert np.sum(weights["observed"]) == pytest.approx(len(links), rel=1e-3)


def test_words_of_topics_by_relevance(explorer, model):
    frequency = np.asarray(NETWORK.counts.sum(axis=0)).ravel() / NETWORK.n_tokens
    for k, topic in enumerate(explorer.meta()["topics"]):
        p = model.topic_word_[k]
        places = [NETWORK.vocabulary.tolist().index(word) for word in topic["words"]]
        np.testing.assert_allclose(topic["p"], p[places], rtol=1e-3)
        np.testing.assert_allclose(topic["q"], frequency[places], rtol=1e-3)
        assert topic["p"] == sorted(topic["p"], reverse=True)
        for weight in LAMBDAS:
            relevance = weight * np.log(p) + (1 - weight) * np.log(p / frequency)
            assert set(np.argsort(-relevance, kind="stable")[:N_WORDS]) <= set(places)
        assert topic["attraction"] == pytest.approx(model.link_weights_[k, k], rel=1e-3)
        shares = explorer.shares[:, k]
        mostly = [i for i in topic["documents"] if shares[i] >= 0.5]
        assert topic["documents"][: len(mostly)] == mostly
        tokens = shares[mostly] * NETWORK.lengths[mostly]
        assert np.all(np.diff(tokens) <= 1e-12)
        assert {other for other, _ in topic["partners"]} == set(np.flatnonzero(model.link_weights_[k] > 0)) - {k}


def test_traces_have_few_points(directed, monkeypatch):
    monkeypatch.setattr("linktopics.explorer.overview.MAX_TRACE_POINTS", 5)
    mixing = Explorer(directed).meta()["mixing"]
    assert (mixing["step"], mixing["sweeps"], mixing["burn_in"], mixing["chains"]) == (3, 13, 10, 2)
    for name, values in directed.trace_.items():
        np.testing.assert_allclose(mixing["traces"][name], values[:, 2::3], atol=1e-3 * np.ptp(values) + 1e-12)


@pytest.mark.parametrize("form", ["evaluation", "frame", "csv", "jsonl"])
def test_quality(directed, tmp_path, form):
    result = evaluate(
        NETWORK, {"linktopics": RelationalTopicModel(2, **SETTINGS), "tf": RelationalTopicModel(3, **SETTINGS)}, 2,
        words=False, resume=tmp_path / "kept.jsonl",
    )  # fmt: skip
    result.to_csv(tmp_path / "folds.csv")
    files = {"csv": tmp_path / "folds.csv", "jsonl": tmp_path / "kept.jsonl"}
    with open(files["jsonl"], "ab") as file:
        file.write(b'{"linktopics_result": "of a task that is not writ')
    given = {"evaluation": result, "frame": result.folds, **files}
    quality = strict_json(Explorer(directed, evaluation=given[form]).meta()["quality"])
    assert (quality["model"], quality["folds"]) == ("linktopics", 2)
    assert [row["model"] for row in quality["baselines"]] == ["tf"]
    measures = {measure["name"]: measure for measure in quality["measures"]}
    assert "word_rank" not in measures  # was not measured
    assert measures["auc"]["better"] == "higher"
    assert measures["auc"]["description"] == "area under the ROC curve"
    assert measures["link_rank"]["better"] == "lower"
    own = result.folds.query("model == 'linktopics'")["auc"]
    assert measures["auc"]["mean"] == pytest.approx(own.mean(), rel=1e-3)
    assert measures["auc"]["sd"] == pytest.approx(own.std(), rel=0.06)


@pytest.mark.parametrize(
    "content",
    [None, b"", b"a,b\n1,2\n", b"\xff\xfe\x00", b'{"model": 3}\n', b"model,fold\nx,1\n", b'{"linktopics_result": 3,\n'],
)
def test_quality_from_something_else(directed, tmp_path, content):
    path = tmp_path / "file"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(DataError, match="evaluat"):
        Explorer(directed, evaluation=path)
    if content is not None:
        assert path.read_bytes() == content


def test_empty_quality(directed):
    with pytest.raises(DataError, match="not a result of linktopics evaluate"):
        Explorer(directed, evaluation=Evaluation(pd.DataFrame()))


def test_provenance_of_a_saved_model(directed, tmp_path):
    directed.save(tmp_path / "model")
    facts = dict(Explorer(directed, folder=tmp_path / "model").meta()["provenance"])
    assert facts["fitted with numpy"] == np.__version__
    assert facts["saved"].startswith("20")
    assert dict(Explorer(directed).meta()["provenance"])["numpy"] == np.__version__


RESULTS = {
    "measures in words": "model,fold,auc\ntfidf,1,high\n",
    "models without names": "model,fold,auc\n,1,0.5\n",
    "folds in words": "model,fold,auc\ntfidf,first,0.5\n",
    "models that are lists": f'{{"{RESULT_KEY}": "a", "model": [], "fold": 1, "auc": 0.5}}\n',
    "many floors": f'{{"{RESULT_KEY}": ' + "[" * 100_000 + "\n",
}


@pytest.mark.parametrize("name", RESULTS)
def test_results_of_an_evaluation_that_are_none(name, tmp_path):
    path = tmp_path / "results"
    path.write_text(RESULTS[name])
    with pytest.raises(DataError, match="not a result of linktopics evaluate"):
        describe_quality(path)
    if name == "many floors":
        with pytest.raises(DataError, match="is not a result of an evaluation"):
            ResultFile(path)
