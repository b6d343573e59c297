"""Statements, compiled to Python closures."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from matlab_frontend import nodes
from matlab_frontend.display import display
from matlab_frontend.errors import MatlabError
from matlab_frontend.interpreter import calls
from matlab_frontend.interpreter.append import compile_append
from matlab_frontend.interpreter.assign import assign_fields, compile_deletion, compile_target
from matlab_frontend.interpreter.evaluate import BINARY, operate, range_of, range_parts
from matlab_frontend.interpreter.flow import Flow
from matlab_frontend.interpreter.frame import Frame, SharedVariables
from matlab_frontend.interpreter.native.run import ALL, RETURNED, NativeLoop
from matlab_frontend.interpreter.references import chain
from matlab_frontend.ranges import count_steps
from matlab_frontend.residency import spread
from matlab_frontend.subscripts import EVERYTHING, fold, positions
from matlab_frontend.values.array import (
    Array,
    Cell,
    ErrorObject,
    Extension,
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


Run: TypeAlias = Callable[[Frame], "Flow | None"]
"""A compiled statement or block; None goes on with the next statement."""
Dead: TypeAlias = Mapping[int, tuple[str, ...]]
"""For the identity of each statement the variables that nothing reads after it."""


def compile_block(interpreter: Interpreter, block: nodes.Block, dead: Dead) -> Run:
    """Compile statements, of which each runs unless one before it leaves the block.

    Running it raises MatlabError where a statement does; a note says where.
    """
    steps = tuple(_compile_statement(interpreter, statement, dead) for statement in block)

    def run(frame: Frame) -> Flow | None:
        try:
            for step in steps:
                flow = step(frame)
                if flow is not None:
                    return flow
        except MatlabError as error:
            calls.locate(error, frame)
            raise
        except Exception as error:
            raised = _as_matlab(error)
            calls.locate(raised, frame)
            if raised is error:
                raise
            raise raised from error
        return None

    return run


def _as_matlab(error: Exception) -> Exception:
    """MATLAB's error for one of Python's, where it has one."""
    if isinstance(error, np.linalg.LinAlgError):
        return MatlabError("MATLAB:linearAlgebra", str(error))
    if isinstance(error, np.exceptions.ComplexWarning):
        return MatlabError("MATLAB:complex", "Complex numbers are not supported here.")
    if isinstance(error, MemoryError):
        return MatlabError("MATLAB:nomem", f"Out of memory. {error}".rstrip())
    if isinstance(error, ValueError) and str(error) == "Maximum allowed dimension exceeded":
        message = "Requested array exceeds the maximum possible variable size."
        return MatlabError("MATLAB:pmaxsize", message)
    if isinstance(error, RecursionError):
        return MatlabError("MATLAB:recursionLimit", "The program is nested too deeply.")
    return error


def _compile_statement(interpreter: Interpreter, statement: nodes.Statement, dead: Dead) -> Run:
    """A statement, and forgetting what is not computed yet and what nothing reads after it."""
    run = _COMPILE[type(statement)](interpreter, statement, dead)
    if interpreter.session.line_times is not None:
        run = interpreter.session.line_times.watched(run, statement.span.start)
    names, engine = dead.get(id(statement), ()), interpreter.engine
    if not names:
        return run

    def run_and_forget(frame: Frame) -> Flow | None:
        flow = run(frame)
        if flow is None and engine.recording:
            variables = frame.variables
            for name in names:
                value = variables.get(name)
                if type(value) is Array and engine.is_pending(value.data):
                    del variables[name]
        return flow

    return run_and_forget


def _expression(interpreter: Interpreter, node: nodes.ExpressionStatement, _: Dead) -> Run:
    expression = node.expression
    codes = interpreter.compile_values(expression)
    name = expression.name if isinstance(expression, nodes.Name) else None

    def run(frame: Frame) -> None:
        frame.span = expression.span
        made = codes(frame, 0)
        named = name is not None and name in frame.variables
        for value in made:
            if not named:
                frame.variables["ans"] = value
            if not node.suppressed:
                _show(interpreter, name if named and name is not None else "ans", value)

    return run


def _assignment(interpreter: Interpreter, node: nodes.Assignment, _: Dead) -> Run:
    if len(node.targets) != 1 or node.bracketed:
        run = _assign_outputs(interpreter, node)
    else:
        run = _assign_one(interpreter, node, node.targets[0])
    if node.suppressed:
        return run
    bases = [chain(x)[0] for x in node.targets if not isinstance(x, nodes.Placeholder)]
    names = [base.name for base in bases if isinstance(base, nodes.Name)]

    def run_and_show(frame: Frame) -> None:
        run(frame)
        for name in names:
            _show(interpreter, name, frame.variables[name])

    return run_and_show


def _assign_one(interpreter: Interpreter, node: nodes.Assignment, target: nodes.Target) -> Run:
    """``target = value``."""
    code, span = interpreter.compile_value(node.value), node.span
    if isinstance(target, nodes.Name):
        name = target.name
        append = compile_append(interpreter, name, node.value)
        if append is not None:
            return append

        def run_name(frame: Frame) -> None:
            frame.span = span
            frame.variables[name] = code(frame)

        return run_name
    assign = compile_target(interpreter, target)

    def run(frame: Frame) -> None:
        frame.span = span
        assign(frame, code(frame))

    return run


def _assign_outputs(interpreter: Interpreter, node: nodes.Assignment) -> Run:
    """``[a, ~, c{:}] = f(...)``."""
    codes = interpreter.compile_values(node.value)
    wanted = [_wanted(interpreter, target) for target in node.targets]
    assigns = [compile_target(interpreter, target) for target in node.targets]
    choosers = [_chooser(interpreter, target) for target in node.targets]

    def run(frame: Frame) -> None:
        frame.span = node.span
        counts = [count(frame) for count in wanted]
        made = codes(frame, sum(counts))
        frame.span = node.span
        if len(made) < sum(counts):
            needed = next(k for k, _ in enumerate(counts) if sum(counts[: k + 1]) > len(made))
            if not made or not all(
                isinstance(target, nodes.Placeholder) for target in node.targets[needed:]
            ):
                message = "Insufficient number of outputs from right hand side of equal sign to "
                raise MatlabError("MATLAB:needMoreRhsOutputs", message + "satisfy assignment.")
        at = 0
        for target, assign, chooser, count in zip(
            node.targets, assigns, choosers, counts, strict=True
        ):
            if count == 1 and at < len(made):
                assign(frame, made[at])
            elif count != 1 and isinstance(target, nodes.CellIndex):
                plain = nodes.Index(target.span, target.target, target.arguments)
                compile_target(interpreter, plain)(frame, cell_row(made[at : at + count]))
            elif count != 1 and isinstance(target, nodes.Field):
                chosen = None if chooser is None else chooser(frame)
                assign_fields(target, chosen, made[at : at + count], frame)
            at += count

    return run


def _wanted(interpreter: Interpreter, target: nodes.Target) -> Callable[[Frame], int]:
    """Number of outputs a target takes: ``c{1:3}`` takes three, ``s.f`` one an element."""
    if not isinstance(target, (nodes.CellIndex, nodes.Field)):
        return lambda _: 1
    base, steps = chain(target)
    chooser = _chooser(interpreter, target)
    if chooser is not None:

        def count_chosen(frame: Frame) -> int:
            chosen = chooser(frame)
            return 1 if chosen is None else chosen.size

        return count_chosen
    if not isinstance(base, nodes.Name) or len(steps) != 1:
        return lambda _: 1
    name = base.name
    if isinstance(target, nodes.Field):

        def count_fields(frame: Frame) -> int:
            held = frame.variables.get(name)
            return count_of(held) if isinstance(held, Struct) else 1

        return count_fields
    arguments = interpreter.compile_arguments(target.arguments)

    def count_cells(frame: Frame) -> int:
        held = frame.variables.get(name)
        shown = empty() if held is None else held
        subscripts = arguments(frame, shown)
        extents = fold(shape_of(shown), len(subscripts))
        return math.prod(
            positions(interpreter.engine, subscript, extent).count
            for subscript, extent in zip(subscripts, extents, strict=True)
        )

    return count_cells


def _chooser(
    interpreter: Interpreter, target: nodes.Target
) -> Callable[[Frame], np.ndarray | None] | None:
    """Compile which elements ``[s(k).name] = ...`` is for: from 0, column by column.

    None for other targets; it gives None where it means all, or one that is no struct array yet.
    """
    inner = target.target if isinstance(target, nodes.Field) else None
    if not (isinstance(inner, nodes.Index) and isinstance(inner.target, nodes.Name)):
        return None
    name, arguments = inner.target.name, interpreter.compile_arguments(inner.arguments)

    def chosen(frame: Frame) -> np.ndarray | None:
        held = frame.variables.get(name, empty())
        if not isinstance(held, Struct) and count_of(held):
            return None
        subscripts = arguments(frame, held)
        extents = fold(shape_of(held), len(subscripts))
        read = [
            positions(interpreter.engine, subscript, extent)
            for subscript, extent in zip(subscripts, extents, strict=True)
        ]
        whole = [max(each.highest, extent) for each, extent in zip(read, extents, strict=True)]
        if len(read) > 1 and whole != list(extents):
            return None  # it grows along several dimensions
        numbers = np.arange(math.prod(whole)).reshape(whole, order="F")
        places = [np.arange(extent)[each.key] for each, extent in zip(read, whole, strict=True)]
        return numbers[np.ix_(*places)].ravel(order="F")

    return chosen


def _deletion(interpreter: Interpreter, node: nodes.Deletion, _: Dead) -> Run:
    name, remove = compile_deletion(interpreter, node)

    def run(frame: Frame) -> None:
        remove(frame)
        if not node.suppressed:
            _show(interpreter, name, frame.variables[name])

    return run


def _command(interpreter: Interpreter, node: nodes.Command, _: Dead) -> Run:
    def run(frame: Frame) -> None:
        frame.span = node.span
        words = [text(word) for word in node.words]
        made = calls.call_name(interpreter, node.name, words, 0, None, frame=frame)
        if made:
            frame.variables["ans"] = made[0]
            if not node.suppressed:
                _show(interpreter, "ans", made[0])

    return run


def _if(interpreter: Interpreter, node: nodes.If, dead: Dead) -> Run:
    branches = [
        (
            _compile_condition(interpreter, branch.condition),
            compile_block(interpreter, branch.body, dead),
        )
        for branch in node.branches
    ]
    otherwise = compile_block(interpreter, node.otherwise, dead) if node.otherwise else None

    def run(frame: Frame) -> Flow | None:
        for holds, body in branches:
            if holds(frame):
                return body(frame)
        return None if otherwise is None else otherwise(frame)

    return run


def _compile_condition(
    interpreter: Interpreter, condition: nodes.Expression
) -> Callable[[Frame], bool]:
    """A condition; ``|`` and ``&`` of scalars in one stop early, as in MATLAB."""
    while isinstance(condition, nodes.Parenthesized):
        condition = condition.expression
    if isinstance(condition, nodes.Binary) and condition.operator in ("|", "&"):
        return _stopping_early(interpreter, condition)
    code, engine, span = interpreter.compile_value(condition), interpreter.engine, condition.span

    def run(frame: Frame) -> bool:
        made = code(frame)
        if type(made) is bool:
            return made
        frame.span = span
        return is_true(engine, made)

    return run


def _stopping_early(interpreter: Interpreter, condition: nodes.Binary) -> Callable[[Frame], bool]:
    """``a | b`` and ``a & b``: what follows a scalar that decides is not looked at."""
    engine, decisive = interpreter.engine, condition.operator == "|"
    left_code = interpreter.compile_value(condition.left)
    right_code = interpreter.compile_value(condition.right)
    combine = BINARY[condition.operator]

    def run(frame: Frame) -> bool:
        left = left_code(frame)
        frame.span = condition.span
        if as_array(left) is not None and count_of(left) == 1:
            decides = is_true(engine, left)
            if decides == decisive:
                return decides
        right = right_code(frame)
        frame.span = condition.span
        return is_true(engine, combine(engine, left, right))

    return run


_AFTER = {ALL: None, RETURNED: Flow.RETURN}
"""How the block around is left after a loop that has ended natively."""


def _while(interpreter: Interpreter, node: nodes.While, dead: Dead) -> Run:
    holds = _compile_condition(interpreter, node.condition)
    body = compile_block(interpreter, node.body, dead)
    native = NativeLoop(interpreter, node, partial(compile_block, interpreter, dead=dead), dead)
    size = native.size

    def run(frame: Frame) -> Flow | None:
        turns, look, begun = 0, native.first_look, interpreter.done
        with interpreter.engine.repeating() as lap:
            while holds(frame):
                flow = body(frame)
                if flow is not None:
                    if flow is Flow.BREAK:
                        break
                    if flow is Flow.RETURN:
                        return flow
                lap()
                turns += 1
                interpreter.done += size
                if turns == look:
                    look += look
                    now = interpreter.done
                    ran = native.takes_over(frame, None, turns, now - begun)
                    if ran < 0:
                        return _AFTER[ran]
                    begun += interpreter.done - now
        native.ended(turns, interpreter.done - begun)
        return None

    return run


def _do_until(interpreter: Interpreter, node: nodes.DoUntil, dead: Dead) -> Run:
    holds = _compile_condition(interpreter, node.condition)
    body = compile_block(interpreter, node.body, dead)

    def run(frame: Frame) -> Flow | None:
        with interpreter.engine.repeating() as lap:
            while True:
                flow = body(frame)
                if flow is Flow.RETURN:
                    return flow
                if flow is Flow.BREAK or holds(frame):
                    return None
                lap()

    return run


def _for(interpreter: Interpreter, node: nodes.For, dead: Dead) -> Run:
    columns = _compile_columns(interpreter, node.columns)
    name = node.target.name if isinstance(node.target, nodes.Name) else None
    assign = compile_target(interpreter, node.target)
    body = compile_block(interpreter, node.body, dead)
    rows = int(isinstance(node.columns, nodes.Range))
    native = NativeLoop(interpreter, node, partial(compile_block, interpreter, dead=dead), dead)
    size = native.size

    def run(frame: Frame) -> Flow | None:
        frame.span = node.columns.span
        steps = columns(frame)
        turns, skipped, begun = 0, 0, interpreter.done
        look = 0 if steps.whole is None else native.first_look
        with interpreter.engine.repeating() as lap:
            for value in steps.values:
                if name is not None:
                    frame.variables[name] = value
                else:
                    assign(frame, value)
                flow = body(frame)
                if flow is not None:
                    if flow is Flow.BREAK:
                        break
                    if flow is Flow.RETURN:
                        return flow
                lap()
                turns += 1
                interpreter.done += size
                if turns == look:
                    look += look
                    assert steps.whole is not None, "it is looked at"
                    rest = steps.whole[turns + skipped :]
                    now = interpreter.done
                    ran = native.takes_over(frame, rest, turns, now - begun)
                    if ran < 0:
                        return _AFTER[ran]
                    for _ in range(ran):
                        next(steps.values)
                    skipped += ran
                    begun += interpreter.done - now
            else:
                if not turns:  # the variable of a loop without steps is empty
                    assign(frame, empty(rows, 0))
        native.ended(turns, interpreter.done - begun)
        return None

    return run


class _Steps(NamedTuple):
    """What a loop's variable is, one step after the other; ``whole``: real numbers, all of them."""

    values: Iterator[Value]
    whole: range | np.ndarray | None = None


