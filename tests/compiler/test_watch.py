"""How programs come to note events in another way. Oracle: the undecorated function; telemetry for
how often NumPy was asked."""

import logging
import warnings

import numpy as np
import pytest

import runmat_jit as runmat
from runmat_jit.compiler.events import ALARMS
from tests.capture.behavior import module
from tests.conftest import PROFILE

LOOP = "for _ in range({}): x = x * 0.9 + {}\n    return x"
PROGRAMS = {
    "a chain": "return x * 2 + 1",
    "joined": "return (x * 2 + np.abs(y)) * (y - 1)",
    "where": "return np.where(x > 0, x * 2, y - 1)",
    "remainder": "return x % 1, x // 3, np.fmod(y, 2)",
    "quotients": "return x / (y * y + 1), np.exp(-y * y), np.sqrt(np.abs(x)) * y",
    "standardize": "return (x - x.mean()) / x.std(), (x - x.mean(axis=0)) / y.std(axis=1)[:, None]",
    "softmax": "return np.exp(x - x.max(axis=1, keepdims=True)), x.sum(axis=1), y.min()",
    "a loop": LOOP.format(20, "0.1"),
    "a loop of two": LOOP.format(20, "y * 0.1"),
    "casts": "return x.astype('f8') * 3, (y * 3).astype('f4'), x.astype(bool)",
    "a write": "x[1:] *= 2\n    x[0] = y[1] - 1\n    return x + y",
}
LARGEST = object()
EVENTS = {
    "zeros": ("return np.log(x)", 0.0),
    "negative": ("return np.log(x) + np.sqrt(x)", -1.0),
    "large": ("return np.exp(x) * 2", 1e4),
    "by zero": ("return 1 / x + y / (x * x)", 0.0),
    "whole": ("return x.astype('i4')", 1e20),
    "many": ("for _ in range(30): y = y * 0.9 + x\n    return y / 3 + np.log(x)", 0.0),
    "rewritten": ("return x / 0.125 + y ** 2 - y / x", LARGEST),
}
SHAPE = (6, 50)
DTYPES = ("float32", "float64") if PROFILE == "full" else ("float32",)


def operands(dtype, value=None, seed=3):
    rng = np.random.default_rng(seed)
    x, y = (rng.uniform(0.5, 3, SHAPE).astype(dtype) for _ in range(2))
    if value is LARGEST:
        value = np.finfo(dtype).max
    if value is not None:
        x[2, 7] = y[4, 9] = x[5, ::3] = value
    return x, y


