"""evaluate: what models get to see, what is scored, and how results survive an interrupt."""

import json
import os
import re
import signal
import subprocess
import sys
import time
import warnings
from dataclasses import replace
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator

import linktopics.evaluation.folds as folds_module
from linktopics import DataError, DocumentNetwork, MixingWarning, NetworkWarning, RelationalTopicModel, SamplingError
from linktopics.evaluation.evaluation import Evaluation, document_folds, evaluate, make_model
from linktopics.evaluation.folds import ResultFile
from linktopics.evaluation.metrics import auc
from linktopics.registry import METRICS
from linktopics.utils.progress import ProgressBar

SCORES = ["model", "fold", *METRICS, "n_test_links"]
"""Columns that do not depend on the clock."""


def planted(seed=0, n=90, n_groups=3, directed=True, **more):
    """Documents in groups with words of their own and links mostly within the group."""
    rng = np.random.default_rng(seed)
    group = np.arange(n) % n_groups
    words = np.full((n_groups, 8 * n_groups), 0.01)
    for k in range(n_groups):
        words[k, 8 * k : 8 * k + 8] = 0.3
    words /= words.sum(1, keepdims=True)
    counts = np.stack([rng.multinomial(15, words[k]) for k in group])
    linked = rng.random((n, n)) < np.where(group[:, None] == group, 0.2, 0.01)
    np.fill_diagonal(linked, False)
    pairs = np.argwhere(linked if directed else np.triu(linked))
    return DocumentNetwork(counts, pairs, directed=directed, link_ends="indices", **more)


class Overlap(BaseEstimator):
    """Scores a pair by its common words; keeps what it was given in a list that all clones share."""

    calls: ClassVar[list] = []

    def __init__(self, scale=1.0, random_state=None, verbose="auto", n_jobs=None):
        self.scale = scale
        self.random_state = random_state
        self.verbose = verbose
        self.n_jobs = n_jobs

    def fit(self, network):
        self.network_ = network
        self.calls.append(("fit", network, self.get_params()))
        return self

    def predict_links(self, documents, candidates=None, direction="both"):
        self.calls.append(("links", documents, direction))
        return self.scale * (documents @ self.network_.counts.T).toarray().astype(float)


class Wordy(Overlap):
    """Predicts the words of the documents linked with."""

    def word_probabilities(self, links, linked_by=None):
        self.calls.append(("words", links, linked_by))
        counts, found = self.network_.counts.toarray(), []
        for number, out in enumerate(links):
            ids = [*out, *(linked_by[number] if linked_by else [])]
            found.append(counts[[self.network_.index_of(id) for id in ids]].sum(0) + 0.1)
        return np.array(found) / np.sum(found, axis=1, keepdims=True)


@pytest.fixture(autouse=True)
def calls():
    Overlap.calls.clear()
    return Overlap.calls


def scores_of(evaluation):
    return evaluation.folds[SCORES]


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

    _reads_networks = True

    def predict_links(self, documents, candidates=None, direction="both"):
        scores = super().predict_links(documents.counts, candidates, direction)
        self.calls[-1] = ("links", documents, direction)
        return scores


@pytest.mark.parametrize("cells", [20_000_000, 60])
def test_models_that_read_networks_are_given_all_but_links(monkeypatch, calls, cells):
    """In one block, and in blocks of three documents; to what they predict it makes no difference."""
    monkeypatch.setattr(folds_module, "BLOCK_CELLS", cells)
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
    monkeypatch.setattr(folds_module, "BLOCK_CELLS", cells)
    network = planted(n=60, directed=directed)
    result = evaluate(network, {"wordy": Wordy()}, folds=3, direction=direction, random_state=2)
    assert result.folds["fold"].tolist() == [1, 2, 3]
    for row, (train, test) in zip(result.folds.to_dict("records"), document_folds(60, 3, 2), strict=True):
        expected = slow_row(network, train, test, direction)
        assert {name: row[name] for name in expected} == pytest.approx(expected)


def test_blocks_are_bounded(monkeypatch, calls):
    monkeypatch.setattr(folds_module, "BLOCK_CELLS", 150)
    evaluate(planted(n=60), {"wordy": Wordy()}, folds=3)
    assert max(given.shape[0] * 40 for kind, given, _ in calls if kind == "links") <= 150
    assert max(len(given) * 24 for kind, given, _ in calls if kind == "words") <= 150


