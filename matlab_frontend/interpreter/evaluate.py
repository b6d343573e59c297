"""Expressions, compiled to Python closures: a tree is walked once, and called as often as it runs.

Real scalars, which loops are made of, are computed by Python's operators on floats; everything
else by the engine.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from matlab_frontend import matrices, nodes, operators
from matlab_frontend.concatenation import concatenate
from matlab_frontend.errors import MatlabError
from matlab_frontend.interpreter import references
from matlab_frontend.interpreter.captures import mentions_end, names_in
from matlab_frontend.interpreter.frame import Frame
from matlab_frontend.ranges import make_range
from matlab_frontend.residency import spread
from matlab_frontend.subscripts import EVERYTHING, Span, Subscript, fold
from matlab_frontend.values.array import (
    AnonymousHandle,
    Array,
    Extension,
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
    from matlab_frontend.source import Span as SourceSpan

Code: TypeAlias = Callable[[Frame], Value]
"""A compiled expression: its one value."""
Codes: TypeAlias = Callable[[Frame, int], list[Value]]
"""A compiled expression that may have several values, or none: asked for so many outputs."""
Arguments: TypeAlias = Callable[[Frame, "Value | None"], list[Subscript]]
"""Compiled arguments: subscripts of a value, or arguments of a call where there is none."""
BinaryFunction = Callable[["Engine", Value, Value], Value]

LISTS = frozenset((nodes.Name, nodes.Index, nodes.CellIndex, nodes.Field, nodes.DynamicField))
"""Nodes that may have several values, or none."""
_SEVERAL = (nodes.CellIndex, nodes.Field, nodes.DynamicField)
"""Nodes that may give several arguments: comma-separated lists."""


def compile_value(interpreter: Interpreter, node: nodes.Expression) -> Code:
    """Compile an expression for its one value; running it raises where it has none or several."""
    return _COMPILE[type(node)](interpreter, node)


def compile_values(interpreter: Interpreter, node: nodes.Expression) -> Codes:
    """Compile an expression for all its values."""
    if type(node) in LISTS:
        return references.compile_read(interpreter, node)
    code = compile_value(interpreter, node)
    return lambda frame, _: [code(frame)]


def compile_arguments(interpreter: Interpreter, arguments: Sequence[nodes.Expression]) -> Arguments:
    """Compile arguments; what is a function or a variable, only the run knows."""
    ends = [mentions_end(argument) for argument in arguments]
    lists = (*_SEVERAL, nodes.NamedArgument)
    if not any(ends) and not any(isinstance(argument, lists) for argument in arguments):
        of_value = [_subscript(interpreter, argument) for argument in arguments]
        of_call = [compile_value(interpreter, argument) for argument in arguments]
        return lambda frame, indexed: [
            code(frame) for code in (of_call if indexed is None else of_value)
        ]
    parts = [_argument(interpreter, argument) for argument in arguments]
    count = len(arguments)

    def run(frame: Frame, indexed: Value | None) -> list[Subscript]:
        made: list[Subscript] = []
        for at, part in enumerate(parts):
            if indexed is None or not ends[at]:
                made += part(frame, indexed)
                continue
            frame.ends.append((indexed, at, count))
            try:
                made += part(frame, indexed)
            finally:
                frame.ends.pop()
        return made

    return run


def _subscript(interpreter: Interpreter, node: nodes.Expression) -> Callable[[Frame], Subscript]:
    """One subscript of a value: ``:`` and ranges are what they say, not the arrays they make."""
    if isinstance(node, nodes.Colon):
        return lambda _: EVERYTHING
    if isinstance(node, nodes.Range):
        return _subscript_range(interpreter, node)
    return compile_value(interpreter, node)


def _argument(interpreter: Interpreter, node: nodes.Expression) -> Arguments:
    """One argument, which may be a list of several."""
    if isinstance(node, nodes.NamedArgument):
        given = compile_value(interpreter, node.value)
        return lambda frame, _: [text(node.name), given(frame)]
    if isinstance(node, _SEVERAL):
        several = compile_values(interpreter, node)
        return lambda frame, _: several(frame, 1)  # type: ignore[return-value]  # values are subscripts
    of_value, of_call = _subscript(interpreter, node), compile_value(interpreter, node)
    return lambda frame, indexed: [of_call(frame) if indexed is None else of_value(frame)]


def _subscript_range(interpreter: Interpreter, node: nodes.Range) -> Callable[[Frame], Subscript]:
    """``first:step:last`` of whole numbers stays a range: it becomes a slice."""
    parts = range_parts(interpreter, node)

    def run(frame: Frame) -> Subscript:
        start, step, stop = parts(frame)
        if type(start) is type(step) is type(stop) is float:  # noqa: SIM102  (one question of types, one of values)
            if start.is_integer() and step.is_integer() and step > 0 and math.isfinite(stop):
                return Span(int(start), math.floor(stop), int(step))
        frame.span = node.span
        return make_range(interpreter.engine, start, step, stop)

    return run


def range_parts(
    interpreter: Interpreter, node: nodes.Range
) -> Callable[[Frame], tuple[Value, Value, Value]]:
    """Compile start, step and stop of a range."""
    start, stop = compile_value(interpreter, node.start), compile_value(interpreter, node.stop)
    step = _constant(1.0) if node.step is None else compile_value(interpreter, node.step)
    return lambda frame: (start(frame), step(frame), stop(frame))


def _constant(value: Value) -> Code:
    return lambda _: value


def _number(_: Interpreter, node: nodes.Number) -> Code:
    if not node.imaginary:
        return _constant(node.value)
    return _constant(Array("double", np.full((1, 1), complex(0.0, node.value))))


def _integer(_: Interpreter, node: nodes.IntegerLiteral) -> Code:
    return _constant(Array(node.class_name, np.full((1, 1), node.value, DTYPES[node.class_name])))


def _characters(_: Interpreter, node: nodes.CharLiteral) -> Code:
    return _constant(text(node.text))


def _string(_: Interpreter, node: nodes.StringLiteral) -> Code:
    return _constant(string(node.text))


def _colon(_: Interpreter, _node: nodes.Colon) -> Code:
    return _constant(text(":"))


def _end(_: Interpreter, node: nodes.End) -> Code:
    def run(frame: Frame) -> Value:
        if not frame.ends:
            frame.span = node.span
            message = "The end operator must be used within an index."
            raise MatlabError("MATLAB:badsubscript", message)
        indexed, at, count = frame.ends[-1]
        shape = shape_of(indexed)
        if count == 1:
            return float(math.prod(shape))
        return float(fold(shape, count)[at])

    return run


def _parenthesized(interpreter: Interpreter, node: nodes.Parenthesized) -> Code:
    return compile_value(interpreter, node.expression)


def _one_of_list(interpreter: Interpreter, node: nodes.Expression) -> Code:
    """The one value of a reference."""
    return references.compile_one(interpreter, node)


def _unary(interpreter: Interpreter, node: nodes.Unary) -> Code:
    operand_code = compile_value(interpreter, node.operand)
    engine, span, function = interpreter.engine, node.span, UNARY[node.operator]
    folded = _literal(node)
    if folded is not None:
        return _constant(folded)

    def run(frame: Frame) -> Value:
        operand = operand_code(frame)
        frame.span = span
        if isinstance(operand, Extension):
            return operate(node.operator, function, engine, [operand])
        made = function(engine, operand)
        if type(operand) is Array and operand.on_device:
            return spread(engine, made, operand)
        return made

    return run


def _postfix(interpreter: Interpreter, node: nodes.Postfix) -> Code:
    operand_code = compile_value(interpreter, node.operand)
    engine, conjugate = interpreter.engine, node.operator == "'"

    def run(frame: Frame) -> Value:
        operand = operand_code(frame)
        frame.span = node.span
        if isinstance(operand, Extension):
            turn = partial(matrices.transpose, conjugate=conjugate)
            return operate(node.operator, turn, engine, [operand])
        return spread(engine, matrices.transpose(engine, operand, conjugate=conjugate), operand)

    return run


def _binary(interpreter: Interpreter, node: nodes.Binary) -> Code:
    """An operator, folded where its operands are literals, and told what it knows of them."""
    folded = _literal(node)
    if folded is not None:
        return _constant(folded)
    scalar = SCALAR.get(node.operator)
    general = _general_binary(interpreter, node)
    if scalar is None:
        left_code = compile_value(interpreter, node.left)
        right_code = compile_value(interpreter, node.right)
        return lambda frame: general(frame, left_code(frame), right_code(frame))
    if type(node.left) is nodes.Name and type(node.right) is nodes.Name:
        return _of_names(interpreter, node, scalar, general)
    left_code = compile_value(interpreter, node.left)
    right_code = compile_value(interpreter, node.right)
    number = _literal(node.right)
    if type(number) is float:
        return _with_number(left_code, number, scalar, general)

    def run(frame: Frame) -> Value:
        left, right = left_code(frame), right_code(frame)
        if type(left) is float and type(right) is float:
            made = scalar(left, right)
            if made is not None:
                return made
        return general(frame, left, right)

    return run


General: TypeAlias = Callable[[Frame, Value, Value], Value]
Scalar: TypeAlias = Callable[[float, float], "Value | None"]


def _literal(node: nodes.Expression) -> float | None:
    """The double that an expression of literals is; None where it is no such."""
    if isinstance(node, nodes.Number):
        return None if node.imaginary else node.value
    if isinstance(node, nodes.Parenthesized):
        return _literal(node.expression)
    if isinstance(node, nodes.Unary) and node.operator in "+-":
        operand = _literal(node.operand)
        return operand if operand is None or node.operator == "+" else -operand
    if isinstance(node, nodes.Binary) and node.operator in SCALAR:
        right = _literal(node.right)
        left = None if right is None else _literal(node.left)
        made = None if left is None or right is None else SCALAR[node.operator](left, right)
        return made if type(made) is float else None
    return None


def _of_names(
    interpreter: Interpreter, node: nodes.Binary, scalar: Scalar, general: General
) -> Code:
    """An operator between two variables."""
    assert isinstance(node.left, nodes.Name), "the caller looked"
    assert isinstance(node.right, nodes.Name), "the caller looked"
    left_name, right_name = node.left.name, node.right.name
    left_code = compile_value(interpreter, node.left)
    right_code = compile_value(interpreter, node.right)

    def run(frame: Frame) -> Value:
        get = frame.variables.get
        left, right = get(left_name), get(right_name)
        if type(left) is float and type(right) is float:
            made = scalar(left, right)
            if made is not None:
                return made
        return general(frame, left_code(frame), right_code(frame))

    return run


def _with_number(left_code: Code, right: float, scalar: Scalar, general: General) -> Code:
    """An operator whose right operand is a number."""

    def run(frame: Frame) -> Value:
        left = left_code(frame)
        if type(left) is float:
            made = scalar(left, right)
            if made is not None:
                return made
        return general(frame, left, right)

    return run


def _general_binary(interpreter: Interpreter, node: nodes.Binary) -> General:
    """An operator on any values; truth values beside numbers are numbers."""
    engine, function, span = interpreter.engine, BINARY[node.operator], node.span
    scalar = SCALAR.get(node.operator)

    def run(frame: Frame, left: Value, right: Value) -> Value:
        if scalar is not None and type(left) in _REALS and type(right) in _REALS:
            made = scalar(float(left), float(right))  # type: ignore[arg-type]  # floats and bools
            if made is not None:
                return made
        frame.span = span
        if isinstance(left, Extension) or isinstance(right, Extension):
            return operate(node.operator, function, engine, [left, right])
        made = function(engine, left, right)
        if (type(left) is Array and left.on_device) or (type(right) is Array and right.on_device):
            return spread(engine, made, left, right)
        return made

    return run


def operate(
    operator: str, function: Callable[..., Value], engine: Engine, operands: list[Value]
) -> Value:
    """An operator as the first operand's class defines it that defines operators."""
    owner = next(operand for operand in operands if isinstance(operand, Extension))
    return owner.operate(operator, function, engine, operands)


