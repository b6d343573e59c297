"""What a variable holds.

Elements lie column by column, as MATLAB's do. An array of size 2-by-3 is kept as row-major data of
shape (3, 2): with the axes in reverse, NumPy's rules (broadcasting from the last axis, reshaping,
the fast axis) are MATLAB's rules. There are always two axes at least.

``data`` belongs to an engine and need not be computed: only its dtype and shape are known for
free. A real double scalar whose value is known is a Python ``float``, a logical one a ``bool``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Any, TypeAlias

import numpy as np

from matlab_frontend.errors import MatlabError, Place
from runmat_jit.core.frozen import frozen, frozen_object
from runmat_jit.core.slotted import slotted_object

Data: TypeAlias = Any
"""An array of an engine: has ``dtype`` and ``shape``, axes in reverse."""
Shape: TypeAlias = tuple[int, ...]
"""A size as MATLAB writes it: rows, columns, pages."""


@frozen
class Array:
    """Numbers, truth values, characters or strings.

    ``kind`` is MATLAB's class; of a gpuArray, which is ``on_device``, that of its elements.
    """

    kind: str
    data: Data
    on_device: bool = False


@frozen
class Cell:
    """A cell array: NumPy objects that are values."""

    data: np.ndarray


@frozen
class Struct:
    """A struct array: one mapping an element, all with the same fields in the same order."""

    fields: tuple[str, ...]
    data: np.ndarray


@frozen
class NamedHandle:
    """``@name``; ``scope`` is the file whose functions come first."""

    name: str
    scope: Any = field(default=None, compare=False, repr=False)


@frozen_object
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


@frozen_object
class ErrorObject:
    """An ``MException``; ``notes`` are what a report of it says of its place."""

    identifier: str
    message: str
    stack: tuple[Place, ...] = ()
    causes: tuple[ErrorObject, ...] = ()
    notes: tuple[str, ...] = ()


class CleanupObject:
    """An ``onCleanup``: runs its task when nothing holds it any more, once."""

    __slots__ = ("run", "task")

    def __init__(self, task: Value, run: Callable[[Value], None]) -> None:
        self.task = task
        self.run: Callable[[Value], None] | None = run

    def __del__(self) -> None:
        run, self.run = self.run, None
        if run is not None:
            run(self.task)


@frozen_object
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


@slotted_object
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


class Extension:
    """A value of a class with indexing, operators, functions and a display of its own.

    What a class does not define is an error that names it. ``assign`` stores in ordinary arrays:
    it gives a value with another one at subscripts.
    """

    __slots__ = ()
    kind: str
    """MATLAB's class."""
    spaced = True
    """True if a display leaves a blank after the sign of the name."""

    @property
    def shape(self) -> Shape:
        """MATLAB's ``size``."""
        return (1, 1)

    def as_array(self) -> Array | None:
        """The same elements as an array, for functions that know nothing of the class."""
        return None

    def index(self, engine: Any, subscripts: list[Any]) -> Value:
        """``value(subscripts)``."""
        raise self.refusal("Indexing with parentheses '()'")

    def contents(self, engine: Any, subscripts: list[Any]) -> list[Value]:
        """``value{subscripts}``."""
        raise self.refusal("Brace indexing")

    def field(self, engine: Any, name: str) -> Value:
        """``value.name``."""
        raise MatlabError(
            "MATLAB:noSuchMethodOrField",
            f"Unrecognized method, property, or field '{name}' for class '{self.kind}'.",
        )

    def put(self, engine: Any, subscripts: list[Any], value: Value, assign: Assign) -> Value:
        """The value after ``value(subscripts) = ...``."""
        raise self.refusal("Assignment with parentheses '()'")

    def put_contents(
        self, engine: Any, subscripts: list[Any], value: Value, assign: Assign
    ) -> Value:
        """The value after ``value{subscripts} = ...``."""
        raise self.refusal("Brace assignment")

    def put_field(self, engine: Any, name: str, value: Value) -> Value:
        """The value after ``value.name = ...``."""
        raise self.refusal(f"Assignment to '{name}'")

    def without(self, engine: Any, subscripts: list[Any], delete: Delete) -> Value:
        """The value after ``value(subscripts) = []``; ``delete`` does so to an array."""
        raise self.refusal("Deletion of elements")

    def overload(self, name: str) -> Callable[..., Any] | None:
        """What a function does with values of this class; None where it does nothing special."""
        return None

    def operate(
        self, operator: str, function: Callable[..., Value], engine: Any, operands: list[Value]
    ) -> Value:
        """An operator on values of which one is of this class; ``function`` is that of arrays."""
        raise self.refusal(f"Operator '{operator}'")

    def join(self, engine: Any, values: list[Value], axis: int, join: Join) -> Value:
        """Values side by side (axis 1) or below one another (axis 0)."""
        raise self.refusal("Concatenation")

    def refusal(self, what: str) -> MatlabError:
        """The error of what this class does not define."""
        message = f"{what} is not supported for values of class '{self.kind}'."
        return MatlabError("MATLAB:UndefinedFunction", message)

    def show(self, engine: Any) -> tuple[str, tuple[str, ...]]:
        """The header of a display and its lines."""
        return self.kind, ()

    def brief(self) -> str:
        """What a struct or a cell array shows of it; where nothing, its size and class."""
        return ""

    def to_python(self) -> Any:
        """The value outside of programs."""
        return self


Assign: TypeAlias = "Callable[[list[Any], Value, Value], Value]"
Delete: TypeAlias = "Callable[[list[Any], Value], Value]"
Join: TypeAlias = "Callable[[list[Value]], Value]"
Value: TypeAlias = (
    float
    | bool
    | Array
    | Cell
    | Struct
    | NamedHandle
    | AnonymousHandle
    | CleanupObject
    | ErrorObject
    | MapObject
    | ParserObject
    | Extension
)
Object: TypeAlias = CleanupObject | ErrorObject | MapObject | ParserObject
HANDLES = (NamedHandle, AnonymousHandle)
OBJECTS = (CleanupObject, ErrorObject, MapObject, ParserObject)
"""Values of classes: shown by a headline, and without elements of their own."""


def shape_of(value: Value) -> Shape:
    """MATLAB's ``size`` of a value; never looks at elements."""
    if isinstance(value, (Array, Cell, Struct)):
        return tuple(value.data.shape[::-1])
    if isinstance(value, MapObject):
        return (len(value.items), 1)
    return value.shape if isinstance(value, Extension) else (1, 1)


def count_of(value: Value) -> int:
    """Number of elements a value has."""
    count = 1
    for extent in shape_of(value):
        count *= extent
    return count


def kind_of(value: Value) -> str:
    """MATLAB's ``class`` of a value."""
    if isinstance(value, Array):
        return value.kind
    if isinstance(value, Extension):
        return value.kind
    return _KINDS[type(value)]


def as_array(value: Value) -> Array | None:
    """A value as an array, scalars and sparse ones included; None for cells and objects."""
    if isinstance(value, Array):
        return value
    if isinstance(value, bool):
        return Array("logical", np.full((1, 1), value))
    if isinstance(value, float):
        return Array("double", np.full((1, 1), value))
    return value.as_array() if isinstance(value, Extension) else None


_KINDS = {
    float: "double",
    bool: "logical",
    Cell: "cell",
    Struct: "struct",
    NamedHandle: "function_handle",
    AnonymousHandle: "function_handle",
    CleanupObject: "onCleanup",
    ErrorObject: "MException",
    MapObject: "containers.Map",
    ParserObject: "inputParser",
}
