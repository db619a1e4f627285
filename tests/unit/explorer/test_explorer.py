"""What pages show of a model is what the model says of itself, pair by pair."""

import json

import numpy as np
import pandas as pd
import pytest

from linktopics import DataError, DocumentNetwork, RelationalTopicModel
from linktopics.evaluation import Evaluation, evaluate
from linktopics.explorer import Explorer, document_links
from linktopics.explorer.topics import LAMBDAS, N_WORDS
from linktopics.features import Column, similarity
from support.marks import some_long
from support.small_models import LINKS, TEXTS, small_model, small_network

pytestmark = pytest.mark.filterwarnings("ignore::linktopics.errors.MixingWarning")

K, N, V = 3, 24, 40
SETTINGS = {"n_burn_in": 10, "n_samples": 3, "thin": 1, "n_chains": 2, "negatives": 2, "random_state": 0}
FEATURES = ["tfidf", "tfidf-centroid", "tfidf-neighbours", "degree"]
MODELS = {
    "directed": {"pair_features": [*FEATURES, Column("year", "difference")]},
    "undirected": {"pair_features": FEATURES, "directed": False},
    "hinge": {"pair_features": ["tfidf"], "loss": "hinge", "margin": 0.7},
    "plain": {"pair_features": None},
    "diagonal": {"pair_features": ["degree"], "weights": "diagonal", "intercept": True},
    "one sample": {"pair_features": FEATURES, "n_samples": 1, "n_chains": 1},
}


