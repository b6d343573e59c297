"""The interpreter: what the modules of this package call one another through."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from matlab_frontend import nodes
from matlab_frontend.collection import paused_collection
from matlab_frontend.errors import MatlabError, ProgramExit
from matlab_frontend.interpreter import calls, evaluate, references
from matlab_frontend.interpreter.captures import below
from matlab_frontend.interpreter.execute import compile_block
from matlab_frontend.interpreter.frame import Frame, Scope
from matlab_frontend.interpreter.library import ClassFile, Function, Library, scope_of
from matlab_frontend.interpreter.liveness import dead_names
from matlab_frontend.interpreter.native.scalar_functions import ScalarFunctions
from matlab_frontend.parser import parse
from matlab_frontend.session import Session
from matlab_frontend.source import Source
from matlab_frontend.values.array import CleanupObject, Value
from matlab_frontend.values.make import text

if TYPE_CHECKING:
    from matlab_frontend.interpreter.classes import Class
    from matlab_frontend.interpreter.evaluate import Arguments, Code, Codes
    from matlab_frontend.interpreter.execute import Run
    from runmat_jit.core.source import SourceLine


Made = TypeVar("Made")


class Interpreter:
    """Runs programs in a session; knows the functions that files define."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.engine = session.engine
        self.library = Library(session.path)
        self.base = Scope(Source(""), {})
        self.frame: Frame | None = None
        self._bodies: dict[int, tuple[object, Any]] = {}
        self._sizes: dict[int, tuple[object, int]] = {}
        self.done = 0
        """Number of nodes interpreted so far, in loop iterations and in function bodies."""
        self._classes: dict[str, Class] = {}
        self._lines: dict[tuple[Source, int], SourceLine] = {}
        self.scalar_functions = ScalarFunctions(self)
        self.engine.follow(self.line, self.place)

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
        frame = Frame(scope, variables=variables)
        outer, self.frame = self.frame, frame
        try:
            if not program.statements and program.functions:
                calls.call_function(self, program.functions[0], scope, [], 0)
            else:
                self._compiled(program.statements, scope, results)(frame)
        except ProgramExit:
            pass  # the session knows the status
        finally:
            self.frame = outer
            if self.session.has_cleanups:
                drop_cleanups(frame.variables)
        return frame

    def run_further(self, program: nodes.Program, frame: Frame) -> None:
        """Run a text in a frame that lasts; its functions are known to all texts from now on.

        Raises:
            MatlabError: the text raised it and did not catch it; its notes say where.
            ProgramExit: it called ``exit``.

        """
        if program.functions:
            self.library.define(program)
        frame.scope = replace(frame.scope, source=program.source)
        self.frame = frame
        try:
            self._compiled(program.statements, frame.scope, None)(frame)
        finally:
            # What was left in the middle is not gone on with.
            self.frame, frame.span, self.session.depth = None, None, 0
            frame.ends.clear()

    def compile_value(self, node: nodes.Expression) -> Code:
        """Compile an expression for its one value."""
        return evaluate.compile_value(self, node)

    def compile_values(self, node: nodes.Expression) -> Codes:
        """Compile an expression that may be a call or a comma-separated list for all its values."""
        return evaluate.compile_values(self, node)

    def compile_arguments(self, arguments: Sequence[nodes.Expression]) -> Arguments:
        """Compile arguments; ``end`` refers to the value that they index."""
        return evaluate.compile_arguments(self, arguments)

    def values_of(self, node: nodes.Expression) -> Codes:
        """The compiled body of an anonymous function."""
        known = self._bodies.get(id(node))
        if known is None:
            known = self._bodies[id(node)] = (node, self.compile_values(node))
        return known[1]

    def body_of(self, function: nodes.Function, scope: Scope) -> Run:
        """The compiled statements of a function."""
        known = self._bodies.get(id(function))
        if known is None:
            shared = function.nested or function.name in scope.enclosing
            results = None if shared else frozenset(function.outputs)
            code = self._compiled(function.body, scope, results)
            known = self._bodies[id(function)] = (function, code)
        return known[1]

    def size_of(self, function: nodes.Function) -> int:
        """The nodes of a function's body."""
        known = self._sizes.get(id(function))
        if known is None:
            known = self._sizes[id(function)] = function, sum(1 for _ in below(function.body))
        return known[1]

    def script_of(self, program: nodes.Program) -> Run:
        """The compiled statements of a script, which others read variables of."""
        known = self._bodies.get(id(program))
        if known is None:
            with paused_collection():
                code = compile_block(self, program.statements, {})
            known = self._bodies[id(program)] = (program, code)
        return known[1]

    def _compiled(self, block: nodes.Block, scope: Scope, results: frozenset[str] | None) -> Run:
        """The compiled statements of a function or a program, which is read for some results."""
        try:
            with paused_collection():
                dead = dead_names(
                    block, results, lambda names: self.library.reads_callers(names, scope)
                )
                return compile_block(self, block, dead)
        except RecursionError as error:
            message = "The program is nested too deeply."
            raise MatlabError("MATLAB:recursionLimit", message) from error

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

    def is_a(self, value: Value, kind: str) -> bool:
        """True if a value is of a class, or of one of its kinds: ``numeric``, ``float``."""
        return bool(self.call_one(text("isa"), value, text(kind)))

    def find_function(self, name: str, scope: Scope) -> Function | None:
        """A function by name, as the code of a file sees it."""
        found = self.library.find(name, scope)
        if found is None and "." in name:  # a static method
            class_name, _, method_name = name.rpartition(".")
            file = self.library.find(class_name, scope)
            if isinstance(file, ClassFile):
                owner = self.class_of(file)
                method = owner.methods.get(method_name)
                if method is not None and method.is_static:
                    owner.check_access(method)
                    return method.function, method.owner.scope
        return found

    def is_class(self, found: Function | None) -> bool:
        """True if calling what was found makes an object."""
        return isinstance(found, ClassFile)

    def class_of(self, file: ClassFile) -> Class:
        """The class that a file defines."""
        known = self._bodies.get(id(file))
        if known is None:
            from matlab_frontend.interpreter.classes import class_of  # noqa: PLC0415  (few programs)

            known = self._bodies[id(file)] = (file, class_of(self, file))
            self._classes[file.scope.file] = known[1]
        return known[1]

    def class_at(self, file: str) -> Class | None:
        """The class of the code of a file."""
        return self._classes.get(file)

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

    def place(self) -> Hashable:
        """The expression that runs."""
        frame = self.frame
        return None if frame is None else (frame.scope.source, frame.span)

    def locate(self, error: MatlabError, frame: Frame) -> None:
        """Note that an error came from where a call stands."""
        calls.locate(error, frame)

    def stack_of(self, frame: Frame) -> Value:
        """The calls that led to one, as a column of structs."""
        return references.stack_value(calls.stack_of(frame))

    def run_file(self, path: Path, frame: Frame) -> None:
        """Run a script among the variables of a frame, or call a function without arguments."""
        calls.call_found(self, self.library.read(path), (), 0, frame)

    def run_text(self, text: str, frame: Frame) -> None:
        """Run the statements of a text in a frame, as ``eval`` does."""
        self._within(
            text, frame, lambda program: compile_block(self, program.statements, {})(frame)
        )

    def evaluate_text(self, text: str, frame: Frame, outputs: int) -> list[Value]:
        """The values of a text that is an expression.

        Raises:
            MatlabError: it is none, or computing it fails.

        """

        def run(program: nodes.Program) -> list[Value]:
            statements = program.statements
            if len(statements) != 1 or not isinstance(statements[0], nodes.ExpressionStatement):
                raise MatlabError("MATLAB:m_invalid_lhs_of_assignment", "This is no expression.")
            return self.compile_values(statements[0].expression)(frame, outputs)

        return self._within(text, frame, run)

    def _within(self, text: str, frame: Frame, run: Callable[[nodes.Program], Made]) -> Made:
        """Parse a text and run it in a frame that shows its lines meanwhile."""
        program = parse(Source(text, "eval"), variables=frame.variables)
        outer = frame.scope
        frame.scope = replace(outer, source=program.source)
        running, self.frame = self.frame, frame
        try:
            return run(program)
        finally:
            frame.scope, self.frame = outer, running


def drop_cleanups(variables: dict[str, Value]) -> None:
    """Forget the ``onCleanup`` objects of a program that ends, so that they run."""
    for name in list(variables):
        if isinstance(variables[name], CleanupObject):
            variables.pop(name)
