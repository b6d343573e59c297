"""Oracle: NumPy on complex numbers, and what was computed before the program looked."""

import numpy as np
import pytest

import runmat_jit as runmat
from matlab_frontend.engine import NumpyEngine
from matlab_frontend.run import engine_for, run_source
from matlab_frontend.session import Session
from matlab_frontend.source import Source

X = np.random.default_rng(0).normal(size=(1, 5000))
REAL = [
    "y = sqrt(x .^ 2 + 1);",
    "y = sqrt(mean((x - mean(x)) .^ 2) + 1e-6) .* x;",
    "y = log(abs(x)) + 1;",
    "y = max(x, 0) .^ 1.8;",
    "y = sqrt(exp(x) ./ (1 + exp(x)));",
    "d = x .* x; d(3) = 4; y = sqrt(d) - 1;",
    "y = sqrt(linspace(0, 9, 5000)) .* x;",
    "y = (rand(1, 5000) + x .* x) .^ 0.5;",
    "y = sqrt(x > 0) + x;",
    "y = sqrt(-2 * log(rand(1, 5000))) .* x;",
    "y = sqrt(1 - rand(1, 5000)) + x;",
    "y = (-log(rand(1, 5000)) / 3) .^ 0.7;",
    "u = rand(1, 5000); y = sqrt(1 - u .^ 2) .* x;",
    "y = log(2 - min(x, 1));",
]
PERHAPS_COMPLEX = [
    "y = sqrt(x);",
    "y = log(x .^ 3);",
    "y = (x .^ 2 - 1) .^ 0.5;",
    "d = x .^ 2; d(1:9) = x(1:9); y = sqrt(d);",
    "y = sqrt(max(x, -1));",
    "y = acos(x);",
    "y = sqrt(0.5 - abs(x));",
    "y = sqrt(-x);",
    "y = sqrt(1 - x .^ 2);",
    "y = sqrt(log(abs(x)));",
]


def run(code, engine):
    return run_source(Source(code), {"x": X}, Session(engine))["y"]


@pytest.mark.parametrize("code", REAL)
def test_what_cannot_be_negative_is_not_looked_at(code):
    runmat.telemetry.reset()
    engine = engine_for("cpu")
    workspace = run_source(Source(code), {"x": X}, Session(engine))
    if "d(3)" not in code:  # a store of one element is made by NumPy
        assert runmat.telemetry.snapshot()["kernel_launches"] == 0
    expected = run(code, NumpyEngine()) if "rand" not in code else workspace["y"]
    assert workspace["y"].dtype == float
    np.testing.assert_allclose(workspace["y"], expected, rtol=1e-12, atol=1e-300)


@pytest.mark.parametrize("code", PERHAPS_COMPLEX)
def test_roots_of_negative_numbers_are_complex(code):
    found, expected = run(code, engine_for("cpu")), run(code, NumpyEngine())
    assert found.dtype == expected.dtype == complex
    np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-12)
