"""LinkSearchCV: what it tries, what it takes, and what it gets to see."""

from typing import ClassVar

import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone

from linktopics import DataError, DocumentNetwork
from linktopics.evaluation.evaluation import document_folds, evaluate
from linktopics.evaluation.metrics import register_metric
from linktopics.evaluation.search import LinkSearchCV
from linktopics.registry import METRICS


def network(n=60, seed=0):
    """Documents of two groups, with words of their own and links within; one word more that says nothing."""
    rng = np.random.default_rng(seed)
    group = np.arange(n) % 2
    counts = rng.poisson(np.where(group[:, None] == [0, 0, 0, 1, 1, 1], 3, 0.3))
    counts = np.column_stack([counts, rng.poisson(9, size=n)])
    linked = (rng.random((n, n)) < 0.3) & (group[:, None] == group)
    np.fill_diagonal(linked, False)
    return DocumentNetwork(counts, np.argwhere(linked))


class Noisy(BaseEstimator):
    """Scores pairs by common words, with noise; keeps what it was given in a list that all clones share."""

    calls: ClassVar[list] = []

    def __init__(self, noise=0.0, sign=1.0, random_state=None, verbose="auto"):
        self.noise = noise
        self.sign = sign
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, network):
        self.network_ = network
        self.calls.append((network, self.get_params()))
        return self

    def predict_links(self, documents, candidates=None, direction="both"):
        scores = (documents[:, :6] @ self.network_.counts[:, :6].T).toarray()
        noise = np.random.default_rng(self.random_state).normal(size=scores.shape)
        return self.sign * scores + self.noise * noise


class Wordy(Noisy):
    def word_probabilities(self, links, linked_by=None):
        words = np.arange(1.0, 1.0 + self.network_.n_words) ** self.sign  # the last word is the most frequent
        return np.tile(words / words.sum(), (len(links), 1))


@pytest.fixture(autouse=True)
def calls():
    Noisy.calls.clear()
    return Noisy.calls


GRID = {"noise": [1000.0, 0.0, 10.0]}


@pytest.mark.parametrize("metric", METRICS)
def test_takes_the_best(metric):
    """Less is better for ranks and more for shares; the wrong sign would take the worst."""
    search = LinkSearchCV(Wordy(), {"sign": [-1.0, 1.0, 0.0]}, metric=metric).fit(network())
    assert search.best_params_ == {"sign": 1.0}
    values = search.results_[metric]
    assert search.best_score_ == values[1] == (values.min() if METRICS[metric].sign < 0 else values.max())
    assert values.nunique() == 3


@pytest.fixture
def own_metrics():
    """Two metrics that were registered by someone else."""
    register_metric("first_words", of="word ranks", better="higher")(lambda ranks: float((ranks <= 1).mean()))
    register_metric("nothing", of="link ranks", better="higher")(lambda ranks: float("nan"))
    yield
    del METRICS._found["first_words"]
    del METRICS._found["nothing"]


def test_a_registered_metric_of_words(own_metrics):
    search = LinkSearchCV(Wordy(), {"sign": [-1.0, 1.0, 0.0]}, metric="first_words").fit(network())
    assert search.best_params_ == {"sign": 1.0}
    assert search.best_score_ == search.results_["first_words"].max() > 0
    with pytest.raises(ValueError, match="metric is 'first_words', but the estimator has no method"):
        LinkSearchCV(Noisy(), GRID, metric="first_words").fit(network())


def test_a_metric_that_is_no_number_decides_nothing(own_metrics):
    with pytest.raises(DataError, match=r"nothing is NaN in all folds for \{'noise': 1000.0\}"):
        LinkSearchCV(Noisy(), GRID, metric="nothing").fit(network())


def test_results_are_those_of_evaluate():
    data = network()
    search = LinkSearchCV(Noisy(), GRID, random_state=3).fit(data)
    direct = evaluate(data, {str(noise): Noisy(noise) for noise in GRID["noise"]}, folds=3, random_state=3).summary()
    assert search.results_["noise"].tolist() == GRID["noise"]
    for name in ("link_rank", "link_rank_std", "auc", "auc_std", "mrr", "hits_at_20_std"):
        assert search.results_[name].tolist() == direct[name].tolist()


def test_refits_the_best_on_everything(calls):
    data = network()
    search = LinkSearchCV(Noisy(), GRID).fit(data)
    fitted, parameters = calls[-1]
    assert fitted is data
    assert parameters["noise"] == 0.0
    assert isinstance(parameters["random_state"], int)
    assert search.network_ is search.best_estimator_.network_ is data
    given = data.counts[:2]
    assert np.array_equal(search.predict_links(given), search.best_estimator_.predict_links(given))
    again = clone(search).fit(data)
    assert np.array_equal(search.predict_links(given), again.predict_links(given))
    assert len(calls) == 2 * (3 * 3 + 1)


def test_ties_go_to_the_first():
    assert LinkSearchCV(Noisy(), {"verbose": [True, False]}).fit(network()).best_params_ == {"verbose": True}
    assert LinkSearchCV(Noisy(), {"verbose": [False, True]}).fit(network()).best_params_ == {"verbose": False}


