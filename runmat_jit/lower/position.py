"""Positions of extreme values: which of two comes first, and the search along a row.

A value and its position are reduced together, as two entries of one phase. What is left is the
first of the most extreme values, in whatever order they are combined; NaN is the most extreme.
"""

from __future__ import annotations

from collections.abc import Sequence

from runmat_jit.core.frozen import frozen
from runmat_jit.core.types import KERNEL_ELEMENTS
from runmat_jit.kernel.build import Builder
from runmat_jit.kernel.ir import Value
from runmat_jit.kernel.math.formats import FORMATS
from runmat_jit.kernel.primitives import FLOATS, identity
from runmat_jit.lower.body import Body, value_type
from runmat_jit.lower.index import smaller
from runmat_jit.lower.problem import Read, Store
from runmat_jit.lower.reduction_problem import Reduce

Bounds = tuple[Value, Value]

BLOCK = 1024
"""Elements of a row that are searched for the position; in those before, the extreme is enough."""


def precedes(
    builder: Builder, combine: str, left: Sequence[Value], right: Sequence[Value]
) -> Value:
    """Whether the left value is more extreme, or as extreme at a lower position."""
    (a, at), (b, other) = left, right
    return _exceeds(builder, combine, a, b) | (_is_same(builder, a, b) & (at < other))


def find_first(
    body: Body, phase: tuple[Reduce, ...], stores: tuple[Store, ...], bounds: Bounds
) -> None:
    """The extreme of a row block by block, then its position in the first block that has it.

    ``stores``: values of elements to store on the way.
    """
    builder, (value, position) = body.builder, phase
    kind = value_type(KERNEL_ELEMENTS[value.dtype])
    search = _Search(body, value, stores)
    if body.nest.extents[body.nest.lanes] <= BLOCK:
        best, block = search.extreme_of(bounds), bounds
    else:
        best, at = search.block_by_block(bounds)
        block = at, smaller(at + BLOCK, bounds[1])
    with builder.total(*block, [("min", "i32")]) as total, body.scope():
        here = builder.eq(search.element(total.i), best)
        place = builder.convert("trunc", total.i - block[0], "i32") + builder.lane_id()
        total.yield_(builder.select(here, place, identity("min", "i32")))
    body.define(value, _value_of(builder, best, kind))
    assert isinstance(position.operand, Read), "positions are counted, or in memory"
    first = block[0] + builder.convert("sext", total.out[0], "index")
    body.define(position, body.read_one(position.operand, first))
    body.compute(body.nest.lanes)


@frozen
class _Search:
    """The search for the extreme of a row, whose elements are compared as ranks."""

    body: Body
    value: Reduce
    stores: tuple[Store, ...]

    @property
    def combine(self) -> str:
        """How ranks are combined."""
        return self.value.combine

    @property
    def kind(self) -> str:
        """The type of a rank."""
        kind = value_type(KERNEL_ELEMENTS[self.value.dtype])
        return FORMATS[kind].integer if kind in FLOATS else kind

    def element(self, index: Value) -> Value:
        """The rank of an element."""
        self.body.move(self.body.nest.lanes, index)
        self.body.need([self.value.operand])
        return _rank(self.body.builder, self.combine, self.body.term(self.value))

    def extreme_of(self, block: Bounds) -> Value:
        """The extreme of a block; on the way, elements are stored."""
        body = self.body
        with body.builder.total(*block, [(self.combine, self.kind)]) as total, body.scope():
            rank = self.element(total.i)
            body.need(store.value for store in self.stores)
            body.store(self.stores)
            total.yield_(rank)
        return total.out[0]

    def block_by_block(self, bounds: Bounds) -> Bounds:
        """The extreme, and where the first block begins that has it."""
        k = self.body.builder
        start = k.const(identity(self.combine, self.kind), self.kind)
        with k.loop(*bounds, (start, bounds[0]), BLOCK) as blocks:
            block = blocks.i, smaller(blocks.i + BLOCK, bounds[1])
            if self.kind != "i1" or self.body.computes:
                blocks.yield_(*self.compared(block, blocks.carry))
            else:  # nothing exceeds what may have been found
                open_ = k.prim("xor", blocks.carry[0], self.combine == "or")
                with k.if_(open_, blocks.carry) as branch:
                    branch.yield_(*self.compared(block, branch.carry))
                blocks.yield_(*branch.out)
        best, at = blocks.out
        return best, at

    def compared(self, block: Bounds, so_far: Sequence[Value]) -> Bounds:
        """The extreme so far and its block, one block further."""
        k, (best, at) = self.body.builder, so_far
        found = self.extreme_of(block)
        better = _exceeds(k, self.combine, found, best)
        return k.select(better, found, best), k.select(better, block[0], at)


def _rank(builder: Builder, combine: str, x: Value) -> Value:
    """A float as an integer in the same order: zeros of two signs are one, any NaN the extreme."""
    if x.type not in FLOATS:
        return x
    form = FORMATS[x.type]
    bits = builder.convert("bitcast", x, form.integer)
    magnitude = bits & ~form.sign
    rank = builder.select(bits < 0, -magnitude, magnitude)
    extreme = ~form.sign if combine == "max" else -~form.sign
    return builder.select(magnitude > form.infinity, extreme, rank)


def _value_of(builder: Builder, rank: Value, kind: str) -> Value:
    """The float of a rank."""
    if kind not in FLOATS:
        return rank
    bits = builder.select(rank < 0, -rank | FORMATS[kind].sign, rank)
    return builder.convert("bitcast", bits, kind)


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
