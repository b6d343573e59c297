"""Editing of lines, with history and completion, by Python's ``readline`` where it is present."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

Complete = Callable[[str], list[str]]
"""What the end of a line may become."""
KEPT = 2000
"""Lines of the history."""
_DELIMITERS = " \t\n`~!@#$%^&*()-=+[{]}\\|;:'\",<>?/"


def history_file() -> Path:
    """Where lines are kept between sessions: a file in the user's directory of data."""
    import platformdirs  # noqa: PLC0415  (at a prompt alone)

    return platformdirs.user_data_path("runmat_jit", appauthor=False) / "matlab_history"


@contextmanager
def line_editing(complete: Complete, history: Path) -> Iterator[None]:
    """Let ``input`` edit lines, complete names, and remember lines of this and earlier sessions.

    Where there is no ``readline``, or its files cannot be used, lines are read all the same.
    """
    try:
        import readline  # noqa: PLC0415  (not on every system)
    except ImportError:
        yield
        return
    readline.set_completer(_Completer(readline, complete))
    readline.set_completer_delims(_DELIMITERS)
    by_editline = "libedit" in (readline.__doc__ or "")
    readline.parse_and_bind("bind ^I rl_complete" if by_editline else "tab: complete")
    with contextlib.suppress(OSError):
        readline.read_history_file(history)
    known = readline.get_current_history_length()
    try:
        yield
    finally:
        readline.set_completer(None)
        with contextlib.suppress(OSError):
            _save(readline, history, readline.get_current_history_length() - known)


def _save(readline: ModuleType, history: Path, added: int) -> None:
    """Add the new lines, behind those of sessions that ended meanwhile."""
    history.parent.mkdir(parents=True, exist_ok=True)
    # What somebody typed is nobody else's to read.
    os.close(os.open(history, os.O_CREAT | os.O_WRONLY, 0o600))
    readline.set_history_length(KEPT)
    append = getattr(readline, "append_history_file", None)
    if append is None:  # editline's
        readline.write_history_file(history)
    else:
        append(added, history)


class _Completer:
    """What ``readline`` asks, once for each candidate."""

    def __init__(self, readline: ModuleType, complete: Complete) -> None:
        self.readline, self.complete = readline, complete
        self.found: list[str] = []

    def __call__(self, word: str, state: int) -> str | None:
        if state == 0:
            line = self.readline.get_line_buffer()[: self.readline.get_endidx()]
            self.found = candidates(line, word, self.complete)
        return self.found[state] if state < len(self.found) else None


def candidates(line: str, word: str, complete: Complete) -> list[str]:
    """What may stand for the last word of a line, by the delimiters of ``readline``."""
    made = []
    for whole in complete(line):
        # A file's name may hold delimiters, such as blanks: what stands before the word stays.
        at = next((k for k in range(len(whole), -1, -1) if line.endswith(whole[:k])), 0)
        made.append(whole[at - len(word) :] if at >= len(word) else whole)
    return made