_REALS = frozenset((float, bool))


def _divide(left: float, right: float) -> float | None:
    return left / right if right else None


def _power(left: float, right: float) -> float | None:
    """A power that is a real number within range; None where the engine must say what it is."""
    if right == 2.0:
        return left * left  # as of arrays
    if left > 0.0 or (left == 0.0 and right >= 0.0) or (left < 0.0 and right.is_integer()):
        try:
            return float(left**right)
        except OverflowError:
            return None
    return None


def _and(left: float, right: float) -> bool | None:
    return None if left != left or right != right else left != 0.0 and right != 0.0  # noqa: PLR0124  (NaN)


def _or(left: float, right: float) -> bool | None:
    return None if left != left or right != right else left != 0.0 or right != 0.0  # noqa: PLR0124  (NaN)


SCALAR: Mapping[str, Scalar] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    ".*": operator.mul,
    "/": _divide,
    "./": _divide,
    "^": _power,
    ".^": _power,
    "==": operator.eq,
    "~=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "&": _and,
    "|": _or,
}
"""Operators of real scalars; None where the engine decides."""


def _short_circuit(interpreter: Interpreter, node: nodes.ShortCircuit) -> Code:
    left, right = (_condition(interpreter, side) for side in (node.left, node.right))
    if node.operator == "&&":
        return lambda frame: left(frame) and right(frame)
    return lambda frame: left(frame) or right(frame)


