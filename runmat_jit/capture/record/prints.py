"""What a program tells its user: ``print``, ``write`` and warnings, said again by each replay.

A replay says it where the program did, in program order, of the values of its own call. Text goes
to a stream that is known to do nothing else with it; to any other stream Python prints itself.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

from runmat_jit.capture.record import host_calls, texts
from runmat_jit.capture.record.traced import Traced
from runmat_jit.capture.replay.repeated import is_repeated
from runmat_jit.capture.replay.steps import Stale
from runmat_jit.capture.replay.streams import (
    StreamMethod,
    flush_again,
    is_plain,
    require_writable,
    write_again,
)
from runmat_jit.capture.tape.entries import Call as Op
from runmat_jit.capture.tape.lines import Line, warn_caller
from runmat_jit.capture.tape.values import TEXT

if TYPE_CHECKING:
    from runmat_jit.capture.record.hooks import Hooks
    from runmat_jit.capture.record.tracer import Tracer

_NAMED: Final = frozenset(("sep", "end", "flush"))


def call_print(hooks: Hooks, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    """``print`` to the standard output, or to a stream that capture knows; else an effect."""
    tracer, stream = hooks.tracer, kwargs.get("file")
    named = {name: value for name, value in kwargs.items() if name != "file"}
    args = tuple(map(hooks.shadowed, args))
    texts.read_options(tracer, args)
    known = named.keys() <= _NAMED and texts.has_plain_text(tracer, (*args, *named.values()))
    known = known and (stream is None or tracer.slot_of(stream) is not None)
    target = sys.stdout if stream is None else stream
    takes = known and is_plain(target)
    if not (takes and (tracer.tape.feeding or can_print(tracer, target, args))):
        return host_calls.run_effect(
            tracer, print, args, kwargs, "it prints what capture does not know"
        )
    if stream is None:
        return host_calls.run_host(tracer, print_again, args, named, writes=True)
    return host_calls.run_host(tracer, print_again, args, {**named, "file": stream}, writes=True)


def print_again(
    *args: Any,
    sep: str | None = " ",
    end: str | None = "\n",
    file: Any = None,
    **flush: Any,
) -> None:
    """``print``, if nothing of it could fail after something has been written.

    Raises:
        Stale: the stream is of another kind, or cannot take the text.

    """
    stream = sys.stdout if file is None else file
    if not is_plain(stream):
        raise Stale("the stream may run code of its own")
    require_writable(stream, "".join([*map(str, args), sep or "", end or ""]))
    print(*args, sep=sep, end=end, file=stream, **flush)  # the program prints


print_again.__name__ = "print"


def can_print(tracer: Tracer, stream: Any, args: tuple[Any, ...]) -> bool:
    """Whether a stream takes the text of these values."""
    try:
        require_writable(stream, " ".join(map(str, tracer.raw(args))))
    except Stale:
        return False
    return True


def call_stream(
    hooks: Hooks, fn: StreamMethod, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> Any:
    """``stream.write(text)`` or ``stream.flush()``."""
    tracer, stream = hooks.tracer, fn.__self__
    if fn.__name__ == "flush" and not args and not kwargs:
        return host_calls.run_host(tracer, flush_again, (stream,), {}, writes=True)
    takes = len(args) == 1 and not kwargs and is_text(args[0])
    if not (takes and (tracer.tape.feeding or can_print(tracer, stream, args))):
        return host_calls.run_effect(tracer, fn.real, args, kwargs, "it is given something else")
    return host_calls.run_host(tracer, write_again, (stream, *args), {}, writes=True)


def is_text(value: Any) -> bool:
    """Whether a value is text, traced or not."""
    return type(value) is str or (type(value) is Traced and value._rm_kind == TEXT)


def tells(calls: Iterable[Op]) -> bool:
    """Whether calls of a tape do what a second run would do again: say something, ask a clock."""
    return any(call.fn in _TELLING or is_repeated(call.fn) for call in calls)


_TELLING: Final[frozenset[Any]] = frozenset(
    (print_again, write_again, flush_again, warnings.warn, warn_caller)
)


def call_warn(hooks: Hooks, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    """``warnings.warn`` of a text; of other objects it is an effect.

    A ``stacklevel`` means a line inside the call, which is known, or one of those that called it.
    """
    given = dict(zip(("message", "category", "stacklevel"), args, strict=False)) | dict(kwargs)
    message, category = given.get("message"), given.get("category", UserWarning)
    level = given.get("stacklevel", 1)
    names = given.keys() <= {"message", "category", "stacklevel"}
    known = is_text(message) and isinstance(category, type) and type(level) is int
    if not (known and names and len(args) < 4):
        return host_calls.run_effect(
            hooks.tracer, warnings.warn, args, kwargs, "a level or an object"
        )
    place = hooks.tracer.lines.above(max(level, 1))
    if isinstance(place, Line):
        told = (message, category)
        return host_calls.run_host(hooks.tracer, warnings.warn, told, {}, writes=True, line=place)
    return host_calls.run_host(
        hooks.tracer, warn_caller, (message, category, place), {}, writes=True
    )
