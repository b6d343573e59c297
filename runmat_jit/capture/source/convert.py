"""Rewrites functions, each once, and remembers which code calls hooks."""

from __future__ import annotations

import types
from typing import Any

from runmat_jit.capture.source.locate import SourceCache, locate
from runmat_jit.capture.source.rewrite import Refused, Rewritten, rewrite
from runmat_jit.core.locks import new_rlock


class Rewriter:
    """The rewritten forms of functions, by code object. Safe to use from several threads."""

    def __init__(self) -> None:
        self._sources = SourceCache()
        self._known: dict[tuple[types.CodeType, str], Rewritten | Refused] = {}
        self._codes: set[int] = set()
        self._lock = new_rlock()

    def find(self, fn: types.FunctionType, carried: str | None = None) -> Rewritten | Refused:
        """The rewritten form, or why there is none."""
        key = fn.__code__, fn.__code__.co_filename  # equal code objects may be of other files
        found = self._known.get(key)
        if found is None:
            with self._lock:
                found = self._known.get(key)
                if found is None:
                    located = locate(fn, self._sources, carried)
                    line = fn.__code__.co_firstlineno
                    found = rewrite(fn, located) if located else Refused("no-source", line)
                    if isinstance(found, Rewritten):
                        self._codes.update(map(id, found.codes))
                    self._known[key] = found
        return found

    def is_rewritten(self, code: types.CodeType) -> bool:
        """Whether a code object calls hooks."""
        return id(code) in self._codes

    def undecorated(self, fn: Any) -> Any:
        """Function beneath our own decorator; None where that is not."""
        return fn.__wrapped__ if type(fn).__name__ == "JitFunction" else None