def _condition(interpreter: Interpreter, node: nodes.Expression) -> Callable[[Frame], bool]:
    code, engine, span = compile_value(interpreter, node), interpreter.engine, node.span

    def run(frame: Frame) -> bool:
        operand = code(frame)
        if type(operand) is bool:
            return operand
        frame.span = span
        if 0 in shape_of(operand):
            raise MatlabError(
                "MATLAB:nonLogicalConditional",
                "Operands to the || and && operators must be convertible to logical scalar values.",
            )
        return is_true(engine, operand)

    return run


def _range(interpreter: Interpreter, node: nodes.Range) -> Code:
    parts_code, engine = range_parts(interpreter, node), interpreter.engine

    def run(frame: Frame) -> Value:
        parts = parts_code(frame)
        frame.span = node.span
        made = range_of(engine, list(parts), stepped=node.step is not None)
        return spread(engine, made, *parts)

    return run


def range_of(engine: Engine, parts: list[Value], *, stepped: bool) -> Value:
    """``start:step:stop``, as the class of one of them defines it if it does."""
    if any(isinstance(part, Extension) for part in parts):
        given = parts if stepped else [parts[0], parts[2]]
        return operate(":", make_range, engine, given)
    return make_range(engine, *parts)


def _matrix(interpreter: Interpreter, node: nodes.Matrix) -> Code:
    engine = interpreter.engine
    rows_code = [compile_row(interpreter, row, node.span) for row in node.rows]
    if not rows_code:
        return lambda _: empty()
    if len(rows_code) == 1:
        return rows_code[0]

    def run(frame: Frame) -> Value:
        rows = [code(frame) for code in rows_code]
        return spread(engine, concatenate(engine, rows, 0), *rows)

    return run


