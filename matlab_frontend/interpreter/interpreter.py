"""The interpreter: what the modules of this package call one another through."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from matlab_frontend import nodes
from matlab_frontend.builtins.registry import Builtin, find
from matlab_frontend.errors import MatlabError
from matlab_frontend.interpreter import calls, evaluate
from matlab_frontend.interpreter.execute import run_block
from matlab_frontend.interpreter.flow import Flow
from matlab_frontend.interpreter.frame import Frame, Scope
from matlab_frontend.interpreter.liveness import dead_names
from matlab_frontend.parser import parse
from matlab_frontend.session import Session
from matlab_frontend.source import Source
from matlab_frontend.subscripts import Subscript
from matlab_frontend.values.array import Array, Value

if TYPE_CHECKING:
    from runmat_jit.core.source import SourceLine


Made = TypeVar("Made")


class Interpreter:
    """Runs programs in a session; knows the functions that files define."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.engine = session.engine
        self.loaded: dict[str, tuple[nodes.Function, Scope] | None] = {}
        self.base = Scope(Source(""), {})
        self.frame: Frame | None = None
        self._dead: dict[int, tuple[nodes.Block, Mapping[int, tuple[str, ...]]]] = {}
        self._lines: dict[tuple[Source, int], SourceLine] = {}
        self.engine.follow(self.line)

    def run(
        self,
        program: nodes.Program,
        variables: dict[str, Value],
        results: frozenset[str] | None = None,
    ) -> Frame:
        """Run a script, or the first function of a function file; gives its frame.

        ``results`` are the variables that are looked at afterwards, None if all may be.

        Raises:
            MatlabError: the program raised it and did not catch it; its notes say where.

        """
        scope = scope_of(program)
        frame = Frame(scope, variables=variables, body=program.statements, results=results)
        self.frame = frame
        if not program.statements and program.functions:
            calls.call_function(self, program.functions[0], scope, [], 0)
        else:
            self.block(program.statements, frame)
        return frame

    def value(self, node: nodes.Expression, frame: Frame) -> Value:
        """The one value of an expression."""
        return evaluate.value(self, node, frame)

    def values(self, node: nodes.Expression, frame: Frame, outputs: int = 1) -> list[Value]:
        """All values of an expression that may be a call or a comma-separated list."""
        return evaluate.values(self, node, frame, outputs)

    def arguments(
        self, arguments: Sequence[nodes.Expression], frame: Frame, indexed: Value | None
    ) -> list[Subscript]:
        """The values of arguments, lists expanded; ``end`` refers to ``indexed``."""
        return evaluate.arguments(self, arguments, frame, indexed)

    def block(self, block: nodes.Block, frame: Frame) -> Flow:
        """Run statements."""
        return run_block(self, block, frame)

    def call(self, function: Value, arguments: Sequence[Value], outputs: int = 1) -> list[Value]:
        """Call a function handle, or a function by its name as text."""
        return calls.call_value(self, function, arguments, outputs)

    def call_one(self, function: Value, *arguments: Value) -> Value:
        """The one output of a call.

        Raises:
            MatlabError: the function gave none.

        """
        made = self.call(function, arguments, 1)
        if not made:
            raise MatlabError("MATLAB:maxlhs", "One or more output arguments not assigned.")
        return made[0]

    def find_function(
        self, name: str, scope: Scope
    ) -> Builtin | tuple[nodes.Function, Scope] | None:
        """A function by name: of the same file, of a file beside it, or a builtin."""
        local = scope.functions.get(name)
        if local is not None:
            return local, scope
        return self.load(name) or find(name)

    def load(self, name: str) -> tuple[nodes.Function, Scope] | None:
        """The function that a file of its name defines."""
        if name not in self.loaded:
            self.loaded[name] = None
            for folder in self.session.folders:
                path = folder / f"{name}.m"
                if path.is_file():
                    self.loaded[name] = _read_function(path)
                    break
        return self.loaded[name]

    def line(self) -> SourceLine | None:
        """The line that runs."""
        frame = self.frame
        if frame is None or frame.span is None:
            return None
        from runmat_jit.core.source import SourceLine  # noqa: PLC0415  (asked for by recordings)

        source, start = frame.scope.source, frame.span.start
        known = self._lines.get((source, start))
        if known is None:
            number = source.position(start).line
            known = SourceLine(source.name, number, frame.name)
            self._lines[source, start] = known
        return known

    def forget(self, statement: nodes.Statement, frame: Frame) -> None:
        """Drop what is not computed yet and what nothing reads after a statement."""
        held = self._dead.get(id(frame.body))
        if held is None:
            held = self._dead[id(frame.body)] = (
                frame.body,
                dead_names(frame.body, frame.results),
            )
        for name in held[1].get(id(statement), ()):
            value = frame.variables.get(name)
            if isinstance(value, Array) and self.engine.is_pending(value.data):
                del frame.variables[name]

    def run_text(self, text: str, frame: Frame) -> None:
        """Run the statements of a text in a frame, as ``eval`` does."""
        self._within(text, frame, lambda program: self.block(program.statements, frame))

    def evaluate_text(self, text: str, frame: Frame, outputs: int) -> list[Value]:
        """The values of a text that is an expression.

        Raises:
            MatlabError: it is none, or computing it fails.

        """

        def run(program: nodes.Program) -> list[Value]:
            statements = program.statements
            if len(statements) != 1 or not isinstance(statements[0], nodes.ExpressionStatement):
                raise MatlabError("MATLAB:m_invalid_lhs_of_assignment", "This is no expression.")
            return self.values(statements[0].expression, frame, outputs)

        return self._within(text, frame, run)

    def _within(self, text: str, frame: Frame, run: Callable[[nodes.Program], Made]) -> Made:
        """Parse a text and run it in a frame that shows its lines meanwhile."""
        program = parse(Source(text, "eval"), variables=frame.variables)
        inner = Scope(program.source, frame.scope.functions, frame.scope.persistent)
        outer, frame.scope = frame.scope, inner
        try:
            return run(program)
        finally:
            frame.scope = outer


def scope_of(program: nodes.Program) -> Scope:
    """What the code of a program sees."""
    return Scope(program.source, {function.name: function for function in program.functions})


def _read_function(path: Path) -> tuple[nodes.Function, Scope] | None:
    program = parse(Source.from_file(path))
    if program.statements or not program.functions:
        return None
    return program.functions[0], scope_of(program)
