"""Programs kept between processes: a graph that one has compiled goes through no stage in others.

Kept is what a run needs: the layout of the memory, and for each launch its numbers and the key of
its object code. Graphs with host calls are not kept, nor what is found out later (which kernels
tell events from data).
"""

from __future__ import annotations

import functools
import marshal
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import numpy as np

from runmat_jit.backends.llvm.object_cache import PROGRAM, ObjectCache
from runmat_jit.compiler.native_code import Bound, NativeCode
from runmat_jit.core.frozen import frozen
from runmat_jit.graph.node import Graph
from runmat_jit.graph.structure import structure
from runmat_jit.ops.table import ROWS
from runmat_jit.plan.layout import Buffer, Commit, Layout
from runmat_jit.runtime.session import Session


@frozen
class KeptProgram:
    """A program, and the fusion kind of each of its regions."""

    kinds: tuple[str, ...]
    code: NativeCode


class KeptPrograms:
    """The programs that are kept; of a session."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._rates = sorted(session.profile.rates.items())

    def key(self, graph: Graph, disabled: frozenset[str]) -> str | None:
        """Key of a graph's program; None where it is not kept."""
        session, stages = self._session, sources()
        if session.unsupported is not None or session.object_cache is None or stages is None:
            return None
        try:
            text = exact_text(without_lines(structure(graph)))
        except UnkeptError:
            return None
        versions = np.__version__, sys.implementation.cache_tag, session.jit.host
        return ObjectCache.key("program", stages, *versions, sorted(disabled), self._rates, text)

    def find(self, key: str) -> KeptProgram | None:
        """The program that is kept under a key; None where there is none with all its kernels."""
        session = self._session
        cache, backend = session.object_cache, session.backend
        data = None if cache is None else cache.get(key, PROGRAM)
        if cache is None or data is None:
            return None
        before = backend.compiles
        try:
            kept = decode(data, backend.kept, session.table)
        except LookupError:  # of a kernel's code
            return None
        except (EOFError, ValueError, TypeError) as error:
            cache.tell(error)
            return None
        session.telemetry.count("kernels_compiled", backend.compiles - before)
        return kept

    def keep(self, key: str, kinds: tuple[str, ...], code: NativeCode) -> None:
        """Keep a program, unless it has what cannot be kept."""
        cache = self._session.object_cache
        data = encode(kinds, code)
        if cache is not None and data is not None:
            cache.put(key, data, PROGRAM)


# -- the key ---------------------------------------------------------------------------------------
def without_lines(structure: Any) -> Any:
    """What decides about a program: the user's lines, and what is reported of them, do not."""
    inputs, nodes, outputs, _computations = structure
    return inputs, tuple([(_operation(*node[0]), *node[1:-1]) for node in nodes]), outputs


def _operation(name: str, numpy: Any) -> Any:
    """A row by its name, another operation of that name also by what the program calls."""
    row = ROWS.get(name)
    return name if row is not None and row.numpy is numpy else (name, numpy)


class UnkeptError(Exception):
    """A graph has something of which no text says all."""


def exact_text(value: Any) -> str:
    """A text that other values of these classes do not have.

    Raises:
        UnkeptError: it has another class.

    """
    kind = type(value)
    if value is None or kind in (bool, int, str, bytes):
        return repr(value)
    if kind is tuple:
        return f"({','.join([exact_text(part) for part in value])})"
    if isinstance(value, np.dtype) and value.isbuiltin == 1:
        return f"<{value.str}>"
    if isinstance(value, np.ufunc):
        return f"<ufunc {value.__name__}>"
    if kind is type and value.__module__ == "builtins":
        return f"<class {value.__module__}.{value.__qualname__}>"
    module, name = getattr(value, "__module__", ""), getattr(value, "__qualname__", "<")
    if callable(value) and f"{module}".partition(".")[0] in _CALLED and "<" not in name:
        return f"<{kind.__name__} {module}.{name}>"
    fields = getattr(kind, "__match_args__", None)
    if fields is not None and kind.__module__.startswith("runmat_jit."):
        return f"<{kind.__qualname__} {exact_text(tuple([getattr(value, f) for f in fields]))}>"
    raise UnkeptError(kind.__name__)


_CALLED: Final = ("numpy", "_operator", "builtins", "math", "runmat_jit")
"""Packages of what rows stand for."""

_STAGES: Final = (
    *("backends/llvm", "compiler", "core", "graph", "kernel"),
    *("lower", "ops", "passes", "plan"),
)
"""Folders of what decides about programs."""


@functools.cache
def sources() -> tuple[object, ...] | None:
    """Name, size and time of each source file of the stages; None where there are none."""
    package = Path(__file__).parents[1]
    try:
        found = tuple(sorted([each for name in _STAGES for each in _files(str(package / name))]))
    except OSError:
        return None
    return found or None


def _files(folder: str) -> Iterator[tuple[str, int, int]]:
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.endswith((".py", ".pyc")):
                facts = entry.stat()
                yield entry.path, facts.st_size, facts.st_mtime_ns
            elif entry.is_dir() and entry.name != "__pycache__":
                yield from _files(entry.path)


# -- the contents ----------------------------------------------------------------------------------
def encode(kinds: tuple[str, ...], code: NativeCode) -> bytes | None:
    """A program as bytes; None where it has what cannot be kept."""
    layout = code.layout
    if code.calls or not all(launch.key for launch in code.launches):
        return None
    buffers = [
        (b.place, b.shape, b.dtype.str, b.strides, b.nbytes, b.shares, b.returned, b.sizes)
        for b in layout.buffers
    ]
    commits = [(c.source, c.input, c.offset, c.shape, c.strides, c.whole) for c in layout.commits]
    memory = (
        layout.inputs,
        layout.tables,
        buffers,
        layout.fresh,
        layout.copies,
        commits,
        layout.written,
    )
    launches = [
        (b.places, b.offsets, b.block, b.scalars, b.total, b.grain, b.nbytes, b.iteration_us, b.key)
        for b in code.launches
    ]
    try:
        return marshal.dumps((kinds, memory, launches, code.blind))
    except ValueError:  # of another class than Python's own
        return None


def decode(data: bytes, address_of: Any, table: Any) -> KeptProgram:
    """The program, of whose kernels and tables these functions give addresses and arrays.

    Raises:
        LookupError: a kernel's code is not kept.
        ValueError: this is no program; likewise `EOFError` and `TypeError`.

    """
    kinds, memory, launches, blind = marshal.loads(data)  # noqa: S302  (nobody else has written it)
    inputs, tables, buffers, fresh, copies, commits, written = memory
    layout = Layout(
        inputs,
        tables,
        tuple(
            [
                Buffer(place, shape, np.dtype(dtype), *others)
                for place, shape, dtype, *others in buffers
            ]
        ),
        fresh,
        copies,
        tuple([Commit(*each) for each in commits]),
        {},
        written,
    )
    bound = tuple([Bound(address_of(each[-1]), *each) for each in launches])
    return KeptProgram(kinds, NativeCode(layout, tuple(map(table, tables)), bound, (), (), blind))