def test_auc_of_large_networks_is_sampled(monkeypatch):
    network = planted(n=120)
    exact = evaluate(network, {"overlap": Overlap()}, folds=2).folds
    monkeypatch.setattr(folds_module, "EXACT_AUC_CELLS", 100)
    monkeypatch.setattr(folds_module, "SAMPLED_NONLINKS", 2_000)
    monkeypatch.setattr(folds_module, "BLOCK_CELLS", 700)
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


def test_summary_and_csv(tmp_path):
    result = evaluate(planted(), {"b": Wordy(), "a": Overlap()}, folds=3)
    assert list(zip(result.folds["model"], result.folds["fold"], strict=True)) == [
        (m, f) for m in "ba" for f in (1, 2, 3)
    ]
    summary = result.summary()
    assert summary.index.tolist() == ["b", "a"]
    ranks = result.folds["link_rank"].to_numpy()[:3]
    assert summary.loc["b", "link_rank"] == pytest.approx(ranks.mean())
    assert summary.loc["b", "link_rank_std"] == pytest.approx(ranks.std(ddof=1))
    assert np.isnan(summary.loc["a", "word_rank"])
    result.to_csv(tmp_path / "folds.csv")
    read = pd.read_csv(tmp_path / "folds.csv")
    pd.testing.assert_frame_equal(read, result.folds, check_dtype=False)
    assert isinstance(result, Evaluation)


# --- processes ---


@pytest.mark.long
def test_processes_change_nothing():
    models = {
        "gibbs": RelationalTopicModel.from_paper("Gibbs-gRTM", 3, n_burn_in=5, negatives=2),
        "default": RelationalTopicModel(3, n_burn_in=5, n_samples=2, thin=1, n_chains=1, negatives=2),
        "wordy": Wordy(),
    }
    alone = evaluate(planted(), models, folds=3)
    together = evaluate(planted(), models, folds=3, n_jobs=2)
    assert scores_of(alone).equals(scores_of(together))


class Grumbling(Overlap):
    def fit(self, network):
        warnings.warn(f"{network.n_links} links are few.", NetworkWarning, stacklevel=2)
        return super().fit(network)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_warnings_come_once_per_model(n_jobs):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        evaluate(planted(), {"a": Grumbling(), "b": Grumbling(scale=2.0)}, folds=2, n_jobs=n_jobs)
    told = [str(warning.message) for warning in caught if warning.category is NetworkWarning]
    assert sorted(text[:3] for text in told) == ["a, ", "b, "]
    assert all(text.endswith(" links are few.") for text in told)
    assert {warning.filename for warning in caught} == {__file__}


def test_mixing_is_not_told_of_folds_nor_of_what_compiles_their_kernels():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = RelationalTopicModel(7, n_burn_in=1, n_samples=1, thin=1, n_chains=2, negatives=2)
        evaluate(planted(), {"a": model}, folds=2, words=False, n_jobs=1)
    assert MixingWarning not in {warning.category for warning in caught}


