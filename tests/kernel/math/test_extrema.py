"""Oracle: NumPy, bit for bit."""

import itertools

import numpy as np
import pytest

from runmat_jit.kernel.math.extrema import clip, fmax, fmin, maximum, minimum
from tests.kernel.math.expansions import FLOATS, compiled, differing, special_floats

FUNCTIONS = {
    "maximum": (maximum, np.maximum),
    "minimum": (minimum, np.minimum),
    "fmax": (fmax, np.fmax),
    "fmin": (fmin, np.fmin),
}


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("kind", FLOATS)
def test_floats_are_chosen_as_numpy_chooses(kind, name):
    """NaN and the sign of zero included."""
    expand, numpy = FUNCTIONS[name]
    special = special_floats(FLOATS[kind])
    a, b = np.array(list(itertools.product(special, special)), FLOATS[kind]).T.copy()
    assert differing(compiled(expand, (kind, kind), kind)(a, b), numpy(a, b), a, b) == []


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("kind", ["i32", "i64", "i1"])
def test_whole_numbers_and_truth_are_chosen_as_numpy_chooses(kind, name):
    expand, numpy = FUNCTIONS[name]
    f = compiled(expand, (kind, kind), kind)
    values = (
        [0, 1] if kind == "i1" else [0, 1, -1, *(np.iinfo(f.result).min, np.iinfo(f.result).max)]
    )
    a, b = np.array(list(itertools.product(values, values))).astype(f.result).T.copy()
    assert differing(f(a, b), numpy(a, b), a, b) == []


def test_clip_is_that_of_numpy():
    special = [-np.inf, -1.0, 0.0, 2.0, np.inf, np.nan]
    x, low, high = np.array(list(itertools.product(special, repeat=3))).T.copy()
    got = compiled(clip, ("f64",) * 3, "f64")(x, low, high)
    assert differing(got, np.clip(x, low, high), x, low, high) == []
