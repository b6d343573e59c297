"""Oracle: NumPy's results of each row, compared with what the row says of signs and limits."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from runmat_jit import jit
from runmat_jit.ops.sign import Fact, Sign, Top, fact_of_number
from runmat_jit.ops.table import ROWS

pytestmark = pytest.mark.sampled(2)

NUMBERS = [0.0, 1.0, 0.5, 3.0, 1e-300, 1e300, np.inf, 5e-324, np.nextafter(1.0, 0.0)]
OF_SIGN = {
    Sign.CLEAR: NUMBERS,
    Sign.NOT_BELOW: [*NUMBERS, -0.0],
    Sign.ANY: [*NUMBERS, -0.0, -1.0, -2.5, -np.inf],
}
LIMITS = {Top.ANY: np.inf, Top.ONE: 1.0, Top.ZERO: 0.0}
FUNCTIONS = sorted(
    name
    for name, row in ROWS.items()
    if (row.sign is not None or row.top is not None) and isinstance(row.numpy, np.ufunc)
)
REDUCTIONS = ["average", "max", "mean", "min", "nansum", "prod", "std", "sum", "var"]


def known(sign, top):
    """The fact, and elements of which it holds."""
    numbers = [number for number in OF_SIGN[sign] if number <= LIMITS[top]]
    elements = st.lists(st.sampled_from([*numbers, np.nan]), min_size=3, max_size=3)
    return st.tuples(st.just(Fact(sign, top=top)), elements)


operands = st.tuples(st.sampled_from(list(Sign)), st.sampled_from(list(Top))).flatmap(
    lambda pair: known(*pair)
)


def sign_of(values):
    below = np.any(values < 0)
    bits = np.any(np.signbit(values) & ~np.isnan(values))
    return Sign.ANY if below else Sign.NOT_BELOW if bits else Sign.CLEAR


def assert_claims_hold(row, facts, result):
    if row.sign is not None:
        assert sign_of(result) >= row.sign(facts, {})
    if row.top is not None:
        assert not np.any(result > LIMITS[row.top(facts, {})])


@pytest.mark.parametrize("name", FUNCTIONS)
@given(pairs=st.tuples(operands, operands))
def test_no_element_contradicts_what_a_function_claims(name, pairs):
    row = ROWS[name]
    facts = tuple(fact for fact, _ in pairs[: row.arity])
    with np.errstate(all="ignore"):
        result = row.numpy(*(np.array(values) for _, values in pairs[: row.arity]))
    assert_claims_hold(row, facts, result)


BINARY = sorted(name for name in {*FUNCTIONS, "power"} if ROWS[name].arity == 2)


@pytest.mark.parametrize("name", BINARY)
@given(
    pair=operands,
    number=st.sampled_from([*OF_SIGN[Sign.ANY], np.nan, 2.0, 1.8, -2.0]),
    swapped=st.booleans(),
)
def test_nor_beside_a_known_number(name, pair, number, swapped):
    fact, values = pair
    row = ROWS[name]
    order = slice(None, None, -1 if swapped else 1)
    with np.errstate(all="ignore"):
        result = getattr(np, name)(*(np.array(values), number)[order])
    assert_claims_hold(row, (fact, fact_of_number(number))[order], result)


@pytest.mark.parametrize("name", REDUCTIONS)
@given(pair=operands)
def test_nor_what_a_reduction_claims(name, pair):
    fact, values = pair
    with np.errstate(all="ignore"):
        result = getattr(np, name)(np.array(values))
    assert_claims_hold(ROWS[name], (fact,), np.asarray(result))


def test_our_logarithms_below_one_are_not_above_zero():
    below = 1.0 - np.arange(300) * 2.0**-53
    numbers = np.concatenate([below, np.linspace(0.001, 1, 1000), [1e-30]])
    for dtype in (np.float64, np.float32):
        made = jit(np.log)(numbers.astype(dtype))
        assert not np.any(made > 0)
        squares = jit(lambda x: x**2)(numbers.astype(dtype))
        assert not np.any(squares > 1)


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
