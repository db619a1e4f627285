"""Settings: the model and its priors."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Settings"]


@dataclass(frozen=True)
class Settings:
    """The model and its priors; see `RelationalTopicModel` for what each means."""

    n_topics: int
    loss: str = "logistic"
    weights: str = "full"
    exact: bool = True
    alpha: float = 5.0
    beta: float = 0.01
    weight_variance: float = 1.0
    link_cost: float = 4.0
    nonlink_cost: float = 1.0
    margin: float = 1.0
    weight_method: str = "auto"
    n_shards: int = 1
