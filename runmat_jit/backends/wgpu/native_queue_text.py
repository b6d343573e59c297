"""LLVM IR of the native queue: it encodes and submits dispatches, which wait in a ring.

The state is words of 64 bits. ``head`` counts what was put into the ring, ``done`` what the thread
has taken out, submitted and forgotten; both only grow. A thread that finds nothing spins for a
while, then announces at ``parked`` that it sleeps on ``lock``, and looks again before it does: who
takes the announcement back by exchange wakes it.

Between two submissions a device idles for 5 to 20 us. So no more than two are on their way at once,
as long as that is not long, and nobody waits at ``hurry``: what is put meanwhile goes together.
"""

from __future__ import annotations

import platform
from typing import Final

_WORDS: Final = (
    *("head", "done", "parked", "lock", "closing", "failed", "device", "queue", "spin", "hurry"),
    *("submitted", "completed"),
)
OFFSETS: Final = {name: 8 * number for number, name in enumerate(_WORDS)}
"""Of each word in the state. ``failed`` is set by whoever is told of an error: nothing is submitted
from then on.
"""
_RING: Final = 128
"""Where the ring begins, whose items are as :class:`.native_queue.NativeItem`."""
_ITEM_BYTES: Final = 32
ITEMS: Final = 256
"""Places in the ring, a power of two."""
STATE_BYTES: Final = _RING + ITEMS * _ITEM_BYTES
MAPPED: Final = 1
"""Status (WGPUMapAsyncStatus_Success) of a buffer that has been mapped."""
_MOST: Final = 64
"""Items of one command buffer."""
_ON_THEIR_WAY: Final = 2
"""Submissions after which more items are waited for."""
_POLLS: Final = 3000
"""Looks at the device, of one to three microseconds, after which that has been long: some 5 ms."""
_SPINNING_POLLS: Final = 3000
"""The same, after which who waits for the device sleeps: what wakes them takes some 30 us."""

FUNCTIONS: Final = (
    *("put", "serve", "flush", "finish", "encode_one", "submit", "fetch"),
    *("map", "mapped", "unmap"),
)

_MACHINE = {"amd64": "x86_64", "arm64": "aarch64"}.get(
    platform.machine().lower(), platform.machine().lower()
)
_IS_WINDOWS = platform.system() == "Windows"
_PAUSE = {"x86_64": "  call void @llvm.x86.sse2.pause()"}.get(_MACHINE, "  fence seq_cst")
_DECLARED_PAUSE = "declare void @llvm.x86.sse2.pause()" if _MACHINE == "x86_64" else ""
# C's ways to pass structs: of 40 bytes, and of 16.
_LARGE = "ptr byval(%Info) align 8" if _MACHINE == "x86_64" and not _IS_WINDOWS else "ptr"
_MESSAGE = "ptr %message" if _IS_WINDOWS else "ptr %message, i64 %length"


def _pointers(*names: str) -> str:
    """Instructions that compute the addresses of words as ``%p_<name>``."""
    return "\n".join(
        f"  %p_{name} = getelementptr i8, ptr %state, i64 {OFFSETS[name]}" for name in names
    )


def _callback_info(function: str, given: str) -> str:
    """Instructions that fill ``%info``: a function of ours, and what it is given first."""
    return f"""  %info = alloca %Info
  %at_mode = getelementptr %Info, ptr %info, i32 0, i32 1
  %at_callback = getelementptr %Info, ptr %info, i32 0, i32 2
  %at_first = getelementptr %Info, ptr %info, i32 0, i32 3
  %at_second = getelementptr %Info, ptr %info, i32 0, i32 4
  store ptr null, ptr %info
  store i32 3, ptr %at_mode  ; AllowSpontaneous
  store ptr @{function}, ptr %at_callback
  store ptr %{given}, ptr %at_first
  store ptr null, ptr %at_second"""


