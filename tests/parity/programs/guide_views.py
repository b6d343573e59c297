"""Programs after NumPy's guide: views, copies, and writes through both."""

import numpy as np

from tests.parity.program import normal, program, two_normal

TABLES = ((4, 6), (10, 6))


@program(normal)
def writes_through_a_slice(x):
    window = x[2:6]
    window *= 10
    window[0] = -1
    return window, x[:8], window.base is x


@program(normal, shapes=TABLES)
def transposed_writes(table):
    flipped = table.T
    flipped[0] += 100
    flipped[:, 0] = 5
    return flipped, np.shares_memory(flipped, table)


@program(normal, shapes=TABLES)
def reshape_keeps_memory(table):
    flat = table.reshape(-1)
    flat[0] = 42
    columns = table.reshape(2, -1, order="C")
    again = table.T.reshape(-1)
    again[1] = 7
    return columns, again, flat[:3]


@program(normal)
def copy_before_change(x):
    safe = x.copy()
    safe[0] = 0
    alias = x
    alias[1] = 9
    return safe, alias is x, alias


@program(normal)
def overlapping_shift(x):
    x[1:] = x[:-1]
    x[:-2] += x[2:]
    return x[::-1]


@program(normal, shapes=((10,), (24,)))
def ravel_and_flatten(x):
    table = x.reshape(2, -1)
    view, copy = table.ravel(), table.flatten()
    view[0], copy[1] = 5, 6
    return table, copy, np.ravel(table.T)


@program(normal, shapes=TABLES)
def diagonal_and_trace(table):
    block = table[:4, :4]
    d = np.diagonal(block)
    np.fill_diagonal(block, 1)
    return d, np.trace(block), d.flags.writeable


@program(two_normal)
def result_is_an_argument(a, b):
    np.maximum(a, b, out=a)
    return a, a[2:], b


@program(normal, shapes=((8,), (40,)))
def sliding_windows(x):
    windows = np.lib.stride_tricks.sliding_window_view(x, 3)
    return windows.max(axis=1), windows.sum(axis=-1), windows.shape


@program(normal)
def view_as_other_type(x):
    bits = x.view(np.int64 if x.itemsize == 8 else np.int32)
    sign = bits < 0
    return bits >> 3, sign, x[sign]


@program(normal, shapes=TABLES)
def moved_axes(table):
    cube = table.reshape(2, -1, 3)
    moved = np.moveaxis(cube, 0, -1)
    swapped = cube.swapaxes(0, 2)
    return moved + 1, swapped * 2, np.transpose(cube, (1, 0, 2)).strides


@program(lambda rng, shape, dtype: (rng.normal(size=shape).astype(dtype),) * 2)
def one_array_given_twice(a, b):
    a += 1
    b *= 2
    return a - b, a is b


@program(normal)
def write_to_a_read_only_array(x):
    frozen = x[:3]
    frozen.flags.writeable = False
    frozen[0] = 1
    return frozen
