"""Rewrites functions, each once, and remembers which code calls hooks."""

from __future__ import annotations

import types
from functools import partial
from typing import Any

from runmat_jit.capture.source.locate import SourceCache, locate
from runmat_jit.capture.source.rewrite import Refused, Rewritten, rewrite, where_found
from runmat_jit.core.locks import new_lock
from runmat_jit.loops.source import HelperSource, find_helper


class Rewriter:
    """The rewritten forms of functions, by code object. Safe to use from several threads."""

    def __init__(self) -> None:
        self._sources = SourceCache()
        self._known: dict[tuple[types.CodeType, str, bool], Rewritten | Refused] = {}
        self._helpers: dict[tuple[types.CodeType, str], HelperSource | None] = {}
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

    def helper(self, fn: types.FunctionType) -> HelperSource | None:
        """A function as loops that run natively may call it; None where they may not."""
        code = fn.__code__
        key = code, code.co_filename
        if key not in self._helpers:
            with self._lock:
                found = None if self.is_rewritten(code) else locate(fn, self._sources)
                where = partial(where_found, code)
                self._helpers[key] = None if found is None else find_helper(found.node, where)
        return self._helpers[key]

    def is_rewritten(self, code: types.CodeType) -> bool:
        """Whether a code object calls hooks."""
        return id(code) in self._codes

    def undecorated(self, fn: Any) -> Any:
        """Function beneath our own decorator; None where that is not."""
        return fn.__wrapped__ if type(fn).__name__ == "JitFunction" else None
