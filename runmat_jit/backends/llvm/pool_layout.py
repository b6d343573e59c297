"""Memory of a thread pool that native code and Python share."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

# Offsets in bytes. Words that different threads write lie 64 bytes apart.
POOL_FIELDS: Mapping[str, int] = MappingProxyType(
    {
        "ticket": 0,
        "chunks": 64,
        "kernel": 72,
        "args": 80,
        "begin": 88,
        "total": 96,
        "grain": 104,
        "done": 128,
        "caller_parked": 192,
        "caller_lock": 200,
        "busy": 256,
        "spin": 320,
        "workers": 328,
        "closing": 336,
        "slice_ms": 344,
        "missing": 352,
        "worker": 360,
        "parallel_for": 368,
        "stop": 376,
    }
)
WORKERS_OFFSET = 384
WORKER_BYTES = 64
WORKER_FIELDS: Mapping[str, int] = MappingProxyType({"parked": 0, "lock": 8, "pool": 16})

CLOSED_TICKET = 0xFFFFFFFF
MAX_CHUNKS = 1 << 31


def pool_pointers(*names: str) -> str:
    """LLVM text that defines ``%p_name``, the address of each named field of ``%pool``."""
    return "\n".join(
        f"  %p_{name} = getelementptr i8, ptr %pool, i64 {POOL_FIELDS[name]}" for name in names
    )
