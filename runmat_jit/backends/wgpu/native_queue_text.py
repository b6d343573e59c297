"""LLVM text of the native queue: what encodes and submits dispatches, and the ring they wait in.

The state is words of 64 bits. ``head`` counts what was put into the ring, ``done`` what the thread
has taken out, submitted and forgotten; both only grow. A thread that finds nothing spins for a
while, then announces at ``parked`` that it sleeps on ``lock``, and looks again before it does: who
takes the announcement back by exchange wakes it.
"""

from __future__ import annotations

import platform
from typing import Final

HEAD, DONE, PARKED, LOCK, CLOSING, FAILED, DEVICE, QUEUE, SPIN = (8 * word for word in range(9))
"""Byte offsets in the state. ``FAILED`` is set by whoever is told of an error: nothing is submitted
from then on.
"""
RING: Final = 128
"""Where the ring begins, whose items are as :class:`.native_queue.NativeItem`."""
ITEM_BYTES: Final = 32
ITEMS: Final = 256
"""Places in the ring, a power of two."""
STATE_BYTES: Final = RING + ITEMS * ITEM_BYTES
_MOST: Final = 64
"""Items of one command buffer."""

FUNCTIONS: Final = ("put", "serve", "flush", "encode_one", "submit")

_PAUSES = {
    "x86_64": "  call void @llvm.x86.sse2.pause()",
    "AMD64": "  call void @llvm.x86.sse2.pause()",
}
_PAUSE = _PAUSES.get(platform.machine(), "  fence seq_cst")
_DECLARED_PAUSE = "declare void @llvm.x86.sse2.pause()" if "x86" in _PAUSE else ""


def _pointers(*names: str) -> str:
    """Instructions that compute the addresses of fields as ``%p_<name>``."""
    return "\n".join(
        f"  %p_{name} = getelementptr i8, ptr %state, i64 {globals()[name.upper()]}"
        for name in names
    )


_DECLARED = f"""
declare ptr @wgpuDeviceCreateCommandEncoder(ptr, ptr)
declare void @wgpuCommandEncoderClearBuffer(ptr, ptr, i64, i64)
declare ptr @wgpuCommandEncoderBeginComputePass(ptr, ptr)
declare void @wgpuComputePassEncoderSetPipeline(ptr, ptr)
declare void @wgpuComputePassEncoderSetBindGroup(ptr, i32, ptr, i64, ptr)
declare void @wgpuComputePassEncoderDispatchWorkgroups(ptr, i32, i32, i32)
declare void @wgpuComputePassEncoderEnd(ptr)
declare void @wgpuComputePassEncoderRelease(ptr)
declare ptr @wgpuCommandEncoderFinish(ptr, ptr)
declare void @wgpuCommandEncoderRelease(ptr)
declare void @wgpuQueueSubmit(ptr, i64, ptr)
declare void @wgpuCommandBufferRelease(ptr)
declare i32 @PyThread_acquire_lock(ptr, i32)
declare void @PyThread_release_lock(ptr)
declare i64 @llvm.umin.i64(i64, i64)
{_DECLARED_PAUSE}
"""

_DISPATCH_ALL = """
define internal void @dispatch_all(ptr %encoder, ptr %item) {
entry:
  %p_count = getelementptr i8, ptr %item, i64 8
  %p_cleared = getelementptr i8, ptr %item, i64 16
  %dispatches = load ptr, ptr %item
  %count = load i64, ptr %p_count
  %cleared = load ptr, ptr %p_cleared
  %is_quiet = icmp eq ptr %cleared, null
  br i1 %is_quiet, label %begin, label %clear
clear:
  call void @wgpuCommandEncoderClearBuffer(ptr %encoder, ptr %cleared, i64 0, i64 4)
  br label %begin
begin:
  %pass = call ptr @wgpuCommandEncoderBeginComputePass(ptr %encoder, ptr null)
  br label %next
next:
  %k = phi i64 [ 0, %begin ], [ %after, %dispatch ]
  %is_left = icmp ult i64 %k, %count
  br i1 %is_left, label %dispatch, label %end
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
end:
  call void @wgpuComputePassEncoderEnd(ptr %pass)
  call void @wgpuComputePassEncoderRelease(ptr %pass)
  ret void
}
"""

