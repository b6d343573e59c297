"""Host calls as nodes of the graph: pure ones that cannot raise, whose result's type a law tells.

They are deferred as operations of rows are, are ordered by their operands alone, and end no fusion.
NumPy gives the result's dtype for arrays of one element; the table of callables has the law of its
shape. Calls on constants alone that give arrays (``np.hanning(9)``) are nodes without
operands: each call of the program gets new memory.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any, Final

import numpy as np

from runmat_jit.capture import callables
from runmat_jit.capture.call_laws import Law, copied, product, rearranged, stacked_product
from runmat_jit.capture.record.constants import is_fixed
from runmat_jit.capture.record.cover import Covered, describe, is_plain
from runmat_jit.capture.record.recording import Recording
from runmat_jit.capture.record.traced import Traced
from runmat_jit.capture.tape.call_forms import name_of
from runmat_jit.capture.tape.storage import Geometry
from runmat_jit.capture.tape.values import ARRAY
from runmat_jit.core.errstate import trial
from runmat_jit.core.frozen import frozen
from runmat_jit.core.types import TensorType, c_strides, is_graph_dtype
from runmat_jit.ops.host_call import HostCall
from runmat_jit.ops.product import DENSE, Lies, Product
from runmat_jit.ops.spec import Bound, Result
from runmat_jit.ops.table import ROWS

LITERAL_BYTES: Final = 1 << 16
"""Arrays of constants up to this size are kept and copied; larger ones are made anew."""
_QUIET: Final = (rearranged, copied)
"""Laws of functions that compute nothing."""
_ORDERS: Final = frozenset("FAKfak")
"""Of the elements of a new array in memory, but for C's."""
_PRODUCTS: Final = (product, stacked_product)
"""Laws of products."""


@frozen
class BoundCall:
    """A call with everything bound but its operands, whose places are ``None`` in ``operands``."""

    fn: Any
    args: tuple[Any, ...]
    kwargs: tuple[tuple[str, Any], ...]
    places: tuple[int, ...]
    """Of the operands among the arguments."""

    def __call__(self, *operands: Any) -> Any:
        if len(operands) == len(self.args) and not self.kwargs:
            return self.fn(*operands)
        args = list(self.args)
        for place, operand in zip(self.places, operands, strict=True):
            args[place] = operand
        return self.fn(*args, **dict(self.kwargs))


@frozen
class Literal:
    """An array of constants, by its bytes in C order; each call gives a new one."""

    dtype: np.dtype
    shape: tuple[int, ...]
    contents: bytes

    def __call__(self) -> np.ndarray:
        return np.frombuffer(self.contents, self.dtype).reshape(self.shape).copy()


