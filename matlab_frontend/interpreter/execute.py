"""Statements."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from matlab_frontend import nodes
from matlab_frontend.display import display
from matlab_frontend.errors import MatlabError
from matlab_frontend.interpreter import calls
from matlab_frontend.interpreter.assign import assign, assign_fields, remove
from matlab_frontend.interpreter.evaluate import BINARY, range_parts
from matlab_frontend.interpreter.flow import Flow
from matlab_frontend.interpreter.frame import Frame, SharedVariables
from matlab_frontend.interpreter.references import chain
from matlab_frontend.ranges import count_steps, make_range
from matlab_frontend.residency import spread
from matlab_frontend.subscripts import fold, positions
from matlab_frontend.values.array import (
    Cell,
    ErrorObject,
    Struct,
    Value,
    as_array,
    count_of,
    kind_of,
    shape_of,
)
from matlab_frontend.values.make import cell_row, empty, text, wrap
from matlab_frontend.values.read import is_true, lines_of

if TYPE_CHECKING:
    from matlab_frontend.interpreter.interpreter import Interpreter


def run_block(interpreter: Interpreter, block: nodes.Block, frame: Frame) -> Flow:
    """Run statements until one of them leaves the block.

    Raises:
        MatlabError: a statement raised it; a note says where.

    """
    for statement in block:
        try:
            flow = _EXECUTE[type(statement)](interpreter, statement, frame)
        except MatlabError as error:
            calls.locate(error, frame)
            raise
        except np.linalg.LinAlgError as error:
            raised = MatlabError("MATLAB:linearAlgebra", str(error))
            calls.locate(raised, frame)
            raise raised from error
        except MemoryError as error:
            raised = MatlabError("MATLAB:nomem", f"Out of memory. {error}".rstrip())
            calls.locate(raised, frame)
            raise raised from error
        except RecursionError as error:
            raised = MatlabError("MATLAB:recursionLimit", "The program is nested too deeply.")
            calls.locate(raised, frame)
            raise raised from error
        except Exception as error:
            calls.locate(error, frame)
            raise
        if flow is not Flow.NEXT:
            return flow
        if interpreter.engine.recording:
            interpreter.forget(statement, frame)
    return Flow.NEXT


def _expression(interpreter: Interpreter, node: nodes.ExpressionStatement, frame: Frame) -> Flow:
    expression = node.expression
    frame.span = expression.span
    made = interpreter.values(expression, frame, 0)
    if not made:
        return Flow.NEXT
    named = isinstance(expression, nodes.Name) and expression.name in frame.variables
    name = expression.name if named and isinstance(expression, nodes.Name) else "ans"
    for value in made:
        if not named:
            frame.variables["ans"] = value
        if not node.suppressed:
            _show(interpreter, name, value)
    return Flow.NEXT


def _assignment(interpreter: Interpreter, node: nodes.Assignment, frame: Frame) -> Flow:
    targets = node.targets
    frame.span = node.span
    if len(targets) == 1 and not node.bracketed:
        value = interpreter.value(node.value, frame)
        frame.span = node.span
        assign(interpreter, targets[0], value, frame)
    else:
        _assign_outputs(interpreter, node, frame)
    if not node.suppressed:
        for target in targets:
            base, _ = chain(target) if not isinstance(target, nodes.Placeholder) else (None, [])
            if isinstance(base, nodes.Name):
                _show(interpreter, base.name, frame.variables[base.name])
    return Flow.NEXT


def _assign_outputs(interpreter: Interpreter, node: nodes.Assignment, frame: Frame) -> None:
    """``[a, ~, c{:}] = f(...)``."""
    counts = [_wanted(interpreter, target, frame) for target in node.targets]
    made = interpreter.values(node.value, frame, sum(counts))
    frame.span = node.span
    if len(made) < sum(counts):
        needed = next(k for k, _ in enumerate(node.targets) if sum(counts[: k + 1]) > len(made))
        if not made or not all(
            isinstance(target, nodes.Placeholder) for target in node.targets[needed:]
        ):
            message = "Insufficient number of outputs from right hand side of equal sign to "
            raise MatlabError("MATLAB:needMoreRhsOutputs", message + "satisfy assignment.")
    at = 0
    for target, count in zip(node.targets, counts, strict=True):
        if count == 1 and at < len(made):
            assign(interpreter, target, made[at], frame)
        elif count != 1 and isinstance(target, nodes.CellIndex):
            plain = nodes.Index(target.span, target.target, target.arguments)
            assign(interpreter, plain, cell_row(made[at : at + count]), frame)
        elif count != 1 and isinstance(target, nodes.Field):
            assign_fields(target, made[at : at + count], frame)
        at += count


def _wanted(interpreter: Interpreter, target: nodes.Target, frame: Frame) -> int:
    """How many outputs a target takes: ``c{1:3}`` takes three, ``s.f`` one an element."""
    if not isinstance(target, (nodes.CellIndex, nodes.Field)):
        return 1
    base, steps = chain(target)
    held = frame.variables.get(base.name) if isinstance(base, nodes.Name) else None
    if isinstance(target, nodes.Field):
        return count_of(held) if len(steps) == 1 and isinstance(held, Struct) else 1
    if len(steps) != 1:
        return 1
    shown = empty() if held is None else held
    subscripts = interpreter.arguments(target.arguments, frame, shown)
    extents = fold(shape_of(shown), len(subscripts))
    return math.prod(
        positions(interpreter.engine, subscript, extent).count
        for subscript, extent in zip(subscripts, extents, strict=True)
    )


def _deletion(interpreter: Interpreter, node: nodes.Deletion, frame: Frame) -> Flow:
    name = remove(interpreter, node, frame)
    if not node.suppressed:
        _show(interpreter, name, frame.variables[name])
    return Flow.NEXT


def _command(interpreter: Interpreter, node: nodes.Command, frame: Frame) -> Flow:
    frame.span = node.span
    words = [text(word) for word in node.words]
    made = calls.call_name(interpreter, node.name, words, 0, None, frame=frame)
    if made:
        frame.variables["ans"] = made[0]
        if not node.suppressed:
            _show(interpreter, "ans", made[0])
    return Flow.NEXT


def _if(interpreter: Interpreter, node: nodes.If, frame: Frame) -> Flow:
    for branch in node.branches:
        if _holds(interpreter, branch.condition, frame):
            return run_block(interpreter, branch.body, frame)
    return run_block(interpreter, node.otherwise, frame)


def _holds(interpreter: Interpreter, condition: nodes.Expression, frame: Frame) -> bool:
    """A condition; ``|`` and ``&`` of scalars in one stop early, as in MATLAB."""
    frame.span = condition.span
    while isinstance(condition, nodes.Parenthesized):
        condition = condition.expression
    if isinstance(condition, nodes.Binary) and condition.operator in ("|", "&"):
        return _holds_early(interpreter, condition, frame)
    made = interpreter.value(condition, frame)
    frame.span = condition.span
    return made if type(made) is bool else is_true(interpreter.engine, made)


def _holds_early(interpreter: Interpreter, condition: nodes.Binary, frame: Frame) -> bool:
    """``a | b`` and ``a & b``: what follows a scalar that decides is not looked at."""
    engine = interpreter.engine
    left = interpreter.value(condition.left, frame)
    frame.span = condition.span
    if as_array(left) is not None and count_of(left) == 1:
        decides = is_true(engine, left)
        if decides == (condition.operator == "|"):
            return decides
    right = interpreter.value(condition.right, frame)
    frame.span = condition.span
    return is_true(engine, BINARY[condition.operator](engine, left, right))


def _while(interpreter: Interpreter, node: nodes.While, frame: Frame) -> Flow:
    with interpreter.engine.repeating() as lap:
        while _holds(interpreter, node.condition, frame):
            flow = run_block(interpreter, node.body, frame)
            if flow is Flow.BREAK:
                break
            if flow is Flow.RETURN:
                return flow
            lap()
    return Flow.NEXT


def _do_until(interpreter: Interpreter, node: nodes.DoUntil, frame: Frame) -> Flow:
    with interpreter.engine.repeating() as lap:
        while True:
            flow = run_block(interpreter, node.body, frame)
            if flow is Flow.RETURN:
                return flow
            if flow is Flow.BREAK or _holds(interpreter, node.condition, frame):
                return Flow.NEXT
            lap()


def _for(interpreter: Interpreter, node: nodes.For, frame: Frame) -> Flow:
    frame.span = node.columns.span
    name = node.target.name if isinstance(node.target, nodes.Name) else None
    columns = _columns(interpreter, node.columns, frame)
    ran = False
    with interpreter.engine.repeating() as lap:
        for value in columns:
            ran = True
            if name is not None:
                frame.variables[name] = value
            else:
                assign(interpreter, node.target, value, frame)
            flow = run_block(interpreter, node.body, frame)
            if flow is Flow.BREAK:
                break
            if flow is Flow.RETURN:
                return flow
            lap()
    if not ran:  # the variable of a loop without steps is empty
        rows = int(isinstance(node.columns, nodes.Range))
        assign(interpreter, node.target, empty(rows, 0), frame)
    return Flow.NEXT


def _columns(interpreter: Interpreter, node: nodes.Expression, frame: Frame) -> Iterator[Value]:
    """What a loop's variable is, one step after the other: the columns of a value."""
    while isinstance(node, nodes.Parenthesized):
        node = node.expression
    if isinstance(node, nodes.Range):
        start, step, stop = range_parts(interpreter, node, frame)
        if isinstance(start, float) and isinstance(step, float) and isinstance(stop, float):  # noqa: SIM102  (one question of types, one of values)
            if start.is_integer() and step.is_integer():
                for k in range(count_steps(start, step, stop)):
                    yield start + step * k
                return
        value: Value = make_range(interpreter.engine, start, step, stop)
    else:
        value = interpreter.value(node, frame)
    yield from _split(interpreter, value)


