"""Engines: what runs the shards of a chain, threads of this process or actors of a Ray cluster."""

from __future__ import annotations

from typing import Any

from linktopics.engines.ray import Ray
from linktopics.sampler.shard_pool import Engine, ShardPool, Threads

__all__ = ["Engine", "Ray", "ShardPool", "Threads", "resolve_engine"]


def resolve_engine(engine: Any) -> Engine | None:
    """Return an engine by its name; an object is returned unchanged.

    Parameters
    ----------
    engine : {"threads", "ray"} or Engine
        Name or object. "threads" gives None, for which `run_chains` chooses the number of threads.

    Examples
    --------
    >>> from linktopics.engines import Threads, resolve_engine
    >>> resolve_engine(Threads(4))
    Threads(n_threads=4)
    """
    if engine == "threads":
        return None
    if engine == "ray":
        return Ray()
    if not callable(getattr(engine, "start", None)):
        raise ValueError(f"engine is {engine!r}; it must be 'threads', 'ray', or an object of linktopics.engines.")
    checked: Engine = engine
    return checked
