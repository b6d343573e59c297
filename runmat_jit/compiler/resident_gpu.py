"""A program on a GPU whose inputs are there already, and whose results stay."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any

import numpy as np

from runmat_jit.backends.wgpu.program import ProgramMemory
from runmat_jit.compiler.gpu_program import GpuProgram, downloaded
from runmat_jit.compiler.native_program import write
from runmat_jit.core.errors import BackendError
from runmat_jit.core.errstate import warnings_raise
from runmat_jit.core.protocols import Program
from runmat_jit.core.slotted import slotted
from runmat_jit.core.types import byte_strides
from runmat_jit.graph.node import Fresh, Graph, Node, Output
from runmat_jit.plan.layout import Commit
from runmat_jit.runtime.arrays import (
    Residence,
    ResidentArray,
    adopted,
    device_view,
    host_written,
    residence_of,
    to_host,
)

if TYPE_CHECKING:
    from runmat_jit.backends.wgpu.memory import DeviceArray
    from runmat_jit.backends.wgpu.stopwatch import Stopwatch


@slotted
class Call:
    """One run: the host's arrays, and what lies on the device for it.

    ``mine`` is device memory that is freed after the call; what a result takes over leaves it.
    ``taken`` are the values whose memory is an output's already; ``fetched`` are numbers that have
    come to the host with the run.
    """

    inputs: Sequence[Any]
    arrays: dict[Node, DeviceArray] = field(default_factory=dict)
    mine: dict[int, DeviceArray] = field(default_factory=dict)
    taken: set[Node] = field(default_factory=set)
    fetched: dict[Node, np.ndarray] = field(default_factory=dict)

    def own(self, array: DeviceArray) -> DeviceArray:
        """Have it freed after the call."""
        self.mine[id(array)] = array
        return array


class ResidentGpuProgram:
    """Runs a program's kernels on the device's copies; transfers only what is not there.

    Where the device fails the host's program gives the result: nothing has been written then.
    """

    def __init__(self, program: GpuProgram, graph: Graph, fallback: Program) -> None:
        self.base, self.fallback = program, fallback
        self.session, self.gpu = program.session, program.gpu
        self.numbers, self.orders = program.native.numbers, program.orders
        self.outputs = graph.outputs
        self.notes = program.runner.notes
        self.reads = any(not output.node.type.shape for output in graph.outputs)
        """True if some result is a number, which Python needs."""
        self.fetched = [each.node for each in graph.outputs if self.is_fetched(each)]
        self.stays = all(self.is_fetched(each) or self.is_there(each) for each in graph.outputs)
        """True if results are scalars, or memory of kernels: new arrays, or all of an argument."""
        self.is_blind = bool(self.fetched) and program.native.blind
        """True if scalars are read, and only NumPy reports their events."""
        self.prepare_there()

    def run(self, inputs: Sequence[Any], warn: frozenset[str]) -> list[np.ndarray]:
        """Run on one array (0-d for scalars) for each input; give the fresh results (as Program).

        Raises:
            BackendError: what an input held is lost with its device; nothing was written.
            EventsRaise: an event occurred while the warnings filters raise; nothing was written.

        """
        if self.gpu.backend.device.lost:
            return self.fallback.run(inputs, warn)
        call = Call(inputs)
        with self.gpu.lock:
            try:
                self.compute(call, warn)
                results, writes = self.prepare(call)
            except BackendError as error:
                self.base.give_up(error)
                return self.fallback.run(inputs, warn)
            else:
                for write_value in writes:
                    write_value()
                return results
            finally:
                self.gpu.backend.memory.free(reversed(call.mine.values()))

    def time_kernels(self) -> Stopwatch | None:
        """Times the kernels of the next run (as of a GpuProgram)."""
        return self.base.time_kernels()

    def run_there(
        self, inputs: Sequence[Any], warn: frozenset[str] = frozenset()
    ) -> tuple[Any, ...] | None:
        """The new arrays and numbers, of a call that touches no other memory of the host.

        For programs that ``stays``, on arrays of ours, which nobody shows, and others: what gates
        call, so that each microsecond counts. None, with nothing written: Python makes the call, or
        reports an event of ``warn``.
        """
        gpu, memory = self.gpu, self.gpu.backend.memory
        if not self.may_run_there(inputs):
            return None
        owned: dict[Node, DeviceArray] = {}
        passing: list[DeviceArray] = []
        with gpu.lock:
            try:
                arrays, made = self.bring(inputs, passing)
                if made is None:
                    return None
                for node, size, dtype in self.stored:
                    arrays[node] = owned[node] = memory.empty(size, dtype)
                for node, taken in self.shared:
                    arrays[node] = arrays[taken]
                scalars = {node: inputs[n] for node, n in self.scalars}
                numbers = self.compute_there(ProgramMemory(arrays, scalars), warn)
                if numbers is None:
                    return None
                results: list[Any] = []
                for lies, geometry in self.news:
                    if lies is None:
                        results.append(numbers.pop(0)[0])
                        continue
                    residence = Residence.of_device(gpu, owned.pop(lies))
                    results.append(made._on(residence, *geometry))
                for lies, n, _ in self.writes:
                    inputs[n]._residence.device_written(gpu, owned.pop(lies))
            except BackendError as error:
                self.base.give_up(error)
                return None
            finally:
                if owned or passing:
                    memory.free([*owned.values(), *passing])
        launches = len(self.base.runner.launches)
        self.session.telemetry.count_run(launches, self.base.native.nbytes, on_gpu=launches)
        return tuple(results)

    def bring(
        self, inputs: Sequence[Any], passing: list[DeviceArray]
    ) -> tuple[dict[Node, DeviceArray], type[ResidentArray] | None]:
        """The device's copies of the inputs, and the class of those that are arrays of ours.

        Copies of NumPy's arrays, for this call, are added to ``passing``.
        """
        gpu, made = self.gpu, next((type(inputs[n]) for _, n, _ in self.writes), None)
        arrays: dict[Node, DeviceArray] = {}
        for node, n in self.read:
            value = inputs[n]
            if isinstance(value, ResidentArray):
                found = value._on_device(gpu)
                assert found is not None, "it is as in the call before"
                made = type(value)
            else:
                found = gpu.backend.memory.upload(value)
                passing.append(found)
            arrays[node] = found
        return arrays, made

    def may_run_there(self, inputs: Sequence[Any]) -> bool:
        """True if a call touches no memory of the host."""
        if self.gpu.backend.device.lost or (self.notes and warnings_raise()):
            return False
        return all(is_all_memory(inputs[n], nbytes) for _, n, nbytes in self.writes)

    def compute_there(self, bound: ProgramMemory, warn: frozenset[str]) -> list[np.ndarray] | None:
        """Start the kernels; wait for scalars. None: an event is to be reported."""
        base = self.base
        if self.fetched:
            wanted = [bound.arrays[node] for node in self.fetched]
            noting = base.chosen(warn)
            each = [(b.read, b.scalars, b.stored) for b in (noting, base)]
            if each[0] != each[1]:
                return None
            asked = bool(warn) and self.notes
            word, numbers = noting.runner.fetch(bound, wanted, notes=asked)
            return None if word else numbers
        if base.runner.launches:
            base.runner.start(bound, notes=False)
        return []

    def is_fetched(self, output: Output) -> bool:
        """True if a result is a scalar that kernels store."""
        node = output.node
        once = sum(each.node is node for each in self.outputs) == 1
        is_number = isinstance(output.target, Fresh) and not node.type.shape
        return once and is_number and node in self.base.stored and node not in self.base.in_place

    def is_there(self, output: Output) -> bool:
        """True if a result is memory that kernels fill, in the order of its axes there."""
        node, target = output.node, output.target
        if not node.type.size or sum(each.node is node for each in self.outputs) > 1:
            return False
        if isinstance(target, Fresh):
            return self.orders.get(node) == target.order
        commit = self.commit_of(output)
        in_order = commit.strides == byte_strides(commit.shape, node.type.dtype.itemsize)
        plainly = in_order and self.orders.get(node) == plain(len(commit.shape))
        return plainly and commit.whole and not commit.offset

    def commit_of(self, output: Output) -> Commit:
        """The write into an input that an output is."""
        written = [each for each in self.outputs if not isinstance(each.target, Fresh)]
        return self.base.native.layout.commits[written.index(output)]

    def prepare_there(self) -> None:
        """What :meth:`run_there` reads: the inputs' numbers, what is made, and what lies where."""
        base, numbers = self.base, self.numbers
        self.read = [(node, numbers[node]) for node in base.read]
        self.scalars = [(node, numbers[node]) for node in base.scalars]
        self.shared = [(node, base.in_place[node]) for node in base.stored if node in base.in_place]
        self.stored = [
            (node, node.type.size, node.type.dtype)
            for node in base.stored
            if node not in base.in_place
        ]
        in_place = dict(self.shared)
        self.news: list[tuple[Node | None, Any]] = []
        """The memory and geometry of new arrays; of scalars None, and their dtype."""
        self.writes: list[tuple[Node, int, int]] = []
        for output in self.outputs if self.stays else ():
            node = lies = output.node
            if self.is_fetched(output):
                self.news.append((None, node.type.dtype))
                continue
            while lies in in_place:
                lies = in_place[lies]
            if isinstance(output.target, Fresh):
                self.news.append((lies, self.geometry(node)))
            else:
                self.writes.append((lies, output.target.input, node.type.nbytes))

    def geometry(self, node: Node) -> tuple[np.dtype, tuple[int, ...], tuple[int, ...]]:
        """Dtype, extents and strides in bytes of a value as it lies on the device."""
        dtype, shape = node.type.dtype, node.type.shape
        return dtype, shape, byte_strides(shape, dtype.itemsize, self.orders[node])

    # -- kernels -----------------------------------------------------------------------------------
    def compute(self, call: Call, warn: frozenset[str]) -> None:
        """Launch the kernels; wait for them only where events raise, or a number is read anyway."""
        warn = warn if warn and (self.reads or warnings_raise()) else frozenset()
        base, memory = self.base.chosen(warn), self.gpu.backend.memory
        for node in base.read:
            call.arrays[node] = self.on_device(call, call.inputs[self.numbers[node]])
        for node in base.stored:
            taken = base.in_place.get(node)
            call.arrays[node] = (
                call.own(memory.empty(node.type.size, node.type.dtype))
                if taken is None
                else call.arrays[taken]
            )
        scalars = {node: call.inputs[self.numbers[node]] for node in base.scalars}
        runner = base.runner
        if runner.launches:
            asked = bool(warn) and self.notes
            watch = self.base.next_stopwatch()
            bound = ProgramMemory(call.arrays, scalars)
            if watch is None and self.fetched and set(self.fetched) <= set(base.stored):
                wanted = [call.arrays[node] for node in self.fetched]
                word, numbers = runner.fetch(bound, wanted, notes=asked)
                call.fetched = dict(zip(self.fetched, numbers, strict=True))
            else:
                batch = runner.start(bound, notes=asked, stopwatch=watch)
                word = runner.happened(batch) if asked else 0
            if warn and (base.native.blind or word):
                for value in call.inputs:
                    to_host(value)
                base.report(word, call.inputs, warn)
        launches = len(runner.launches)
        self.session.telemetry.count_run(launches, base.native.nbytes, on_gpu=launches)

    def on_device(self, call: Call, array: np.ndarray) -> DeviceArray:
        """The device's copy of an input; one for this call where the array is NumPy's."""
        residence = residence_of(array)
        found = None if residence is None else device_view(array, residence, self.gpu)
        if found is None:
            to_host(array)
            found = call.own(self.gpu.backend.memory.upload(array))
        return found

    # -- results -----------------------------------------------------------------------------------
    def prepare(self, call: Call) -> tuple[list[np.ndarray], list[Callable[[], None]]]:
        """The fresh results, and what writes the others into inputs: nothing is written before.

        Values of later outputs may be inputs that earlier ones write.
        """
        results: list[np.ndarray] = []
        writes: list[Callable[[], None]] = []
        commits = iter(self.base.native.layout.commits)
        for output in self.outputs:
            if isinstance(output.target, Fresh):
                results.append(self.fresh(call, output.node, output.target.order))
            else:
                writes.append(self.store(call, output.node, next(commits)))
        return results, writes

    def fresh(self, call: Call, node: Node, order: tuple[int, ...]) -> np.ndarray:
        """A result in new memory, on the device where its layout is what was computed."""
        if node in call.fetched:
            return adopted(call.fetched[node].reshape(()).copy(), "gpu")
        found = self.value_on_device(call, node, order) if node.type.size else None
        shape, size = node.type.shape, node.type.dtype.itemsize
        if found is None:
            value = self.value_on_host(call, node)
            made = np.empty(tuple(shape[axis] for axis in order), value.dtype)
            made[...] = value.transpose(order)
            return adopted(made.transpose(inverse(order)), "gpu")
        residence = Residence.of_device(self.gpu, call.mine.pop(id(found)))
        result = residence.show(node.type.dtype, shape, byte_strides(shape, size, order))
        if not shape:  # NumPy's scalars, mostly: Python needs the value
            residence.to_host()
        return result

    def store(self, call: Call, node: Node, commit: Commit) -> Callable[[], None]:
        """What writes a value into an input: on the device where its memory there can hold it."""
        target = call.inputs[commit.input]
        residence = residence_of(target)
        place = None if residence is None else block_of(target, residence, commit)
        if residence is not None and place is not None:
            found = self.value_on_device(call, node, plain(len(commit.shape)))
            if found is not None and found.nbytes == residence.nbytes:
                return lambda: residence.device_written(self.gpu, call.mine.pop(id(found)))
            if found is not None:
                residence.on_device(
                    self.gpu
                )  # now: what fails must fail before anything is written
                return lambda: residence.write_on_device(self.gpu, found, place)
        value = self.value_on_host(call, node)
        to_host(target)

        def write_on_host() -> None:
            host_written(target)
            write(target, value, commit)

        return write_on_host

    def value_on_device(self, call: Call, node: Node, order: tuple[int, ...]) -> DeviceArray | None:
        """Device memory of the call's own with a value in this layout; None where it has none."""
        memory = self.gpu.backend.memory
        if node in self.orders:
            if self.orders[node] != order:
                return None
            if node in call.taken:
                return call.own(memory.duplicate(call.arrays[node]))
            call.taken.add(node)
            return call.arrays[node]
        value = call.inputs[self.numbers[node]]
        residence = residence_of(value)
        if residence is None or not is_all_of(value, residence) or order != plain(value.ndim):
            return None
        return call.own(memory.duplicate(residence.on_device(self.gpu)))

    def value_on_host(self, call: Call, node: Node) -> np.ndarray:
        """A copy of a value on the host."""
        if node not in self.orders:
            value = call.inputs[self.numbers[node]]
            to_host(value)
            return np.array(value)
        memory = self.gpu.backend.memory
        return downloaded(memory, call.arrays[node], node, self.orders[node])


