"""Calls that a row covers entirely: what it reads, what comes out, and where that goes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from runmat_jit.capture import operators
from runmat_jit.capture.record import gathers, lengths, masked_stores, views
from runmat_jit.capture.record.concrete import concrete_integer, concrete_key
from runmat_jit.capture.record.recording import Recording
from runmat_jit.capture.record.traced import Traced
from runmat_jit.capture.tape import call_forms
from runmat_jit.capture.tape.entries import Operand, ScalarOperand
from runmat_jit.capture.tape.geometry import is_contiguous
from runmat_jit.capture.tape.storage import Geometry
from runmat_jit.capture.tape.values import ARRAY, PYTHON
from runmat_jit.core.frozen import frozen
from runmat_jit.core.types import TensorType, broadcast_shapes, is_graph_dtype
from runmat_jit.ops.promotion import fits
from runmat_jit.ops.spec import Bound, Result, Weak
from runmat_jit.ops.spec import Op as Row
from runmat_jit.ops.spec import Operand as RowOperand
from runmat_jit.ops.table import ROWS


@frozen
class Covered:
    """A covered call: its row, what it reads, what comes out, and where that goes.

    ``of_storages``: which of the operands share memory decides, too.
    """

    row: Row
    bound: Bound
    operands: tuple[Operand, ...]
    result: Result
    out: Traced | None
    of_storages: bool = False

    def arrays(self) -> list[Geometry]:
        """The operands that are arrays."""
        return [operand for operand in self.operands if isinstance(operand, Geometry)]


def cover(
    recording: Recording, fn: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> Covered | None:
    """The plan of a call that a row covers entirely."""
    if fn is call_forms.SETITEM:
        return cover_setitem(recording, args)
    if fn is masked_stores.store:
        bound = masked_stores.bind_arrays(args, kwargs)
        return None if bound is None else finish(recording, ROWS["putmask"], bound, args[0])
    if fn is gathers.taken:
        bound = gathers.bind(recording, args)
        return None if bound is None else finish(recording, ROWS["take"], bound, None)
    inplace = operators.OUT_OF_PLACE.get(fn) if isinstance(fn, type(call_forms.GETITEM)) else None
    row = operators.row_for(fn if inplace is None else inplace)
    if row is None or row.bind is None:
        return None
    if row.kind == "create":
        args = lengths.in_formulas(tuple(map(concrete_key, args)))
        kwargs = {name: lengths.in_formulas(concrete_key(v)) for name, v in kwargs.items()}
    elif row.kind != "elementwise" and not row.numbers_are_data:
        args = tuple(map(concrete_integer, args))
        kwargs = {name: concrete_integer(value) for name, value in kwargs.items()}
    bind = row.bind_method if isinstance(fn, call_forms.MethodCall) else None
    bound = (bind or row.bind)(args, kwargs)
    if bound is None:
        return None
    if inplace is not None:
        return finish(recording, row, bound, args[0])
    casting = "same_kind" if isinstance(fn, np.ufunc) else "safe"  # events of others are elsewhere
    return finish(recording, row, bound, bound.out, casting=casting)


def cover_setitem(recording: Recording, args: tuple[Any, ...]) -> Covered | None:
    """``target[key] = value`` with a basic key, a copy into the view that it shows; or a mask."""
    target, key, value = args
    view = views.basic_view(recording, target, key)
    if view is None:
        bound = masked_stores.bind(recording, target, key, value)
        return None if bound is None else finish(recording, ROWS["putmask"], bound, target)
    if isinstance(value, Traced | np.generic):
        if views.reads_what_it_writes(recording, view, value):
            return None  # NumPy copies element by element, and so changes what it reads
        if goes_through_int(value, view.dtype):
            return None
        bound = Bound((value,), {"order": "K"})
        return finish(recording, ROWS["copy"], bound, view, casting="unsafe")
    if type(value) not in (bool, int, float, complex) or not is_graph_dtype(view.dtype):
        return None
    kinds = {bool: "bifc", int: "ifc", float: "fc", complex: "c"}[type(value)]
    if view.dtype.kind not in kinds or not fits(value, view.dtype):
        return None
    constant = np.asarray(value).astype(view.dtype)[()]
    return finish(recording, ROWS["copy"], Bound((constant,), {"order": "K"}), view)


def goes_through_int(value: Any, target: np.dtype) -> bool:
    """True if NumPy stores a number in integers by way of Python's, which may raise.

    Arrays without axes are cast, which never does, as are integers into unsigned ones.
    """
    if type(value) is Traced and value._rm_kind == ARRAY:
        return False
    if issubclass(value.__class__, float | np.floating):
        return target.kind in "iu"
    is_integer = issubclass(value.__class__, np.integer)
    return is_integer and target.kind == "i" and not np.can_cast(value.dtype, target, "safe")


def finish(
    recording: Recording, row: Row, bound: Bound, out: Any, casting: str = "same_kind"
) -> Covered | None:
    """Types of the operands, the row's result rule, and whether the result may go to ``out``."""
    described = [describe(recording, operand) for operand in bound.operands]
    if row.result is None or any(entry is None for entry in described):
        return None
    if row.is_plain and not all(entry is not None and is_plain(entry[1]) for entry in described):
        return None
    kinds = tuple(entry[0] for entry in described if entry is not None)
    operands = tuple(entry[1] for entry in described if entry is not None)
    if not any(isinstance(kind, TensorType) for kind in kinds) and row.kind != "create":
        return None
    result = row.result(kinds, bound.params)
    if result is None or not numbers_fit(operands, kinds, result.operand_dtypes):
        return None
    if out is not None and not (row.kind == "elementwise" and takes(out, result, casting)):
        return None
    return Covered(row, bound, operands, result, out)