def _compile_columns(interpreter: Interpreter, node: nodes.Expression) -> Callable[[Frame], _Steps]:
    """What a loop's variable is: the columns of a value."""
    while isinstance(node, nodes.Parenthesized):
        node = node.expression
    if not isinstance(node, nodes.Range):
        code = interpreter.compile_value(node)
        return lambda frame: _steps(interpreter, code(frame))
    parts = range_parts(interpreter, node)

    def run(frame: Frame) -> _Steps:
        start, step, stop = parts(frame)
        if type(start) is type(step) is type(stop) is float:  # noqa: SIM102  (one question of types, one of values)
            if start.is_integer() and step.is_integer():
                count = count_steps(start, step, stop)
                if max(abs(start), abs(stop)) < _EXACT:
                    first, by = int(start), int(step)
                    whole = range(first, first + by * count, by or 1)
                    return _Steps(map(float, whole), whole)
                return _Steps(start + step * k for k in range(count))
        made = range_of(interpreter.engine, [start, step, stop], stepped=node.step is not None)
        return _steps(interpreter, made)

    return run


def _steps(interpreter: Interpreter, value: Value) -> _Steps:
    """The columns of a value; those of a row of doubles are known beforehand."""
    values = _split(interpreter, value)
    if type(value) is Array and type(value.data) is np.ndarray and not value.on_device:
        data = value.data
        if data.dtype == np.float64 and data.ndim == 2 and data.shape[1] == 1:
            return _Steps(values, data[:, 0])
    return _Steps(values)


