"""Ordered calls: they print, warn, wait, draw by the module ``random``, ask clocks.

What is pending is computed first, and a replay makes the call again in its place, of the values of
its own call. What may run code of the user's, or fail when it has done a part, is an effect.
"""

from __future__ import annotations

import os
import sys
import time
import types
import warnings
from collections.abc import Mapping
from typing import Any

from runmat_jit.capture.record import texts
from runmat_jit.capture.record.following import Following
from runmat_jit.capture.record.host_calls import run_effect, run_host
from runmat_jit.capture.record.outside import is_constant
from runmat_jit.capture.record.traced import Traced
from runmat_jit.capture.record.tracer import Tracer
from runmat_jit.capture.replay.steps import Stale
from runmat_jit.capture.tape.lines import Line, warn_caller
from runmat_jit.capture.tape.values import TEXT, bits_of, is_stream

Args = tuple[Any, ...]
Kwargs = Mapping[str, Any]


def call(hooks: Following, fn: Any, args: Args, kwargs: Kwargs) -> Any:
    """A clock, a pause, a draw."""
    if fn is time.sleep:
        outside = hooks.tracer.outside
        return outside.wait(lambda: run_host(hooks.tracer, fn, args, kwargs, writes=False))
    return run_host(hooks.tracer, fn, args, kwargs, writes=False)


def read(hooks: Following, fn: Any, args: Args, kwargs: Kwargs) -> Any:
    """A question for outside state, such as ``os.getenv``: a trace holds while the answer does."""
    if not all(map(is_constant, (*args, *kwargs.values()))):
        return run_effect(hooks.tracer, fn, args, kwargs, "arguments of another kind")
    key = (fn.__name__, bits_of(args), *sorted(kwargs.items()))
    name = f"{fn.__name__}{args}"
    return hooks.tracer.outside.read(key, lambda _: fn(*args, **kwargs), fn(*args, **kwargs), name)


def is_environment_read(fn: types.MethodType) -> bool:
    """Whether a method is ``os.environ.get``."""
    return fn.__self__ is os.environ and fn.__name__ == "get"


def call_print(hooks: Following, fn: Any, args: Args, kwargs: Kwargs) -> Any:
    """``print`` to a standard stream, of text that Python and NumPy make."""
    tracer, stream = hooks.tracer, kwargs.get("file")
    args = tuple(map(hooks.shadowed, args))
    texts.read_options(tracer, args)
    others = [value for name, value in kwargs.items() if name != "file"]
    plain = kwargs.keys() <= {"sep", "end", "file", "flush"}
    plain = plain and texts.has_plain_text(tracer, (*args, *others))
    known = stream is None or tracer.slot_of(stream) is not None
    if not (known and plain and takes(tracer, sys.stdout if stream is None else stream, args)):
        return run_effect(tracer, fn, args, kwargs, "it prints what capture does not know")
    return run_host(tracer, print_again, args, kwargs, writes=True)


def call_stream_method(hooks: Following, fn: Any, args: Args, kwargs: Kwargs) -> Any:
    """``sys.stdout.write(text)`` or ``sys.stdout.flush()``."""
    tracer, stream, name = hooks.tracer, fn.__self__, fn.__name__
    known = tracer.slot_of(stream) is not None and not kwargs
    fits = len(args) == 1 and is_text(args[0]) if name == "write" else name == "flush" and not args
    if not (known and fits and takes(tracer, stream, args)):
        return run_effect(tracer, fn, args, kwargs, "the stream does something else")
    return run_host(tracer, call_stream, (stream, name, *args), {}, writes=True)


def call_warn(hooks: Following, fn: Any, args: Args, kwargs: Kwargs) -> Any:
    """``warnings.warn`` of a text, at a line of the call's or of one that called it."""
    given = dict(zip(("message", "category", "stacklevel"), args, strict=False)) | dict(kwargs)
    message, category = given.get("message"), given.get("category", UserWarning)
    level = given.get("stacklevel", 1)
    names = given.keys() <= {"message", "category", "stacklevel"} and len(args) < 4
    if not (names and is_text(message) and isinstance(category, type) and type(level) is int):
        return run_effect(hooks.tracer, fn, args, kwargs, "a level or an object")
    place = hooks.tracer.lines.above(max(level, 1))
    if isinstance(place, Line):
        told = (message, category)
        return run_host(hooks.tracer, warnings.warn, told, {}, writes=True, line=place)
    return run_host(hooks.tracer, warn_caller, (message, category, place), {}, writes=True)


def is_text(value: Any) -> bool:
    """Whether a value is text, traced or not."""
    return type(value) is str or (type(value) is Traced and value._rm_kind == TEXT)


# -- streams ---------------------------------------------------------------------------------------
def takes(tracer: Tracer, stream: Any, args: Args) -> bool:
    """Whether a stream takes the text of these values; where a replay has written it, it did."""
    try:
        if not tracer.tape.feeding:
            require(stream, *map(str, tracer.raw(args)))
    except Stale:
        return False
    return True


def require(stream: Any, *text: str) -> None:
    """Refuse a stream before anything is written to it.

    Raises:
        Stale: it may run code of its own, it is closed, or its encoding lacks a character.

    """
    if stream is None:
        return
    if not is_stream(stream) or stream.closed:
        raise Stale("the stream is closed, or may run code of its own")
    try:
        "".join(text).encode(stream.encoding or "utf-8", stream.errors or "surrogatepass")
    except UnicodeError as reason:
        raise Stale(f"the stream cannot take the text: {reason}") from None


def print_again(*args: Any, file: Any = None, **named: Any) -> None:
    """``print``, if nothing of it could fail after something has been written."""
    stream = sys.stdout if file is None else file
    require(stream, *map(str, args), *[value for value in named.values() if type(value) is str])
    print(*args, file=stream, **named)  # the program prints


def call_stream(stream: Any, name: str, *text: str) -> Any:
    """``stream.write(text)`` or ``stream.flush()``."""
    require(stream, *text)
    return getattr(stream, name)(*text)