def make_network(**others):
    """Draw two groups of documents with links inside, some both ways."""
    rng = np.random.default_rng(1)
    group = np.arange(N) % 2
    counts = rng.poisson(np.where(group[:, None] == np.arange(V) // (V // 2), 0.8, 0.1)) + np.eye(N, V, dtype=int)
    linked = rng.random((N, N)) < np.where(group[:, None] == group, 0.2, 0.03)
    linked |= linked.T & (rng.random((N, N)) < 0.4)
    np.fill_diagonal(linked, False)
    ids = [f"d{i}" for i in rng.permutation(N)]
    given = {
        "titles": [f"Title of {id}" for id in ids],
        "vocabulary": [f"word{w}" for w in range(V)],
        "labels": group.tolist(),
        "columns": {"year": (1990 + np.arange(N) % 7).tolist()},
    }
    return DocumentNetwork(counts, [(ids[i], ids[j]) for i, j in np.argwhere(linked)], ids=ids, **{**given, **others})


NETWORK = make_network()


@pytest.fixture(scope="module", params=some_long(MODELS, ["hinge", "one sample"]))
def model(request):
    return RelationalTopicModel(K, **{**SETTINGS, **MODELS[request.param]}).fit(NETWORK)


@pytest.fixture(scope="module")
def directed():
    return RelationalTopicModel(K, **SETTINGS, **MODELS["directed"]).fit(NETWORK)


@pytest.fixture(scope="module")
def explorer(model):
    return Explorer(model)


def strict_json(value):
    """Return what a program reads that knows JSON and nothing more."""
    return json.loads(json.dumps(value, allow_nan=False))


# ----------------------------------------------------------------------------------------------------------------------
# Pairs
# ----------------------------------------------------------------------------------------------------------------------


def expected_reasons(table):
    """Return what speaks most for a link, from all parts of its score."""
    best = table[table["share"] >= 0.05].sort_values("share", ascending=False, kind="stable").head(3)
    return [
        {"share": row.share, "contribution": row.contribution, "feature": row.feature, "detail": row.detail}
        if row.feature
        else {
            "share": row.share,
            "contribution": row.contribution,
            "topics": [int(row.source_topic), int(row.target_topic)],
        }
        for row in best.itertuples()
    ]


def assert_same_reasons(why, expected):
    assert [reason.get("feature") for reason in why] == [reason.get("feature") for reason in expected]
    for reason, other in zip(why, expected, strict=True):
        assert reason.get("detail") == other.get("detail")
        assert reason.get("topics") == other.get("topics")
        assert reason["share"] == pytest.approx(other["share"], abs=0.005)
        assert reason["contribution"] == reason["part"] == pytest.approx(other["contribution"], rel=0.006)


def test_links_are_known_and_explained(explorer, model):
    """Each link has the probability of `Predictor.known` and the reasons of `explain_link`."""
    ids, links = model.network_.ids, model.network_.links
    known = model.predictor.known(links)
    seen = set()
    for i in range(N):
        for link in explorer.document(i)["links"]:
            directed = model.network_.directed
            pair = (i, link["j"]) if link["direction"] == "out" else (link["j"], i)
            pair = pair if directed else tuple(sorted(pair))
            number = int(np.flatnonzero((links == pair).all(axis=1))[0])
            seen.add((number, i))
            assert (link["direction"] == "both") == (not directed)
            assert link["probability"] == pytest.approx(known[number], rel=1e-3)
            expected = expected_reasons(model.explain_link(*ids[list(pair)]))
            if not directed and pair[1] == i:  # its own topic comes first
                expected = [{**e, "topics": e["topics"][::-1]} if "topics" in e else e for e in expected]
            assert_same_reasons(link["why"], expected)
    assert seen == {(number, int(i)) for number, pair in enumerate(links) for i in pair}


def test_many_pairs_at_once_or_one_by_one(explorer, model, monkeypatch):
    source, target = model.network_.links.T
    values = explorer.pairs.link_values(source, target)
    together = explorer.pairs.reasons(source, target, values)
    monkeypatch.setattr("linktopics.prediction.explanation.CONTRIBUTION_CELLS", 1)
    alone = explorer.pairs.reasons(source, target, values)
    np.testing.assert_array_equal(together.what, alone.what)
    np.testing.assert_allclose(together.contribution, alone.contribution, rtol=1e-12)
    np.testing.assert_allclose(together.share, alone.share, rtol=1e-12)


@pytest.mark.parametrize("place", [0, 5, 11])
def test_suggestions_are_those_of_the_model(explorer, model, place):
    """They are those of `suggest_links_for`."""
    expected = model.suggest_links_for(model.network_.ids[place], top=4)
    suggested = explorer.document(place, suggestions=4)["suggested"]
    ids = model.network_.ids
    assert [ids[link["j"]] for link in suggested] == expected["id"].tolist()
    for name in ("probability", "lower", "upper"):
        given = [np.nan if link[name] is None else link[name] for link in suggested]
        np.testing.assert_allclose(given, expected[name], rtol=1e-3)
    words = [", ".join(row[:2]) for row in model.predictor.top_words(3)]
    for link, sentence in zip(suggested, expected["why"], strict=True):
        said = []
        for reason in link["why"]:
            if "topics" in reason:
                source, target = (words[k] for k in reason["topics"])
                what = f"{target} ← {source}" if link["direction"] == "in" else f"{source} → {target}"
            else:
                what = reason["detail"] or reason["feature"]
            said.append(f"{reason['share']:.2f} {what}")
        assert "; ".join(said) == sentence


def test_suggestions_of_all_documents_at_once(explorer, model):
    together = explorer.pairs.suggestions(slice(0, N), 3)
    for i in range(N):
        own = together.document == i
        alone = explorer.pairs.suggestions(slice(i, i + 1), 3)
        np.testing.assert_array_equal(together.other[own], alone.other)
        np.testing.assert_array_equal(together.outgoing[own], alone.outgoing)
        np.testing.assert_allclose(together.probability[own], alone.probability, rtol=1e-12)
        np.testing.assert_array_equal(together.reasons.what[own], alone.reasons.what)


def test_no_suggestion_is_a_link(explorer, model):
    linked = {frozenset(pair) for pair in model.network_.links.tolist()} | {frozenset([i]) for i in range(N)}
    suggested = [frozenset([i, link["j"]]) for i in range(N) for link in explorer.document(i)["suggested"]]
    assert len(suggested) == 8 * N
    assert not linked & set(suggested)


def test_cells_name_the_links_with_the_largest_parts(explorer, model):
    samples = model.predictor.reference_samples
    pairs = [tuple(pair) for pair in model.network_.links.tolist()]
    if not model.network_.directed:
        pairs += [pair[::-1] for pair in pairs]
    for a in range(K):
        for b in range(K):
            parts = {
                (i, j): np.mean([s.doc_topic[i, a] * s.weights[a, b] * s.doc_topic[j, b] for s in samples])
                for i, j in (pairs[: len(model.network_.links)] if a == b else pairs)
            }
            sign = 1 if model.link_weights_[a, b] >= 0 else -1
            best = sorted((sign * part for part in parts.values() if sign * part > 0), reverse=True)[:4]
            links = explorer.cell(a, b, top=4)["links"]
            assert (
                [link["contribution"] for link in links]
                == [link["part"] for link in links]
                == pytest.approx([sign * part for part in best], rel=1e-3)
            )
            for link in links:
                i, j = link["source"], link["target"]
                assert link["contribution"] == pytest.approx(parts[i, j], rel=1e-3)
                table = model.explain_link(*model.network_.ids[[i, j]])
                row = table[(table["source_topic"] == a) & (table["target_topic"] == b)]
                assert link["share"] == pytest.approx(row["share"].item(), rel=6e-3)
                known = model.predictor.known(np.array([[i, j]]))[0]
                assert link["probability"] == pytest.approx(known, rel=1e-3)


def test_cells_in_blocks(explorer, model, monkeypatch):
    a, b = np.divmod(np.arange(K * K), K)
    together = explorer.pairs.best_of_cells(a, b, 3)
    monkeypatch.setattr("linktopics.explorer.pairs.CONTRIBUTION_CELLS", 7 * K * K)
    for one, two in zip(together, explorer.pairs.best_of_cells(a, b, 3), strict=True):
        np.testing.assert_array_equal(one, two)


def test_surprising_links(explorer, model):
    """A link is surprising if nine of ten are as probable or more."""
    probabilities = model.predictor.known(model.network_.links)
    below = np.sort(probabilities)[: int(0.1 * len(probabilities))]
    shown = [link for i in range(N) for link in explorer.document(i)["links"]]
    surprising = {link["probability"] for link in shown if link["surprising"]}
    assert surprising
    assert 2 * len(below) <= sum(link["surprising"] for link in shown) <= 2 * (len(below) + 1)
    assert max(surprising) < min(link["probability"] for link in shown if not link["surprising"])


def test_what_is_surprising_is_told_from_some_links(directed, monkeypatch):
    monkeypatch.setattr(document_links, "MAX_SAMPLED_LINKS", 10)
    known = directed.predictor.known(NETWORK.links)
    assert known.min() <= Explorer(directed).links.surprising_below <= np.median(known)


def test_hubs_show_their_best_and_worst_links(directed, monkeypatch):
    place = int(np.bincount(NETWORK.links.ravel()).argmax())
    everything = Explorer(directed).document(place)
    monkeypatch.setattr(document_links, "N_MOST_PROBABLE", 2)
    monkeypatch.setattr(document_links, "N_LEAST_PROBABLE", 1)
    some = Explorer(directed).document(place)
    assert some["n_links"] == everything["n_links"] == len(everything["links"]) > 3
    assert some["links"] == [*everything["links"][:2], everything["links"][-1]]


def test_details_of_hubs(directed, monkeypatch):
    """Sums of many vectors, which are kept, give the same words as those that are added up."""
    pairs = NETWORK.links.tolist()
    expected = [directed.explain_link(*NETWORK.ids[pair])["detail"].tolist() for pair in pairs]
    monkeypatch.setattr(similarity, "HUB_MIN_NEIGHBOURS", 1)
    again = RelationalTopicModel(K, **SETTINGS, **MODELS["directed"]).fit(NETWORK)
    assert [again.explain_link(*NETWORK.ids[pair])["detail"].tolist() for pair in pairs] == expected


# ----------------------------------------------------------------------------------------------------------------------
# The model
# ----------------------------------------------------------------------------------------------------------------------


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
    with pytest.raises(DataError, match="no result of an evaluation"):
        Explorer(directed, evaluation=Evaluation(pd.DataFrame()))


def test_provenance_of_a_saved_model(directed, tmp_path):
    directed.save(tmp_path / "model")
    facts = dict(Explorer(directed, folder=tmp_path / "model").meta()["provenance"])
    assert facts["fitted with numpy"] == np.__version__
    assert facts["saved"].startswith("20")
    assert dict(Explorer(directed).meta()["provenance"])["numpy"] == np.__version__


# ----------------------------------------------------------------------------------------------------------------------
# Documents
# ----------------------------------------------------------------------------------------------------------------------


def test_document(explorer, model):
    for i in range(N):
        document = strict_json(explorer.document(i))
        assert (document["id"], document["title"]) == (NETWORK.ids[i], NETWORK.titles[i])
        assert (document["label"], document["text"]) == (str(i % 2), None)
        assert document["columns"] == {"year": str(1990 + i % 7)}
        shares = np.zeros(K)
        for k, share in document["topics"]:
            shares[k] = share
        np.testing.assert_allclose(shares, explorer.shares[i], atol=0.006)
        assert shares.tolist() == [share if share >= 0.005 else 0 for share in shares]
        assert {word: count for word, count, _ in document["words"]} == {
            NETWORK.vocabulary[w]: int(NETWORK.counts[i, w]) for w in NETWORK.counts[[i]].indices
        }
        for word, _, topic in document["words"]:
            w = NETWORK.vocabulary.tolist().index(word)
            assert topic == np.argmax(model.topic_word_[:, w] * model.doc_topic_[i])
        linked = [*document["links"], *document["suggested"]]
        assert document["names"] == {
            str(link["j"]): {"id": NETWORK.ids[link["j"]], "title": NETWORK.titles[link["j"]]} for link in linked
        }
        probabilities = [link["probability"] for link in document["links"]]
        assert probabilities == sorted(probabilities, reverse=True)


def test_words_that_say_most_come_first(directed):
    explorer = Explorer(directed)
    words, counts, _, begin = explorer.words_of(slice(0, N), 4)
    assert np.diff(begin).max() == 4
    having = (NETWORK.counts.toarray() > 0).sum(axis=0)
    for i in range(N):
        own = slice(begin[i], begin[i + 1])
        weights = NETWORK.counts.toarray()[i] * (1 + np.log((1 + N) / (1 + having)))
        np.testing.assert_allclose(weights[words[own]], -np.sort(-weights)[:4][: own.stop - own.start])
        np.testing.assert_array_equal(NETWORK.counts.toarray()[i, words[own]], counts[own])


def found(explorer, *arguments, **others):
    return [row["i"] for row in explorer.documents(*arguments, **others, size=N)["rows"]]


def test_finding_documents(directed):
    explorer = Explorer(directed)
    assert found(explorer) == list(range(N))
    assert found(explorer, "TITLE OF") == list(range(N))
    place = NETWORK.index_of("d7")
    assert found(explorer, "title of d7") == [place]
    assert found(explorer, "d7 nowhere") == []
    having = [i for i in range(N) if NETWORK.counts[i, 12]]
    assert found(explorer, "Word12") == having
    assert found(explorer, "ord12") == []  # of words, the beginning
    having = [i for i in range(N) if NETWORK.counts[[i], 30:].sum() and NETWORK.counts[i, 4]]
    assert found(explorer, "word3 word4") == [
        i for i in range(N) if NETWORK.counts[[i]][:, [3, *range(30, 40)]].sum() and NETWORK.counts[i, 4]
    ]


def test_sorting_documents(directed):
    explorer = Explorer(directed)
    titles, lengths = NETWORK.titles.tolist(), NETWORK.lengths
    degrees = np.bincount(NETWORK.links.ravel(), minlength=N)
    assert found(explorer, descending=True) == list(range(N))[::-1]
    assert found(explorer, sort="title") == sorted(range(N), key=titles.__getitem__)
    assert found(explorer, sort="tokens") == sorted(range(N), key=lengths.__getitem__)
    assert found(explorer, sort="links", descending=True) == sorted(range(N), key=lambda i: (-degrees[i], i))
    about = [i for i in range(N) if explorer.shares[i, 1] >= 0.1]
    assert found(explorer, topic=1) == about
    assert found(explorer, topic=1, sort="topic", descending=True) == sorted(
        about, key=lambda i: (-explorer.shares[i, 1], i)
    )


def test_pages_of_documents(directed):
    explorer = Explorer(directed)
    parts = [explorer.documents(page=page, size=10) for page in range(4)]
    assert [row["i"] for part in parts for row in part["rows"]] == list(range(N))
    assert {part["total"] for part in parts} == {N}
    row = strict_json(parts[0]["rows"][3])
    assert row["links_out"] == (NETWORK.links[:, 0] == 3).sum()
    assert row["links_in"] == (NETWORK.links[:, 1] == 3).sum()
    assert len(row["topics"]) <= 3
    assert row["topics"] == explorer.document(3)["topics"][:3]


@pytest.mark.parametrize(
    ("question", "message"),
    [
        ({"sort": "size"}, "cannot be sorted by 'size'"),
        ({"sort": "topic"}, "no topic was given"),
        ({"topic": K}, "no topic 3"),
        ({"topic": -1}, "no topic -1"),
        ({"page": -1}, "page -1"),
        ({"size": 0}, "of 0 rows"),
    ],
)
def test_questions_that_cannot_be_answered(directed, question, message):
    with pytest.raises(DataError, match=message):
        Explorer(directed).documents(**question)


def test_places_that_are_none(directed):
    explorer = Explorer(directed)
    for place in (-1, N):
        with pytest.raises(DataError, match=f"no document {place}"):
            explorer.document(place)
    with pytest.raises(DataError, match="no topic 3"):
        explorer.cell(0, 3)


# ----------------------------------------------------------------------------------------------------------------------
# Odd models
# ----------------------------------------------------------------------------------------------------------------------


def everything(model, **others):
    """Return all that is shown of a model, as a program reads it."""
    explorer, n = Explorer(model, **others), len(model.network_)
    cells = [explorer.cell(a, b) for a in range(explorer.n_topics) for b in range(explorer.n_topics)]
    documents = [explorer.document(i) for i in range(n)]
    return strict_json([explorer.meta(), cells, documents, explorer.documents("a"), explorer.report()])


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
