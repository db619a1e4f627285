"""Shards on Ray: the same model as with threads, whatever happens to the actors, and clear words where Ray cannot."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from linktopics import RelationalTopicModel
from linktopics.datasets import make_network
from linktopics.engines import Ray
from linktopics.engines.ray import RayShardPool
from linktopics.errors import EngineError

ray = pytest.importorskip("ray", reason="Ray is an extra, and not installed")


@pytest.fixture(scope="module")
def network():
    return make_network(n_documents=150, n_topics=4, n_words=60, random_state=3)


@pytest.fixture(scope="module")
def cluster():
    """Return the engine of a cluster of this machine alone, of four CPUs on paper."""
    ray.init(num_cpus=4, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
    with Ray(timeout=120.0) as engine:
        yield engine
    ray.shutdown()


def fit(network, n_shards, engine="threads", n_chains=1, **parameters):
    chosen = {"n_burn_in": 24, "n_samples": 2, "thin": 3, "random_state": 0, "verbose": False, "loss": "logistic"}
    model = RelationalTopicModel(9, n_shards=n_shards, n_chains=n_chains, **{**chosen, **parameters})
    return model.fit(network, engine=engine)


def assert_same(one, two):
    np.testing.assert_array_equal(one.log_joints_, two.log_joints_)
    for a, b in zip(one.samples_, two.samples_, strict=True):
        for name in ("word_topic", "doc_topic", "weights", "feature_weights", "alpha"):
            np.testing.assert_array_equal(getattr(a, name), getattr(b, name), err_msg=name)


@pytest.mark.long
def test_ray_is_started_and_ended():
    """In a process of its own, because this one may be connected."""
    code = "import ray\nfrom linktopics.engines import Ray\n"
    code += "with Ray(timeout=120.0):\n    print(ray.is_initialized())\nprint(ray.is_initialized())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    assert done.stdout.split() == ["True", "False"], done


@pytest.mark.long
@pytest.mark.parametrize("n_shards", [1, 3])
def test_the_model_is_the_same(network, cluster, n_shards):
    here, there = fit(network, n_shards), fit(network, n_shards, cluster)
    assert_same(here, there)
    if n_shards > 1:
        sent, also = here.bytes_exchanged_, there.bytes_exchanged_
        assert {name: sent[name] for name in ("words", "topics", "pairs")} == {
            name: also[name] for name in ("words", "topics", "pairs")
        }


@pytest.mark.long
def test_other_losses_and_weights_and_priors_that_are_learned(network, cluster):
    settings = {"loss": "hinge", "weights": "diagonal", "learn_alpha": "per-topic", "directed": False}
    assert_same(fit(network, 2, **settings), fit(network, 2, cluster, **settings))


@pytest.mark.long
def test_two_chains_at_once(network, cluster):
    assert_same(fit(network, 2, n_chains=2), fit(network, 2, cluster, n_chains=2, n_jobs=2))


@pytest.mark.long
def test_a_killed_actor_is_replaced_and_the_model_is_the_same(network, cluster, monkeypatch):
    """SIGKILL, at a moment of its own each time; what the pool does is seen from outside."""
    pools, restarts = [], []
    start, restart = RayShardPool.__init__, RayShardPool.restart

    def remember(pool, *args):
        start(pool, *args)
        pools.append(pool)

    def count(pool, states):
        restarts.append(len(states))
        restart(pool, states)

    monkeypatch.setattr(RayShardPool, "__init__", remember)
    monkeypatch.setattr(RayShardPool, "restart", count)
    undisturbed = fit(network, 3, n_burn_in=120)

    def kill():
        while not pools:
            time.sleep(0.01)
        for victim in (0, 2):
            time.sleep(0.7)
            os.kill(pools[0].processes()[victim], signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    model = fit(network, 3, cluster, n_burn_in=120)
    killer.join()
    assert len(restarts) >= 1
    assert_same(undisturbed, model)


@pytest.mark.long
def test_too_few_cpus(network, cluster):
    began = time.monotonic()
    with pytest.raises(EngineError, match=r"9 shards need 9 CPUs of .* which has 4, .* Use fewer shards"):
        fit(network, 9, Ray(timeout=3.0))
    assert time.monotonic() - began < 60
    assert_same(fit(network, 9, n_burn_in=1), fit(network, 9, Ray(cpus_per_shard=0.25, timeout=120.0), n_burn_in=1))


def test_a_node_without_the_package(network, cluster, monkeypatch):
    monkeypatch.setattr("linktopics.engines.ray.__version__", "99.0")
    with pytest.raises(EngineError, match=r"node .* has version .* of linktopics, and here is 99.0; install"):
        fit(network, 2, cluster)


def test_no_cluster():
    """In a process of its own, because this one is connected; and soon, where Ray would try for minutes."""
    code = "from linktopics.engines import Ray\nRay('127.0.0.1:9').__enter__()"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=150)
    assert "EngineError: no Ray cluster was found at address '127.0.0.1:9' (" in found.stderr, found
    assert "ray start --head" in found.stderr


NOT_STARTED = [
    (Exception("The current node timed out during startup.\nThis could happen."), EngineError, "(This could happen.)"),
    (RuntimeError("no room"), EngineError, "(no room)"),
    (KeyboardInterrupt(), KeyboardInterrupt, ""),
]


@pytest.mark.parametrize(("raised", "kind", "said"), NOT_STARTED, ids=["late", "failed", "interrupted"])
def test_ray_does_not_start(raised, kind, said, monkeypatch):
    """Ray raises plain Exception, too. The folder that it was given is removed, and another try begins anew."""
    made, ended = [], []

    class Node:
        def __init__(self, folder):
            made.append(Path(folder))
            (made[-1] / "session").mkdir()
            raise type(raised)(*raised.args)  # a new one, without the frames of the try before

        def kill_all_processes(self, **how):
            ended.append(how)

    def init(**options):
        Node(options["_temp_dir"])

    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    monkeypatch.setattr(ray, "shutdown", lambda: None)
    monkeypatch.setattr(ray, "init", init)
    engine = Ray()
    for number in (1, 2):
        with pytest.raises(kind) as error:
            engine.__enter__()
        assert len(made) == len(ended) == number
        assert not made[-1].exists()
    if kind is EngineError:
        assert str(error.value).startswith(f"Ray did not start on this machine {said}; try again")
        assert "engines.Ray(address='auto')" in str(error.value)


def test_ray_is_not_installed(network, monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(EngineError, match=r"pip install 'linktopics\[ray\]'"):
        fit(network, 2, "ray")