def compile_row(
    interpreter: Interpreter, row: Sequence[nodes.Expression], span: SourceSpan
) -> Code:
    """Compile a row of a matrix: its elements side by side."""
    engine, elements_code = interpreter.engine, compile_elements(interpreter, row)

    def run(frame: Frame) -> Value:
        elements = elements_code(frame)
        frame.span = span
        joined = _numbers_row(elements)
        if joined is not None:
            return joined
        return spread(engine, concatenate(engine, elements, 1), *elements)

    return run


def compile_elements(
    interpreter: Interpreter, row: Sequence[nodes.Expression]
) -> Callable[[Frame], list[Value]]:
    """The values of a row of a matrix or a cell array, lists expanded."""
    if any(isinstance(element, (*_SEVERAL, nodes.Index, nodes.Name)) for element in row):
        several = [compile_values(interpreter, element) for element in row]
        return lambda frame: [made for codes in several for made in codes(frame, 1)]
    plain = [compile_value(interpreter, element) for element in row]
    return lambda frame: [code(frame) for code in plain]


def _numbers_row(elements: list[Value]) -> Value | None:
    """A row of known doubles, made at once."""
    if not elements or any(type(element) is not float for element in elements):
        return None
    return wrap("double", np.array(elements).reshape(-1, 1))


def _cell_array(interpreter: Interpreter, node: nodes.CellArray) -> Code:
    """``{a, b; c, d}``: each value is put in a cell of its own, cells too."""
    rows_code = [compile_elements(interpreter, row) for row in node.rows]
    if not rows_code:
        return lambda _: cell([], (0, 0))

    def run(frame: Frame) -> Value:
        rows: list[Value] = []
        for elements_code in rows_code:
            elements = elements_code(frame)
            rows.append(cell(elements, (1, len(elements))))
        frame.span = node.span
        return concatenate(interpreter.engine, rows, 0)

    return run


def _handle(_: Interpreter, node: nodes.FunctionHandle) -> Code:
    return lambda frame: NamedHandle(node.name, frame.scope)


def _anonymous(_: Interpreter, node: nodes.AnonymousFunction) -> Code:
    wanted = names_in(node.body) - set(node.parameters)

    def run(frame: Frame) -> Value:
        variables = frame.variables
        captured = {name: variables[name] for name in wanted if name in variables}
        shown = references.anonymous_text(node, frame.scope.source)
        return AnonymousHandle(node.parameters, node.body, captured, shown, frame.scope)

    return run


def _named(interpreter: Interpreter, node: nodes.NamedArgument) -> Code:
    return compile_value(interpreter, node.value)


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
_COMPILE: Mapping[type, Callable[[Any, Any], Code]] = {
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
    **dict.fromkeys(LISTS, _one_of_list),
}
