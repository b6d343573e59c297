"""A loop statement as a kernel: one cell that runs some turns, from a state to the next.

The state holds what the loop carries from turn to turn, so that a long loop is run in slices. A
kernel that leaves its cell before the end says so by the status that it does not write.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Final

import numpy as np

from runmat_jit.core.frozen import frozen
from runmat_jit.core.types import KERNEL_ELEMENTS
from runmat_jit.kernel.build import Builder
from runmat_jit.kernel.ir import Instruction, Kernel, Value
from runmat_jit.loops.arithmetic import Arithmetic
from runmat_jit.loops.body import BROKEN, DOUBT, Around, Body, Carried, Known, bounds_of, breaks, tag
from runmat_jit.loops.source import Chain, LoopSource
from runmat_jit.loops.values import (
    TYPES,
    UNBOUND,
    Array,
    Axis,
    Item,
    Kind,
    Object,
    Scalar,
    Unbound,
    Unknown,
    literal,
)

LEFT, DONE, MORE = 0, 1, 2
"""Status of a kernel's run: it left and wrote what nobody reads; the loop has ended; it goes on."""
STATUS, TURNS, SLOTS = 0, 1, 2
"""Places in the state: the status, the turns so far, and the first value that is carried."""


@frozen
class ArrayForm:
    """What is known of an array among the operands.

    ``number``: the first operand that is the same array. ``unit``: its last axis has no gaps.
    ``extents``: a number for each extent; equal extents have equal ones.
    """

    dtype: np.dtype
    ndim: int
    unit: bool
    number: int
    extents: tuple[int, ...]


@frozen
class NumberForm:
    """What is known of a number.

    ``high`` bounds an integer's magnitude; ``extent`` is the number of the extent that it equals.
    """

    kind: Kind
    high: int = 0
    narrow: bool = False
    extent: int | None = None


@frozen
class ObjectForm:
    """Any other value; it is the same in all calls."""

    value: object


Form = ArrayForm | NumberForm | ObjectForm
Forms = Mapping[Chain, Form]


@frozen
class Emitted:
    """A kernel of a loop, and what it is given.

    Attributes:
        kernel: Its parameters are named after what they hold; see :func:`emit`.
        carried: The names in the state, and their value types.
        results: The kinds of the names that are read after the loop. Of two kinds, the second one
            is NumPy's, and the state tells which it is under :func:`.body.tag`.
        written: Operands that it stores to.
        ours: Some bits are our own, not NumPy's.
        begins: Turns after which names are of the kinds of ``results``.

    """

    kernel: Kernel
    carried: tuple[tuple[str, str], ...]
    results: tuple[tuple[str, tuple[Kind, ...]], ...]
    written: frozenset[int]
    ours: bool
    begins: int


def emit(source: LoopSource, forms: Forms, *, careful: bool = False) -> Emitted:
    """The kernel of a loop, for operands of these forms (``careful`` as of :class:`Arithmetic`).

    Its parameters: ``state`` and ``floats``, the integers and the floats that are carried; ``limit``,
    the turns that it may run; ``caller``, the address of who is asked whether to go on; ``a3``, ``n3_0``, ``s3_0``: the array that is operand 3, extent and
    stride of its axis 0; ``x4``: the number that is operand 4.

    Raises:
        Unknown: something in it does not run natively.

    """
    for peel in (False, True):
        try:
            first = _emit(source, forms, written=None, careful=careful, peel=peel)
        except Unknown:
            if peel:
                raise
        else:
            break
    return _emit(source, forms, written=first.written, careful=careful, peel=peel)


