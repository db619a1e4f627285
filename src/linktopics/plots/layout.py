"""A deterministic layout of the nodes of a small graph."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import shortest_path

Array = NDArray[np.float64]

N_STEPS = 300


def stress_layout(strengths: Array) -> Array:
    """Return positions of nodes whose distances approximate the lengths of paths; strong edges are short.

    Stress majorisation (Gansner, Koren and North, 2004), started from classical scaling. Components that are not
    connected keep a distance.

    Parameters
    ----------
    strengths : ndarray of shape (n_nodes, n_nodes)
        Strengths of edges, in either direction; 0 where there is none.

    Returns
    -------
    ndarray of shape (n_nodes, 2)
        Positions around the origin, with the longer side horizontal.
    """
    strongest = np.maximum(strengths, strengths.T)
    n = len(strongest)
    angles = 2 * np.pi * np.arange(n) / n
    circle = np.column_stack([np.cos(angles), np.sin(angles)])
    if not strongest.any():
        return circle
    lengths = np.where(strongest > 0, 1.0 / (0.3 + 0.7 * strongest / strongest.max()), 0.0)
    distances = shortest_path(lengths, directed=False)
    reached = np.isfinite(distances)
    distances[~reached] = 1.2 * distances[reached].max()
    return _rotated(_majorise(_classical_scaling(distances) + 1e-3 * circle, distances))


def _classical_scaling(distances: Array) -> Array:
    squares = distances**2
    inner = -0.5 * (squares - squares.mean(axis=0) - squares.mean(axis=1, keepdims=True) + squares.mean())
    values, vectors = np.linalg.eigh(inner)
    return vectors[:, :-3:-1] * np.sqrt(np.maximum(values[:-3:-1], 0.0))


def _majorise(places: Array, distances: Array) -> Array:
    weights = 1.0 / np.where(distances > 0, distances, np.inf) ** 2
    laplacian = np.diag(weights.sum(axis=1)) - weights
    inverse = np.linalg.pinv(laplacian)
    for _ in range(N_STEPS):
        apart = np.linalg.norm(places[:, None] - places[None], axis=2)
        pull = weights * distances / np.where(apart > 1e-9, apart, 1.0)
        np.fill_diagonal(pull, 0.0)
        places = inverse @ ((np.diag(pull.sum(axis=1)) - pull) @ places)
    return places - places.mean(axis=0)


def _rotated(places: Array) -> Array:
    """Return positions rotated to spread most from left to right, with the farthest point on the right and above."""
    centred = places - places.mean(axis=0)
    _, _, axes = np.linalg.svd(centred, full_matrices=False)
    turned = centred @ axes.T
    farthest = np.abs(turned).argmax(axis=0)
    signs = np.sign(turned[farthest, [0, 1]])
    return turned * np.where(signs == 0, 1.0, signs)


def push_apart(places: Array, sizes: Array, room: tuple[float, float]) -> Array:
    """Return positions of boxes in a rectangle, near the given ones and without overlaps if they fit.

    Parameters
    ----------
    places : ndarray of shape (n, 2)
        Centres, in any unit.
    sizes : ndarray of shape (n, 2)
        Widths and heights of the boxes.
    room : tuple of float
        Width and height of the rectangle.

    Returns
    -------
    ndarray of shape (n, 2)
        Centres in the rectangle.
    """
    low, high = sizes / 2, np.maximum(np.asarray(room) - sizes / 2, sizes / 2)
    span = np.ptp(places, axis=0)
    relative = np.where(span > 1e-9, (places - places.min(axis=0)) / np.where(span > 1e-9, span, 1.0), 0.5)
    now = low + relative * (high - low)
    first, second = np.triu_indices(len(places), 1)
    for _ in range(N_STEPS):
        gap = now[second] - now[first]
        overlap = (sizes[first] + sizes[second]) / 2 - np.abs(gap)
        hit = (overlap > 1e-6).all(axis=1)
        if not hit.any():
            break
        along = overlap[hit].argmin(axis=1)  # the direction that needs the shorter move
        rows = np.arange(len(along))
        direction = np.where(gap[hit][rows, along] >= 0, 1.0, -1.0)
        move = np.zeros((len(along), 2))
        move[rows, along] = 0.55 * overlap[hit][rows, along] * direction
        shift = np.zeros_like(now)
        np.add.at(shift, first[hit], -move)
        np.add.at(shift, second[hit], move)
        now = np.clip(now + shift, low, high)
    return now
