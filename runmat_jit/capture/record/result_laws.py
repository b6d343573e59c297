"""Shapes of what NumPy itself computes, by the shapes of what it is given: laws, as formulas.

For calls whose result has this shape whatever the values are. NumPy's own result is compared with
it each time.
"""

from __future__ import annotations

import operator
import types
from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np

from runmat_jit.capture.callables import INPLACE
from runmat_jit.capture.record.traced import Traced
from runmat_jit.capture.tape.call_forms import MethodCall
from runmat_jit.capture.tape.values import ARRAY
from runmat_jit.core.types import broadcast_shapes

Shape = tuple[int, ...]

_ALIKE: Final[frozenset[Any]] = frozenset(
    (np.sort, np.argsort, np.cumsum, np.cumprod, np.round, np.copy, np.array, np.clip)
)
"""Functions whose result has the shape of their first operand, unless they flatten it."""
_ALIKE_METHODS: Final = frozenset(
    ("astype", "copy", "conj", "conjugate", "cumsum", "cumprod", "argsort", "round", "clip")
)
_TOGETHER: Final[frozenset[Any]] = frozenset(
    (
        *(fn for fn in INPLACE if fn is not operator.matmul),
        *(operator.neg, operator.pos, operator.abs, operator.invert),
        *(operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge),
    )
)
"""Operators of elements: their operands are broadcast together."""
_FUNCTIONS: Final = (types.BuiltinFunctionType, types.FunctionType, type(np.sort))
_PRODUCTS: Final[frozenset[Any]] = frozenset((np.dot, np.matmul, operator.matmul))


def expected(fn: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Shape | None:
    """The shape of the result; None where no law tells."""
    law = law_of(fn, args, kwargs)
    shapes = [shape_of(arg) for arg in args]
    try:
        return None if law is None or not shapes else law(shapes)
    except ValueError:  # NumPy says so, too
        return None


def law_of(
    fn: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> Callable[[list[Shape | None]], Shape | None] | None:
    """How the shape of the result follows from those of the arguments."""
    if type(fn) is MethodCall:
        return first if fn.name in _ALIKE_METHODS else None
    if isinstance(fn, np.ufunc):
        plain = fn.nout == 1 and fn.signature is None and len(args) == fn.nin
        return together if plain and not kwargs.keys() & {"out", "where"} else None
    if not isinstance(fn, _FUNCTIONS):
        return None
    if fn in _ALIKE:
        return first
    if fn in _TOGETHER or (fn is np.where and len(args) == 3):
        return together
    return product if fn in _PRODUCTS and not kwargs else None


def shape_of(value: Any) -> Shape | None:
    """The shape of an operand, with its formulas; None where it is no array and no number."""
    if type(value) is Traced:
        at = value._rm_geometry
        if value._rm_kind == ARRAY:
            return None if at is None else at.shape
        return ()
    return () if isinstance(value, (int, float, complex, np.generic)) else None


def first(shapes: list[Shape | None]) -> Shape | None:
    """That of the first operand."""
    return shapes[0]


def together(shapes: list[Shape | None]) -> Shape | None:
    """That of all operands broadcast together."""
    made: Shape = ()
    for shape in shapes:
        if shape is None:
            return None
        made = broadcast_shapes(made, shape)
    return made


def product(shapes: list[Shape | None]) -> Shape | None:
    """That of a product of vectors and matrices."""
    if len(shapes) != 2:
        return None
    left, right = shapes
    if left is None or right is None or len(left) not in (1, 2) or len(right) not in (1, 2):
        return None
    return (*left[:-1], *right[1:])
