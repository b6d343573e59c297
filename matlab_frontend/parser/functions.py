"""Functions, and the files that hold them."""

from __future__ import annotations

from dataclasses import field

from matlab_frontend.nodes import ArgumentsBlock, Function, Program, Statement
from matlab_frontend.parser.cursor import Cursor
from matlab_frontend.parser.declarations import arguments_block, opens_arguments_block
from matlab_frontend.parser.parameters import outputs, parameters
from matlab_frontend.parser.statements import next_statement
from matlab_frontend.pattern import pattern
from matlab_frontend.source import Span
from matlab_frontend.tokens import FINISH, NAME, Token
from runmat_jit.core.slotted import slotted


@slotted
class _OpenFunction:
    """A function whose end is not read yet."""

    opening: Token
    name: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    outer_variables: set[str]
    body: list[Statement] = field(default_factory=list)
    arguments: list[ArgumentsBlock] = field(default_factory=list)
    nested: list[Function] = field(default_factory=list)

    def close(self, end: int) -> Function:
        return Function(
            Span(self.opening.start, end),
            self.name,
            self.inputs,
            self.outputs,
            tuple(self.body),
            tuple(self.arguments),
            tuple(self.nested),
        )


def program(cursor: Cursor) -> Program:
    """Read a file: statements, and functions before, between and after them.

    Whether functions are closed by ``end`` is known when the first one ends. Until then a function
    that begins in another one is either nested in it or the next one of the file, so the functions
    that are not closed yet are kept in a list, the outermost first.
    """
    statements: list[Statement] = []
    functions: list[Function] = []
    pending: list[_OpenFunction] = []
    any_closed = False
    definition = None
    if _CLASS.match(cursor.source.text, cursor.skip_to_statement()):
        from matlab_frontend.parser.classes import class_definition  # noqa: PLC0415  (few programs)

        cursor.read_statement(cursor.skip_to_statement())
        definition = class_definition(cursor, closed_function)
    while True:
        if pending and _read_arguments(cursor, pending[-1]):
            continue
        statement = next_statement(cursor)
        kind = cursor.token.kind
        if statement is not None:
            (pending[-1].body if pending else statements).append(statement)
        elif kind == "function":
            pending.append(_open_function(cursor))
        elif kind == "end" and pending:
            closed = pending.pop()
            cursor.variables = closed.outer_variables
            end = cursor.advance().end
            (pending[-1].nested if pending else functions).append(closed.close(end))
            any_closed = True
        elif kind == FINISH:
            break
        else:
            cursor.fail(f"'{cursor.token.text}' belongs to no block that is open here")
    if pending and any_closed:
        opening = pending[-1].opening
        message = "the function is not closed by 'end', but other functions of this text are"
        cursor.fail_unclosed(message, opening.span)
    cursor.expects_more |= bool(pending)
    ends = [function.opening.start for function in pending[1:]] + [cursor.last_end]
    functions += [function.close(end) for function, end in zip(pending, ends, strict=False)]
    return Program(cursor.source, tuple(statements), tuple(functions), definition)


_CLASS = pattern(r"classdef\b")


def closed_function(cursor: Cursor) -> Function:
    """A method: a function that ends with ``end``, as those nested in it do."""
    made = _open_function(cursor, of_class=True)
    while True:
        if _read_arguments(cursor, made):
            continue
        statement = next_statement(cursor)
        kind = cursor.token.kind
        if statement is not None:
            made.body.append(statement)
        elif kind == "function":
            made.nested.append(closed_function(cursor))
        elif kind == "end":
            cursor.variables = made.outer_variables
            return made.close(cursor.advance().end)
        else:
            cursor.fail("the method is not closed by 'end'", made.opening.span)


def _open_function(cursor: Cursor, *, of_class: bool = False) -> _OpenFunction:
    """``function name``, ``function y = name(x)``, ``function [y, z] = name(x)``."""
    opening = cursor.advance()
    given: tuple[str, ...] = ()
    taken: tuple[str, ...] = ()
    if cursor.token.kind == "[":
        given = outputs(cursor)
        cursor.expect("=", "after the outputs")
        name = cursor.expect(NAME, "of the function").text
    else:
        name = cursor.expect(NAME, "of a function or of its output").text
        if cursor.token.kind == "=":
            cursor.advance()
            given = (name,)
            name = cursor.expect(NAME, "of the function").text
    if cursor.token.kind == ".":
        if not of_class:
            cursor.fail("functions of a property ('get.name', 'set.name') belong to a class")
        cursor.advance()
        name += "." + cursor.expect(NAME, "of a property").text
    if cursor.token.kind == "(":
        taken = parameters(cursor)
    outer = cursor.variables
    cursor.variables = {*given, *taken}
    return _OpenFunction(opening, name, taken, given, outer)


def _read_arguments(cursor: Cursor, function: _OpenFunction) -> bool:
    """Read an ``arguments`` block, which stands before the first statement; tell whether one is."""
    if function.body or not opens_arguments_block(cursor):
        return False
    function.arguments.append(arguments_block(cursor))
    return True
