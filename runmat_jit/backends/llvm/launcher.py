"""The one function through which Python calls kernels."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from runmat_jit.backends.llvm.jit import Jit
from runmat_jit.backends.llvm.launcher_text import (
    LAUNCHER_FUNCTIONS,
    MOST_ARRAYS,
    launcher_symbols,
    launcher_text,
)
from runmat_jit.backends.llvm.object_layout import ObjectLayout, object_layout
from runmat_jit.backends.llvm.pool import ThreadPool
from runmat_jit.backends.llvm.symbols import process_symbols

Arrays: TypeAlias = tuple[np.ndarray[Any, Any], ...]
Launch: TypeAlias = Callable[..., Any]


class Launcher:
    """Calls kernels on arrays, on this thread or on the pool.

    ``run(kernel, arrays, block, total, grain, parallel[, offsets])`` stores the data pointer of
    ``arrays[i]`` in ``block[i]`` and calls the kernel over ``[0, total)``:

    - ``kernel``: address of a ``void (i64* args, i64 lo, i64 hi)``; ``args`` is the block.
    - ``arrays``: a tuple of exactly ``numpy.ndarray``; alive until the call returns.
    - ``block``: address of at least ``len(arrays)`` int64, the rest holds what the kernel wants
      beside them. While a call runs no other call may use the block.
    - ``total``: elements, at least 0.
    - ``grain``: elements in a chunk, at least 1; every ``lo`` is a multiple of it. A chunk should
      take well under 40 ms, for that is how late a signal may be seen.
    - ``parallel``: false for work of a few microseconds: one call of the kernel, the GIL is kept.
      True for all longer work, even where the pool has one thread: the GIL is released, signals
      are seen, workers are started if there are none yet.
    - ``offsets``: address of ``len(arrays)`` int64, bytes to add to the pointers; left out: none.

    It raises ``TypeError`` for arguments of other types or below their minimum, ``OverflowError``
    for numbers above 63 bits, and what a signal handler raises; then some chunks have not run.
    """

    __slots__ = ("run",)

    run: Launch

    def __init__(self, jit: Jit, pool: ThreadPool) -> None:
        layout = object_layout()
        self.run = _portable_launch(pool) if layout is None else _launch(jit, pool, layout)


def _launch(jit: Jit, pool: ThreadPool, layout: ObjectLayout) -> Launch:
    # Generating better code takes 5 ms more and gains nothing measurable in these few branches.
    symbols = process_symbols(launcher_symbols())
    text = launcher_text(layout)
    address = jit.functions(text, LAUNCHER_FUNCTIONS, symbols, codegen_level=0)["launch"]
    return builtin_function(b"run", address, (pool.start, None, np.ndarray, pool.address))


def _portable_launch(pool: ThreadPool) -> Launch:
    """Launch through ``ctypes`` alone, for interpreters with another layout of objects."""

    def run(  # noqa: PLR0917 - called by position, as the built-in function is
        kernel: int,
        arrays: Arrays,
        block: int,
        total: int,
        grain: int,
        parallel: bool,  # noqa: FBT001 - likewise
        offsets: int | None = None,
    ) -> None:
        if len(arrays) > MOST_ARRAYS:
            raise TypeError(f"a call takes at most {MOST_ARRAYS} arrays, not {len(arrays)}")
        slots = (ctypes.c_int64 * len(arrays)).from_address(block)
        added = (ctypes.c_int64 * len(arrays)).from_address(offsets) if offsets else slots
        for index, array in enumerate(arrays):
            slots[index] = array.ctypes.data + (added[index] if offsets else 0)
        if parallel:
            pool.run(kernel, block, total, grain)
        else:
            _KERNEL(kernel)(block, 0, total)

    return run


_KERNEL = ctypes.PYFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)


class _MethodDefinition(ctypes.Structure):
    """CPython's ``PyMethodDef``, part of its stable ABI."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


_METH_FASTCALL, _METH_KEYWORDS = 0x80, 0x02


@functools.cache
def _definition(name: bytes, address: int, flags: int) -> _MethodDefinition:
    # Functions refer to their definition without owning it: it is never freed.
    definition = _MethodDefinition(name, address, flags, None)
    keep = ctypes.pythonapi["Py_IncRef"]
    keep.argtypes, keep.restype = [ctypes.py_object], None
    keep(definition)
    return definition


def builtin_function(
    name: bytes, address: int, self_argument: object, *, keywords: bool = False
) -> Launch:
    """A built-in function of CPython's fast calling convention, of machine code."""
    flags = _METH_FASTCALL | (_METH_KEYWORDS if keywords else 0)
    definition = _definition(name, address, flags)
    create = ctypes.pythonapi["PyCFunction_NewEx"]
    create.argtypes = [ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p]
    create.restype = ctypes.py_object
    function: Launch = create(ctypes.addressof(definition), self_argument, None)
    return function
