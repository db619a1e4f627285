"""BLAS has one thread while anybody needs that, and what it had before when nobody does."""

import threading

import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from linktopics.prediction import predictor
from linktopics.sampler import runner
from linktopics.utils import blas
from linktopics.utils.blas import one_thread
from support.small_models import ASKED, small_model, small_network


def blas_threads():
    """Return the numbers of threads of BLAS; OpenBLAS on OpenMP, as faiss brings one, has a number for each thread."""
    libraries = [library for library in threadpool_info() if library["user_api"] == "blas"]
    return {library["num_threads"] for library in libraries if library.get("threading_layer") != "openmp"}


@pytest.fixture(autouse=True)
def two_threads():
    if not blas_threads():
        pytest.skip("no BLAS here that threadpoolctl knows")
    with threadpool_limits(2, user_api="blas"):
        assert blas_threads() == {2}
        yield


def test_nested():
    with one_thread():
        with one_thread():
            assert blas_threads() == {1}
        assert blas_threads() == {1}
    assert blas_threads() == {2}


def test_after_an_error():
    with pytest.raises(KeyError), one_thread():
        raise KeyError
    assert blas_threads() == {2}


def test_holders_that_overlap():
    """The first to come is the first to go: neither undoes the other's limit, nor restores it for good."""
    first, second = one_thread(), one_thread()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert blas_threads() == {1}
    second.__exit__(None, None, None)
    assert blas_threads() == {2}


def test_what_was_changed_in_between():
    """As by a library that is loaded while the limit is held."""
    with one_thread():
        threadpool_limits(3, user_api="blas")
        with one_thread():
            assert blas_threads() == {1}
    assert blas_threads() == {2}
    assert not blas._before


def test_many_threads():
    seen, together = set(), threading.Barrier(6)

    def run():
        together.wait()
        for _ in range(20):
            with one_thread():
                seen.update(blas_threads())

    running = [threading.Thread(target=run) for _ in range(6)]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()
    assert seen == {1}
    assert blas_threads() == {2}


def test_a_prediction_that_begins_during_a_fit_and_ends_after_it(monkeypatch):
    """In two threads; each asks for the limit by itself."""
    fitted = small_model().fit(small_network())
    fitting, asking, fit_done = threading.Event(), threading.Event(), threading.Event()
    seen = []

    def step(old):
        def stop(*args):
            fitting.set()
            assert asking.wait(60)
            return old(*args)

        return stop

    original = predictor.Predictor.uncalibrated

    def slow(*args):
        asking.set()
        assert fit_done.wait(60)
        seen.append(blas_threads())
        return original(*args)

    monkeypatch.setattr(predictor.Predictor, "uncalibrated", slow)
    monkeypatch.setattr(runner, "_trace_row", step(runner._trace_row))
    model = small_model(calibration=None)
    fit = threading.Thread(target=lambda: (model.fit(small_network()), fit_done.set()))
    fit.start()
    assert fitting.wait(60)
    ask = threading.Thread(target=lambda: fitted.predict_links(ASKED))
    ask.start()
    fit.join()
    ask.join()
    assert seen == [{1}]
    assert blas_threads() == {2}
