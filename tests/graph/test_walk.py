"""Walks over graphs. Oracle: a diamond written by hand."""

from runmat_jit.graph.parse import parse
from runmat_jit.graph.walk import depths, last_uses, roots, users

DIAMOND = parse(
    "$0 : float32[4] strides (1,)\n"
    "%0 = sin($0)\n"
    "%1 = cos(%0)\n"
    "%2 = tanh(%0)\n"
    "%3 = multiply(%1, %2)\n"
    "%4 = exp($0)\n"
    "return %3 -> fresh (0,)\n"
    "return %4 -> fresh (0,)\n"
    "return %3 -> fresh (0,)\n"
)
X, SIN, COS, TANH, PRODUCT, EXP = DIAMOND.nodes


def test_users_are_listed_once_in_order():
    readers = users(DIAMOND.nodes)
    assert readers[X] == (SIN, EXP)
    assert readers[SIN] == (COS, TANH)
    assert readers[PRODUCT] == ()


def test_roots_are_listed_once():
    assert roots(DIAMOND) == (PRODUCT, EXP)


def test_a_last_use_is_the_position_of_the_last_reader():
    assert last_uses(DIAMOND.nodes) == {X: 5, SIN: 3, COS: 4, TANH: 4}


def test_depth_is_the_longest_way_to_a_leaf():
    found = depths(DIAMOND.nodes)
    assert [found[node] for node in DIAMOND.nodes] == [0, 1, 2, 2, 3, 1]