def _emit(
    source: LoopSource,
    forms: Forms,
    *,
    written: frozenset[int] | None,
    careful: bool,
    peel: bool,
) -> Emitted:
    k, node = Builder(), source.node
    state = k.buffer("state", "i64", written=True)
    floats = k.buffer("floats", "f64", written=True)
    limit, caller = k.scalar("limit", "i64"), k.scalar("caller", "i64")
    with k.grid(1):
        chains = _operands(k, forms, written)
        entry: Known = {name: chains.get(Chain(name), UNBOUND) for name in source.assigned}
        outside = {
            chain: item for chain, item in chains.items() if chain.name not in source.assigned
        }
        told = frozenset(source.results)
        body = Body(k, Arithmetic(k, careful), outside, {}, told=told, caller=caller)
        body.names[DOUBT] = literal(k, False)  # noqa: FBT003
        if not careful:
            body.arithmetic.doubtful = body.doubt
        for name, item in entry.items():
            body.bind(name, item)
        ends: list[Known] = []

        def turn(number: Value) -> None:
            if turns is None:
                assert isinstance(node, ast.While), "all others are counted"
                body.turn_while(node, ends)
            else:
                assert isinstance(node, ast.For), "only such have a target"
                body.assign(node.target, turns.item(number))
                body.run(node.body)
                ends.append(dict(body.names))

        turns = body.turns(node.iter) if isinstance(node, ast.For) else None
        begun = k.load(state, TURNS, 0)
        first: list[Instruction] = []
        if peel:  # the first turn is written by itself: names are of other classes there
            with body.aside() as first:
                inside = Around(k.placeholder("i64").number, isinstance(node, ast.While))
                zero = k.const(0, "i64")
                body.turn(node, dict(body.known_to(node)), (), (), lambda: turn(zero), inside)
                begun_broken = body.scalar(body.names[BROKEN])
                body.leave_loop((None, None))
        after_first = dict(body.names)
        head, inside = body.settle(node, turn)
        carried, kinds = body.carried(node, head)
        slots = _slots(carried, kinds)
        starts = []
        for name in carried:
            where, place = slots[name]
            loaded = k.load(state if where == "state" else floats, place, 0)
            starts.append(_narrowed(k, loaded, kinds[name]))
        last = begun + limit
        if turns is not None:
            last = k.select(turns.count < last, turns.count, last)
        goes_on: Value = begun < last
        if peel:
            block = k.if_(goes_on & k.eq(begun, 0), [begun, k.const(False, "i1"), *starts])  # noqa: FBT003
            with block:
                body.resume(first)
                values = [body.start(after_first.get(name), kinds[name]) for name in carried]
                block.yield_(1, begun_broken.value, *values)
            begun, over, *starts = block.out
            goes_on = (begun < last) & k.prim("xor", over, True)
        else:
            over = k.const(False, "i1")  # noqa: FBT003
        body.secure(inside, None if turns is None else turns.count)
        guard = k.if_(goes_on, [begun, over, *starts])
        with guard:
            if turns is not None and not breaks(node):
                bounds = k.convert("sext", begun, "index"), k.convert("sext", last, "index")
                state_of = Carried(head, carried, kinds, starts)
                values_of, end = body.counted(node, state_of, inside, bounds, turn)
                guard.yield_(last, False, *values_of)
            else:
                block = k.while_([begun, k.const(False, "i1"), *starts])  # noqa: FBT003
                with block:
                    number, _, *values = block.carry
                    end = body.turn(node, head, carried, values, lambda: turn(number), inside)
                    broken = body.arithmetic.truth(body.scalar(end[BROKEN]))
                    following = number + 1
                    again = k.prim("xor", broken, True) & (following < last)
                    block.yield_(
                        again, following, broken, *body.yields(end, carried, kinds, values)
                    )
                guard.yield_(*block.out)
        ran, broken, *results = guard.out
        for name, value in zip(carried, results, strict=True):
            where, place = slots[name]
            if name == DOUBT:
                k.leave_if(value)
            k.store(state if where == "state" else floats, place, _widened(k, value), 0)
        done = broken if turns is None else broken | (turns.count <= ran)
        k.store(state, TURNS, ran, 0)
        k.store(state, STATUS, k.select(done, k.const(DONE, "i64"), MORE), 0)
    results_of = tuple([(name, _kinds(ends[-1], name, kinds)) for name in source.results])
    return Emitted(
        k.finish(),
        tuple([(name, kinds[name]) for name in carried]),
        results_of,
        frozenset(body.written),
        body.arithmetic.ours,
        1 + peel + source.is_while,
    )


