"""A compiled graph that runs on a GPU, and on the CPU where the GPU cannot."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from runmat_jit.backends.wgpu.adapter import DeviceLost
from runmat_jit.backends.wgpu.memory import DeviceArray, DeviceMemory
from runmat_jit.backends.wgpu.program import ProgramMemory, WgpuProgramRunner
from runmat_jit.backends.wgpu.stopwatch import Stopwatch, stopwatch_of
from runmat_jit.compiler.events import AT_FIRST, Watch, Way
from runmat_jit.compiler.native_program import NativeProgram
from runmat_jit.core.errors import BackendError
from runmat_jit.graph.node import Node
from runmat_jit.lower.launch import Launch
from runmat_jit.plan.argument import InputScalar, NodeBuffer
from runmat_jit.plan.plan import Plan
from runmat_jit.runtime.session import Session


class GpuProgram:
    """Uploads the inputs, runs the kernels, reads the results back; one call at a time.

    Where the device fails (lost, out of memory, an array too large for it) the CPU's program
    gives the result: nothing of the call has been written then.
    """

    def __init__(
        self,
        session: Session,
        plan: Plan,
        launches: Sequence[Launch],
        native: NativeProgram,
        watch: Watch,
        *,
        way: Way = AT_FIRST,
    ) -> None:
        self.watch, self.way = watch, way
        self.session, self.gpu, self.native = session, session.gpu, native
        self.runner = WgpuProgramRunner(self.gpu.backend, launches)
        self.read, self.scalars = operands(launches)
        self.orders, self.in_place = plan.orders, plan.in_place
        self.stored = tuple(node for region in plan.regions for node in region.outputs)
        wanted = {output.node for output in plan.graph.outputs}
        self._said = False
        self._stopwatch: Stopwatch | None = None
        self.kept = tuple(node for node in self.stored if node in wanted)

    def run(self, inputs: Sequence[Any], warn: frozenset[str]) -> list[np.ndarray]:
        """Run on one array (0-d for scalars) for each input; give the fresh results.

        Raises:
            EventsRaise: an event occurred while the warnings filters raise; nothing was written.

        """
        other, native = self.chosen(warn), self.native
        if other is not self:
            other._stopwatch = self.next_stopwatch()
            return other.run(inputs, warn)
        if self.gpu.backend.device.lost:
            return native.run(inputs, warn)
        memory = native.allocate(inputs)
        try:
            with self.gpu.lock:
                word = self._compute(memory, notes=bool(warn))
        except BackendError as error:
            self.give_up(error)
            return native.run(inputs, warn)
        launches = len(self.runner.launches)
        self.session.telemetry.count_run(launches, native.nbytes, on_gpu=launches)
        self.report(word, inputs, warn)
        return native.finish(memory)

    def time_kernels(self) -> Stopwatch | None:
        """Times the kernels of the next run; None where the device has no clock."""
        self._stopwatch = stopwatch_of(self.gpu.backend.device)
        return self._stopwatch

    def next_stopwatch(self) -> Stopwatch | None:
        """What is to time the run that begins."""
        found, self._stopwatch = self._stopwatch, None
        return found

    def chosen(self, warn: frozenset[str]) -> GpuProgram:
        """The program that notes events as the calls so far suggest."""
        other = self.watch.program
        return other if warn and isinstance(other, GpuProgram) else self

    def report(self, word: int, inputs: Sequence[Any], warn: frozenset[str]) -> None:
        """Report the events of a run that noted ``word``, if somebody asks."""
        if warn and self.native.blind:
            self.watch.ask(inputs, warn)
        elif warn and word:
            self.watch.report(self.way, word, inputs, warn)

    def give_up(self, error: BackendError) -> None:
        """Say once why the device does not run the program; what is lost is never tried again."""
        device = self.gpu.backend.device
        device.lost = device.lost or isinstance(error, DeviceLost)
        if not self._said:
            self.session.log.warning("the CPU takes over from %s: %s", self.gpu.info, error)
            self._said = True

    def _compute(self, memory: list[np.ndarray], *, notes: bool) -> int:
        """Fill the results' host memory; the event word, if ``notes`` asks for it."""
        numbers, device = self.native.numbers, self.gpu.backend.memory
        arrays: dict[Node, DeviceArray] = {}
        own: list[DeviceArray] = []
        try:
            for node in self.read:
                arrays[node] = device.upload(memory[numbers[node]])
                own.append(arrays[node])
            for node in self.stored:
                if node in self.in_place:
                    arrays[node] = arrays[self.in_place[node]]
                else:
                    arrays[node] = device.empty(node.type.size, node.type.dtype)
                    own.append(arrays[node])
            there = ProgramMemory(arrays, {node: memory[numbers[node]] for node in self.scalars})
            word = self.runner.run(there, notes=notes, stopwatch=self.next_stopwatch())
            given = {id(memory[numbers[node]]) for node in self.read}
            for node in self.kept:
                target, order = memory[numbers[node]], self.orders[node]
                if target is None:  # the CPU's program would get it from a call
                    memory[numbers[node]] = downloaded(device, arrays[node], node, order)
                elif id(target) in given or not target.transpose(order).flags.c_contiguous:
                    target[...] = downloaded(device, arrays[node], node, order)
                else:  # not into inputs: if a copy fails, the CPU computes from them again
                    device.download(arrays[node], target.transpose(order).reshape(-1))
        finally:
            device.free(reversed(own))  # the next call gets the same ones
        return word


def downloaded(
    device: DeviceMemory, array: DeviceArray, node: Node, order: tuple[int, ...]
) -> np.ndarray:
    """A copy of a value on the host; ``order`` is that of its axes in memory."""
    shape = node.type.shape
    back = sorted(range(len(order)), key=order.__getitem__)
    return device.download(array).reshape([shape[axis] for axis in order]).transpose(back)


def operands(launches: Sequence[Launch]) -> tuple[tuple[Node, ...], tuple[Node, ...]]:
    """The graph inputs that kernels read: arrays, and scalars by value."""
    read: dict[Node, None] = {}
    scalars: dict[Node, None] = {}
    for launch in launches:
        for argument in launch.arguments:
            if isinstance(argument, NodeBuffer) and is_input(argument.node):
                read[argument.node] = None
            elif isinstance(argument, InputScalar):
                scalars[argument.node] = None
    return tuple(read), tuple(scalars)


def is_input(node: Node) -> bool:
    """True if a node is an input of the graph."""
    return not node.args and "strides" in node.params
