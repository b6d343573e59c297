"""Recycled memory for results, through NumPy's own hook for allocators (NEP 49).

The C library gives large blocks back to the system, so that a fresh result pays page faults that
cost more than most kernels that fill it.
"""

from __future__ import annotations

import ctypes
import os
import weakref
from collections.abc import Callable, Sequence
from math import prod
from typing import Any, TypeAlias

import numpy as np

from runmat_jit.backends.llvm.allocator_text import (
    ALLOCATOR_FUNCTIONS,
    LIST_BYTES,
    LIST_FIELDS,
    SMALLEST_RECYCLED,
    allocator_symbols,
    allocator_text,
)
from runmat_jit.backends.llvm.jit import Jit
from runmat_jit.backends.llvm.permanent_memory import permanent_memory, word_at
from runmat_jit.backends.llvm.symbols import numpy_functions, process_symbols
from runmat_jit.core.frozen import frozen
from runmat_jit.core.locks import new_lock

Array: TypeAlias = np.ndarray[Any, Any]


@frozen
class AllocatorStatistics:
    """What an allocator holds for later results, and how often it could and could not serve."""

    bytes_held: int
    hits: int
    misses: int


class ResultAllocator:
    """Makes arrays from memory of results that have died.

    Such an array is an ordinary one: it owns its data, can be resized, and returns its block when
    it dies, also after this object. Its data are aligned to 64 bytes. Arrays that others make are
    not touched. Nothing is compiled before the first large array.

    Args:
        jit: Compiles and loads the functions that NumPy calls.
        limit_bytes: Most bytes held for later results; by default 4 GiB, or an eighth of the
            machine's memory if that is less.

    """

    def __init__(self, jit: Jit, limit_bytes: int | None = None) -> None:
        limit = min(4 << 30, machine_memory() // 8) if limit_bytes is None else limit_bytes
        self._jit = jit
        self._loading = new_lock()
        self._handler: object = None
        self._set_handler: Callable[[object], object] = _set_handler_function()
        # Never freed: an array that lives longer than this object gives its block back here.
        self._list = permanent_memory(LIST_BYTES)
        self._word("limit").value = limit
        self._release: Callable[[int], None] | None = None

    def empty(
        self, shape: Sequence[int], dtype: np.dtype[Any], strides: Sequence[int] | None = None
    ) -> Array:
        """Make an array with undefined elements; below 128 KiB in NumPy's own memory.

        A caller that knows a result to be small saves 0.3 us by calling ``np.empty`` itself.

        Args:
            shape: Extents.
            dtype: Type of the elements.
            strides: In bytes, if not C order; of an array without gaps, its axes in any order.

        """
        if prod(shape) * dtype.itemsize < SMALLEST_RECYCLED:
            if strides is None:
                return np.empty(shape, dtype)
            return np.ndarray(shape, dtype, strides=strides)
        if self._handler is None:
            self._load()
        previous = self._set_handler(self._handler)
        try:
            return np.ndarray(shape, dtype, strides=strides)
        finally:
            self._set_handler(previous)

    def release(self) -> None:
        """Give all memory that is held for later results back to the system."""
        if self._release is not None:
            self._release(self._list)

    @property
    def statistics(self) -> AllocatorStatistics:
        """What is held now, and counts since this instance was made."""
        return AllocatorStatistics(
            bytes_held=self._word("bytes_held").value,
            hits=self._word("hits").value,
            misses=self._word("misses").value,
        )

    def _load(self) -> None:
        with self._loading:
            if self._handler is not None:
                return
            target = self._jit.target
            # Better code takes 10 ms more and saves nothing beside the system's own work.
            symbols = process_symbols(allocator_symbols(target))
            addresses = self._jit.functions(
                allocator_text(target), ALLOCATOR_FUNCTIONS, symbols, codegen_level=0
            )
            release = _RELEASE(addresses["release"])
            handler = _handler_capsule(self._list, addresses)
            if self._handler is None:  # nor has a signal handler set it meanwhile
                self._release, self._handler = release, handler
                weakref.finalize(self, _retire, self._list, release)

    def _word(self, name: str) -> ctypes.c_int64:
        return word_at(self._list + LIST_FIELDS[name])


def machine_memory() -> int:
    """Bytes of memory of this machine; 8 GiB where the system does not say."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):  # Windows has no such function
        return 8 << 30


_RELEASE = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


def _retire(block_list: int, release: Callable[[int], None]) -> None:
    """Hold nothing any more: blocks that come back later go to the system."""
    word_at(block_list + LIST_FIELDS["limit"]).value = 0
    release(block_list)


class _Allocator(ctypes.Structure):
    """NumPy's ``PyDataMemAllocator``."""

    _fields_ = tuple(
        (name, ctypes.c_void_p) for name in ("context", "malloc", "calloc", "realloc", "free")
    )


class _Handler(ctypes.Structure):
    """NumPy's ``PyDataMem_Handler``, version 1."""

    _fields_ = (
        ("name", ctypes.c_char * 127),
        ("version", ctypes.c_uint8),
        ("allocator", _Allocator),
    )


def _handler_capsule(block_list: int, addresses: dict[str, int]) -> object:
    # Never freed: arrays refer to it when they die.
    handler = _Handler.from_address(permanent_memory(ctypes.sizeof(_Handler)))
    handler.name = b"runmat_jit"
    handler.version = 1
    handler.allocator = _Allocator(
        block_list,
        addresses["allocate"],
        addresses["allocate_zeroed"],
        addresses["reallocate"],
        addresses["deallocate"],
    )
    create = ctypes.pythonapi["PyCapsule_New"]
    create.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    create.restype = ctypes.py_object
    capsule: object = create(ctypes.addressof(handler), _HANDLER_NAME, None)
    return capsule


# A capsule does not copy its name: this object must live as long as any.
_HANDLER_NAME = b"mem_handler"
_SET_HANDLER_INDEX = 304  # of PyDataMem_SetHandler in NumPy's table of C functions


def _set_handler_function() -> Callable[[object], object]:
    """``PyDataMem_SetHandler``: make a handler current for this thread, return the one before."""
    address = numpy_functions({"PyDataMem_SetHandler": _SET_HANDLER_INDEX})["PyDataMem_SetHandler"]
    function: Callable[[object], object] = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.py_object)(
        address
    )
    return function
