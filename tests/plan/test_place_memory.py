"""Placement in memory. Oracle: places counted by hand, and what a run may not share."""

import numpy as np

from runmat_jit.graph.node import Into, Output
from runmat_jit.graph.parse import parse
from runmat_jit.passes.fusion.grower import grow
from runmat_jit.plan.argument import NodeBuffer, Scratch, TableBuffer
from runmat_jit.plan.host_operands import host_operands
from runmat_jit.plan.layout import Commit
from runmat_jit.plan.make_plan import make_plan
from runmat_jit.plan.place_memory import place_memory
from tests.graph.host_calls import parsed
from tests.graph.written import written

F64 = np.dtype("float64")
X = "$0 : float64[2, 3] strides (3, 1)\n"


def planned(graph):
    return make_plan(graph, grow(graph))


def placed(text):
    plan = planned(parse(text))
    nodes = [node for region in plan.regions for node in (*region.inputs, *region.outputs)]
    return place_memory(plan, [[NodeBuffer(node) for node in nodes]])


def test_inputs_come_first_then_tables_then_buffers():
    graph = written(["float64[2, 3]"], "negative($0)")
    (x,), (output,) = graph.inputs, graph.outputs
    scratch = Scratch(0, F64, 7)
    uses = [[NodeBuffer(x), scratch, 5], [scratch, TableBuffer("exp"), NodeBuffer(output.node)]]
    layout = place_memory(planned(graph), uses)
    assert layout.tables == ("exp",)
    assert layout.places == {x: 0, "exp": 1, output.node: 2, scratch: 3}
    assert [buffer.shape for buffer in layout.buffers] == [(2, 3), (7,)]


def test_the_result_of_a_host_call_has_a_place_and_no_memory():
    text = f"{X}%0 = host_call($0, call='sort()') : float64[2, 3]\nreturn %0 -> fresh (1, 0)\n"
    plan = planned(parsed(text))
    node = plan.graph.outputs[0].node
    layout = place_memory(plan, [[*host_operands(node, plan.orders), NodeBuffer(node)]])
    (buffer,) = layout.buffers
    assert (buffer.place, buffer.returned, buffer.strides) == (1, True, (8, 16))
    assert (layout.copies, layout.fresh) == ((), (1,))


def test_an_input_that_is_returned_is_copied():
    layout = placed(f"{X}return $0 -> fresh (1, 0)\n")
    (buffer,) = layout.buffers
    assert buffer.strides == (8, 16)
    assert (layout.copies, layout.fresh) == (((0, 1),), (1,))


def test_a_value_in_two_orders_is_copied_once():
    text = f"{X}%0 = negative($0)\nreturn %0 -> fresh (0, 1)\nreturn %0 -> fresh (1, 0)\n"
    layout = placed(text)
    assert (layout.copies, layout.fresh) == (((1, 2),), (1, 2))


def test_an_input_is_read_before_another_write_reaches_it():
    one = f"{X}$1 : float64[2, 3] strides (3, 1)\nreturn $1 -> into $0 offset 0 strides (3, 1)\n"
    assert placed(one).copies == ()
    two = f"{one}return $0 -> into $1 offset 0 strides (3, 1)\n"
    assert placed(two).copies == ((1, 2), (0, 3))


def test_a_write_says_where_it_goes_in_bytes():
    graph = written(
        ["float64[2, 3]"], "negative(slice($0, starts=(0, 1), steps=(1, 1), shape=(2, 2)))"
    )
    outputs = (Output(graph.outputs[0].node, Into(0, 1, (3, 1))),)
    plan = planned(type(graph)(graph.inputs, graph.nodes, outputs))
    layout = place_memory(plan, [])
    assert layout.commits == (Commit(1, 0, 8, (2, 2), (24, 8), whole=False),)
