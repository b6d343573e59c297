"""Operands for the laws of the table: every dtype, shape, special value and Python number."""

import itertools

import numpy as np

from runmat_jit.core.types import COMPILED_DTYPES, TensorType
from runmat_jit.ops.spec import Weak

SHAPES = ((3,), (), (0,), (2, 1))
NUMBERS = (2, 0.5, True)


def describe(value):
    """What a rule may know of an operand."""
    if isinstance(value, (np.ndarray, np.generic)):
        return TensorType(value.dtype, value.shape)
    return Weak(type(value))


def array(dtype, shape, seed=0):
    """Small whole numbers with signs, some zero: no events, every branch."""
    rng = np.random.default_rng(seed)
    return np.asarray(rng.integers(-3, 5, shape)).astype(dtype)


def one_operand():
    for dtype, shape in itertools.product(COMPILED_DTYPES, SHAPES):
        yield array(dtype, shape)
    for dtype in COMPILED_DTYPES:
        yield array(dtype, ())[()]


def two_operands():
    """All pairs of dtypes and numbers, with shapes that broadcast, and some that do not."""
    shapes = [((3,), (3,)), ((2, 1), (3,)), ((), ()), ((0,), (1,)), ((2,), (3,))]
    for left, right in itertools.product(COMPILED_DTYPES, COMPILED_DTYPES):
        for one, other in shapes:
            yield array(left, one), array(right, other, 1)
        yield array(left, ())[()], array(right, ())[()]
    for dtype, number, shape in itertools.product(COMPILED_DTYPES, NUMBERS, ((3,), ())):
        yield array(dtype, shape), number
        yield number, array(dtype, shape)
        yield array(dtype, ())[()], number


def specials(dtype):
    """Values at which kernels and libraries are known to differ."""
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return np.array([False, True])
    if dtype.kind == "i":
        info = np.iinfo(dtype)
        near = [info.min, info.min + 1, info.max, info.max - 1]
        return np.array([*near, 0, 1, -1, 2, -2, 3, -7, 31, 32, 63, 64, 100], dtype)
    info = np.finfo(dtype)
    sizes = [0.0, 1.0, 0.5, 1.5, 2.5, 3.0, 7.0, 0.1, 1e5, 2.0**31, 2.0**63, 1e-5, np.inf, np.nan]
    limits = [info.max, info.tiny, info.smallest_subnormal, info.tiny / 4, info.max / 3]
    values = np.array([*sizes, *limits], dtype)
    return np.concatenate([values, -values])


def combinations(values):
    """All tuples of the values of each operand, as one flat array an operand."""
    grid = np.meshgrid(*values, indexing="ij")
    return tuple(np.ascontiguousarray(side.reshape(-1)) for side in grid)


def same_bits(left, right):
    """Equal dtype, shape and bits; any NaN equals any NaN."""
    left, right = np.asarray(left), np.asarray(right)
    if left.dtype != right.dtype or left.shape != right.shape:
        return False
    if left.dtype.kind != "f":
        return bool((left == right).all())
    integer = f"i{left.dtype.itemsize}"
    equal = left.view(integer) == right.view(integer) if left.ndim else left == right
    return bool((equal | (np.isnan(left) & np.isnan(right))).all())
