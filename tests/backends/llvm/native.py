"""Runs kernels natively beside the interpreter: what the tests of lowering compare."""

import ctypes
import struct
from functools import cache

from runmat_jit.backends.llvm.jit import Jit
from runmat_jit.backends.llvm.lower import lower
from runmat_jit.backends.llvm.schedule import Schedule, schedule_for
from runmat_jit.backends.llvm.target import Target
from runmat_jit.kernel.interpret import Memory
from runmat_jit.kernel.ir import Scalar
from runmat_jit.kernel.verify_kernel import verify_kernel
from tests.backends.conformance import compare

FUNCTION = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)


@cache
def jit():
    return Jit()


def without_avx512():
    """This machine, limited to 256-bit vectors."""
    here = jit().target
    kept = [f for f in here.features.split(",") if not f.startswith("+avx512")]
    off = ["-avx512f", "-evex512"]
    return Target(here.triple, "x86-64-v3", ",".join([*kept, *off]))


class Native:
    """A kernel compiled with a schedule, by default the one of this machine."""

    def __init__(self, kernel, width=None, unroll=None, target=None):
        verify_kernel(kernel)
        self.kernel = kernel
        self.target = target or jit().target
        own = schedule_for(kernel, self.target)
        self.schedule = Schedule(width or own.width, unroll or own.unroll, own.grain)
        text = lower(kernel, self.schedule, self.target)
        code = jit().compile_object(text, self.target)
        self.call = FUNCTION(jit().load(code, ["kernel"])["kernel"])

    def __call__(self, arguments, lo, hi):
        """Run cells or iterations [lo, hi); whether an event was noted."""
        event = ctypes.c_int64(0)
        words = [word(arguments[p.name], p) for p in self.kernel.parameters]
        words.append(ctypes.addressof(event))
        block = (ctypes.c_int64 * len(words))(*words)
        self.call(ctypes.addressof(block), lo, hi)
        return bool(event.value)


def word(argument, parameter):
    """An entry of the argument block."""
    if isinstance(argument, Memory):
        elements = argument.elements
        return elements.ctypes.data + argument.origin * elements.itemsize
    if not isinstance(parameter, Scalar):
        return argument.ctypes.data
    if parameter.type == "f64":
        return struct.unpack("<q", struct.pack("<d", argument))[0]
    if parameter.type == "f32":
        return struct.unpack("<i", struct.pack("<f", argument))[0]
    return int(argument)


def check(native, arguments, lo, hi):
    """Native and interpreted runs on copies of the same memory leave the same memory."""
    return compare.check(native.kernel, native, arguments, lo, hi)
