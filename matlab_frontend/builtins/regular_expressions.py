"""``regexp`` and its like."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from matlab_frontend.builtins.registry import Call, builtin
from matlab_frontend.builtins.texts import map_texts
from matlab_frontend.errors import MatlabError
from matlab_frontend.format_text import unescape
from matlab_frontend.parser import parse
from matlab_frontend.source import Source
from matlab_frontend.values.array import Cell, Struct, Value, count_of, kind_of, shape_of
from matlab_frontend.values.make import (
    cell,
    cell_row,
    empty,
    objects,
    row,
    string,
    strings,
    struct,
    text,
    wrap,
)
from matlab_frontend.values.read import is_text, lines_of, text_of
from runmat_jit.core.frozen import frozen

_OUTPUTS = ("start", "end", "tokenExtents", "match", "tokens", "names", "split")
_FLAGS = {
    "ignorecase": re.IGNORECASE,
    "lineanchors": re.MULTILINE,
    "freespacing": re.VERBOSE,
}
_DEFAULTS = ("matchcase", "stringanchors", "literalspacing", "noemptymatch", "all", "warnings")
_ALIAS = "__"
"""Follows the name of a group that an alternative used before, and the number of its use."""


@frozen
class Options:
    """How a pattern is applied, and which outputs are wanted first."""

    flags: int
    once: bool
    empty_matches: bool
    outputs: tuple[str, ...]


def _read_options(words: Iterable[str], flags: int) -> Options:
    flags |= re.DOTALL  # a dot matches line breaks too, unless told otherwise
    once = empty_matches = False
    outputs: list[str] = []
    for word in words:
        if word in _OUTPUTS:
            outputs.append(word)
        elif word in _FLAGS:
            flags |= _FLAGS[word]
        elif word == "dotexceptnewline":
            flags &= ~re.DOTALL
        elif word == "once":
            once = True
        elif word == "emptymatch":
            empty_matches = True
        elif word not in (*_DEFAULTS, "dotall"):
            raise MatlabError("MATLAB:regexp:unknownOption", f"Unknown option '{word}'.")
    outputs += [name for name in _OUTPUTS if name not in outputs]
    return Options(flags, once, empty_matches, tuple(outputs))


def translate(pattern: str) -> str:
    """MATLAB's pattern as Python's: names of groups and ends of words are written otherwise."""
    uses: dict[str, int] = {}

    def change(match: re.Match[str]) -> str:
        found = match.group()
        if match.group(1) is None:
            return {r"\<": r"\b(?=\w)", r"\>": r"\b(?<=\w)"}.get(found, found)
        name = match.group(1)
        uses[name] = uses.get(name, 0) + 1
        return f"(?P<{name}>" if uses[name] == 1 else f"(?P<{name}{_ALIAS}{uses[name]}>"

    return re.sub(r"\\.|\(\?<([A-Za-z]\w*)>", change, pattern, flags=re.DOTALL)


def _compile(pattern: str, flags: int) -> re.Pattern[str]:
    try:
        return re.compile(translate(pattern), flags)
    except re.error as error:
        raise MatlabError("MATLAB:regexp:pattern", f"The pattern is wrong: {error}.") from error


def _search(
    call: Call, x: Value, pattern: Value, words: Sequence[str], flags: int
) -> tuple[Value, ...]:
    options = _read_options(words, flags)
    count = max(call.outputs, 1)
    texts = _STRINGS if "string" in (kind_of(x), kind_of(pattern)) else _CHARACTERS
    several = next((value for value in (x, pattern) if _is_list(value)), None)
    if several is None:
        results = _matches(text_of(x), text_of(pattern), options, texts)
        return tuple(results[name] for name in options.outputs[:count])
    length = count_of(several)
    shown, patterns = (
        lines_of(value) if _is_list(value) else [text_of(value)] * length for value in (x, pattern)
    )
    if len(shown) != len(patterns):
        raise MatlabError(
            "MATLAB:regexp:cellsize", "There must be as many patterns as texts, or one of either."
        )
    rows = [
        _matches(one, wanted, options, texts) for one, wanted in zip(shown, patterns, strict=True)
    ]
    columns = ([made[name] for made in rows] for name in options.outputs[:count])
    return tuple(cell(column, shape_of(several)) for column in columns)


def _is_list(value: Value) -> bool:
    return isinstance(value, Cell) or (kind_of(value) == "string" and count_of(value) != 1)


class Texts(NamedTuple):
    """How texts come out: one of them, and a row of them."""

    one: Callable[[str], Value]
    row: Callable[[Sequence[str]], Value]


_CHARACTERS = Texts(text, lambda parts: cell_row([text(part) for part in parts]))
_STRINGS = Texts(string, lambda parts: strings(parts, (1, len(parts))))


def found_in(shown: str, pattern: re.Pattern[str]) -> Iterator[re.Match[str]]:
    """The matches in a text, from left to right, empty ones included.

    After an empty match the search goes on at the next character: Python would look for a longer
    one at the same place, which a lazy pattern has refused.
    """
    at = 0
    while at <= len(shown):
        match = pattern.search(shown, at)
        if match is None:
            return
        yield match
        at = match.end() + (match.end() == match.start())


def _matches(shown: str, pattern: str, options: Options, texts: Texts) -> dict[str, Value]:
    found = list(found_in(shown, _compile(pattern, options.flags)))
    if not options.empty_matches:
        found = [match for match in found if match.group()]
    return _once(found, shown, texts) if options.once else _all(found, shown, texts)


def _all(matches: list[re.Match[str]], shown: str, texts: Texts) -> dict[str, Value]:
    return {
        "start": row(m.start() + 1.0 for m in matches) if matches else empty(),
        "end": row(float(m.end()) for m in matches) if matches else empty(),
        "tokenExtents": cell_row([_extents(m) for m in matches]),
        "match": texts.row([m.group() for m in matches]),
        "tokens": cell_row([_tokens(m, texts) for m in matches]),
        "names": _names(matches, texts),
        "split": _split(matches, shown, texts),
    }


def _once(matches: list[re.Match[str]], shown: str, texts: Texts) -> dict[str, Value]:
    first = matches[0] if matches else None
    if first is None:
        nothing = dict.fromkeys(_OUTPUTS, empty())
        return {
            **nothing,
            "match": text("") if texts is _CHARACTERS else strings([], (0, 0)),
            "tokens": cell([], (0, 0)) if texts is _CHARACTERS else strings([], (0, 0)),
            "names": struct({}),
            "split": _split([], shown, texts),
        }
    return {
        "start": first.start() + 1.0,
        "end": float(first.end()),
        "tokenExtents": _extents(first),
        "match": texts.one(first.group()),
        "tokens": _tokens(first, texts),
        "names": _names([first], texts),
        "split": _split([first], shown, texts),
    }


def _split(matches: list[re.Match[str]], shown: str, texts: Texts) -> Value:
    ends = [0, *(m.end() for m in matches)]
    starts = [*(m.start() for m in matches), len(shown)]
    return texts.row([shown[a:b] for a, b in zip(ends, starts, strict=True)])


def _taken(match: re.Match[str]) -> list[int]:
    """The groups that took part in a match; the whole match where the pattern has none."""
    groups = range(1, match.re.groups + 1)
    return [k for k in groups if match.group(k) is not None] if match.re.groups else [0]


def _tokens(match: re.Match[str], texts: Texts) -> Value:
    return texts.row([match.group(k) for k in _taken(match)])


def _extents(match: re.Match[str]) -> Value:
    spans = [(match.start(k) + 1.0, float(match.end(k))) for k in _taken(match)]
    return wrap("double", np.array(spans).reshape(-1, 2).T.copy())


def _names(matches: list[re.Match[str]], texts: Texts) -> Value:
    """A struct for each match; its fields are the names of the groups."""
    if not matches or not matches[0].re.groupindex:
        return struct({})
    rows: list[dict[str, Value]] = []
    for match in matches:
        made: dict[str, Value] = {}
        for name, part in match.groupdict().items():
            plain = name.partition(_ALIAS)[0]
            if part is not None or plain not in made:
                made[plain] = texts.one(part or "")
        rows.append(made)
    return Struct(tuple(rows[0]), objects(rows, (1, len(rows))))


@builtin("regexp")
def regexp(call: Call, x: Value, pattern: Value, *options: Value) -> tuple[Value, ...]:
    """Where a pattern matches, and what its groups match."""
    return _search(call, x, pattern, [text_of(option) for option in options], 0)


@builtin("regexpi")
def regexpi(call: Call, x: Value, pattern: Value, *options: Value) -> tuple[Value, ...]:
    """Like ``regexp``, but for case."""
    return _search(call, x, pattern, [text_of(option) for option in options], re.IGNORECASE)


@builtin("regexprep")
def regexprep(call: Call, x: Value, pattern: Value, replacement: Value, *options: Value) -> Value:
    """Texts with what patterns match replaced, one after the other; ``$1`` is the first group."""
    settings = _read_options([text_of(option) for option in options], 0)
    patterns = [text_of(pattern)] if is_text(pattern) else lines_of(pattern)
    news = [text_of(replacement)] if is_text(replacement) else lines_of(replacement)
    news = news * len(patterns) if len(news) == 1 else news
    if len(news) != len(patterns):
        raise MatlabError(
            "MATLAB:regexprep:NumberMismatch", "There must be as many replacements as patterns."
        )
    compiled = [_compile(one, settings.flags) for one in patterns]

    def change(shown: str) -> str:
        for one, new in zip(compiled, news, strict=True):
            shown = _replaced(call, shown, one, new, settings)
        return shown

    return map_texts(x, change)


def _replaced(call: Call, shown: str, pattern: re.Pattern[str], new: str, options: Options) -> str:
    parts: list[str] = []
    kept, left = 0, 1 if options.once else len(shown) + 1
    for match in found_in(shown, pattern):
        if left and (match.group() or options.empty_matches):
            parts += shown[kept : match.start()], _filled(call, new, match)
            kept, left = match.end(), left - 1
    return "".join((*parts, shown[kept:]))


def _filled(call: Call, new: str, match: re.Match[str]) -> str:
    """A replacement with what groups matched; ``$`` before no group's number stands for itself.

    ``${expression}`` is the text of an expression of what groups matched.
    """

    def part(found: re.Match[str]) -> str:
        escaped, expression, number, name = found.groups()
        if expression is not None:
            return _computed(call, expression, match)
        if escaped is not None:
            return escaped if escaped in "$\\" else unescape(found.group())
        if name is not None:
            return match.groupdict().get(name) or ""
        return (match.group(int(number)) or "") if int(number) <= match.re.groups else found.group()

    return re.sub(r"\\(.)|\$\{([^}]*)\}|\$(\d)|\$<(\w+)>", part, new, flags=re.DOTALL)


def _computed(call: Call, expression: str, match: re.Match[str]) -> str:
    """The text of an expression in which ``$1`` is what the first group matched."""
    tokens: dict[str, Value] = {}

    def token(found: re.Match[str]) -> str:
        number = int(found.group(1))
        held = match.group(number) if number <= match.re.groups else None
        name = f"token{number}of"
        tokens[name] = text(held or "")
        return name

    code = re.sub(r"\$(\d)", token, expression)
    program = parse(Source(f"ans = {code};", "regexprep"), variables=tokens)
    return text_of(call.interpreter.run(program, tokens).variables["ans"])
