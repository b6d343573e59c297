"""Positions of extreme values: which of two comes first, and the search along a row.

A value and its position are reduced together, as two entries of one phase. What is left is the
first of the most extreme values, in whatever order they are combined; NaN is the most extreme.
"""

from __future__ import annotations

from collections.abc import Sequence

from runmat_jit.core.types import KERNEL_ELEMENTS
from runmat_jit.kernel.build import Builder
from runmat_jit.kernel.ir import Value
from runmat_jit.kernel.primitives import FLOATS, identity
from runmat_jit.lower.body import Body, value_type
from runmat_jit.lower.index import smaller
from runmat_jit.lower.problem import Store
from runmat_jit.lower.reduction_problem import Reduce

BLOCK = 1024
"""Elements of a row that are searched for the position; in those before, the extreme is enough."""


def precedes(
    builder: Builder, combine: str, left: Sequence[Value], right: Sequence[Value]
) -> Value:
    """Whether the left value is more extreme, or as extreme at a lower position."""
    (a, at), (b, other) = left, right
    return _exceeds(builder, combine, a, b) | (_is_same(builder, a, b) & (at < other))


def find_first(
    body: Body, phase: tuple[Reduce, ...], stores: tuple[Store, ...], bounds: tuple[Value, Value]
) -> None:
    """The extreme of a row block by block, then its position in the first block that has it.

    ``stores``: values of elements to store on the way.
    """
    builder, (value, position) = body.builder, phase
    kind = value_type(KERNEL_ELEMENTS[value.dtype])
    start = builder.const(identity(value.combine, kind), kind)

    def compared(block: tuple[Value, Value], so_far: Sequence[Value]) -> Sequence[Value]:
        (best, at), (low, _) = so_far, block
        with builder.total(*block, [(value.combine, kind)]) as total, body.scope():
            body.move(body.nest.lanes, total.i)
            body.need([value.operand, *(store.value for store in stores)])
            body.store(stores)
            total.yield_(body.term(value))
        (found,) = total.out
        better = _exceeds(builder, value.combine, found, best)
        return builder.select(better, found, best), builder.select(better, low, at)

    with builder.loop(*bounds, (start, bounds[0]), BLOCK) as blocks:
        block = blocks.i, smaller(blocks.i + BLOCK, bounds[1])
        if kind != "i1" or body.computes:
            blocks.yield_(*compared(block, blocks.carry))
        else:  # nothing exceeds what may have been found
            open_ = builder.prim("xor", blocks.carry[0], value.combine == "or")
            with builder.if_(open_, blocks.carry) as branch:
                branch.yield_(*compared(block, branch.carry))
            blocks.yield_(*branch.out)
    best, at = blocks.out
    with builder.total(at, smaller(at + BLOCK, bounds[1]), [("min", "i64")]) as total, body.scope():
        body.move(body.nest.lanes, total.i)
        body.need([value.operand, position.operand])
        here = _is_same(builder, body.value(value.operand), best)
        total.yield_(builder.select(here, body.value(position.operand), identity("min", "i64")))
    body.define(value, best)
    body.define(position, total.out[0])
    body.compute(body.nest.lanes)


def _exceeds(builder: Builder, combine: str, a: Value, b: Value) -> Value:
    """Whether a value is more extreme than another."""
    if a.type == "i1":
        return a & _not(builder, b) if combine == "or" else _not(builder, a) & b
    more = builder.binary({"min": "lt", "max": "gt"}[combine], a, b)
    if a.type in FLOATS:
        more = more | (builder.prim("isnan", a) & _not(builder, builder.prim("isnan", b)))
    return more


def _is_same(builder: Builder, a: Value, b: Value) -> Value:
    same = builder.eq(a, b)
    if a.type in FLOATS:
        same = same | (builder.prim("isnan", a) & builder.prim("isnan", b))
    return same


def _not(builder: Builder, truth: Value) -> Value:
    return builder.prim("xor", truth, True)