def _split(interpreter: Interpreter, value: Value) -> Iterator[Value]:
    if isinstance(value, (Cell, Struct)):
        for column in _pages(value.data):
            data = column.reshape(1, -1)
            yield Cell(data) if isinstance(value, Cell) else Struct(value.fields, data)
        return
    array = as_array(value)
    if array is None:
        yield value
        return
    engine = interpreter.engine
    rows = array.data.shape[-1]
    columns = int(np.prod(array.data.shape[:-1]))
    flat = engine.reshape(array.data, (columns, rows))
    if rows == 0:
        return
    for k in range(columns):
        column = wrap(array.kind, engine.take(flat, (slice(k, k + 1), slice(0, rows))))
        yield spread(engine, column, array)


def _pages(data: np.ndarray) -> np.ndarray:
    """The columns; none where they have no elements."""
    return data.reshape(-1 if data.size else 0, data.shape[-1])


def _switch(interpreter: Interpreter, node: nodes.Switch, frame: Frame) -> Flow:
    subject = interpreter.value(node.subject, frame)
    for case in node.cases:
        frame.span = case.value.span
        if _matches(interpreter, subject, interpreter.value(case.value, frame)):
            return run_block(interpreter, case.body, frame)
    return run_block(interpreter, node.otherwise, frame)


