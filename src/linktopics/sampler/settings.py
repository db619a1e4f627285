"""Settings: the model and its priors."""

from __future__ import annotations

from dataclasses import dataclass

PRIOR_RANGE = (1e-9, 1e9)
"""Range of prior counts: added to counts in float32, smaller ones would vanish, and larger ones drown the counts."""

LINK_RANGE = (1e-9, 1e9)
"""Range of costs and of the variance of weights: products, squares and inverses must stay finite in float32."""


@dataclass(frozen=True)
class Settings:
    """The model and its priors; see `RelationalTopicModel` for what each means, and for the defaults.

    `weight_method` is "auto", or the way to draw the weights: "cholesky" or "cg", conjugate gradients.
    """

    n_topics: int
    loss: str
    weights: str
    exact: bool
    alpha: float
    beta: float
    weight_variance: float
    link_cost: float
    nonlink_cost: float
    margin: float
    weight_method: str
    n_shards: int
