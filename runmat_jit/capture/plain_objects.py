"""What Python uses of an object without asking a hook: classes that have none of it are plain."""

from __future__ import annotations

import functools
import types
from dataclasses import is_dataclass
from typing import Any

_OPERATORS = frozenset(
    f"__{name}__"
    for name in (
        *("add", "radd", "sub", "rsub", "mul", "rmul", "truediv", "rtruediv", "floordiv", "mod"),
        *("pow", "rpow", "matmul", "rmatmul", "neg", "pos", "abs", "invert", "and", "or", "xor"),
        *("lt", "le", "gt", "ge", "eq", "iter", "next", "contains", "len", "bool", "index"),
        *("float", "int", "enter", "array_ufunc", "array_function", "array"),
        *("getattr", "getattribute", "setattr", "delattr"),
    )
)
"""Special methods that Python runs without asking a hook."""


def is_plain_object(value: Any) -> bool:
    """Whether an object's attributes, items and calls are all that Python uses of it."""
    if type(value) is functools.partial:
        return True
    return hasattr(value, "__dict__") and is_plain_class(type(value))


def is_plain_class(kind: type) -> bool:
    """Whether a class has none of the methods that Python runs without asking a hook."""
    generated = {"__eq__", "__setattr__", "__delattr__"} if is_dataclass(kind) else set()
    return not any(
        name in _OPERATORS and name not in generated
        for base in kind.__mro__
        if base is not object and base is not tuple
        for name in vars(base)
    )


_STORED = (
    types.FunctionType,
    types.BuiltinFunctionType,
    types.MemberDescriptorType,
    types.GetSetDescriptorType,
    types.MethodDescriptorType,
    types.WrapperDescriptorType,
    types.ClassMethodDescriptorType,
    property,
    staticmethod,
    classmethod,
)


def runs_code(kind: type, name: str) -> bool:
    """Whether a class has a descriptor of its own kind for an attribute."""
    for base in kind.__mro__:
        if name in vars(base):
            found = vars(base)[name]
            return hasattr(type(found), "__get__") and not isinstance(found, _STORED)
    return False
