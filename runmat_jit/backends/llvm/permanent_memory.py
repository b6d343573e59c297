"""Memory that native code reads for as long as the process lives."""

from __future__ import annotations

import ctypes

CACHE_LINE_BYTES = 64


def permanent_memory(nbytes: int) -> int:
    """Address of zeroed memory that begins a cache line and is never freed."""
    allocate = ctypes.pythonapi["PyMem_RawCalloc"]
    allocate.argtypes, allocate.restype = [ctypes.c_size_t, ctypes.c_size_t], ctypes.c_void_p
    address: int | None = allocate(1, nbytes + CACHE_LINE_BYTES)
    if address is None:
        raise MemoryError(f"no memory for native state ({nbytes} bytes)")
    return address + -address % CACHE_LINE_BYTES


def word_at(address: int) -> ctypes.c_int64:
    """The 64-bit integer at ``address``, to read or write through ``value``."""
    return ctypes.c_int64.from_address(address)
