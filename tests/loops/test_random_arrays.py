"""Random loops over whole arrays. Oracle: the undecorated functions, in everything seen.

They are equal to the bit, but for programs with functions that are rounded otherwise than NumPy's.
"""

import numpy as np
import pytest

import runmat_jit as runmat
from tests.capture.behavior import compare, observe
from tests.capture.plain_hooks import function_from
from tests.loops.random_arrays import arguments, program

pytestmark = pytest.mark.sampled(3)


def check(seed):
    """Compare three calls of a program."""
    text, rounds = program(seed)
    fn, make = function_from(text, np=np), arguments(seed)
    decorated = runmat.jit(fn)
    for _ in range(3):
        expected = observe(fn, make(), {})
        compare(expected, observe(decorated, make(), {}), exact=not rounds)


@pytest.mark.parametrize("first", range(0, 96, 8))
def test_random_loops_over_arrays(first):
    for seed in range(first, first + 8):
        check(seed)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(1000, 2000, 50))
def test_many_random_loops_over_arrays(first):
    for seed in range(first, first + 50):
        check(seed)
