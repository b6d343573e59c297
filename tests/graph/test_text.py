"""The text of graphs. Oracle: texts written by hand."""

import numpy as np
import pytest

from runmat_jit.core.source import SourceLine
from runmat_jit.core.types import TensorType
from runmat_jit.graph.apply import apply, make_node
from runmat_jit.graph.constant import constant, constant_array
from runmat_jit.graph.node import Fresh, GraphBuilder, Into, Output
from runmat_jit.graph.text import literal_text, node_text, to_text
from runmat_jit.ops.table import ROWS

FLOAT = np.dtype("float32")


def test_a_graph_reads_one_value_a_line():
    builder = GraphBuilder()
    x = builder.input(ROWS["input"], TensorType(FLOAT, (4, 5)), (5, 1), None)
    y = builder.input(ROWS["input"], TensorType(FLOAT, ()), None, None)
    half = builder.adopt(constant(0.5, FLOAT))
    product = builder.adopt(apply("multiply", x, half))
    total = builder.adopt(
        make_node(
            "sum",
            (product,),
            {"axis": (0,), "keepdims": False, "dtype": "float32"},
            TensorType(FLOAT, (5,)),
        )
    )
    shifted = builder.adopt(apply("add", total, y))
    graph = builder.finish([Output(shifted, Fresh((0,))), Output(product, Into(0, 0, (5, 1)))])
    assert to_text(graph) == (
        "$0 : float32[4, 5] strides (5, 1)\n"
        "$1 : float32[] by value\n"
        "%0 = multiply($0, 0.5) : float32[4, 5]\n"
        "%1 = sum(%0, axis=(0,), dtype='float32', keepdims=False) : float32[5]\n"
        "%2 = add(%1, $1) : float32[5]\n"
        "return %2 -> fresh (0,)\n"
        "return %0 -> into $0 offset 0 strides (5, 1)\n"
    )


def test_a_constant_of_another_dtype_says_its_dtype():
    builder = GraphBuilder()
    x = builder.input(ROWS["input"], TensorType(np.dtype(bool), (2,)), (1,), None)
    one, two = (builder.adopt(constant(n, np.dtype("int64"))) for n in (1, 2))
    chosen = builder.adopt(apply("where", x, one, two))
    graph = builder.finish([Output(chosen, Fresh((0,))), Output(one, Fresh(()))])
    assert "%0 = where($0, int64(1), int64(2)) : int64[2]\n" in to_text(graph)
    assert "return int64(1) -> fresh ()\n" in to_text(graph)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (np.float32(0.1), "0.1"),
        (np.float32(-0.0), "-0.0"),
        (np.float64(0.1), "0.1"),
        (np.float64(5e-324), "5e-324"),
        (np.float32(np.inf), "inf"),
        (np.float32(np.nan), "nan"),
        (np.uint32(0x7FC00001).view(np.float32), "0x7fc00001"),
        (np.int64(-(2**63)), "-9223372036854775808"),
        (np.bool_(True), "True"),
    ],
)
def test_a_literal_has_the_fewest_digits_that_give_its_bits_back(value, text):
    assert literal_text(np.asarray(value)) == text
    node = constant(value, value.dtype)
    assert constant_array(node).tobytes() == value.tobytes()


def test_zeros_of_either_sign_are_two_constants():
    builder = GraphBuilder()
    plus, minus = (builder.adopt(constant(zero, FLOAT)) for zero in (0.0, -0.0))
    assert plus is not minus


def test_a_node_by_itself_shows_its_operands_types():
    node = apply("add", constant(1.0, FLOAT), constant(2.0, FLOAT))
    assert node_text(node) == "add(float32[], float32[]) : float32[]"


def test_users_lines_are_no_part_of_identity():
    builder = GraphBuilder()
    x = builder.input(ROWS["input"], TensorType(FLOAT, (2,)), (1,), None)
    first = builder.make(ROWS["sin"], (x,), {}, x.type, SourceLine("a.py", 1))
    second = builder.make(ROWS["sin"], (x,), {}, x.type, SourceLine("a.py", 2))
    assert first is second
    assert first.line == SourceLine("a.py", 1)


def test_parameters_that_are_equal_but_not_the_same_make_two_nodes():
    builder = GraphBuilder()
    kind = TensorType(FLOAT, (3,))
    counters = [
        builder.make(ROWS["iota"], (), {"start": start, "step": 1}, kind)
        for start in (0, 0.0, -0.0, False)
    ]
    assert len(set(counters)) == 4
