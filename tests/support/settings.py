"""Settings of chains, with values that a test need not say."""

from typing import Any

from linktopics.sampler import Settings

USUAL: dict[str, Any] = {
    "loss": "logistic",
    "weights": "full",
    "exact": True,
    "alpha": 5.0,
    "beta": 0.01,
    "weight_variance": 1.0,
    "link_cost": 4.0,
    "nonlink_cost": 1.0,
    "margin": 1.0,
    "weight_method": "auto",
    "n_shards": 1,
}


def make_settings(n_topics: int, **changes: Any) -> Settings:
    """Return settings that are usual but for `changes`."""
    return Settings(n_topics, **{**USUAL, **changes})
