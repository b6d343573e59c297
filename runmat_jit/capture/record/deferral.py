"""Decides whether a call is covered by a row, and defers it if so.

Nothing is computed here: the result gets the dtype, shape and layout that the row's rules say.
Where only NumPy knows the layout, it runs the operation first; the values are the kernel's all the
same. While NumPy is to report events where the program is, nothing comes here.
"""

from __future__ import annotations

import operator
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from runmat_jit.capture import operators
from runmat_jit.capture.record import elements, escape_barrier, views
from runmat_jit.capture.record.concrete import MISS
from runmat_jit.capture.record.cover import Covered, cover, finish, scalar_operand
from runmat_jit.capture.record.host_nodes import cover_host_call, cover_literal
from runmat_jit.capture.record.recording import Recording
from runmat_jit.capture.record.traced import Traced
from runmat_jit.capture.shapes import symbolic_geometry
from runmat_jit.capture.tape.entries import (
    Compute,
    CoveredCall,
    Operand,
    Operation,
    Pattern,
    ScalarOperand,
)
from runmat_jit.capture.tape.geometry import (
    copy_strides,
    is_contiguous,
    result_strides,
    ufunc_strides,
)
from runmat_jit.capture.tape.lines import Line
from runmat_jit.capture.tape.storage import Geometry, Storage, has_room, is_freed
from runmat_jit.capture.tape.values import ARRAY, GENERIC, Unencodable
from runmat_jit.core.extent import plain
from runmat_jit.core.types import byte_strides
from runmat_jit.ops.promotion import fits
from runmat_jit.ops.spec import Bound, layout_of
from runmat_jit.ops.spec import Op as Row

_PYTHONS: Final = (bool, int, float, complex)
EncodedCall = tuple[Any, tuple[Any, ...], Mapping[str, Any]]
"""A function and its arguments, as a tape mentions them."""


