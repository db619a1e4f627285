"""Shard pools: the shards of a chain and who runs them. Here, threads of this process."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from linktopics.sampler.partition import Partition
from linktopics.sampler.settings import Settings
from linktopics.sampler.shard import Shard
from linktopics.sampler.state import State


class WorkersLostError(Exception):
    """Some of the workers of a pool have died."""


class ShardPool(Protocol):
    """The shards of one chain, at work.

    Attributes
    ----------
    sent : Counter
        Bytes that went from shard to shard, or would have if each was on a machine of its own, by what was sent;
        "sums" are what went to and from the chain itself in every iteration, and "states" what was fetched to keep.
    remote : bool
        Whether workers have copies of everything, and may be lost.
    """

    sent: Counter[str]
    remote: bool

    def call_all(self, method: str, *args: Any) -> list[Any]:
        """Call a method of every shard with the same arguments; return what each returned, in order."""

    def cast(self, method: str, *args: Any) -> None:
        """Call a method of every shard that returns nothing; it may still be at it when this returns."""

    def all_to_all(self, send: str, receive: str) -> None:
        """Let every shard `send` a message to each shard, and `receive` those to it, in order of the senders.

        They may still be at it when this returns; what is asked next is answered afterwards.
        """

    def restart(self, states: list[State]) -> None:
        """Replace workers that were lost, and let all shards begin anew at the given states."""

    def close(self) -> None:
        """Let the workers go."""


class Engine(Protocol):
    """Where pools come from; entered as a context for as long as they are needed."""

    def __enter__(self) -> Engine: ...

    def __exit__(self, *exception: Any) -> None: ...

    def start(self, parts: list[Partition], settings: Settings, states: list[State]) -> ShardPool:
        """Return a pool with one shard for each part."""


def kind_of(method: str) -> str:
    """Return under which name of `ShardPool.sent` the answers to a question go."""
    return "states" if method == "snapshot" else "sums"


def n_bytes(thing: Any) -> int:
    """Return the size of the arrays and numbers in a message."""
    if isinstance(thing, np.ndarray):
        return thing.nbytes
    if isinstance(thing, dict):
        return sum(n_bytes(value) for value in thing.values())
    if isinstance(thing, (list, tuple)):
        return sum(n_bytes(value) for value in thing)
    return 8 if isinstance(thing, (int, float, np.generic)) else 0


@dataclass(frozen=True)
class Threads:
    """Runs shards in threads of this process.

    Parameters
    ----------
    n_threads : int, default=1
        Threads per chain. The result does not depend on it.

    Examples
    --------
    >>> from linktopics.engines import Threads
    >>> Threads(2)
    Threads(n_threads=2)
    """

    n_threads: int = 1

    def __enter__(self) -> Threads:
        return self

    def __exit__(self, *exception: Any) -> None:
        pass

    def start(self, parts: list[Partition], settings: Settings, states: list[State]) -> LocalShardPool:
        """Return a pool with one shard for each part."""
        shards = [Shard(part, settings, state) for part, state in zip(parts, states, strict=True)]
        return LocalShardPool(shards, min(self.n_threads, len(shards)))


class LocalShardPool:
    """Shards that are objects of this process; see `ShardPool`."""

    remote = False

    def __init__(self, shards: list[Shard], n_threads: int) -> None:
        self.shards = shards
        self.sent: Counter[str] = Counter()
        self._pool = ThreadPoolExecutor(n_threads) if n_threads > 1 else None

    def call_all(self, method: str, *args: Any) -> list[Any]:
        """Call a method of every shard."""
        results = self._map(lambda shard: getattr(shard, method)(*args))
        if len(self.shards) > 1:
            self.sent[kind_of(method)] += len(self.shards) * n_bytes(args) + n_bytes(results)
        return results

    def cast(self, method: str, *args: Any) -> None:
        """Call a method of every shard."""
        self.call_all(method, *args)

    def all_to_all(self, send: str, receive: str) -> None:
        """Let every shard send a message to each shard, and receive those to it."""
        if len(self.shards) == 1:
            return
        outbox = self._map(lambda shard: getattr(shard, send)())
        for sender, messages in enumerate(outbox):
            for receiver, message in enumerate(messages):
                for name, arrays in message.items():
                    self.sent[name] += n_bytes(arrays) if sender != receiver else 0
        self._map(lambda shard: getattr(shard, receive)([messages[shard.part.number] for messages in outbox]))

    def restart(self, states: list[State]) -> None:
        """Begin anew; threads are never lost."""
        raise NotImplementedError("threads are not lost")

    def close(self) -> None:
        """End the threads."""
        if self._pool is not None:
            self._pool.shutdown()

    def _map(self, run: Any) -> list[Any]:
        return list(map(run, self.shards) if self._pool is None else self._pool.map(run, self.shards))
