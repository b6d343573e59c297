"""Lets calls of known kinds through to the undecorated function, at next to no cost.

A bypass is a function with the parameters of the one behind it, so that Python sorts the arguments,
given by position or by name, and refuses those that do not fit; a text made for the purpose
compares their kinds:

>>> def scaled(x, by=2.0): return str(x * by)
>>> print(bypass_source(Parameters.of(scaled), [LetThrough(Kind((int, None), (), ()))])[0])
def bypass(x, by=_rm_none):
    try:
        if _rm_fn.__code__ is _rm_code and _rm_current.session is _rm_session:
            if type(x) is _rm_0 and by is _rm_none:
                return _rm_plain(x)
        return _rm_other((x, by), (), {})
    except BaseException as _rm_error:
        _rm_hide(_rm_error)
        raise

Calls that are let through because they raise are counted where they do not.

Where the function has got other code, or options have changed, or the kind is another one, the call
goes the long way. Code and defaults set on the decorated function take the bypass away; other code
set on the undecorated one is taken to name its parameters in the same order.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Hashable, Sequence
from inspect import CO_VARARGS, CO_VARKEYWORDS
from typing import Any, Final, NamedTuple

import numpy as np

from runmat_jit.capture.replay.bailout import (
    EVERY,
    LET_THROUGH,
    Kind,
    LetThrough,
    OfArray,
    parameters,
)
from runmat_jit.capture.tape.lines import hide_our_frames
from runmat_jit.core.frames import UNCOUNTED, uncounted
from runmat_jit.core.stack_space import RoomForFrames
from runmat_jit.runtime.session import CURRENT, Session

_PREFIX: Final = "_rm_"
_NONE: Final = object()


class Parameters(NamedTuple):
    """How a function may be given its arguments."""

    names: tuple[str, ...]
    """But for ``*args`` and ``**kwargs``."""
    only_by_position: int
    by_position: int
    optional: frozenset[str]
    rest: bool
    """True if there is ``*args``."""
    more: bool
    """True if there is ``**kwargs``."""

    @classmethod
    def of(cls, fn: types.FunctionType) -> Parameters:
        """Those of a function."""
        code, names = fn.__code__, parameters(fn.__code__)
        last = code.co_argcount - len(fn.__defaults__ or ())
        optional = (*names[last : code.co_argcount], *(fn.__kwdefaults__ or ()))
        rest, more = code.co_flags & CO_VARARGS, code.co_flags & CO_VARKEYWORDS
        by_position = code.co_argcount
        only = code.co_posonlyargcount
        return cls(names, only, by_position, frozenset(optional), bool(rest), bool(more))


def make_bypass(
    fn: types.FunctionType,
    kinds: Sequence[LetThrough],
    session: Session,
    other: Callable[..., Any],
    *,
    plain: Callable[..., Any] | None = None,
    room: RoomForFrames | None = None,
    form: Callable[[], Callable[..., Any]] | None = None,
    returned: Callable[[LetThrough], None] | None = None,
) -> Callable[..., Any]:
    """Bypass, to be called instead of ``other``, which it calls for other kinds than these.

    ``plain``: what makes plain calls, where that is a form of the function; ``room``: on the stack,
    for a function that calls itself; ``form``: gives what makes plain calls, in place of ``plain``;
    ``returned``: is told of calls that were to raise, and have not.
    """
    own = Parameters.of(fn)
    if any(name.startswith(_PREFIX) for name in own.names):
        return other
    name = "_rm_plain" if form is None else "_rm_form()"
    text, values = bypass_source(own, kinds[:LET_THROUGH], name, roomy=room is not None)

    @uncounted
    def long_way(named: tuple[Any, ...], rest: tuple[Any, ...], more: dict[str, Any]) -> Any:
        args, kwargs = arguments_of(own, named)
        return other(*args, *rest, **kwargs, **more)

    namespace = {
        "_rm_array": np.ndarray,
        "_rm_none": _NONE,
        "_rm_fn": fn,
        "_rm_plain": fn if plain is None else plain,
        "_rm_code": fn.__code__,
        "_rm_current": CURRENT,
        "_rm_session": session,
        "_rm_other": long_way,
        "_rm_hide": hide_our_frames,
        "_rm_room": room,
        "_rm_form": form,
        "_rm_returned": returned,
        **values,
    }
    exec(compile(text, __file__ + UNCOUNTED, "exec"), namespace)  # noqa: S102  (text of ours)
    bypass: Any = namespace["bypass"]
    bypass.__name__, bypass.__qualname__ = fn.__name__, fn.__qualname__  # Python's errors tell it
    return bypass  # type: ignore[no-any-return]  # a function


def bypass_source(
    own: Parameters, kinds: Sequence[LetThrough], name: str = "_rm_plain", *, roomy: bool = False
) -> tuple[str, dict[str, Any]]:
    """The text of a bypass, and the classes, dtypes and kinds that it names."""
    values: dict[str, Any] = {}
    tests = [line for each in kinds for line in way_through(own, each, values, name, roomy=roomy)]
    shown = ", ".join(own.names) + "," * (len(own.names) == 1)
    rest, more = "_rm_rest" if own.rest else "()", "_rm_more" if own.more else "{}"
    lines = [
        f"def bypass({declared(own)}):",
        "    try:",
        "        if _rm_fn.__code__ is _rm_code and _rm_current.session is _rm_session:",
        *tests,
        f"        return _rm_other(({shown}), {rest}, {more})",
        "    except BaseException as _rm_error:",
        "        _rm_hide(_rm_error)",
        "        raise",
    ]
    return "\n".join(lines), values


def way_through(
    own: Parameters, each: LetThrough, values: dict[str, Any], name: str, *, roomy: bool
) -> list[str]:
    """The lines of a bypass for calls of one kind."""
    call, space = f"{name}({passed(own, each.kind)})", 16 * " "
    enter = "with _rm_room: " if roomy else ""
    lines = [f"            if {condition(own, each, values)}:"]
    if each.patience is None:
        return [*lines, f"{space}{enter}return {call}"]
    number = f"{_PREFIX}{len(values)}"
    values[number] = each
    told = f"{space}_rm_returned({number})"
    return [*lines, f"{space}{enter}_rm_result = {call}", told, f"{space}return _rm_result"]


def declared(own: Parameters) -> str:
    """The parameters of the bypass, the function's own: what is not given is not looked at."""
    shown = [f"{name}=_rm_none" if name in own.optional else name for name in own.names]
    by_position, by_name = shown[: own.by_position], shown[own.by_position :]
    if own.only_by_position:
        by_position.insert(own.only_by_position, "/")
    star = ["*_rm_rest"] if own.rest else ["*"] if by_name else []
    return ", ".join([*by_position, *star, *by_name, *["**_rm_more"] * own.more])


