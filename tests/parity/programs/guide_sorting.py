"""Programs after NumPy's guide: sorting, searching, counting, sets."""

import numpy as np

from tests.parity.program import integers, normal, program, two_normal

WHOLE = ("int64", "int32")


@program(normal)
def sort_and_rank(x):
    order = np.argsort(x)
    ranks = np.empty(len(x), dtype=np.int64)
    ranks[order] = np.arange(len(x))
    return np.sort(x), ranks, x[order][::-1]


@program(normal, shapes=((4, 6), (9, 20)))
def sort_in_place_by_rows(table):
    table.sort(axis=1)
    middle = table[:, table.shape[1] // 2]
    return middle, np.sort(table, axis=None)[:3]


@program(normal)
def smallest_and_largest(x):
    k = 3
    small = np.sort(np.partition(x, k)[:k])
    largest = x[np.argpartition(x, -k)[-k:]]
    return small, np.sort(largest)


@program(two_normal)
def sort_by_two_keys(a, b):
    coarse = np.round(a)
    order = np.lexsort((b, coarse))
    return coarse[order], b[order]


@program(normal)
def insert_where_it_belongs(x):
    grid = np.linspace(-2, 2, 9)
    left = np.searchsorted(grid, x)
    right = grid.searchsorted(x, side="right")
    return left, right, np.interp(x, grid, grid**2)


@program(integers, dtypes=WHOLE)
def unique_values_and_counts(n):
    values, inverse, counts = np.unique(n, return_inverse=True, return_counts=True)
    return values, counts, values[inverse] - n, values[counts.argmax()]


@program(
    lambda rng, shape, dtype: tuple(rng.integers(0, 20, (2, *shape)).astype(dtype)), dtypes=WHOLE
)
def set_operations(a, b):
    both, either = np.intersect1d(a, b), np.union1d(a, b)
    return both, either, np.setdiff1d(a, b), np.setxor1d(a, b), np.isin(a, [1, 2, 3])


@program(normal)
def top_of_a_list(x):
    best = sorted(x.tolist(), reverse=True)[:3]
    return best, max(x), min(x[:4]), sum(x[:3])


@program(normal)
def run_lengths(x):
    sign = x > 0
    changes = np.flatnonzero(np.diff(sign.astype(np.int8)))
    lengths = np.diff(np.concatenate(([0], changes + 1, [len(x)])))
    return changes, lengths, lengths.max()


@program(normal)
def first_element_above(x):
    above = x > 0.5
    if above.any():
        return int(np.argmax(above))
    return -1


@program(integers, dtypes=WHOLE)
def remove_and_extract(n):
    even = np.extract(n % 2 == 0, n)
    return (
        even,
        np.delete(n, [0, 2]),
        np.insert(n, 1, 99)[:4],
        np.trim_zeros(n),
        np.compress(n > 0, n),
    )
