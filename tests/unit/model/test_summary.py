"""How a fitted model describes itself, and further links of documents it knows."""

import io
import re
import warnings

import numpy as np
import pandas as pd
import pytest

from linktopics import DataError, DocumentNetwork, MixingWarning, RelationalTopicModel
from linktopics.coherence import coherence, topic_diversity
from linktopics.datasets import make_network
from linktopics.diagnostics import mixing_table
from linktopics.model.summary import _mixing

K = 3
SETTINGS = {"n_burn_in": 12, "n_samples": 3, "thin": 4, "n_chains": 2, "random_state": 0, "verbose": False}


def make_model(directed=True, **settings):
    network = make_network(40, K, 60, mean_length=30, mean_degree=4, directed=directed, random_state=1)
    named = DocumentNetwork(
        network.counts,
        network.links,
        directed=directed,
        ids=[f"d{number}" for number in range(40)],
        vocabulary=[f"w{number}" for number in range(60)],
        link_ends="indices",
    )
    return RelationalTopicModel(K, **{**SETTINGS, **settings}).fit(named)


@pytest.fixture(scope="module", params=[True, False], ids=["directed", "undirected"])
def model(request):
    return make_model(request.param)


def test_topics_with_documents_and_coherence(model):
    table = model.topics(n_words=4, n_documents=3, coherence="umass")
    assert table.share.is_monotonic_decreasing
    np.testing.assert_allclose(table.share.sum(), 1)
    top = np.argsort(-model.topic_word_, axis=1, kind="stable")
    for topic, row in table.iterrows():
        assert row.words == ", ".join(f"w{word}" for word in top[topic, :4])
        assert row.attraction == model.link_weights_[topic, topic]
        shares, tokens = model.doc_topic_[:, topic], model.doc_topic_[:, topic] * model.network_.lengths
        best = sorted(range(40), key=lambda i: (shares[i] < 0.5, -tokens[i]))[:3]
        assert row.documents == [f"d{i}" for i in best]
    expected = coherence(top[:, :10], model.network_.counts, "umass", n_words=10)
    np.testing.assert_array_equal(table.coherence, expected[table.index])
    assert list(model.topics().columns) == ["share", "words", "attraction"]


def test_coherence_and_diversity_are_of_the_most_probable_words(model):
    top = np.argsort(-model.topic_word_, axis=1, kind="stable")
    for measure in ("npmi", "cv"):
        expected = coherence(top[:, :5], model.network_.counts, measure, n_words=5)
        np.testing.assert_array_equal(model.coherence(measure, n_words=5), expected)
    assert model.topic_diversity(7) == topic_diversity(top[:, :7], 7)


def test_the_trace_is_that_of_the_states(model):
    """After the sweeps at which samples were kept, what the trace says can be computed from the samples."""
    assert {values.shape for values in model.trace_.values()} == {(2, 24)}
    for number, sample in enumerate(model.samples_):
        at = sample.chain, 12 + 4 * (number % 3 + 1) - 1
        U, found = sample.weights, {name: values[at] for name, values in model.trace_.items()}
        assert found["log joint"] == sample.log_joint
        tokens = model.network_.lengths @ sample.doc_topic
        shares = tokens / tokens.sum()
        values = np.linalg.eigvalsh((U + U.T) / 2)
        expected = {
            "topic entropy": -(shares * np.log(shares)).sum(),
            "weight norm": np.sqrt((U**2).sum()),
            "weight trace": U.diagonal().sum(),
            "largest eigenvalue": values.max(),
            "smallest eigenvalue": values.min(),
        }
        names = dict(zip(model.feature_names_, sample.feature_weights, strict=True))
        expected |= {f"weight of {name}": value for name, value in names.items()}
        for name, value in expected.items():
            assert found[name] == pytest.approx(value, rel=1e-5), name
        assert found["log likelihood of links"] < 0
    assert set(model.trace_) == {"log joint", "log likelihood of links", *expected}


def test_diagnostics_are_of_the_sweeps_after_burn_in(model):
    after = {name: values[:, 12:] for name, values in model.trace_.items()}
    assert model.diagnostics().equals(mixing_table(after))


def test_arviz(model):
    pytest.importorskip("arviz", reason="arviz is not installed; it comes with linktopics[arviz]")
    data = model.to_arviz()
    draws = data["posterior"]["weight_norm"]
    assert draws.dims == ("chain", "draw")
    np.testing.assert_array_equal(draws.values, model.trace_["weight norm"][:, 12:])
    np.testing.assert_array_equal(data["sample_stats"]["lp"].values, model.log_joints_[:, 12:])


@pytest.mark.parametrize("verbose", ["auto", False])
def test_chains_that_disagree_are_told(verbose):
    """With a progress bar and without one: what is wrong with a result has nothing to do with it."""
    with pytest.warns(MixingWarning, match=r"chains do not agree .*R-hat") as told:
        fitted = make_model(n_burn_in=0, verbose=verbose)
    assert len(told) == 1
    assert told[0].filename == __file__
    assert "chains do not agree" in " ".join(fitted.summary_text().split())
    with warnings.catch_warnings():
        warnings.simplefilter("error", MixingWarning)
        single = make_model(n_burn_in=0, n_chains=1, verbose=verbose)
    assert "chains do not agree" not in " ".join(single.summary_text().split())


def test_summary(model):
    file = io.StringIO()
    model.summary(file)
    text = file.getvalue()
    assert text == model.summary_text() + "\n"
    assert text.startswith("RelationalTopicModel: 3 topics, logistic loss, full weights\n")
    for part in ("40 documents", "2 chains of 24 sweeps, the first\\s+12 as burn-in; 6 samples", "alpha 5 in total"):
        assert re.search(part, text), part
    assert [int(line.split()[0]) for line in text.splitlines() if re.match(r"^ +\d+ +[\d.]+%", line)] == list(
        model.topics().index
    )
    narrow = model.summary_text(n_topics=1, width=60, folder="a-folder")
    assert max(map(len, narrow.splitlines())) <= 60
    assert "... and 2 more" in narrow
    assert "MODEL" not in narrow


@pytest.mark.parametrize(
    ("r_hat", "ess"), [([np.nan, np.nan], [40.0, 30.0]), ([1.0, 1.1], [np.nan, np.nan]), ([np.nan] * 2, [np.nan] * 2)]
)
def test_mixing_that_nobody_can_tell(r_hat, ess):
    """Found by fuzzing: a trace that is the same in all sweeps has no R-hat."""
    table = pd.DataFrame({"r_hat": r_hat, "ess": ess}, index=["log joint", "topic entropy"])
    assert _mixing(table) == "unknown: too few sweeps after burn-in"


def test_too_many_topics_for_so_little_text_are_told():
    """Six texts of two words each cannot tell eight topics apart; forty documents of three clear topics can three."""
    texts = ["red green", "green blue", "blue red", "sun moon", "moon star", "star sun"]
    little = DocumentNetwork.from_texts(texts, [(0, 1), (3, 4)])
    said = " ".join(RelationalTopicModel(8, negatives=2, **SETTINGS).fit(little).summary_text().split())
    assert "The 8 topics hardly differ: 12 words in 6 documents are too few" in said
    assert "hardly differ" not in make_model().summary_text()


def test_wrong_documents_to_suggest_for(model):
    with pytest.raises(DataError, match="no document has the id 'd99'"):
        model.suggest_links_for("d99")
    with pytest.raises(DataError, match="the list of ids is empty"):
        model.suggest_links_for([])
    with pytest.raises(ValueError, match="direction is 'up'"):
        model.suggest_links_for("d1", direction="up")
