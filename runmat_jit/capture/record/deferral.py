"""Decides whether a call is covered by a row, and defers it if so.

Nothing is computed here: the result gets the dtype, shape and layout that the row's rules say. In
immediate mode (NumPy must report events where the program is), and where only NumPy knows the
layout, NumPy runs the operation first; rows whose values are our own are then computed by their
own kernel all the same, so that a value never depends on how it was asked for.
"""

from __future__ import annotations

import operator
from collections.abc import Hashable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from runmat_jit.capture import operators
from runmat_jit.capture.record import elements, escape_barrier, views
from runmat_jit.capture.record.concrete import MISS
from runmat_jit.capture.record.cover import Plan, cover, finish, scalar_operand
from runmat_jit.capture.record.traced import Traced
from runmat_jit.capture.shapes import symbolic_geometry
from runmat_jit.capture.tape.entries import Compute, Op, Ref
from runmat_jit.capture.tape.geometry import (
    copy_strides,
    is_contiguous,
    result_strides,
    ufunc_strides,
)
from runmat_jit.capture.tape.lines import Line, call_at
from runmat_jit.capture.tape.pending import KnownCall, Operand, Pattern, Pending, ScalarOperand
from runmat_jit.capture.tape.storage import Geometry, Storage, has_room, is_freed
from runmat_jit.capture.tape.values import ARRAY, GENERIC, Unencodable
from runmat_jit.core.extent import plain
from runmat_jit.core.types import c_strides
from runmat_jit.ops.promotion import fits
from runmat_jit.ops.spec import Bound, layout_of
from runmat_jit.ops.spec import Op as Row

if TYPE_CHECKING:
    from runmat_jit.capture.record.tracer import Tracer


EncodedCall = tuple[Any, tuple[Any, ...], Mapping[str, Any]]
"""A function and its arguments, as a tape mentions them."""


