"""Epilogues in the memory of products. Oracle: rules by hand, one graph each."""

import numpy as np
import pytest

from runmat_jit.graph.parse import parse
from runmat_jit.ops.host_call import HostCall
from runmat_jit.ops.product import Product
from runmat_jit.passes.fusion.grower import grow
from runmat_jit.plan.make_plan import make_plan

CALLS = {
    "matmul()": HostCall(Product(np.matmul), "matmul()"),
    "sort()": HostCall(np.sort, "sort()"),
}
GIVEN = """$0 : float32[400, 300] strides (300, 1)
$1 : float32[300, 500] strides (500, 1)
$2 : float32[400, 500] strides (500, 1)
$3 : float32[500] strides (1,)
%0 = product($0, $1, call='matmul()') : float32[400, 500]
"""
RESULT = "return %1 -> fresh (0, 1)\n"


def in_place(text, disabled=()):
    graph = parse(GIVEN + text, calls=CALLS)
    plan = make_plan(graph, grow(graph, frozenset(disabled)))
    return [(node.op.name, base.op.name) for node, base in plan.in_place.items()]


@pytest.mark.parametrize(
    "text",
    [
        "%1 = add(%0, $3)\n" + RESULT,
        "%1 = subtract($2, %0)\n" + RESULT,
        "%9 = multiply(%0, %0)\n%1 = maximum(%9, %0)\n" + RESULT,
        # the value is read later; the product is not
        "%1 = add(%0, $2)\n%2 = reporting_host_call(%1, call='sort()') : float32[400, 500]\n"
        + RESULT
        + "return %2 -> fresh (0, 1)\n",
    ],
)
def test_an_epilogue_takes_the_memory_of_a_product_that_nothing_else_reads(text):
    assert [base for _, base in in_place(text)] == ["product"]


@pytest.mark.parametrize(
    "text",
    [
        # the product is a result
        "%1 = add(%0, $3)\nreturn %0 -> fresh (0, 1)\n" + RESULT,
        # another dtype, or order in memory
        "%1 = cast(%0, dtype='float64')\n" + RESULT,
        "%1 = add(%0, $3)\nreturn %1 -> fresh (1, 0)\n",
        # elements are read elsewhere than where they are computed
        "%9 = slice(%0, starts=(399, 0), steps=(-1, 1), shape=(400, 500)) : float32[400, 500]\n"
        "%1 = add(%0, %9)\n" + RESULT,
        "%9 = slice(%0, starts=(0, 0), steps=(1, 1), shape=(1, 500)) : float32[1, 500]\n"
        "%1 = add(%0, %9)\n" + RESULT,
        # no region of elements alone
        "%9 = max(%0, axis=(1,), keepdims=True) : float32[400, 1]\n%1 = subtract(%0, %9)\n"
        + RESULT,
    ],
)
def test_an_epilogue_has_memory_of_its_own_where_the_product_is_read_otherwise(text):
    assert in_place(text) == []


def test_the_last_of_two_epilogues_takes_the_memory():
    text = "%9 = add(%0, $3)\n%8 = reporting_host_call(%9, call='sort()') : float32[400, 500]\n"
    assert in_place(text + "%1 = subtract(%8, %0)\n" + RESULT) == [("subtract", "product")]


def test_of_two_values_one_takes_the_memory():
    text = "%1 = add(%0, $2)\n%2 = negative(%0)\n" + RESULT + "return %2 -> fresh (0, 1)\n"
    assert len(in_place(text)) == 1


def test_two_products_give_their_memory_to_two_values():
    text = "%5 = product($1, $1, call='matmul()') : float32[400, 500]\n"
    text += "%1 = add(%0, %5)\n%2 = subtract(%0, %5)\n" + RESULT + "return %2 -> fresh (0, 1)\n"
    assert len(set(in_place(text))) == 2


@pytest.mark.parametrize("kind", ["matmul_epilogue", "elementwise"])
def test_nothing_is_in_place_where_the_kind_is_switched_off(kind):
    assert in_place("%1 = add(%0, $3)\n" + RESULT, [kind]) == []
