"""The base workspace: variables and functions that last from one typed text to the next."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from matlab_frontend.errors import MatlabError, ProgramExit
from matlab_frontend.interpreter.frame import Frame, Scope
from matlab_frontend.interpreter.interpreter import Interpreter, drop_cleanups
from matlab_frontend.parser import is_unfinished, parse
from matlab_frontend.run import engine_for, surroundings
from matlab_frontend.session import Session, read_line, write_error, write_output
from matlab_frontend.source import Source
from matlab_frontend.workspace import detached, from_python, to_python


class BaseWorkspace:
    """Runs texts one after the other; each finds what those before it left.

    Args:
        device: Where large arrays are computed: ``auto``, ``cpu`` or ``gpu``.
        write: Takes what programs print.
        write_error: Takes warnings.
        read_line: Gives what a person types where a program asks.

    """

    def __init__(
        self,
        device: str = "auto",
        *,
        write: Callable[[str], None] = write_output,
        write_error: Callable[[str], None] = write_error,
        read_line: Callable[[], str] = read_line,
    ) -> None:
        self.session = Session(
            engine_for(device), write=write, write_error=write_error, read_line=read_line
        )
        self.interpreter = Interpreter(self.session)
        self.frame = Frame(Scope(Source(""), {}))

    @property
    def exit_status(self) -> int | None:
        """What a program gave ``exit``; None unless one called that."""
        return self.session.exit_status

    def is_unfinished(self, text: str) -> bool:
        """True if a text is but the beginning of a program."""
        return is_unfinished(Source(text), self.frame.variables)

    def run(self, text: str, name: str) -> None:
        """Run the statements of a text, and define its functions.

        Args:
            text: The program.
            name: What errors call it.

        Raises:
            MatlabError: The program raised it and did not catch it. What it did before is done.
            MatlabSyntaxError: The text is no program; nothing of it is run.

        """
        program = parse(Source(text, name), variables=self.frame.variables)
        if program.definition is not None:
            message = "A class is defined in a file of its own, which is called as it is."
            raise MatlabError("MATLAB:class:definitionOutsideFile", message)
        with surroundings():
            try:
                self.interpreter.run_further(program, self.frame)
            except ProgramExit:
                self.close()

    def push(self, variables: Mapping[str, Any]) -> None:
        """Set variables to what NumPy's and Python's values are in MATLAB.

        Raises:
            MatlabError: there is no MATLAB value for one of them; none is set then.

        """
        pushed = {name: from_python(detached(value)) for name, value in variables.items()}
        self.frame.variables |= pushed

    def pull(self, names: Iterable[str]) -> dict[str, Any]:
        """The NumPy and Python values of some variables.

        Raises:
            MatlabError: ``MATLAB:UndefinedFunction`` where one does not exist.

        """
        found: dict[str, Any] = {}
        for name in names:
            if name not in self.frame.variables:
                message = f"Unrecognized function or variable '{name}'."
                raise MatlabError("MATLAB:UndefinedFunction", message)
            with surroundings():
                value = self.frame.variables[name]
                found[name] = detached(to_python(self.session.engine, value))
        return found

    def close(self) -> None:
        """End the session: ``onCleanup`` objects run, and open files are closed."""
        drop_cleanups(self.frame.variables)
        self.session.streams.close_all()