def attempt(
    tracer: Tracer, fn: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> tuple[bool, Any]:
    """Defer the call if a row covers it: whether it was, and the traced result."""
    if tracer.balance.native:
        args = elements.lifted(tracer, fn, args)
    key = None if tracer.immediate else tracer.patterns.key_of(fn, args, kwargs)
    known = None if key is None else tracer.patterns.calls.get(key)
    if known is not None:
        if known.is_single and (done := elements.compute(tracer, fn, args, known)) is not None:
            return True, done
        if (traced := repeat(tracer, known, args)) is not None:
            if known.is_single:
                elements.remember(tracer, traced, fn, args)
            return True, traced
    plan = cover(tracer, fn, args, kwargs)
    if plan is None or (plan.out is None and not has_room(plan.result.type)):
        return MISS
    try:
        encoded = tuple(map(tracer.encode, args))
        named = {name: tracer.encode(value) for name, value in kwargs.items()}
    except Unencodable:
        return MISS
    pattern, known = pattern_of(tracer, fn, plan), None
    if key is not None and (places := places_of(plan, args)) is not None:
        known = known_call(pattern, plan, places, (fn, encoded, named))
        tracer.patterns.keep(key, known)
        if known.is_single and (done := elements.compute(tracer, fn, args, known)) is not None:
            return True, done
    traced = record(tracer, pattern, plan.operands, plan.out, (fn, encoded, named))
    if known is not None and known.is_single:
        elements.remember(tracer, traced, fn, args)
    if tracer.immediate:
        tracer.flush()
    return True, traced


def spelled(tracer: Tracer, fn: np.ufunc, args: tuple[Any, ...]) -> Any:
    """The operator, where a real NumPy scalar before a traced value has made a ufunc of it."""
    real = any(type(arg) is not Traced and isinstance(arg, np.generic) for arg in args)
    return operators.OPERATOR_OF.get(fn, fn) if real and tracer.lines.at_operator() else fn


def augmented(tracer: Tracer, fn: Any, lhs: np.generic, rhs: Any) -> Any:
    """An augmented assignment to a real NumPy scalar, which may warn: at the user's line."""
    if type(rhs) is Traced:
        return tracer.call(operators.OUT_OF_PLACE[fn], (lhs, rhs), {})
    return call_at(tracer.here(), fn, (lhs, rhs), {})


def repeat(tracer: Tracer, known: KnownCall, args: tuple[Any, ...]) -> Traced | None:
    """Defer a known call; None where a number does not fit, or belongs to other recordings."""
    operands: list[Any] = []
    slots: list[int] = []
    for arg in args:
        if type(arg) is Traced:
            if arg._rm_tracer is not tracer:
                return None
            operands.append(arg._rm_geometry or scalar_operand(arg))
            slots.append(arg._rm_slot)
        else:
            operands.append(arg)
    if known.operands is not None:
        operands = [operands[number] for number in known.operands]
    for place in known.weak:
        if not fits(operands[place].value, known.pattern.meaning.operand_dtypes[place]):
            return None
    out = None if known.into is None else args[known.into]
    if out is not None and not tracer.writable(out):
        return None
    steps, line = tracer.steps, tracer.lines.here(3)  # attempt(), Tracer.call() and its callers
    traced = defer(tracer, known.pattern, tuple(operands), out, line)
    if steps.keeps_entries:
        steps.note_operation((known, slots, None if out is not None else traced._rm_slot, line))
    else:
        steps.count += 1
    if tracer.wary or tracer.loose:
        escape_barrier.settle(tracer, operands, writes=out is not None)
    return traced


def apply_row(
    tracer: Tracer, row: Row, operands: tuple[Any, ...], params: Mapping[str, Hashable]
) -> Traced:
    """Defer a row that no callable of NumPy's spells, such as a draw of random numbers.

    Its rule covers the operands, which are traced values or numbers.
    """
    plan = finish(tracer, row, Bound(operands, dict(params)), None)
    assert plan is not None, f"the rule of {row.name} covers its operands"
    pattern = pattern_of(tracer, row.numpy, plan)
    encoded = tuple(map(tracer.encode, operands))
    named = {name: tracer.encode(value) for name, value in params.items()}
    return record(tracer, pattern, plan.operands, None, (row.numpy, encoded, named))


def pattern_of(tracer: Tracer, fn: Any, plan: Plan) -> Pattern:
    """How the call is deferred."""
    row, result = plan.row, plan.result
    if row.events and not result.type.shape and is_scalar_arithmetic(fn, plan):
        row = operators.scalar_row(row.name, fn)
    strides = layout(tracer, plan)
    if strides is None or tracer.immediate:
        strides = ask_numpy(tracer, fn, plan)
        for extent in result.type.shape:
            operator.index(extent)  # for other shapes nobody has asked
    kind = result.type
    meaning = Compute(row, result.operand_dtypes, plan.bound.params, kind.dtype, kind.shape)
    form = tracer.patterns.form(kind.dtype, kind.shape, strides, result_kind(plan))
    if form.is_freed is None:
        form.is_freed = is_freed(kind.dtype, kind.shape)
    return tracer.patterns.pattern(meaning, form)


def places_of(plan: Plan, args: tuple[Any, ...]) -> tuple[int, ...] | None:
    """Which arguments the operands are; None where another call with the same key may differ."""
    numbers: list[int] = []
    for place, operand in enumerate(plan.bound.operands):
        found = [number for number, arg in enumerate(args) if arg is operand]
        numbers += [place] if place in found else found[:1]
    if plan.out is not None and plan.out is not args[0]:
        return None  # a view that was made for this call
    looked_at = any(type(arg) is Traced and n not in numbers for n, arg in enumerate(args))
    return None if looked_at or len(numbers) != len(plan.bound.operands) else tuple(numbers)


def known_call(
    pattern: Pattern, plan: Plan, places: tuple[int, ...], encoded: EncodedCall
) -> KnownCall:
    """How all calls with the key of this one are deferred."""
    weak = tuple(
        place
        for place, operand in enumerate(plan.operands)
        if isinstance(operand, ScalarOperand) and type(operand.value) in (bool, int, float)
    )
    fn, args, kwargs = encoded
    operands = None if places == tuple(range(len(args))) else places
    into = None if plan.out is None else 0
    row, single = plan.row, pattern.form.kind == GENERIC and not plan.bound.params
    single = single and row.kind == "elementwise" and row.exactness == "bit-defined"
    return KnownCall(pattern, operands, into, weak, fn, args, kwargs, is_single=single)


def layout(tracer: Tracer, plan: Plan) -> tuple[int, ...] | None:
    """Byte strides of a new result; None where only NumPy's own run tells."""
    kind = plan.result.type
    arrays = plan.arrays()
    if any(s == 0 and e > 1 for at in arrays for s, e in zip(at.strides, at.shape, strict=True)):
        return None
    size = kind.dtype.itemsize
    if (
        kind.ndim <= 1
        or layout_of(plan.row, plan.bound.params) == "C"
        or all(map(is_c_contiguous, arrays))
    ):
        return tuple([stride * size for stride in c_strides(kind.shape)])
    if plan.row.kind != "elementwise":
        return None
    pairs = [
        (views.shape_array(tracer, operand), dtype)
        for operand, dtype in zip(plan.bound.operands, plan.result.operand_dtypes, strict=True)
        if type(operand) is Traced and operand._rm_geometry is not None
    ]
    shapes, dtypes = [array for array, _ in pairs], [dtype for _, dtype in pairs]
    shape = tuple(map(plain, kind.shape))
    if isinstance(plan.row.numpy, np.ufunc) or (plan.row.ufunc and plan.row.arity > 1):
        strides = ufunc_strides(shapes, dtypes, shape, size)
    elif len(shapes) == 1:
        strides = copy_strides(shapes[0], size)
    else:
        strides = result_strides(shapes, shape, size)
    return symbolic_geometry.result_strides(strides, kind, arrays)


def is_c_contiguous(at: Geometry) -> bool:
    """Whether an array lies in memory without gaps, its last axis innermost."""
    return is_contiguous(at.shape, tuple([s // at.dtype.itemsize for s in at.strides]))


def is_scalar_arithmetic(fn: Any, plan: Plan) -> bool:
    """Whether NumPy computes with its scalars' own arithmetic, which names itself in warnings.

    It does where an operator's operands need no other dtype than a scalar among them has.
    """
    operands = plan.bound.operands
    if not operators.is_operator(fn) or plan.bound.params or plan.out is not None:
        return False
    if any((type(x) is Traced and x._rm_kind == ARRAY) or type(x) is np.ndarray for x in operands):
        return False
    dtypes = [x.dtype for x in operands if issubclass(x.__class__, np.generic)]
    if not dtypes or dtypes[0].kind == "b":
        return False
    if any(dtype != dtypes[0] for dtype in dtypes):
        return plan.result.operand_dtypes[0] in dtypes
    floats = any(x.__class__ is float for x in operands)
    return dtypes[0].kind == "f" or not floats


def ask_numpy(tracer: Tracer, fn: Any, plan: Plan) -> tuple[int, ...]:
    """Run NumPy's operation on the real values, for its layout, or its events and exceptions."""
    operands = tuple([tracer.raw(operand) for operand in plan.bound.operands])
    if tracer.immediate:
        own = operators.is_operator(fn) and not plan.bound.params
        operation = fn if own else plan.row.numpy
        made = call_at(tracer.here(), operation, operands, plan.bound.params)
    else:
        with np.errstate(all="ignore"):  # kernels will tell
            made = plan.row.numpy(*operands, **plan.bound.params)
    return tuple(made.strides) if isinstance(made, np.ndarray) else ()


def record(
    tracer: Tracer,
    pattern: Pattern,
    operands: tuple[Operand, ...],
    out: Traced | None,
    encoded: EncodedCall,
) -> Traced:
    """Note the call and add the pending operation: the traced result."""
    fn, args, kwargs = encoded
    line = tracer.lines.here(1)
    traced = defer(tracer, pattern, operands, out, line)
    result = Ref(traced._rm_slot) if out is None else None
    source = None if line is None else line.source
    if tracer.steps.keeps_entries:
        tracer.steps.note(Op(fn, args, kwargs, result, source, pattern.meaning))
    else:
        tracer.steps.count += 1
    if tracer.wary or tracer.loose:
        escape_barrier.settle(tracer, operands, writes=out is not None)
    return traced


def defer(
    tracer: Tracer,
    pattern: Pattern,
    operands: tuple[Operand, ...],
    out: Traced | None,
    line: Line | None,
) -> Traced:
    """Add a pending operation: the traced result."""
    form = pattern.form
    if out is not None:
        traced, target = out, out._rm_geometry
        assert target is not None, "takes() saw an array"
        tracer.writes_pending = tracer.writes_pending or target.storage.memory is not None
    else:
        slot = tracer.count
        tracer.count = slot + 1
        dtype, shape, strides, kind = form.dtype, form.shape, form.strides, form.kind
        storage = Storage(slot, dtype, shape, strides, None, kind is GENERIC)
        target = Geometry(storage, 0, dtype, shape, strides)
        traced = Traced(tracer, slot, kind, target, form)
        storage.owned_by(traced, tracer.dead, is_freed=form.is_freed is True)
    tracer.defer(Pending(pattern, operands, target, line, tracer.steps.count))
    return traced


def result_kind(plan: Plan) -> str:
    """Array or NumPy scalar: 0-d results are mostly scalars."""
    if plan.result.type.shape:
        return ARRAY
    if plan.row.zero_d == "array":
        return ARRAY
    if plan.row.zero_d == "same":
        first = plan.bound.operands[0]
        is_array = type(first) is Traced and first._rm_kind == ARRAY
        return ARRAY if is_array else GENERIC
    return GENERIC