def _matches(interpreter: Interpreter, subject: Value, case: Value) -> bool:
    """Whether a case holds: equal texts, equal scalars, or one of a cell array's elements."""
    if isinstance(case, Cell):
        return any(_matches(interpreter, subject, item) for item in case.data.flat)
    kinds = {kind_of(subject), kind_of(case)}
    if kinds & {"char", "string"}:
        return kinds <= {"char", "string"} and lines_of(subject) == lines_of(case)
    a, b = as_array(subject), as_array(case)
    if a is None or b is None:
        return False
    x, y = (interpreter.engine.look(array.data) for array in (a, b))
    if x.size == 0 or y.size == 0:
        return x.size == y.size
    return bool(x.size == 1 and np.any(x == y)) if y.size == 1 else np.array_equal(x, y)


def _try(interpreter: Interpreter, node: nodes.Try, frame: Frame) -> Flow:
    depth = interpreter.session.depth
    try:
        return run_block(interpreter, node.body, frame)
    except MatlabError as error:
        caught = ErrorObject(error.identifier, error.message)
    except RecursionError:
        caught = ErrorObject("MATLAB:recursionLimit", "Maximum recursion limit reached.")
    interpreter.session.depth = depth
    interpreter.session.last_error = caught
    frame.ends.clear()
    if node.error is not None:
        frame.variables[node.error] = caught
    return run_block(interpreter, node.handler, frame)


def _unwind_protect(interpreter: Interpreter, node: nodes.UnwindProtect, frame: Frame) -> Flow:
    try:
        flow = run_block(interpreter, node.body, frame)
    finally:
        run_block(interpreter, node.cleanup, frame)
    return flow


def _global(interpreter: Interpreter, node: nodes.Global, frame: Frame) -> Flow:
    if not isinstance(frame.variables, SharedVariables):
        frame.variables = SharedVariables(frame.variables, interpreter.session.globals)
    for name in node.names:
        frame.variables.share(name, empty())
    return Flow.NEXT


def _persistent(_: Interpreter, node: nodes.Persistent, frame: Frame) -> Flow:
    for name in node.names:
        frame.kept.add(name)
        frame.variables[name] = frame.scope.persistent.get((frame.name, name), empty())
    return Flow.NEXT


def _show(interpreter: Interpreter, name: str, value: Value) -> None:
    session = interpreter.session
    session.write(display(session.engine, name, value, session.style))


_EXECUTE: Mapping[type, Callable[[Any, Any, Frame], Flow]] = {
    nodes.ExpressionStatement: _expression,
    nodes.Assignment: _assignment,
    nodes.Deletion: _deletion,
    nodes.Command: _command,
    nodes.If: _if,
    nodes.For: _for,
    nodes.While: _while,
    nodes.DoUntil: _do_until,
    nodes.Switch: _switch,
    nodes.Try: _try,
    nodes.UnwindProtect: _unwind_protect,
    nodes.Global: _global,
    nodes.Persistent: _persistent,
    nodes.Return: lambda *_: Flow.RETURN,
    nodes.Break: lambda *_: Flow.BREAK,
    nodes.Continue: lambda *_: Flow.CONTINUE,
}
