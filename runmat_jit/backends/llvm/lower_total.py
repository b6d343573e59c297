"""Lowering of ``total``: the one shape of a reduction, whatever the vectors of the machine are.

The logical lanes are cut into groups of vectors in flight. Within a block a group's accumulators
are registers; the sums over blocks live in memory that stays in the first-level cache.
"""

from __future__ import annotations

from functools import partial

from runmat_jit.backends.llvm.emitter import (
    LLVM_TYPES,
    Emitter,
    Operands,
    Slots,
    literal,
    splat_literal,
)
from runmat_jit.backends.llvm.lower_blocks import Body, branch, loop
from runmat_jit.core.frozen import frozen
from runmat_jit.kernel.ir import Block, Instruction, Literal
from runmat_jit.kernel.primitives import FLOATS, SIZES, TOTAL_STEPS, identity
from runmat_jit.kernel.walk import every_instruction, lanes_of_total

_SMALL_BODY = 16
"""Instructions of a body that is written twice more, for short ranges, which need no memory."""


@frozen
class _Accumulator:
    """One combined value: its operation, type, and where its sums over blocks are kept."""

    op: str
    kind: str
    sums: str
    partial: str

    @property
    def element(self) -> str:
        return "bool" if self.kind == "i1" else self.kind

    @property
    def start(self) -> Literal:
        return identity(self.op, self.kind)


@frozen
class _Total:
    """One ``total`` being lowered: logical lanes, lanes of a group, and its accumulators."""

    block: Block
    body: Body
    logical: int
    group: int
    accumulators: tuple[_Accumulator, ...]


