"""Reductions that are made of others, compiled. Oracle: NumPy, and exact sums for accuracy."""

import math
import warnings
from fractions import Fraction

import numpy as np
import pytest

import runmat_jit as runmat

CALLS = {
    "std": lambda x: x.std(),
    "std of columns": lambda x: np.std(x, axis=0),
    "std of a sample": lambda x: np.std(x, 1, ddof=1, keepdims=True),
    "var": lambda x: x.var(axis=1, ddof=-1),
    "var with a correction": lambda x: np.var(x, axis=(0, 1), correction=1),
    "z": lambda x: (x - x.mean(0)) / x.std(0),
    "average": lambda x: np.average(x, axis=0),
    "nansum": lambda x: np.nansum(np.where(x > 0, np.nan, x), axis=1),
    "ptp": lambda x: np.ptp(x, axis=1),
    "count_nonzero": lambda x: np.count_nonzero(x > 0, axis=0),
    "diff": lambda x: np.diff(x, axis=0),
    "second differences": lambda x: np.diff(x, 2),
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("dtype", ["float32", "float64", "int32"])
def test_calls_give_numpys_results_time_after_time(name, dtype):
    function, x = CALLS[name], np.random.default_rng(1).normal(3, 20, (37, 53)).astype(dtype)
    compiled = runmat.jit(function)
    expected, first = function(x), compiled(x)
    eps = np.finfo(expected.dtype).eps if expected.dtype.kind == "f" else 0
    for found in (first, compiled(x), compiled(x)):
        assert type(found) is type(expected)
        assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
        np.testing.assert_array_equal(found, first)
        np.testing.assert_allclose(found, expected, rtol=64 * eps, atol=64 * eps)
    assert "replayed" in str(compiled.explain(x))


@pytest.mark.parametrize("name", ["ptp", "count_nonzero", "diff", "second differences"])
@pytest.mark.parametrize("dtype", ["float64", "int64", "bool"])
def test_what_rounds_as_numpy_does_has_its_bits(name, dtype):
    function, x = CALLS[name], np.random.default_rng(2).normal(0, 9, (9, 70)).astype(dtype)
    if (name, dtype) == ("ptp", "bool"):
        pytest.skip("NumPy refuses it")
    np.testing.assert_array_equal(runmat.jit(function)(x), function(x))


@pytest.mark.parametrize("offset", [0.0, 1e3, 1e6])
def test_variances_are_as_accurate_as_numpys_whatever_the_mean(offset):
    rng, compiled = np.random.default_rng(3), runmat.jit(lambda x: np.var(x))  # noqa: PLW0108 -- a function of Python
    errors = np.zeros((100, 2))
    for row in errors:
        x = rng.normal(offset, 1, 1000)
        exact = exact_variance(x)
        row[:] = [abs(float(Fraction(float(v)) / exact - 1)) for v in (compiled(x), x.var())]
    ours, numpys = np.sqrt(np.mean(errors**2, axis=0))
    assert ours <= 1.5 * numpys


def exact_variance(x):
    values = [Fraction(float(v)) for v in x]
    mean = sum(values) / len(values)
    return sum((v - mean) ** 2 for v in values) / len(values)


LARGE = 1e300
WARNING = {
    "overflow of a square": (CALLS["std of columns"], [[LARGE, 1.0], [-LARGE, 2.0]]),
    "an infinity": (CALLS["std of columns"], [[math.inf, 1.0], [2.0, 2.0]]),
    "overflow of a sum": (lambda x: np.var(x), [1e308, 1e308]),  # noqa: PLW0108 -- a function of Python
    "no degrees of freedom": (lambda x: np.std(x, ddof=2), [1.0, 2.0]),
    "differences": (lambda x: np.diff(x), [math.inf, math.inf, 1.0]),  # noqa: PLW0108 -- a function of Python
    "the range of infinities": (lambda x: np.ptp(x), [math.inf, math.inf]),  # noqa: PLW0108 -- a function of Python
    "infinities of both signs": (lambda x: np.nansum(x), [math.inf, -math.inf, math.nan]),  # noqa: PLW0108 -- a function of Python
    "an average": (lambda x: np.average(x), [1e308, 1e308]),  # noqa: PLW0108 -- a function of Python
    "nothing": (lambda x: np.std(x), [1.0, 2.0]),  # noqa: PLW0108 -- a function of Python
}


@pytest.mark.parametrize("name", WARNING)
def test_warnings_have_numpys_words_and_places(name):
    function, numbers = WARNING[name]
    x, compiled = np.array(numbers), runmat.jit(function)
    expected = warned(function, x)
    assert (expected == []) == (name == "nothing")
    for _ in range(3):
        assert warned(compiled, x) == expected


def warned(function, x):
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        function(x)
    return [(str(w.message), w.category, w.filename, w.lineno) for w in seen]


def test_a_sample_of_one_is_left_to_numpy():
    """There are no degrees of freedom: NumPy warns, and gives NaN."""
    compiled = runmat.jit(lambda x: np.std(x, axis=0, ddof=1))
    assert np.all(np.isfinite(compiled(np.ones((2, 3)))))
    report = pytest.warns(RuntimeWarning, match="Degrees of freedom")
    with report, np.errstate(invalid="ignore"):
        assert np.all(np.isnan(compiled(np.ones((1, 3)))))
