"""LLVM text of the functions that NumPy calls for the memory of large results.

A block is 64 bytes of header, which hold its size, and the data. A block that NumPy gives back
goes to the end of a list, from which a request of the same size class takes the latest; when the
list is full or holds too many bytes the oldest are given to the system. Who finds the list taken
by another thread does not wait but goes to the system.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from runmat_jit.backends.llvm.target import Target

HEADER_BYTES = 64  # a cache line, so that data are aligned as their block is
SMALLEST_RECYCLED = 1 << 17
MAX_BLOCKS = 128

# Offsets in bytes in the list's memory.
LIST_FIELDS: Mapping[str, int] = MappingProxyType(
    {"taken": 0, "blocks": 64, "bytes_held": 72, "limit": 80, "hits": 88, "misses": 96}
)
_BLOCKS_OFFSET = 128
LIST_BYTES = _BLOCKS_OFFSET + 8 * MAX_BLOCKS

ALLOCATOR_FUNCTIONS = ("allocate", "allocate_zeroed", "reallocate", "deallocate", "release")

_LARGEST = 1 << 60


def allocator_symbols(target: Target) -> tuple[str, ...]:
    """Functions of the C library that the allocator calls on ``target``."""
    if target.system == "windows":
        return ("_aligned_malloc", "_aligned_realloc", "_aligned_free", "memset")
    return ("aligned_alloc", "realloc", "free", "memset")


def allocator_text(target: Target) -> str:
    """Module with the functions of a NumPy data-memory handler (NEP 49) and ``release(ptr)``."""
    system = _WINDOWS if target.system == "windows" else _POSIX
    block_list = (_SIZE_CLASS, _LOCK, _TAKE, _TAKE_OLDEST, _KEEP)
    return "\n".join((system, *block_list, _HANDLER, _RELEASE))


_POSIX = f"""
declare ptr @aligned_alloc(i64, i64)
declare ptr @realloc(ptr, i64)
declare void @free(ptr)
define internal ptr @system_allocate(i64 %size) {{
  %block = call ptr @aligned_alloc(i64 {HEADER_BYTES}, i64 %size)
  ret ptr %block
}}
define internal ptr @system_reallocate(ptr %block, i64 %size) {{
  %moved = call ptr @realloc(ptr %block, i64 %size)
  ret ptr %moved
}}
define internal void @system_free(ptr %block) {{
  call void @free(ptr %block)
  ret void
}}"""

_WINDOWS = f"""
declare ptr @_aligned_malloc(i64, i64)
declare ptr @_aligned_realloc(ptr, i64, i64)
declare void @_aligned_free(ptr)
define internal ptr @system_allocate(i64 %size) {{
  %block = call ptr @_aligned_malloc(i64 %size, i64 {HEADER_BYTES})
  ret ptr %block
}}
define internal ptr @system_reallocate(ptr %block, i64 %size) {{
  %moved = call ptr @_aligned_realloc(ptr %block, i64 %size, i64 {HEADER_BYTES})
  ret ptr %moved
}}
define internal void @system_free(ptr %block) {{
  call void @_aligned_free(ptr %block)
  ret void
}}"""

# Bytes of a block for %n bytes of data: 16 classes between powers of two, so that a result a
# little larger than the last finds its block; 0 when it cannot be represented.
_SIZE_CLASS = f"""
declare i64 @llvm.ctlz.i64(i64, i1)
define internal i64 @size_class(i64 %n) {{
  %size = add i64 %n, {HEADER_BYTES}
  %zeros = call i64 @llvm.ctlz.i64(i64 %size, i1 true)
  %shift = sub i64 59, %zeros
  %step_large = shl i64 1, %shift
  %is_large = icmp uge i64 %size, {SMALLEST_RECYCLED}
  %step = select i1 %is_large, i64 %step_large, i64 {HEADER_BYTES}
  %less = sub i64 %step, 1
  %sum = add i64 %size, %less
  %mask = xor i64 %less, -1
  %rounded = and i64 %sum, %mask
  %is_possible = icmp ult i64 %n, {_LARGEST}
  %class = select i1 %is_possible, i64 %rounded, i64 0
  ret i64 %class
}}"""

_LOCK = """
define internal i1 @try_lock(ptr %list) {
  %swapped = cmpxchg ptr %list, i32 0, i32 1 acquire monotonic
  %is_ours = extractvalue {i32, i1} %swapped, 1
  ret i1 %is_ours
}
define internal void @unlock(ptr %list) {
  store atomic i32 0, ptr %list release, align 4
  ret void
}"""


def _pointers(*names: str) -> str:
    """Pointers ``%p_name`` to fields of ``%list``, and ``%p_first`` to its first block."""
    offsets = {name: LIST_FIELDS[name] for name in names} | {"first": _BLOCKS_OFFSET}
    return "\n".join(
        f"  %p_{name} = getelementptr i8, ptr %list, i64 {offset}"
        for name, offset in offsets.items()
    )


# Remove the block at %index; those behind it move up. The list is locked.
_TAKE = f"""
define internal ptr @remove(ptr %list, i64 %index) {{
entry:
{_pointers("blocks", "bytes_held")}
  %p_block = getelementptr ptr, ptr %p_first, i64 %index
  %block = load ptr, ptr %p_block, align 8
  %size = load i64, ptr %block, align 8
  %held = load i64, ptr %p_bytes_held, align 8
  %less = sub i64 %held, %size
  store i64 %less, ptr %p_bytes_held, align 8
  %blocks = load i64, ptr %p_blocks, align 8
  %last = sub i64 %blocks, 1
  store i64 %last, ptr %p_blocks, align 8
  br label %check
check:
  %to = phi i64 [%index, %entry], [%from, %move]
  %more = icmp slt i64 %to, %last
  br i1 %more, label %move, label %out
move:
  %from = add i64 %to, 1
  %p_from = getelementptr ptr, ptr %p_first, i64 %from
  %p_to = getelementptr ptr, ptr %p_first, i64 %to
  %moved = load ptr, ptr %p_from, align 8
  store ptr %moved, ptr %p_to, align 8
  br label %check
out:
  ret ptr %block
}}
define internal ptr @take(ptr %list, i64 %size) {{
entry:                       ; the latest block of a size, or null
{_pointers("blocks", "hits", "misses")}
  %is_ours = call i1 @try_lock(ptr %list)
  br i1 %is_ours, label %start, label %none
start:
  %blocks = load i64, ptr %p_blocks, align 8
  br label %check
check:
  %left = phi i64 [%blocks, %start], [%index, %look]
  %more = icmp sgt i64 %left, 0
  br i1 %more, label %look, label %miss
look:
  %index = sub i64 %left, 1
  %p_block = getelementptr ptr, ptr %p_first, i64 %index
  %candidate = load ptr, ptr %p_block, align 8
  %candidate_size = load i64, ptr %candidate, align 8
  %fits = icmp eq i64 %candidate_size, %size
  br i1 %fits, label %hit, label %check
hit:
  %block = call ptr @remove(ptr %list, i64 %index)
  %hits = load i64, ptr %p_hits, align 8
  %more_hits = add i64 %hits, 1
  store i64 %more_hits, ptr %p_hits, align 8
  call void @unlock(ptr %list)
  ret ptr %block
miss:
  %misses = load i64, ptr %p_misses, align 8
  %more_misses = add i64 %misses, 1
  store i64 %more_misses, ptr %p_misses, align 8
  call void @unlock(ptr %list)
  br label %none
none:
  ret ptr null
}}"""

# The oldest block if there is none left for %size more bytes within the bounds, else null.
_TAKE_OLDEST = f"""
define internal ptr @take_oldest(ptr %list, i64 %size) {{
entry:
{_pointers("blocks", "bytes_held", "limit")}
  %is_ours = call i1 @try_lock(ptr %list)
  br i1 %is_ours, label %check, label %none
check:
  %blocks = load i64, ptr %p_blocks, align 8
  %held = load i64, ptr %p_bytes_held, align 8
  %limit = load i64, ptr %p_limit, align 8
  %wanted = add i64 %held, %size
  %is_large = icmp ugt i64 %wanted, %limit
  %is_full = icmp sge i64 %blocks, {MAX_BLOCKS}
  %is_over = or i1 %is_large, %is_full
  %is_some = icmp sgt i64 %blocks, 0
  %remove = and i1 %is_over, %is_some
  br i1 %remove, label %oldest, label %fine
oldest:
  %block = call ptr @remove(ptr %list, i64 0)
  call void @unlock(ptr %list)
  ret ptr %block
fine:
  call void @unlock(ptr %list)
  br label %none
none:
  ret ptr null
}}"""

# Append a block; false if it must go to the system.
_KEEP = f"""
define internal i1 @keep(ptr %list, ptr %block, i64 %size) {{
entry:
{_pointers("blocks", "bytes_held", "limit")}
  %is_ours = call i1 @try_lock(ptr %list)
  br i1 %is_ours, label %check, label %no
check:
  %blocks = load i64, ptr %p_blocks, align 8
  %held = load i64, ptr %p_bytes_held, align 8
  %limit = load i64, ptr %p_limit, align 8
  %wanted = add i64 %held, %size
  %is_small = icmp ule i64 %wanted, %limit
  %has_room = icmp slt i64 %blocks, {MAX_BLOCKS}
  %fits = and i1 %is_small, %has_room
  br i1 %fits, label %append, label %refuse
append:
  %p_block = getelementptr ptr, ptr %p_first, i64 %blocks
  store ptr %block, ptr %p_block, align 8
  %more_blocks = add i64 %blocks, 1
  store i64 %more_blocks, ptr %p_blocks, align 8
  store i64 %wanted, ptr %p_bytes_held, align 8
  call void @unlock(ptr %list)
  ret i1 true
refuse:
  call void @unlock(ptr %list)
  br label %no
no:
  ret i1 false
}}"""

# NumPy's handler: every function gets the list first. Sizes that NumPy passes when it gives a
# block back are not used; a realloc may have moved a block off its alignment, then it is not kept.
_HANDLER = f"""
declare ptr @memset(ptr, i32, i64)
define ptr @allocate(ptr %list, i64 %n) {{
entry:
  %size = call i64 @size_class(i64 %n)
  %is_possible = icmp ne i64 %size, 0
  br i1 %is_possible, label %choose, label %fail
choose:
  %is_recycled = icmp uge i64 %size, {SMALLEST_RECYCLED}
  br i1 %is_recycled, label %recycle, label %fresh
recycle:
  %old = call ptr @take(ptr %list, i64 %size)
  %is_found = icmp ne ptr %old, null
  br i1 %is_found, label %out, label %fresh
fresh:
  %new = call ptr @system_allocate(i64 %size)
  %is_there = icmp ne ptr %new, null
  br i1 %is_there, label %mark, label %fail
mark:
  store i64 %size, ptr %new, align 8
  br label %out
out:
  %block = phi ptr [%old, %recycle], [%new, %mark]
  %data = getelementptr i8, ptr %block, i64 {HEADER_BYTES}
  ret ptr %data
fail:
  ret ptr null
}}
define ptr @allocate_zeroed(ptr %list, i64 %count, i64 %itemsize) {{
entry:
  %n = mul i64 %count, %itemsize
  %data = call ptr @allocate(ptr %list, i64 %n)
  %is_there = icmp ne ptr %data, null
  br i1 %is_there, label %clear, label %out
clear:
  %same = call ptr @memset(ptr %data, i32 0, i64 %n)
  br label %out
out:
  ret ptr %data
}}
define ptr @reallocate(ptr %list, ptr %old_data, i64 %n) {{
entry:
  %is_new = icmp eq ptr %old_data, null
  br i1 %is_new, label %allocate, label %measure
allocate:
  %fresh = call ptr @allocate(ptr %list, i64 %n)
  ret ptr %fresh
measure:
  %size = call i64 @size_class(i64 %n)
  %is_possible = icmp ne i64 %size, 0
  br i1 %is_possible, label %move, label %fail
move:
  %old = getelementptr i8, ptr %old_data, i64 -{HEADER_BYTES}
  %block = call ptr @system_reallocate(ptr %old, i64 %size)
  %is_there = icmp ne ptr %block, null
  br i1 %is_there, label %mark, label %fail
mark:
  store i64 %size, ptr %block, align 8
  %data = getelementptr i8, ptr %block, i64 {HEADER_BYTES}
  ret ptr %data
fail:
  ret ptr null
}}
define void @deallocate(ptr %list, ptr %data, i64 %n) {{
entry:
  %is_there = icmp ne ptr %data, null
  br i1 %is_there, label %inspect, label %out
inspect:
{_pointers("limit")}
  %block = getelementptr i8, ptr %data, i64 -{HEADER_BYTES}
  %size = load i64, ptr %block, align 8
  %address = ptrtoint ptr %block to i64
  %offset = and i64 %address, {HEADER_BYTES - 1}
  %is_aligned = icmp eq i64 %offset, 0
  %is_large = icmp uge i64 %size, {SMALLEST_RECYCLED}
  %limit = load i64, ptr %p_limit, align 8
  %is_allowed = icmp ule i64 %size, %limit
  %is_recycled = and i1 %is_aligned, %is_large
  %is_wanted = and i1 %is_recycled, %is_allowed
  br i1 %is_wanted, label %make_room, label %give
make_room:                   ; the system is called while the list is not locked
  %oldest = call ptr @take_oldest(ptr %list, i64 %size)
  %is_over = icmp ne ptr %oldest, null
  br i1 %is_over, label %drop, label %append
drop:
  call void @system_free(ptr %oldest)
  br label %make_room
append:
  %is_kept = call i1 @keep(ptr %list, ptr %block, i64 %size)
  br i1 %is_kept, label %out, label %give
give:
  call void @system_free(ptr %block)
  br label %out
out:
  ret void
}}"""

# Give every block that is held to the system: room for more than there can be is asked for.
_RELEASE = f"""
define void @release(ptr %list) {{
entry:
  br label %next
next:
  %block = call ptr @take_oldest(ptr %list, i64 {_LARGEST})
  %is_some = icmp ne ptr %block, null
  br i1 %is_some, label %free, label %out
free:
  call void @system_free(ptr %block)
  br label %next
out:
  ret void
}}"""
