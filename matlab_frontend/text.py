"""A tree as text, to be read and compared: expressions in prefix form, blocks by indentation.

``x(2) = -y';`` is ``(= (index x 2) (- (' y)));``: the semicolon says that nothing is displayed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import Enum
from typing import Any, TypeAlias

from matlab_frontend import nodes
from matlab_frontend.nodes import Block, Expression, Node, Program, classes

_INDENT = "  "


class _Layout(Enum):
    LINE = "a new line"
    DEEPER = "more indentation from the next line on"
    BACK = "less"


_Part: TypeAlias = str | Node | _Layout
_Parts: TypeAlias = list[_Part]


def to_text(tree: Program | Node) -> str:
    """Print a program, one statement or function a line at least, or a single node."""
    if isinstance(tree, Program):
        parts = (*([tree.definition] if tree.definition else ()), *tree.statements, *tree.functions)
        return "".join(f"{_expanded(node)}\n" for node in parts)
    return _expanded(tree)


def _expanded(tree: Node) -> str:
    """Replace nodes by their parts until only text is left: a deep tree needs no deep stack."""
    written: list[str] = []
    pending: list[_Part] = [tree]
    depth = 0
    while pending:
        part = pending.pop()
        if isinstance(part, str):
            written.append(part)
        elif isinstance(part, Node):
            pending.extend(reversed(_PARTS[type(part)](part)))
        elif part is _Layout.LINE:
            written.append("\n" + _INDENT * depth)
        else:
            depth += 1 if part is _Layout.DEEPER else -1
    return "".join(written)


def _form(head: str, *parts: _Part) -> _Parts:
    """``(head part part)``."""
    return ["(" + head, *(piece for part in parts for piece in (" ", part)), ")"]


def _listed(parts: Iterable[_Part]) -> _Parts:
    return [piece for part in parts for piece in (" ", part)][1:]


def _rows(rows: tuple[tuple[Expression, ...], ...], brackets: str) -> _Parts:
    inside = [piece for row in rows for piece in ("; ", *_listed(row))][1:]
    return [brackets[0], *inside, brackets[1]]


def _number(node: nodes.Number) -> _Parts:
    return [repr(node.value).removesuffix(".0") + "i" * node.imaginary]


def _char(node: nodes.CharLiteral) -> _Parts:
    return ["'" + node.text.replace("'", "''") + "'"]


def _string(node: nodes.StringLiteral) -> _Parts:
    return ['"' + node.text.replace('"', '""') + '"']


def _range(node: nodes.Range) -> _Parts:
    step = () if node.step is None else (node.step,)
    return _form(":", node.start, *step, node.stop)


def _anonymous(node: nodes.AnonymousFunction) -> _Parts:
    return _form("@", f"({' '.join(node.parameters)})", node.body)


def _assignment(node: nodes.Assignment) -> _Parts:
    targets = _listed(node.targets)
    left = ["[", *targets, "]"] if node.bracketed else targets
    return ["(= ", *left, " ", node.value, ")", _semicolon(node.suppressed)]


def _command(node: nodes.Command) -> _Parts:
    words = (f"'{word}'" for word in node.words)
    return [*_form("command", node.name, *words), _semicolon(node.suppressed)]


def _if(node: nodes.If) -> _Parts:
    parts: _Parts = []
    for branch in node.branches:
        if parts:
            parts += [_Layout.LINE, "else"]
        parts += ["if ", branch.condition, *_block(branch.body)]
    if node.otherwise:
        parts += [_Layout.LINE, "else", *_block(node.otherwise)]
    return parts


def _for(node: nodes.For) -> _Parts:
    keyword = "parfor " if node.parallel else "for "
    return [keyword, node.target, " ", node.columns, *_block(node.body)]


def _switch(node: nodes.Switch) -> _Parts:
    parts: _Parts = ["switch ", node.subject]
    for case in node.cases:
        parts += [_Layout.LINE, "case ", case.value, *_block(case.body)]
    if node.otherwise:
        parts += [_Layout.LINE, "otherwise", *_block(node.otherwise)]
    return parts


def _try(node: nodes.Try) -> _Parts:
    error = "" if node.error is None else f" {node.error}"
    return ["try", *_block(node.body), _Layout.LINE, f"catch{error}", *_block(node.handler)]


def _function(node: nodes.Function) -> _Parts:
    head = f"function [{' '.join(node.outputs)}] = {node.name}({' '.join(node.inputs)})"
    return [head, *_block((*node.arguments, *node.body, *node.nested))]


def _declaration(node: nodes.ArgumentDeclaration) -> _Parts:
    parts: _Parts = [node.name, " (", *_listed(node.dimensions), ") ", node.class_name or "any"]
    parts += [" {", *_listed(node.validators), "}"]
    return parts if node.default is None else [*parts, " = ", node.default]


def _block(body: Block | tuple[Node, ...]) -> _Parts:
    lines = [piece for statement in body for piece in (_Layout.LINE, statement)]
    return [_Layout.DEEPER, *lines, _Layout.BACK]


def _attributes(node: classes.ClassDefinition | classes.ClassBlock) -> str:
    return " ".join(f"{name}={value}" for name, value in node.attributes)


def _semicolon(suppressed: bool) -> str:  # noqa: FBT001 - a field, not an option
    return ";" if suppressed else ""


_PARTS: dict[type[Node], Callable[[Any], _Parts]] = {
    nodes.Number: _number,
    nodes.IntegerLiteral: lambda n: [f"{n.value}:{n.class_name}"],
    nodes.CharLiteral: _char,
    nodes.StringLiteral: _string,
    nodes.Name: lambda n: [n.name],
    nodes.Colon: lambda _: [":"],
    nodes.End: lambda _: ["end"],
    nodes.Parenthesized: lambda n: _form("group", n.expression),
    nodes.Unary: lambda n: _form(n.operator, n.operand),
    nodes.Postfix: lambda n: _form(n.operator, n.operand),
    nodes.Binary: lambda n: _form(n.operator, n.left, n.right),
    nodes.ShortCircuit: lambda n: _form(n.operator, n.left, n.right),
    nodes.Range: _range,
    nodes.Matrix: lambda n: _rows(n.rows, "[]"),
    nodes.CellArray: lambda n: _rows(n.rows, "{}"),
    nodes.Index: lambda n: _form("index", n.target, *n.arguments),
    nodes.CellIndex: lambda n: _form("cell", n.target, *n.arguments),
    nodes.Field: lambda n: _form("field", n.target, n.name),
    nodes.DynamicField: lambda n: _form("dynamic", n.target, n.name),
    nodes.FunctionHandle: lambda n: ["@" + n.name],
    nodes.AnonymousFunction: _anonymous,
    nodes.NamedArgument: lambda n: _form("named", n.name, n.value),
    nodes.Placeholder: lambda _: ["~"],
    nodes.ExpressionStatement: lambda n: [n.expression, _semicolon(n.suppressed)],
    nodes.Assignment: _assignment,
    nodes.Deletion: lambda n: [*_form("delete", n.target), _semicolon(n.suppressed)],
    nodes.Command: _command,
    nodes.If: _if,
    nodes.For: _for,
    nodes.While: lambda n: ["while ", n.condition, *_block(n.body)],
    nodes.DoUntil: lambda n: ["do", *_block(n.body), _Layout.LINE, "until ", n.condition],
    nodes.Switch: _switch,
    nodes.Try: _try,
    nodes.UnwindProtect: lambda n: [
        *("unwind_protect", *_block(n.body), _Layout.LINE),
        *("unwind_protect_cleanup", *_block(n.cleanup)),
    ],
    nodes.Global: lambda n: _form("global", *n.names),
    nodes.Persistent: lambda n: _form("persistent", *n.names),
    nodes.Return: lambda _: ["return"],
    nodes.Break: lambda _: ["break"],
    nodes.Continue: lambda _: ["continue"],
    nodes.Function: _function,
    nodes.ArgumentDeclaration: _declaration,
    classes.ClassDefinition: lambda n: [
        *(f"classdef ({_attributes(n)}) {n.name} < {' '.join(n.parents)}", *_block(n.blocks)),
    ],
    classes.ClassBlock: lambda n: [
        f"{n.kind} ({_attributes(n)})",
        *_block((*n.properties, *n.functions, *n.members)),
    ],
    classes.EnumerationMember: lambda n: _form(n.name, *n.arguments),
    nodes.ArgumentsBlock: lambda n: [
        *(f"arguments ({' '.join(n.attributes)})", *_block(n.declarations)),
    ],
}
