"""Programs after NumPy's guide: broadcasting."""

import numpy as np

from tests.parity.program import normal, positive, program

TABLES = ((4, 6), (15, 9))


def table_row_column(rng, shape, dtype):
    rows, columns = shape
    shapes = (rows, columns), (columns,), (rows, 1)
    return tuple(rng.normal(size=s).astype(dtype) for s in shapes)


def two_sets_of_points(rng, shape, dtype):
    rows, columns = shape
    return rng.normal(size=(rows, 3)).astype(dtype), rng.normal(size=(columns, 3)).astype(dtype)


@program(normal, shapes=TABLES)
def standardize_columns(table):
    centered = table - table.mean(axis=0)
    deviation = np.sqrt((centered**2).mean(axis=0))
    return centered / deviation


@program(table_row_column, shapes=TABLES)
def row_and_column_effects(table, row, column):
    model = row + column
    return table - model, model.shape, ((table - model) ** 2).sum()


@program(two_sets_of_points, shapes=TABLES)
def pairwise_distances(a, b):
    difference = a[:, None, :] - b[None, :, :]
    squared = (difference**2).sum(axis=-1)
    return np.sqrt(squared)


@program(two_sets_of_points, shapes=TABLES)
def nearest_codes(observations, codes):
    difference = observations[:, np.newaxis] - codes
    distance = np.sum(difference**2, axis=-1)
    return np.argmin(distance, axis=1)


@program(normal, shapes=((5,), (21,)))
def outer_products_three_ways(x):
    a = x[:, None] * x
    b = np.outer(x, x)
    c = np.multiply.outer(x, x)
    return a, b, np.array_equal(a, c)


@program(normal, shapes=TABLES)
def broadcast_views(table):
    row = np.broadcast_to(table[0], table.shape)
    a, b = np.broadcast_arrays(table, table[:, :1])
    return row + table, a - b, row.flags.writeable, np.broadcast_shapes((4, 1), (6,))


@program(table_row_column, shapes=TABLES)
def raises_for_shapes_that_do_not_match(table, row, column):
    return table + row[:-1]


@program(normal, shapes=TABLES)
def softmax_of_rows(scores):
    shifted = scores - scores.max(axis=1, keepdims=True)
    weights = np.exp(shifted)
    return weights / weights.sum(axis=1, keepdims=True)


@program(positive, shapes=((3, 4, 3), (7, 5, 3)))
def scale_color_channels(image):
    gains = np.array([0.9, 1.1, 1.0], dtype=image.dtype)
    bright = np.minimum(image * gains, 1)
    return bright, bright.mean(axis=(0, 1))


@program(normal, shapes=((1, 5), (6, 1)))
def axes_of_one_element(x):
    wide = x + np.zeros((6, 5), dtype=x.dtype)
    return wide, x * x.T, x.squeeze() - 1
