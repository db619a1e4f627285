"""Products of rows of sparse matrices."""

from __future__ import annotations

import numpy as np

from linktopics.kernels._compile import kernel


@kernel
def row_dots(
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
def sum_dots(
    left_start, left_column, left_value, member_start, members, start, column, value, n_columns, order, rows, groups,
    result,
):  # fmt: skip
    """result[e] = left[rows[e]] @ matrix[members of groups[e]].sum(axis=0) for sparse matrices.

    The members of group g are ``members[member_start[g]:member_start[g + 1]]``. `order` lists the pairs so that equal
    `groups` follow one another: the sum of a group is spread out once for all its pairs, and only one sum is in memory
    at a time.
    """
    spread = np.zeros(n_columns)
    last = -1
    for e in order:
        g = groups[e]
        if g != last:
            if last >= 0:
                for m in range(member_start[last], member_start[last + 1]):
                    for n in range(start[members[m]], start[members[m] + 1]):
                        spread[column[n]] = 0.0
            for m in range(member_start[g], member_start[g + 1]):
                for n in range(start[members[m]], start[members[m] + 1]):
                    spread[column[n]] += value[n]
            last = g
        total = 0.0
        for n in range(left_start[rows[e]], left_start[rows[e] + 1]):
            total += left_value[n] * spread[left_column[n]]
        result[e] = total


@kernel
def sums_of_rows(first, last, member_start, members, start, column, value, n_columns, ends, values):
    """values[ends[g - first]:ends[g - first + 1]] = entries of matrix[members of group g].sum(axis=0) that are stored.

    For groups `first` to `last` - 1 and a sparse matrix, groups as in `sum_dots`; in the order in which their columns
    are first met among the members.
    """
    spread = np.zeros(n_columns)
    met = np.zeros(n_columns, np.bool_)
    columns = np.empty(n_columns, np.int64)
    ends[0] = 0
    for g in range(first, last):
        found = 0
        for m in range(member_start[g], member_start[g + 1]):
            for n in range(start[members[m]], start[members[m] + 1]):
                k = column[n]
                spread[k] += value[n]
                if not met[k]:
                    met[k] = True
                    columns[found] = k
                    found += 1
        place = ends[g - first]
        for k in columns[:found]:
            values[place] = spread[k]
            spread[k] = 0.0
            met[k] = False
            place += 1
        ends[g - first + 1] = place


@kernel
def row_times_matrix(columns, values, start, column, value, result):
    """result += x @ matrix for a sparse row x (`columns`, `values`) and a sparse matrix."""
    for n in range(len(columns)):
        x = values[n]
        for at in range(start[columns[n]], start[columns[n] + 1]):
            result[column[at]] += x * value[at]


@kernel
def add_rows_at(columns, rows, start, column, value, result):
    """result += matrix[rows][:, columns] summed over rows, the matrix being sparse and the columns in order."""
    for row in rows:
        for at in range(start[row], start[row + 1]):
            place = np.searchsorted(columns, column[at])
            if place < len(columns) and columns[place] == column[at]:
                result[place] += value[at]


@kernel
def largest_products(left, right, least, most):
    """Return the indices of the largest products of two arrays, at most `most`, that exceed `least`; largest first.

    Equal products are in the order of the arrays.
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
