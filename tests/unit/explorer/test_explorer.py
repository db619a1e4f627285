"""Odd models can be shown, and stay as they are."""

import numpy as np
import pytest

from linktopics import DocumentNetwork, RelationalTopicModel
from linktopics.explorer import Explorer
from support.explored_models import NETWORK, SETTINGS, K, N, strict_json
from support.small_models import LINKS, TEXTS, small_model, small_network

pytestmark = pytest.mark.filterwarnings("ignore::linktopics.errors.MixingWarning")


def everything(model, **others):
    """Return all that is shown of a model, as a program reads it."""
    explorer, n = Explorer(model, **others), len(model.network_)
    cells = [explorer.cell(a, b) for a in range(explorer.n_topics) for b in range(explorer.n_topics)]
    documents = [explorer.document(i) for i in range(n)]
    return strict_json([explorer.meta(), cells, documents, explorer.documents("a"), explorer.report(5)])


def test_without_names():
    """Without titles, texts and vocabulary; ids are numbers."""
    network = DocumentNetwork(NETWORK.counts, NETWORK.links, titles=None)
    model = RelationalTopicModel(K, **SETTINGS).fit(network)
    meta, _, documents, *_ = everything(model)
    assert not any(meta["data"][name] for name in ("has_titles", "has_texts", "reads_texts", "has_labels"))
    assert (meta["data"]["labels"], documents[5]["label"]) == (None, None)
    assert (documents[5]["id"], documents[5]["title"], documents[5]["text"]) == ("5", "5", None)
    assert all(word.startswith("word ") for word, *_ in documents[5]["words"])
    said = {reason["detail"] for d in documents for link in d["links"] for reason in link["why"] if "feature" in reason}
    assert any(detail.startswith("shared words: word ") for detail in said)
    assert [row["i"] for row in Explorer(model).documents("word 17", size=99)["rows"]] == [
        i for i in range(N) if network.counts[i, 17] or i == 17
    ]


def test_without_links():
    model = small_model().fit(small_network(links=[]))
    meta, cells, documents, _, report = everything(model)
    assert "without links" in meta["weights"]["note"]
    assert not np.any(meta["weights"]["mean"])
    assert meta["weights"]["sd"] == [[None] * 3] * 3
    assert {topic["attraction"] for topic in meta["topics"]} == {None}
    assert not any(cell["links"] for cell in cells)
    assert not any(document["links"] or document["suggested"] for document in documents)
    assert report["links"] == []


def test_one_topic():
    meta, _, documents, *_ = everything(small_model(n_topics=1).fit(small_network()))
    assert meta["weights"]["layout"] == [[0.5, 0.5]]
    assert meta["topics"][0]["partners"] == []
    assert all(document["topics"] == [[0, 1]] for document in documents)


@pytest.mark.filterwarnings("ignore::linktopics.errors.NetworkWarning")
def test_empty_documents_and_missing_values():
    texts = {**TEXTS, "nothing": "", "void": ""}
    titles = ["", None, float("nan"), *(f"T{n}" for n in range(len(texts) - 3))]
    columns = {"year": [None, float("nan"), *range(len(texts) - 2)]}
    network = DocumentNetwork.from_texts(
        list(texts.values()), [*LINKS, ("void", "cat")], ids=list(texts), titles=titles, columns=columns,
        labels=[None, *"abcabcabcab"],
    )  # fmt: skip
    meta, _, documents, *_ = everything(small_model().fit(network))
    assert meta["data"]["report"] == ["kept 2 documents without words: 'nothing', 'void'."]
    assert [document["title"] for document in documents[:4]] == ["cat", "kitten", "mouse", "T0"]
    assert (documents[0]["label"], documents[0]["columns"]) == (None, {"year": None})
    assert documents[-1]["words"] == []
    assert sum(share for _, share in documents[-1]["topics"]) == pytest.approx(1, abs=0.01)
    assert len(documents[-1]["links"]) == 1


@pytest.mark.parametrize("changes", [{"n_chains": 1, "n_samples": 1}, {"weights": "diagonal"}, {"directed": False}])
def test_other_models(changes):
    meta, *_ = everything(small_model(**changes).fit(small_network()))
    assert meta["mixing"]["chains"] == changes.get("n_chains", 2)
    assert meta["weights"]["diagonal"] == ("weights" in changes)


def test_a_document_that_is_linked_with_all():
    names = list(TEXTS)
    network = small_network(links=[*LINKS, *((names[0], other) for other in names[1:])])
    *_, documents, _, _ = everything(small_model().fit(network))
    assert documents[0]["suggested"] == []
    assert len(documents[0]["links"]) == len(names) + 1  # two documents link back


def test_the_model_stays_as_it_is(directed):
    before = directed.get_params()
    everything(directed)
    assert directed.get_params() == before
