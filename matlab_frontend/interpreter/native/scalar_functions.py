"""Functions of the program's that are given numbers, and give one: when Python runs them compiled.

A function is interpreted at first. After some calls with numbers it is compiled, with those that it
calls. Nothing that it does can be seen but its value: where it comes to what is not compiled, it is
left, and the interpreter calls it from its beginning.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final, TypeAlias

from matlab_frontend import nodes
from runmat_jit.core.hotness import FAILURES
from runmat_jit.loops.demands import NotMetError

if TYPE_CHECKING:
    from matlab_frontend.interpreter.frame import Scope
    from matlab_frontend.interpreter.interpreter import Interpreter
    from matlab_frontend.interpreter.native.classes import Kind
    from matlab_frontend.values.array import Value

CALLS: Final = 200
"""Calls of a function that take about as long as compiling it."""
Compiled: TypeAlias = Callable[..., "float | bool"]
_KINDS: Final[dict[type, Kind]] = {float: "double", bool: "logical"}


class ScalarFunction:
    """A function of the program's; ``node`` and ``scope`` as the interpreter calls it."""

    __slots__ = ("calls", "code", "node", "refusals", "scope")

    def __init__(self, node: nodes.Function, scope: Scope) -> None:
        self.node, self.scope = node, scope
        self.calls = self.refusals = 0
        self.code: dict[tuple[type, ...], Compiled | None] = {}


class ScalarFunctions:
    """The functions that an interpreter calls with numbers."""

    __slots__ = ("functions", "interpreter", "version")

    def __init__(self, interpreter: Interpreter) -> None:
        self.interpreter = interpreter
        self.functions: dict[int, ScalarFunction] = {}
        self.version = 0
        """Of what names mean."""

    def call(self, node: nodes.Function, scope: Scope, arguments: Sequence[Value]) -> Value | None:
        """The value of a call; None where it is interpreted."""
        known = self.functions.get(id(node))
        if known is None:
            known = self.functions[id(node)] = ScalarFunction(node, scope)
        if known.calls < CALLS:
            known.calls += 1
            return None
        if known.refusals >= FAILURES or known.scope is not scope:
            return None
        if self.version != self.interpreter.session.path.version:
            self.forget()
        kinds = tuple([type(argument) for argument in arguments])
        if kinds not in known.code:
            known.code[kinds] = self.compile(known, kinds)
        code = known.code[kinds]
        return None if code is None else self.attempt(known, code, arguments)

    def attempt(
        self, known: ScalarFunction, code: Compiled, arguments: Sequence[Value]
    ) -> Value | None:
        """The value of a call of compiled code; None where it was left."""
        try:
            made = code(self.interpreter.session.depth, *arguments)
        except (NotMetError, ArithmeticError, ValueError):
            known.refusals += 1
            if known.refusals >= FAILURES:
                self.note(known, "interpreted: it left for what only the interpreter does")
            return None
        known.refusals = 0
        return made

    def compile(self, known: ScalarFunction, kinds: tuple[type, ...]) -> Compiled | None:
        """The code for numbers of these classes; None where there is none."""
        from matlab_frontend.interpreter.native.classes import NotNative  # noqa: PLC0415  (rare)
        from matlab_frontend.interpreter.native.function_code import (  # noqa: PLC0415  (rare)
            compile_function,
        )

        find, names = self.interpreter.find_function, tuple([_KINDS[kind] for kind in kinds])
        try:
            made = compile_function(known.node, known.scope, names, find)
        except NotNative as refused:
            self.note(known, f"interpreted: {refused.why}")
            return None
        self.note(known, "compiled")
        return made

    def forget(self) -> None:
        """Forget what was compiled when names meant something else."""
        self.version = self.interpreter.session.path.version
        for each in self.functions.values():
            each.code.clear()

    def note(self, known: ScalarFunction, how: str) -> None:
        """Say how a function is called, for people."""
        source, start = known.scope.source, known.node.span.start
        at = source.name, source.position(start).line
        self.interpreter.session.functions[at] = f"{known.node.name}, {how}"
