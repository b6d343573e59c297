"""A compiled graph: runs its kernels on given arrays, reports events, commits writes."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from runmat_jit.compiler.binding import Bound, picker
from runmat_jit.compiler.blocks import Blocks
from runmat_jit.core.errstate import warnings_raise
from runmat_jit.core.frozen import frozen
from runmat_jit.core.protocols import EventsRaise
from runmat_jit.core.source import SourceLine
from runmat_jit.graph.node import Node
from runmat_jit.runtime.arrays import Shown
from runmat_jit.runtime.session import Session

if TYPE_CHECKING:
    from runmat_jit.backends.reference.events import EventReport


@frozen
class Buffer:
    """Memory that a run makes: byte strides None for C order; ``place`` is its number."""

    place: int
    shape: tuple[int, ...]
    dtype: np.dtype
    strides: tuple[int, ...] | None
    nbytes: int
    shares: int | None = None
    """The place of a buffer of lower number on whose memory it lies."""
    sizes: tuple[int, ...] = ()
    """Bytes of all that lie on its memory, where they differ; no more than bytes is it then."""


@frozen
class Commit:
    """A write into an input after everything has been computed; strides in bytes."""

    source: int
    input: int
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    whole: bool


class EventSource(Protocol):
    """Finds which operations of a graph raise floating-point events on these inputs."""

    def __call__(self, inputs: Sequence[Any], warn: frozenset[str]) -> Sequence[EventReport]: ...


@frozen
class Layout:
    """What a program's memory holds, by number: inputs first, then constants and buffers."""

    inputs: int
    constants: tuple[np.ndarray, ...]
    buffers: tuple[Buffer, ...]
    fresh: tuple[int, ...]
    copies: tuple[tuple[int, int], ...]
    """Results that are an input or another result: copied from, to."""
    commits: tuple[Commit, ...]


class NativeProgram:
    """Kernels in order over a numbered memory; safe to run from several threads.

    ``blind``: a kernel may run over nothing, and so not see an event of a scalar that it computes.
    """

    def __init__(
        self,
        session: Session,
        layout: Layout,
        launches: Sequence[Bound],
        events: EventSource,
        places: Mapping[Node, int],
        *,
        blind: bool,
    ) -> None:
        self.blind = blind
        self.layout, self.launches = layout, tuple(launches)
        self.nbytes = sum(launch.nbytes for launch in launches)
        self.numbers = places
        self._count, self._count_run = session.telemetry.count, session.telemetry.count_run
        self._launch = session.launcher.run
        self._empty = session.allocator.empty
        self._events = events
        self._blocks: list[Blocks] = []
        self._numbered = tuple(
            (number, bound, picker(bound.places), bound.parallel)
            for number, bound in enumerate(self.launches)
        )
        self._fresh = picker(layout.fresh)

    def run(self, inputs: Sequence[Any], warn: frozenset[str]) -> list[np.ndarray]:
        """Run on one array (0-d for scalars) for each input; give the fresh results.

        Raises:
            EventsRaise: an event occurred while the warnings filters raise; nothing was written.

        """
        memory = self.allocate(inputs)
        try:
            blocks = self._blocks.pop()
        except IndexError:
            blocks = Blocks(self.launches)
        self._run_kernels(memory, blocks)
        happened = bool(blocks.word[0])
        blocks.word[0] = 0
        self._blocks.append(blocks)
        return self.finish(inputs, memory, warn, happened=happened)

    def allocate(self, inputs: Sequence[Any]) -> list[Any]:
        """The memory of one run: the inputs, the constants, and new buffers."""
        layout = self.layout
        memory = [*inputs, *layout.constants]
        empty = self._empty
        for buffer in layout.buffers:
            if buffer.shares is not None:
                memory.append(memory[buffer.shares])
            elif buffer.sizes:
                memory.append(empty((max(buffer.sizes),), BYTE))
            elif buffer.nbytes < SMALL and buffer.strides is None:
                memory.append(np.empty(buffer.shape, buffer.dtype))
            else:
                memory.append(empty(buffer.shape, buffer.dtype, buffer.strides))
        return memory

    def finish(
        self, inputs: Sequence[Any], memory: list[Any], warn: frozenset[str], *, happened: bool
    ) -> list[np.ndarray]:
        """Report events, commit writes, give the fresh results of computed memory (as ``run``)."""
        if (happened or self.blind) and warn:
            self.report(inputs, warn)
        for source, target in self.layout.copies:
            memory[target][...] = memory[source]
        for commit in self.layout.commits:
            write(memory[commit.input], memory[commit.source], commit)
        return list(self._fresh(memory))

    def _run_kernels(self, memory: Sequence[np.ndarray], blocks: Blocks) -> None:
        launch, addresses, offsets = self._launch, blocks.addresses, blocks.offset_addresses
        for number, bound, pick, parallel in self._numbered:
            for slot, place in bound.scalars:
                blocks.set_scalar(number, slot, memory[place])
            arrays = pick(memory)
            shift = offsets[number]
            if shift is None:
                launch(
                    bound.address,
                    arrays,
                    addresses[number],
                    bound.total,
                    bound.grain,
                    parallel,
                )
            else:
                launch(
                    bound.address,
                    arrays,
                    addresses[number],
                    bound.total,
                    bound.grain,
                    parallel,
                    shift,
                )
        self._count_run(len(self.launches), self.nbytes)

    def report(self, inputs: Sequence[Any], warn: frozenset[str]) -> None:
        self._count("events_checked")
        report(self._events(inputs, warn))


SMALL = 1 << 17
"""Bytes from which memory is recycled."""
BYTE = np.dtype(np.uint8)


def report(found: Sequence[EventReport]) -> None:
    """Warn as NumPy does, at the user's lines.

    Raises:
        EventsRaise: the warnings filters raise; nothing has been reported.

    """
    if found and warnings_raise():
        raise EventsRaise
    for each in found:
        warn_at(each.message, each.line)


def warn_at(message: str, line: SourceLine | None) -> None:
    """Issue a RuntimeWarning at a line of the user's code."""
    if line is None:
        warnings.warn(message, RuntimeWarning, stacklevel=2)
        return
    module = line.namespace() or {}
    warnings.warn_explicit(
        message,
        RuntimeWarning,
        line.filename,
        line.line,
        module=line.module or None,
        registry=module.setdefault("__warningregistry__", {}),
    )


def write(target: np.ndarray, value: np.ndarray, commit: Commit) -> None:
    """Copy a value into its place in an input array."""
    if commit.whole:
        target[...] = value
        return
    if not value.size:
        return
    show_at(target, commit)[...] = value


def show_at(target: np.ndarray, commit: Commit) -> np.ndarray:
    """The part of ``target``'s memory that a commit writes."""
    interface = dict(target.__array_interface__)
    address, _ = interface["data"]
    interface.update(
        data=(address + commit.offset, False), shape=commit.shape, strides=commit.strides
    )
    return np.asarray(Shown(interface, target))
