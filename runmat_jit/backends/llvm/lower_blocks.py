"""Lowering of ``grid``, ``lanes``, ``loop``, ``if`` and ``if_any``.

Loops are written rotated (a test, then a body that ends with the test for the next iteration), as
LLVM's loop passes would have made them. The accumulators of ``note`` are carried along by every
block, so that they live in registers.
"""

from __future__ import annotations

from collections.abc import Callable

from runmat_jit.backends.llvm.emitter import Emitter, Operands, Slots
from runmat_jit.kernel.ir import Block, Instruction, Value
from runmat_jit.kernel.walk import leaves

Body = Callable[[Block], None]
"""Lowers the instructions of a block."""


def loop(
    emitter: Emitter,
    bounds: tuple[str, str, str],
    starts: Slots,
    body: Callable[[str, Operands], Operands],
) -> Operands:
    """Write ``for (i = lo; i < hi; i += step)``; the carried operands after it.

    Args:
        emitter: Where to write.
        bounds: Text of lo, hi and a positive step.
        starts: What is carried into the first iteration.
        body: Writes one iteration, given the index and what is carried; gives what is carried on.

    """
    lo, hi, step = bounds
    carried = starts + _event_slots(emitter)
    before, head, done = emitter.label, emitter.fresh_label(), emitter.fresh_label()
    entered = emitter.put(f"icmp slt i64 {lo}, {hi}")
    emitter.line(f"br i1 {entered}, label %{head}, label %{done}")
    emitter.begin(head)
    index, names = emitter.fresh(), [emitter.fresh() for _ in carried]
    position = len(emitter.lines)  # of the phis, which need the names of the yields
    _set_events(emitter, names[len(starts) :])
    yields = body(index, names[: len(starts)]) + [x for _, x in _event_slots(emitter)]
    following = emitter.put(f"add i64 {index}, {step}")
    more = emitter.put(f"icmp slt i64 {following}, {hi}")
    last = emitter.label
    emitter.line(f"br i1 {more}, label %{head}, label %{done}")
    emitter.lines[position:position] = [
        f"  {name} = phi {kind} [ {start}, %{before} ], [ {after}, %{last} ]"
        for name, (kind, start), after in zip(
            [index, *names], [("i64", lo), *carried], [following, *yields], strict=True
        )
    ]
    emitter.begin(done)
    return _merge(emitter, carried, len(starts), (before, last), yields)


def branch(
    emitter: Emitter, condition: str, starts: Slots, body: Callable[[], Operands]
) -> Operands:
    """Write ``if (condition)``; what the body gives, or the starts where it is not taken."""
    carried = starts + _event_slots(emitter)
    before, then, done = emitter.label, emitter.fresh_label(), emitter.fresh_label()
    emitter.line(f"br i1 {condition}, label %{then}, label %{done}")
    emitter.begin(then)
    yields = body() + [x for _, x in _event_slots(emitter)]
    last = emitter.label
    emitter.line(f"br label %{done}")
    emitter.begin(done)
    return _merge(emitter, carried, len(starts), (before, last), yields)


def _merge(
    emitter: Emitter, carried: Slots, count: int, origins: tuple[str, str], yields: Operands
) -> Operands:
    """Phis of what was carried in and what the body yields; sets the events, gives the others."""
    before, last = origins
    merged = [
        emitter.put(f"phi {kind} [ {start}, %{before} ], [ {after}, %{last} ]")
        for (kind, start), after in zip(carried, yields, strict=True)
    ]
    _set_events(emitter, merged[count:])
    return merged[:count]


def _event_slots(emitter: Emitter) -> Slots:
    return [(emitter.vector(kind), x) for kind, xs in emitter.events.items() for x in xs]


def _set_events(emitter: Emitter, operands: Operands) -> None:
    rest = iter(operands)
    emitter.events = {kind: [next(rest) for _ in xs] for kind, xs in emitter.events.items()}


# -- values of a block ---------------------------------------------------------------------------
def slots(emitter: Emitter, values: tuple[Value, ...], like: tuple[Value, ...]) -> Slots:
    """Types and operands of values, per lane where the values that they become are."""
    return [
        (emitter.type_of(target), operand)
        for value, target in zip(values, like, strict=True)
        for operand in emitter.operands(value, lane=target.lane)
    ]


def bind_all(emitter: Emitter, values: tuple[Value, ...], operands: Operands) -> None:
    """Define values from operands in the order of ``slots``."""
    rest = iter(operands)
    for value in values:
        emitter.bind(value, [next(rest) for _ in range(emitter.unroll if value.lane else 1)])


def _yields(emitter: Emitter, block: Block) -> Operands:
    return [operand for _, operand in slots(emitter, block.yields, block.carried)]


def _carried_yields(emitter: Emitter, block: Block) -> Operands:
    return [operand for _, operand in slots(emitter, block.yields[1:], block.carried)]


# -- instructions --------------------------------------------------------------------------------
def lower_grid(emitter: Emitter, instruction: Instruction, body: Body) -> None:
    """Run the cells ``[%lo, %hi)`` that the caller asks for."""
    block = _block(instruction)

    def cell(index: str, _: Operands) -> Operands:
        _bind_index(emitter, block, index)
        if not leaves(block.body):
            body(block)
            return []
        emitter.end_of_cell, before = emitter.fresh_label(), _event_slots(emitter)
        emitter.left = []
        body(block)
        noted, last = [x for _, x in _event_slots(emitter)], emitter.label
        emitter.line(f"br label %{emitter.end_of_cell}")
        emitter.begin(emitter.end_of_cell)
        found = []
        for (kind, start), after in zip(before, noted, strict=True):
            origins = ", ".join(f"[ {start}, %{label} ]" for label in emitter.left)
            found.append(emitter.put(f"phi {kind} {origins}, [ {after}, %{last} ]"))
        _set_events(emitter, found)
        return []

    emitter.in_cell = True
    if instruction.args[0].literal == 1:  # one cell is no loop
        branch(emitter, emitter.put("icmp slt i64 %lo, %hi"), [], lambda: cell("0", []))
    else:
        loop(emitter, ("%lo", "%hi", "1"), [], cell)


