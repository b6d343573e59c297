"""What a program tells its user: ``print`` and ``warnings.warn``, said again by each replay.

A replay says it where the program did, in program order, of the values of its own call. Text goes
to a stream that is known to do nothing else with it; to any other stream Python prints itself.
"""

from __future__ import annotations

import io
import sys
import warnings
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

from runmat_jit.capture import host, texts
from runmat_jit.capture.tape import Op
from runmat_jit.capture.trace import Stale
from runmat_jit.capture.traced import TEXT, Traced

if TYPE_CHECKING:
    from runmat_jit.capture.hooks import Hooks
    from runmat_jit.capture.tracer import Tracer

_NAMED: Final = frozenset(("sep", "end", "flush"))


def call_print(hooks: Hooks, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    """``print`` to the standard output; to another file it is an effect."""
    tracer = hooks.tracer
    named = {name: value for name, value in kwargs.items() if (name, value) != ("file", None)}
    args = tuple(map(hooks.shadowed, args))
    texts.read_options(tracer, args)
    known = named.keys() <= _NAMED and texts.has_plain_text(tracer, (*args, *named.values()))
    if not (known and is_plain(sys.stdout) and (tracer.steps.feeding or can_print(tracer, args))):
        return host.run_effect(tracer, print, args, kwargs, "it prints what capture does not know")
    return host.run_host(tracer, print_again, args, named, writes=True)


def print_again(*args: Any, sep: str | None = " ", end: str | None = "\n", **flush: Any) -> None:
    """``print``, if nothing of it could fail after something has been written.

    Raises:
        Stale: the standard output is of another kind, or cannot take the text.

    """
    stream = sys.stdout
    if not is_plain(stream):
        raise Stale("the standard output may run code of its own")
    require_writable(stream, "".join([*map(str, args), sep or "", end or ""]))
    print(*args, sep=sep, end=end, **flush)  # noqa: T201  (the program prints)


print_again.__name__ = "print"


def can_print(tracer: Tracer, args: tuple[Any, ...]) -> bool:
    """Whether the standard output takes the text of these values."""
    try:
        require_writable(sys.stdout, " ".join(map(str, tracer.raw(args))))
    except Stale:
        return False
    return True


def require_writable(stream: Any, text: str) -> None:
    """Refuse what a stream would refuse.

    Raises:
        Stale: it is closed, or its encoding lacks a character.

    """
    if stream is None:
        return
    if stream.closed:
        raise Stale("the standard output is closed")
    if stream.encoding is not None and not text.isascii():
        try:
            text.encode(stream.encoding, stream.errors)
        except UnicodeError as reason:
            raise Stale(f"the standard output cannot take the text: {reason}") from None


def is_plain(stream: Any) -> bool:
    """Whether writing to a stream does nothing else: one of Python's own, or none at all."""
    write = getattr(type(stream), "write", None)
    return stream is None or write in (io.TextIOWrapper.write, io.StringIO.write)


def tells(calls: Iterable[Op]) -> bool:
    """Whether calls of a tape say something: a second run would say it again."""
    return any(call.fn is print_again or call.fn is warnings.warn for call in calls)


def call_warn(hooks: Hooks, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    """``warnings.warn`` of a text at the line itself; other levels and objects are an effect."""
    given = dict(zip(("message", "category", "stacklevel"), args, strict=False)) | dict(kwargs)
    message, category = given.get("message"), given.get("category", UserWarning)
    is_text = type(message) is str or (type(message) is Traced and message._rm_kind == TEXT)
    names = given.keys() <= {"message", "category", "stacklevel"}
    here = type(given.get("stacklevel", 1)) is int and given.get("stacklevel", 1) == 1
    if not (is_text and isinstance(category, type) and names and here and len(args) < 4):
        return host.run_effect(hooks.tracer, warnings.warn, args, kwargs, "a level or an object")
    return host.run_host(hooks.tracer, warnings.warn, (message, category), {}, writes=True)
