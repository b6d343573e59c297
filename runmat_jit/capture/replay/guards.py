"""When what is found outside a function is the same to a trace as what was found before."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

import numpy as np

from runmat_jit.capture import callables

Holds = Callable[[Any, list[Any]], bool]


def is_followed_method(value: Any) -> bool:
    """True if a value is a method that reads its object."""
    return type(value) is types.MethodType and not callables.of(value).ordered


def is_fixed(value: Any) -> bool:
    """True if an object stays what it is while the program runs, or is asked by parts."""
    named = isinstance(value, tuple) and type(value).__module__ == "sys"
    return named or callables.of(value).ordered


def same_method(value: types.MethodType, owner: int | None) -> Holds:
    """A method of the same function, of the object in a slot; of one that is read next if None."""
    function: Any = value.__func__
    is_function = type(function) is types.FunctionType
    same = same_function(function) if is_function else lambda other, _slots: other is function

    def holds(other: Any, slots: list[Any]) -> bool:
        return (
            type(other) is types.MethodType
            and same(other.__func__, slots)
            and (owner is None or other.__self__ is slots[owner])
        )

    return holds


def same_function(value: types.FunctionType) -> Holds:
    """A function with the same code that sees the same variables."""
    code, plain = value.__code__, not (value.__closure__ or value.__defaults__)
    plain = plain and not value.__kwdefaults__

    def holds(other: Any, _slots: list[Any]) -> bool:
        if other is value:
            return other.__code__ is code
        return (
            plain
            and type(other) is types.FunctionType
            and other.__code__ is code
            and other.__globals__ is value.__globals__
            and not (other.__closure__ or other.__defaults__ or other.__kwdefaults__)
        )

    return holds


def array_facts(value: Any) -> tuple[Any, ...]:
    """Guarded facts of an input array."""
    if type(value) is not np.ndarray:
        return (type(value),)
    return value.dtype, value.dtype.num, value.shape, value.strides, value.flags.num & 0x500


def relation(a: np.ndarray, b: np.ndarray) -> Any:
    """How two arrays lie to each other: one object, apart, or overlapping at a distance."""
    if a is b:
        return "same"
    if not np.may_share_memory(a, b):
        return "apart"
    return a.__array_interface__["data"][0] - b.__array_interface__["data"][0]
