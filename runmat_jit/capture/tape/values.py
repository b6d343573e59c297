"""Classes of values: what a kernel can read, what a tape keeps as it is, and equality by bits."""

from __future__ import annotations

import enum
import struct
import sys
import types
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import numpy as np

from runmat_jit.core.generators import is_own_generator
from runmat_jit.core.types import DUPLICATES, c_strides

SCALARS = (bool, int, float, complex)

TEXTS = (str, bytes, np.str_, np.bytes_)
"""Classes of text."""

NUMBERS = frozenset("?bhilqBHILQefdFD") - DUPLICATES
"""Type characters of what is traced: dtypes of arrays, and NumPy scalars."""

_OPAQUE = frozenset("MmgG") | DUPLICATES

CONSTANTS = (
    *SCALARS,
    str,
    bytes,
    type(None),
    type(Ellipsis),
    type(NotImplemented),
    type,
    np.dtype,
    np.generic,
    np.ufunc,
    range,
    types.BuiltinFunctionType,
    type(np.sum),
    enum.Enum,
)
"""Classes of values that a tape may keep as they are: immutable, or compared by identity."""

DEPTH_LIMIT = 20
"""Containers nested deeper are not followed: they may hold themselves."""


class Unencodable(Exception):  # noqa: N818  (an answer: the caller makes it an effect)
    """A value that a tape cannot keep."""


def bits_of(value: Any) -> tuple[Any, ...]:
    """A key by type and bits: ``0.0``, ``-0.0``, NaN, ``1``, ``True`` and ``1.0`` all differ."""
    kind = type(value)
    if kind is float:
        return kind, struct.pack("<d", value)
    if kind is complex:
        return kind, struct.pack("<dd", value.real, value.imag)
    if isinstance(value, np.generic):
        return kind, value.dtype.str, value.tobytes()
    if isinstance(value, tuple):
        return kind, *map(bits_of, value)
    if kind is frozenset:
        return kind, frozenset(map(bits_of, value))
    return kind, value


def exact_value(value: Any) -> Callable[[Any], bool]:
    """A test for exactly this value."""
    key = bits_of(value)
    return lambda other: bits_of(other) == key


def is_traceable(array: np.ndarray) -> bool:
    """True if an array's memory is what kernels and views can speak of."""
    dtype = array.dtype
    return (
        type(array) is np.ndarray
        and dtype.isnative
        and dtype.kind in "biufc"
        and dtype.char in NUMBERS
        and array.flags.aligned
        and not any(stride % dtype.itemsize for stride in array.strides)  # fields of records
    )


def is_opaque(array: np.ndarray) -> bool:
    """True if NumPy alone computes with an array: text, dates, records, another byte order."""
    dtype = array.dtype
    known = dtype.kind in "biufcSUMmV" and not dtype.hasobject
    return type(array) is np.ndarray and known and not is_traceable(array)


def is_opaque_scalar(value: Any) -> bool:
    """True if a value is an immutable scalar that no kernel reads: a date, a long double."""
    return isinstance(value, np.generic) and value.dtype.char in _OPAQUE


def is_bound(value: Any) -> bool:
    """True if a builtin function is the method of an object, which may change."""
    if type(value) is not types.BuiltinFunctionType:
        return False
    return not isinstance(value.__self__, (types.ModuleType, type, type(None)))


def is_random_state(kind: type) -> bool:
    """True if a class is of generators of random numbers, or of what NumPy's are made of.

    Values of these are known by their slots. There is none while ``numpy.random`` is not loaded,
    which would make the first call of most programs slower.
    """
    return is_own_generator(kind) or ("numpy.random" in sys.modules and kind in random_states())


@cache  # what NumPy has
def random_states() -> frozenset[type]:
    """These classes; asking for them loads ``numpy.random``."""
    made = np.random
    return frozenset(
        (
            *(made.Generator, made.RandomState, made.SeedSequence, made.PCG64, made.PCG64DXSM),
            *(made.MT19937, made.Philox, made.SFC64),
        )
    )


def is_number(value: Any) -> bool:
    """True if a value is a NumPy scalar that a trace can be recorded for, whatever its value."""
    return isinstance(value, np.generic) and value.dtype.char in NUMBERS


def steps_of(shape: tuple[int, ...], dtype: np.dtype) -> tuple[int, ...]:
    """Strides (bytes) of new memory in C order."""
    return tuple([step * dtype.itemsize for step in c_strides(shape)])


ARRAY, GENERIC, PYTHON = "array", "NumPy scalar", "Python scalar"
"""Kinds of traced values."""
NOTHING: Mapping[str, Any] = {}
