"""Shard pools: the shards of a chain and what runs them; here, threads of this process."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from linktopics.sampler.partition import Partition
from linktopics.sampler.settings import Settings
from linktopics.sampler.shard import Message, Shard
from linktopics.sampler.state import State


class WorkersLostError(Exception):
    """Some of the workers of a pool have died."""


class ShardPool(Protocol):
    """The running shards of one chain.

    Attributes
    ----------
    sent : Counter
        Bytes sent between shards (or that would be if each were on its own machine), by content. "sums" are exchanged
        with the chain itself in every iteration, and "states" are fetched for checkpoints.
    remote : bool
        Whether shards run in other processes, with copies of the data, and may be lost.
    """

    sent: Counter[str]
    remote: bool

    def call_all(self, method: str, *args: Any) -> list[Any]:
        """Return the results of a method of every shard, called with the same arguments, in order."""

    def cast(self, method: str, *args: Any) -> None:
        """Call a method of every shard that returns nothing; calls may still be running when this returns."""

    def all_to_all(self, send: str, receive: str) -> None:
        """Let every shard `send` a message to each shard, and `receive` those to it, in order of the senders.

        This may return before they are done; later calls are executed afterwards.
        """

    def restart(self, states: list[State]) -> None:
        """Replace workers that were lost, and restart all shards from the given states."""

    def close(self) -> None:
        """Release the workers."""


class Engine(Protocol):
    """Starts pools; a context manager, entered for as long as they are needed."""

    def __enter__(self) -> Engine: ...

    def __exit__(self, *exception: Any) -> None: ...

    def start(self, parts: list[Partition], settings: Settings, states: list[State]) -> ShardPool:
        """Return a pool with one shard for each part."""


def traffic_kind(method: str) -> str:
    """Return the name in `ShardPool.sent` under which a method's results are counted."""
    return "states" if method == "snapshot" else "sums"


def n_bytes(thing: Any) -> int:
    """Return the size of the arrays and numbers in a message."""
    if isinstance(thing, np.ndarray):
        return thing.nbytes
    if isinstance(thing, dict | list | tuple):
        return sum(map(n_bytes, thing.values() if isinstance(thing, dict) else thing))
    return 8 if isinstance(thing, (int, float, np.generic)) else 0


def message_bytes(sender: int, messages: list[Message]) -> Counter[str]:
    """Return the sizes of what a shard sends to others, by content."""
    sizes: Counter[str] = Counter()
    for receiver, message in enumerate(messages):
        if receiver != sender:
            sizes.update({name: n_bytes(arrays) for name, arrays in message.items()})
    return sizes


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
        """Return the results of a method of every shard."""
        results = self._map(lambda shard: getattr(shard, method)(*args))
        if len(self.shards) > 1:
            self.sent[traffic_kind(method)] += len(self.shards) * n_bytes(args) + n_bytes(results)
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
            self.sent.update(message_bytes(sender, messages))
        self._map(lambda shard: getattr(shard, receive)([messages[shard.part.number] for messages in outbox]))

    def restart(self, states: list[State]) -> None:
        """Raise an error: threads are never lost."""
        raise NotImplementedError("threads are not lost")

    def close(self) -> None:
        """End the threads."""
        if self._pool is not None:
            self._pool.shutdown()

    def _map(self, run: Any) -> list[Any]:
        return list(map(run, self.shards) if self._pool is None else self._pool.map(run, self.shards))
