"""Folds: what a model gets to see, and what is scored, against definitions pair by pair."""

import re
import time
from dataclasses import replace

import numpy as np
import pytest

import linktopics.evaluation.folds as folds_module
from linktopics import DataError, DocumentNetwork, NetworkWarning
from linktopics.evaluation.evaluation import document_folds, evaluate
from linktopics.evaluation.metrics import auc, register_metric
from linktopics.registry import METRICS
from support.evaluated_models import Overlap, Wordy, planted, scores_of

# --- folds ---


@pytest.mark.parametrize(("n", "folds"), [(10, 2), (11, 3), (7, 7), (100, 6)])
def test_folds_cover_everything_once(n, folds):
    parts = document_folds(n, folds, random_state=4)
    assert len(parts) == folds
    assert np.array_equal(np.sort(np.concatenate([test for _, test in parts])), np.arange(n))
    sizes = [len(test) for _, test in parts]
    assert max(sizes) - min(sizes) <= 1
    for train, test in parts:
        assert np.array_equal(np.sort(np.concatenate([train, test])), np.arange(n))
        assert np.all(np.diff(train) > 0)
        assert np.all(np.diff(test) > 0)


def test_folds_are_shuffled_by_the_seed():
    same, again, other = (document_folds(50, 5, seed)[0][1] for seed in (1, 1, 2))
    assert np.array_equal(same, again)
    assert not np.array_equal(same, other)
    assert not np.array_equal(same, np.arange(10))


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ((10, 1), ValueError, "folds is 1"),
        ((10, 2.0), ValueError, "folds is 2.0"),
        ((3, 4), DataError, "3 documents"),
        ((10, 2, None), ValueError, "random_state is None"),
        ((10, 2, -1), ValueError, "random_state is -1"),
    ],
)
def test_impossible_folds(arguments, error, words):
    with pytest.raises(error, match=words):
        document_folds(*arguments)


# --- what a model gets to see ---


def texts_network():
    rng = np.random.default_rng(3)
    words = np.array([f"word{chr(97 + i)}" for i in range(20)])
    texts = [" ".join(rng.choice(words, 12)) + f" secret{i:02d}x" for i in range(30)]
    links = [(f"d{i}", f"d{(i + step) % 30}") for i in range(30) for step in (1, 7)]
    return DocumentNetwork.from_texts(
        texts,
        links,
        ids=[f"d{i}" for i in range(30)],
        titles=[f"title {i}" for i in range(30)],
        labels=range(30),
        columns={"shelf": [f"shelf {i}" for i in range(30)]},
    )


def test_nothing_of_a_test_document_is_seen_in_training(calls):
    network = texts_network()
    evaluate(network, {"spy": Overlap()}, folds=3)
    fits = [given for kind, given, _ in calls if kind == "fit"]
    assert len(fits) == 3
    for (train, test), seen in zip(document_folds(30, 3), fits, strict=True):
        assert np.array_equal(seen.counts.toarray(), network.counts.toarray()[train])
        for name in ("ids", "titles", "labels", "texts"):
            assert getattr(seen, name).tolist() == getattr(network, name)[train].tolist()
        assert seen.columns["shelf"].tolist() == network.columns["shelf"][train].tolist()
        ends = {(seen.ids[i], seen.ids[j]) for i, j in seen.links}
        assert ends == {(network.ids[i], network.ids[j]) for i, j in network.links if i in train and j in train}
        assert seen.vectorizer is None
        everything = repr([value.tolist() if hasattr(value, "tolist") else value for value in vars(seen).values()])
        hidden = {f"'{what}{i}'" for what in ("d", "title ", "shelf ") for i in test}
        assert not [name for name in hidden if name in everything]


