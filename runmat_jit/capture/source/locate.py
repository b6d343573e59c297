"""Finds the source of a function, and proves that it is the source.

A text is used only if compiling it anew gives a code object equal to the function's: an edited
file, a generated function or a patched code object have no source then.
"""

import inspect
import linecache
import os
import types
from collections.abc import Iterator

from runmat_jit.capture.source.source_cache import SourceCache
from runmat_jit.capture.source.source_text import Located, future_flags

__all__ = ["Located", "SourceCache", "locate"]


def locate(
    fn: types.FunctionType, cache: SourceCache, carried: str | None = None
) -> Located | None:
    """The definition of a function, or None if no text is proven to be its source.

    Args:
        fn: A Python function.
        cache: Keeps the texts compiled so far.
        carried: A text of the function's whole file, from where it was pickled.

    """
    return next((located for _, located in _found(fn, cache, carried)), None)


def source_text(fn: types.FunctionType, carried: str | None = None) -> str | None:
    """The text of the file that holds the function, for a process that may not have the file."""
    return next((text for text, _ in _found(fn, SourceCache(), carried)), None)


def _found(
    fn: types.FunctionType, cache: SourceCache, carried: str | None
) -> Iterator[tuple[str, Located]]:
    """The texts that are proven to be the source, each with the definition in it."""
    code = fn.__code__
    for text in _texts(fn, carried):
        ways = cache.compiled(code.co_filename, text, future_flags(code), code.co_firstlineno)
        for compiled in ways:
            located = compiled.find(code)
            if located:
                yield text, located


def _texts(fn: types.FunctionType, carried: str | None) -> Iterator[str]:
    filename = fn.__code__.co_filename
    # Entries of `linecache` with no file behind them (notebook cells) would be dropped.
    if os.path.isfile(filename):  # noqa: PTH113, no name is invalid: not all are names of files
        linecache.checkcache(filename)
    lines = linecache.getlines(filename, fn.__globals__)
    if not lines:
        try:
            lines, _ = inspect.findsource(fn)  # knows the interactive shell from Python 3.13
        except (OSError, TypeError, IndexError):
            lines = []
    text = "".join(lines)
    if text:
        yield text
    if carried and carried != text:
        yield carried
