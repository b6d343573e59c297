"""Extents. Oracle: the same computation on plain ints."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from runmat_jit.core.extent import Extent, Scope, plain
from runmat_jit.core.types import broadcast_shapes, c_strides

COMPUTATIONS = {
    "ceiling division": lambda n, m: [-(-n // 16), n % m, divmod(n, 7)[1]],
    "strides": lambda n, m: list(c_strides((3, n, m))),
    "a product": lambda n, m: [math.prod((n, 2, m)), sum((n, m))],
    "limits": lambda n, m: [max(n, m), min(n, m, 40), abs(m - n)],
    "a branch": lambda n, m: [n] if n > 20 else [m, n],
    "a broadcast": lambda n, m: list(broadcast_shapes((n, 1), (m,), (1, m))),
    "a set": lambda n, m: [len({n, m}), n if m in {n: 1} else 7],
    "a range": lambda n, m: [len(range(n)), m],
    "truth": lambda n, m: [1 if n - m else 2, n - m],
    "floats": lambda n, m: [int(n * 0.5), 1 if m / n > 2 else 2, int(1.5 + m)],
    "text": lambda n, m: [len(f"{n}x{m}"), len(str(n))],
    "NumPy": lambda n, m: [np.empty(n).size, int(np.prod((n, m)))],
}
values = st.integers(2, 50)


@pytest.mark.parametrize("compute", COMPUTATIONS.values(), ids=COMPUTATIONS)
@given(values, values, values, values)
def test_formulas_give_what_the_computation_gives_or_refuse(compute, n, m, other_n, other_m):
    scope = Scope()
    found = compute(scope.symbol(n), scope.symbol(m))
    assert list(map(plain, found)) == compute(n, m)
    function = scope.function(found)
    assert list(function(n, m)) == compute(n, m)
    values = function(other_n, other_m)
    assert values is None or list(values) == compute(other_n, other_m)


def test_what_needs_a_real_int_holds_for_this_value_alone():
    scope = Scope()
    n = scope.symbol(5)
    range(n)
    function = scope.function([n])
    assert function(5) == (5,)
    assert function(6) is None


def test_arithmetic_alone_holds_for_every_value():
    scope = Scope()
    n = scope.symbol(5)
    assert scope.function([n * 4 + 1, n // 2])(1000) == (4001, 500)
    assert not scope.conditions


def test_extents_of_two_computations_do_not_mix():
    first, second = Scope(), Scope()
    n, m = first.symbol(5), second.symbol(5)
    assert n == m
    assert first.function([n])(6) is None or second.function([m])(6) is None


def test_an_extent_is_an_extent():
    n = Scope().symbol(5)
    assert isinstance(n + 1, Extent)
    assert isinstance(1 + n, Extent)
    assert n + 0 is n
    assert n * 1 is n