def lower_total(emitter: Emitter, instruction: Instruction, body: Body) -> None:
    """Reduce ``[lo, hi)`` in blocks of 16 steps, then over blocks, then over lanes.

    A short range is one step whose results are folded at once: the same operations in the same
    order, without those that change nothing.
    """
    block, kinds = instruction.block, [r.type for r in instruction.results]
    combines = instruction.attrs["combines"]
    assert block is not None, "a total has a body"
    assert isinstance(combines, tuple), "a total names how it combines"
    logical, vectors = lanes_of_total(instruction), emitter.unroll
    assert logical == 1 or logical % emitter.width == 0, f"{emitter.width} lanes and {logical}"
    emitter.unroll = max(1, min(vectors, logical // emitter.width))
    total = _Total(
        block,
        body,
        logical,
        emitter.unroll * emitter.width,
        tuple(
            _accumulator(emitter, op, kind, max(logical, emitter.width))
            for op, kind in zip(combines, kinds, strict=True)
        ),
    )
    lo, hi = (emitter.uniform(a) for a in instruction.args)
    reduced = _in_one_lane if logical == 1 else _reduced
    found = reduced(emitter, total, lo, hi)
    emitter.unroll = vectors
    for value, x in zip(instruction.results, found, strict=True):
        emitter.bind(value, [x])


def _reduced(emitter: Emitter, total: _Total, lo: str, hi: str) -> Operands:
    """The combined values, one way for each length."""
    length = emitter.put(f"sub i64 {hi}, {lo}")
    is_left = emitter.put(f"icmp slt i64 {lo}, {hi}")
    found = [literal(a.start, a.kind) for a in total.accumulators]
    is_small = sum(1 for _ in every_instruction(total.block.body)) <= _SMALL_BODY
    for count in sorted({1, emitter.unroll}) if is_small else ():
        fits = emitter.put(f"icmp sle i64 {length}, {count * emitter.width}")
        taken = emitter.put(f"and i1 {is_left}, {fits}")
        in_vectors = partial(_in_vectors, emitter, total, (lo, length), count)
        found = branch(emitter, taken, _slots(total, found), in_vectors)
        is_left = emitter.put(f"xor i1 {fits}, true")
    in_blocks = partial(_in_blocks, emitter, total, (lo, hi))
    return branch(emitter, is_left, _slots(total, found), in_blocks)


def _in_one_lane(emitter: Emitter, total: _Total, lo: str, hi: str) -> Operands:
    """The order of columns: the first lane of vectors takes all iterations, one after the other."""
    starts: Slots = [
        (emitter.vector(a.kind), splat_literal(a.start, a.kind)) for a in total.accumulators
    ]

    def step(index: str, carried: Operands) -> Operands:
        emitter.live = [emitter.mask_below("0", "1")]
        found = _combined(emitter, total, index, carried)
        emitter.live = None
        return found

    def one_block(base: str, sums: Operands) -> Operands:
        args = [("i64", emitter.put(f"add i64 {base}, {TOTAL_STEPS}")), ("i64", hi)]
        end = emitter.put(emitter.call("llvm.smin.i64", "i64", args))
        found = loop(emitter, (base, end, "1"), starts, step)
        rows = zip(total.accumulators, sums, found, strict=True)
        return [_combine(emitter, a, emitter.width, x, y) for a, x, y in rows]

    sums = loop(emitter, (lo, hi, str(TOTAL_STEPS)), starts, one_block)
    rows = zip(total.accumulators, sums, strict=True)
    return [_part(emitter, emitter.vector(a.kind), x, 0, 1) for a, x in rows]


def _slots(total: _Total, operands: Operands) -> Slots:
    """Results so far, one a combined value."""
    return [(LLVM_TYPES[a.kind], x) for a, x in zip(total.accumulators, operands, strict=True)]


def _in_vectors(emitter: Emitter, total: _Total, span: tuple[str, str], count: int) -> Operands:
    """A range of a first index and a length that fits into so many vectors, side by side."""
    (lo, length), vectors = span, emitter.unroll
    emitter.unroll, masks = count, [emitter.mask_below("0", length)]
    for first in range(emitter.width, count * emitter.width, emitter.width):
        args = [("i64", str(first)), ("i64", length)]
        end = emitter.put(emitter.call("llvm.smax.i64", "i64", args))
        masks.append(emitter.mask_below(str(first), end))
    emitter.live = masks
    terms = _terms(emitter, total, lo)
    emitter.live, emitter.unroll = None, vectors
    found = []
    for place, accumulator in enumerate(total.accumulators):
        kind = emitter.vector(accumulator.kind)
        start = splat_literal(accumulator.start, accumulator.kind)
        own = zip(masks, terms[place * count : (place + 1) * count], strict=True)
        chosen = [
            emitter.put(f"select {emitter.vector('i1')} {mask}, {kind} {x}, {kind} {start}")
            for mask, x in own
        ]
        found.append(_fold(emitter, accumulator, chosen))
    return found


def _in_blocks(emitter: Emitter, total: _Total, bounds: tuple[str, str]) -> Operands:
    """A range of any length, in blocks; sums over them lie in memory."""
    (lo, hi), logical = bounds, total.logical
    for accumulator in total.accumulators:
        start = splat_literal(accumulator.start, accumulator.kind)
        for first in range(0, logical, emitter.width):
            _write(emitter, accumulator, accumulator.sums, str(first), start)

    def one_block(base: str, _: Operands) -> Operands:
        end = emitter.put(f"add i64 {base}, {TOTAL_STEPS * logical}")
        args = [("i64", end), ("i64", hi)]
        _lower_block(emitter, total, base, emitter.put(emitter.call("llvm.smin.i64", "i64", args)))
        return []

    loop(emitter, (lo, hi, str(TOTAL_STEPS * logical)), [], one_block)
    firsts = [str(first) for first in range(0, logical, emitter.width)]
    return [
        _fold(emitter, each, [_read(emitter, each, each.sums, first) for first in firsts])
        for each in total.accumulators
    ]


def _accumulator(emitter: Emitter, op: str, kind: str, logical: int) -> _Accumulator:
    element = "bool" if kind == "i1" else kind
    sums, kept = (emitter.allocate(element, logical) for _ in range(2))
    return _Accumulator(op, kind, sums, kept)


# -- one block -----------------------------------------------------------------------------------
def _lower_block(emitter: Emitter, total: _Total, base: str, stop: str) -> None:
    count = emitter.put(f"sub i64 {stop}, {base}")
    whole = emitter.put(f"add i64 {base}, {emitter.put(f'and i64 {count}, {-total.logical}')}")
    if total.group == total.logical:
        _lower_group(emitter, total, (base, whole, stop), "0")
        return

    def one_group(offset: str, _: Operands) -> Operands:
        _lower_group(emitter, total, (base, whole, stop), offset)
        return []

    loop(emitter, ("0", str(total.logical), str(total.group)), [], one_group)


def _lower_group(
    emitter: Emitter, total: _Total, bounds: tuple[str, str, str], offset: str
) -> None:
    """The steps of a group of lanes, which begins ``offset`` lanes into each step."""
    base, whole, stop = bounds

    def step(index: str, carried: Operands) -> Operands:
        return _combined(emitter, total, emitter.put(f"add i64 {index}, {offset}"), carried)

    starts: Slots = [
        (emitter.vector(a.kind), splat_literal(a.start, a.kind))
        for a in total.accumulators
        for _ in range(emitter.unroll)
    ]
    after = loop(emitter, (base, whole, str(total.logical)), starts, step)
    rest = emitter.put(f"add i64 {whole}, {offset}")
    starts = [(kind, x) for (kind, _), x in zip(starts, after, strict=True)]
    after = branch(
        emitter,
        emitter.put(f"icmp slt i64 {rest}, {stop}"),
        starts,
        lambda: _last_step(emitter, total, (rest, stop), after),
    )
    for position, accumulator, x in _placed(emitter, total, after):
        at = emitter.put(f"add i64 {offset}, {position}")
        before = _read(emitter, accumulator, accumulator.sums, at)
        added = _combine(emitter, accumulator, emitter.width, before, x)
        _write(emitter, accumulator, accumulator.sums, at, added)


def _combined(emitter: Emitter, total: _Total, index: str, carried: Operands) -> Operands:
    """One iteration of the body, combined into what is carried."""
    operations = [a for a in total.accumulators for _ in range(emitter.unroll)]
    yields = _terms(emitter, total, index)
    return [
        _combine(emitter, a, emitter.width, x, y)
        for a, x, y in zip(operations, carried, yields, strict=True)
    ]


def _terms(emitter: Emitter, total: _Total, index: str) -> Operands:
    """What one iteration of the body yields, vector by vector."""
    assert total.block.index is not None, "a total counts"
    emitter.bind(total.block.index, [index])
    total.body(total.block)
    return [x for value in total.block.yields for x in emitter.lanes(value)]


def _last_step(
    emitter: Emitter, total: _Total, bounds: tuple[str, str], carried: Operands
) -> Operands:
    """A step that not all lanes take: single masked vectors, accumulators through memory."""
    rest, stop = bounds
    for position, accumulator, x in _placed(emitter, total, carried):
        _write(emitter, accumulator, accumulator.partial, str(position), x)
    vectors, emitter.unroll = emitter.unroll, 1

    def narrow(index: str, _: Operands) -> Operands:
        mask = emitter.mask_below(index, stop)
        emitter.live = [mask]
        at = emitter.put(f"sub i64 {index}, {rest}")
        before = [_read(emitter, a, a.partial, at) for a in total.accumulators]
        after = _combined(emitter, total, index, before)
        for a, old, new in zip(total.accumulators, before, after, strict=True):
            kind = emitter.vector(a.kind)
            kept = f"select {emitter.vector('i1')} {mask}, {kind} {new}, {kind} {old}"
            _write(emitter, a, a.partial, at, emitter.put(kept))
        emitter.live = None
        return []

    end = emitter.put(f"add i64 {rest}, {total.group}")
    args = [("i64", end), ("i64", stop)]
    end = emitter.put(emitter.call("llvm.smin.i64", "i64", args))
    loop(emitter, (rest, end, str(emitter.width)), [], narrow)
    emitter.unroll = vectors
    return [
        _read(emitter, accumulator, accumulator.partial, str(position))
        for position, accumulator, _ in _placed(emitter, total, carried)
    ]


def _placed(
    emitter: Emitter, total: _Total, operands: Operands
) -> list[tuple[int, _Accumulator, str]]:
    """First lane within the group, accumulator and operand of each vector."""
    places = [(u * emitter.width, a) for a in total.accumulators for u in range(emitter.unroll)]
    return [(at, a, x) for (at, a), x in zip(places, operands, strict=True)]


# -- accumulators in memory ----------------------------------------------------------------------
def _address(emitter: Emitter, accumulator: _Accumulator, base: str, lane: str) -> str:
    return emitter.put(f"getelementptr {LLVM_TYPES[accumulator.element]}, ptr {base}, i64 {lane}")


def _read(emitter: Emitter, accumulator: _Accumulator, base: str, lane: str) -> str:
    vector, at = emitter.vector(accumulator.element), _address(emitter, accumulator, base, lane)
    raw = emitter.put(f"load {vector}, ptr {at}, align {_alignment(emitter, accumulator)}")
    if accumulator.kind != "i1":
        return raw
    return emitter.put(f"icmp ne {vector} {raw}, zeroinitializer")


def _write(emitter: Emitter, accumulator: _Accumulator, base: str, lane: str, x: str) -> None:
    vector, at = emitter.vector(accumulator.element), _address(emitter, accumulator, base, lane)
    if accumulator.kind == "i1":
        x = emitter.put(f"zext {emitter.vector('i1')} {x} to {vector}")
    emitter.line(f"store {vector} {x}, ptr {at}, align {_alignment(emitter, accumulator)}")


def _alignment(emitter: Emitter, accumulator: _Accumulator) -> int:
    size = 8 if accumulator.element == "index" else SIZES[accumulator.element]
    return min(64, emitter.width * size)


# -- combining -----------------------------------------------------------------------------------
def _combine(emitter: Emitter, accumulator: _Accumulator, lanes: int, a: str, b: str) -> str:
    """Text of ``a op b`` on vectors of ``lanes`` lanes (1: scalars); ``a`` comes first."""
    op, kind = accumulator.op, accumulator.kind
    scalar, is_float = LLVM_TYPES[kind], kind in FLOATS
    vector, mask = (scalar, "i1") if lanes == 1 else (f"<{lanes} x {scalar}>", f"<{lanes} x i1>")
    if op not in ("min", "max"):
        name = f"f{op}" if is_float else op
        return emitter.put(f"{name} {vector} {a}, {b}")
    compare = {"min": "lt", "max": "gt"}[op]
    if not is_float:
        chosen = emitter.put(f"icmp s{compare} {vector} {a}, {b}")
    else:  # NaN passes, from either side
        ordered = emitter.put(f"fcmp o{compare} {vector} {a}, {b}")
        nan = emitter.put(f"fcmp uno {vector} {a}, {a}")
        chosen = emitter.put(f"or {mask} {ordered}, {nan}")
    return emitter.put(f"select {mask} {chosen}, {vector} {a}, {vector} {b}")


def _fold(emitter: Emitter, accumulator: _Accumulator, vectors: Operands) -> str:
    """Halve the logical lanes until one is left; those not given hold the identity."""
    width = emitter.width
    while len(vectors) > 1:
        half = len(vectors) // 2
        pairs = zip(vectors[:half], vectors[half:], strict=True)
        vectors = [_combine(emitter, accumulator, width, a, b) for a, b in pairs]
    x = vectors[0]
    while width > 1:
        vector, width = f"<{width} x {LLVM_TYPES[accumulator.kind]}>", width // 2
        low, high = (_part(emitter, vector, x, first, width) for first in (0, width))
        x = _combine(emitter, accumulator, width, low, high)
    return x


def _part(emitter: Emitter, vector: str, x: str, first: int, lanes: int) -> str:
    if lanes == 1:
        return emitter.put(f"extractelement {vector} {x}, i64 {first}")
    chosen = ", ".join(f"i32 {first + j}" for j in range(lanes))
    return emitter.put(f"shufflevector {vector} {x}, {vector} poison, <{lanes} x i32> <{chosen}>")
