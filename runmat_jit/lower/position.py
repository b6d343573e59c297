"""Positions of extreme values: which of two comes first, and the search along a row.

A value and its position are reduced together, as two entries of one phase, in the order of the
positions. Values are compared as ranks, of which NaN has the most extreme.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from runmat_jit.core.frozen import frozen
from runmat_jit.core.types import KERNEL_ELEMENTS
from runmat_jit.kernel.build import Builder
from runmat_jit.kernel.ir import Value
from runmat_jit.kernel.math.formats import FORMATS
from runmat_jit.kernel.primitives import (
    FLOATS,
    TOTAL_BLOCKS,
    TOTAL_STEPS,
    identity,
    total_lanes,
)
from runmat_jit.lower.body import Body, value_type
from runmat_jit.lower.index import smaller
from runmat_jit.lower.problem import Operand, Read, Store
from runmat_jit.lower.reduction_problem import Reduce
from runmat_jit.plan.device import Device

Bounds = tuple[Value, Value]

BLOCK = 1024
"""Elements of a row that are searched for the position; in those before, the extreme is enough."""

LONGEST_TOTAL = TOTAL_BLOCKS * TOTAL_STEPS * total_lanes(["i64"])
"""Elements that any ``total`` can take."""

_FEW = 8
"""Truth values that are looked at one by one before any block is."""


def pair(body: Body, phase: Sequence[Reduce]) -> list[Value]:
    """The rank of an element and its position."""
    value, position = phase
    return [_rank(body.builder, value.combine, body.value(value.operand)), body.term(position)]


def earlier(
    builder: Builder, combine: str, left: Sequence[Value], right: Sequence[Value]
) -> list[Value]:
    """Of two ranks with their positions the more extreme, or the left."""
    better = _exceeds(builder, combine, right[0], left[0])
    return [builder.select(better, b, a) for a, b in zip(left, right, strict=True)]


def find_first(
    body: Body,
    phase: tuple[Reduce, ...],
    stores: tuple[Store, ...],
    bounds: Bounds,
    device: Device,
) -> None:
    """The extreme of a row block by block, then its position in the first block that has it.

    The threads of a GPU have all blocks at once.

    Args:
        body: Emits the kernel.
        phase: The extreme and its position.
        stores: Values of elements that are stored meanwhile.
        bounds: Of the row.
        device: Runs the kernel.

    """
    value, position = phase
    block = LONGEST_TOTAL if device.shares_tiles else BLOCK
    search = _Search(body, value, stores, block)
    best, first = search.in_truth_values(bounds) if search.may_stop else search.first_of(bounds)
    body.define(value, best)
    assert isinstance(position.operand, Read), "positions are counted, or in memory"
    body.define(position, body.read_one(position.operand, first))
    body.compute(body.nest.lanes)


@frozen
class _Search:
    """The search for the extreme of a row, whose elements are compared as ranks."""

    body: Body
    value: Reduce
    stores: tuple[Store, ...]
    block: int
    """Elements that are searched at once."""

    @property
    def combine(self) -> str:
        """How ranks are combined."""
        return self.value.combine

    @property
    def kind(self) -> str:
        """The type of a rank."""
        return value_type(KERNEL_ELEMENTS[self.value.dtype])

    @property
    def may_stop(self) -> bool:
        """True if nothing exceeds what may have been found, and nothing else is to be done."""
        return self.kind == "i1" and not self.body.computes and _in_memory(self.value.operand)

    def in_truth_values(self, bounds: Bounds) -> Bounds:
        """One by one as far as the extreme is often found, then as in other rows."""
        k, body, read = self.body.builder, self.body, self.value.operand
        assert isinstance(read, Read), "they lie in memory"
        extreme, limit = self.combine == "or", smaller(bounds[0] + _FEW, bounds[1])
        with k.loop(bounds[0], limit, (k.const(True, "i1"), bounds[0])) as few:
            with k.if_(few.carry[0], few.carry) as look:
                element = body.element(read, body.address(read), few.i)
                look.yield_(k.ne(element, extreme), few.i)
            few.yield_(*look.out)
        differs, at = few.out
        with k.if_(differs, (k.const(extreme, "i1"), at)) as rest:
            rest.yield_(*self.first_of(bounds))
        best, first = rest.out
        return best, first

    def first_of(self, bounds: Bounds) -> Bounds:
        """The extreme, and where it first is."""
        k, body = self.body.builder, self.body
        if body.nest.extents[body.nest.lanes] <= self.block:
            best, block = self.extreme_of(bounds), bounds
        else:
            best, at = self.block_by_block(bounds)
            block = at, smaller(at + self.block, bounds[1])
        wide = self.kind == "i64"  # as many lanes as for the ranks
        kind, convert = ("i64", "sext") if wide else ("i32", "trunc")
        with k.total(*block, [("min", kind)]) as total, body.scope():
            here = k.eq(self.element(total.i), best)
            place = k.convert(convert, total.i - block[0], kind) + k.lane_id(kind)
            total.yield_(k.select(here, place, identity("min", kind)))
        return best, block[0] + k.convert("trunc" if wide else "sext", total.out[0], "index")

    def element(self, index: Value) -> Value:
        """The rank of an element."""
        self.body.move(self.body.nest.lanes, index)
        self.body.need([self.value.operand])
        return _rank(self.body.builder, self.combine, self.body.value(self.value.operand))

    def extreme_of(self, block: Bounds) -> Value:
        """The extreme of a block; meanwhile, elements are stored."""
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
        with k.loop(*bounds, (start, bounds[0]), self.block) as blocks:
            block = blocks.i, smaller(blocks.i + self.block, bounds[1])
            if self.may_stop:
                needed = k.prim("xor", blocks.carry[0], self.combine == "or")
                with k.if_(needed, blocks.carry) as branch:
                    branch.yield_(*self.compared(block, branch.carry))
                blocks.yield_(*branch.out)
            else:
                blocks.yield_(*self.compared(block, blocks.carry))
        best, at = blocks.out
        return best, at

    def compared(self, block: Bounds, so_far: Sequence[Value]) -> Bounds:
        """The extreme so far and its block, one block further."""
        k, (best, at) = self.body.builder, so_far
        found = self.extreme_of(block)
        better = _exceeds(k, self.combine, found, best)
        return k.select(better, found, best), k.select(better, block[0], at)


def rank_dtype(dtype: np.dtype) -> np.dtype:
    """The dtype of ranks: integers as wide as a float."""
    return np.dtype(f"int{8 * dtype.itemsize}") if dtype.kind == "f" else dtype


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


def _exceeds(builder: Builder, combine: str, a: Value, b: Value) -> Value:
    """True if a rank is more extreme than another."""
    if a.type == "i1":
        high, low = (a, b) if combine == "or" else (b, a)
        return high & builder.prim("xor", low, True)
    return builder.binary({"min": "lt", "max": "gt"}[combine], a, b)


def _in_memory(operand: Operand) -> bool:
    return isinstance(operand, Read) and operand.memory is not None
