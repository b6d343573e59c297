"""Random loops over elements. Oracle: the undecorated functions, to the bit, in everything seen."""

import re

import numpy as np
import pytest

import runmat_jit as runmat
from tests.capture.behavior import compare, observe
from tests.capture.plain_hooks import function_from
from tests.loops import random_arrays, random_loops
from tests.loops.random_loops import arguments, program

pytestmark = pytest.mark.sampled(20)


def check(seed):
    """Compare three calls of a program."""
    text = program(seed)
    fn, make = function_from(text, np=np), arguments(seed)
    decorated = runmat.jit(fn)
    for _ in range(3):
        expected = observe(fn, make(), {})
        compare(expected, observe(decorated, make(), {}), exact=True)


@pytest.mark.parametrize("first", range(0, 160, 8))
def test_random_loops(first):
    for seed in range(first, first + 8):
        check(seed)


def varied(text, *, returns, one_index, in_python):
    """Return a program whose loops return, share one index, or stand in loops that Python runs."""
    last = next(line.strip() for line in reversed(text.split("\n")) if "return" in line)
    if returns:
        text = re.sub(r"^(\s+)break$", rf"\1{last}", text, flags=re.MULTILINE)
        text = re.sub(r"^(\s+)continue$", r"\1return i0, s", text, flags=re.MULTILINE)
    if one_index:
        text = re.sub(r"\bi[123]\b", "i0", text)
    if in_python:
        text = re.sub(r"^(    for .*:)$", r"\1\n        name = str(0)", text, flags=re.MULTILINE)
    return text


@pytest.mark.parametrize("returns", [False, True])
@pytest.mark.parametrize("one_index", [False, True])
@pytest.mark.parametrize("in_python", [False, True])
@pytest.mark.parametrize("generator", [random_loops, random_arrays], ids=["elements", "arrays"])
def test_random_loops_that_end_and_begin_otherwise(generator, in_python, one_index, returns):
    """A nested loop begins with what it, or another one, has left in its names."""
    for seed in range(200, 230):
        text, rounds = generator.program(seed), False
        if not isinstance(text, str):
            text, rounds = text
        text = varied(text, returns=returns, one_index=one_index, in_python=in_python)
        fn, make = function_from(text, np=np), generator.arguments(seed)
        decorated = runmat.jit(fn)
        for _ in range(3):
            expected = observe(fn, make(), {})
            compare(expected, observe(decorated, make(), {}), exact=not rounds)


def check_draws(seed):
    """The same of programs that draw from a generator, and where that is afterwards."""
    text = program(seed, draws=True)
    fn, make = function_from(text, np=np), arguments(seed)
    decorated = runmat.jit(fn)
    make_rng = (np.random.default_rng, runmat.random.default_rng)[seed % 4 == 0]
    rngs = [make_rng(seed) for _ in range(2)]
    for _ in range(3):
        expected = observe(fn, (*make(), rngs[0]), {})
        compare(expected, observe(decorated, (*make(), rngs[1]), {}), exact=True)
        states = [getattr(rng, "bit_generator", rng).state for rng in rngs]
        assert states[0] == states[1]


@pytest.mark.parametrize("first", range(0, 64, 8))
def test_random_loops_that_draw(first):
    for seed in range(first, first + 8):
        check_draws(seed)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(1000, 3000, 50))
def test_many_random_loops_that_draw(first):
    for seed in range(first, first + 50):
        check_draws(seed)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(1000, 3000, 50))
def test_many_random_loops(first):
    for seed in range(first, first + 50):
        check(seed)
