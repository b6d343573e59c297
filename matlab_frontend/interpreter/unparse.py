"""Expressions as MATLAB writes them when it shows an anonymous function."""

from __future__ import annotations

from collections.abc import Iterable

from matlab_frontend import nodes


def unparse(node: nodes.Expression) -> str:  # noqa: C901  # one guard clause a kind of node
    """The text of an expression, without blanks around operators."""
    if isinstance(node, nodes.Number):
        return f"{node.value:.15g}{'i' if node.imaginary else ''}"
    if isinstance(node, nodes.IntegerLiteral):
        return hex(node.value)
    if isinstance(node, nodes.CharLiteral):
        doubled = node.text.replace("'", "''")
        return f"'{doubled}'"
    if isinstance(node, nodes.StringLiteral):
        doubled = node.text.replace('"', '""')
        return f'"{doubled}"'
    if isinstance(node, nodes.Name):
        return node.name
    if isinstance(node, nodes.Colon):
        return ":"
    if isinstance(node, nodes.End):
        return "end"
    if isinstance(node, nodes.Parenthesized):
        return f"({unparse(node.expression)})"
    if isinstance(node, nodes.Unary):
        return node.operator + unparse(node.operand)
    if isinstance(node, nodes.Postfix):
        return unparse(node.operand) + node.operator
    if isinstance(node, (nodes.Binary, nodes.ShortCircuit)):
        return unparse(node.left) + node.operator + unparse(node.right)
    if isinstance(node, nodes.Range):
        parts = (node.start, node.step, node.stop)
        return ":".join(unparse(part) for part in parts if part is not None)
    if isinstance(node, nodes.NamedArgument):
        return f"{node.name}={unparse(node.value)}"
    if isinstance(node, nodes.FunctionHandle):
        return f"@{node.name}"
    if isinstance(node, nodes.AnonymousFunction):
        return f"@({','.join(node.parameters)}){unparse(node.body)}"
    return _unparse_brackets(node)


def _unparse_brackets(
    node: nodes.Matrix
    | nodes.CellArray
    | nodes.Index
    | nodes.CellIndex
    | nodes.Field
    | nodes.DynamicField,
) -> str:
    if isinstance(node, nodes.Matrix):
        return f"[{_rows(node.rows)}]"
    if isinstance(node, nodes.CellArray):
        return f"{{{_rows(node.rows)}}}"
    target = unparse(node.target)
    if isinstance(node, nodes.Index):
        return f"{target}({_list(node.arguments)})"
    if isinstance(node, nodes.CellIndex):
        return f"{target}{{{_list(node.arguments)}}}"
    if isinstance(node, nodes.Field):
        return f"{target}.{node.name}"
    return f"{target}.({unparse(node.name)})"


def _list(expressions: Iterable[nodes.Expression]) -> str:
    return ",".join(map(unparse, expressions))


def _rows(rows: Iterable[tuple[nodes.Expression, ...]]) -> str:
    return ";".join(map(_list, rows))
