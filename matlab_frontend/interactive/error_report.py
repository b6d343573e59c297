"""What MATLAB's command window shows of an error."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from matlab_frontend import nodes
from matlab_frontend.errors import MatlabError, MatlabSyntaxError, Place
from matlab_frontend.interpreter.frame import Scope
from matlab_frontend.pattern import pattern
from matlab_frontend.source import Source

Typed = Mapping[str, tuple[nodes.Function, Scope]]
_RAISES = pattern(r"\berror\b")


def error_report(error: MatlabError, typed: Typed, prompt: str) -> str:
    """The lines that are shown, without colors.

    Args:
        error: What a typed statement raised.
        typed: Functions that were typed at the prompt, whose lines are in no file.
        prompt: What the sources of typed texts are called; their lines stand above on the screen.

    """
    if isinstance(error, MatlabSyntaxError):
        where = f"File: {error.filename} Line: {error.lineno} Column: {error.offset}\n"
        shown = "" if error.filename == prompt else where
        return f"{error.excerpt()}\nError: {shown}{_sentence(error.message)}\n"
    lines = [error.message]
    called = list(error.stack)
    if called and _RAISES.search(_line(called[0], typed)):
        # The function said so itself: its own line is no news.
        lines.insert(0, f"Error using {called[0].name} (line {called[0].line})")
        del called[0]
    for place in called:
        text = _line(place, typed)
        lines += ["", f"Error in {place.name} (line {place.line})"]
        lines += [f"    {text}"] if text else []
    return "\n".join(lines) + "\n"


def _line(place: Place, typed: Typed) -> str:
    """The text of a line that was running; nothing where its file went."""
    known = typed.get(place.name)
    if known is not None and known[1].file == place.file:
        source = known[1].source
    else:
        try:
            source = Source.from_file(Path(place.file))
        except OSError:
            return ""
    lines = source.text.split("\n")
    return lines[place.line - 1].strip() if place.line <= len(lines) else ""


def _sentence(message: str) -> str:
    """A message of the parser's, which goes on after line and column elsewhere."""
    return f"{message[:1].upper()}{message[1:]}."
