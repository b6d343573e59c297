"""Operations that run code of the program: special methods, callbacks, iterators."""

from __future__ import annotations

import math
import operator
import types
from collections.abc import Mapping
from typing import Any, Final

import numpy as np

_ITERATING: Final = (list, tuple, set, frozenset, sum, sorted, min, max, any, all, enumerate, zip)
_ARITHMETIC: Final = (
    *("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul"),
    *("lshift", "rshift", "and", "or", "xor"),
)
_SPECIAL: Final[Mapping[Any, tuple[str, ...]]] = {
    **dict.fromkeys(_ITERATING, ("__iter__",)),
    **{each: (f"__{each.__name__}__",) for each in (abs, len, next, iter, reversed, round, hash)},
    **{each: (f"__{each.__name__}__",) for each in (repr, str, format, complex, bytes)},
    float: ("__float__", "__index__"),
    int: ("__int__", "__index__", "__trunc__"),
    bool: ("__bool__", "__len__"),
    **{each: (f"__{each.__name__}__",) for each in (math.floor, math.ceil, math.trunc)},
    divmod: ("__divmod__", "__rdivmod__"),
    operator.eq: ("__eq__",),
    operator.ne: ("__ne__", "__eq__"),
    operator.contains: ("__contains__", "__iter__", "__eq__"),
    operator.mod: ("__mod__", "__rmod__"),
    operator.pow: ("__pow__", "__rpow__"),
    **{
        getattr(operator, f"__i{name}__"): (f"__i{name}__", f"__{name}__", f"__r{name}__")
        for name in _ARITHMETIC
    },
    np.asarray: ("__array__",),
    np.array: ("__array__",),
    setattr: ("__setattr__",),
    operator.setitem: ("__setitem__",),
}
"""Special methods that an operation may run."""
_LAZY: Final = frozenset((map, filter, zip, enumerate))
"""Builtins that call nothing yet."""
_FUNCTIONS: Final = frozenset((types.FunctionType, types.MethodType))


def may_call_back(fn: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> bool:
    """True if an operation runs code of the program: special methods, functions, iterators."""
    for name in _SPECIAL.get(fn, ()):
        for each in args:
            if type(getattr(type(each), name, None)) is types.FunctionType:
                return True
    if fn in _LAZY:
        return False
    for each in (*args, *kwargs.values()) if kwargs else args:
        if type(each) in _FUNCTIONS or hasattr(type(each), "__next__"):
            return True
    return False
