"""Expressions to values."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from matlab_frontend import matrices, nodes, operators
from matlab_frontend.concatenation import concatenate
from matlab_frontend.errors import MatlabError
from matlab_frontend.interpreter import references
from matlab_frontend.interpreter.captures import names_in
from matlab_frontend.interpreter.frame import Frame
from matlab_frontend.ranges import make_range
from matlab_frontend.residency import spread
from matlab_frontend.subscripts import Everything, Span, Subscript, fold
from matlab_frontend.values.array import (
    AnonymousHandle,
    Array,
    NamedHandle,
    Value,
    shape_of,
)
from matlab_frontend.values.kinds import DTYPES
from matlab_frontend.values.make import cell, empty, string, text, wrap
from matlab_frontend.values.read import is_true

if TYPE_CHECKING:
    from matlab_frontend.engine import Engine
    from matlab_frontend.interpreter.interpreter import Interpreter

BinaryFunction = Callable[["Engine", Value, Value], Value]

_LISTS = frozenset((nodes.Name, nodes.Index, nodes.CellIndex, nodes.Field, nodes.DynamicField))
"""Nodes that may have several values, or none."""


def value(interpreter: Interpreter, node: nodes.Expression, frame: Frame) -> Value:
    """The one value of an expression.

    Raises:
        MatlabError: it has none or several, or computing it fails.

    """
    if isinstance(node, nodes.Name):
        held = frame.variables.get(node.name)
        if held is not None:
            return held
    if type(node) in _LISTS:
        made = references.read(interpreter, node, frame, 1)
        if len(made) == 1:
            return made[0]
        frame.span = node.span
        raise _not_one(node, len(made))
    return _EVALUATE[type(node)](interpreter, node, frame)


def values(
    interpreter: Interpreter, node: nodes.Expression, frame: Frame, outputs: int
) -> list[Value]:
    """All values: several from calls with outputs and comma-separated lists."""
    if type(node) in _LISTS:
        return references.read(interpreter, node, frame, outputs)
    return [value(interpreter, node, frame)]


def arguments(
    interpreter: Interpreter,
    nodes_: Sequence[nodes.Expression],
    frame: Frame,
    indexed: Value | None,
) -> list[Subscript]:
    """Subscripts of a value, or arguments of a call where ``indexed`` is None."""
    made: list[Subscript] = []
    for at, node in enumerate(nodes_):
        if isinstance(node, nodes.Number) and not node.imaginary:
            made.append(node.value)
            continue
        if isinstance(node, nodes.Colon):
            made.append(Everything() if indexed is not None else text(":"))
            continue
        if isinstance(node, nodes.NamedArgument):
            made += [text(node.name), value(interpreter, node.value, frame)]
            continue
        if indexed is not None:
            frame.ends.append((indexed, at, len(nodes_)))
        try:
            if indexed is not None and isinstance(node, nodes.Range):
                made.append(_subscript_range(interpreter, node, frame))
            else:
                made += values(interpreter, node, frame, 1)
        finally:
            if indexed is not None:
                frame.ends.pop()
    return made


def _subscript_range(interpreter: Interpreter, node: nodes.Range, frame: Frame) -> Subscript:
    """``first:last`` of whole numbers stays a range: it becomes a slice."""
    start = value(interpreter, node.start, frame)
    stop = value(interpreter, node.stop, frame)
    step = 1.0 if node.step is None else value(interpreter, node.step, frame)
    if step == 1.0 and isinstance(start, float) and isinstance(stop, float):  # noqa: SIM102  (one question of types, one of values)
        if start.is_integer() and math.isfinite(stop):
            return Span(int(start), math.floor(stop))
    return make_range(interpreter.engine, start, step, stop)


def range_parts(
    interpreter: Interpreter, node: nodes.Range, frame: Frame
) -> tuple[Value, Value, Value]:
    """Start, step and stop of a range."""
    start = value(interpreter, node.start, frame)
    step = 1.0 if node.step is None else value(interpreter, node.step, frame)
    return start, step, value(interpreter, node.stop, frame)


def _not_one(node: nodes.Expression, count: int) -> MatlabError:
    if count == 0 and isinstance(node, (nodes.Name, nodes.Index)):
        return MatlabError("MATLAB:maxlhs", "Too many output arguments.")
    return MatlabError(
        "MATLAB:index:expected_one_output_from_expression",
        "Expected one output from a curly brace or dot indexing expression, but there were "
        f"{count} results.",
    )


def _number(_: Interpreter, node: nodes.Number, _frame: Frame) -> Value:
    if not node.imaginary:
        return node.value
    return Array("double", np.full((1, 1), complex(0.0, node.value)))


def _integer(_: Interpreter, node: nodes.IntegerLiteral, _frame: Frame) -> Value:
    return Array(node.class_name, np.full((1, 1), node.value, DTYPES[node.class_name]))


def _characters(_: Interpreter, node: nodes.CharLiteral, _frame: Frame) -> Value:
    return text(node.text)


def _string(_: Interpreter, node: nodes.StringLiteral, _frame: Frame) -> Value:
    return string(node.text)


def _colon(_: Interpreter, _node: nodes.Colon, _frame: Frame) -> Value:
    return text(":")


def _end(interpreter: Interpreter, node: nodes.End, frame: Frame) -> Value:
    del interpreter
    if not frame.ends:
        frame.span = node.span
        raise MatlabError("MATLAB:badsubscript", "The end operator must be used within an index.")
    indexed, at, count = frame.ends[-1]
    shape = shape_of(indexed)
    if count == 1:
        return float(math.prod(shape))
    return float(fold(shape, count)[at])


def _parenthesized(interpreter: Interpreter, node: nodes.Parenthesized, frame: Frame) -> Value:
    return value(interpreter, node.expression, frame)


def _unary(interpreter: Interpreter, node: nodes.Unary, frame: Frame) -> Value:
    operand = value(interpreter, node.operand, frame)
    frame.span = node.span
    made = UNARY[node.operator](interpreter.engine, operand)
    return spread(interpreter.engine, made, operand) if type(operand) is Array else made


def _postfix(interpreter: Interpreter, node: nodes.Postfix, frame: Frame) -> Value:
    operand = value(interpreter, node.operand, frame)
    frame.span = node.span
    made = matrices.transpose(interpreter.engine, operand, conjugate=node.operator == "'")
    return spread(interpreter.engine, made, operand)


def _binary(interpreter: Interpreter, node: nodes.Binary, frame: Frame) -> Value:
    left = value(interpreter, node.left, frame)
    right = value(interpreter, node.right, frame)
    frame.span = node.span
    made = BINARY[node.operator](interpreter.engine, left, right)
    if type(left) is Array or type(right) is Array:
        return spread(interpreter.engine, made, left, right)
    return made


def _short_circuit(interpreter: Interpreter, node: nodes.ShortCircuit, frame: Frame) -> Value:
    left = _condition(interpreter, node.left, frame)
    if node.operator == "&&":
        return left and _condition(interpreter, node.right, frame)
    return left or _condition(interpreter, node.right, frame)


def _condition(interpreter: Interpreter, node: nodes.Expression, frame: Frame) -> bool:
    operand = value(interpreter, node, frame)
    frame.span = node.span
    if type(operand) is not bool and 0 in shape_of(operand):
        raise MatlabError(
            "MATLAB:nonLogicalConditional",
            "Operands to the || and && operators must be convertible to logical scalar values.",
        )
    return is_true(interpreter.engine, operand)


def _range(interpreter: Interpreter, node: nodes.Range, frame: Frame) -> Value:
    parts = range_parts(interpreter, node, frame)
    frame.span = node.span
    return spread(interpreter.engine, make_range(interpreter.engine, *parts), *parts)


def _matrix(interpreter: Interpreter, node: nodes.Matrix, frame: Frame) -> Value:
    engine = interpreter.engine
    rows = []
    for row in node.rows:
        elements = [made for element in row for made in values(interpreter, element, frame, 1)]
        frame.span = node.span
        joined = _numbers_row(elements) or concatenate(engine, elements, 1)
        rows.append(spread(engine, joined, *elements))
    frame.span = node.span
    if not rows:
        return empty()
    return spread(engine, concatenate(engine, rows, 0), *rows)


def _numbers_row(elements: list[Value]) -> Value | None:
    """A row of known doubles, made at once."""
    if not elements or any(type(element) is not float for element in elements):
        return None
    return wrap("double", np.array(elements).reshape(-1, 1))


def _cell_array(interpreter: Interpreter, node: nodes.CellArray, frame: Frame) -> Value:
    """``{a, b; c, d}``: each value is put in a cell of its own, cells too."""
    rows: list[Value] = []
    for row in node.rows:
        elements = [made for element in row for made in values(interpreter, element, frame, 1)]
        frame.span = node.span
        rows.append(cell(elements, (1, len(elements))))
    frame.span = node.span
    if not rows:
        return cell([], (0, 0))
    return concatenate(interpreter.engine, rows, 0)


def _handle(_: Interpreter, node: nodes.FunctionHandle, frame: Frame) -> Value:
    return NamedHandle(node.name, frame.scope)


def _anonymous(_: Interpreter, node: nodes.AnonymousFunction, frame: Frame) -> Value:
    wanted = names_in(node.body) - set(node.parameters)
    captured = {name: frame.variables[name] for name in wanted if name in frame.variables}
    shown = references.anonymous_text(node, frame.scope.source)
    return AnonymousHandle(node.parameters, node.body, captured, shown, frame.scope)


def _named(interpreter: Interpreter, node: nodes.NamedArgument, frame: Frame) -> Value:
    return value(interpreter, node.value, frame)


UNARY: Mapping[str, Callable[[Engine, Value], Value]] = {
    "-": operators.negate,
    "+": operators.positive,
    "~": operators.invert,
    "!": operators.invert,
}
BINARY: Mapping[str, BinaryFunction] = {
    **{
        symbol: partial(lambda op, engine, a, b: operators.arithmetic(engine, op, a, b), op)
        for symbol, op in operators.ARITHMETIC.items()
    },
    **{
        symbol: partial(lambda op, engine, a, b: operators.compare(engine, op, a, b), op)
        for symbol, op in operators.COMPARISONS.items()
    },
    **{
        symbol: partial(lambda row, engine, a, b: operators.logical(engine, row, a, b), row)
        for symbol, row in operators.LOGICAL.items()
    },
    "*": matrices.multiply,
    "/": matrices.divide,
    "\\": matrices.left_divide,
    "^": matrices.power,
    ".\\": lambda engine, a, b: operators.arithmetic(engine, operators.ARITHMETIC["./"], b, a),
}
_EVALUATE: Mapping[type, Callable[[Any, Any, Frame], Value]] = {
    nodes.Number: _number,
    nodes.IntegerLiteral: _integer,
    nodes.CharLiteral: _characters,
    nodes.StringLiteral: _string,
    nodes.Colon: _colon,
    nodes.End: _end,
    nodes.Parenthesized: _parenthesized,
    nodes.Unary: _unary,
    nodes.Postfix: _postfix,
    nodes.Binary: _binary,
    nodes.ShortCircuit: _short_circuit,
    nodes.Range: _range,
    nodes.Matrix: _matrix,
    nodes.CellArray: _cell_array,
    nodes.FunctionHandle: _handle,
    nodes.AnonymousFunction: _anonymous,
    nodes.NamedArgument: _named,
}
