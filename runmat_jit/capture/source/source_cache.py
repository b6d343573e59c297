"""Keeps parsed and compiled source texts, because one file holds many functions."""

import ast
from collections.abc import Callable, Hashable, Iterator
from typing import TypeVar, cast

from runmat_jit.capture.source.source_text import (
    CompiledText,
    compiled_text,
    parse_text,
    statement_at,
    with_test_assertions,
)
from runmat_jit.core.locks import new_lock

V = TypeVar("V")


class SourceCache:
    """Parsed and compiled texts, the most recently used ones.

    Args:
        limit: How many entries are kept. A file of 5,000 lines makes two of about 10 MB.

    """

    def __init__(self, limit: int = 32) -> None:
        self._limit = limit
        self._entries: dict[Hashable, object] = {}
        self._lock = new_lock()

    def __len__(self) -> int:
        return len(self._entries)

    def compiled(self, filename: str, text: str, flags: int, line: int) -> Iterator[CompiledText]:
        """The text compiled in every way a function at that line may have been."""
        source = filename, text, flags

        def compiled(tree: ast.Module | None, text: str | None = None) -> CompiledText | None:
            return compiled_text(tree, filename, flags, text) if tree else None

        tree = self._kept(("tree", source), lambda: parse_text(*source))
        if tree is None:
            return
        statement = statement_at(tree, line)
        statement_line = statement and statement.body[0].lineno
        ways: dict[Hashable, Callable[[], CompiledText | None]] = {
            "whole": lambda: compiled(tree, text),
            "test": lambda: compiled(with_test_assertions(*source)),
            ("statement", statement_line): lambda: compiled(statement),
        }
        for way, compute in ways.items():
            result = self._kept((way, source), compute)
            if result:
                yield result

    def _kept(self, key: Hashable, compute: Callable[[], V]) -> V:
        """The entry, computed outside of the lock: at worst two threads compute the same."""
        with self._lock:
            if key in self._entries:
                self._entries[key] = self._entries.pop(key)  # now the most recently used
                return cast("V", self._entries[key])
        value = compute()
        with self._lock:
            self._entries[key] = value
            while len(self._entries) > self._limit:
                del self._entries[next(iter(self._entries))]
        return value
