"""Dispatches are encoded by one native function: through wgpu-py each of ten calls takes its time.

It calls wgpu-native's C interface, whose objects are those of wgpu-py. Errors are caught as wgpu-py
catches them: nothing is submitted that was not encoded without one, which would end the process.
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from runmat_jit.backends.wgpu.run import Dispatch

CompileFunctions = Callable[[str, Sequence[str], Mapping[str, int]], dict[str, int]]
"""Gives the addresses of a module's functions: of its LLVM text, their names, external symbols."""


class NativeDispatch(ctypes.Structure):
    """One dispatch, as ``encode`` reads it."""

    _fields_ = (
        ("pipeline", ctypes.c_void_p),
        ("group", ctypes.c_void_p),
        ("x", ctypes.c_uint32),
        ("y", ctypes.c_uint32),
        ("z", ctypes.c_uint32),
        ("_", ctypes.c_uint32),
    )


class NativeEncoder:
    """Encodes and submits on one device.

    Args:
        device: Wgpu's device.
        compile_functions: Makes native code.

    Raises:
        AttributeError: This is another wgpu than that whose parts are known.

    """

    def __init__(self, device: Any, compile_functions: CompileFunctions) -> None:
        from wgpu.backends.wgpu_native import _api, _ffi  # noqa: PLC0415 - see adapter

        self._errors = _api.error_handler
        self._cast = _ffi.ffi.cast
        self._device, self._queue = self._address(device), self._address(device.queue)
        library = ctypes.CDLL(_ffi.lib_path)
        names = set(re.findall(r"@(wgpu\w+)\(", _TEXT))
        symbols = {name: _address_of(getattr(library, name)) for name in names}
        found = compile_functions(_TEXT, ("encode", "submit"), symbols)
        self._encode, self._submit = _ENCODE(found["encode"]), _SUBMIT(found["submit"])

    def prepare(self, dispatches: Sequence[Dispatch]) -> ctypes.Array[NativeDispatch]:
        """What ``encode`` reads; the dispatches must live as long."""
        return (NativeDispatch * len(dispatches))(
            *(
                NativeDispatch(self._address(d.shader.pipeline), self._address(d.group), *d.groups)
                for d in dispatches
            )
        )

    def submit(self, dispatches: ctypes.Array[NativeDispatch], cleared: Any) -> str | None:
        """Encode dispatches in order and submit them; what went wrong, if anything did.

        ``cleared``: a buffer whose first word becomes 0 before, or None.
        """
        events = None if cleared is None else self._address(cleared)
        capture, release = self._errors.capture, self._errors.release
        capture("encode")
        try:
            commands = self._encode(
                self._device, ctypes.addressof(dispatches), len(dispatches), events
            )
        finally:
            failed = release("encode")
        if failed is None:
            capture("submit")
            try:
                self._submit(self._queue, commands)
            finally:
                failed = release("submit")
        return None if failed is None else str(failed[1])

    def _address(self, handle: Any) -> int:
        """Of the native object behind wgpu-py's."""
        return int(self._cast("intptr_t", handle._internal))


def _address_of(function: Any) -> int:
    address = ctypes.cast(function, ctypes.c_void_p).value
    assert address is not None, "a function of a loaded library"
    return address


# Both keep the interpreter's lock: what wgpu-native calls back is Python.
_ENCODE = ctypes.PYFUNCTYPE(
    ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, ctypes.c_void_p
)
_SUBMIT = ctypes.PYFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)

_TEXT = """
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

define ptr @encode(ptr %device, ptr %dispatches, i64 %count, ptr %events) {
  %encoder = call ptr @wgpuDeviceCreateCommandEncoder(ptr %device, ptr null)
  %is_quiet = icmp eq ptr %events, null
  br i1 %is_quiet, label %begin, label %clear
clear:
  call void @wgpuCommandEncoderClearBuffer(ptr %encoder, ptr %events, i64 0, i64 4)
  br label %begin
begin:
  %pass = call ptr @wgpuCommandEncoderBeginComputePass(ptr %encoder, ptr null)
  br label %next
next:
  %k = phi i64 [ 0, %begin ], [ %after, %dispatch ]
  %is_left = icmp slt i64 %k, %count
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
  %commands = call ptr @wgpuCommandEncoderFinish(ptr %encoder, ptr null)
  call void @wgpuCommandEncoderRelease(ptr %encoder)
  ret ptr %commands
}

define void @submit(ptr %queue, ptr %commands) {
  %place = alloca ptr
  store ptr %commands, ptr %place
  call void @wgpuQueueSubmit(ptr %queue, i64 1, ptr %place)
  call void @wgpuCommandBufferRelease(ptr %commands)
  ret void
}
"""
"""``encode`` gives a command buffer, which ``submit`` takes."""
