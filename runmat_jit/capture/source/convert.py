"""Rewrites functions, each once, and remembers which code calls hooks."""

from __future__ import annotations

import types
from typing import Any

from runmat_jit.capture.source.locate import SourceCache, locate
from runmat_jit.capture.source.rewrite import Refused, Rewritten, rewrite
from runmat_jit.core.locks import new_lock


class Rewriter:
    """The rewritten forms of functions, by code object. Safe to use from several threads."""

    def __init__(self) -> None:
        self._sources = SourceCache()
        self._known: dict[tuple[types.CodeType, str, bool], Rewritten | Refused] = {}
        self._codes: set[int] = set()
        self._lock = new_lock()

    def find(
        self, fn: types.FunctionType, carried: str | None = None, *, direct: bool = False
    ) -> Rewritten | Refused:
        """The rewritten form, or why there is none; ``direct``: see :func:`rewrite`."""
        code = fn.__code__
        key = code, code.co_filename, direct  # equal code objects may be of other files
        found = self._known.get(key)
        if found is None:
            with self._lock:
                found = self._known.get(key)
                if found is None:
                    located = locate(fn, self._sources, carried)
                    line = fn.__code__.co_firstlineno
                    found = Refused("no-source", line)
                    if located:
                        found = rewrite(fn, located, direct=direct)
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
