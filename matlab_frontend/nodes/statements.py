"""What is done. ``suppressed`` says that a semicolon follows: nothing is displayed."""

from __future__ import annotations

from typing import TypeAlias

from matlab_frontend.nodes.expressions import (
    CellIndex,
    DynamicField,
    Expression,
    Field,
    Index,
    Name,
)
from matlab_frontend.nodes.node import Node
from runmat_jit.core.frozen import frozen


@frozen
class Placeholder(Node):
    """``~`` among the targets of an assignment: this output is dropped."""


Reference: TypeAlias = Name | Index | CellIndex | Field | DynamicField
Target: TypeAlias = Reference | Placeholder


@frozen
class ExpressionStatement(Node):
    expression: Expression
    suppressed: bool


@frozen
class Assignment(Node):
    """``target = value``, or ``[targets] = value`` with several outputs of one call.

    ``bracketed`` says that the targets stood in brackets: a target such as ``c{:}`` then takes as
    many outputs as it names.
    """

    targets: tuple[Target, ...]
    value: Expression
    suppressed: bool
    bracketed: bool


@frozen
class Deletion(Node):
    """``target(arguments) = []``, the brackets written literally: elements are removed."""

    target: Index
    suppressed: bool


@frozen
class Command(Node):
    """Command syntax, ``hold on``: a call with character vectors."""

    name: str
    words: tuple[str, ...]
    suppressed: bool


@frozen
class Branch(Node):
    """``if`` or ``elseif`` with its body."""

    condition: Expression
    body: Block


@frozen
class If(Node):
    branches: tuple[Branch, ...]
    otherwise: Block


@frozen
class For(Node):
    """``for target = columns``; ``parallel`` for ``parfor``, whose limit on workers is not kept."""

    target: Reference
    columns: Expression
    body: Block
    parallel: bool


@frozen
class While(Node):
    condition: Expression
    body: Block


@frozen
class DoUntil(Node):
    """Octave's loop: the body is run until the condition holds, at least once."""

    body: Block
    condition: Expression


@frozen
class Case(Node):
    """``case value``; the value may be a cell array of alternatives."""

    value: Expression
    body: Block


@frozen
class Switch(Node):
    subject: Expression
    cases: tuple[Case, ...]
    otherwise: Block


@frozen
class Try(Node):
    """``try body catch error, handler``; ``error`` is the variable's name where there is one."""

    body: Block
    error: str | None
    handler: Block


@frozen
class UnwindProtect(Node):
    """Octave's block whose cleanup is run whatever happens in the body."""

    body: Block
    cleanup: Block


@frozen
class Global(Node):
    names: tuple[str, ...]


@frozen
class Persistent(Node):
    names: tuple[str, ...]


@frozen
class Return(Node):
    """``return``."""


@frozen
class Break(Node):
    """``break``."""


@frozen
class Continue(Node):
    """``continue``."""


Statement: TypeAlias = (
    ExpressionStatement
    | Assignment
    | Deletion
    | Command
    | If
    | For
    | While
    | DoUntil
    | Switch
    | Try
    | UnwindProtect
    | Global
    | Persistent
    | Return
    | Break
    | Continue
)
Block: TypeAlias = tuple[Statement, ...]
