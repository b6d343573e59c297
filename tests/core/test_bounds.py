"""Conditions that others imply. Oracle: all numbers near those that are compared with."""

import operator

from hypothesis import given
from hypothesis import strategies as st

from runmat_jit.core.bounds import tightest

SIGNS = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}
NUMBERS = st.integers(-4, 4).map(lambda n: str(n) if n >= 0 else f"({n})")
NAMES = st.sampled_from(["s0", "s1", "f0"])


def meets(conditions, values):
    def value(name):
        return values[name] if name in values else int(name.strip("()"))

    return all(
        SIGNS[sign](value(left), value(right)) is holds for sign, left, right, holds in conditions
    )


@given(
    st.lists(
        st.tuples(st.sampled_from(sorted(SIGNS)), NAMES, NUMBERS | NAMES, st.booleans()),
        max_size=6,
        unique=True,
    )
)
def test_the_tightest_conditions_say_what_all_say(conditions):
    kept = tightest(conditions)
    assert [each for each in conditions if each in kept] == kept
    for number in range(-6, 7):
        for other in (-1, number, 5):
            values = {"s0": number, "s1": other, "f0": number + other}
            assert meets(kept, values) is meets(conditions, values)


def test_what_another_condition_implies_is_left_out():
    conditions = [
        ("<", "s0", "2", False),
        ("==", "s0", "0", False),
        ("!=", "s0", "1", True),
        (">=", "s0", "8", True),
        ("==", "s0", "9", False),
        ("<", "s0", "s1", True),
    ]
    assert tightest(conditions) == [conditions[3], conditions[4], conditions[5]]
