"""Shards on a Ray cluster, one actor each (extra "ray")."""

from __future__ import annotations

import atexit
import os
import shutil
import signal
import socket
import tempfile
import threading
import time
import traceback
from collections import Counter
from contextlib import ExitStack, suppress
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

from linktopics import __version__
from linktopics.errors import EngineError
from linktopics.registry import extensions, install
from linktopics.sampler.partition import Partition
from linktopics.sampler.settings import Settings
from linktopics.sampler.shard import Shard
from linktopics.sampler.shard_pool import WorkersLostError, message_bytes, n_bytes, traffic_kind
from linktopics.sampler.state import State
from linktopics.utils.blas import one_thread

MAX_PATH_CHARACTERS = 40
"""Longest path of a temporary folder for Ray's sockets, whose own paths may have 107 letters at most."""


@dataclass
class Ray:
    """Runs every shard in an actor of a Ray cluster (needs ``linktopics[ray]``).

    Actors keep their documents; what crosses the network in an iteration are changes in the counts of words, topics of
    documents that have a pair with another shard, augmented variables of such pairs, and K x K sums for the weights.
    A lost actor is replaced, and the iterations since the last fetched state (fetched every ten) are repeated with the
    same random numbers, so that the model is the same as that of an undisturbed run.

    Parameters
    ----------
    address : str, default=None
        The cluster; "auto" is the one this machine belongs to. None uses the cluster that the program is already
        connected to, or starts Ray on this machine alone.
    cpus_per_shard : float, default=1.0
        CPUs that each actor reserves in the cluster.
    timeout : float, default=60.0
        Seconds to wait for actors to start. To start Ray itself on this machine, Ray's own limit of 30 seconds applies.

    Examples
    --------
    >>> from linktopics import RelationalTopicModel
    >>> from linktopics.engines import Ray
    >>> model = RelationalTopicModel(n_chains=1, n_shards=16)
    >>> model.fit(network, engine=Ray(address="auto"))  # doctest: +SKIP
    """

    address: str | None = None
    cpus_per_shard: float = 1.0
    timeout: float = 60.0
    _connected: bool = field(default=False, init=False, repr=False)
    _folder: str | None = field(default=None, init=False, repr=False)

    def __enter__(self) -> Ray:
        ray = _import_ray()
        if ray.is_initialized():
            return self
        options: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR"}
        if self.address is None:
            options["include_dashboard"] = False
            folder = tempfile.mkdtemp(prefix="lt-")
            if len(folder) <= MAX_PATH_CHARACTERS:
                self._folder = options["_temp_dir"] = folder
                # Removed again at exit, after Ray has ended its processes, which may write to it until then.
                atexit.register(shutil.rmtree, folder, ignore_errors=True)
            else:
                os.rmdir(folder)
        else:
            _check_reachable(self.address)
            options["address"] = self.address
        before = signal.getsignal(signal.SIGTERM)
        try:
            ray.init(**options)
            self._connected = True
        except BaseException as error:
            _end_processes(error)
            self._leave(ray)
            if isinstance(error, Exception):  # a plain Exception if a node does not start in time
                raise _no_cluster(self.address, error) from None
            raise
        finally:
            if threading.current_thread() is threading.main_thread():
                signal.signal(signal.SIGTERM, before)  # Ray has replaced the handler
        return self

    def __exit__(self, *exception: Any) -> None:
        if self._connected:
            self._leave(_import_ray())

    def _leave(self, ray: Any) -> None:
        """Shut Ray down, and remove the folder that was made for it."""
        ray.shutdown()
        self._connected = False
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder = None

    def start(self, parts: list[Partition], settings: Settings, states: list[State]) -> RayShardPool:
        """Return a pool with one actor for each part."""
        _check_nodes(_import_ray(), self.timeout)
        return RayShardPool(self, parts, settings, states)


def _import_ray() -> Any:
    # Before the first import: no usage report is sent, and unused accelerators are left alone.
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    try:
        import ray
    except ImportError:
        raise EngineError("engine 'ray' needs Ray, which is not installed: pip install 'linktopics[ray]'.") from None
    return ray


