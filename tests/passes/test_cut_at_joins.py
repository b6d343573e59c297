"""Values of joined arrays in pieces. Oracles: the regions read by hand; the interpreter's bits."""

import numpy as np
import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from runmat_jit.backends.reference.interpret import run
from runmat_jit.core.types import TensorType
from runmat_jit.graph.apply import make_node
from runmat_jit.graph.node import Fresh, GraphBuilder, Output
from runmat_jit.graph.text import to_text
from runmat_jit.graph.verify_graph import verify_graph
from runmat_jit.ops.table import ROWS
from runmat_jit.passes.cut_at_joins import cut_at_joins
from runmat_jit.passes.pipeline import optimize
from tests.graph.random_graphs import arrays, bits_equal
from tests.graph.written import written
from tests.lower.execute import execute, launches

INPUTS = ["float32[40]", "float32[40]"]


def part(x, start, count):
    return f"slice({x}, starts=({start},), steps=(1,), shape=({count},))"


def rolled(x, by):
    """``np.roll`` as it is written: two parts of a new array."""
    by %= 40
    blank = "broadcast_to(float32(0.0), shape=(40,))"
    first = f"update({blank}, {part(x, 0, 40 - by)}, offset={by}, shape=({40 - by},), strides=(1,))"
    return f"update({first}, {part(x, 40 - by, by)}, offset=0, shape=({by},), strides=(1,))"


def joined(x, y):
    return f"concatenate({x}, {y}, axis=0)"


TOTAL = "sum({}, axis=(0,), dtype='float32', keepdims=False)"


@pytest.mark.parametrize(
    ("text", "kernels"),
    [
        (f"add($0, {rolled('$0', 1)})", 2),
        (f"add({rolled('$0', 1)}, {rolled('$0', -1)})", 3),
        (f"add($0, {rolled('$0', 20)})", 2),
        (f"add($1, {part(joined('$0', '$1'), 1, 40)})", 2),
        # of what is computed and stored
        (f"add(floor($0), {rolled('floor($0)', 2)})", 3),
        (f"add({rolled('$0', 1)}, {rolled(rolled('$0', 2), 1)})", 3),
    ],
)
def test_what_is_joined_is_not_stored(text, kernels):
    graph = written(INPUTS, text)
    ready = optimize(graph)
    fill = 1  # of the new array, all of which is then written
    assert len(launches(ready)) == kernels + fill
    assert all(map(bits_equal, run(graph, arrays(graph)), execute(ready, arrays(graph))[0]))


@pytest.mark.parametrize(
    "texts",
    [
        [f"add($0, {rolled('$0', 1)})", rolled("$0", 1)],  # it is wanted
        [f"add($0, {rolled('$0', 1)})", TOTAL.format(rolled("$0", 1))],  # or summed up
        [f"add({rolled('$0', 15)}, {rolled('$0', 27)})"],  # all pieces are small
        [f"update($0, floor({part('$1', 0, 30)}), offset=0, shape=(30,), strides=(1,))"],
        [f"reshape({rolled('$0', 1)}, shape=(8, 5))"],  # nothing is computed of it
    ],
)
def test_other_values_stay_whole(texts):
    graph = written(INPUTS, *texts)
    assert to_text(cut_at_joins(graph)) == to_text(graph)


def test_a_long_chain_is_cut_without_recursion():
    text = rolled("$0", 1)
    graph = written(INPUTS, text)
    builder, value = GraphBuilder(), graph.outputs[0].node
    nodes = {node: builder.adopt_input(node) for node in graph.inputs}
    for node in graph.nodes:
        if node not in nodes:
            args = tuple(nodes[arg] for arg in node.args)
            nodes[node] = builder.make(node.op, args, node.params, node.type)
    value = nodes[value]
    for _ in range(5_000):
        value = builder.adopt(make_node("add", (value, nodes[graph.inputs[1]]), {}, value.type))
    found = cut_at_joins(builder.finish([Output(value, Fresh((0,)))]))
    assert sum(node.op.name == "add" for node in found.nodes) == 10_000


SHAPE = (6, 7)
KIND = TensorType(np.dtype("float32"), SHAPE)


def of_numpy(builder, x, by, axis):
    """``np.roll`` of a node along an axis."""
    extent = SHAPE[axis]
    by %= extent
    steps = (SHAPE[1], 1)
    found = builder.adopt(make_node("broadcast_to", (zero(builder),), {"shape": SHAPE}, KIND))
    for source, target, count in ((0, by, extent - by), (extent - by, 0, by)):
        if not count:
            continue
        shape = tuple(count if n == axis else e for n, e in enumerate(SHAPE))
        kind = TensorType(KIND.dtype, shape)
        starts = tuple(source if n == axis else 0 for n in range(2))
        params = {"starts": starts, "steps": (1, 1), "shape": shape}
        value = builder.adopt(make_node("slice", (x,), params, kind))
        params = {"offset": target * steps[axis], "shape": shape, "strides": steps}
        found = builder.adopt(make_node("update", (found, value), params, KIND))
    return found


def zero(builder):
    return builder.adopt(written([], "float32(0.0)").outputs[0].node)


@st.composite
def rolling(draw):
    """Some turns of sums of arrays that are rolled, joined and cut, and of a row."""
    builder = GraphBuilder()
    x = builder.input(ROWS["input"], KIND, (SHAPE[1], 1), None)
    row = builder.input(ROWS["input"], TensorType(KIND.dtype, (1, SHAPE[1])), (SHAPE[1], 1), None)
    pool = [x]

    def operand():
        found = draw(st.sampled_from(pool[-3:]))
        for _ in range(draw(st.integers(0, 2))):
            way = draw(st.sampled_from(["roll", "roll", "pad"]))
            if way == "roll":
                found = of_numpy(builder, found, draw(st.integers(-3, 3)), draw(st.integers(0, 1)))
            else:
                wide = TensorType(KIND.dtype, (SHAPE[0] + 1, SHAPE[1]))
                args = (row, found) if draw(st.booleans()) else (found, row)
                more = builder.adopt(make_node("concatenate", args, {"axis": 0}, wide))
                params = {"starts": (draw(st.integers(0, 1)), 0), "steps": (1, 1), "shape": SHAPE}
                found = builder.adopt(make_node("slice", (more,), params, KIND))
        return found

    for _ in range(draw(st.integers(1, 3))):
        other = row if draw(st.integers(0, 5)) == 0 else operand()
        pool.append(builder.adopt(make_node("add", (operand(), other), {}, KIND)))
    wanted = dict.fromkeys([pool[-1], *draw(st.lists(st.sampled_from(pool), max_size=1))])
    return builder.finish([Output(node, Fresh((0, 1))) for node in wanted])


@given(rolling(), st.integers(0, 99))
def test_pieces_keep_every_bit(graph, seed):
    found = cut_at_joins(graph)
    verify_graph(found)
    event(f"cut {to_text(found) != to_text(graph)}")
    expected = run(graph, arrays(graph, seed))
    assert all(map(bits_equal, expected, run(found, arrays(graph, seed)))), to_text(graph)
    ready = optimize(graph)
    assert all(map(bits_equal, expected, execute(ready, arrays(graph, seed))[0])), to_text(ready)