_EXACT = 2.0**53
"""Whole numbers below are counted by Python's integers."""


def _split(interpreter: Interpreter, value: Value) -> Iterator[Value]:
    if isinstance(value, (Cell, Struct)):
        for column in _pages(value.data):
            data = column.reshape(1, -1)
            yield Cell(data) if isinstance(value, Cell) else Struct(value.fields, data)
        return
    array, engine = as_array(value), interpreter.engine
    if isinstance(value, Extension):
        for k in range(math.prod(shape_of(value)[1:])):
            yield value.index(engine, [EVERYTHING, k + 1.0])
        return
    if array is None:
        yield value
        return
    rows = array.data.shape[-1]
    columns = int(np.prod(array.data.shape[:-1]))
    flat = engine.reshape(array.data, (columns, rows))
    for k in range(columns):
        column = wrap(array.kind, engine.take(flat, (slice(k, k + 1), slice(0, rows))))
        yield spread(engine, column, array)


def _pages(data: np.ndarray) -> np.ndarray:
    """The columns; none where they have no elements."""
    return data.reshape(-1 if data.size else 0, data.shape[-1])


def _switch(interpreter: Interpreter, node: nodes.Switch, dead: Dead) -> Run:
    subject_code = interpreter.compile_value(node.subject)
    cases = [
        (
            case.value.span,
            interpreter.compile_value(case.value),
            compile_block(interpreter, case.body, dead),
        )
        for case in node.cases
    ]
    otherwise = compile_block(interpreter, node.otherwise, dead)

    def run(frame: Frame) -> Flow | None:
        subject = subject_code(frame)
        for span, code, body in cases:
            frame.span = span
            if _matches(interpreter, subject, code(frame)):
                return body(frame)
        return otherwise(frame)

    return run


