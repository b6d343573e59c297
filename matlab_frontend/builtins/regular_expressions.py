"""``regexp`` and its like."""

from __future__ import annotations

import re

from matlab_frontend.builtins.registry import Call, builtin
from matlab_frontend.builtins.texts import map_texts
from matlab_frontend.errors import MatlabError
from matlab_frontend.values.array import Cell, Value
from matlab_frontend.values.make import cell_row, empty, row, struct, text
from matlab_frontend.values.read import text_of

_OUTPUTS = ("start", "end", "tokenExtents", "match", "tokens", "names", "split")


def translate(pattern: str) -> str:
    """MATLAB's pattern as Python's: names of groups and word boundaries differ."""
    named = re.sub(r"\(\?<([A-Za-z]\w*)>", r"(?P<\1>", pattern)
    return named.replace(r"\<", r"\b").replace(r"\>", r"\b")


def _compile(pattern: str, flags: int) -> re.Pattern[str]:
    try:
        return re.compile(translate(pattern), flags)
    except re.error as error:
        raise MatlabError("MATLAB:regexp:pattern", f"The pattern is wrong: {error}.") from error


def _search(
    call: Call, x: Value, pattern: Value, options: tuple[Value, ...], flags: int
) -> Value | tuple[Value, ...]:
    if isinstance(x, Cell):
        made = [_search(call, item, pattern, options, flags) for item in x.data.flat]
        return cell_row([item[0] if isinstance(item, tuple) else item for item in made])
    words = [text_of(option) for option in options]
    once = "once" in words
    flags |= re.IGNORECASE if "ignorecase" in words else 0
    shown = text_of(x)
    matches = list(_compile(text_of(pattern), flags).finditer(shown))
    results = _once(matches) if once else _all(matches, shown)
    order = [word for word in words if word in _OUTPUTS]
    order += [name for name in _OUTPUTS if name not in order]
    return tuple(results[name] for name in order[: max(call.outputs, 1)])


def _all(matches: list[re.Match[str]], shown: str) -> dict[str, Value]:
    ends = [0, *(m.end() for m in matches)]
    starts = [*(m.start() for m in matches), len(shown)]
    return {
        "start": row(m.start() + 1.0 for m in matches) if matches else empty(),
        "end": row(float(m.end()) for m in matches) if matches else empty(),
        "tokenExtents": cell_row([_extents(m) for m in matches]),
        "match": cell_row([text(m.group()) for m in matches]),
        "tokens": cell_row([_tokens(m) for m in matches]),
        "names": _names(matches),
        "split": cell_row([text(shown[a:b]) for a, b in zip(ends, starts, strict=True)]),
    }


def _once(matches: list[re.Match[str]]) -> dict[str, Value]:
    first = matches[0] if matches else None
    if first is None:
        nothing = dict.fromkeys(_OUTPUTS, empty())
        return {**nothing, "match": text(""), "tokens": cell_row([]), "names": struct({})}
    return {
        "start": first.start() + 1.0,
        "end": float(first.end()),
        "tokenExtents": _extents(first),
        "match": text(first.group()),
        "tokens": _tokens(first),
        "names": _names(matches[:1]),
        "split": empty(),
    }


def _tokens(match: re.Match[str]) -> Value:
    """The groups of a match; without groups, the match is its only token."""
    groups = [group for group in match.groups() if group is not None]
    return cell_row([text(group) for group in groups] if match.re.groups else [text(match.group())])


def _extents(match: re.Match[str]) -> Value:
    return row((match.start() + 1.0, float(match.end())))


def _names(matches: list[re.Match[str]]) -> Value:
    if not matches:
        return struct({})
    return struct({name: text(part or "") for name, part in matches[0].groupdict().items()})


@builtin("regexp")
def regexp(call: Call, x: Value, pattern: Value, *options: Value) -> Value | tuple[Value, ...]:
    """Where a pattern matches, and what its groups match."""
    return _search(call, x, pattern, options, 0)


@builtin("regexpi")
def regexpi(call: Call, x: Value, pattern: Value, *options: Value) -> Value | tuple[Value, ...]:
    """Like ``regexp``, but for case."""
    return _search(call, x, pattern, options, re.IGNORECASE)


@builtin("regexprep")
def regexprep(_: Call, x: Value, pattern: Value, replacement: Value, *options: Value) -> Value:
    """Texts with what a pattern matches replaced; ``$1`` stands for the first group."""
    words = [text_of(option) for option in options]
    compiled = _compile(text_of(pattern), re.IGNORECASE if "ignorecase" in words else 0)
    new = re.sub(r"\$(\d)", r"\\g<\1>", text_of(replacement).replace("$0", r"\g<0>"))
    count = 1 if "once" in words else 0
    return map_texts(x, lambda s: compiled.sub(new, s, count=count))
