"""A MATLAB function as a Python callable."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from matlab_frontend import nodes
from matlab_frontend.errors import MatlabError, ProgramExit
from matlab_frontend.help_text import help_of
from matlab_frontend.interpreter import calls
from matlab_frontend.interpreter.frame import Frame, Scope
from matlab_frontend.interpreter.interpreter import Interpreter
from matlab_frontend.interpreter.library import scope_of
from matlab_frontend.parser import parse
from matlab_frontend.run import engine_for, home_of, read_source, surroundings
from matlab_frontend.search_path import SearchPath
from matlab_frontend.session import Session
from matlab_frontend.source import Source
from matlab_frontend.values.array import Value
from matlab_frontend.values.make import text
from matlab_frontend.workspace import detached, from_python, to_python
from runmat_jit.core.errors import ArgumentError


def _first_function(source: Source) -> tuple[nodes.Function, Scope] | None:
    """The function of a text; None if it is a script."""
    program = parse(source)
    if program.statements or not program.functions:
        return None
    return program.functions[0], scope_of(program)


class MatlabFunction:
    """The first function of a file, which keeps its persistent variables from call to call.

    The file is read again after it changed. ``__name__`` is the function's, ``__doc__`` its help.

    Args:
        program: A path, or a text: a ``str`` is a path if it ends with ``.m`` and is one line.
        device: Where large arrays are computed: ``auto``, ``cpu`` or ``gpu``.

    Raises:
        ArgumentError: The program is no function but a script or a class.
        MatlabSyntaxError: The text is no MATLAB program.
        OSError: The file cannot be read.

    """

    def __init__(self, program: str | Path, device: str) -> None:
        source = read_source(program)
        path = SearchPath(home=home_of(source))
        self._session = Session(engine_for(device), path=path)
        self._interpreter = Interpreter(self._session)
        self._path = Path(source.name).resolve() if source.name.endswith(".m") else None
        self._typed = None if self._path else _first_function(source)
        function, scope = self._function()
        self.__name__ = self.__qualname__ = function.name
        self.__doc__ = help_of(scope.source, function) or None

    def __repr__(self) -> str:
        return f"<MATLAB function {self.__name__}>"

    def _function(self) -> tuple[nodes.Function, Scope]:
        library, path = self._interpreter.library, self._path
        found = self._typed if path is None else library.read(path)
        if not isinstance(found, tuple):
            name = path or "the text"
            raise ArgumentError(f"{name} is no function: scripts are run by runmat_jit.matlab.run")
        return found

    def __call__(self, *arguments: Any, nargout: int | None = None, **options: Any) -> Any:
        """Call the function.

        Args:
            arguments: NumPy arrays, numbers, texts, lists, dictionaries. Arrays are copied.
            nargout: How many outputs are asked for. By default the first where there is one.
            options: ``name=value`` arguments, given behind the others as names and values.

        Returns:
            The first output, a tuple of several ones, or None for no output.

        Raises:
            MatlabError: The function raised it and did not catch it.
            SystemExit: It called ``exit``.

        """
        function, scope = self._function()
        wanted = (1 if function.outputs else 0) if nargout is None else nargout
        if not isinstance(wanted, int) or wanted < 0:
            raise ArgumentError(f"nargout={nargout!r}: the number of outputs is 0 or more")
        given = [from_python(detached(argument)) for argument in arguments]
        for name, value in options.items():
            given += [text(name), from_python(detached(value))]
        with surroundings():
            made = self._call(function, scope, given, wanted)
            if len(made) < wanted:
                message = "One or more output arguments not assigned."
                raise MatlabError("MATLAB:maxlhs", message)
            engine = self._session.engine
            outputs = [detached(to_python(engine, value)) for value in made[:wanted]]
        if not wanted:
            return None
        return outputs[0] if wanted == 1 else tuple(outputs)

    def _call(
        self, function: nodes.Function, scope: Scope, given: list[Value], wanted: int
    ) -> list[Value]:
        interpreter, session = self._interpreter, self._session
        interpreter.frame = Frame(scope)
        try:
            return calls.call_function(interpreter, function, scope, given, wanted)
        except ProgramExit as request:
            raise SystemExit(session.exit_status) from request
        finally:
            interpreter.frame, session.depth = None, 0
