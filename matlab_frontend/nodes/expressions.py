"""What has a value."""

from __future__ import annotations

from typing import TypeAlias

from matlab_frontend.nodes.node import Node
from runmat_jit.core.frozen import frozen


@frozen
class Number(Node):
    """A double: ``1``, ``.5e3``; ``2i`` is the imaginary number ``value * i``."""

    value: float
    imaginary: bool
    digits: int | None = None
    """The whole number that is written, where it may be none of a double."""


@frozen
class IntegerLiteral(Node):
    """A hexadecimal or binary number of an integer class: ``0x1F`` is a ``uint8``."""

    value: int
    class_name: str


@frozen
class CharLiteral(Node):
    """``'text'``, doubled quotes undone."""

    text: str


@frozen
class StringLiteral(Node):
    """``"text"``, doubled quotes undone."""

    text: str


@frozen
class Name(Node):
    """A variable, or a function called without arguments."""

    name: str


@frozen
class Colon(Node):
    """``:`` alone as an argument."""


@frozen
class End(Node):
    """``end`` as a value, in the arguments of an index."""


@frozen
class Parenthesized(Node):
    """``(expression)``: one value, even where the expression is a comma-separated list."""

    expression: Expression


@frozen
class Unary(Node):
    """Operator before its operand: ``-``, ``+`` or ``~``."""

    operator: str
    operand: Expression


@frozen
class Postfix(Node):
    """Operator after its operand: ``'`` or ``.'``."""

    operator: str
    operand: Expression


@frozen
class Binary(Node):
    """Arithmetic, comparison, and element-wise ``&`` and ``|``; ``!=`` is read as ``~=``."""

    operator: str
    left: Expression
    right: Expression


@frozen
class ShortCircuit(Node):
    """``&&`` or ``||``: the right operand is evaluated only if the left one does not decide."""

    operator: str
    left: Expression
    right: Expression


@frozen
class Range(Node):
    """``start:stop`` (no step) or ``start:step:stop``."""

    start: Expression
    step: Expression | None
    stop: Expression


@frozen
class Matrix(Node):
    """``[...]``; rows without elements are left out, so ``[]`` has no rows."""

    rows: tuple[tuple[Expression, ...], ...]


@frozen
class CellArray(Node):
    """``{...}``; rows without elements are left out."""

    rows: tuple[tuple[Expression, ...], ...]


@frozen
class Index(Node):
    """``target(arguments)``: an index into a variable or a call of a function."""

    target: Expression
    arguments: tuple[Expression, ...]


@frozen
class CellIndex(Node):
    """``target{arguments}``."""

    target: Expression
    arguments: tuple[Expression, ...]


@frozen
class Field(Node):
    """``target.name``."""

    target: Expression
    name: str


@frozen
class DynamicField(Node):
    """``target.(name)``, the name computed."""

    target: Expression
    name: Expression


@frozen
class FunctionHandle(Node):
    """``@name``; a name of a package keeps its dots."""

    name: str


@frozen
class AnonymousFunction(Node):
    """``@(parameters) body``; a parameter that is not used is named ``IGNORED``."""

    parameters: tuple[str, ...]
    body: Expression


@frozen
class NamedArgument(Node):
    """``name=value`` among the arguments of an ``Index``: the same as ``'name', value``."""

    name: str
    value: Expression


Expression: TypeAlias = (
    Number
    | IntegerLiteral
    | CharLiteral
    | StringLiteral
    | Name
    | Colon
    | End
    | Parenthesized
    | Unary
    | Postfix
    | Binary
    | ShortCircuit
    | Range
    | Matrix
    | CellArray
    | Index
    | CellIndex
    | Field
    | DynamicField
    | FunctionHandle
    | AnonymousFunction
    | NamedArgument
)