def lower_lanes(emitter: Emitter, instruction: Instruction, body: Body) -> None:
    """All vectors in flight while they fit, then single masked vectors."""
    block = _block(instruction)
    if emitter.in_cell:
        lo, hi = (emitter.uniform(a) for a in instruction.args)
    else:  # the kernel's own parallel axis: the caller says which part of it
        lo, hi = "%lo", "%hi"
    hi = emitter.put(emitter.call("llvm.smax.i64", "i64", [("i64", lo), ("i64", hi)]))
    step = emitter.width * emitter.unroll
    count = emitter.put(f"sub i64 {hi}, {lo}")
    middle = emitter.put(f"add i64 {lo}, {emitter.put(f'and i64 {count}, {-step}')}")

    def full(index: str, _: Operands) -> Operands:
        _bind_index(emitter, block, index)
        body(block)
        return []

    def narrow(index: str, _: Operands) -> Operands:
        emitter.live = [emitter.mask_below(index, hi)]
        full(index, [])
        emitter.live = None
        return []

    loop(emitter, (lo, middle, str(step)), [], full)
    vectors, emitter.unroll = emitter.unroll, 1
    loop(emitter, (middle, hi, str(emitter.width)), [], narrow)
    emitter.unroll = vectors


def lower_loop(emitter: Emitter, instruction: Instruction, body: Body) -> None:
    """A sequential loop."""
    block = _block(instruction)
    lo, hi, step = (emitter.uniform(a) for a in instruction.args[:3])
    starts = slots(emitter, instruction.args[3:], block.carried)

    def iteration(index: str, carried: Operands) -> Operands:
        _bind_index(emitter, block, index)
        bind_all(emitter, block.carried, carried)
        body(block)
        return _yields(emitter, block)

    bind_all(emitter, instruction.results, loop(emitter, (lo, hi, step), starts, iteration))


def lower_while(emitter: Emitter, instruction: Instruction, body: Body) -> None:
    """A sequential loop that tests at its end."""
    block = _block(instruction)
    starts = slots(emitter, instruction.args, block.carried)
    carried = starts + _event_slots(emitter)
    before, head, done = emitter.label, emitter.fresh_label(), emitter.fresh_label()
    emitter.line(f"br label %{head}")
    emitter.begin(head)
    names = [emitter.fresh() for _ in carried]
    position = len(emitter.lines)  # as in loop()
    _set_events(emitter, names[len(starts) :])
    bind_all(emitter, block.carried, names[: len(starts)])
    body(block)
    again, yields = emitter.uniform(block.yields[0]), _carried_yields(emitter, block)
    after = yields + [x for _, x in _event_slots(emitter)]
    last = emitter.label
    emitter.line(f"br i1 {again}, label %{head}, label %{done}")
    emitter.lines[position:position] = [
        f"  {name} = phi {kind} [ {start}, %{before} ], [ {then}, %{last} ]"
        for name, (kind, start), then in zip(names, carried, after, strict=True)
    ]
    emitter.begin(done)
    bind_all(emitter, instruction.results, yields)


def lower_leave(emitter: Emitter, instruction: Instruction) -> None:
    """Go to the end of the cell, past everything that it would still do."""
    emitter.left.append(emitter.label)
    condition, going_on = emitter.uniform(instruction.args[0]), emitter.fresh_label()
    emitter.line(f"br i1 {condition}, label %{emitter.end_of_cell}, label %{going_on}")
    emitter.begin(going_on)


def lower_if(emitter: Emitter, instruction: Instruction, body: Body) -> None:
    """A uniform branch."""
    block = _block(instruction)
    starts = slots(emitter, instruction.args[1:], block.carried)

    def taken() -> Operands:
        bind_all(emitter, block.carried, [x for _, x in starts])
        body(block)
        return _yields(emitter, block)

    condition = emitter.uniform(instruction.args[0])
    bind_all(emitter, instruction.results, branch(emitter, condition, starts, taken))


def lower_if_any(emitter: Emitter, instruction: Instruction, body: Body) -> None:
    """A rare path for the live lanes whose mask is set; the others keep what they had."""
    block, outer = _block(instruction), emitter.live
    mask = emitter.vector("i1")
    masks = emitter.lanes(instruction.args[0])
    if outer:
        masks = [emitter.put(f"and {mask} {a}, {b}") for a, b in zip(outer, masks, strict=True)]
    starts = slots(emitter, instruction.args[1:], block.carried)

    def taken() -> Operands:
        bind_all(emitter, block.carried, [x for _, x in starts])
        emitter.live = masks
        body(block)
        emitter.live = outer
        chosen = zip(starts, _yields(emitter, block), masks * len(block.carried), strict=True)
        return [
            emitter.put(f"select {mask} {live}, {kind} {new}, {kind} {old}")
            for (kind, old), new, live in chosen
        ]

    entered = emitter.any_of(masks)
    bind_all(emitter, instruction.results, branch(emitter, entered, starts, taken))


def _block(instruction: Instruction) -> Block:
    assert instruction.block is not None, f"{instruction.op} has a body"
    return instruction.block


def _bind_index(emitter: Emitter, block: Block, index: str) -> None:
    assert block.index is not None, "this block counts"
    emitter.bind(block.index, [index])
