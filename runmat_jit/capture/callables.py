"""What a callable is: the whitelist that capture lives by. Unknown means effect."""

from __future__ import annotations

import builtins
import cmath
import functools
import itertools
import math
import operator
import types
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final

import numpy as np

from runmat_jit.capture.tape.call_forms import (
    SETITEM,
    AttributeCall,
    FlagOf,
    IndexBuilder,
    MethodCall,
    UfuncMethod,
)
from runmat_jit.core.frozen import frozen
from runmat_jit.ops.spec import Op as Row
from runmat_jit.ops.table import ROWS, row_of, row_of_method

INPLACE: Final = {
    getattr(operator, name): getattr(operator, "i" + name.rstrip("_"))
    for name in (
        *("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul"),
        *("and_", "or_", "xor", "lshift", "rshift"),
    )
}
OUT_OF_PLACE: Final = {inplace: fn for fn, inplace in INPLACE.items()}


OPERATOR_OF: Final[dict[Any, Any]] = {
    np.add: operator.add,
    np.subtract: operator.sub,
    np.multiply: operator.mul,
    np.true_divide: operator.truediv,
    np.floor_divide: operator.floordiv,
    np.remainder: operator.mod,
    np.power: operator.pow,
}
"""Operators with which NumPy's scalars compute otherwise than its ufuncs: integers warn."""


def is_operator(fn: Any) -> bool:
    """Whether a callable is a Python operator that makes a new value."""
    return isinstance(fn, types.BuiltinFunctionType) and fn in INPLACE


def inplace_of(fn: Any) -> Any:
    """``operator.iadd`` for ``operator.add``."""
    return INPLACE[fn]


def row_for(fn: Any) -> Row | None:
    """The row that a callable means, whatever its spelling."""
    if type(fn) is MethodCall:
        return row_of_method(fn.name)
    if type(fn) is UfuncMethod:
        return row_of(getattr(fn.ufunc, fn.name))
    try:
        return row_of(fn)
    except TypeError:  # unhashable callables are nobody's spelling
        return None


@frozen
class ScalarOperator:
    """An operator on NumPy scalars: arithmetic of its own, which names itself in warnings."""

    fn: Callable[..., Any]

    def __call__(self, *operands: Any) -> Any:
        return self.fn(*(np.asarray(operand)[()] for operand in operands))


@functools.cache  # a memo: a row with another NumPy meaning
def scalar_row(name: str, fn: Callable[..., Any]) -> Row:
    """The row of an operator whose operands are all scalars."""
    row = ROWS[name]
    return replace(row, numpy=ScalarOperator(fn), ufunc=f"scalar {row.ufunc}")


# -- views -----------------------------------------------------------------------------------------
VIEW_FUNCTIONS: Final = frozenset(
    (
        *(np.transpose, np.reshape, np.ravel, np.swapaxes, np.moveaxis, np.rollaxis, np.squeeze),
        *(np.expand_dims, np.broadcast_to, np.diagonal, np.flip, np.fliplr, np.flipud, np.rot90),
        *(np.atleast_1d, np.atleast_2d, np.atleast_3d, np.real, np.permute_dims),
        *(np.matrix_transpose, np.split, np.array_split, np.hsplit, np.vsplit, np.dsplit),
        *(np.asarray, np.asanyarray, np.ascontiguousarray, np.require),
    )
)
VIEW_METHODS: Final = frozenset(
    ("transpose", "reshape", "ravel", "swapaxes", "squeeze", "diagonal", "__array__")
)
VIEW_ATTRIBUTES: Final = frozenset(("T", "mT", "real"))
_FUNCTIONS: Final = (types.FunctionType, types.BuiltinFunctionType, type(np.reshape))
"""Classes of functions: most of NumPy's are of one of its own."""


def is_view(fn: Any) -> bool:
    """Whether the result may show its first operand's memory, by static facts alone."""
    if type(fn) is MethodCall:
        return fn.name in VIEW_METHODS
    if type(fn) is AttributeCall:
        return fn.name in VIEW_ATTRIBUTES
    return isinstance(fn, _FUNCTIONS) and fn in VIEW_FUNCTIONS


# -- host calls ------------------------------------------------------------------------------------
PURE_METHODS: Final = frozenset(
    (
        *("all", "any", "argmax", "argmin", "argpartition", "argsort", "astype", "byteswap"),
        *("choose", "clip", "compress", "conj", "conjugate", "copy", "cumprod", "cumsum"),
        *("dot", "flatten", "item", "max", "mean", "min", "nonzero", "prod", "repeat", "round"),
        *("searchsorted", "std", "sum", "take", "tobytes", "tolist", "trace", "var", "view"),
        *("__copy__", "__deepcopy__"),
        *("ravel", "reshape", "transpose", "squeeze", "swapaxes", "diagonal"),
        *("is_integer", "bit_length", "as_integer_ratio", "hex", "conjugate", "bit_count"),
    )
)
WRITING_METHODS: Final = frozenset(("fill", "sort", "partition", "put", "setfield"))
PURE_ATTRIBUTES: Final = frozenset(("imag", "real", "T", "mT", "numerator", "denominator"))
WRITING_FUNCTIONS: Final = frozenset(
    (np.copyto, np.put, np.place, np.putmask, np.fill_diagonal, np.put_along_axis)
)
_NOT_PURE = frozenset(
    (
        *("save", "savez", "savez_compressed", "savetxt", "load", "loadtxt", "genfromtxt"),
        *("fromfile", "fromregex", "memmap", "open_memmap", "seterr", "geterr", "seterrcall"),
        *("geterrcall", "setbufsize", "getbufsize", "set_printoptions", "get_printoptions"),
        *("printoptions", "errstate", "show_config", "show_runtime", "info", "test", "get_include"),
        *("nditer", "ndenumerate", "ndindex", "nested_iters", "vectorize", "frompyfunc", "poly1d"),
        *("apply_along_axis", "apply_over_axes", "piecewise", "fromfunction", "fromiter", "matrix"),
        *("asmatrix", "bmat", "busdaycalendar", "recarray", "record", "chararray", "frombuffer"),
        *("from_dlpack", "broadcast"),
        *("array2string", "array_repr", "array_str", "lib"),
        *(name.__name__ for name in WRITING_FUNCTIONS),
    )
)
_PURE_MODULES = (
    *(np, np.linalg, np.fft, np.polynomial.polynomial, np.polynomial.legendre),
    *(np.polynomial.chebyshev, np.polynomial.hermite, np.polynomial.hermite_e),
    *(np.polynomial.laguerre, np.polynomial.polyutils),
)
PURE_NUMPY: Final[frozenset[Any]] = frozenset(
    value
    for module in _PURE_MODULES
    for name, value in vars(module).items()
    if not name.startswith("_")
    and name not in _NOT_PURE
    and callable(value)
    and not isinstance(value, type)
    and not isinstance(value, types.ModuleType)
) | {np.lib.stride_tricks.sliding_window_view, np.lib.stride_tricks.as_strided}
"""NumPy functions whose result depends on their arguments alone and that write nothing."""