def test_test_documents_change_nothing_in_training(calls):
    network = planted()
    rng = np.random.default_rng(5)
    for fold, (_, test) in enumerate(document_folds(90, 3)):
        counts, links = network.counts.toarray(), network.links
        counts[test] = rng.integers(0, 4, size=counts[test].shape)
        untouched = links[~np.isin(links, test).any(axis=1)]
        new = np.column_stack([rng.permutation(test), rng.permutation(np.setdiff1d(np.arange(90), test))[: len(test)]])
        changed = DocumentNetwork(counts, np.concatenate([untouched, new]))
        calls.clear()
        evaluate(network, {"spy": Overlap()}, folds=3)
        evaluate(changed, {"spy": Overlap()}, folds=3)
        fits = [(given, parameters) for kind, given, parameters in calls if kind == "fit"]
        (before, settings), (after, same_settings) = fits[fold], fits[3 + fold]
        assert before.fingerprint() == after.fingerprint()
        assert before.ids.tolist() == after.ids.tolist()
        assert settings == same_settings


def test_models_are_asked_about_counts(calls):
    network = texts_network()
    evaluate(network, {"spy": Overlap()}, folds=3, direction="in")
    asked = [(given, direction) for kind, given, direction in calls if kind == "links"]
    for (_, test), (given, direction) in zip(document_folds(30, 3), asked, strict=True):
        assert np.array_equal(given.toarray(), network.counts.toarray()[test])
        assert direction == "in"


class Reader(Overlap):
    """Takes a network of new documents, as models do whose features ask for ids and columns."""

    reads_networks = True

    def predict_links(self, documents, candidates=None, direction="both"):
        scores = super().predict_links(documents.counts, candidates, direction)
        self.calls[-1] = ("links", documents, direction)
        return scores


