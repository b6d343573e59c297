"""The key of a call: everything about its arguments that a trace is recorded for.

Arrays count by dtype, shape, strides and flags, and by how they lie to each other; Python numbers
by class alone (their values are slots); text, truth values and None by value; functions by code
(their cells and defaults are outside state); containers by structure; other objects by class.

A key has two parts: what a family of calls has in common, and the extents of arrays by which they
differ, with the strides of those that have gaps.
"""

from __future__ import annotations

import enum
import types
from collections.abc import Callable, Hashable
from typing import Any

import numpy as np

from runmat_jit.capture.replay.guards import relation
from runmat_jit.capture.replay.plain_objects import in_class
from runmat_jit.capture.tape.pytree import Structure, is_namedtuple, take_apart
from runmat_jit.capture.tape.values import NUMBERS, is_number, is_opaque, is_traceable
from runmat_jit.core.protocols import Boundary
from runmat_jit.core.reasons import Reason
from runmat_jit.core.types import c_strides
from runmat_jit.runtime.arrays import ResidentArray

_FLAGS = 0x500  # NPY_ARRAY_ALIGNED | NPY_ARRAY_WRITEABLE
_C_CONTIGUOUS, _CONTIGUOUS = 0x1, 0x3  # NPY_ARRAY_C_CONTIGUOUS; or NPY_ARRAY_F_CONTIGUOUS

Key = tuple[Hashable, tuple[int, ...]]
"""The family of a call, and the numbers by which it differs from others of the family."""
Contents = dict[int, tuple[Structure, list[Any]]]
"""What the containers that can change hold, by identity: another thread may change them."""
Given = tuple[tuple[Any, ...], dict[str, Any], Contents]
"""Arguments of a call, and what containers among them held when its key was made."""
_NUMBERS = (int, float, complex)
_PROGRAM = (
    *(types.BuiltinFunctionType, types.ModuleType, type, type(np.sum)),
    *(np.ufunc, np.dtype, np.generic, enum.Enum),
)
_TEXT = (bool, str, bytes, type(None), type(Ellipsis))


class NotCapturable(Exception):  # noqa: N818  (an answer: the call runs plain)
    """An argument that a recording cannot stand in for; ``reason`` is the row of its cause."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason


class HoldsArrays(Exception):  # noqa: N818  (likewise: ndarrays are to stand for them first)
    """An argument is or holds a :class:`runmat_jit.Array`; ``boundary``: see there."""

    def __init__(self, boundary: Callable[..., Boundary]) -> None:
        super().__init__()
        self.boundary = boundary


class CallKey:
    """Walks the arguments of one call: collects the key and the leaves in slots."""

    __slots__ = ("contents", "extents", "leaves", "parts", "seen")

    def __init__(self) -> None:
        self.parts: list[Hashable] = []
        self.extents: tuple[int, ...] = ()
        self.leaves: list[Any] = []
        self.seen: dict[int, int] = {}  # mutable containers and objects, by identity: slot
        self.contents: Contents = {}

    def add(self, value: Any) -> None:
        """Add one argument."""
        kind = type(value)
        if kind is np.ndarray:
            part, extents = array_key(value)
            self.parts.append(part)
            self.extents += extents
            self.leaves.append(value)
        elif kind in _NUMBERS or is_number(value):
            self.parts.append((kind,))
            self.leaves.append(value)
        elif kind in _TEXT or isinstance(value, enum.Enum):
            self.parts.append((kind, value))
        elif isinstance(value, np.generic):  # text, dates, long doubles: by value
            self.parts.append((kind, value.dtype, value.tobytes()))
        else:
            self.add_other(value, kind)

    def add_other(self, value: Any, kind: type) -> None:
        """Containers, functions and objects."""
        if isinstance(value, ResidentArray):
            raise HoldsArrays(value.boundary)
        known = self.seen.get(id(value))  # the arguments keep it alive
        if known is not None:
            self.parts.append(("same", known))
            return
        apart = take_apart(value)
        if apart is not None:
            structure, children = apart
            self.parts.append((structure, len(children)))
            if kind is not tuple and not is_namedtuple(value):
                self.leaf(value)
                self.contents[id(value)] = apart
            for child in children:
                self.add(child)
        elif kind is types.FunctionType:  # its cells and defaults are read as outside state
            given = bool(value.__defaults__), bool(value.__kwdefaults__)
            self.parts.append(("code", value.__code__, id(value.__globals__), given))
            self.leaf(value)
        elif kind is types.BuiltinFunctionType and type(value.__self__) is np.ufunc:
            self.parts.append(("method of a ufunc", value.__self__, value.__name__))
        elif kind is types.MethodType:  # its object is read as outside state, too
            self.parts.append(("method", getattr(value.__func__, "__code__", None)))
            self.leaf(value)
        elif kind is range or (kind is slice and is_simple(value)):
            self.parts.append((kind, value.start, value.stop, value.step))
        elif is_constant(value):
            self.parts.append(("identity", Identity(value)))
        else:
            self.parts.append(("object", kind))
            self.leaf(value)

    def leaf(self, value: Any) -> None:
        """An object with an identity of its own."""
        self.seen[id(value)] = len(self.leaves)
        self.leaves.append(value)

    def finish(self) -> Key:
        """The key, with the way the arrays lie to each other."""
        arrays = [leaf for leaf in self.leaves if type(leaf) is np.ndarray]
        if len(arrays) > 1:
            for number, array in enumerate(arrays):
                self.parts.extend(
                    (found, before, number)
                    for before in range(number)
                    if (found := relation(array, arrays[before])) != "apart"
                )
        return tuple(self.parts), self.extents


class Identity:
    """Compares an object by identity and keeps it alive."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Identity) and other.value is self.value

    def __hash__(self) -> int:
        return id(self.value)


