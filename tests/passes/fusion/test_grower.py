"""The region grower. Oracles: what each merge permits, counted by hand; the law of a valid division
into regions, over random graphs."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runmat_jit.backends.llvm.launcher_text import MOST_ARRAYS
from runmat_jit.core.types import TensorType
from runmat_jit.graph.apply import make_node
from runmat_jit.graph.node import Fresh, GraphBuilder, Output
from runmat_jit.graph.parse import parse
from runmat_jit.ops.table import ROWS
from runmat_jit.passes.expand import expand
from runmat_jit.passes.fusion.access import (
    is_leaf,
    is_view,
    memory_orders,
    read_by_host,
    view_of,
)
from runmat_jit.passes.fusion.groups import MOST_COPIES, MOST_NODES, MOST_READS
from runmat_jit.passes.fusion.grower import grow
from runmat_jit.passes.fusion.kinds import KINDS
from tests.graph.random_graphs import EXACT_ROWS, HOST, SUMS, graphs
from tests.graph.written import written

NAMES = [kind.name for kind in KINDS]
SOFTMAX_EXP = "exp(subtract($0, max($0, axis=(1,), keepdims=True)))"
SOFTMAX = f"divide({SOFTMAX_EXP}, sum({SOFTMAX_EXP}, axis=(1,), dtype='float32', keepdims=True))"
CHAIN = "multiply(add(exp($0), $0), 2.0)"
SQUARES = "sum(square(subtract($0, 1.0)), axis=(0, 1), dtype='float32', keepdims=False)"
NORM = f"divide($0, sqrt({SQUARES}))"
CENTERED = "sum({x}, {axis}, dtype='float32'); subtract({x}, {0})"
UNIT = "square({x}); sum({0}, {axis}, dtype='float32'); sqrt({1}); divide({x}, {2})"
OUT_OF_MAX = "max({x}, {axis}); subtract({x}, {0}); exp({1})"


def grown(*expressions, disabled=(), inputs=("float32[6, 9]",)):
    return grow(written(list(inputs), *expressions), frozenset(disabled))


@pytest.mark.parametrize(
    ("expression", "counts"),
    [  # regions with nothing, elementwise, reduction, map_reduce_broadcast switched off
        (CHAIN, (1, 3, 1, 1)),
        (SQUARES, (1, 3, 2, 1)),
        (f"sqrt({SQUARES})", (1, 4, 3, 1)),
        (NORM, (1, 5, 3, 2)),
        (SOFTMAX, (1, 5, 4, 3)),
    ],
)
def test_each_switch_stops_the_merges_of_its_kind(expression, counts):
    switches = ((), ("elementwise",), ("reduction",), ("map_reduce_broadcast",))
    found = tuple(len(grown(expression, disabled=switch)) for switch in switches)
    assert found == counts


def turns_of(turn, count, axis, rows=40, device="cpu"):
    """``x`` after some turns, each of the one before."""
    lines, x = [f"$0 : float32[{rows}, 90] strides (90, 1)"], "$0"
    for _ in range(count):
        names = []
        for text in turn.split("; "):
            names.append(f"%{len(lines)}")
            called = text.format(*names, x=x, axis=f"axis=({axis},), keepdims=True")
            lines.append(f"{names[-1]} = {called}")
        x = names[-1]
    return grow(parse("\n".join([*lines, f"return {x} -> fresh (0, 1)"])), device=device)


@pytest.mark.parametrize(
    ("turn", "axis", "most"),
    [  # turns of a region: by rows some operations are cheaper than to store what they give
        (CENTERED, 1, 6),
        (CENTERED, 0, 2),
        (UNIT, 1, 3),
        (UNIT, 0, 2),
        (OUT_OF_MAX, 1, 2),
        (OUT_OF_MAX, 0, 2),
    ],
)
def test_later_turns_of_reductions_take_what_is_stored(turn, axis, most):
    """Else each pass over elements would compute all turns before it again."""
    for count in (1, 2, 3, 4, 8, 20):
        regions = turns_of(turn, count, axis)
        assert len(regions) == -(-count // most), count


def test_turns_of_columns_that_registers_keep_are_one_region_of_bounded_length():
    assert len(turns_of(UNIT, 10, 0, rows=3)) == 1
    regions = turns_of(UNIT, 40, 0, rows=3)
    assert len(regions) > 1
    assert all(3 * len(region.nodes) <= MOST_NODES + 3 for region in regions)


@pytest.mark.parametrize("turn", [CENTERED, UNIT, OUT_OF_MAX])
@pytest.mark.parametrize(("rows", "axis", "copies"), [(17, 0, 16), (256, 0, 16), (40, 1, 2)])
def test_rows_in_registers_take_some_iterations_and_store_the_last_state_alone(
    turn, rows, axis, copies
):
    each = len(turn.split("; "))
    for count in (1, 2, 5, 80):
        regions = turns_of(turn, count, axis, rows, "gpu")
        lengths = [len(region.nodes) for region in regions]
        assert sum(lengths) == each * count
        assert all(length % each == 0 for length in lengths), "kernels end where iterations do"
        assert all(copies * length <= MOST_COPIES for length in lengths)
        assert all(len(region.outputs) == 1 for region in regions)
    assert 1 < len(regions) <= 20
    assert len(turns_of(turn, 80, 0, 257, "gpu")) >= 2 * len(regions)  # several cells


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize(
    "turn",
    [
        f"{OUT_OF_MAX}; sum({{2}}, {{axis}}, dtype='float32'); divide({{2}}, {{3}})",
        f"{CENTERED}; square({{1}}); sum({{2}}, {{axis}}, dtype='float32'); divide({{1}}, {{3}})",
        f"{UNIT}; power({{3}}, 1.7, exponent=1.7); subtract({{4}}, {{x}}); max({{5}}, {{axis}})",
    ],
)
def test_what_is_computed_of_one_turn_is_one_region(turn, axis):
    """Softmax, deviations, and a metric of what results."""
    assert len(turns_of(turn, 1, axis)) == 1


@pytest.mark.parametrize("row", ["min", "argmin"])
def test_what_only_a_later_reduction_reads_is_computed_there(row):
    """Of two operands one needs a reduction before: the other one waits for it."""
    norms = "sum(square($1), axis=(0,), keepdims=False, dtype='float32')"
    apart = f"subtract({norms}, multiply($0, 2.0))"
    inputs = ("float32[6, 9]", "float32[4, 9]")
    found = grown(f"{row}({apart}, axis=(1,), keepdims=False)", inputs=inputs)
    assert [len(region.nodes) for region in found] == [2, 3]


def test_two_outputs_of_one_space_are_one_region():
    (region,) = grown("add($0, 1.0)", "multiply($0, 2.0)")
    assert len(region.outputs) == 2


def test_reductions_over_one_array_are_one_region():
    total = "sum($0, axis=(1,), dtype='float32', keepdims=False)"
    (region,) = grown(total, "max($0, axis=(1,), keepdims=False)")
    assert region.kind == "reduction"


def test_sums_of_different_lengths_are_regions_of_their_own_where_one_operation_reads_both():
    long, short = (
        f"sum({x}, axis=(0,), dtype='float32', keepdims=False)"
        for x in ("slice($0, starts=(1,), steps=(1,), shape=(5,))", "$1")
    )
    found = grown(f"add({long}, {short})", inputs=("float32[9]", "float32[4]"))
    assert [region.kind for region in found] == ["reduction", "reduction", "elementwise"]


def test_reductions_over_different_axes_are_regions_of_their_own():
    rows = "sum($0, axis=(1,), dtype='float32', keepdims=False)"
    columns = "sum($0, axis=(0,), dtype='float32', keepdims=False)"
    assert [region.kind for region in grown(rows, columns)] == ["reduction", "reduction"]


def test_a_value_read_through_a_view_is_stored_and_the_reason_told():
    first, second = grown(
        "add(slice(exp($0), starts=(0, 0), steps=(1, 1), shape=(6, 8)), 1.0)",
    )
    assert second.inputs == first.outputs
    assert any(reason.id == "read-through-view" for reason in second.reasons)


def test_a_value_of_two_regions_is_computed_once():
    shifted = "exp($0)"
    found = grown(
        f"add({shifted}, 1.0)",
        f"add(slice({shifted}, starts=(1, 0), steps=(1, 1), shape=(5, 9)), 1.0)",
    )
    assert sum(node.op.name == "exp" for region in found for node in region.nodes) == 1


def test_a_column_of_factors_is_computed_with_its_rows():
    (region,) = grown("multiply($0, sqrt($1))", inputs=("float32[6, 9]", "float32[6, 1]"))
    assert len(region.nodes) == 2


def test_a_row_of_dear_factors_is_computed_once():
    found = grown("multiply($0, exp($1))", inputs=("float32[6, 9]", "float32[9]"))
    assert [len(region.nodes) for region in found] == [1, 1]


def test_a_chain_that_only_a_late_region_reads_moves_there():
    inputs = ("float32[6, 9]", "float32[4, 4]")
    scale = "sum(exp($1), axis=(0, 1), dtype='float32', keepdims=False)"
    found = grown(f"multiply(exp($0), {scale})", inputs=inputs)
    assert [region.kind for region in found] == ["reduction", "elementwise"]


def test_a_region_reads_a_bounded_number_of_arrays():
    builder = GraphBuilder()
    kind = TensorType(np.dtype("float32"), (7,))
    nodes = [builder.input(ROWS["input"], kind, (1,), None) for _ in range(60)]
    total = nodes[0]
    for node in nodes[1:]:
        total = builder.adopt(make_node("add", (total, node), {}, kind))
    regions = grow(builder.finish([Output(total, Fresh((0,)))]))
    assert len(regions) > 1
    assert all(len(region.inputs) <= MOST_READS + 2 for region in regions)


def test_a_long_graph_is_cut_without_recursion():
    builder = GraphBuilder()
    kind = TensorType(np.dtype("float32"), (8,))
    x = builder.input(ROWS["input"], kind, (1,), None)
    value = x
    for number in range(20_000):
        value = builder.adopt(make_node("add", (value, x) if number % 3 else (x, value), {}, kind))
    regions = grow(builder.finish([Output(value, Fresh((0,)))]))
    assert sum(len(region.nodes) for region in regions) == 20_000
    assert all(len(region.nodes) <= MOST_NODES for region in regions)
    assert len(regions) == 20_000 // MOST_NODES


@given(graphs((*EXACT_ROWS, *SUMS, *HOST), max_nodes=20), st.sets(st.sampled_from(NAMES)))
@settings(max_examples=150, deadline=None)
def test_regions_are_a_valid_division_of_any_graph(graph, disabled):
    graph = expand(graph)
    regions, orders = grow(graph, frozenset(disabled)), memory_orders(graph)
    members = [node for region in regions for node in region.nodes]
    assert len(members) == len(set(members)), "no node is computed twice"
    wanted = {output.node for output in graph.outputs}
    needed = {n for n in graph.nodes if not is_leaf(n) and not is_view(n)}
    assert needed <= set(members), "every computation has a region"
    stored = {node for node in graph.nodes if node.op.name == "input"}
    for region in regions:
        assert set(region.inputs) <= stored, "what is read has been stored"
        own = set(region.nodes)
        read = {node.args[0].type.shape for node in own if node.op.reduction is not None}
        assert len(read) <= 1, "its reductions read one space"
        for node in region.nodes:
            view = read_by_host if node.op.kind == "host" else view_of
            bases = {view(arg, orders).base for arg in node.args}
            outside = {b for b in bases if b not in own and (not is_leaf(b) or b in stored)}
            assert outside <= set(region.inputs), "reads are listed"
        assert set(region.outputs) <= own
        stored |= set(region.outputs)
    assert {n for n in wanted if n.op.name != "input"} <= stored, "outputs are stored"


def test_a_region_has_no_more_arrays_than_a_launch_takes():
    for region in grown(*(f"add($0, {number}.5)" for number in range(600))):
        assert len(region.inputs) + len(region.outputs) < MOST_ARRAYS


def test_many_offsets_in_one_array_are_more_arrays_than_a_launch_takes():
    kind = TensorType(np.dtype("float32"), (7,))
    builder = GraphBuilder()
    x = builder.input(ROWS["input"], TensorType(kind.dtype, (900,)), (1,), None)
    shown = [
        builder.adopt(
            make_node("slice", (x,), {"starts": (n,), "steps": (1,), "shape": (7,)}, kind)
        )
        for n in range(300)
    ]
    total = shown[0]
    for node in shown[1:]:
        total = builder.adopt(make_node("add", (total, node), {}, kind))
    graph = builder.finish([Output(total, Fresh((0,)))])
    orders = memory_orders(graph)
    for region in grow(graph):
        views = [view_of(arg, orders) for node in region.nodes for arg in node.args]
        sites = {(view.base, view.offset) for view in views}
        assert len(sites) + len(region.outputs) < MOST_ARRAYS


def test_column_sums_have_no_more_arrays_than_a_launch_takes():
    factors = [f"multiply($0, {number}.5)" for number in range(150)]
    sums = [f"sum({x}, axis=(0,), dtype='float32', keepdims=False)" for x in factors]
    for region in grown(*sums):
        reductions = sum(node.op.reduction is not None for node in region.nodes)
        assert len(region.inputs) + len(region.outputs) + 2 * reductions < MOST_ARRAYS


def test_columns_whose_elements_no_thread_stores_alone_are_stored_after_two_iterations():
    lines, x = ["$0 : float32[40, 90] strides (90, 1)", "$1 : bool[40, 90] strides (90, 1)"], "$0"
    for _ in range(10):
        n = len(lines)
        lines.append(f"%{n} = where($1, {x}, $0)")
        lines.append(f"%{n + 1} = sum(%{n}, axis=(0,), keepdims=True, dtype='float32')")
        lines.append(f"%{n + 2} = subtract({x}, %{n + 1})")
        x = f"%{n + 2}"
    graph = parse("\n".join([*lines, f"return {x} -> fresh (0, 1)"]))
    assert len(grow(graph, device="gpu")) == len(grow(graph)) == 5
