"""Plain objects: of classes without methods that Python runs and no hook sees."""

from __future__ import annotations

import enum
import functools
import types
from dataclasses import is_dataclass
from typing import Any

import numpy as np

from runmat_jit.capture.tape.pytree import at_once

_BINARY = (
    *("add", "sub", "mul", "truediv", "floordiv", "mod", "divmod", "pow", "matmul"),
    *("lshift", "rshift", "and", "or", "xor"),
)
_OPERATORS = frozenset(
    f"__{name}__"
    for name in (
        *_BINARY,
        *(f"r{name}" for name in _BINARY),
        *("neg", "pos", "abs", "invert", "lt", "le", "gt", "ge", "eq", "ne", "hash"),
        *("iter", "next", "contains", "len", "bool", "index", "float", "int", "complex"),
        *("enter", "exit", "instancecheck", "subclasscheck"),
        *("array_ufunc", "array_function", "array"),
        *("getattr", "getattribute", "setattr", "delattr"),
    )
)
"""Special methods that Python runs without asking a hook."""


_ANSWERS = tuple(
    f"__{name}__"
    for name in (
        *("bytes", "reversed", "round", "trunc", "floor", "ceil", "length_hint"),
        *("hash", "str", "repr", "format", "fspath", "sizeof", "dir"),
    )
)
"""Special methods that builtins run for whoever calls them."""


def answers_builtins(kind: type) -> bool:
    """True if a class of the user's says itself what a builtin gives for its objects."""
    return any(has_own(kind, name) for name in _ANSWERS)


def is_plain_object(value: Any) -> bool:
    """True if an object's attributes, items and calls are all that Python uses of it."""
    if type(value) is functools.partial:
        return True
    kind = type(value)
    return (hasattr(value, "__dict__") or is_slotted(kind)) and is_plain_class(kind)


def is_slotted(kind: type) -> bool:
    """True if the state of a class's instances is in slots that Python code names."""
    return all("__slots__" in vars(base) for base in kind.__mro__[:-1])


def is_plain_class(kind: type) -> bool:
    """True if a class has none of the methods that Python runs without asking a hook."""
    made = {"__eq__", "__hash__", "__setattr__", "__delattr__"} if is_dataclass(kind) else set()
    return not any(
        name in _OPERATORS and name not in made
        for base in kind.__mro__
        if base is not object and base is not tuple
        for name in vars(base)
    )


_INERT = (
    *(bool, int, float, complex, str, bytes, type(None), range, type, types.ModuleType),
    *(np.ndarray, np.generic, np.dtype, enum.Enum),
)
_DEPTH = 3


def is_inert(value: Any, depth: int = 0) -> bool:
    """True if using a value runs no code of its own: it is no iterator, manager or other engine."""
    if isinstance(value, _INERT):
        return True
    if type(value) in (tuple, list, set, frozenset, dict):
        held = at_once(lambda: (*value, *value.values()) if type(value) is dict else (*value,))
        return depth < _DEPTH and all(is_inert(item, depth + 1) for item in held)
    return is_plain_object(value)


_LIBRARIES = ("builtins", "enum", "abc", "functools", "collections", "types", "typing")
"""Modules whose classes compute attributes that do not change."""
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


def in_class(kind: type, name: str) -> Any:
    """Attribute of a class or one of its bases; looking it up runs no code."""
    return next((vars(base)[name] for base in kind.__mro__ if name in vars(base)), None)


def makes_classes(kind: type) -> bool:
    """True if a class, as a base or a metaclass, runs code of the user's for a new class."""
    bases = [base for base in kind.__mro__ if base.__module__ not in _LIBRARIES]
    is_metaclass = issubclass(kind, type) and bool(bases)
    return is_metaclass or has_metaclass(kind) or has_own(kind, "__init_subclass__")


def has_metaclass(value: Any) -> bool:
    """True if a class has a metaclass of the user's, which may answer ``isinstance`` by code."""
    metaclass: type = type(value)
    return isinstance(value, type) and any(
        base.__module__ not in _LIBRARIES for base in metaclass.__mro__
    )


_MAKING = frozenset(f"__{name}__" for name in ("new", "init", "prepare", "call", "module", "doc"))


def is_plain_metaclass(metaclass: type) -> bool:
    """True if a metaclass of the user's has no special methods but those that make classes."""
    own = [vars(base) for base in metaclass.__mro__ if base.__module__ not in _LIBRARIES]
    special = {name for names in own for name in names if name.startswith("__")}
    return not any(callable(getattr(metaclass, name)) for name in special - _MAKING)


def computes_items(kind: type) -> bool:
    """True if code of the user's gives the items of a class."""
    metaclass: type = type(kind)
    return has_own(metaclass, "__getitem__") or has_own(kind, "__class_getitem__")


def has_own(kind: type, name: str) -> bool:
    """True if what a class has under a name was written by the user."""
    owner = next((base for base in kind.__mro__ if name in vars(base)), object)
    return owner.__module__ not in _LIBRARIES


def runs_code(kind: type, name: str) -> bool:
    """True if a class has a descriptor of its own kind for an attribute."""
    found = in_class(kind, name)
    return hasattr(type(found), "__get__") and not isinstance(found, _STORED)


def is_computed(obj: Any, name: str) -> bool:
    """True if an attribute is what ``__getattr__`` or ``__getattribute__`` of its class gives."""
    classes = [vars(base) for base in type(obj).__mro__ if base.__module__ not in _LIBRARIES]
    if any("__getattribute__" in each for each in classes):
        return True
    if not any("__getattr__" in each for each in classes):
        return False
    held = in_class(obj, name) if isinstance(obj, type) else getattr(obj, "__dict__", {}).get(name)
    return held is None and in_class(type(obj), name) is None