def attempt(
    recording: Recording, fn: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> tuple[bool, Any]:
    """Defer the call if a row covers it: whether it was, and the traced result."""
    key = recording.inline_cache.key_of(fn, args, kwargs)
    known = None if key is None else recording.inline_cache.calls.get(key)
    if known is not None and (again := repeat(recording, known, fn, args)) is not None:
        return True, again
    return attempt_anew(recording, key, fn, args, kwargs)


def attempt_anew(
    recording: Recording, key: Any, fn: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> tuple[bool, Any]:
    """The same for a call that the inline cache does not know; ``key``: where it is to know it."""
    plan = cover(recording, fn, args, kwargs)
    if plan is None:
        plan = cover_host_call(recording, fn, args, kwargs)
    if plan is None or (plan.out is None and not has_room(plan.result.type)):
        return MISS
    try:
        encoded = tuple(map(recording.encode, args))
        named = {name: recording.encode(value) for name, value in kwargs.items()}
    except Unencodable:
        return MISS
    pattern = pattern_of(recording, fn, plan)
    if plan.of_storages:
        key = None
    if key is not None and (places := places_of(plan, args)) is not None:
        known = known_call(pattern, plan, places, (fn, encoded, named))
        recording.inline_cache.keep(key, known)
        if known.is_single and (done := elements.compute(recording, fn, args, known)) is not None:
            return True, done
    call = CoveredCall(pattern, fn, encoded, named)
    traced = defer(recording, call, None, plan.operands, out=plan.out, line=recording.lines.here(3))
    return True, traced


def literal(
    recording: Recording, fn: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> tuple[bool, Any]:
    """Defer a call on constants that gives an array: whether it was, and the traced result."""
    if recording.immediate or Traced in map(type, args):
        return MISS
    plan = cover_literal(recording, fn, args, kwargs)
    if plan is None:
        return MISS
    encoded = tuple(map(recording.encode, args))
    named = {name: recording.encode(value) for name, value in kwargs.items()}
    call = CoveredCall(pattern_of(recording, fn, plan), fn, encoded, named)
    return True, defer(recording, call, None, (), out=None, line=recording.lines.here(2))


def spelled(recording: Recording, fn: np.ufunc, args: tuple[Any, ...]) -> Any:
    """The operator, where a real NumPy scalar before a traced value has made a ufunc of it."""
    real = any(type(arg) is not Traced and isinstance(arg, np.generic) for arg in args)
    return operators.OPERATOR_OF.get(fn, fn) if real and recording.lines.at_operator() else fn


def repeat(recording: Recording, known: CoveredCall, fn: Any, args: tuple[Any, ...]) -> Any:
    """Defer a known call; None where a number does not fit, or belongs to other recordings."""
    if known.is_single and (done := elements.compute(recording, fn, args, known)) is not None:
        return done
    operands: list[Any] = []
    slots: list[int] = []
    for arg in args:
        if type(arg) is Traced:
            if arg._rm_tracer is not recording:
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
    if out is not None and not recording.writable(out):
        return None
    line = recording.lines.here(3)  # attempt(), Tracer.call() and its callers
    return defer(recording, known, slots, tuple(operands), out=out, line=line)


def apply_row(
    recording: Recording, row: Row, operands: tuple[Any, ...], params: Mapping[str, Hashable]
) -> Traced:
    """Defer a row that no callable of NumPy's spells, such as a draw of random numbers.

    Its rule covers the operands, which are traced values or numbers.
    """
    plan = finish(recording, row, Bound(operands, dict(params)), None)
    assert plan is not None, f"the rule of {row.name} covers its operands"
    encoded = tuple(map(recording.encode, operands))
    named = {name: recording.encode(value) for name, value in params.items()}
    call = CoveredCall(pattern_of(recording, row.numpy, plan), row.numpy, encoded, named)
    return defer(recording, call, None, plan.operands, out=None, line=recording.lines.here())


def pattern_of(recording: Recording, fn: Any, plan: Covered) -> Pattern:
    """How the call is deferred."""
    result = plan.result
    strides = layout(recording, plan)
    if strides is None:
        strides = ask_numpy(recording, plan)
        for extent in result.type.shape:
            operator.index(extent)  # for other shapes nobody has asked
    kind, row = result.type, reporting_row(fn, plan)
    meaning = Compute(row, result.operand_dtypes, plan.bound.params, kind.dtype, kind.shape)
    made = recording.inline_cache.abstract(kind.dtype, kind.shape, strides, result_kind(plan))
    if made.is_freed is None:
        made.is_freed = recording.executor.on_gpu or is_freed(kind.dtype, kind.shape)
    return recording.inline_cache.pattern(meaning, made)


def reporting_row(fn: Any, plan: Covered) -> Row:
    """The row, with a meaning that reports events as what the program calls does."""
    row, result = plan.row, plan.result
    if not row.events:
        return row
    if not result.type.shape and is_scalar_arithmetic(fn, plan):
        return operators.scalar_row(row.name, fn)
    base = getattr(plan.bound.operands[0], "dtype", None)
    if row.name == "pow" and base != result.operand_dtypes[0]:
        return operators.plain_power()
    if row.kind == "reduce" or row.name == "cast" or row.decompose is not None:
        return operators.spelled_row(row.name, fn)
    return row


def places_of(plan: Covered, args: tuple[Any, ...]) -> tuple[int, ...] | None:
    """Arguments that the operands are; None where another call with the same key may differ."""
    numbers: list[int] = []
    for place, operand in enumerate(plan.bound.operands):
        found = [number for number, arg in enumerate(args) if arg is operand]
        numbers += [place] if place in found else found[:1]
    if plan.out is not None and plan.out is not args[0]:
        return None  # a view that was made for this call
    looked_at = any(type(arg) is Traced and n not in numbers for n, arg in enumerate(args))
    return None if looked_at or len(numbers) != len(plan.bound.operands) else tuple(numbers)


def known_call(
    pattern: Pattern, plan: Covered, places: tuple[int, ...], encoded: EncodedCall
) -> CoveredCall:
    """How all calls with the key of this one are deferred."""
    weak = tuple(
        place
        for place, operand in enumerate(plan.operands)
        if isinstance(operand, ScalarOperand) and type(operand.value) in _PYTHONS
    )
    fn, args, kwargs = encoded
    operands = None if places == tuple(range(len(args))) else places
    into = None if plan.out is None else 0
    row, single = plan.row, pattern.result.kind == GENERIC and not plan.bound.params
    single = single and row.kind == "elementwise" and row.exactness == "bit-defined"
    return CoveredCall(pattern, fn, args, kwargs, operands, into, weak, is_single=single)


def layout(recording: Recording, plan: Covered) -> tuple[int, ...] | None:
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
        return byte_strides(kind.shape, size)
    if plan.row.kind != "elementwise":
        return None
    pairs = [
        (views.shape_array(recording, operand), dtype)
        for operand, dtype in zip(plan.bound.operands, plan.result.operand_dtypes, strict=True)
        if type(operand) is Traced and operand._rm_geometry is not None
    ]
    shapes, dtypes = [array for array, _ in pairs], [dtype for _, dtype in pairs]
    shape = tuple(map(plain, kind.shape))
    if plan.row.allocates == "ufunc":
        strides = ufunc_strides(shapes, dtypes, shape, size)
    elif plan.row.allocates == "copy":
        strides = copy_strides(shapes[0], size)
    else:
        strides = result_strides(shapes, shape, size)
    return symbolic_geometry.result_strides(strides, kind, arrays)


def is_c_contiguous(at: Geometry) -> bool:
    """True if an array lies in memory without gaps, its last axis innermost."""
    return is_contiguous(at.shape, tuple([s // at.dtype.itemsize for s in at.strides]))


def is_scalar_arithmetic(fn: Any, plan: Covered) -> bool:
    """True if NumPy computes with its scalars' own arithmetic, which names itself in warnings.

    It does where an operator's operands need no other dtype than a scalar among them has.
    """
    operands = plan.bound.operands
    if not operators.is_operator(fn) or plan.out is not None:
        return False
    if any((type(x) is Traced and x._rm_kind == ARRAY) or type(x) is np.ndarray for x in operands):
        return False
    dtypes = [x.dtype for x in operands if issubclass(x.__class__, np.generic)]
    if not dtypes or dtypes[0].kind == "b":
        return False
    if any(dtype != dtypes[0] for dtype in dtypes):
        return np.result_type(*dtypes) in dtypes
    floats = any(x.__class__ is float for x in operands)
    return dtypes[0].kind == "f" or not floats


def ask_numpy(recording: Recording, plan: Covered) -> tuple[int, ...]:
    """Run NumPy's operation on the real values, for its layout."""
    operands = tuple([recording.raw(operand) for operand in plan.bound.operands])
    with np.errstate(all="ignore"):  # kernels will tell
        made = plan.row.numpy(*operands, **plan.bound.params)
    return tuple(made.strides) if isinstance(made, np.ndarray) else ()


def defer(
    recording: Recording,
    call: CoveredCall,
    slots: Sequence[int] | None,
    operands: tuple[Operand, ...],
    *,
    out: Traced | None,
    line: Line | None,
) -> Traced:
    """Note a covered call, which is pending from then on: the traced result."""
    tape = recording.tape
    if out is not None:
        traced, target, slot = out, out._rm_geometry, None
        assert target is not None, "takes() saw an array"
    else:
        made = call.pattern.result
        slot = recording.count
        recording.count = slot + 1
        dtype, shape, strides, kind = made.dtype, made.shape, made.strides, made.kind
        storage = Storage(slot, dtype, shape, strides, None, kind is GENERIC)
        target = Geometry(storage, 0, dtype, shape, strides)
        traced = Traced(recording, slot, kind, target, made)
        storage.owned_by(traced, tape.dead, is_freed=made.is_freed is True)
    operation = Operation(call, slots, slot, line, tape.count, operands, target)
    tape.note_operation(operation)
    recording.defer(operation)
    if recording.unseen_code or recording.escaped:
        escape_barrier.settle(recording, operands, writes=out is not None)
    return traced


def result_kind(plan: Covered) -> str:
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
