"""Running sums, products and extremes, and positions of extremes, in programs.

Oracle: the undecorated function: values, dtypes, strides, warnings, errors, memory.
"""

import numpy as np
import pytest

import runmat_jit as runmat
from tests.capture.behavior import Keywords, check

DTYPES = ("bool", "int32", "int64", "float32", "float64", "uint8", "float16")


def in_all_spellings(x):
    n = len(x) - 1
    return (
        np.cumsum(x),
        x.cumsum(),
        np.cumsum(x, axis=0),
        x.cumprod(axis=-1),
        np.add.accumulate(x),
        np.multiply.accumulate(x, axis=x.ndim - 1),
        np.maximum.accumulate(x, 0),
        np.minimum.accumulate(x * n, axis=-1),
        np.argmax(x),
        x.argmin(axis=0),
        np.argmin(x * 2, axis=-1, keepdims=True),
        x.argmax(x.ndim - 1),
    )


def of_other_dtypes(x):
    y = x.astype(np.float64)
    return np.cumsum(x, dtype=np.float64), x.cumprod(dtype="float64"), y.cumsum(0, np.float32)


def between_computations(x):
    y = np.cumsum(np.abs(x) + 1, axis=0) * 0.5
    return y / y.max(), (y - x).argmax(axis=0), np.cumsum(y[::-1], axis=0)[-1]


def of_views(x):
    return np.cumsum(x[::2], axis=0), x[::-1].argmax(), np.maximum.accumulate(x.T, axis=0)


def into_memory(x):
    y, z = np.zeros(x.shape), x.copy()
    np.cumsum(x, axis=0, out=y)
    np.maximum.accumulate(z, axis=0, out=z)
    y[1:] += np.cumsum(z, axis=0)[:-1]
    return y, z


def deciding(x):
    k = np.argmax(x)
    total = np.cumsum(x)
    if total[-1] > 0:
        return k, total[: k + 1]
    return x[:k].argmin() if k > 0 else -1, total


PROGRAMS = (in_all_spellings, of_other_dtypes, between_computations, of_views, into_memory)


@pytest.mark.parametrize("shape", [(1,), (6,), (40,), (3, 5), (20, 9), (2, 3, 4)])
@pytest.mark.parametrize("program", PROGRAMS)
def test_programs_behave_as_they_do_undecorated(program, shape):
    check(program, lambda rng: (rng.normal(size=shape),), exact=program is not between_computations)


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_dtype_behaves_as_it_does_undecorated(dtype):
    check(in_all_spellings, lambda rng: ((rng.normal(size=(4, 9)) * 3).astype(dtype),), exact=True)


@pytest.mark.parametrize("size", [1, 9, 200])
def test_decisions_may_ask_for_positions(size):
    check(deciding, lambda rng: (rng.normal(size=size),), seeds=(0, 1, 2, 3, 0, 1))


def test_one_recording_serves_other_lengths():
    decorated = runmat.jit(between_computations)
    for size in (8, 5, 30, 3000, 1, 2, 40_000):
        x = np.random.default_rng(size).normal(size=(size, 3))
        for found, expected in zip(decorated(x), between_computations(x), strict=True):
            np.testing.assert_allclose(found, expected, rtol=1e-14)


@pytest.mark.parametrize(
    "fn",
    [
        lambda x: np.cumsum(x, axis=2),
        lambda x: np.maximum.accumulate(x, axis=(0, 1)),
        lambda x: np.argmax(x, axis=2),
        lambda x: np.argmax(x, axis=(0, 1)),
        lambda x: x[:0].argmax(),
        lambda x: x[:0].argmin(axis=0),
        lambda x: x[:0].cumsum(axis=0),
        lambda x: np.cumsum(x[0, 0]) + np.argmax(x[0, 0]),
    ],
)
def test_what_numpy_refuses_is_refused_by_numpy(fn):
    check(fn, lambda rng: (rng.normal(size=(3, 4)),))


def overflowing(x, *, scale):
    return np.cumsum(x * scale, axis=0), (x * scale).cumprod(), np.argmax(x / 0)


@pytest.mark.parametrize("state", ["warn", "ignore", "raise"])
@pytest.mark.parametrize("scale", [1.0, 1e308, np.inf, np.nan])
def test_events_are_reported_as_numpy_reports_them(state, scale):
    with np.errstate(all=state, under="ignore"):
        check(
            overflowing,
            lambda rng: (rng.normal(size=(4, 9)), Keywords(scale=scale)),
            seeds=(0, 1, 0, 1, 0, 1, 2),
            exact=True,
        )