_DECLARED = f"""
%Info = type {{ ptr, i32, ptr, ptr, ptr }}
declare ptr @wgpuDeviceCreateCommandEncoder(ptr, ptr)
declare i32 @wgpuDevicePoll(ptr, i32, ptr)
declare void @wgpuCommandEncoderClearBuffer(ptr, ptr, i64, i64)
declare ptr @wgpuCommandEncoderBeginComputePass(ptr, ptr)
declare void @wgpuComputePassEncoderSetPipeline(ptr, ptr)
declare void @wgpuComputePassEncoderSetBindGroup(ptr, i32, ptr, i64, ptr)
declare void @wgpuComputePassEncoderDispatchWorkgroups(ptr, i32, i32, i32)
declare void @wgpuComputePassEncoderEnd(ptr)
declare void @wgpuComputePassEncoderRelease(ptr)
declare ptr @wgpuCommandEncoderFinish(ptr, ptr)
declare void @wgpuCommandEncoderRelease(ptr)
declare void @wgpuCommandEncoderCopyBufferToBuffer(ptr, ptr, i64, ptr, i64, i64)
declare i64 @wgpuBufferMapAsync(ptr, i64, i64, i64, {_LARGE})
declare ptr @wgpuBufferGetMappedRange(ptr, i64, i64)
declare void @wgpuBufferUnmap(ptr)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare void @wgpuQueueSubmit(ptr, i64, ptr)
declare i64 @wgpuQueueOnSubmittedWorkDone(ptr, {_LARGE})
declare void @wgpuCommandBufferRelease(ptr)
declare i32 @PyThread_acquire_lock(ptr, i32)
declare void @PyThread_release_lock(ptr)
declare i64 @llvm.umin.i64(i64, i64)
{_DECLARED_PAUSE}
"""

_DISPATCH_ALL = """
define internal void @dispatch_all(ptr %pass, ptr %item) {
entry:
  %p_count = getelementptr i8, ptr %item, i64 8
  %dispatches = load ptr, ptr %item
  %count = load i64, ptr %p_count
  br label %next
next:
  %k = phi i64 [ 0, %entry ], [ %after, %dispatch ]
  %is_left = icmp ult i64 %k, %count
  br i1 %is_left, label %dispatch, label %out
dispatch:
  %at = getelementptr { ptr, ptr, i32, i32, i32, i32 }, ptr %dispatches, i64 %k
  %at_group = getelementptr i8, ptr %at, i64 8
  %at_x = getelementptr i8, ptr %at, i64 16
  %at_y = getelementptr i8, ptr %at, i64 20
  %at_z = getelementptr i8, ptr %at, i64 24
  %pipeline = load ptr, ptr %at
  %group = load ptr, ptr %at_group
  %x = load i32, ptr %at_x
  %y = load i32, ptr %at_y
  %z = load i32, ptr %at_z
  call void @wgpuComputePassEncoderSetPipeline(ptr %pass, ptr %pipeline)
  call void @wgpuComputePassEncoderSetBindGroup(ptr %pass, i32 0, ptr %group, i64 0, ptr null)
  call void @wgpuComputePassEncoderDispatchWorkgroups(ptr %pass, i32 %x, i32 %y, i32 %z)
  %after = add i64 %k, 1
  br label %next
out:
  ret void
}
define internal void @copy_all(ptr %encoder, ptr %copies) {
entry:
  %p_staging = getelementptr i8, ptr %copies, i64 8
  %p_first = getelementptr i8, ptr %copies, i64 16
  %count = load i64, ptr %copies
  %staging = load ptr, ptr %p_staging
  br label %next
next:
  %k = phi i64 [ 0, %entry ], [ %after, %copy ]
  %is_left = icmp ult i64 %k, %count
  br i1 %is_left, label %copy, label %out
copy:
  %at = getelementptr { ptr, i64, i64 }, ptr %p_first, i64 %k
  %at_offset = getelementptr i8, ptr %at, i64 8
  %at_nbytes = getelementptr i8, ptr %at, i64 16
  %source = load ptr, ptr %at
  %offset = load i64, ptr %at_offset
  %nbytes = load i64, ptr %at_nbytes
  call void @wgpuCommandEncoderCopyBufferToBuffer(ptr %encoder, ptr %source, i64 0, ptr %staging,
    i64 %offset, i64 %nbytes)
  %after = add i64 %k, 1
  br label %next
out:
  ret void
}
define internal void @end_pass(ptr %pass) {
entry:
  %is_open = icmp ne ptr %pass, null
  br i1 %is_open, label %end, label %out
end:
  call void @wgpuComputePassEncoderEnd(ptr %pass)
  call void @wgpuComputePassEncoderRelease(ptr %pass)
  br label %out
out:
  ret void
}
"""