INTERRUPTED = """
import sys, time
import numpy as np
from sklearn.base import BaseEstimator
from linktopics.evaluation.evaluation import evaluate
from linktopics.network import DocumentNetwork

class Sleeper(BaseEstimator):
    def __init__(self, seconds):
        self.seconds = seconds

    def fit(self, network):
        time.sleep(self.seconds)
        self.n = network.n_documents
        return self

    def predict_links(self, documents, direction):
        return np.zeros((documents.shape[0], self.n))

if __name__ == "__main__":
    network = DocumentNetwork(np.ones((20, 2), dtype=int), np.roll(np.eye(20), 1, axis=0))
    evaluate(network, {"fast": Sleeper(0), "slow": Sleeper(300)}, folds=3, n_jobs=2, resume=sys.argv[1])
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGINT to a process group")
@pytest.mark.long
def test_an_interrupt_stops_the_processes(tmp_path):
    """Workers sleep for minutes; the process ends only if they are stopped, and what was finished is kept."""
    path, code = tmp_path / "results.jsonl", tmp_path / "slow.py"
    code.write_text(INTERRUPTED)
    command = [sys.executable, str(code), str(path)]
    process = subprocess.Popen(command, start_new_session=True, stderr=subprocess.PIPE, text=True)
    try:
        for _ in range(3_000):  # a busy machine takes its time to start processes
            if path.exists() and path.read_bytes().count(b"\n") >= 3:
                break
            assert process.poll() is None, process.stderr.read()
            time.sleep(0.1)
        os.kill(process.pid, signal.SIGINT)
        errors = process.communicate(timeout=200)[1]
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
    assert "KeyboardInterrupt" in errors
    with ResultFile(path) as file:
        assert [row["model"] for row in file.finished.values()] == ["fast"] * 3


# --- progress ---


@pytest.mark.parametrize(
    ("more", "step", "shown"),
    [
        (["evaluating", "evaluating"], "a [b], fold 2: link rank 7.0", "evaluating .*a \\[b\\], fold 2: link rank 7.0"),
        ([], -1234.4, "sampling .*log joint -1,234 "),
    ],
)
def test_the_progress_bar_shows_the_last_step(capsys, monkeypatch, more, step, shown):
    monkeypatch.setenv("COLUMNS", "120")
    with ProgressBar(2, True, *more) as bar:
        while bar._bar is None:
            time.sleep(0.01)
        bar.advance(step)
    assert re.search(shown, capsys.readouterr().err)


def test_every_task_is_a_step_of_the_bar(monkeypatch):
    steps = []
    monkeypatch.setattr(ProgressBar, "advance", lambda bar, text: steps.append((bar.total, text)))
    result = evaluate(planted(), {"a": Overlap()}, folds=2)
    ranks = result.folds["link_rank"]
    assert steps == [(2, f"a, fold 1: link rank {ranks[0]:.1f}"), (2, f"a, fold 2: link rank {ranks[1]:.1f}")]


# --- errors and warnings ---


class Failing(Overlap):
    error: Exception = ValueError("no")

    def fit(self, network):
        if len(self.calls) >= 4:  # two calls in each fold
            raise self.error
        return super().fit(network)


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (DataError("too small."), DataError),
        (SamplingError("too large."), SamplingError),
        (ValueError("wrong."), ValueError),
        (UnicodeDecodeError("utf-8", b"", 0, 1, "wrong."), ValueError),
        (KeyError("gone."), RuntimeError),
    ],
)
def test_errors_name_model_and_fold(monkeypatch, tmp_path, error, kind):
    monkeypatch.setattr(Failing, "error", error)
    with pytest.raises(kind, match=r"^bad, fold 3: .*(too small|too large|wrong|KeyError: 'gone)\.") as caught:
        evaluate(planted(), {"bad": Failing()}, folds=3, resume=tmp_path / "r.jsonl")
    assert caught.value.__cause__ is error
    with ResultFile(tmp_path / "r.jsonl") as file:
        assert [row["fold"] for row in file.finished.values()] == [1, 2]


def test_scores_of_the_wrong_shape():
    class Narrow(Overlap):
        def predict_links(self, documents, candidates=None, direction="both"):
            return super().predict_links(documents)[:, :-1]

    with pytest.raises(DataError, match=r"^narrow, fold 1: predict_links gave an array of shape \(30, 59\)"):
        evaluate(planted(), {"narrow": Narrow()}, folds=3)


class Broken(Overlap):
    def fit(self, network):
        raise DataError("nothing to learn.")


def test_errors_of_processes_name_model_and_fold():
    with pytest.raises(DataError, match=r"^bad, fold \d: nothing to learn\.$"):
        evaluate(planted(), {"bad": Broken()}, folds=2, n_jobs=2)


@pytest.mark.parametrize(
    ("links", "direction", "words"),
    [
        ([], "both", r"fold 1 of 2 have no link with training documents.*fewer folds"),
        ("within", "both", r"fold 1 of 2 have no link with training"),
        ("out", "in", r"fold 1 of 2 have no link from training"),
        ("out", "out", r"fold 2 of 2 have no link to training"),
    ],
)
def test_folds_without_links_are_refused_up_front(calls, links, direction, words):
    first, second = (test for _, test in document_folds(6, 2))
    pairs = {"within": [(first[0], first[1]), (second[0], second[1])], "out": [(first[0], second[0])]}
    network = DocumentNetwork(np.ones((6, 2), dtype=int), pairs.get(links, links) if isinstance(links, str) else links)
    with pytest.raises(DataError, match=words):
        evaluate(network, {"spy": Overlap()}, folds=2, direction=direction)
    assert not calls


@pytest.mark.parametrize(
    ("models", "words"),
    [
        ("tfidf", "list of names"),
        ([Overlap()], "list of names"),
        ([], "models is empty"),
        (["tfidf", "random", "tfidf"], "'tfidf' twice"),
        ({"class": Overlap}, "'class' has no method"),
        ({"good": Overlap(), "bad": BaseEstimator()}, "'bad' has no method fit"),
        (["tfidf", "no-such"], "no model is called 'no-such'.*Gibbs-gRTM.*Var-RTM.*tfidf"),
    ],
)
def test_models_that_are_none(calls, models, words):
    with pytest.raises(ValueError, match=words):
        evaluate(planted(), models)
    assert not calls


def test_other_arguments_are_checked():
    with pytest.raises(ValueError, match="direction is 'up'"):
        evaluate(planted(), {"a": Overlap()}, direction="up")
    with pytest.raises(DataError, match="DocumentNetwork"):
        evaluate(np.ones((3, 2)), {"a": Overlap()})


# --- names ---


def test_make_model():
    assert make_model("Approx-gMMRTM", n_topics=3).get_params()["sampler"] == "cached"
    assert make_model("Gibbs-RTM", alpha=2.0).alpha == 2.0
    assert make_model("Gibbs-RTM").pair_features is None
    ours = make_model("linktopics", n_topics=3, alpha=2.0)
    assert ours.get_params() == RelationalTopicModel(3, alpha=2.0).get_params()
    assert make_model("Var-RTM", n_topics=3).n_topics == 3
    assert make_model("lda-logistic", n_topics=3).n_topics == 3
    assert type(make_model("tfidf", n_topics=3)).__name__ == "TfidfCosine"
    with pytest.raises(ValueError, match=r"Gibbs-RTM has no parameter 'alfa'; it has .*alpha"):
        make_model("Gibbs-RTM", alfa=2.0)
    with pytest.raises(ValueError, match="tfidf has no parameter 'alpha'"):
        make_model("tfidf", alpha=2.0)


@pytest.mark.long
def test_better_than_chance():
    models = {
        "linktopics": make_model("linktopics", 3, n_burn_in=60, negatives=3, thin=2),
        "gibbs": make_model("Gibbs-gRTM", 3, n_burn_in=60, negatives=3),
        "tfidf": make_model("tfidf"),
    }
    means = evaluate(planted(), models, folds=3).summary()
    assert (means["auc"] > 0.75).all()
    assert (means["link_rank"] < 20).all()  # of 60; 30.5 by chance
    assert means.loc["gibbs", "word_rank"] < 8  # of 24; 12.5 by chance
    assert means.loc["linktopics", "word_rank"] < 8


# --- results in a file ---


class Interrupting(Wordy):
    at = 0

    def fit(self, network):
        if sum(kind == "fit" for kind, _, _ in self.calls) + 1 == self.at:
            raise KeyboardInterrupt
        return super().fit(network)


def n_fits(calls):
    return sum(kind == "fit" for kind, _, _ in calls)


def test_go_on_after_an_interrupt(monkeypatch, tmp_path, calls):
    models = {"a": Interrupting(), "b": Interrupting(scale=-1.0)}
    path = tmp_path / "results.jsonl"
    whole = evaluate(planted(), models, folds=3)
    calls.clear()
    monkeypatch.setattr(Interrupting, "at", 3)
    with pytest.raises(KeyboardInterrupt):
        evaluate(planted(), models, folds=3, resume=path)
    assert path.read_bytes().count(b"\n") == 2
    monkeypatch.setattr(Interrupting, "at", 0)
    calls.clear()
    resumed = evaluate(planted(), models, folds=3, resume=path)
    assert n_fits(calls) == 4
    assert scores_of(resumed).equals(scores_of(whole))
    assert resumed.folds.dtypes.equals(whole.folds.dtypes)
    calls.clear()
    again = evaluate(planted(), {"other label": models["b"]}, folds=3, resume=path)
    assert n_fits(calls) == 0
    assert again.folds["model"].unique().tolist() == ["other label"]
    assert again.folds["auc"].tolist() == whole.folds["auc"].tolist()[3:]


def test_rows_are_in_order_whatever_the_file_holds(tmp_path, calls):
    path = tmp_path / "results.jsonl"
    whole = evaluate(planted(), {"a": Wordy(), "b": Overlap()}, folds=3, resume=path)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([lines[5], lines[2], lines[1]]))
    calls.clear()
    resumed = evaluate(planted(), {"a": Wordy(), "b": Overlap()}, folds=3, resume=path)
    assert n_fits(calls) == 3
    assert scores_of(resumed).equals(scores_of(whole))


@pytest.mark.parametrize("left", [1, 30, -1])
def test_a_line_that_was_cut_off_is_dropped(tmp_path, calls, left):
    """Only a bit of the mark, a bit more, and all but the end of the line."""
    path = tmp_path / "results.jsonl"
    whole = evaluate(planted(), {"a": Wordy()}, folds=3, resume=path)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:2]) + lines[2][:left])
    calls.clear()
    resumed = evaluate(planted(), {"a": Wordy()}, folds=3, resume=path)
    assert n_fits(calls) == 1
    assert scores_of(resumed).equals(scores_of(whole))
    assert [json.loads(line)["fold"] for line in path.read_bytes().splitlines()] == [1, 2, 3]


def test_results_of_something_else_are_not_taken(tmp_path, monkeypatch, calls):
    path = tmp_path / "results.jsonl"
    usual = {"network": planted(), "models": {"a": Overlap(scale=1.0)}, "folds": 3}
    evaluate(**usual, resume=path)
    for other in (
        {"random_state": 1},
        {"folds": 2},
        {"direction": "out"},
        {"words": False},
        {"network": planted(seed=1)},
        {"models": {"a": Overlap(scale=1.5)}},
        {"models": {"a": Overlap(random_state=0)}},
        {"models": {"a": Wordy(scale=1.0)}},
    ):
        calls.clear()
        given = {**usual, **other}
        evaluate(**given, resume=path)
        assert n_fits(calls) == given["folds"], other
    calls.clear()
    evaluate(**{**usual, "models": {"a": Overlap(verbose=True, n_jobs=2)}}, n_jobs=2, resume=path)
    assert n_fits(calls) == 0
    monkeypatch.setattr(folds_module, "__version__", "0.0")
    evaluate(**usual, resume=path)
    assert n_fits(calls) == 3


def test_large_arrays_among_parameters_are_told_apart(tmp_path, calls):
    """Their text is the same."""
    path = tmp_path / "results.jsonl"
    scale = np.ones(5_000)
    evaluate(planted(), {"a": Overlap(random_state=scale)}, folds=2, resume=path)
    scale[2_500] = 2
    evaluate(planted(), {"a": Overlap(random_state=scale)}, folds=2, resume=path)
    assert n_fits(calls) == 4


@pytest.mark.parametrize("content", ["hello", "hello\n", '{"key": 1}\n', "[]\n", '{"linktopics_result": "a"\n', "\n"])
def test_other_files_are_refused(tmp_path, calls, content):
    path = tmp_path / "mine.txt"
    path.write_text(content)
    with pytest.raises(DataError, match=r"line 1 of .*mine\.txt.* is not a result"):
        evaluate(planted(), {"a": Overlap()}, resume=path)
    assert path.read_text() == content
    assert not calls


def test_a_path_that_cannot_be_written(tmp_path, calls):
    for path in (tmp_path, tmp_path / "no" / "where.jsonl"):
        with pytest.raises(DataError, match="results cannot be kept in "):
            evaluate(planted(), {"a": Overlap()}, resume=path)
    assert not calls


def test_parameters_that_cannot_be_told_apart(tmp_path, calls):
    with pytest.raises(ValueError, match="the parameter scale of a "):
        evaluate(planted(), {"a": Overlap(scale=lambda: 1)}, resume=tmp_path / "r.jsonl")
    assert not calls
