"""The demonstration; oracles: float64 NumPy, the picture's file, differences put in by hand."""

import io

import numpy as np
import pytest
from rich.console import Console

from runmat_jit import demo

TINY = demo.Scale(2, 1, days=5, paths=20, plate=(8, 9), sweeps=3, points=100, repetitions=1)


def test_the_photograph_has_the_size_asked_for_and_stays_in_range():
    small, large = demo.photograph(), demo.photograph(2)
    assert small.dtype == np.float32
    assert large.shape == (2 * small.shape[0], 2 * small.shape[1])
    np.testing.assert_array_equal(large[1::2, ::2], small)
    assert small.min() >= 0
    assert small.max() <= 1


@pytest.mark.parametrize("name", demo.arguments(TINY))
def test_the_programs_give_what_float64_gives(name):
    function, arguments = demo.arguments(TINY)[name]
    exact = function(*(np.array(each, float) if np.ndim(each) else each for each in arguments))
    found = function(*demo._copies(arguments))
    np.testing.assert_allclose(found, exact, rtol=1e-4, atol=1e-5)


def test_diffusion_removes_noise_and_keeps_edges():
    sharp = np.zeros((60, 80), np.float32)
    sharp[:, 40:] = 1
    noisy = sharp + np.float32(0.05) * np.random.default_rng(0).standard_normal(sharp.shape)
    found = demo.denoise(noisy.astype(np.float32), 20)[2:-2, 2:-2]
    assert found[:, :30].std() < 0.2 * noisy[2:-2, 2:32].std()
    assert (found[:, 38] - found[:, 37]).mean() > 0.9


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
    printed = output.getvalue()
    assert "speed-up" in printed
    assert printed.count("What was compiled of ") == len(demo.arguments(TINY)) == 4
