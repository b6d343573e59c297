"""Options of builtins: words, or names with values. Unknown ones are errors everywhere."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from matlab_frontend.errors import MatlabError
from matlab_frontend.values.array import Value
from matlab_frontend.values.read import is_text, text_of


def words_of(name: str, options: Sequence[Value], known: Collection[str]) -> list[str]:
    """The options of a call as small letters.

    Raises:
        MatlabError: one is no text, or none that the builtin knows.

    """
    return [word_of(name, option, known) for option in options]


def word_of(name: str, option: Value, known: Collection[str]) -> str:
    """An option as small letters.

    Raises:
        MatlabError: it is no text, or none that the builtin knows.

    """
    word = text_of(option).lower() if is_text(option) else None
    if word is None or word not in known:
        shown = "an argument" if word is None else f"'{word}'"
        raise MatlabError(
            f"MATLAB:{name}:unknownOption",
            f"{name} does not support {shown} here; it knows {', '.join(sorted(known))}.",
        )
    return word


def options_of(given: Sequence[Value], names: Sequence[str], function: str) -> dict[str, Value]:
    """Names and values of a call, by lower-case name.

    Raises:
        MatlabError: a name is not among those that are supported.

    """
    made: dict[str, Value] = {}
    for at in range(0, len(given), 2):
        name = text_of(given[at], "An option").lower()
        if name not in names or at + 1 == len(given):
            problem = "needs a value" if name in names else "is not an option that is supported"
            raise MatlabError(f"MATLAB:{function}:UnknownOption", f"'{name}' {problem}.")
        made[name] = given[at + 1]
    return made
