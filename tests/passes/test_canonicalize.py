"""The rules of canonicalize. Oracles: the printed graph; NumPy's bits for all special values."""

import pytest
from hypothesis import given, note
from hypothesis import strategies as st

from runmat_jit.backends.reference.interpret import run
from runmat_jit.graph.text import to_text
from runmat_jit.graph.verify_graph import verify_graph
from runmat_jit.passes.canonicalize import RULES, canonicalize
from tests.graph.random_graphs import arrays, bits_equal, graphs
from tests.graph.written import written
from tests.ops.operands import combinations, specials

F4, F8, I4 = "float32", "float64", "int32"
ODD = "slice($0, starts=(1,), steps=(2,), shape=(6,))"
LAWS = [
    ("constant_to_the_right", (F4,), "add(0.5, $0)", "add($0, 0.5)"),
    ("constant_to_the_right", (I4,), "multiply(3, $0)", "multiply($0, 3)"),
    ("compare_by_less", (F4, F4), "greater($0, $1)", "less($1, $0)"),
    ("compare_by_less", (F8, F8), "greater_equal($0, $1)", "less_equal($1, $0)"),
    ("drop_unit_factor", (F4,), "multiply($0, 1.0)", "$0"),
    ("drop_unit_factor", ("bool",), "multiply($0, True)", "$0"),
    ("exponential_of_zeros", (F8,), "exp(fma(0.0, $0, -0.0))", "fma(0.0, $0, 1.0)"),
    ("exponential_of_zeros", (F4,), "exp(fma(-0.0, $0, 0.0))", "fma(-0.0, $0, 1.0)"),
    ("drop_unit_divisor", (F8,), "divide($0, 1.0)", "$0"),
    ("divide_by_power_of_two", (F4,), "divide($0, 2.0)", "multiply($0, 0.5)"),
    ("divide_by_power_of_two", (F8,), "divide($0, -0.125)", "multiply($0, -8.0)"),
    ("drop_neutral_term", (F4,), "add($0, -0.0)", "$0"),
    ("drop_neutral_term", (F8,), "subtract($0, 0.0)", "$0"),
    ("drop_neutral_term", (I4,), "add($0, 0)", "$0"),
    ("cancel_double_negation", (F4,), "negative(negative($0))", "$0"),
    ("cancel_double_negation", (I4,), "negative(negative($0))", "$0"),
    ("add_of_negative", (F4, F4), "add($0, negative($1))", "subtract($0, $1)"),
    ("add_of_negative", (I4, I4), "add(negative($0), $1)", "subtract($1, $0)"),
    ("subtract_of_negative", (F4, F4), "subtract($0, negative($1))", "add($0, $1)"),
    ("drop_inner_sign", (F4,), "absolute(negative($0))", "absolute($0)"),
    ("drop_inner_sign", (I4,), "square(absolute($0))", "square($0)"),
    ("drop_copy", (F4,), "positive($0)", "$0"),
    ("drop_copy", (I4,), "copy($0)", "$0"),
    ("power_by_known_exponent", (F4,), "power($0, 2.0, exponent=2, single=True)", "square($0)"),
    ("power_by_known_exponent", (I4,), "power($0, 2, exponent=2, single=True)", "square($0)"),
    ("power_by_known_exponent", (F8,), "power($0, 1.0, exponent=1.0, single=True)", "$0"),
    ("power_by_known_exponent", (F8,), "pow($0, 0.5, exponent=0.5, single=True)", "sqrt($0)"),
    ("power_by_known_exponent", (F4,), "pow($0, -1.0, exponent=-1, single=True)", "reciprocal($0)"),
    ("cancel_double_not", ("bool",), "logical_not(logical_not($0))", "$0"),
    ("drop_equal_arms", ("bool", F4), "where($0, $1, $1)", "$1"),
    ("choose_by_constant", (F4, F4), "where(bool(False), $0, $1)", "$1"),
    ("choose_by_opposite", ("bool", F4, F4), "where(logical_not($0), $1, $2)", "where($0, $2, $1)"),
    ("drop_cast", (F4,), "cast($0, dtype='float32')", "$0"),
    ("join_casts", (F4,), "cast(cast($0, dtype='float64'), dtype='float32')", "$0"),
    (
        "join_casts",
        (I4,),
        "cast(cast($0, dtype='float64'), dtype='int64')",
        "cast($0, dtype='int64')",
    ),
    ("join_casts", ("bool",), "cast(cast($0, dtype='int32'), dtype='bool')", "$0"),
    ("fold_constants", (F4,), "add($0, multiply(float32(3.0), float32(0.1)))", "add($0, 0.3)"),
    ("fold_constants", (F4,), "add($0, cast(int64(2), dtype='float32'))", "add($0, 2.0)"),
    ("drop_identity_view", (F4,), "slice($0, starts=(0,), steps=(1,), shape=(N,))", "$0"),
    ("drop_identity_view", (F4,), "transpose($0, axes=(0,))", "$0"),
    (
        "join_transposes",
        (F4,),
        "transpose(transpose(reshape($0, shape=(1, N, 1)), axes=(1, 2, 0)), axes=(2, 0, 1))",
        "reshape($0, shape=(1, N, 1))",
    ),
    (
        "join_reshapes",
        (F4,),
        "reshape(reshape($0, shape=(1, N)), shape=(N, 1))",
        "reshape($0, shape=(N, 1))",
    ),
    (
        "join_broadcasts",
        (F4,),
        "broadcast_to(broadcast_to($0, shape=(2, N)), shape=(3, 2, N))",
        "broadcast_to($0, shape=(3, 2, N))",
    ),
    (
        "join_slices",
        (F4,),
        f"slice({ODD}, starts=(5,), steps=(-2,), shape=(3,))",
        "slice($0, shape=(3,), starts=(11,), steps=(-4,))",
    ),
    (
        "drop_implied_broadcast",
        (F4, F4),
        "add(broadcast_to(reshape($1, shape=(N, 1)), shape=(N, N)), $0)",
        "add(reshape($1, shape=(N, 1)), $0)",
    ),
]