def cover_host_call(
    recording: Recording, fn: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> Covered | None:
    """A host call as if a row covered it; None where it is to be made at once, in program order."""
    places = tuple([n for n, arg in enumerate(args) if is_array(arg)])
    law = law_of_node(recording, fn, args, kwargs) if places else None
    if law is None or any(map(names_order, (*args, *kwargs.values()))):
        return None  # NumPy knows how its result lies
    described = [describe(recording, args[place]) for place in places]
    operands = tuple([each[1] for each in described if each is not None])
    if len(operands) < len(described):
        return None
    made_by = product_of(recording, fn, operands) if law in _PRODUCTS else None
    if made_by is None and not all(map(is_plain, operands)):
        return None
    rest = tuple([None if n in places else arg for n, arg in enumerate(args)])
    call = BoundCall(fn, rest, tuple(kwargs.items()), places)
    made = type_of_result(law, call, args, kwargs)
    if made is None or not (made.shape or made_by):
        return None
    kinds = tuple([each[0].dtype for each in described if each is not None])  # type: ignore[union-attr]  # arrays have one
    if not takes_host_calls(recording) and (made.dtype.kind != "f" or {*kinds} != {made.dtype}):
        return None  # of products, the device has these
    quiet = law in _QUIET and all(kind == made.dtype for kind in kinds)  # nothing is cast
    row = ROWS["product" if made_by else "host_call" if quiet else "reporting_host_call"]
    params: dict[str, Hashable] = {"call": HostCall(made_by or call, shown(call))}
    result = Result(made, kinds)
    bound = Bound(tuple([args[p] for p in places]), params)
    alone = made_by is not None and made_by.lie != DENSE
    return Covered(row, bound, operands, result, None, of_storages=alone)


def type_of_result(
    law: Law,
    call: BoundCall,
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
) -> TensorType | None:
    """What a host call gives; None where that is not known, or NumPy refuses the call."""
    try:
        shape = law([shape_of(arg) for arg in args], kwargs)
    except ValueError:  # NumPy says so, too
        return None
    dtype = dtype_of(call, [args[place] for place in call.places])
    return None if dtype is None or shape is None else TensorType(dtype, shape)


def names_order(arg: Any) -> bool:
    """True if an argument may say in what order a result lies, other than that of C."""
    return type(arg) is str and arg in _ORDERS


def product_of(recording: Recording, fn: Any, operands: tuple[Any, ...]) -> Product | None:
    """A product of operands that lie as NumPy gives them to BLAS; None where some lie otherwise.

    A device's kernels read operands however they lie.
    """
    if len(operands) != 2 or not all(type(each) is Geometry for each in operands):
        return None
    if recording.executor.takes_products or all(map(is_plain, operands)):
        return Product(fn)
    left, right = map(lies, operands)
    if left is None or right is None:
        return None
    return Product(fn, (left, right), apart=not shares_memory(*operands))


def shares_memory(a: Geometry, b: Geometry) -> bool:
    """True if two arrays may show the same memory, which keys of traces tell of arguments."""
    first, second = a.storage.memory, b.storage.memory
    known = first is not None and second is not None
    return a.storage is b.storage or (known and np.may_share_memory(first, second))


def lies(at: Geometry) -> Lies | None:
    """How a matrix lies that is perhaps a view of another, or each of a stack of them.

    None for what BLAS does not read.
    """
    if is_plain(at) and len(at.shape) == 1:
        return "dense"
    if len(at.shape) < 2 or 1 in at.shape[-2:]:
        return None
    (rows, columns), (down, along) = at.shape[-2:], at.strides[-2:]
    size = at.dtype.itemsize
    if along == size and down >= columns * size and not down % size:
        return "rows"
    return "columns" if down == size and along >= rows * size and not along % size else None


def law_of_node(
    recording: Recording, fn: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> Law | None:
    """The law of a call's result, if the call may be a node: all but arrays is constant in it."""
    if "under" in recording.state.warn:
        return None
    callee = callables.of(fn)
    multiplies = callee.result in _PRODUCTS and recording.executor.takes_products
    if not multiplies and not takes_host_calls(recording):
        return None
    if callee.result is None or callee.view or not callee.pure:
        return None
    others = [arg for arg in (*args, *kwargs.values()) if not is_array(arg)]
    named = any(map(is_array, kwargs.values()))
    if named or not all(map(is_fixed, others)) or not callables.cannot_raise(fn, args):
        return None
    return callee.result


def takes_host_calls(recording: Recording) -> bool:
    """True if the programs of a recording may hold calls of the host."""
    return recording.executor.takes_host_calls and recording.boundary is None


def is_array(value: Any) -> bool:
    """True if a value is a traced array."""
    return type(value) is Traced and value._rm_kind == ARRAY


def shape_of(value: Any) -> tuple[int, ...] | None:
    """The shape of an argument, with its formulas; None where it is no array and no number."""
    if type(value) is Traced:
        at = value._rm_geometry
        return None if at is None else at.shape
    return () if isinstance(value, (bool, int, float, complex, np.generic)) else None


def dtype_of(call: BoundCall, operands: list[Traced]) -> np.dtype | None:
    """The dtype of the result, which NumPy tells for arrays of one element.

    None if it refuses, or gives its operand or a view of it.
    """
    ones = [np.ones((1,) * operand.ndim, operand.dtype) for operand in operands]
    try:
        with trial(events="ignore"):
            made = call(*ones)
    except Exception:  # noqa: BLE001  (the program makes the call, and raises itself)
        return None
    if not isinstance(made, np.generic | np.ndarray):
        return None
    if type(made) is np.ndarray and any(np.may_share_memory(made, one) for one in ones):
        return None
    return made.dtype if is_graph_dtype(made.dtype) else None


def shown(call: BoundCall) -> str:
    """The call in texts: ``sort(axis=0)``."""
    rest = [repr(arg) for n, arg in enumerate(call.args) if n not in call.places]
    named = [f"{name}={value!r}" for name, value in call.kwargs]
    return f"{name_of(call.fn)}({', '.join([*rest, *named])})"


# -- arrays of constants ---------------------------------------------------------------------------
def cover_literal(
    recording: Recording, fn: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> Covered | None:
    """A call on constants that gives one new array, as a node without operands."""
    if not takes_host_calls(recording) or not callables.of(fn).pure:
        return None
    frozen_args = frozen_of(args), frozen_of(tuple(kwargs.values()))
    if not all(map(is_fixed, frozen_args)):
        return None
    try:
        with trial():
            made = fn(*args, **kwargs)
    except Exception:  # noqa: BLE001  (as in dtype_of())
        return None
    if not is_new(made):
        return None
    if made.nbytes <= LITERAL_BYTES:
        made_by: Any = Literal(made.dtype, made.shape, made.tobytes())
    elif frozen_args == (args, tuple(kwargs.values())) and is_hashable(frozen_args):
        made_by = BoundCall(fn, args, tuple(kwargs.items()), ())
    else:
        return None
    call = HostCall(made_by, f"{name_of(fn)}(...)")
    result = Result(TensorType(made.dtype, made.shape), ())
    return Covered(ROWS["host_call"], Bound((), {"call": call}), (), result, None)


def is_new(made: Any) -> bool:
    """True if a result is a new array, as kernels make them."""
    if type(made) is not np.ndarray or not is_graph_dtype(made.dtype) or not made.ndim:
        return False
    strides = tuple([step * made.itemsize for step in c_strides(made.shape)])
    return made.strides == strides and made.flags.writeable and made.base is None


def is_hashable(value: Any) -> bool:
    """True if a value has a hash, as slices have from Python 3.12 on."""
    try:
        hash(value)
    except TypeError:
        return False
    return True


def frozen_of(value: Any) -> Any:
    """A value with tuples for the lists in it."""
    return tuple(map(frozen_of, value)) if type(value) in (list, tuple) else value
