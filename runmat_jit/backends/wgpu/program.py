"""Runs the launches of a program on a device: what lowering gives, bound to device memory."""

from __future__ import annotations

import weakref
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from runmat_jit.backends.wgpu.backend import WgpuBackend
from runmat_jit.backends.wgpu.memory import DeviceArray, DeviceMemory
from runmat_jit.backends.wgpu.notes import has_notes, without_notes
from runmat_jit.backends.wgpu.run import Batch, KernelRun, WgpuRunner
from runmat_jit.backends.wgpu.stopwatch import Stopwatch
from runmat_jit.core.frozen import frozen_object
from runmat_jit.graph.node import Node
from runmat_jit.kernel.ir import Literal
from runmat_jit.kernel.math.tables import table
from runmat_jit.lower.launch import Launch
from runmat_jit.plan.argument import Argument, InputScalar, NodeBuffer, Scratch, TableBuffer

_KEPT = 32
"""Bindings kept: functions called in a loop often take turns between some sets of arrays."""
_COPIES = 8
"""Of one with other numbers at each call: what has been put into the queue keeps its own."""


@frozen_object
class ProgramMemory:
    """Device memory and scalars of one call of a program.

    ``arrays`` holds the memory of inputs and stored nodes, ``scalars`` the inputs given by value.
    Memory in the same buffers as in an earlier call is not bound anew.
    """

    arrays: Mapping[Node, DeviceArray]
    scalars: Mapping[Node, np.ndarray[Any, Any]]


@frozen_object
class _Bound:
    """Bound launches: batches used in rotation; the latest one has the ``scalars``."""

    scalars: tuple[bytes, ...]
    batches: tuple[Batch, ...]


class WgpuProgramRunner:
    """The launches of one program; for one call at a time.

    Scratch memory and tables belong to the program and live as long as it does; results are the
    caller's, so that they can stay on the device.
    """

    def __init__(self, backend: WgpuBackend, launches: Sequence[Launch]) -> None:
        self.backend = backend
        self.launches = tuple(launches)
        self._silent = tuple(replace(run, kernel=without_notes(run.kernel)) for run in launches)
        self._runner = WgpuRunner(backend)
        self._own: dict[Scratch | str, DeviceArray] = {}
        weakref.finalize(self, _give_back, backend.memory, self._own)
        self._bound: dict[object, _Bound] = {}
        """By identity of the arrays; the latest used last."""

    @property
    def notes(self) -> bool:
        """True if any kernel may report floating-point events."""
        return any(has_notes(launch.kernel) for launch in self.launches)

    def start(
        self, memory: ProgramMemory, *, notes: bool = True, stopwatch: Stopwatch | None = None
    ) -> Batch:
        """Submit all launches in order, without waiting for them.

        Args:
            memory: What they are bound to.
            notes: Whether somebody asks for floating-point events.
            stopwatch: Times the launches.

        Raises:
            BackendError: The device cannot run a kernel on these arrays.
            DeviceLost: The device is gone, and all device arrays with it.

        """
        batch = self._batch(memory, self.launches if notes else self._silent)
        self._runner.submit(batch, stopwatch)
        return batch

    def fetch(
        self, memory: ProgramMemory, arrays: Sequence[DeviceArray], *, notes: bool
    ) -> tuple[int, list[np.ndarray]]:
        """Submit all launches and wait for the only elements of some arrays (see WgpuRunner)."""
        batch = self._batch(memory, self.launches if notes else self._silent)
        return self._runner.fetch(batch, arrays)

    def run(
        self, memory: ProgramMemory, *, notes: bool = True, stopwatch: Stopwatch | None = None
    ) -> int:
        """Run all launches and wait; their word of events (arguments as ``start``)."""
        return self._runner.happened(self.start(memory, notes=notes, stopwatch=stopwatch))

    def happened(self, batch: Batch) -> int:
        """Wait for what ``start`` submitted; the word in which it noted events."""
        return self._runner.happened(batch)

    def close(self) -> None:
        """Give scratch memory and tables back."""
        self.backend.memory.free(self._own.values())
        self._own.clear()
        self._bound.clear()

    # -- binding ---------------------------------------------------------------------------------
    def _batch(self, memory: ProgramMemory, launches: Sequence[Launch]) -> Batch:
        """The launches bound to this memory, as before where that was seen lately."""
        arrays = launches is self.launches, *[each.key for each in memory.arrays.values()]
        scalars = tuple([value.tobytes() for value in memory.scalars.values()])
        known = self._bound.pop(arrays, None)
        if known is not None and known.scalars == scalars:
            self._bound[arrays] = known
            return known.batches[-1]
        if known is None or (
            len(known.batches) < _COPIES and self._runner.is_waiting(known.batches[0])
        ):
            batch = self._runner.prepare([self._run(launch, memory) for launch in launches])
            batches = (*(() if known is None else known.batches), batch)
        else:
            numbers: dict[Hashable, Literal] = {n: number(v) for n, v in memory.scalars.items()}
            batch = self._runner.renumber(known.batches[0], numbers)
            batches = *known.batches[1:], batch
        while len(self._bound) >= _KEPT:
            del self._bound[next(iter(self._bound))]
        self._bound[arrays] = _Bound(scalars, batches)
        return batches[-1]

    def _run(self, launch: Launch, memory: ProgramMemory) -> KernelRun:
        pairs = zip(launch.kernel.parameters, launch.arguments, strict=True)
        arguments = {p.name: self._argument(argument, memory) for p, argument in pairs}
        pairs = zip(launch.kernel.parameters, launch.arguments, strict=True)
        given = {p.name: a.node for p, a in pairs if isinstance(a, InputScalar)}
        return KernelRun(launch.kernel, arguments, (0, launch.total), given=given)

    def _argument(self, argument: Argument, memory: ProgramMemory) -> DeviceArray | Literal:
        if isinstance(argument, NodeBuffer):
            array = memory.arrays[argument.node]
            if argument.offset:
                origin = array.origin + argument.offset
                array = DeviceArray(array.buffer, array.dtype, array.size, origin)
            return array.in_parts()
        if isinstance(argument, Scratch):
            return self._scratch(argument).in_parts()
        if isinstance(argument, InputScalar):
            return number(memory.scalars[argument.node])
        if isinstance(argument, TableBuffer):
            return self._table(argument.name)
        return argument

    def _scratch(self, scratch: Scratch) -> DeviceArray:
        if scratch not in self._own:
            self._own[scratch] = self.backend.memory.empty(scratch.size, scratch.dtype)
        return self._own[scratch]

    def _table(self, name: str) -> DeviceArray:
        if name not in self._own:
            self._own[name] = self.backend.memory.upload(table(name))
        return self._own[name]


def number(value: np.ndarray[Any, Any]) -> Literal:
    """The number in an array of one."""
    found: Literal = value.reshape(1)[0].item()
    return found


def _give_back(memory: DeviceMemory, arrays: dict[Scratch | str, DeviceArray]) -> None:
    """Free a program's own buffers when it is collected."""
    for array in arrays.values():
        memory.discard(array)