# A command buffer of the items from %first up to %end.
_ENCODE = f"""
define internal ptr @encode(ptr %state, i64 %first, i64 %end) {{
entry:
{_pointers("device")}
  %device = load ptr, ptr %p_device
  %encoder = call ptr @wgpuDeviceCreateCommandEncoder(ptr %device, ptr null)
  br label %next
next:
  %number = phi i64 [ %first, %entry ], [ %after, %each ]
  %is_left = icmp ne i64 %number, %end
  br i1 %is_left, label %each, label %finish
each:
  %place = and i64 %number, {ITEMS - 1}
  %scaled = mul i64 %place, {ITEM_BYTES}
  %offset = add i64 %scaled, {RING}
  %item = getelementptr i8, ptr %state, i64 %offset
  call void @dispatch_all(ptr %encoder, ptr %item)
  %after = add i64 %number, 1
  br label %next
finish:
  %commands = call ptr @wgpuCommandEncoderFinish(ptr %encoder, ptr null)
  call void @wgpuCommandEncoderRelease(ptr %encoder)
  ret ptr %commands
}}
"""

# The same of one item that is not in the ring.
_ENCODE_ONE = f"""
define ptr @encode_one(ptr %state, ptr %item) {{
{_pointers("device")}
  %device = load ptr, ptr %p_device
  %encoder = call ptr @wgpuDeviceCreateCommandEncoder(ptr %device, ptr null)
  call void @dispatch_all(ptr %encoder, ptr %item)
  %commands = call ptr @wgpuCommandEncoderFinish(ptr %encoder, ptr null)
  call void @wgpuCommandEncoderRelease(ptr %encoder)
  ret ptr %commands
}}
"""

# What was encoded.
_SUBMIT = f"""
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
  br label %leave
leave:
  call void @wgpuCommandBufferRelease(ptr %commands)
  ret void
}}
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
  %scaled = mul i64 %place, {ITEM_BYTES}
  %offset = add i64 %scaled, {RING}
  %item = getelementptr i8, ptr %state, i64 %offset
  %p_count = getelementptr i8, ptr %item, i64 8
  %p_cleared = getelementptr i8, ptr %item, i64 16
  store ptr %dispatches, ptr %item
  store i64 %count, ptr %p_count
  store ptr %cleared, ptr %p_cleared
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
{_pointers("head", "done", "parked", "lock", "closing", "spin")}
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
  %waiting = sub i64 %head, %done
  %taken = call i64 @llvm.umin.i64(i64 %waiting, i64 {_MOST})
  %end = add i64 %done, %taken
  %commands = call ptr @encode(ptr %state, i64 %done, i64 %end)
  call void @submit(ptr %state, ptr %commands)
  store atomic i64 %end, ptr %p_done release, align 8
  br label %outer
out:
  ret void
}}
"""

# Returns when all that was put is submitted.
_FLUSH = f"""
define void @flush(ptr %state) {{
entry:
{_pointers("head", "done")}
  %head = load atomic i64, ptr %p_head acquire, align 8
  br label %look
look:
  %done = load atomic i64, ptr %p_done acquire, align 8
  %is_over = icmp uge i64 %done, %head
  br i1 %is_over, label %out, label %wait
wait:
{_PAUSE}
  br label %look
out:
  ret void
}}
"""

TEXT: Final = "".join(
    [
        *(_DECLARED, _DISPATCH_ALL, _ENCODE, _ENCODE_ONE, _SUBMIT, _PUT, _SERVE, _FLUSH),
    ]
)
