"""A matrix of counts and its links, as arrays."""

import numpy as np

COUNTS = np.array([[2, 0, 1, 0], [0, 3, 0, 0], [1, 1, 1, 1], [0, 0, 0, 4]])
LINKS = np.array([[0, 1], [2, 0], [1, 2]])
SORTED = [[0, 1], [1, 2], [2, 0]]


def link_matrix(kind=float):
    matrix = np.zeros((4, 4), dtype=kind)
    matrix[tuple(LINKS.T)] = 1
    return matrix