# A command buffer of %count items from one on; %number is that of the first in the ring.
_ENCODE = f"""
define internal ptr @encode(ptr %state, ptr %items, i64 %number, i64 %count) {{
entry:
{_pointers("device")}
  %device = load ptr, ptr %p_device
  %encoder = call ptr @wgpuDeviceCreateCommandEncoder(ptr %device, ptr null)
  br label %next
next:
  %k = phi i64 [ 0, %entry ], [ %after, %dispatched ]
  %open = phi ptr [ null, %entry ], [ %left_open, %dispatched ]
  %is_left = icmp ult i64 %k, %count
  br i1 %is_left, label %each, label %finish
each:
  %in_order = add i64 %number, %k
  %place = and i64 %in_order, {ITEMS - 1}
  %offset = mul i64 %place, {_ITEM_BYTES}
  %item = getelementptr i8, ptr %items, i64 %offset
  %p_cleared = getelementptr i8, ptr %item, i64 16
  %cleared = load ptr, ptr %p_cleared
  %clears = icmp ne ptr %cleared, null
  br i1 %clears, label %clear, label %look
clear:
  call void @end_pass(ptr %open)
  call void @wgpuCommandEncoderClearBuffer(ptr %encoder, ptr %cleared, i64 0, i64 4)
  br label %begin
look:
  %is_open = icmp ne ptr %open, null
  br i1 %is_open, label %dispatch, label %begin
begin:
  %begun = call ptr @wgpuCommandEncoderBeginComputePass(ptr %encoder, ptr null)
  br label %dispatch
dispatch:
  %pass = phi ptr [ %open, %look ], [ %begun, %begin ]
  call void @dispatch_all(ptr %pass, ptr %item)
  %p_copies = getelementptr i8, ptr %item, i64 24
  %copies = load ptr, ptr %p_copies
  %copies_any = icmp ne ptr %copies, null
  br i1 %copies_any, label %copy, label %dispatched
copy:
  call void @end_pass(ptr %pass)
  call void @copy_all(ptr %encoder, ptr %copies)
  br label %dispatched
dispatched:
  %left_open = phi ptr [ %pass, %dispatch ], [ null, %copy ]
  %after = add i64 %k, 1
  br label %next
finish:
  call void @end_pass(ptr %open)
  %commands = call ptr @wgpuCommandEncoderFinish(ptr %encoder, ptr null)
  call void @wgpuCommandEncoderRelease(ptr %encoder)
  ret ptr %commands
}}
define ptr @encode_one(ptr %state, ptr %item) {{
  %commands = call ptr @encode(ptr %state, ptr %item, i64 0, i64 1)
  ret ptr %commands
}}
"""

