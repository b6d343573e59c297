"""Programs after NumPy's guide: reading and writing parts of arrays."""

import numpy as np

from tests.parity.program import integers, normal, program

IMAGES = ((6, 8), (13, 21))
VOLUMES = ((3, 4, 5), (5, 6, 8))


def values_and_indices(rng, shape, dtype):
    return rng.normal(size=shape).astype(dtype), rng.integers(-3, 3, 7)


def values_and_mask(rng, shape, dtype):
    return rng.normal(size=shape).astype(dtype), rng.random(shape) < 0.4


@program(normal, shapes=IMAGES)
def crop_and_flip(image):
    crop = image[1:-1, 2:-2]
    mirrored = crop[:, ::-1]
    upside = image[::-1]
    return mirrored + crop, upside, upside.base is image


@program(normal)
def differences_by_slices(x):
    first = x[1:] - x[:-1]
    second = x[2:] - 2 * x[1:-1] + x[:-2]
    backward = x[::-1][:4]
    return first, second, backward


@program(normal, shapes=IMAGES)
def blur_of_neighbors(image):
    out = image.copy()
    out[1:-1, 1:-1] = (
        image[1:-1, 1:-1] + image[:-2, 1:-1] + image[2:, 1:-1] + image[1:-1, :-2] + image[1:-1, 2:]
    ) / 5
    return out


@program(values_and_indices)
def gather_by_index(x, index):
    picked = x[index]
    twice = np.take(x, index) * 2
    last = x[[0, -1]]
    return picked + twice, last, picked.flags.owndata


@program(values_and_indices)
def scatter_by_index(x, index):
    x[index] = 0
    x[index[:2]] += 1.5
    return np.count_nonzero(x)


@program(values_and_mask)
def select_by_mask(x, keep):
    chosen = x[keep]
    return chosen, chosen.mean(), x[~keep].size


@program(values_and_mask)
def assign_by_mask(x, low):
    x[low] = -1
    x[~low] *= 2
    x[x > 3] = 3
    return x.sum()


@program(normal, shapes=VOLUMES)
def ellipsis_and_newaxis(volume):
    last = volume[..., 0]
    wide = last[:, :, np.newaxis] * volume
    first = volume[0, ...]
    return wide, first[None, ...].shape, volume[..., -1, :]


@program(normal, shapes=VOLUMES)
def negative_steps_in_three_axes(volume):
    turned = volume[::-1, ::-2, 1::2]
    return turned, turned - volume[::1, ::2, 1::2], turned.strides


@program(normal, shapes=IMAGES)
def rows_and_columns_by_ix(table):
    rows, columns = [0, 2, 4], [1, 3]
    block = table[np.ix_(rows, columns)]
    table[np.ix_(rows, columns)] = 0
    return block, table[rows, 0], table[[0, 1], [1, 2]]


@program(normal, shapes=IMAGES)
def one_element_at_a_time(table):
    total = 0.0
    for i in range(3):
        total += table[i, i] * table[-1, i]
    table[0, 0] = total
    return total, table[2][3], table.item(1)


@program(normal)
def where_and_nonzero(x):
    above = np.nonzero(x > 0)[0]
    (below,) = np.where(x < -0.5)
    return above, x[below], np.flatnonzero(x > 1)


@program(normal)
def choose_by_conditions(x):
    conditions = [x < -1, x < 0, x < 1]
    choices = [-x, x * x, x + 1]
    return np.select(conditions, choices, default=0), np.where(x > 0, x, -1)


@program(integers, dtypes=("int64", "int32"))
def lookup_table(codes):
    table = np.arange(-9, 10) ** 2
    values = table[codes]
    np.put(table, [0, 1], [-1, -2])
    return values, table[codes % 5]


@program(normal, shapes=IMAGES)
def along_an_axis(table):
    order = np.argsort(table, axis=1)
    ordered = np.take_along_axis(table, order, axis=1)
    np.put_along_axis(table, order[:, :1], 0, axis=1)
    return ordered, table.min(axis=1)


@program(normal, shapes=((8,), (33,)))
def index_out_of_range(x):
    try:
        x[len(x)]
    except IndexError as error:
        message = str(error)
    return message, x[-1]


@program(normal, shapes=IMAGES)
def raises_for_too_many_indices(table):
    scaled = table * 2
    return scaled[0, 1, 2]


@program(normal)
def boundaries_of_slices(x):
    n = len(x)
    return x[n:], x[: n + 5] * 2, x[-3 * n : 3], x[5:2], x[slice(None, None, 3)] + 1


@program(normal, shapes=IMAGES)
def flat_iteration(table):
    flat = table.flat
    table.flat[::3] = 7
    return flat[2], table.ravel()[:5], np.unravel_index(4, table.shape)