_PURE_LIBRARIES: Final = tuple(
    f"scipy.{name}"
    for name in (
        *("linalg.", "fft.", "fftpack.", "special.", "signal.", "ndimage.", "interpolate."),
        *("spatial.distance", "integrate._quadrature"),
    )
)
_WRITING_KEYWORDS: Final = frozenset(
    ("out", "output", "overwrite_a", "overwrite_b", "overwrite_x", "overwrite_ab", "overwrite_data")
)


def is_pure_library(fn: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> bool:
    """Whether an installed function depends on its arguments alone, and writes none of them.

    A positional True might mean that an argument may be overwritten.
    """
    module = getattr(fn, "__module__", None)
    if isinstance(fn, type) or not (isinstance(module, str) and module.startswith(_PURE_LIBRARIES)):
        return False
    writes = any(kwargs.get(name) is not None for name in _WRITING_KEYWORDS & kwargs.keys())
    return not writes and not any(arg is True for arg in args)


OPERATORS: Final = frozenset(
    fn for name, fn in vars(operator).items() if not name.startswith("_") and callable(fn)
) - frozenset((*INPLACE.values(), operator.setitem, operator.delitem, operator.call))
MATH: Final[frozenset[Any]] = frozenset(
    fn for module in (math, cmath) for fn in vars(module).values() if callable(fn)
)
NUMBERS: Final[frozenset[Any]] = frozenset((abs, round, divmod, pow, float, int, complex))
"""Builtins that are operations when they get a traced number."""

PURE_BUILTINS: Final[frozenset[Any]] = frozenset(
    (
        *(len, range, enumerate, zip, min, max, sum, sorted, reversed, any, all, list, tuple),
        *(dict, set, frozenset, str, repr, format, ascii),
        *(isinstance, issubclass, callable, hasattr),
        *(getattr, iter, next, map, filter, bool, slice, chr, ord, hash, type, object, bytes),
        *(staticmethod, classmethod, property, functools.reduce, functools.partial),
        *NUMBERS,
        *OPERATORS,
        *(kind for kind in vars(itertools).values() if isinstance(kind, type)),
        *(
            kind
            for kind in vars(builtins).values()
            if isinstance(kind, type) and issubclass(kind, BaseException)
        ),
    )
)
"""Builtins that neither write nor see anything but their arguments."""


SCALAR_FUNCTIONS: Final[frozenset[Any]] = OPERATORS | MATH | NUMBERS | {min, max}
"""What Python numbers are computed with, by Python."""


def is_scalar_function(fn: Any) -> bool:
    """Whether a call on Python numbers is Python's own arithmetic."""
    if type(fn) is MethodCall or type(fn) is AttributeCall:
        return True
    try:
        return fn in SCALAR_FUNCTIONS
    except TypeError:
        return False


def is_pure(fn: Any) -> bool:
    """Whether a host call depends on its arguments alone and writes nothing."""
    if type(fn) is MethodCall:
        return fn.name in PURE_METHODS
    if type(fn) is AttributeCall:
        return fn.name in PURE_ATTRIBUTES
    if type(fn) is UfuncMethod:
        return fn.name != "at"
    if type(fn) is IndexBuilder or type(fn) is FlagOf:
        return True
    try:
        return (
            isinstance(fn, np.ufunc)
            or fn in PURE_NUMPY
            or fn in OPERATORS
            or fn in NUMBERS
            or fn in MATH
            or fn is np.array
            or (isinstance(fn, type) and issubclass(fn, np.generic))
        )
    except TypeError:
        return False


def out_arguments(fn: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> list[Any]:
    """The arrays that a call is told to put its results into."""
    out = kwargs.get("out")
    if out is None and isinstance(fn, np.ufunc):
        out = args[fn.nin :]
    return [target for target in (out if type(out) is tuple else (out,)) if target is not None]


def written_argument(fn: Any) -> int | None:
    """The number of the argument that a known writer writes; None for other callables."""
    if type(fn) is MethodCall:
        return 0 if fn.name in WRITING_METHODS else None
    if type(fn) is UfuncMethod:
        return 0 if fn.name == "at" else None
    try:
        return 0 if fn in WRITING_FUNCTIONS or fn in OUT_OF_PLACE or fn is SETITEM else None
    except TypeError:
        return None
