"""Shards on a Ray cluster, one actor each (extra "ray")."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Ray"]


@dataclass(frozen=True)
class Ray:
    address: str | None = None

    def start(self, parts, settings, states):
        raise NotImplementedError
