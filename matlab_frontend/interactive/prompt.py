"""The prompt: reads statements, runs them, shows errors, and goes on."""

from __future__ import annotations

import sys
from collections.abc import Callable

from matlab_frontend.errors import MatlabError
from matlab_frontend.interactive.base_workspace import BaseWorkspace
from matlab_frontend.interactive.error_report import error_report
from runmat_jit.core.errors import RunMatError
from runmat_jit.core.log import LOG

PROMPT = ">> "
CONTINUATION = "   "
"""What stands before the further lines of a statement: nothing, as wide as the prompt."""
NAME = "<prompt>"
"""What the sources of typed texts are called."""

ReadLine = Callable[[str], str]
"""Shows a prompt and gives the line that is typed, without its end; raises EOFError at the end."""


class Prompt:
    """A conversation over a base workspace.

    Args:
        workspace: What runs the statements.
        read: Reads a line, such as ``input``.
        write_error: Takes what is to be said of errors.

    """

    def __init__(
        self, workspace: BaseWorkspace, read: ReadLine, write_error: Callable[[str], None]
    ) -> None:
        self.workspace, self.read, self.write_error = workspace, read, write_error

    def run(self) -> int:
        """Run statements until ``exit``, or the end of what is typed; gives the exit status."""
        workspace = self.workspace
        while workspace.exit_status is None:
            try:
                text = self._statement()
            except EOFError:
                workspace.session.write("\n")
                workspace.close()
                return 0
            except KeyboardInterrupt:
                workspace.session.write("\n")
                continue
            if text.strip():
                self.run_text(text)
        return workspace.exit_status

    def _statement(self) -> str:
        """Lines, until they are a program or wrong."""
        text = self.read(PROMPT)
        while self.workspace.is_unfinished(text):
            text = f"{text}\n{self.read(CONTINUATION)}"
        return text

    def run_text(self, text: str) -> None:
        """Run one text; its error is shown."""
        try:
            self.workspace.run(text, NAME)
        except MatlabError as error:
            typed = self.workspace.interpreter.library.typed
            self._fail(error_report(error, typed, NAME))
        except KeyboardInterrupt:
            self._fail("\nOperation terminated by user.\n")
        except RunMatError as error:
            self._fail(f"Error: {error}\n")
        except OSError as error:  # a file of the program's
            self._fail(f"Error: {error.filename}: {error.strerror}.\n")
        except Exception as error:
            LOG.debug("The prompt shows one line of this error:", exc_info=error)
            self._fail(f"Internal error: {type(error).__name__}: {error}; please report it\n")
        sys.stdout.flush()

    def _fail(self, shown: str) -> None:
        sys.stdout.flush()  # what was printed before the error stands before it
        self.write_error(f"{shown}\n")