def is_all_memory(value: Any, nbytes: int) -> bool:
    """True if a value is an array of ours that has all of its memory, and so many bytes of it."""
    if not isinstance(value, ResidentArray) or value._offset or value._residence is None:
        return False
    return value._residence.nbytes == nbytes


def is_all_of(array: np.ndarray, residence: Residence) -> bool:
    """True if an array shows all memory of its residence, in C order."""
    return array.flags.c_contiguous and array.nbytes == residence.nbytes


def block_of(target: np.ndarray, residence: Residence, commit: Commit) -> int | None:
    """The byte of the residence where a write of one block begins; None: no block of words."""
    size = target.itemsize
    nbytes = size * math.prod(commit.shape)
    begin = residence.offset_of(target) + commit.offset
    if commit.strides != byte_strides(commit.shape, size):
        return None
    whole = begin == 0 and nbytes == residence.nbytes
    return begin if whole or (begin % _WORD == nbytes % _WORD == 0 and nbytes) else None


_WORD = 4
"""Bytes that devices copy at least."""


def plain(ndim: int) -> tuple[int, ...]:
    """C order."""
    return tuple(range(ndim))


def inverse(order: tuple[int, ...]) -> tuple[int, ...]:
    """The permutation that undoes this one."""
    return tuple(sorted(range(len(order)), key=order.__getitem__))
