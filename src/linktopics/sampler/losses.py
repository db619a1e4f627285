"""Losses. Given its augmented variable, every loss is Gaussian in the score of a pair.

A pair with score omega then contributes ``exp(linear * omega - quadratic * omega**2 / 2)``, and nothing else in the
package depends on which loss is in use. A loss draws the variable and gives `linear` and `quadratic`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, log_expit

from linktopics.registry import LOSSES
from linktopics.sampler.polya_gamma import draw_polya_gamma
from linktopics.sampler.settings import Settings

Array = NDArray[np.float64]

SMALLEST_VARIABLE = 1e-10
"""Lower limit of the hinge loss's variable, so that its reciprocal stays in the range of float32. Values below it
have a probability of some 1e-5 even for a pair that lies exactly on the margin."""

LARGE_COST = 16.0
"""Above this cost the logistic loss's variables start at their mean at score 0, not at 1 as in the paper. From 1, the
first weights would give scores of cost / 2, and where links are separable from non-links the chain would need some
cost * pairs sweeps to return."""


@dataclass
class Loss(ABC):
    """A loss, as the sampler needs it.

    Parameters
    ----------
    label : ndarray of bool, one for each pair
        Whether the pair is linked.
    cost : ndarray of float, one for each pair
        Its weight.
    margin : float
        The model's parameter of this name, which a loss may use.
    """

    label: NDArray[np.bool_]
    cost: Array
    margin: float = 1.0

    max_slope: ClassVar[float] = np.inf
    """Upper limit of the derivative of a link's log-odds with respect to its score. With it, candidates are ranked in
    single precision first; without, all of them are in double precision."""

    @property
    def sign(self) -> Array:
        """+1 for a link and -1 for a non-link."""
        return np.where(self.label, 1.0, -1.0)

    def start(self) -> Array:
        """Return the augmented variables that a chain starts from: 1, unless a loss has better ones."""
        return np.ones(len(self.cost))

    @abstractmethod
    def draw(self, scores: Array, rng: np.random.Generator) -> Array:
        """Return random augmented variables, which are positive, given the scores."""

    @abstractmethod
    def gaussian(self, augmented: Array) -> tuple[Array, Array]:
        """Return (linear, quadratic) given the augmented variables."""

    @abstractmethod
    def log_likelihood(self, scores: Array) -> float:
        """Return the log pseudo-likelihood of the labels, the augmented variables integrated out."""

    @abstractmethod
    def probability(self, scores: Array) -> Array:
        """Return the probability of a link with this score, at cost 1 for both classes.

        The probability at -score must be the probability of no link.
        """

    def no_link(self, scores: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the probability of no link in single precision; scores are overwritten."""
        return np.asarray(self.probability(np.negative(scores, out=scores)), np.float32)


Kind = TypeVar("Kind", bound=type[Loss])


def register_loss(name: str) -> Callable[[Kind], Kind]:
    """Return a decorator that registers a class of losses for ``loss=name``.

    Examples
    --------
    See `docs/developer/how-to-add.md`.
    """

    def register(loss: Kind) -> Kind:
        LOSSES.add(name, loss, loss.__module__)
        return loss

    return register


@register_loss("logistic")
class LogisticLoss(Loss):
    """Likelihood sigmoid(s omega) ** cost, s = +1 for a link and -1 for a non-link, by Polya-Gamma variables.

    References
    ----------
    Polson, Scott and Windle (2013), Bayesian inference for logistic models using Polya-Gamma latent variables.
    """

    max_slope = 1.0

    def start(self) -> Array:
        """Return 1, or for large costs the mean at score 0."""
        return np.where(self.cost > LARGE_COST, self.cost / 4, 1.0)

    def draw(self, scores: Array, rng: np.random.Generator) -> Array:
        """Return draws from PG(cost, score)."""
        return draw_polya_gamma(self.cost, scores, rng)

    def gaussian(self, augmented: Array) -> tuple[Array, Array]:
        """Return cost (y - 1/2) and the variable itself."""
        return self.cost * (self.label - 0.5), augmented

    def log_likelihood(self, scores: Array) -> float:
        """Return sum cost log sigmoid(s score)."""
        return float(self.cost @ log_expit(np.where(self.label, scores, -scores)))

    def probability(self, scores: Array) -> Array:
        """Return sigmoid(score)."""
        return np.asarray(expit(scores))

    def no_link(self, scores: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return 1 / (1 + exp(score)), in place."""
        np.exp(scores, out=scores)
        scores += 1.0
        return np.reciprocal(scores, out=scores)


@register_loss("hinge")
class HingeLoss(Loss):
    """Pseudo-likelihood exp(-2 cost max(0, margin - s omega)), s = +1 for a link and -1 for a non-link.

    References
    ----------
    Polson and Scott (2011), Data augmentation for support vector machines.
    """

    max_slope = 4.0

    def draw(self, scores: Array, rng: np.random.Generator) -> Array:
        """Return variables whose reciprocals are inverse Gaussian with mean 1 / (cost |margin - s score|) and shape 1.

        Michael, Schucany and Haas's transformation, written for the reciprocal, where nothing cancels or overflows.
        """
        m = self.cost * np.abs(self.margin - np.where(self.label, scores, -scores))
        y = rng.standard_normal(len(m)) ** 2
        root = m + 0.5 * y + np.sqrt(y * (m + 0.25 * y))
        other = m * (m / root)
        return np.maximum(np.where(rng.random(len(m)) * (root + m) <= root, root, other), SMALLEST_VARIABLE)

    def gaussian(self, augmented: Array) -> tuple[Array, Array]:
        """Return cost s (variable + cost margin) / variable and cost^2 / variable."""
        ratio = self.cost / augmented
        return self.cost * self.sign * (1.0 + ratio * self.margin), self.cost * ratio

    def log_likelihood(self, scores: Array) -> float:
        """Return sum -2 cost max(0, margin - s score)."""
        return float(-2.0 * self.cost @ np.maximum(0.0, self.margin - np.where(self.label, scores, -scores)))

    def probability(self, scores: Array) -> Array:
        """Return the pseudo-likelihood of a link, normalised over link and non-link."""
        return np.asarray(expit(2.0 * (np.maximum(0.0, self.margin + scores) - np.maximum(0.0, self.margin - scores))))


def make_loss(settings: Settings, label: NDArray[np.bool_]) -> Loss:
    """Return the loss of a model, for pairs with these labels."""
    cost = np.where(label, float(settings.link_cost), float(settings.nonlink_cost))
    return LOSSES[settings.loss](label, cost, settings.margin)
