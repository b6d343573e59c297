"""Laws of complex numbers: kernels compute with their parts, which are real numbers.

What reads, moves or stores complex numbers stays as it is.
"""

from __future__ import annotations

from typing import Any

from runmat_jit.core.types import TensorType, is_complex, part_dtype
from runmat_jit.graph.apply import make_node
from runmat_jit.graph.constant import constant, constant_array, is_constant
from runmat_jit.graph.node import Node
from runmat_jit.ops.parts import Real, joined, parts_of
from runmat_jit.ops.reduce import count_over
from runmat_jit.ops.table import ROWS
from runmat_jit.passes.rewrite import rule

SPLIT = tuple(row.name for row in ROWS.values() if row.parts is not None)
PARTS = ("real", "imag")


@rule(*SPLIT, law="an operation on complex numbers is what its row says of their parts")
def split(node: Node) -> Node | None:
    formula, types = node.op.parts, (node.type, *(arg.type for arg in node.args))
    if formula is None or not any(is_complex(each.dtype) for each in types):
        return None
    operands = [parts_of(make_node, arg) for arg in node.args]
    params: dict[str, Any] = dict(node.params)
    if node.op.kind == "reduce":
        params["kind"] = node.type
    if node.op.name == "mean":
        number = {"number": count_over(node.args[0].type, params["axis"])}
        kind = TensorType(part_dtype(node.type.dtype), ())
        params["count"] = Real(make_node, make_node("count", (), number, kind))
    made: Node = joined(make_node, formula(*operands, **params), node.type)
    return made


@rule(*PARTS, law="a part of a number put together is what it was put together of")
def part_of_joined(node: Node) -> Node | None:
    (x,) = node.args
    if is_constant(x):
        number = constant_array(x)[()]
        return constant(getattr(number, node.op.name), node.type.dtype)
    if x.op.name != "complex_of":
        return None
    found = x.args[PARTS.index(node.op.name)]
    if found.type == node.type:
        return found
    return make_node("broadcast_to", (found,), {"shape": node.type.shape}, node.type)


RULES = (split, part_of_joined)