# Submits what was encoded; @expect has counted when the device has done all that was submitted.
_SUBMIT = f"""
define void @count_completed(i32 %status, {_MESSAGE}, ptr %completed, ptr %unused) {{
  %before = atomicrmw add ptr %completed, i64 1 seq_cst
  ret void
}}
define internal void @expect(ptr %state) {{
{_pointers("queue", "submitted", "completed")}
  %queue = load ptr, ptr %p_queue
{_callback_info("count_completed", "p_completed")}
  %before = atomicrmw add ptr %p_submitted, i64 1 seq_cst
  %future = call i64 @wgpuQueueOnSubmittedWorkDone(ptr %queue, {_LARGE} %info)
  ret void
}}
define void @submit(ptr %state, ptr %commands) {{
entry:
{_pointers("queue", "failed")}
  %queue = load ptr, ptr %p_queue
  %place = alloca ptr
  store ptr %commands, ptr %place
  %failed = load atomic i64, ptr %p_failed acquire, align 8
  %is_right = icmp eq i64 %failed, 0
  br i1 %is_right, label %send, label %leave
send:
  call void @wgpuQueueSubmit(ptr %queue, i64 1, ptr %place)
  call void @expect(ptr %state)
  br label %leave
leave:
  call void @wgpuCommandBufferRelease(ptr %commands)
  ret void
}}
"""

# Maps a buffer for reading (1) or writing (2): %done becomes 1 when it is mapped, 2 if not.
_MAP = f"""
define void @note_mapped(i32 %status, {_MESSAGE}, ptr %done, ptr %unused) {{
  %is_mapped = icmp eq i32 %status, {MAPPED}
  %code = select i1 %is_mapped, i64 1, i64 2
  store atomic i64 %code, ptr %done seq_cst, align 8
  ret void
}}
define void @map(ptr %buffer, i64 %mode, i64 %nbytes, ptr %done) {{
{_callback_info("note_mapped", "done")}
  store atomic i64 0, ptr %done seq_cst, align 8
  %future = call i64 @wgpuBufferMapAsync(ptr %buffer, i64 %mode, i64 0, i64 %nbytes, {_LARGE} %info)
  ret void
}}
define ptr @mapped(ptr %state, ptr %buffer, i64 %nbytes, ptr %done) {{
entry:
{_pointers("device")}
  %device = load ptr, ptr %p_device
  br label %look
look:
  %polls = phi i64 [ 0, %entry ], [ %more_polls, %wait ]
  %now = load atomic i64, ptr %done seq_cst, align 8
  switch i64 %now, label %fail [ i64 0, label %ask
    i64 1, label %give ]
ask:
  %is_long = icmp uge i64 %polls, {_SPINNING_POLLS}
  br i1 %is_long, label %sleep, label %wait
wait:
  %polled = call i32 @wgpuDevicePoll(ptr %device, i32 0, ptr null)
{_PAUSE}
  %more_polls = add i64 %polls, 1
  br label %look
sleep:
  %slept = call i32 @wgpuDevicePoll(ptr %device, i32 1, ptr null)
  %late = load atomic i64, ptr %done seq_cst, align 8
  %is_late = icmp eq i64 %late, 1
  br i1 %is_late, label %give, label %fail
give:
  %found = call ptr @wgpuBufferGetMappedRange(ptr %buffer, i64 0, i64 %nbytes)
  ret ptr %found
fail:
  ret ptr null
}}
define void @unmap(ptr %buffer) {{
  call void @wgpuBufferUnmap(ptr %buffer)
  ret void
}}
"""

# Submits commands that copy to a mappable buffer, waits, and reads it: 1, or 0 where that failed.
# %request: the buffer, bytes, the word that says that it is mapped, and where its contents go.
_FETCH = """
define i64 @fetch(ptr %state, ptr %commands, ptr %request) {
entry:
  %p_nbytes = getelementptr i8, ptr %request, i64 8
  %p_done = getelementptr i8, ptr %request, i64 16
  %p_target = getelementptr i8, ptr %request, i64 24
  %buffer = load ptr, ptr %request
  %nbytes = load i64, ptr %p_nbytes
  %done = load ptr, ptr %p_done
  %target = load ptr, ptr %p_target
  call void @submit(ptr %state, ptr %commands)
  call void @map(ptr %buffer, i64 1, i64 %nbytes, ptr %done)
  %found = call ptr @mapped(ptr %state, ptr %buffer, i64 %nbytes, ptr %done)
  %is_there = icmp ne ptr %found, null
  br i1 %is_there, label %copy, label %out
copy:
  call void @llvm.memcpy.p0.p0.i64(ptr %target, ptr %found, i64 %nbytes, i1 false)
  call void @wgpuBufferUnmap(ptr %buffer)
  br label %out
out:
  %result = zext i1 %is_there to i64
  ret i64 %result
}
"""

