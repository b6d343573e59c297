"""Oracle: NumPy."""

import itertools

import numpy as np
import pytest

from runmat_jit.kernel.math import predicates
from tests.kernel.math.expansions import compiled, differing, special_floats

QUESTIONS = ("isnan", "isinf", "isfinite", "signbit", "logical_not")
LOGIC = ("logical_and", "logical_or", "logical_xor")


@pytest.mark.parametrize("name", QUESTIONS)
@pytest.mark.parametrize("kind", ["f32", "f64", "i32", "i64"])
def test_questions_about_numbers_are_answered_as_by_numpy(kind, name):
    f = compiled(getattr(predicates, name), (kind,), "i1")
    dtype = f.arguments([[0]])["x0"].dtype
    limits = np.array([0, 1, -1, 2**31 - 1, -(2**31)])
    x = special_floats(dtype) if dtype.kind == "f" else limits.astype(dtype)
    if dtype.kind == "i" and name == "signbit":
        assert differing(f(x), x < 0, x) == []
    else:
        assert differing(f(x), getattr(np, name)(x), x) == []


@pytest.mark.parametrize("name", LOGIC)
@pytest.mark.parametrize("kind", ["f32", "i64", "i1"])
def test_logic_takes_any_type(kind, name):
    f = compiled(getattr(predicates, name), (kind, kind), "i1")
    values = [0.0, -0.0, 1.0, np.nan] if kind == "f32" else [0, 1]
    a, b = np.array(list(itertools.product(values, values))).T.copy()
    assert differing(f(a, b), getattr(np, name)(a, b), a, b) == []


def test_logical_not_flips_truth():
    x = np.array([True, False])
    assert differing(compiled(predicates.logical_not, ("i1",))(x), ~x) == []
