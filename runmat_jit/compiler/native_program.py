"""A compiled graph: runs kernels and host calls on arrays, reports events, commits writes."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from runmat_jit.compiler.blocks import Blocks
from runmat_jit.compiler.events import AT_FIRST, Watch, Way
from runmat_jit.compiler.host_step import HostStep, show
from runmat_jit.compiler.native_code import Bound, NativeCode, Pick, picker
from runmat_jit.plan.layout import Commit
from runmat_jit.plan.profile import Profile
from runmat_jit.runtime.session import Session

Numbered = tuple[int, Bound, Pick, bool]
"""A launch: its number, what picks its arrays, and whether it is for several threads."""
Stage = tuple[tuple[HostStep, ...], tuple[Numbered, ...]]
"""Host calls, and the launches between them and the next ones."""


class NativeProgram:
    """Kernels and host calls in order over numbered memory; safe to run from several threads."""

    def __init__(
        self, session: Session, code: NativeCode, watch: Watch, way: Way = AT_FIRST
    ) -> None:
        self.code, self.blind = code, code.blind
        self.watch, self.way = watch, way
        self._always = way[0] == "each"
        self._writes = bool(code.layout.copies or code.layout.commits)
        self.layout, self.launches = code.layout, code.launches
        self.nbytes = sum(launch.nbytes for launch in self.launches)
        self.numbers = self.layout.places
        self._count, self._count_run = session.telemetry.count, session.telemetry.count_run
        self._launch = session.launcher.run
        self._empty = session.allocator.empty
        self._blocks: list[Blocks] = []
        self.stages = stages(code, session.profile)
        self.size = len(self.layout.buffers) + len(code.tables) + self.layout.inputs
        self._fresh = picker(self.layout.fresh)

    def run(self, inputs: Sequence[Any], warn: frozenset[str]) -> list[np.ndarray]:
        """Run on one array (0-d for scalars) for each input; give the fresh results.

        Raises:
            EventsRaise: an event occurred while the warnings filters raise; nothing was written.

        """
        warn = warn & self.watch.possible
        other = self.watch.program
        if other is not None and other is not self and warn:
            return other.run(inputs, warn)
        memory, word = self._compute(inputs)
        if warn and (word or self.blind or self._always):
            self.report(word, inputs, warn)
        return self.finish(memory) if self._writes else list(self._fresh(memory))

    def noted(self, inputs: Sequence[Any]) -> int:
        """What its kernels note of these inputs."""
        return self._compute(inputs)[1]

    def _compute(self, inputs: Sequence[Any]) -> tuple[list[Any], int]:
        """The memory after a run, and the word in which it noted events."""
        memory = self.allocate(inputs)
        try:
            blocks = self._blocks.pop()
        except IndexError:
            blocks = Blocks(self.launches)
        for calls, launches in self.stages:
            for call in calls:
                if call.run(memory, self._empty):
                    blocks.word[0] |= 1
            self._run_kernels(memory, blocks, launches)
        self._count_run(len(self.launches), self.nbytes)
        word = int(blocks.word[0])
        blocks.word[0] = 0
        self._blocks.append(blocks)
        return memory, word

    def allocate(self, inputs: Sequence[Any]) -> list[Any]:
        """The memory of one run: the inputs, the tables, and new buffers."""
        memory = [*inputs, *self.code.tables]
        empty = self._empty
        for buffer in self.layout.buffers:
            if buffer.returned:
                memory.append(None)
            elif buffer.shares is not None:
                memory.append(memory[buffer.shares])
            elif buffer.sizes:
                memory.append(empty((max(buffer.sizes),), BYTE))
            elif buffer.nbytes < SMALL and buffer.strides is None:
                memory.append(np.empty(buffer.shape, buffer.dtype))
            else:
                memory.append(empty(buffer.shape, buffer.dtype, buffer.strides))
        return memory

    def finish(self, memory: list[Any]) -> list[np.ndarray]:
        """Commit writes, give the fresh results of computed memory."""
        for source, target in self.layout.copies:
            memory[target][...] = memory[source]
        for commit in self.layout.commits:
            write(memory[commit.input], memory[commit.source], commit)
        return list(self._fresh(memory))

    def _run_kernels(
        self, memory: Sequence[np.ndarray], blocks: Blocks, launches: Sequence[Numbered]
    ) -> None:
        launch, addresses, offsets = self._launch, blocks.addresses, blocks.offset_addresses
        for number, bound, pick, parallel in launches:
            for slot, place in bound.scalars:
                blocks.set_scalar(number, slot, memory[place])
            arrays = pick(memory)
            shift = offsets[number]
            given = bound.address, arrays, addresses[number], bound.total, bound.grain, parallel
            if shift is None:
                launch(*given)
            else:
                launch(*given, shift)

    def report(self, word: int, inputs: Sequence[Any], warn: frozenset[str]) -> None:
        """Report the events of a run that noted ``word``."""
        if self.blind:
            self.watch.ask(inputs, warn)
        else:
            self.watch.report(self.way, word, inputs, warn)


def stages(code: NativeCode, profile: Profile) -> tuple[Stage, ...]:
    """A program's steps in order."""
    numbered = tuple(
        (number, bound, picker(bound.places), bound.is_parallel(profile))
        for number, bound in enumerate(code.launches)
    )
    starts = sorted({0, *(call.before for call in code.calls)})
    return tuple(
        (tuple(call for call in code.calls if call.before == first), numbered[first:end])
        for first, end in pairwise([*starts, len(numbered)])
    )


SMALL = 1 << 17
"""Bytes from which memory is recycled."""
BYTE = np.dtype(np.uint8)


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
    return show(target, target.dtype, commit.offset, commit.shape, commit.strides)
