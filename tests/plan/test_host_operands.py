"""What host calls are given. Oracle: NumPy's own views of the same memory."""

import numpy as np
import pytest

from runmat_jit.passes.fusion.access import memory_orders
from runmat_jit.plan.argument import InputScalar, NodeView, Number
from runmat_jit.plan.host_operands import host_operands
from tests.graph.host_calls import parsed

X = "$0 : float64[4, 6] strides (6, 1)\n$1 : float64[] by value\n"


def operands(lines, arguments):
    text = f"{X}{lines}%9 = host_call({arguments}, call='table()') : float64[2, 3]\n"
    graph = parsed(f"{text}return %9 -> fresh (0, 1)\n")
    (output,) = graph.outputs
    return host_operands(output.node, memory_orders(graph)), graph


@pytest.mark.parametrize(
    ("view", "shown"),
    [
        ("transpose($0, axes=(1, 0))", lambda x: x.T),
        ("slice($0, starts=(3, 1), steps=(-2, 3), shape=(2, 2))", lambda x: x[3::-2, 1::3]),
        ("reshape($0, shape=(2, 12))", lambda x: x.reshape(2, 12)),
        ("broadcast_to($0, shape=(2, 4, 6))", lambda x: np.broadcast_to(x, (2, 4, 6))),
    ],
)
def test_a_view_shows_the_memory_of_its_base(view, shown):
    (operand,), graph = operands(f"%0 = {view}\n", "%0")
    x = np.zeros((4, 6))
    expected = shown(x)
    distance = expected.__array_interface__["data"][0] - x.__array_interface__["data"][0]
    assert operand.base is graph.inputs[0]
    assert (8 * operand.offset, tuple(8 * s for s in operand.strides)) == (
        distance,
        expected.strides,
    )
    assert not operand.is_whole


def test_a_stored_value_is_the_memory_itself():
    (x, y), graph = operands("%0 = negative($0)\n", "$0, %0")
    assert isinstance(x, NodeView)
    assert x.is_whole
    assert y.is_whole
    assert (x.base, y.base) == (graph.inputs[0], graph.nodes[1])


def test_numbers_are_given_by_value():
    found, graph = operands("%0 = count(number=5) : int64[]\n", "$1, %0, float32(0.5)")
    assert found == (
        InputScalar(graph.inputs[1]),
        Number(5, np.dtype("int64")),
        Number(np.float32(0.5), np.dtype("float32")),
    )


def test_a_number_repeated_is_memory_of_its_own():
    (operand,), _ = operands("%0 = broadcast_to($1, shape=(3, 2))\n", "%0")
    assert operand.is_whole
    assert operand.strides == (2, 1)
