"""Rewrites functions, each once, and remembers which code calls hooks."""

from __future__ import annotations

import ast
import types
from dataclasses import replace
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
        self._inner: dict[int, ast.AST] = {}
        """Definitions of functions within others, by the rewritten code."""
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
                        inner = definitions(located.node) if located else {}
                        for each in found.codes:
                            node = inner.get((each.co_name, each.co_firstlineno))
                            if node is not None:
                                self._inner[id(each)] = node
                    self._known[key] = found
        return found

    def helper(self, fn: types.FunctionType) -> HelperSource | None:
        """A function as loops that run natively may call it; None where they may not."""
        code = fn.__code__
        key = code, code.co_filename
        if key not in self._helpers:
            with self._lock:
                found = None if self.is_rewritten(code) else locate(fn, self._sources)
                node = self._inner.get(id(code)) if found is None else found.node
                where = partial(where_found, code)
                helper = None if node is None else find_helper(node, where)
                if helper is not None and found is None:
                    helper = replace(helper, inner=True)
                self._helpers[key] = helper
        return self._helpers[key]

    def is_rewritten(self, code: types.CodeType) -> bool:
        """True if a code object calls hooks."""
        return id(code) in self._codes

    def undecorated(self, fn: Any) -> Any:
        """Function beneath our own decorator; None where that is not."""
        return fn.__wrapped__ if type(fn).__name__ == "JitFunction" else None


def definitions(function: ast.AST) -> dict[tuple[str, int], ast.AST]:
    """The functions that are defined within one, by name and line; none of several in one line."""
    found: dict[tuple[str, int], ast.AST] = {}
    doubles: set[tuple[str, int]] = set()
    for node in ast.walk(function):
        if node is function or not isinstance(node, ast.FunctionDef | ast.Lambda):
            continue
        if isinstance(node, ast.Lambda) or not node.decorator_list:
            key = getattr(node, "name", "<lambda>"), node.lineno
            doubles.update((key,) if key in found else ())
            found[key] = node
    return {key: node for key, node in found.items() if key not in doubles}
