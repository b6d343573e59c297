"""The demonstration; oracles: float64 NumPy, the picture's file, differences put in by hand."""

import io

import numpy as np
import pytest
from rich.console import Console

from runmat_jit import demo

TINY = demo.Scale(images=2, height=30, width=40, points=100, repetitions=1)


def test_the_photograph_has_the_size_asked_for_and_stays_in_range():
    images = demo.photograph(TINY)
    assert (images.shape, images.dtype) == ((2, 30, 40), np.float32)
    assert images.min() >= 0
    assert images.max() <= 1
    assert images[0].mean() > images[1].mean()


@pytest.mark.parametrize("function", [demo.normalize, demo.chain])
def test_the_programs_give_what_float64_gives(function):
    argument = demo.photograph(TINY)
    exact = function(argument.astype(np.float64))
    found = function(argument)
    for value, expected in zip(np.atleast_1d(found[0]), np.atleast_1d(exact[0]), strict=True):
        np.testing.assert_allclose(value, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("wrong", [0.001, np.nan])
def test_a_difference_shows(wrong):
    expected = np.ones(5, np.float32)
    result = expected.copy()
    result[3] += wrong
    difference = demo._difference((expected, result), (expected, expected))
    outcome = demo.Outcome("", "", 1.0, 1.0, 1.0, difference, "", None)
    assert not outcome.agrees


def test_another_shape_or_dtype_is_a_difference():
    assert demo._difference(np.ones(3), np.ones(4)) == np.inf
    assert demo._difference(np.ones(3), np.ones(3, np.float32)) == np.inf


def test_the_demonstration_agrees_and_saves_its_picture(tmp_path):
    output = io.StringIO()
    picture = tmp_path / "deep" / "picture.png"
    assert demo.run_demo(picture, quick=True, console=Console(file=output, width=100))
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert "speed-up" in output.getvalue()
    assert "What was fused in normalize:" in output.getvalue()
