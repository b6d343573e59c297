"""Runs kernels on an adapter beside the interpreter: what the tests of printing compare."""

from dataclasses import replace
from functools import cache

import pytest

from runmat_jit.backends.wgpu.adapter import Device, adapters
from runmat_jit.backends.wgpu.arithmetic import Arithmetic
from runmat_jit.backends.wgpu.backend import WgpuBackend
from runmat_jit.backends.wgpu.facts import NO_FACTS
from runmat_jit.backends.wgpu.memory import DeviceArray
from runmat_jit.backends.wgpu.probe import findings_of
from runmat_jit.backends.wgpu.run import KernelRun, WgpuRunner
from runmat_jit.backends.wgpu.schedule import schedule_for
from runmat_jit.kernel.interpret import Memory
from runmat_jit.kernel.ir import Scalar
from runmat_jit.runtime.session import current_session
from tests.backends.conformance import compare
from tests.backends.conformance.compare import elements

EMULATED = Arithmetic("sums", frozenset({"f32", "f64"}), whole_by_bits=frozenset({"f64"}))
"""What a software adapter needs: it rounds float64 wrongly without 512-bit vectors."""
"""Fused multiplication and addition on an adapter that splits them: the bits of the CPU."""


@cache
def device():
    """The software adapter where there is one: the same bits on every machine."""
    found = sorted(adapters(), key=lambda adapter: not adapter.info.software)
    return Device(found[0]) if found else None


@cache
def runner(arithmetic=EMULATED, *, trusted=True):
    return WgpuRunner(WgpuBackend(device(), arithmetic, trusted=trusted))


@cache
def findings():
    """What is known of the adapter."""
    session = current_session()
    return findings_of(device().info, session.findings_directory(), session.log)


def need_the_cpus_bits(*kinds):
    """Skips where floats cannot have them: what those then have, ``test_accuracy`` compares."""
    for kind in kinds:
        reason = findings().irreproducible(kind)
        if reason is not None:
            pytest.skip(f"no bits of the CPU: {reason}")


@cache
def hardware_runner(arithmetic=EMULATED):
    """Shaders as they are printed for real GPUs."""
    backend = WgpuBackend(device(), arithmetic)
    limits = replace(device().limits, software=False)
    backend.schedule = lambda kernel, longest=None, cells=0, facts=NO_FACTS: schedule_for(
        kernel, limits, longest, cells, facts
    )
    return WgpuRunner(backend)


def run(kernel, arguments, part, schedule=None, using=None):
    """Run on a copy of the memory and copy it back; whether an event was noted."""
    using = using or runner()
    memory = using.backend.memory
    bound = {}
    for parameter in kernel.parameters:
        argument = arguments[parameter.name]
        if isinstance(parameter, Scalar):
            bound[parameter.name] = argument
            continue
        uploaded = memory.upload(elements(argument))
        origin = argument.origin if isinstance(argument, Memory) else 0
        bound[parameter.name] = DeviceArray(uploaded.buffer, uploaded.dtype, uploaded.size, origin)
    event = using.run([KernelRun(kernel, bound, part, schedule)])
    arrays = {name: a for name, a in bound.items() if isinstance(a, DeviceArray)}
    for name, array in arrays.items():
        elements(arguments[name])[...] = memory.download(array)
    memory.free(arrays.values())
    return event


def check(kernel, arguments, part, schedule=None, using=None):
    """A device and the interpreter leave the same memory, and see the same events."""

    def on_device(arguments, lo, hi):
        return run(kernel, arguments, (lo, hi), schedule, using)

    return compare.check(kernel, on_device, arguments, *part)