# Puts an item into the ring: 0, or 1 where the ring is full.
_PUT = f"""
define i64 @put(ptr %state, ptr %dispatches, i64 %count, ptr %cleared) {{
entry:
{_pointers("head", "done", "parked", "lock")}
  %head = load atomic i64, ptr %p_head monotonic, align 8
  %done = load atomic i64, ptr %p_done acquire, align 8
  %waiting = sub i64 %head, %done
  %is_full = icmp uge i64 %waiting, {ITEMS}
  br i1 %is_full, label %full, label %store
full:
  ret i64 1
store:
  %place = and i64 %head, {ITEMS - 1}
  %scaled = mul i64 %place, {_ITEM_BYTES}
  %offset = add i64 %scaled, {_RING}
  %item = getelementptr i8, ptr %state, i64 %offset
  %p_count = getelementptr i8, ptr %item, i64 8
  %p_cleared = getelementptr i8, ptr %item, i64 16
  %p_copies = getelementptr i8, ptr %item, i64 24
  store ptr %dispatches, ptr %item
  store i64 %count, ptr %p_count
  store ptr %cleared, ptr %p_cleared
  store ptr null, ptr %p_copies
  %next = add i64 %head, 1
  store atomic i64 %next, ptr %p_head seq_cst, align 8
  %parked = load atomic i64, ptr %p_parked seq_cst, align 8
  %is_parked = icmp eq i64 %parked, 1
  br i1 %is_parked, label %claim, label %out
claim:
  %claimed = atomicrmw xchg ptr %p_parked, i64 0 seq_cst
  %is_ours = icmp eq i64 %claimed, 1
  br i1 %is_ours, label %wake, label %out
wake:
  %lock = load ptr, ptr %p_lock
  call void @PyThread_release_lock(ptr %lock)
  br label %out
out:
  ret i64 0
}}
"""

# The thread: takes what is there, and sleeps where nothing is for a while.
_SERVE = f"""
define void @serve(ptr %state) {{
entry:
{_pointers("head", "done", "parked", "lock", "closing", "spin", "hurry", "device")}
{_pointers("submitted", "completed")}
  %device = load ptr, ptr %p_device
  %items = getelementptr i8, ptr %state, i64 {_RING}
  br label %outer
outer:
  %done = load atomic i64, ptr %p_done acquire, align 8
  %spin = load i64, ptr %p_spin
  br label %look
look:
  %round = phi i64 [ 0, %outer ], [ %next_round, %idle ]
  %head = load atomic i64, ptr %p_head acquire, align 8
  %is_work = icmp ne i64 %head, %done
  br i1 %is_work, label %work, label %check
check:
  %closing = load atomic i64, ptr %p_closing acquire, align 8
  %is_closing = icmp ne i64 %closing, 0
  br i1 %is_closing, label %out, label %idle
idle:
{_PAUSE}
  %next_round = add i64 %round, 1
  %is_patient = icmp ult i64 %next_round, %spin
  br i1 %is_patient, label %look, label %park
park:
  store atomic i64 1, ptr %p_parked seq_cst, align 8
  %head_again = load atomic i64, ptr %p_head seq_cst, align 8
  %closing_again = load atomic i64, ptr %p_closing seq_cst, align 8
  %is_work_again = icmp ne i64 %head_again, %done
  %is_closing_again = icmp ne i64 %closing_again, 0
  %stays = or i1 %is_work_again, %is_closing_again
  br i1 %stays, label %undo, label %sleep
undo:
  %announced = atomicrmw xchg ptr %p_parked, i64 0 seq_cst
  %is_unclaimed = icmp eq i64 %announced, 1
  br i1 %is_unclaimed, label %outer, label %sleep
sleep:
  %lock = load ptr, ptr %p_lock
  %acquired = call i32 @PyThread_acquire_lock(ptr %lock, i32 1)
  br label %outer
work:
  %polls = phi i64 [ 0, %look ], [ %more_polls, %wait ]
  %submitted = load atomic i64, ptr %p_submitted monotonic, align 8
  %completed = load atomic i64, ptr %p_completed monotonic, align 8
  %flying = sub i64 %submitted, %completed
  %hurry = load atomic i64, ptr %p_hurry monotonic, align 8
  %has_room = icmp ult i64 %flying, {_ON_THEIR_WAY}
  %is_hurried = icmp ne i64 %hurry, 0
  %is_long = icmp uge i64 %polls, {_POLLS}
  %is_free = or i1 %has_room, %is_hurried
  %goes = or i1 %is_free, %is_long
  br i1 %goes, label %take, label %wait
wait:
  %polled = call i32 @wgpuDevicePoll(ptr %device, i32 0, ptr null)
{_PAUSE}
  %more_polls = add i64 %polls, 1
  br label %work
take:
  %latest = load atomic i64, ptr %p_head acquire, align 8
  %waiting = sub i64 %latest, %done
  %taken = call i64 @llvm.umin.i64(i64 %waiting, i64 {_MOST})
  %commands = call ptr @encode(ptr %state, ptr %items, i64 %done, i64 %taken)
  call void @submit(ptr %state, ptr %commands)
  %end = add i64 %done, %taken
  store atomic i64 %end, ptr %p_done release, align 8
  br label %outer
out:
  ret void
}}
"""

