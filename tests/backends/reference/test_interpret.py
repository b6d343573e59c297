"""Running graphs with NumPy. Oracle: the same computation written in NumPy."""

import numpy as np
import pytest
from hypothesis import given, note
from hypothesis import strategies as st

from runmat_jit.backends.reference.interpret import evaluate, run
from runmat_jit.core.types import TensorType
from runmat_jit.graph.parse import parse
from runmat_jit.graph.text import to_text
from runmat_jit.ops.host_call import HostCall
from tests.graph.host_calls import parsed
from tests.graph.random_graphs import EXACT_ROWS, HOST, SUMS, arrays, bits_equal, graphs
from tests.graph.written import written


def test_operations_are_numpys():
    graph = written(
        ["float32[4, 5]", "float32[] by value"],
        "mean(multiply(sin($0), $1), axis=(1,), dtype='float32', keepdims=False)",
    )
    x = np.linspace(-3, 3, 20, dtype=np.float32).reshape(4, 5)
    (found,) = run(graph, [x, 0.5])
    assert bits_equal(found, np.mean(np.sin(x) * np.float32(0.5), axis=1))


def test_structure_rows_get_their_type():
    (found,) = run(
        written([], "iota(start=1, step=2)".replace("iota(", "arange(stop=9, dtype='int32', ")), []
    )
    assert bits_equal(found, np.arange(1, 9, 2, dtype=np.int32))


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0)])
def test_a_fresh_output_lies_in_the_wanted_order(order):
    graph = parse(f"$0 : float64[2, 3, 4] strides (12, 4, 1)\nreturn $0 -> fresh {order}\n")
    x = np.arange(24.0).reshape(2, 3, 4)
    (found,) = run(graph, [x])
    assert bits_equal(found, x)
    assert not np.shares_memory(found, x)
    assert found.transpose(order).flags.c_contiguous


def test_writes_are_committed_after_all_values_and_in_order():
    graph = parse(
        "$0 : int64[3] strides (1,)\n"
        "$1 : int64[3] strides (1,)\n"
        "%0 = slice($0, starts=(2,), steps=(-1,), shape=(3,))\n"
        "return $1 -> into $0 offset 0 strides (1,)\n"
        "return $0 -> into $1 offset 0 strides (1,)\n"
        "return %0 -> into $1 offset 2 strides (-1,)\n"
        "return $0 -> fresh (0,)\n"
    )
    x, y = np.array([1, 2, 3]), np.array([4, 5, 6])
    *_, old = run(graph, [x, y])
    assert x.tolist() == [4, 5, 6]
    assert y.tolist() == [1, 2, 3]
    assert old.tolist() == [1, 2, 3]


def test_offsets_and_strides_of_a_write_count_from_the_inputs_first_element():
    graph = parse(
        "$0 : float32[3, 4] strides (-8, -2)\n"
        "$1 : float32[3] strides (1,)\n"
        "return $1 -> into $0 offset -2 strides (-8,)\n"
    )
    memory = np.zeros((6, 8), np.float32)
    x = memory[1::2, 1::2][::-1, ::-1]
    x = np.ndarray((3, 4), np.float32, memory, 23 * 4, (-32, -8))
    run(graph, [x, np.array([1, 2, 3], np.float32)])
    assert x[:, 1].tolist() == [1, 2, 3]
    assert np.count_nonzero(memory) == 3


def test_an_empty_write_touches_nothing():
    graph = parse(
        "$0 : float32[0, 4] strides (4, 1)\nreturn $0 -> into $0 offset 0 strides (4, 1)\n"
    )
    assert run(graph, [np.empty((0, 4), np.float32)])[0].shape == (0, 4)


def test_values_are_freed_after_their_last_use():
    graph = written(["float32[4]"], "cos(sin($0))")
    alive = []

    def step(node, args):
        alive.append([id(arg) for arg in args])
        return node.op.name

    values = dict(evaluate(graph.nodes, step))
    assert list(values.values()) == ["input", "sin", "cos"]


def test_host_calls_get_arrays_and_numbers():
    seen = []

    def fn(*operands):
        seen.extend(operands)
        return operands[0] + operands[1]

    text = "$0 : float64[2] strides (1,)\n$1 : float64[] by value\n$2 : float64[] strides ()\n"
    text += "%0 = host_call($0, $1, $2, float64(3.0), call='fn') : float64[2]\n"
    graph = parse(f"{text}return %0 -> fresh (0,)\n", calls={"fn": HostCall(fn, "fn")})
    (found,) = run(graph, [np.array([1.0, 2.0]), 0.5, np.array(7.0)])
    assert found.tolist() == [1.5, 2.5]
    assert [type(operand) for operand in seen] == [np.ndarray, np.float64, np.ndarray, np.float64]


def test_a_host_call_that_breaks_its_law_is_a_mistake():
    text = "$0 : float64[2] strides (1,)\n%0 = host_call($0, call='sort()') : float64[3]\n"
    with pytest.raises(AssertionError, match="its type is float64"):
        run(parsed(f"{text}return %0 -> fresh (0,)\n"), [np.array([1.0, 2.0])])


@given(graph=graphs(rows=(*EXACT_ROWS, *SUMS, *HOST)), seed=st.integers(0, 99))
def test_every_value_has_its_nodes_type(graph, seed):
    note(to_text(graph))
    found = run(graph, arrays(graph, seed))
    for output, value in zip(graph.outputs, found, strict=True):
        assert TensorType(value.dtype, value.shape) == output.node.type
