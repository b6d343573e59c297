"""Programs as a card runs them, on whatever adapter there is. Oracle: the CPU's programs.

Cards get other schedules than adapters that are a CPU in disguise: rows in registers, threads below
one another, one element a thread where memory is read between vectors. The adapter at hand is taken
for a card here.
"""

from dataclasses import replace

import numpy as np
import pytest

import runmat_jit as runmat
from runmat_jit.runtime.session import Session, current_session, use_session

pytestmark = pytest.mark.sampled(10)


@pytest.fixture(scope="module")
def card():
    before = use_session(Session())
    try:
        device = current_session().gpu.backend.device
    except runmat.BackendError as error:
        use_session(before)
        pytest.skip(f"no adapter: {error}")
    device.__dict__["limits"] = replace(device.limits, software=False)
    yield
    use_session(before)


def square(x):
    return x[: min(x.shape), : min(x.shape)]


def updated(x):
    y = x.copy()
    y[1:-1, 1:-1] += x[:-2, 1:-1] * 2 - x[2:, 1:-1]
    return y


PROGRAMS = {
    "five points": lambda x: (
        x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:] - x[1:-1, 1:-1]
    ),
    "updated": updated,
    "along rows": lambda x: x[:, :-2] * 2 + x[:, 1:-1] + x[:, 2:],
    "turned": lambda x: square(x) + square(x).T,
    "turned, by columns": lambda x: (square(x) * 2 + square(x).T) * x[0, : min(x.shape)],
    "stored turned": lambda x: np.ascontiguousarray(x.T) * 2 + 1,
    "backwards": lambda x: x[::-1, ::-1] * 2 - x,
    "with steps": lambda x: x[::2, 1::3] * 2 + 1,
    "chosen": lambda x: np.where(x[1:, 1:] > x[:-1, :-1], x[1:, 1:], 0),
    "compared": lambda x: x[1:, 1:] > x[:-1, :-1],
    "sums of rows": lambda x: (x[1:, 1:] * 2).sum(axis=1),
    "sums of columns": lambda x: (x[1:, 1:] * 2).sum(axis=0),
    "extremes of columns": lambda x: x.max(axis=0) - x[:, ::-1].min(axis=0),
    "several of columns": lambda x: (x.sum(axis=0), (x * x).max(axis=0), x.mean(axis=0)),
    "by columns": lambda x: (x - x.mean(axis=0)) / (x.std(axis=0) + 1),
    "by rows": lambda x: (x - x.max(axis=1, keepdims=True)) / np.abs(x).sum(axis=1, keepdims=True),
}
SHAPES = [(3, 3), (5, 7), (17, 33), (64, 64), (100, 257), (1001, 5), (4100, 9), (130, 1027)]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", ["f", "d", "i"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_card_computes_what_the_cpu_does(card, name, dtype, shape):
    fn = PROGRAMS[name]
    x = (np.random.default_rng(7).random(shape) * 8 - 4).astype(dtype)
    expected = runmat.jit(fn, device="cpu")(x)
    decorated = runmat.jit(fn, device="gpu")
    for given in (x, runmat.asarray(x, "gpu")):
        found = decorated(given)
        for one, other in zip(listed(found), listed(expected), strict=True):
            assert one.dtype == other.dtype
            np.testing.assert_allclose(one, other, rtol=3e-6 if dtype == "f" else 1e-12, atol=1e-6)


def listed(results):
    return results if isinstance(results, tuple) else (results,)


def test_sums_of_columns_have_the_bits_of_the_cpu_whatever_divides_them(card):
    for rows in (1, 15, 16, 17, 255, 256, 257, 4096, 70_001):
        x = np.random.default_rng(rows).random((rows, 3)).astype(np.float32)
        for fn in (lambda x: x.sum(axis=0), lambda x: x.max(axis=0), lambda x: x.prod(axis=0)):
            found = runmat.jit(fn, device="gpu")(x)
            np.testing.assert_array_equal(found, runmat.jit(fn, device="cpu")(x))
