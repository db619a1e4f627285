"""Engines: who runs the shards of a chain, threads of this process or actors of a Ray cluster."""

from linktopics.engines.choosing import resolve_engine
from linktopics.engines.on_ray import Ray
from linktopics.sampler.crew import Crew, Engine, Threads

__all__ = ["Crew", "Engine", "Ray", "Threads", "resolve_engine"]