def describe(recording: Recording, value: Any) -> tuple[RowOperand, Operand] | None:
    """Operand for a row's rule, and for a pending operation."""
    kind = type(value)
    if kind is Traced:
        at = value._rm_geometry
        if at is not None:
            if not is_graph_dtype(at.dtype) or not at.shows_numbers():
                return None
            return TensorType(at.dtype, at.shape), at
        held, scalar = value._rm_held, scalar_operand(value)
        if value._rm_kind == ARRAY:  # NumPy alone computes with such an array
            return None
        if value._rm_kind == PYTHON:
            return Weak(type(held)), scalar
        return (TensorType(held.dtype, ()), scalar) if is_graph_dtype(held.dtype) else None
    if kind is bool or kind is int or kind is float or kind is complex:
        return Weak(kind), value
    if isinstance(value, np.generic):
        return (TensorType(value.dtype, ()), value) if is_graph_dtype(value.dtype) else None
    if isinstance(value, np.ndarray) and recording.adopt(value) is not None:
        return describe(recording, recording.adopt(value))
    return None


def is_plain(operand: Any) -> bool:
    """True if an operand lies in memory without gaps, as what NumPy makes of it then does."""
    if type(operand) is not Geometry or not operand.shape:
        return False
    size = operand.dtype.itemsize
    return is_contiguous(operand.shape, tuple([stride // size for stride in operand.strides]))


def numbers_fit(
    operands: tuple[Operand, ...], kinds: tuple[RowOperand, ...], dtypes: tuple[np.dtype, ...]
) -> bool:
    """True if every Python number casts to its dtype without error or warning."""
    for operand, kind, dtype in zip(operands, kinds, dtypes, strict=True):
        if isinstance(kind, Weak):
            number = operand.value if isinstance(operand, ScalarOperand) else operand
            if not isinstance(number, bool | int | float | complex) or not fits(number, dtype):
                return False
    return True


def takes(out: Any, result: Result, casting: str) -> bool:
    """True if an existing array can hold the result, as ``out=`` and ``+=`` demand."""
    if type(out) is not Traced or out._rm_kind != ARRAY:
        return False
    at, made = out._rm_geometry, result.type
    if at is None or not is_graph_dtype(at.dtype) or not at.shows_numbers():
        return False
    if made.dtype.kind == "c" and at.dtype.kind != "c":  # NumPy says that it loses a part
        return False
    rule: Any = casting
    try:
        fits_shape = broadcast_shapes(at.shape, made.shape) == at.shape
    except ValueError:
        return False
    return fits_shape and np.can_cast(made.dtype, at.dtype, rule) and out._rm_tracer.writable(out)


def scalar_operand(value: Traced) -> ScalarOperand:
    """A number that is known, as a pending operation keeps it."""
    return ScalarOperand(value._rm_slot, value._rm_held, value._rm_roots is not None)
