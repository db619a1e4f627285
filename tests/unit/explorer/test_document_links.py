"""What is shown of pairs of documents is what the model says of them, pair by pair."""

import numpy as np
import pytest

from linktopics import RelationalTopicModel
from linktopics.explorer import Explorer, document_links
from linktopics.features import similarity
from support.explored_models import MODELS, NETWORK, SETTINGS, K, N

pytestmark = pytest.mark.filterwarnings("ignore::linktopics.errors.MixingWarning")


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
    """Each link has the probability of `Predictor.training_pair_probabilities` and the reasons of `explain_link`."""
    ids, links = model.network_.ids, model.network_.links
    known = model.predictor.training_pair_probabilities(links)
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
    np.testing.assert_array_equal(together.index, alone.index)
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
        np.testing.assert_array_equal(together.reasons.index[own], alone.reasons.index)


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
                known = model.predictor.training_pair_probabilities(np.array([[i, j]]))[0]
                assert link["probability"] == pytest.approx(known, rel=1e-3)


def test_cells_in_blocks(explorer, model, monkeypatch):
    a, b = np.divmod(np.arange(K * K), K)
    together = explorer.pairs.best_of_cells(a, b, 3)
    monkeypatch.setattr("linktopics.explorer.pairs.CONTRIBUTION_CELLS", 7 * K * K)
    for one, two in zip(together, explorer.pairs.best_of_cells(a, b, 3), strict=True):
        np.testing.assert_array_equal(one, two)


def test_surprising_links(explorer, model):
    """A link is surprising if nine of ten are as probable or more."""
    probabilities = model.predictor.training_pair_probabilities(model.network_.links)
    below = np.sort(probabilities)[: int(0.1 * len(probabilities))]
    shown = [link for i in range(N) for link in explorer.document(i)["links"]]
    surprising = {link["probability"] for link in shown if link["surprising"]}
    assert surprising
    assert 2 * len(below) <= sum(link["surprising"] for link in shown) <= 2 * (len(below) + 1)
    assert max(surprising) < min(link["probability"] for link in shown if not link["surprising"])


def test_what_is_surprising_is_told_from_some_links(directed, monkeypatch):
    monkeypatch.setattr(document_links, "MAX_SAMPLED_LINKS", 10)
    known = directed.predictor.training_pair_probabilities(NETWORK.links)
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
