"""What translated loops are made of: classes of variables, operands, expressions."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import field
from typing import Any, Final, Literal, TypeAlias

from matlab_frontend import nodes
from matlab_frontend.source import Span
from runmat_jit.core.frozen import frozen

Kind: TypeAlias = Literal[
    "double", "logical", "single", "int8", "int16", "int32", "uint8", "uint16", "uint32"
]
"""The class of a number. Those of all classes but ``logical`` are Python's floats in a loop."""
NARROW: Final[Mapping[str, Kind]] = {
    "single": "single",
    "int8": "int8",
    "int16": "int16",
    "int32": "int32",
    "uint8": "uint8",
    "uint16": "uint16",
    "uint32": "uint32",
}
"""Classes of which each result is rounded to a number of the class."""


class NotNative(Exception):  # noqa: N818  (a signal within this package, never a user's)
    """A loop is interpreted: why, and the part that does not run natively."""

    def __init__(self, why: str, span: Span | None = None) -> None:
        super().__init__(why)
        self.why, self.span = why, span


class RecursiveError(NotNative):
    """A function calls itself, by way of others perhaps: no kernel does."""


@frozen
class NumberClass:
    """A variable that is a real scalar, or a truth value."""

    kind: Kind


@frozen
class ArrayClass:
    """A variable that is an array of real floats, or of truth values, with so many axes.

    ``is_row``, ``is_column``: it has one row, or one column, and two axes.
    """

    kind: Kind
    axes: int
    is_row: bool = False
    is_column: bool = False


@frozen
class NamedFunction:
    """A variable that is a handle of a function with a name, as the code of ``scope`` sees it."""

    name: str
    scope: Any


@frozen
class OtherClass:
    """A variable that is anything else."""


@frozen
class Handle:
    """A variable that is a handle of an anonymous function.

    ``captured`` are the classes of its numbers, ``others`` those of what else it captured;
    ``body`` and ``scope`` as of the handle.
    """

    parameters: tuple[str, ...]
    body: nodes.Expression
    scope: Any = field(compare=False)
    captured: tuple[tuple[str, Kind], ...]
    others: tuple[tuple[str, NamedFunction | OtherClass], ...]


VariableClass: TypeAlias = NumberClass | ArrayClass | Handle | NamedFunction | OtherClass


@frozen
class Filled:
    """``zeros``, ``ones`` or ``eye`` of sizes: numbers, or variables that the loop leaves alone."""

    builtin: str
    sizes: tuple[int | str, ...]


@frozen
class Operand:
    """What a translated loop is given.

    Of a variable: its number (``value``), the array (``data``), the array as one line (``line``),
    that line with ``room`` behind it, or the extent of an axis in MATLAB's order (``extent``); the
    number as an integer (``count``, -1 where it is none); of a handle the number that it captured
    (``captured``, whose name is ``part``). Of the loop: its ``first``, ``stop`` and ``step``, or
    its ``items``; random numbers (``draws``), or what draws them (``generator``). Or a number that
    is always the same (``constant``): ``part``; or how far the one that ``part`` names may go while
    there is room for a turn (``limit``). Or an array that is always the same (``filled``): ``part``
    is a :class:`Filled`.
    """

    what: Literal[
        "value",
        "data",
        "line",
        "room",
        "extent",
        "captured",
        "first",
        "stop",
        "step",
        "items",
        "draws",
        "generator",
        "count",
        "constant",
        "limit",
        "filled",
    ]
    variable: str = ""
    part: Any = None


@frozen
class Made:
    """An expression; ``whole``: as an integer, if it is made of integers alone."""

    node: ast.expr
    kind: Kind
    whole: ast.expr | None = None