# Returns when no more than %left items wait to be submitted; none: as soon as possible.
_FLUSH = f"""
define void @flush(ptr %state, i64 %left) {{
entry:
{_pointers("head", "done", "hurry")}
  %is_urgent = icmp eq i64 %left, 0
  %wanted = zext i1 %is_urgent to i64
  %before = atomicrmw add ptr %p_hurry, i64 %wanted seq_cst
  br label %look
look:
  %head = load atomic i64, ptr %p_head acquire, align 8
  %done = load atomic i64, ptr %p_done acquire, align 8
  %waiting = sub i64 %head, %done
  %is_over = icmp ule i64 %waiting, %left
  br i1 %is_over, label %out, label %wait
wait:
{_PAUSE}
  br label %look
out:
  %after = atomicrmw sub ptr %p_hurry, i64 %wanted seq_cst
  ret void
}}
"""

# Returns when the device has done all that was put, or submitted otherwise.
_FINISH = f"""
define void @finish(ptr %state, i64 %unused) {{
entry:
{_pointers("device", "submitted", "completed")}
  %device = load ptr, ptr %p_device
  call void @flush(ptr %state, i64 0)
  call void @expect(ptr %state)
  br label %look
look:
  %polls = phi i64 [ 0, %entry ], [ %more_polls, %wait ]
  %submitted = load atomic i64, ptr %p_submitted seq_cst, align 8
  %completed = load atomic i64, ptr %p_completed seq_cst, align 8
  %is_over = icmp eq i64 %submitted, %completed
  br i1 %is_over, label %out, label %ask
ask:
  %is_long = icmp uge i64 %polls, {_SPINNING_POLLS}
  br i1 %is_long, label %sleep, label %wait
wait:
  %polled = call i32 @wgpuDevicePoll(ptr %device, i32 0, ptr null)
{_PAUSE}
  %more_polls = add i64 %polls, 1
  br label %look
sleep:
  %slept = call i32 @wgpuDevicePoll(ptr %device, i32 1, ptr null)
  br label %out
out:
  ret void
}}
"""

TEXT: Final = (
    f"{_DECLARED}{_DISPATCH_ALL}{_ENCODE}{_SUBMIT}{_MAP}{_FETCH}{_PUT}{_SERVE}{_FLUSH}{_FINISH}"
)