def _matches(interpreter: Interpreter, subject: Value, case: Value) -> bool:
    """True if a case holds: equal texts, equal scalars, or one of a cell array's elements."""
    if type(subject) is float and type(case) is float:
        return subject == case
    if isinstance(case, Cell):
        return any(_matches(interpreter, subject, item) for item in case.data.flat)
    if isinstance(subject, Extension) or isinstance(case, Extension):
        equal = operate("==", BINARY["=="], interpreter.engine, [subject, case])
        return is_true(interpreter.engine, equal)
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


def _try(interpreter: Interpreter, node: nodes.Try, dead: Dead) -> Run:
    body = compile_block(interpreter, node.body, dead)
    handler = compile_block(interpreter, node.handler, dead)
    session = interpreter.session

    def run(frame: Frame) -> Flow | None:
        depth, running = session.depth, interpreter.frame
        try:
            return body(frame)
        except MatlabError as error:
            caught = calls.caught_error(error)
        except RecursionError:
            caught = ErrorObject("MATLAB:recursionLimit", "Maximum recursion limit reached.")
        session.depth, interpreter.frame = depth, running
        session.last_error = caught
        frame.ends.clear()
        if node.error is not None:
            frame.variables[node.error] = caught
        return handler(frame)

    return run


def _unwind_protect(interpreter: Interpreter, node: nodes.UnwindProtect, dead: Dead) -> Run:
    body = compile_block(interpreter, node.body, dead)
    cleanup = compile_block(interpreter, node.cleanup, dead)

    def run(frame: Frame) -> Flow | None:
        try:
            flow = body(frame)
        finally:
            cleanup(frame)
        return flow

    return run


def _shared(frame: Frame) -> SharedVariables:
    if not isinstance(frame.variables, SharedVariables):
        frame.variables = SharedVariables(frame.variables)
    return frame.variables


def _global(interpreter: Interpreter, node: nodes.Global, _: Dead) -> Run:
    def run(frame: Frame) -> None:
        variables = _shared(frame)
        for name in node.names:
            variables.share(name, interpreter.session.globals, name, empty())

    return run


def _persistent(_: Interpreter, node: nodes.Persistent, _dead: Dead) -> Run:
    def run(frame: Frame) -> None:
        variables = _shared(frame)
        for name in node.names:
            variables.share(name, frame.scope.persistent, (frame.name, name), empty())

    return run


def _show(interpreter: Interpreter, name: str, value: Value) -> None:
    session = interpreter.session
    session.write(display(session.engine, name, value, session.style))


_COMPILE: Mapping[type, Callable[[Any, Any, Dead], Run]] = {
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
    nodes.Return: lambda *_: lambda _: Flow.RETURN,
    nodes.Break: lambda *_: lambda _: Flow.BREAK,
    nodes.Continue: lambda *_: lambda _: Flow.CONTINUE,
}