def array_key(array: np.ndarray) -> tuple[Hashable, tuple[int, ...]]:
    """Key of an array in a family, and the numbers that it leaves open.

    These are the extents, and the strides (bytes) where those do not follow from the extents.
    Dtypes count with their numbers, by which ``longlong`` differs from ``int64``, which it equals.
    """
    flags, shape, dtype = array.flags.num, array.shape, array.dtype
    if flags & _C_CONTIGUOUS and 1 not in shape and 0 not in shape:  # nearly always
        return (dtype, dtype.num, len(shape), "C", flags & _FLAGS), shape
    if flags & _CONTIGUOUS:
        layout = layout_of(array)
        if layout is not None:
            return (dtype, dtype.num, len(shape), layout, flags & _FLAGS), shape
    return (dtype, dtype.num, len(shape), None, flags & _FLAGS), shape + array.strides


def layout_of(array: np.ndarray) -> str | None:
    """``C`` or ``F`` where the strides follow from the shape; None where they do not.

    NumPy takes any strides of axes with one element or none for contiguous.
    """
    flags, shape = array.flags.num, array.shape
    if 1 not in shape and 0 not in shape:
        return "C" if flags & _C_CONTIGUOUS else "F" if flags & _CONTIGUOUS else None
    size = array.itemsize
    return "C" if array.strides == tuple([step * size for step in c_strides(shape)]) else None


def require_capturable(leaves: list[Any]) -> None:
    """Refuse arguments that a recording cannot stand in for, or gains nothing from.

    Raises:
        NotCapturable: an object with a finalizer, a subclass of ndarray, an array of objects, or
            only arrays whose memory kernels cannot read (unaligned, byte-swapped, records, text,
            dates, long double).

    """
    for leaf in leaves:
        if type(in_class(type(leaf), "__del__")) is types.FunctionType:
            detail = f"an argument, a {type(leaf).__name__}, has a finalizer, which runs in time"
            raise NotCapturable("outside-object", detail)
    arrays = [leaf for leaf in leaves if isinstance(leaf, np.ndarray)]
    compiled = any(type(leaf) is np.ndarray and is_traceable(leaf) for leaf in arrays)
    for leaf in arrays:
        if type(leaf) is not np.ndarray:
            name = type(leaf).__name__
            detail = f"an argument is a {name}, a subclass of numpy.ndarray"
            raise NotCapturable("array-subclass", detail)
        if not is_traceable(leaf) and not (is_opaque(leaf) and compiled):
            known = leaf.dtype.isnative and leaf.dtype.char in NUMBERS
            aligned = "unaligned " if known else ""
            detail = f"an argument is an {aligned}array of dtype {leaf.dtype}"
            raise NotCapturable("array-dtype", detail)


def refusal_of(leaves: list[Any]) -> Reason | None:
    """Reason why a call with these arguments is plain; None where it can be recorded."""
    try:
        require_capturable(leaves)
    except NotCapturable as refused:
        return Reason(refused.reason, str(refused))
    return None


def is_constant(value: Any) -> bool:
    """True if an argument is part of the program rather than of its data."""
    kind = type(value)
    return (
        isinstance(value, _PROGRAM)
        or kind in _TEXT
        or kind is range
        or (kind is slice and is_simple(value))
    )


def is_simple(key: slice) -> bool:
    """True if a slice holds plain numbers."""
    return all(type(part) in (int, type(None)) for part in (key.start, key.stop, key.step))


def call_key(
    token: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Key, list[Any], Contents]:
    """Key and leaves of a call, and the contents of which they are.

    ``token`` stands for what NumPy does about events.
    """
    if len(args) == 1 and not kwargs and type(args[0]) is np.ndarray:  # the most common call
        part, extents = array_key(args[0])
        return ((token, part), extents), [args[0]], {}
    walk = CallKey()
    walk.parts.append(token)
    for arg in args:
        walk.add(arg)
    for name, arg in kwargs.items():
        walk.parts.append(name)
        walk.add(arg)
    return walk.finish(), walk.leaves, walk.contents
