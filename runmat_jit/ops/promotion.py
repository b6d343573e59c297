"""Dtypes and shapes of results: NumPy is asked, never imitated."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np

from runmat_jit.core.extent import Extent
from runmat_jit.core.types import (
    TensorType,
    broadcast_shapes,
    is_compiled_dtype,
    is_graph_dtype,
    part_dtype,
)
from runmat_jit.ops.spec import Operand, Params, Result

Rule = Callable[[tuple[Operand, ...], Params], Result | None]
Kind = np.dtype | type
"""What promotion knows of an operand: a dtype, or the class of a Python number."""

_BOOL = np.dtype(bool)


def kind_of(operand: Operand) -> Kind:
    """The operand as NumPy's ``resolve_dtypes`` wants it: a Python bool is no weak number."""
    if isinstance(operand, TensorType):
        return operand.dtype
    return _BOOL if operand.type is bool else operand.type


@cache  # a memo of a pure question; its keys are dtypes and number classes
def loop_dtypes(
    ufunc: np.ufunc, kinds: tuple[Kind, ...], *, takes_complex: bool = False
) -> tuple[np.dtype, ...] | None:
    """The dtypes of a ufunc's loop, operands then results, or None where kernels have none."""
    known, is_known = (
        (is_graph, is_graph_dtype) if takes_complex else (is_compiled, is_compiled_dtype)
    )
    if not all(known(kind) for kind in kinds):
        return None
    try:
        resolved = ufunc.resolve_dtypes((*kinds, *(None,) * ufunc.nout))
    except TypeError:  # NumPy refuses these operands and says so itself when called
        return None
    return resolved if all(map(is_known, resolved)) else None


def is_graph(kind: Kind) -> bool:
    """True if graphs have values of this dtype, or of what this class of numbers becomes."""
    return kind in (int, float, complex) if isinstance(kind, type) else is_graph_dtype(kind)


def is_compiled(kind: Kind) -> bool:
    """True if kernels know this dtype, or may know what this class of numbers becomes."""
    return kind in (int, float) if isinstance(kind, type) else is_compiled_dtype(kind)


def promote(kinds: tuple[Kind, ...], *, takes_complex: bool = False) -> np.dtype | None:
    """The dtype that values of these kinds share, as ``np.where`` promotes them."""
    known, is_known = (
        (is_graph, is_graph_dtype) if takes_complex else (is_compiled, is_compiled_dtype)
    )
    if not all(known(kind) for kind in kinds):
        return None
    dtype = _promote(kinds)
    return dtype if is_known(dtype) else None


@cache  # as above
def _promote(kinds: tuple[Kind, ...]) -> np.dtype:
    return np.result_type(*(kind(0) if isinstance(kind, type) else kind for kind in kinds))


def shape_of(operand: Operand) -> tuple[int, ...]:
    """The shape; Python numbers are 0-d."""
    return operand.shape if isinstance(operand, TensorType) else ()


def broadcast(operands: tuple[Operand, ...]) -> tuple[int, ...] | None:
    """The shape that the operands broadcast to, or None where they do not."""
    shapes = [o.shape for o in operands if isinstance(o, TensorType) and o.shape]
    if not shapes:
        return ()
    first = shapes[0]
    if all(shape == first for shape in shapes):
        return first
    try:
        return broadcast_shapes(*shapes)
    except ValueError:
        return None


def any_tensor(operands: tuple[Operand, ...]) -> bool:
    """True if an operand is an array; Python numbers alone are Python's business."""
    return any(isinstance(o, TensorType) for o in operands)


def ufunc_rule(
    ufunc: np.ufunc, *, scalar_integers: bool = True, takes_complex: bool = False
) -> Rule:
    """The rule of a one-result ufunc.

    Args:
        ufunc: NumPy's function.
        scalar_integers: False where the operator on NumPy's integer scalars is no ufunc and warns
            of overflow: such 0-d results are left to NumPy.
        takes_complex: True where the row has a formula for complex operands. NumPy's scalars have
            an arithmetic of their own for these: 0-d results are left to NumPy.

    """

    def rule(operands: tuple[Operand, ...], _params: Params) -> Result | None:
        if not any_tensor(operands):
            return None
        kinds = tuple(kind_of(o) for o in operands)
        dtypes = loop_dtypes(ufunc, kinds, takes_complex=takes_complex)
        shape = broadcast(operands)
        if dtypes is None or shape is None:
            return None
        if not shape and not scalar_integers and dtypes[-1].kind == "i":
            return None
        if not shape and any(dtype.kind == "c" for dtype in dtypes):
            return None
        return Result(TensorType(dtypes[-1], shape), dtypes[:-1])

    return rule


def fits(value: complex, dtype: np.dtype) -> bool:
    """True if NumPy casts a Python number to ``dtype`` without an error, warning or overflow."""
    if isinstance(value, complex):
        return dtype.kind == "c" and fits(value.real, dtype) and fits(value.imag, dtype)
    dtype = part_dtype(dtype)
    if isinstance(value, int):
        if dtype.kind in "ib":  # whether a number is true NumPy asks of an int64
            limits = np.iinfo(dtype if dtype.kind == "i" else np.int64)
            return bool(limits.min <= value <= limits.max)
        return dtype.kind != "f" or abs(value) <= _largest(dtype)
    if isinstance(value, float):
        finite = value - value == 0
        if dtype.kind == "i":
            return finite and -(2.0 ** (8 * dtype.itemsize - 1)) <= value < 2.0 ** (
                8 * dtype.itemsize - 1
            )
        return dtype.kind != "f" or not finite or abs(value) <= _largest(dtype)
    if isinstance(value, Extent):
        most = np.iinfo(dtype).max if dtype.kind == "i" else int(_largest(np.dtype(np.float16)))
        return bool(-most <= value <= most)
    return False


def _largest(dtype: np.dtype) -> float:
    return float(np.finfo(dtype).max)