def _end_processes(error: BaseException) -> None:
    """End the processes of a Ray that failed to start now, not at exit; only frames of the traceback refer to them."""
    for frame, _ in traceback.walk_tb(error.__traceback__):
        end = getattr(frame.f_locals.get("self"), "kill_all_processes", None)
        if end is not None:
            with suppress(Exception):
                end(check_alive=False, allow_graceful=False, wait=True)


def _check_reachable(address: str) -> None:
    """Raise if nothing listens at host:port; Ray itself would try for minutes."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if host and port.isdigit():
        try:
            socket.create_connection((host.strip("[]"), int(port)), timeout=10.0).close()
        except OSError as error:
            raise _no_cluster(address, error) from None


def _no_cluster(address: str | None, error: BaseException) -> EngineError:
    if address is None:
        return EngineError(
            f"Ray did not start on this machine ({_last_line(error)}); try again when the machine is less busy and has "
            "free memory and disk space, start Ray with 'ray start --head' and pass engines.Ray(address='auto'), or "
            "leave the engine out: threads give the same model."
        )
    return EngineError(
        f"no Ray cluster was found at address {address!r} ({_last_line(error)}); start one with 'ray start --head', or "
        "leave the address out to use this machine alone. A cluster that asks for a token needs RAY_AUTH_MODE=token in "
        "the environment."
    )


def _check_nodes(ray: Any, timeout: float) -> None:
    """Raise if a node has no linktopics, or another version of it."""
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    def look() -> str:  # pickled by value, because the package may be missing there
        try:
            import linktopics
        except ImportError as error:
            return f"lacks the package ({error})"
        return str(linktopics.__version__)

    task = ray.remote(num_cpus=0, max_retries=0)(look)
    nodes = [node for node in ray.nodes() if node["Alive"] and node["Resources"].get("CPU")]
    answers = [
        task.options(scheduling_strategy=NodeAffinitySchedulingStrategy(node["NodeID"], soft=False)).remote()
        for node in nodes
    ]
    for node, answer in zip(nodes, answers, strict=True):
        name = node["NodeManagerAddress"]
        try:
            found = ray.get(answer, timeout=timeout)
        except ray.exceptions.GetTimeoutError:
            raise EngineError(f"node {name} of the cluster has not answered for {timeout:g} s; is it busy?") from None
        if found != __version__:
            what = found if found.startswith("lacks") else f"has version {found} of linktopics"
            raise EngineError(
                f"node {name} of the cluster {what}, and here is {__version__}; install this version there, in the "
                "Python that runs Ray."
            )


class RayShardPool:
    """Shards that are actors; see `ShardPool`."""

    remote = True

    def __init__(self, engine: Ray, parts: list[Partition], settings: Settings, states: list[State]) -> None:
        self.engine = engine
        self.sent: Counter[str] = Counter()
        self._ray = ray = _import_ray()
        cpus, no_retries = engine.cpus_per_shard, {"max_restarts": 0, "max_task_retries": 0}
        self._remote = ray.remote(num_cpus=cpus, scheduling_strategy="SPREAD", **no_retries)(_Worker)
        self._parts = [ray.put(part) for part in parts]
        self._settings = settings
        self._pending: list[Any] = []  # results: None, or the sizes of what was sent
        self._actors = [self._start_actor(number, state) for number, state in enumerate(states)]
        self._wait_for_actors()

    def call_all(self, method: str, *args: Any) -> list[Any]:
        """Return the results of a method of every shard."""
        n = len(self._actors)
        results = self._get([*self._call(method, args), *self._pending])
        self._pending = []
        for amounts in results[n:]:
            self.sent.update(amounts)
        results = results[:n]
        self.sent[traffic_kind(method)] += n * n_bytes(args) + n_bytes(results)
        return results

    def cast(self, method: str, *args: Any) -> None:
        """Call a method of every shard, and check for errors later."""
        self._pending += self._call(method, args)
        self.sent[traffic_kind(method)] += len(self._actors) * n_bytes(args)

    def all_to_all(self, send: str, receive: str) -> None:
        """Let every shard send a message to each shard, and receive those to it; they go from actor to actor."""
        n = len(self._actors)
        if n == 1:
            return
        outbox = [actor.send.options(num_returns=n + 1).remote(send) for actor in self._actors]
        self._pending += [
            actor.receive.remote(receive, *(messages[number] for messages in outbox))
            for number, actor in enumerate(self._actors)
        ]
        self._pending += [messages[n] for messages in outbox]

    def restart(self, states: list[State]) -> None:
        """Replace actors that are gone, and restart all from the given states."""
        begun, self._pending = [], []
        for number, state in enumerate(states):
            if self._is_alive(number):
                begun.append(self._actors[number].begin.remote(state))
            else:
                self._ray.kill(self._actors[number])
                self._actors[number] = self._start_actor(number, state)
        self._wait_for_actors()
        self._get(begun)

    def _is_alive(self, number: int) -> bool:
        try:
            self._ray.get(self._actors[number].process.remote(), timeout=self.engine.timeout)
        except (*_loss_errors(self._ray), self._ray.exceptions.GetTimeoutError):
            return False
        return True

    def close(self) -> None:
        """End the actors."""
        for actor in self._actors:
            self._ray.kill(actor)

    def processes(self) -> list[int]:
        """Return the process numbers of the actors."""
        return self._get([actor.process.remote() for actor in self._actors])

    def _call(self, method: str, args: tuple[Any, ...]) -> list[Any]:
        given = self._ray.put(args) if n_bytes(args) > 2**16 else args
        return [actor.call.remote(method, given) for actor in self._actors]

    def _start_actor(self, number: int, state: State) -> Any:
        return self._remote.remote(self._parts[number], self._settings, state, extensions())

    def _wait_for_actors(self) -> None:
        """Wait until every actor runs; raise an error that says why one does not."""
        ray, begun = self._ray, time.monotonic()
        waiting = [actor.process.remote() for actor in self._actors]
        while waiting:
            done, waiting = ray.wait(waiting, timeout=1.0)
            self._get(done)
            total = ray.cluster_resources().get("CPU", 0.0)
            needed = len(self._actors) * self.engine.cpus_per_shard
            hopeless = self.engine._folder is not None and needed > total  # a cluster started here does not grow
            if waiting and (hopeless or time.monotonic() - begun > self.engine.timeout):
                free = ray.available_resources().get("CPU", 0.0)
                self.close()
                raise EngineError(
                    f"{len(self._actors)} shards need {needed:g} CPUs of the Ray cluster, which has {total:g}, "
                    f"{free:g} of them free. Use fewer shards (n_shards), fewer chains at a time (n_jobs), a larger "
                    f"cluster, or engines.Ray(cpus_per_shard=0.5). Waited for {time.monotonic() - begun:.0f} s."
                )

    def _get(self, references: list[Any]) -> list[Any]:
        ray = self._ray
        try:
            return list(ray.get(references))
        except _loss_errors(ray) as error:
            raise WorkersLostError(_last_line(error)) from error
        except ray.exceptions.RayTaskError as error:
            if isinstance(error.cause, _loss_errors(ray)):
                raise WorkersLostError(_last_line(error)) from error
            if isinstance(error.cause, ImportError):
                raise EngineError(f"a node of the Ray cluster cannot import what it needs: {error.cause}.") from error
            raise error.cause from error


def _loss_errors(ray: Any) -> tuple[type[Exception], ...]:
    errors = ray.exceptions
    return errors.RayActorError, errors.WorkerCrashedError, errors.ObjectLostError, errors.NodeDiedError


def _last_line(error: BaseException) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[-1] if lines else type(error).__name__


class _Worker:
    """One shard in a process of its own.

    Arrays from Ray's store are read-only, and kernels would be compiled again for read-only arrays: hence the copies.
    """

    def __init__(self, part: Partition, settings: Settings, state: State, registered: Any) -> None:
        install(registered)
        self._one_thread = ExitStack()
        self._one_thread.enter_context(one_thread())  # for as long as the process lives
        self.part: Partition = deepcopy(part)
        self.settings = settings
        self.begin(state)

    def begin(self, state: State) -> None:
        self.shard = Shard(self.part, self.settings, deepcopy(state))

    def process(self) -> int:
        return os.getpid()

    def call(self, method: str, args: tuple[Any, ...]) -> Any:
        return getattr(self.shard, method)(*deepcopy(args))

    def send(self, method: str) -> tuple[Any, ...]:
        messages = getattr(self.shard, method)()
        return (*messages, message_bytes(self.part.number, messages))

    def receive(self, method: str, *messages: Any) -> None:
        getattr(self.shard, method)(deepcopy(list(messages)))
