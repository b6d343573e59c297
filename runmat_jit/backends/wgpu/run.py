"""Runs kernels on a device: uniform blocks, bind groups, one command encoder for a list of runs."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Hashable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import field, replace
from typing import Any

import numpy as np

from runmat_jit.backends.wgpu.adapter import ALIGNMENT, error_of, errors_of
from runmat_jit.backends.wgpu.backend import CompiledShader, WgpuBackend
from runmat_jit.backends.wgpu.facts import FACTOR, SLICE, TILE, Facts, Start
from runmat_jit.backends.wgpu.memory import DeviceArray, padded
from runmat_jit.backends.wgpu.native_queue import MOST_FETCHED, SLOT
from runmat_jit.backends.wgpu.notes import has_notes
from runmat_jit.backends.wgpu.ranges import longest_blocks
from runmat_jit.backends.wgpu.schedule import Schedule, contract_of, tiles_of_a_cell
from runmat_jit.backends.wgpu.staging import Staging, words
from runmat_jit.backends.wgpu.stopwatch import Stopwatch
from runmat_jit.backends.wgpu.uniforms import END, FIRST, Key, origin_of, put
from runmat_jit.backends.wgpu.views import starts_of_windows
from runmat_jit.backends.wgpu.windows import Part, parts_of
from runmat_jit.core.errors import BackendError
from runmat_jit.core.frozen import frozen, frozen_object
from runmat_jit.kernel.ir import Buffer, Kernel, Literal, Scalar

_MOST_GROUPS = 65_535
"""Workgroups of one dimension of a dispatch, on every device."""
_FORMS = 256
"""Forms of runs that are kept."""
_MOST_COMPILING = 8
"""Shaders of a batch that are compiled at once."""


@frozen
class KernelRun:
    """A kernel over cells or iterations ``part``; arguments by parameter name.

    Buffers and tables are bound to device arrays, scalars to values. ``given``: scalars that later
    calls may replace, by name, with their identities; never extents.
    """

    kernel: Kernel
    arguments: Mapping[str, DeviceArray | Literal]
    part: tuple[int, int]
    schedule: Schedule | None = None
    given: Mapping[str, Hashable] = field(default_factory=dict)

    @property
    def arrays(self) -> dict[str, DeviceArray]:
        """Buffers and tables."""
        return {n: a for n, a in self.arguments.items() if isinstance(a, DeviceArray)}

    @property
    def indices(self) -> dict[str, int]:
        """Index scalars: extents, strides and offsets."""
        names = {
            p.name for p in self.kernel.parameters if isinstance(p, Scalar) and p.type == "index"
        }
        return {name: _whole(self.arguments[name]) for name in names}


@frozen_object
class Dispatch:
    """One dispatch: its shader, bind group, workgroups, and the part of a run that it is."""

    shader: CompiledShader
    group: Any
    groups: tuple[int, int, int]
    part: Part


@frozen_object
class Batch:
    """Dispatches in order, with the memory they share; ``runs`` keep their buffers alive.

    ``notes``: a kernel may write the word of ``events``. ``content``: bytes of all uniform blocks.
    ``places``: offset, type and identity of each scalar in it.
    """

    runs: tuple[KernelRun, ...]
    dispatches: tuple[Dispatch, ...]
    uniforms: Any
    content: bytes
    places: tuple[tuple[int, str, Hashable], ...]
    events: Any
    notes: bool
    native: Any
    """The dispatches, for the native queue."""


@frozen_object
class _Form:
    """A part of a run, whatever its arrays and its numbers but extents: shader and workgroups."""

    part: Part
    shader: CompiledShader
    groups: tuple[int, int, int]


@frozen
class _Step:
    """A part of a run before it is bound, and its uniform block."""

    run: KernelRun
    form: _Form
    block: bytes


class WgpuRunner:
    """Runs kernels of one backend; what is stored is seen by later runs of the same batch."""

    def __init__(self, backend: WgpuBackend) -> None:
        self.backend = backend
        self.device = backend.device
        self._forms: dict[object, tuple[_Form, ...]] = {}
        """Of runs, by all that they depend on."""

    def run(self, runs: Iterable[KernelRun]) -> int:
        """Run kernels and wait for them; the word in which they note events.

        Raises:
            BackendError: The device cannot run a kernel on these arrays.
            DeviceLost: The device is gone.

        """
        batch = self.prepare(runs)
        self.submit(batch)
        return self.happened(batch)

    def prepare(self, runs: Iterable[KernelRun]) -> Batch:
        """Compile kernels and bind their arguments; a batch may be submitted many times."""
        runs = tuple(runs)
        steps = self._steps(runs)
        blocks = [step.block.ljust(padded(len(step.block)), b"\0") for step in steps]
        offsets, content = [0, *itertools.accumulate(map(len, blocks))], b"".join(blocks)
        with errors_of(self.device.info):
            uniforms = self._buffer(max(len(content), ALIGNMENT), "UNIFORM")
            if content:
                self.device.queue.write_buffer(uniforms, 0, content)
            events = self._buffer(4, "STORAGE")
            dispatches = tuple(
                Dispatch(
                    step.form.shader,
                    self._bind(step, (uniforms, offset, len(step.block)), events),
                    step.form.groups,
                    step.form.part,
                )
                for offset, step in zip(offsets, steps, strict=False)
            )
        self.device.count("gpu_bind_groups", len(dispatches))
        notes, queue = any(has_notes(r.kernel) for r in runs), self.device.native
        native = None if queue is None else queue.prepare(dispatches, events if notes else None)
        places = [
            (offset + place, kind, step.run.given[name])
            for offset, step in zip(offsets, steps, strict=False)
            for place, kind, name in step.form.shader.uniforms.places
            if name in step.run.given
        ]
        return Batch(runs, dispatches, uniforms, content, tuple(places), events, notes, native)

    def is_waiting(self, batch: Batch) -> bool:
        """True if it was put into a queue that may not have submitted it yet."""
        queue = self.device.native
        return queue is not None and queue.holds(batch.uniforms)

    def renumber(self, batch: Batch, numbers: Mapping[Hashable, Literal]) -> Batch:
        """Replace scalars of the batch without binding anything anew.

        Earlier submissions keep their values: the write waits behind them in the queue.
        """
        content = bytearray(batch.content)
        for offset, kind, what in batch.places:
            put(content, offset, kind, numbers[what])
        queue = self.device.queue if self.is_waiting(batch) else self.device.handle.queue
        with errors_of(self.device.info):
            queue.write_buffer(batch.uniforms, 0, content)
        return replace(batch, content=bytes(content))

    def submit(self, batch: Batch, stopwatch: Stopwatch | None = None) -> None:
        """Start the dispatches of a batch, in order, without waiting for them.

        Args:
            batch: What was prepared.
            stopwatch: Times them.

        Raises:
            DeviceLost: The device is gone.
            BackendError: This, or what was submitted before, has failed.

        """
        queue = self.device.native
        if queue is None or batch.native is None or stopwatch is not None:
            self._submit_by_wgpu(batch, stopwatch)
        else:
            _ = self.device.handle  # which a forked process must not use
            failed = queue.put(batch)
            if failed is not None:
                raise error_of(self.device.info, failed)
        self.device.count("gpu_submits", 1)

    def _submit_by_wgpu(self, batch: Batch, stopwatch: Stopwatch | None) -> None:
        """The same without native code."""
        with errors_of(self.device.info):
            encoder = self.device.handle.create_command_encoder()
            if batch.notes:
                encoder.clear_buffer(batch.events)
            writes = None if stopwatch is None else stopwatch.writes
            compute = encoder.begin_compute_pass(timestamp_writes=writes)
            for dispatch in batch.dispatches:
                compute.set_pipeline(dispatch.shader.pipeline)
                compute.set_bind_group(0, dispatch.group)
                compute.dispatch_workgroups(*dispatch.groups)
            compute.end()
            if stopwatch is not None:
                stopwatch.resolve(encoder)
            self.device.queue.submit([encoder.finish()])

    def happened(self, batch: Batch) -> int:
        """Wait for the last submission of a batch; the word in which it noted events."""
        if not batch.notes:
            self.device.wait()
            return 0
        word, transfers = np.zeros(1, np.uint32), self.backend.memory.transfers
        with errors_of(self.device.info):
            if transfers is None:
                word = np.frombuffer(self.device.queue.read_buffer(batch.events, 0, 4), np.uint32)
            else:
                transfers.download(batch.events, word.view(np.uint8))
        self.device.waited()
        return int(word[0])

    def fetch(self, batch: Batch, arrays: Sequence[DeviceArray]) -> tuple[int, list[np.ndarray]]:
        """Submit a batch and wait for the only elements of some arrays.

        Returns:
            The word in which it noted events, and arrays of one element.

        Raises:
            DeviceLost: The device is gone.
            BackendError: This, or what was submitted before, has failed.

        """
        queue, word = self.device.native, 0
        if queue is None or batch.native is None or len(arrays) > MOST_FETCHED:
            self.submit(batch)
            word = self.happened(batch)
            return word, [self.backend.memory.download(array) for array in arrays]
        _ = self.device.handle  # which a forked process must not use
        sources = [(array.buffer, words(array.nbytes)) for array in arrays]
        sources += [(batch.events, 4)] if batch.notes else []
        failed, found = queue.fetch(batch, sources, self._mappable)
        if failed is not None:
            raise error_of(self.device.info, failed)
        self.device.count("gpu_submits", 1)
        self.device.count("bytes_downloaded", sum(array.nbytes for array in arrays))
        if batch.notes:
            word = int.from_bytes(found[SLOT * len(arrays) :][:4], sys.byteorder)
        return word, [
            np.frombuffer(found, array.dtype, 1, SLOT * number)
            for number, array in enumerate(arrays)
        ]

    def _mappable(self, nbytes: int) -> Staging:
        """Make a buffer that the host can read."""
        assert self.device.native is not None, "it is native code that reads it"
        with errors_of(self.device.info):
            return Staging(self.device, self.device.native, nbytes, reads=True)

    # -- one dispatch ----------------------------------------------------------------------------
    def _steps(self, runs: Iterable[KernelRun]) -> list[_Step]:
        keyed = [(_key(run), run) for run in runs]
        self._compile_together({key: run for key, run in keyed if key not in self._forms})
        return [self._step(run, form) for key, run in keyed for form in self._forms_of(key, run)]

    def _compile_together(self, runs: Mapping[object, KernelRun]) -> None:
        """Compile the shaders of several runs in parallel: a driver takes up to a second for each.

        Where no thread can be started, whoever needs a shader compiles it.
        """
        if len(runs) < 2:
            return
        with ThreadPoolExecutor(_MOST_COMPILING) as pool:
            try:
                made = [pool.submit(self._forms_of, key, run) for key, run in runs.items()]
            except RuntimeError:  # there are too many threads, or Python ends
                return
            for each in made:
                each.result()

    def _forms_of(self, key: object, run: KernelRun) -> tuple[_Form, ...]:
        """Prepared parts of a run; reused if kernel, extents and origins of arrays are the same."""
        found = self._forms.get(key)
        if found is None:
            arrays, indices = run.arrays, run.indices
            parts = parts_of(run.kernel, arrays, indices, run.part, self.device.largest_binding)
            found = tuple([self._form(run, indices, part) for part in parts])
            if len(self._forms) >= _FORMS:
                self._forms.clear()
            self._forms[key] = found
        return found

    def _form(self, run: KernelRun, indices: Mapping[str, int], part: Part) -> _Form:
        """The shader of a part, and its workgroups."""
        kernel, facts = run.kernel, facts_of(run, part)
        longest, iterations = longest_blocks(kernel, indices), part.hi - part.lo
        schedule = run.schedule or self.backend.schedule(kernel, longest, iterations, facts)
        shader = self.backend.compile(kernel, schedule, facts)
        count = -(-iterations // shader.iterations_of_a_group)
        count *= tiles_of_a_cell(kernel, schedule, longest)
        return _Form(part, shader, _groups(count))

    def _step(self, run: KernelRun, form: _Form) -> _Step:
        """A part with its uniform block."""
        part = form.part
        numbers: dict[Key, Literal] = {FIRST: part.lo, END: part.hi}
        numbers |= {origin_of(name): window.origin for name, window in part.windows.items()}
        numbers |= {
            name: value
            for name, value in run.arguments.items()
            if not isinstance(value, DeviceArray)
        }
        try:
            return _Step(run, form, form.shader.uniforms.pack(numbers))
        except OverflowError as error:
            raise BackendError(
                "an extent has more than 31 bits; keep the arrays on the CPU (device='cpu')"
            ) from error

    def _bind(self, step: _Step, uniforms: tuple[Any, int, int], events: Any) -> Any:
        resources = [uniforms]
        for binding in step.form.shader.bindings:
            window = step.form.part.windows[binding.parameter]
            buffer = step.run.arrays[binding.parameter].buffer
            resources.append((buffer, window.offset, window.nbytes))
        resources.append((events, 0, 4))
        return self.device.handle.create_bind_group(
            layout=step.form.shader.layout,
            entries=[
                {"binding": number, "resource": {"buffer": b, "offset": offset, "size": size}}
                for number, (b, offset, size) in enumerate(resources)
            ],
        )

    def _buffer(self, nbytes: int, usage: str) -> Any:
        import wgpu  # noqa: PLC0415 - loaded by whoever made the device

        flags = wgpu.BufferUsage
        return self.device.handle.create_buffer(
            size=nbytes, usage=getattr(flags, usage) | flags.COPY_DST | flags.COPY_SRC
        )


def facts_of(run: KernelRun, part: Part) -> Facts:
    """Facts about the arguments of one part that a shader may rely on."""
    kernel, lane_part = run.kernel, run.kernel.body[-1].op == "lanes"
    origins = {name: window.origin for name, window in part.windows.items()}
    multiples = {name for name, number in run.indices.items() if number % FACTOR == 0}
    shifted = {name for name, origin in origins.items() if origin}
    multiples |= {name for name in shifted if origins[name] % FACTOR == 0}
    contract = contract_of(kernel.body[-1])
    extents = set() if contract is None else {each.number for each in contract.args[:3]}
    products = [name for name, value in kernel.arguments.items() if value.number in extents]
    return Facts(
        frozenset(multiples),
        frozenset(shifted),
        _shared(kernel, run.arrays),
        aligned_part=not lane_part or part.lo % FACTOR == 0,
        whole_part=lane_part and (part.hi - part.lo) % FACTOR == 0,
        slices=frozenset(n for n in products if _fills(run.indices[n], SLICE)),
        tiles=frozenset(n for n in products if _fills(run.indices[n], TILE)),
        starts=frozenset((n, Start.of(run.indices[n])) for n in starts_of_windows(kernel)),
    )


def _fills(extent: int, whole: int) -> bool:
    return extent > 0 and extent % whole == 0


def _shared(kernel: Kernel, arrays: Mapping[str, DeviceArray]) -> frozenset[str]:
    """Buffers in the same memory as another one that is written."""
    buffers = [p for p in kernel.parameters if isinstance(p, Buffer)]
    written = {p.name for p in buffers if p.written}
    names = {p.name for p in buffers}
    return frozenset(
        name
        for name in names
        for other in names - {name}
        if arrays[name].buffer is arrays[other].buffer and written & {name, other}
    )


def _key(run: KernelRun) -> tuple[object, ...]:
    """Return the key by which the forms of a run are found: kernel, extents, array layouts."""
    first: dict[int, int] = {}
    places = tuple(
        [
            (array.size, array.origin, first.setdefault(id(array.buffer), number))
            for number, array in enumerate(run.arrays.values())
        ]
    )
    return run.kernel, run.part, run.schedule, places, tuple(run.indices.items())


def _groups(count: int) -> tuple[int, int, int]:
    """At least so many workgroups of a dispatch, in two dimensions where one is full."""
    rows = -(-count // _MOST_GROUPS)
    return -(-count // rows), rows, 1


def _whole(argument: object) -> int:
    assert isinstance(argument, int | np.integer), "an index scalar is a whole number"
    return int(argument)