def test_several_grids():
    search = LinkSearchCV(Noisy(), [{"noise": [5.0, 6.0]}, {"sign": [1.0]}]).fit(network())
    assert search.best_params_ == {"sign": 1.0}
    assert len(search.results_) == 3
    assert np.isnan(search.results_["sign"][0])


def test_a_part_of_the_grid(calls):
    grid = {"noise": np.linspace(0, 5, 20).tolist()}
    tried = [
        LinkSearchCV(Noisy(), grid, n_candidates=4, random_state=seed).fit(network()).results_["noise"].tolist()
        for seed in (0, 0, 1)
    ]
    assert all(len(set(values)) == 4 for values in tried)
    assert all(values == sorted(values) for values in tried)
    assert tried[0] == tried[1] != tried[2]
    assert len(LinkSearchCV(Noisy(), GRID, n_candidates=100).fit(network()).results_) == 3


def test_inside_evaluate_it_sees_training_documents_only(calls):
    data = network()
    search = LinkSearchCV(Noisy(), {"noise": [0.0, 50.0]}, folds=2)
    result = evaluate(data, {"search": search, "plain": Noisy()}, folds=3)
    of_search = calls[: 3 * 5]
    for fold, (train, test) in enumerate(document_folds(60, 3)):
        inner = [fitted for fitted, _ in of_search[5 * fold : 5 * fold + 5]]
        assert [part.n_documents for part in inner] == [20] * 4 + [40]
        for part in inner:
            assert set(part.ids.tolist()) <= set(train.tolist())
            assert not set(part.ids.tolist()) & set(test.tolist())
            assert np.array_equal(part.counts.toarray(), data.counts.toarray()[part.ids])
        assert np.array_equal(inner[-1].ids, train)
    assert {parameters["verbose"] for _, parameters in of_search} == {False}
    ranks = result.summary()["link_rank"]
    assert ranks["search"] == ranks["plain"]


class Reader(Noisy):
    """Takes a network of new documents, as models do whose features ask for ids and columns."""

    reads_networks = True

    def predict_links(self, documents, candidates=None, direction="both"):
        assert documents.n_links == 0
        self.calls.append(documents)
        return super().predict_links(documents.counts, candidates, direction)


def test_what_a_model_reads_is_not_changed_by_a_search(calls):
    data = network()
    result = evaluate(data, {"search": LinkSearchCV(Reader(), {"noise": [0.0, 50.0]}, folds=2)}, folds=3)
    asked = [given for given in calls if isinstance(given, DocumentNetwork)]
    tests = [test for _, test in document_folds(60, 3)]
    for fold, test in enumerate(tests):  # of each of two settings two inner folds, then the test documents
        inner, last = asked[5 * fold : 5 * fold + 4], asked[5 * fold + 4]
        assert not set(np.concatenate([given.ids for given in inner])) & set(test)
        assert np.array_equal(last.ids, test)
    assert len(asked) == 15
    assert result.summary().loc["search", "link_rank"] < 20  # of 40


@pytest.mark.long
def test_inside_evaluate_in_processes():
    models = {"search": LinkSearchCV(Wordy(), {"noise": [0.0, 50.0]}, folds=2)}
    alone = evaluate(network(), models, folds=2).folds
    together = evaluate(network(), models, folds=2, n_jobs=2).folds
    assert alone[list(METRICS)].equals(together[list(METRICS)])
    assert alone["word_rank"].notna().all()


def test_words_only_if_the_model_has_them():
    assert not hasattr(LinkSearchCV(Noisy(), GRID), "word_probabilities")
    data = network()
    search = LinkSearchCV(Wordy(), GRID).fit(data)
    assert search.word_probabilities([[0]], [[1]]).shape == (1, data.n_words)


def test_goes_on_after_an_interrupt(tmp_path, calls):
    path = tmp_path / "search.jsonl"
    first = LinkSearchCV(Noisy(), GRID, resume=path).fit(network())
    calls.clear()
    second = LinkSearchCV(Noisy(), GRID, resume=path).fit(network())
    assert len(calls) == 1  # the refit
    assert first.results_.equals(second.results_)


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"metric": "f1"}, "metric is 'f1'; it must be one of link_rank,"),
        ({"metric": "word_rank"}, "no method word_probabilities"),
        ({"n_candidates": 0}, "n_candidates is 0"),
        ({"folds": 1}, "folds is 1"),
        ({"param_grid": {"nois": [1]}}, "nois"),
    ],
)
def test_wrong_parameters(calls, parameters, words):
    with pytest.raises(ValueError, match=words):
        LinkSearchCV(**{"estimator": Noisy(), "param_grid": GRID, **parameters}).fit(network())
    assert not calls


def test_too_few_links():
    with pytest.raises(DataError, match="have no link with training documents"):
        LinkSearchCV(Noisy(), GRID).fit(DocumentNetwork(np.ones((9, 7), dtype=int), [(0, 1)]))
