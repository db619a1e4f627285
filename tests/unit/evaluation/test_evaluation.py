"""evaluate: processes, progress, errors, and the names of models."""

import os
import signal
import subprocess
import sys
import time
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator

from linktopics import DataError, DocumentNetwork, MixingWarning, NetworkWarning, RelationalTopicModel, SamplingError
from linktopics.evaluation.evaluation import Evaluation, document_folds, evaluate, make_model
from linktopics.evaluation.folds import ResultFile
from linktopics.utils.progress import ProgressBar
from support.evaluated_models import Overlap, Wordy, planted, scores_of

# --- results ---


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
