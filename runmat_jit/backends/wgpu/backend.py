"""Kernels to compute pipelines of one device, each compiled once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from runmat_jit.backends.wgpu.adapter import AdapterInfo, Device, errors_of
from runmat_jit.backends.wgpu.arithmetic import Arithmetic
from runmat_jit.backends.wgpu.facts import NO_FACTS, Facts
from runmat_jit.backends.wgpu.memory import DeviceMemory
from runmat_jit.backends.wgpu.print_shader import Binding, bindings_of, print_shader
from runmat_jit.backends.wgpu.schedule import (
    Limits,
    Schedule,
    contract_of,
    fitting_tiles,
    lanes_of_a_thread,
    schedule_for,
    shared_bytes,
)
from runmat_jit.backends.wgpu.shader_module import create_module
from runmat_jit.backends.wgpu.uniforms import UniformBlock, uniform_block
from runmat_jit.core.errors import BackendError
from runmat_jit.core.frozen import frozen_object
from runmat_jit.core.locks import Made
from runmat_jit.kernel.ir import Kernel, Scalar
from runmat_jit.kernel.primitives import FLOATS, NARROW
from runmat_jit.kernel.text import to_text
from runmat_jit.kernel.verify_kernel import verify_kernel
from runmat_jit.kernel.walk import every_instruction

_WIDE = {"f64": "float64", "i64": "64-bit integers"}


def _never(_kernel: Kernel) -> None:
    """Refuses no kernel."""


@frozen_object
class CompiledShader:
    """A pipeline and what a launch of it needs.

    ``grid`` says that the parallel axis is one of cells, not of lanes.
    """

    pipeline: Any
    layout: Any
    text: str
    uniforms: UniformBlock
    bindings: tuple[Binding, ...]
    schedule: Schedule
    grid: bool

    @property
    def iterations_of_a_group(self) -> int:
        """Cells or lanes that one workgroup runs."""
        schedule = self.schedule
        if self.grid:
            return schedule.teams
        return schedule.threads * schedule.lanes


class WgpuBackend:
    """Compiles kernels for one device; owned by a session. Safe to call from several threads.

    Args:
        device: Where kernels run.
        arithmetic: What the device's floats need; by default the strongest protection.
        refuse: Returns why a kernel must not run on the device, as the end of a sentence, because
            its floats would break a promise; None if it may run. By default all kernels may.
        trusted: Whether shaders run without bounds checks and counters of loops. Kernels are
            proven to need neither; tests run with and without.

    """

    def __init__(
        self,
        device: Device,
        arithmetic: Arithmetic | None = None,
        *,
        refuse: Callable[[Kernel], str | None] = _never,
        trusted: bool = True,
    ) -> None:
        self.device = device
        self.arithmetic = arithmetic or Arithmetic(wide="f64" in device.info.kinds)
        self.refuse = refuse
        self.trusted = trusted
        self.memory = DeviceMemory(device)
        self._compiled: Made[object, CompiledShader] = Made()

    def at(self, arithmetic: Arithmetic, refuse: Callable[[Kernel], str | None]) -> WgpuBackend:
        """The same device, memory and pipelines for kernels with other promises."""
        other = WgpuBackend(self.device, arithmetic, refuse=refuse, trusted=self.trusted)
        other.memory, other._compiled = self.memory, self._compiled
        return other

    @property
    def compiles(self) -> int:
        """Number of shaders that have been compiled or are being compiled."""
        return len(self._compiled)

    def unsupported(self, kernel: Kernel) -> str | None:
        """Reason why the device cannot run a kernel, or is not to; None where it does."""
        reason = unsupported(kernel, self.device.info)
        if reason is not None:
            return reason
        refusal = self.refuse(kernel)
        return None if refusal is None else f"{self.device.info} is not used: {refusal}"

    def schedule(
        self,
        kernel: Kernel,
        longest: Mapping[int, int] | None = None,
        iterations: int = 0,
        facts: Facts = NO_FACTS,
    ) -> Schedule:
        """The schedule of a kernel (see ``schedule_for``)."""
        return schedule_for(kernel, self.device.limits, longest, iterations, facts)

    def source(
        self, kernel: Kernel, schedule: Schedule | None = None, facts: Facts = NO_FACTS
    ) -> str:
        """WGSL of a kernel, as ``compile`` would compile it."""
        arithmetic = self.arithmetic.of(floats_of(kernel))
        return print_shader(kernel, schedule or self.schedule(kernel), arithmetic, facts)

    def compile(
        self, kernel: Kernel, schedule: Schedule | None = None, facts: Facts = NO_FACTS
    ) -> CompiledShader:
        """The pipeline of a kernel; equal kernel text, schedule and facts are compiled once.

        Raises:
            KernelError: The kernel is not valid, which is a mistake of what built it.
            BackendError: The device cannot run it, or its driver refuses the shader.

        """
        key = (to_text(kernel), schedule, facts, self.arithmetic)
        return self._compiled.get(key, lambda: self._compile(kernel, schedule, facts))

    def _compile(self, kernel: Kernel, schedule: Schedule | None, facts: Facts) -> CompiledShader:
        verify_kernel(kernel)
        reason = self.unsupported(kernel)
        if reason is not None:
            raise BackendError(f"{reason}; keep the kernel on the CPU (device='cpu')")
        schedule = schedule or self.schedule(kernel)
        text = print_shader(kernel, schedule, self.arithmetic.of(floats_of(kernel)), facts)
        bindings = bindings_of(kernel, facts)
        handle = self.device.handle
        with errors_of(self.device.info):
            layout = handle.create_bind_group_layout(entries=_layout_entries(bindings))
            pipeline = handle.create_compute_pipeline(
                layout=handle.create_pipeline_layout(bind_group_layouts=[layout]),
                compute={
                    "module": create_module(handle, text, trusted=self.trusted),
                    "entry_point": "main",
                },
            )
        self.device.count("gpu_pipelines", 1)
        return CompiledShader(
            pipeline,
            layout,
            text,
            uniform_block(kernel, facts),
            bindings,
            schedule,
            kernel.body[-1].op == "grid",
        )


def unsupported(kernel: Kernel, adapter: AdapterInfo) -> str | None:
    """Reason for which an adapter cannot run a kernel, a sentence's begin; None if it can."""
    kinds = types_of(kernel)
    for parameter in kernel.parameters:
        kinds.add(parameter.type if isinstance(parameter, Scalar) else parameter.element)
    if kinds & NARROW.keys():
        return f"{adapter} has no integers of 8 or 16 bits"
    for kind in sorted(kinds & set(_WIDE)):
        if kind not in adapter.kinds:
            return f"{adapter} has no {_WIDE[kind]}"
    buffers = sum(not isinstance(p, Scalar) for p in kernel.parameters) + 1
    most = adapter.limits["max-storage-buffers-per-shader-stage"]
    if buffers > most:
        return f"{adapter} binds {most} buffers at once, not {buffers}"
    contract = contract_of(kernel.body[-1])
    limits = Limits(shared_bytes=adapter.limits["max-compute-workgroup-storage-size"])
    if contract is not None and not fitting_tiles(contract, lanes_of_a_thread(kernel), limits):
        return f"{adapter} has too little workgroup memory for a tile of the product"
    least = min(shared_bytes(kernel, lanes, 2, held=False) for lanes in (2, 4))
    if least > adapter.limits["max-compute-workgroup-storage-size"]:
        return f"{adapter} has too little workgroup memory for the totals of the kernel"
    return None


def types_of(kernel: Kernel) -> set[str]:
    """The types of all values of a kernel and of its functions."""
    bodies = (kernel.body, *(function.body for function in kernel.functions))
    instructions = (i for body in bodies for i in every_instruction(body))
    return {v.type for i in instructions for v in (*i.results, *i.args)}


def floats_of(kernel: Kernel) -> set[str]:
    """The float types that a kernel computes with."""
    return types_of(kernel) & set(FLOATS)


def _layout_entries(bindings: tuple[Binding, ...]) -> list[dict[str, Any]]:
    """The uniform block, the buffers, and the event word."""
    kinds = ["uniform"]
    kinds += ["storage" if b.writable else "read-only-storage" for b in bindings]
    kinds.append("storage")
    import wgpu  # noqa: PLC0415 - loaded by whoever made the device

    return [
        {"binding": number, "visibility": wgpu.ShaderStage.COMPUTE, "buffer": {"type": kind}}
        for number, kind in enumerate(kinds)
    ]