@pytest.mark.parametrize("cells", [20_000_000, 60])
def test_models_that_read_networks_are_given_all_but_links(monkeypatch, calls, cells):
    """In one block, and in blocks of three documents; to what they predict it makes no difference."""
    monkeypatch.setattr(folds_module, "SCORE_BLOCK_CELLS", cells)
    network = texts_network()
    result = evaluate(network, {"reader": Reader(), "spy": Overlap()}, folds=3, direction="out")
    asked = [(given, direction) for kind, given, direction in calls if kind == "links"]
    of_reader = [(given, direction) for given, direction in asked if isinstance(given, DocumentNetwork)]
    assert 2 * len(of_reader) == len(asked)
    assert max(given.n_documents for given, _ in of_reader) == min(10, cells // 20)
    assert {(given.n_links, direction) for given, direction in of_reader} == {(0, "out")}
    test = np.concatenate([test for _, test in document_folds(30, 3)])
    assert np.concatenate([given.ids for given, _ in of_reader]).tolist() == network.ids[test].tolist()
    assert (np.concatenate([given.columns["shelf"] for given, _ in of_reader]) == network.columns["shelf"][test]).all()
    counts = np.concatenate([given.counts.toarray() for given, _ in of_reader])
    assert np.array_equal(counts, network.counts.toarray()[test])
    of_both = scores_of(result).drop(columns="model")
    assert of_both[:3].equals(of_both[3:].reset_index(drop=True))


def test_seeds_and_progress_bars(calls):
    evaluate(planted(), {"open": Overlap(), "set": Overlap(random_state=7)}, folds=3, random_state=1)
    seeds = [parameters["random_state"] for kind, _, parameters in calls if kind == "fit"]
    assert len(set(seeds[:3])) == 3
    assert seeds[3:] == [7, 7, 7]
    assert {parameters["verbose"] for kind, _, parameters in calls if kind == "fit"} == {False}
    calls.clear()
    evaluate(planted(), {"open": Overlap()}, folds=3, random_state=1)
    assert [parameters["random_state"] for kind, _, parameters in calls if kind == "fit"] == seeds[:3]
    calls.clear()
    evaluate(planted(), {"open": Overlap()}, folds=3, random_state=2)
    assert not {parameters["random_state"] for kind, _, parameters in calls if kind == "fit"} & set(seeds)


def test_the_estimator_itself_is_left_alone():
    model = Overlap()
    evaluate(planted(), {"mine": model}, folds=2)
    assert model.random_state is None
    assert model.verbose == "auto"
    assert not hasattr(model, "network_")


# --- what is scored ---


def slow_row(network, train, test, direction="both"):
    """Compute the metrics of Overlap and Wordy by their definitions, pair by pair."""
    counts = network.counts.toarray()
    links = {(int(i), int(j)) for i, j in network.links}
    both = direction == "both" or not network.directed
    ranks, positive, negative, word_ranks = [], [], [], []
    for i in test:
        score = {j: float(counts[i] @ counts[j]) for j in train}
        true = {
            j
            for j in train
            if ((i, j) in links and (both or direction == "out")) or ((j, i) in links and direction != "out")
        }
        if not network.directed:
            true = {j for j in train if (i, j) in links or (j, i) in links}
        for j in train:
            (positive if j in true else negative).append(score[j])
        for j in true:
            above = sum(score[other] > score[j] for other in train)
            equal = sum(score[other] == score[j] for other in train)
            ranks.append(above + (equal + 1) / 2)
        # A linked pair counts its words once for each direction, as Wordy does.
        ends = [b for a, b in links if a == i and b in set(train)] + [a for a, b in links if b == i and a in set(train)]
        if ends:
            weights = counts[ends].sum(0) + 0.1
            for word in np.flatnonzero(counts[i]):
                place = (weights > weights[word]).sum() + ((weights == weights[word]).sum() + 1) / 2
                word_ranks += [place] * counts[i, word]
    positive, negative = np.array(positive)[:, None], np.array(negative)
    ranks = np.array(ranks)
    return {
        "link_rank": ranks.mean(),
        "median_rank": np.median(ranks),
        "mrr": (1 / ranks).mean(),
        "hits_at_20": (ranks <= 20).mean(),
        "auc": ((positive > negative) + 0.5 * (positive == negative)).mean(),
        "word_rank": np.mean(word_ranks),
        "n_test_links": len(ranks),
    }


@pytest.mark.parametrize("cells", [20_000_000, 150])
@pytest.mark.parametrize(("directed", "direction"), [(True, "both"), (True, "out"), (True, "in"), (False, "both")])
def test_metrics_agree_with_their_definitions(monkeypatch, directed, direction, cells):
    """In one block, and in blocks of two or three documents."""
    monkeypatch.setattr(folds_module, "SCORE_BLOCK_CELLS", cells)
    network = planted(n=60, directed=directed)
    result = evaluate(network, {"wordy": Wordy()}, folds=3, direction=direction, random_state=2)
    assert result.folds["fold"].tolist() == [1, 2, 3]
    for row, (train, test) in zip(result.folds.to_dict("records"), document_folds(60, 3, 2), strict=True):
        expected = slow_row(network, train, test, direction)
        assert {name: row[name] for name in expected} == pytest.approx(expected)


def test_blocks_are_bounded(monkeypatch, calls):
    monkeypatch.setattr(folds_module, "SCORE_BLOCK_CELLS", 150)
    evaluate(planted(n=60), {"wordy": Wordy()}, folds=3)
    assert max(given.shape[0] * 40 for kind, given, _ in calls if kind == "links") <= 150
    assert max(len(given) * 24 for kind, given, _ in calls if kind == "words") <= 150


def test_auc_of_large_networks_is_sampled(monkeypatch):
    network = planted(n=120)
    exact = evaluate(network, {"overlap": Overlap()}, folds=2).folds
    monkeypatch.setattr(folds_module, "EXACT_AUC_CELLS", 100)
    monkeypatch.setattr(folds_module, "SAMPLED_NONLINKS", 2_000)
    monkeypatch.setattr(folds_module, "SCORE_BLOCK_CELLS", 700)
    seen = []
    spy = replace(METRICS["auc"], function=lambda scores, links: seen.append(links) or auc(scores, links))
    monkeypatch.setitem(METRICS._found, "auc", (spy, "linktopics.evaluation.metrics"))
    sampled = evaluate(network, {"overlap": Overlap()}, folds=2).folds
    again = evaluate(network, {"overlap": Overlap()}, folds=2).folds
    assert sampled["auc"].to_numpy() == pytest.approx(exact["auc"].to_numpy(), abs=0.04)
    assert not np.array_equal(sampled["auc"], exact["auc"])
    assert np.array_equal(sampled["auc"], again["auc"])
    assert np.array_equal(sampled["link_rank"], exact["link_rank"])
    for links, row in zip(seen[:2], sampled.to_dict("records"), strict=True):
        assert links.sum() == row["n_test_links"]  # each true link once
        assert 1_700 < (~links).sum() <= 2_000


def test_links_for_words_are_ids_of_training_documents(calls):
    network = texts_network()
    evaluate(network, {"wordy": Wordy()}, folds=3)
    asked = [(links, linked_by) for kind, links, linked_by in calls if kind == "words"]
    for (train, test), (links, linked_by) in zip(document_folds(30, 3), asked, strict=True):
        pairs = [(network.ids[i], network.ids[j]) for i, j in network.links]
        known = set(network.ids[train])
        expected = [
            ([b for a, b in pairs if a == id and b in known], [a for a, b in pairs if b == id and a in known])
            for id in network.ids[test]
        ]
        assert list(zip(links, linked_by, strict=True)) == [both for both in expected if any(both)]
        assert all(type(id) is str for row in links for id in row)


def test_undirected_links_are_all_in_links(calls):
    network = planted(n=60, directed=False)
    evaluate(network, {"wordy": Wordy()}, folds=3)
    asked = [(links, linked_by) for kind, links, linked_by in calls if kind == "words"]
    for (train, test), (links, linked_by) in zip(document_folds(60, 3), asked, strict=True):
        assert linked_by is None
        between = np.isin(network.links, test).sum(axis=1) == 1
        assert sum(map(len, links)) == between.sum()
        assert set(np.concatenate(links)) <= set(train)


def test_words_can_be_left_out(calls):
    result = evaluate(planted(), {"wordy": Wordy()}, folds=2, words=False)
    assert result.folds["word_rank"].isna().all()
    assert "words" not in {kind for kind, _, _ in calls}


def test_documents_without_words_or_links():
    """Their links are ranked, and they have no words to rank; of a fold without such words there is no word rank."""
    counts = np.zeros((8, 3), dtype=int)
    train, test = document_folds(8, 2)[0]
    counts[train] = 1
    with pytest.warns(NetworkWarning):
        network = DocumentNetwork(counts, [(int(test[0]), int(train[0])), (int(test[1]), int(train[1]))])
    folds = evaluate(network, {"wordy": Wordy()}, folds=2).folds
    assert np.isnan(folds["word_rank"][0])
    assert folds["link_rank"][0] == 2.5
    assert folds["word_rank"][1] == 2.0


def test_timings_are_those_of_the_model():
    class Timed(Overlap):
        def fit(self, network):
            self.timings_ = {"topics": 1.5, "weights": 2.5}
            time.sleep(0.02)
            return super().fit(network)

    row = evaluate(planted(), {"timed": Timed()}, folds=2).folds.iloc[0]
    assert (row["topics_seconds"], row["weights_seconds"]) == (1.5, 2.5)
    assert np.isnan(row["augmented_seconds"])
    assert np.isnan(row["words_seconds"])
    assert row["train_seconds"] >= 0.02
    assert row["test_seconds"] > 0


@pytest.mark.parametrize(
    ("function", "told"),
    [
        (lambda ranks: "good", "the metric 'odd' failed (ValueError: could not convert string to float"),
        (lambda ranks: ranks.nothing, "the metric 'odd' failed (AttributeError: "),
    ],
)
def test_a_metric_of_a_plugin_that_fails(function, told):
    register_metric("odd", of="link ranks", better="higher")(function)
    try:
        with pytest.raises(DataError, match=re.escape(told)):
            evaluate(planted(), {"overlap": Overlap()}, folds=2)
    finally:
        del METRICS._found["odd"]