def told(function, arguments):
    """What a call gives, and the texts and lines of its warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = function(*arguments)
    listed = result if isinstance(result, tuple) else (result,)
    return listed, [(str(w.message), w.filename, w.lineno) for w in caught]


def check(plain, compiled, data):
    """Compare calls; how often NumPy was asked in each."""
    asked = []
    for arguments in data:
        expected = told(plain, [x.copy() for x in arguments])
        before = runmat.telemetry.snapshot()["events_checked"]
        found = told(compiled, [x.copy() for x in arguments])
        asked.append(runmat.telemetry.snapshot()["events_checked"] - before)
        assert found[1] == expected[1]
        for a, b in zip(found[0], expected[0], strict=True):
            assert a.dtype == b.dtype
            np.testing.assert_allclose(a, b, rtol=1e-4)
    return asked


def functions(body, name):
    namespace = module(f"def f(x, y):\n    {body}\n", name)
    return namespace["f"], runmat.jit(namespace["f"])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", PROGRAMS)
def test_numpy_is_not_asked_about_data_that_are_not_numbers(name, dtype):
    plain, compiled = functions(PROGRAMS[name], f"{name} {dtype}")
    asked = check(plain, compiled, [operands(dtype, np.nan)] * 6)
    assert not any(asked[ALARMS + 1 :])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", EVENTS)
def test_numpy_is_asked_once_about_each_set_of_events(name, dtype):
    body, value = EVENTS[name]
    plain, compiled = functions(body, f"{name} {dtype}")
    data = [operands(dtype, value, seed) for seed in (1, 2)] * 5
    assert told(plain, data[0])[1]
    asked = check(plain, compiled, data)
    assert not any(asked[-2:])


def test_what_is_told_apart_is_kept_through_quiet_calls():
    plain, compiled = functions("return np.log(x) * 2 + y", "now and then")
    eventful, quiet = operands("float32", 0.0), operands("float32")
    asked = check(plain, compiled, [eventful] * 4 + ([quiet] * 4 + [eventful] * 2) * 3)
    assert not any(asked[4:])


def test_a_call_does_not_fail_for_kernels_of_later_ones(monkeypatch, caplog):
    def fail(*_):
        raise AssertionError("no kernel")

    monkeypatch.setattr("runmat_jit.compiler.lower_program.with_notes", fail)
    monkeypatch.setattr("runmat_jit.compiler.events.LOG", logging.getLogger("tests.watch"))
    plain, compiled = functions("return x * 3 + y", "no kernels")
    with caplog.at_level(logging.ERROR, "tests.watch"):
        asked = check(plain, compiled, [operands("float32", np.nan)] * 4)
    assert asked == [1] * 4
    assert "no kernels with exact notes" in caplog.text


MIXED = {
    "joined": "return (x * 2 + np.abs(y)) * (y - 1)",
    "hidden": "z = x * x\n    return np.where(y > 1, z / y, np.exp(z)), (z + y).sum()",
    "of rows": "return x.sum(axis=1) / y.mean(axis=0).max(), x.prod(axis=1) * 2, np.log(x) + y",
    "powers": "return x ** y, (x * 2) ** -1, y ** 0.5, 2.0 ** x",
    "casts": "z = x * 1e5\n    z[:] += y\n    return z.astype('i4'), x // y, x % y",
}
VALUES = (None, np.nan, np.inf, -np.inf, 0.0, -1.0, 3e38, 1e-40)


@pytest.mark.parametrize(
    ("name", "device"), [*((name, "cpu") for name in MIXED), ("hidden", "gpu")]
)
def test_whatever_data_follow_upon_each_other_warnings_are_numpys(name, device, request):
    """Of data of all kinds in random order: all ways of noting events take turns."""
    if device == "gpu":
        request.getfixturevalue("gpu")
    rng = np.random.default_rng(len(name))
    namespace = module(f"def f(x, y):\n    {MIXED[name]}\n", f"{name} {device}")
    compiled = runmat.jit(namespace["f"], device=device)
    values = [VALUES[i] for i in rng.integers(0, len(VALUES), 200 if PROFILE == "full" else 24)]
    for seed, value in enumerate(value for value in values for _ in range(2)):
        x, y = operands("float32", value, seed)
        if seed % 3 == 0:
            y[0, 0] = VALUES[1 + seed % (len(VALUES) - 1)]
        expected = told(namespace["f"], (x.copy(), y.copy()))
        assert told(compiled, (x.copy(), y.copy()))[1] == expected[1], (value, seed)


def test_other_lengths_come_to_exact_notes_too():
    plain, compiled = functions("return x * 2 + y", "lengths")
    lengths = [(n,) for n in (30, 40, 50, 60, 70)] + [(70,), (60,)] * 4
    data = [(np.full(n, np.nan, np.float32), np.ones(n, np.float32)) for n in lengths]
    asked = check(plain, compiled, data)
    assert not any(asked[-4:])


@pytest.mark.usefixtures("gpu")
def test_a_gpu_comes_to_exact_notes():
    namespace = module("def f(x, y):\n    return np.where(x > 1, x * 2, y) + 1\n", "on a gpu")
    compiled = runmat.jit(namespace["f"], device="gpu")
    data = [operands("float32", np.nan), operands("float32", np.inf)] * 4
    asked = check(namespace["f"], compiled, data)
    assert asked == [1] * ALARMS + [0] * (len(data) - ALARMS)
    assert runmat.telemetry.snapshot()["gpu_launches"] > 0