def _kinds(end: Known, name: str, kinds: Mapping[str, str]) -> tuple[Kind, ...]:
    """The kinds of a name after the last turn."""
    item = end.get(name, UNBOUND)
    if not isinstance(item, Scalar) or name not in kinds:
        why = item.why if isinstance(item, Unbound) else "it is no number"
        raise Unknown(f"{name} after the loop: {why}")
    found = sorted(item.kinds, key=lambda kind: not kind.python)
    told = len(found) == 1 or (
        [kind.python for kind in found] == [True, False] and tag(name) in kinds
    )
    fits = item.type == kinds[name] or (item.type == "i64" and kinds[name] == "f64")
    if not (told and fits):
        raise Unknown(f"{name} after the loop: it is of several classes")
    return tuple(found)


def _operands(
    k: Builder, forms: Forms, written: frozenset[int] | None
) -> dict[Chain, Item]:
    """What is known of the operands, whose parameters are declared."""
    found: dict[Chain, Item] = {}
    arrays: dict[int, Array] = {}
    for number, (chain, form) in enumerate(forms.items()):
        if isinstance(form, ObjectForm):
            found[chain] = Object(form.value)
        elif isinstance(form, NumberForm):
            value = k.scalar(f"x{number}", TYPES[form.kind.dtype])
            bounds = (-form.high, form.high - (form.high > 1 << 62))
            if form.kind.dtype.kind != "i" or form.high == 0:
                bounds = bounds_of(form.kind.dtype)
            kinds = frozenset((form.kind,))
            top = None if form.extent is None else (form.extent, 0)
            found[chain] = Scalar(kinds, value, *bounds, top, narrow=form.narrow)
        elif form.number in arrays:
            found[chain] = arrays[form.number]
        else:
            may_write = written is None or number in written
            buffer = k.buffer(f"a{number}", KERNEL_ELEMENTS[form.dtype], written=may_write)
            axes = []
            for axis in range(form.ndim):
                extent = k.scalar(f"n{number}_{axis}", "index")
                one = form.unit and axis == form.ndim - 1
                stride = 1 if one else k.scalar(f"s{number}_{axis}", "index")
                axes.append(Axis(form.extents[axis], extent, stride))
            arrays[number] = Array(number, buffer, form.dtype, None, tuple(axes))
            found[chain] = arrays[number]
    return found


def _slots(carried: list[str], kinds: Mapping[str, str]) -> dict[str, tuple[str, int]]:
    """Where in the state each name is carried."""
    return {
        name: ("floats" if kinds[name] in ("f32", "f64") else "state", SLOTS + place)
        for place, name in enumerate(carried)
    }


def _narrowed(k: Builder, value: Value, kind: str) -> Value:
    """A value of the state in the type in which it is carried."""
    if kind == value.type:
        return value
    if kind == "f32":
        return k.convert("fptrunc", value, kind)
    return k.ne(value, 0) if kind == "i1" else k.convert("trunc", value, kind)


def _widened(k: Builder, value: Value) -> Value:
    """A carried value as the state holds it."""
    if value.type in ("f64", "i64"):
        return value
    if value.type == "f32":
        return k.convert("fpext", value, "f64")
    return k.convert("zext" if value.type == "i1" else "sext", value, "i64")


__all__: Final = [
    *("ArrayForm", "Emitted", "Form", "Forms", "NumberForm", "ObjectForm", "emit"),
    *("DONE", "LEFT", "MORE", "SLOTS", "STATUS", "TURNS"),
]
