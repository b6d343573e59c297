"""Streams of text that programs write to: known ones, which do nothing else with the text."""

from __future__ import annotations

import io
import sys
from typing import Any, Final

from runmat_jit.capture.replay.steps import Stale

WRITERS: Final = frozenset(("write", "flush"))
"""Methods that a replay calls again."""


class StreamMethod:
    """``stream.write`` or ``stream.flush`` of a stream from outside."""

    __slots__ = ("__name__", "__self__")

    def __init__(self, stream: Any, name: str) -> None:
        self.__self__, self.__name__ = stream, name

    @property
    def real(self) -> Any:
        """The method itself."""
        return getattr(self.__self__, self.__name__)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.real(*args, **kwargs)


def is_plain(stream: Any) -> bool:
    """Whether writing to a stream does nothing else: one of Python's own, or none at all."""
    return stream is None or is_stream(stream)


def is_stream(value: Any) -> bool:
    """Whether a value is a stream of text that writes with Python's own methods."""
    kind: Any = type(value)
    written = getattr(kind, "write", None) in (io.TextIOWrapper.write, io.StringIO.write)
    return written and getattr(kind, "flush", None) in (io.TextIOWrapper.flush, io.StringIO.flush)


def is_standard(value: Any) -> bool:
    """Whether it is such a stream that nobody closes: the standard output, or that of errors."""
    return (value is sys.stdout or value is sys.stderr) and is_stream(value)


def require_writable(stream: Any, text: str) -> None:
    """Refuse what a stream would refuse.

    Raises:
        Stale: it is closed, or its encoding lacks a character.

    """
    if stream is None:
        return
    if stream.closed:
        raise Stale("the stream is closed")
    if stream.encoding is not None and not text.isascii():
        try:
            text.encode(stream.encoding, stream.errors)
        except UnicodeError as reason:
            raise Stale(f"the stream cannot take the text: {reason}") from None


def write_again(stream: Any, text: str) -> Any:
    """``stream.write(text)``, if it cannot fail.

    Raises:
        Stale: the stream is of another kind, or cannot take the text.

    """
    if not is_stream(stream):
        raise Stale("the stream may run code of its own")
    require_writable(stream, text)
    return stream.write(text)


def flush_again(stream: Any) -> None:
    """``stream.flush()``."""
    if not is_stream(stream):
        raise Stale("the stream may run code of its own")
    require_writable(stream, "")
    stream.flush()


write_again.__name__, flush_again.__name__ = "write", "flush"
