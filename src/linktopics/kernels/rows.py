"""Products of rows of sparse matrices."""

from __future__ import annotations

import numpy as np

from linktopics.kernels._compile import kernel

__all__ = ["add_rows_at", "largest_products", "row_dots", "row_times_matrix"]


@kernel
def row_dots(  # type: ignore[no-untyped-def]
    left_start, left_column, left_value, right_start, right_column, right_value, n_columns, order, rows, columns, result
):
    """result[e] = left[rows[e]] @ right[columns[e]] for two sparse matrices.

    `order` lists the pairs so that equal `columns` follow one another: a row on the right may be long, and is spread
    out once for all pairs it is in.
    """
    spread = np.zeros(n_columns)
    last = -1
    for e in order:
        j = columns[e]
        if j != last:
            if last >= 0:
                for n in range(right_start[last], right_start[last + 1]):
                    spread[right_column[n]] = 0.0
            for n in range(right_start[j], right_start[j + 1]):
                spread[right_column[n]] = right_value[n]
            last = j
        total = 0.0
        for n in range(left_start[rows[e]], left_start[rows[e] + 1]):
            total += left_value[n] * spread[left_column[n]]
        result[e] = total


@kernel
def row_times_matrix(columns, values, start, column, value, result):  # type: ignore[no-untyped-def]
    """result += x @ matrix, x being zero but for some `values` and the matrix sparse."""
    for n in range(len(columns)):
        x = values[n]
        for at in range(start[columns[n]], start[columns[n] + 1]):
            result[column[at]] += x * value[at]


@kernel
def add_rows_at(columns, rows, start, column, value, result):  # type: ignore[no-untyped-def]
    """result += matrix[rows][:, columns] summed over rows, the matrix being sparse and the columns in order."""
    for row in rows:
        for at in range(start[row], start[row + 1]):
            place = np.searchsorted(columns, column[at])
            if place < len(columns) and columns[place] == column[at]:
                result[place] += value[at]


@kernel
def largest_products(left, right, least, most):  # type: ignore[no-untyped-def]
    """Return the places of the largest products of two arrays that are over `least`, up to `most`, largest first.

    Of equals, the first.
    """
    products = left * right
    places = np.empty(most, np.int64)
    for found in range(most):
        place = -1
        for n in range(len(products)):
            if products[n] > least and (place < 0 or products[n] > products[place]):
                place = n
        if place < 0:
            return places[:found]
        places[found] = place
        products[place] = least
    return places
