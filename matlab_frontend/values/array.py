"""What a variable holds.

Elements lie column by column, as MATLAB's do. An array of size 2-by-3 is kept as row-major data of
shape (3, 2): with the axes in reverse, NumPy's rules (broadcasting from the last axis, reshaping,
the fast axis) are MATLAB's rules. There are always two axes at least.

``data`` belongs to an engine and need not be computed: only its dtype and shape are known for
free. A real double scalar whose value is known is a Python ``float``, a logical one a ``bool``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from matlab_frontend.errors import MatlabError

Data: TypeAlias = Any
"""An array of an engine: has ``dtype`` and ``shape``, axes in reverse."""
Shape: TypeAlias = tuple[int, ...]
"""A size as MATLAB writes it: rows, columns, pages."""


@dataclass(frozen=True, slots=True)
class Array:
    """Numbers, truth values, characters or strings.

    ``kind`` is MATLAB's class; of a gpuArray, which is ``on_device``, that of its elements.
    """

    kind: str
    data: Data
    on_device: bool = False


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell array: NumPy objects that are values."""

    data: np.ndarray


@dataclass(frozen=True, slots=True)
class Struct:
    """A struct array: one mapping an element, all with the same fields in the same order."""

    fields: tuple[str, ...]
    data: np.ndarray


@dataclass(frozen=True, slots=True)
class NamedHandle:
    """``@name``; ``scope`` is the file whose functions come first."""

    name: str
    scope: Any = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True, eq=False)
class AnonymousHandle:
    """``@(parameters) body`` with the variables that it captured.

    ``body`` is a node; ``scope`` is the file whose functions it may call, and ``text`` how MATLAB
    shows it.
    """

    parameters: tuple[str, ...]
    body: Any
    captured: Mapping[str, Value]
    text: str
    scope: Any


@dataclass(frozen=True, slots=True, eq=False)
class ErrorObject:
    """An ``MException``."""

    identifier: str
    message: str


@dataclass(frozen=True, slots=True, eq=False)
class MapObject:
    """A ``containers.Map``: a handle, so that all its copies share ``items``."""

    items: dict[str | float, Value]
    key_kind: str

    def at(self, key: str | float) -> Value:
        """The value of a key.

        Raises:
            MatlabError: the map has no such key.

        """
        if key not in self.items:
            raise MatlabError(
                "MATLAB:Containers:Map:NoKey", "The specified key is not present in this container."
            )
        return self.items[key]


@dataclass(slots=True, eq=False)
class ParserObject:
    """An ``inputParser``: a handle, which its methods change.

    ``required``, ``optional`` and ``parameters`` hold default values (None where there is none)
    and validation functions (None for none) by name; ``results``, ``unmatched`` and
    ``using_defaults`` are what the last ``parse`` found.
    """

    required: dict[str, Value | None] = field(default_factory=dict)
    optional: dict[str, tuple[Value, Value | None]] = field(default_factory=dict)
    parameters: dict[str, tuple[Value, Value | None]] = field(default_factory=dict)
    settings: dict[str, Value] = field(default_factory=dict)
    results: dict[str, Value] = field(default_factory=dict)
    unmatched: dict[str, Value] = field(default_factory=dict)
    using_defaults: tuple[str, ...] = ()


Value: TypeAlias = (
    float
    | bool
    | Array
    | Cell
    | Struct
    | NamedHandle
    | AnonymousHandle
    | ErrorObject
    | MapObject
    | ParserObject
)
HANDLES = (NamedHandle, AnonymousHandle)
OBJECTS = (ErrorObject, MapObject, ParserObject)
"""Values of classes: shown by a headline, and without elements of their own."""


def shape_of(value: Value) -> Shape:
    """MATLAB's ``size`` of a value; never looks at elements."""
    if isinstance(value, (Array, Cell, Struct)):
        return tuple(value.data.shape[::-1])
    if isinstance(value, MapObject):
        return (len(value.items), 1)
    return (1, 1)


def count_of(value: Value) -> int:
    """How many elements a value has."""
    count = 1
    for extent in shape_of(value):
        count *= extent
    return count


def kind_of(value: Value) -> str:
    """MATLAB's ``class`` of a value."""
    if isinstance(value, Array):
        return value.kind
    return _KINDS[type(value)]


def as_array(value: Value) -> Array | None:
    """A value as an array, scalars included; None for cells, structs and objects."""
    if isinstance(value, Array):
        return value
    if isinstance(value, bool):
        return Array("logical", np.full((1, 1), value))
    if isinstance(value, float):
        return Array("double", np.full((1, 1), value))
    return None


_KINDS = {
    float: "double",
    bool: "logical",
    Cell: "cell",
    Struct: "struct",
    NamedHandle: "function_handle",
    AnonymousHandle: "function_handle",
    ErrorObject: "MException",
    MapObject: "containers.Map",
    ParserObject: "inputParser",
}