def graph_of(dtypes, expression):
    """The graph of an expression, and inputs that pair every special value with every other."""
    values = combinations([specials(dtype) for dtype in dtypes])
    size = str(values[0].size)
    return written([f"{d}[{size}]" for d in dtypes], expression.replace("N", size)), values


@pytest.mark.parametrize(("rule", "dtypes", "before", "after"), LAWS)
def test_a_law_holds_for_every_pair_of_special_values(rule, dtypes, before, after):
    graph, values = graph_of(dtypes, before)
    wanted, _ = graph_of(dtypes, after)
    found = canonicalize(graph)
    assert to_text(found) == to_text(wanted)
    verify_graph(found)
    (old,), (new,) = run(graph, values), run(found, values)
    assert bits_equal(old, new)


def test_every_rule_has_an_example():
    assert {rule.name for rule in RULES} == {name for name, *_ in LAWS}


@pytest.mark.parametrize(
    ("dtypes", "expression"),
    [
        ((F4,), "add($0, 0.0)"),  # -0.0 + 0.0 is 0.0
        ((F4,), "subtract($0, -0.0)"),
        ((F4,), "multiply($0, 0.0)"),  # inf * 0 is NaN, -1 * 0 is -0.0
        ((F4,), "subtract($0, $0)"),  # inf - inf is NaN
        ((F4,), "divide($0, $0)"),
        ((F4,), "divide($0, 3.0)"),
        ((F4,), "divide($0, 1.7014118e+38)"),  # 2**127: 2**-127 is subnormal
        ((F8,), "divide($0, 5e-324)"),
        ((F4,), "divide($0, 0.0)"),
        ((F4,), "multiply($0, inf)"),
        ((F4, F4), "maximum($0, $0)"),
        (("int64",), "cast(cast($0, dtype='float64'), dtype='int64')"),  # 2**63 - 1 is rounded
        ((F4,), "cast(cast($0, dtype='float64'), dtype='int32')"),
        ((F8,), "cast(cast($0, dtype='float32'), dtype='float64')"),
        ((I4,), "logical_not(logical_not($0))"),
        ((F4,), "add($0, divide(float32(1.0), float32(0.0)))"),  # reports an event
        ((F4,), "add($0, multiply(float32(3e+38), float32(10.0)))"),
        ((F4,), "add($0, exp(float32(1.0)))"),  # ours, not NumPy's
        (("bool",), "where($0, float32(0.0), float32(-0.0))"),
        ((F4,), "slice($0, starts=(37,), steps=(-1,), shape=(N,))"),
    ],
)
def test_what_some_value_contradicts_stays(dtypes, expression):
    graph, _ = graph_of(dtypes, expression)
    assert to_text(canonicalize(graph)) == to_text(graph)


def test_nothing_is_reassociated():
    graph, _ = graph_of((F4,), "add(add($0, 1.0), 2.0)")
    assert to_text(canonicalize(graph)) == to_text(graph)


@given(graph=graphs(), seed=st.integers(0, 99))
def test_it_keeps_every_bit_and_is_idempotent(graph, seed):
    note(to_text(graph))
    found = canonicalize(graph)
    note(to_text(found))
    verify_graph(found)
    assert canonicalize(found).nodes == found.nodes
    old, new = run(graph, arrays(graph, seed)), run(found, arrays(graph, seed))
    assert all(map(bits_equal, old, new))


def test_a_choice_keeps_a_condition_that_may_report_an_event():
    graph = written(["float32[4]"], "where(less(sqrt($0), 1.0), $0, $0)")
    assert to_text(canonicalize(graph)) == to_text(graph)
