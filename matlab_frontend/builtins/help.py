"""What functions say about themselves."""

from __future__ import annotations

from matlab_frontend.builtins.not_supported import NOT_SUPPORTED
from matlab_frontend.builtins.programming import frame_of
from matlab_frontend.builtins.registry import Builtin, Call, builtin
from matlab_frontend.help_text import help_of
from matlab_frontend.tokens import KEYWORDS
from matlab_frontend.values.array import Value, kind_of
from matlab_frontend.values.read import text_of

PAGE = "docs/reference/builtins.md"
"""The page of all builtins, with an entry for each."""
_GENERAL = f"""\
help NAME shows the comment of a function, or what a builtin does.
  who        the variables      clear NAME  forget one
  format     digits of numbers  which NAME  the file of a function
  cd, ls     the current folder exit        leave
The builtins are listed in {PAGE}.
"""


@builtin("help")
def help_(call: Call, name: Value | None = None) -> None:
    """Print the first comment of a function, or what a builtin does."""
    shown = _GENERAL if name is None else _about(call, text_of(name, "The name"))
    call.session.write(shown)


def _about(call: Call, name: str) -> str:
    frame = frame_of(call)
    if name in frame.variables:
        return f"{name} is a variable of type {kind_of(frame.variables[name])}.\n"
    found = call.interpreter.find_function(name, frame.scope)
    if isinstance(found, Builtin):
        return f" {found.name}  {found.doc}\n\n Reference: {PAGE}#{found.name}\n"
    if found is not None:
        function, scope = found if isinstance(found, tuple) else (None, found.scope)
        comment = help_of(scope.source, function)
        return comment or f"{name} says nothing about itself: its file has no comment.\n"
    if name in KEYWORDS:
        return f"{name} is a word of the language.\n"
    if name in NOT_SUPPORTED:
        return f"{name} is not supported yet.\n\n Reference: {PAGE}#not-supported\n"
    return f"{name} not found.\n"