def condition(own: Parameters, each: LetThrough, values: dict[str, Any]) -> str:
    """True if the arguments are of a kind; adds the classes and dtypes to ``values``."""
    kind = each.kind
    given = list(zip(own.names, kind.named, strict=True))
    tests = []
    if own.rest:
        tests.append(f"len(_rm_rest) == {len(kind.rest)}")
        given += [(f"_rm_rest[{n}]", of) for n, of in enumerate(kind.rest)]
    if own.more:
        names = tuple(name for name, _ in kind.more)
        tests.append(f"(*_rm_more,) == {names!r}" if names else "not _rm_more")
        given += [(f"_rm_more[{name!r}]", of) for name, of in kind.more]
    tests += [test(value, of, each.below, values) for value, of in given]
    return " and ".join(tests) or "True"


def test(value: str, of: Hashable, below: int, values: dict[str, Any]) -> str:
    """True if one argument is of a kind, and an array has no more elements than may be."""
    if of is None:
        return f"{value} is _rm_none"
    number = f"{_PREFIX}{len(values)}"
    if not isinstance(of, OfArray):
        values[number] = of
        return f"type({value}) is {number}"
    values[number] = of.dtype
    found, compare = f"{value}.dtype", "is"
    if isinstance(of.dtype, type):
        found = f"type({found})"
    elif np.dtype(of.dtype.str) is not of.dtype:  # byte-swapped ones are not unique
        compare = "=="
    small = "" if below == EVERY else f" and {value}.size < {below}"
    return f"type({value}) is _rm_array and {found} {compare} {number}{small}"


def passed(own: Parameters, kind: Kind) -> str:
    """The arguments of the call, as the function takes them."""
    missing = [of is None for of in kind.named]
    first = first_missing(own, missing)
    parts = [*own.names[:first], *["*_rm_rest"] * bool(kind.rest)]
    late = zip(own.names[first:], missing[first:], strict=True)
    parts += [f"{name}={name}" for name, absent in late if not absent]
    return ", ".join([*parts, *["**_rm_more"] * bool(kind.more)])


def first_missing(own: Parameters, missing: list[bool]) -> int:
    """Number of the parameters that are given by position."""
    return [*missing[: own.by_position], True].index(True)


def arguments_of(own: Parameters, named: tuple[Any, ...]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Positional and keyword arguments that give a function these values of its parameters."""
    first = first_missing(own, [value is _NONE for value in named])
    late = zip(own.names[first:], named[first:], strict=True)
    return named[:first], {name: value for name, value in late if value is not _NONE}
