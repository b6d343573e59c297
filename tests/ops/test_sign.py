"""Oracle: NumPy's results of each row, whose sign bits are compared with what the row says."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from runmat_jit.ops.sign import Fact, Sign, fact_of_number
from runmat_jit.ops.table import ROWS

NUMBERS = [0.0, 1.0, 0.5, 3.0, 1e-300, 1e300, np.inf, 5e-324]
OF_SIGN = {
    Sign.CLEAR: NUMBERS,
    Sign.NOT_BELOW: [*NUMBERS, -0.0],
    Sign.ANY: [*NUMBERS, -0.0, -1.0, -2.5, -np.inf],
}
FUNCTIONS = sorted(
    name for name, row in ROWS.items() if row.sign is not None and isinstance(row.numpy, np.ufunc)
)
REDUCTIONS = ["max", "mean", "min", "prod", "sum"]


def known(sign):
    return st.lists(st.sampled_from([*OF_SIGN[sign], np.nan]), min_size=3, max_size=3)


def sign_of(values):
    below = np.any(values < 0)
    bits = np.any(np.signbit(values) & ~np.isnan(values))
    return Sign.ANY if below else Sign.NOT_BELOW if bits else Sign.CLEAR


operands = st.sampled_from(list(Sign)).flatmap(lambda s: st.tuples(st.just(s), known(s)))


@pytest.mark.parametrize("name", FUNCTIONS)
@given(pairs=st.tuples(operands, operands))
def test_no_element_contradicts_the_sign_that_a_function_claims(name, pairs):
    row = ROWS[name]
    facts = tuple(Fact(sign) for sign, _ in pairs[: row.arity])
    with np.errstate(all="ignore"):
        result = row.numpy(*(np.array(values) for _, values in pairs[: row.arity]))
    assert sign_of(result) >= row.sign(facts, {})


@pytest.mark.parametrize("name", ["divide", "fmax", "fmin", "maximum", "minimum", "power"])
@given(pair=operands, number=st.sampled_from([*OF_SIGN[Sign.ANY], np.nan, 2.0, 1.8, -2.0]))
def test_nor_beside_a_known_number(name, pair, number):
    sign, values = pair
    row = ROWS[name]
    with np.errstate(all="ignore"):
        result = getattr(np, name)(np.array(values), number)
    assert sign_of(result) >= row.sign((Fact(sign), fact_of_number(number)), {})


@pytest.mark.parametrize("name", REDUCTIONS)
@given(pair=operands)
def test_nor_the_sign_of_a_reduction(name, pair):
    sign, values = pair
    with np.errstate(all="ignore"):
        result = getattr(np, name)(np.array(values))
    assert sign_of(result) >= ROWS[name].sign((Fact(sign),), {})


def test_a_number_times_itself_has_no_sign():
    one, other = object(), object()
    assert ROWS["multiply"].sign((Fact(Sign.ANY, None, one),) * 2, {}) is Sign.CLEAR
    pair = Fact(Sign.ANY, None, one), Fact(Sign.ANY, None, other)
    assert ROWS["multiply"].sign(pair, {}) is Sign.ANY


@pytest.mark.parametrize(
    ("exponent", "sign"),
    [(2, Sign.CLEAR), (-4.0, Sign.CLEAR), (3, Sign.ANY), (0.5, Sign.ANY), (None, Sign.ANY)],
)
def test_the_sign_of_powers_of_any_number(exponent, sign):
    assert ROWS["pow"].sign((Fact(Sign.ANY), Fact(Sign.ANY)), {"exponent": exponent}) is sign


def test_counting_upward_from_a_number_that_is_not_below_zero():
    assert ROWS["arange"].sign((), {"start": 0, "stop": 5, "step": 1}) is Sign.NOT_BELOW
    assert ROWS["arange"].sign((), {"start": 5, "stop": 0, "step": -1}) is Sign.ANY
