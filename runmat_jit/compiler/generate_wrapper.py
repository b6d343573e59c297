"""The wrapper of a program whose numbers are formulas: one Python function of the extents.

The function does what ``NativeProgram.run`` does, with every number computed where it is needed::

    def run(inputs, warn, s0):
        if s0 < 8: return None
        f0 = s0 * 4
        m0, = inputs
        m1 = empty((s0,), d1) if f0 < 131072 else allocate((s0,), d1)
        try: blocks = idle.pop()
        except IndexError: blocks = make()
        pack0(blocks.words[0], 16, s0)
        parallel = s0 > 2688 or f0 > 80000
        launch(139641217, (m0, m1), blocks.addresses[0], s0, 16384, parallel)
        count_run(1, f0)
        happened = blocks.word[0]
        if happened: blocks.word[0] = 0
        idle.append(blocks)
        if (happened or False) and warn: report(inputs, warn, (s0,))
        return [m1]
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, cast

import numpy as np

from runmat_jit.compiler.blocks import Blocks, is_shifted
from runmat_jit.compiler.host_step import (
    HostArray,
    HostNumber,
    HostScalar,
    HostStep,
    laid_out,
    multiplied,
    show,
)
from runmat_jit.compiler.native_code import Bound, NativeCode
from runmat_jit.compiler.native_program import BYTE, SMALL, write
from runmat_jit.core.extent import Extent, Scope
from runmat_jit.ops.host_call import watched
from runmat_jit.ops.product import Product
from runmat_jit.plan.layout import Buffer, Commit
from runmat_jit.plan.notes import is_event
from runmat_jit.plan.profile import Profile
from runmat_jit.runtime.session import Session

Run = Callable[..., "list[np.ndarray] | None"]
"""Takes inputs, events to warn of, and the extents; None where a condition fails."""
Report = Callable[[Sequence[Any], frozenset[str], tuple[int, ...]], None]
"""Finds and reports the events of a run."""


def generate_wrapper(
    session: Session, scope: Scope, code: NativeCode, report: Report, *, tells: bool = False
) -> Run:
    """The function that runs a program of extents; safe to call from several threads.

    ``tells``: not every note that its kernels leave is an event.
    """
    layout, launches = code.layout, code.launches
    text = _Text(scope, code, session.profile, tells=tells)
    idle: list[Blocks] = []
    names: dict[str, Any] = {
        "idle": idle,
        "make": partial(Blocks, launches),
        "report": report,
        "is_event": is_event,
        "launch": session.launcher.run,
        "count_run": session.telemetry.count_run,
        "empty": np.empty,
        "allocate": session.allocator.empty,
        "byte": BYTE,
        "write": write,
        "show": show,
        "laid_out": laid_out,
        "watched": watched,
        "multiplied": multiplied,
        "Commit": Commit,
        **{f"m{layout.inputs + n}": array for n, array in enumerate(code.tables)},
        **{f"d{buffer.place}": buffer.dtype for buffer in layout.buffers},
        **operand_names(code),
        **{f"call{n}": step.call.fn for n, step in enumerate(code.calls)},
        **{f"pack{n}": packer(launch.block) for n, launch in enumerate(launches)},
        **{f"shift{n}": packer(launch.offsets) for n, launch in enumerate(launches)},
    }
    exec("\n".join(text.lines()), names)  # noqa: S102  (text of numbers and names, made below)
    return cast("Run", names["run"])


def operand_names(code: NativeCode) -> dict[str, Any]:
    """Constants and dtypes that host calls are given."""
    names: dict[str, Any] = {}
    for number, step in enumerate(code.calls):
        for n, operand in enumerate(step.operands):
            if isinstance(operand, HostNumber):
                names[f"k{number}_{n}"] = operand.value
                names[f"t{number}_{n}"] = operand.dtype.type
            elif isinstance(operand, HostArray):
                names[f"t{number}_{n}"] = operand.dtype
    return names


def packer(numbers: Sequence[int]) -> Callable[..., None]:
    """A function that stores as many int64 in an array, from a byte offset on."""
    return struct.Struct(f"{len(numbers)}q").pack_into


class _Text:
    """Writes the function; ``m<place>`` is an array of the program's memory."""

    def __init__(self, scope: Scope, code: NativeCode, profile: Profile, *, tells: bool) -> None:
        self.scope, self.code, self.tells, self.profile = scope, code, tells, profile
        self.most_bytes = profile.parallel_from_bytes
        self.layout, self.launches = code.layout, code.launches
        self.nbytes = sum(launch.nbytes for launch in self.launches)

    def lines(self) -> Iterator[str]:
        """The whole function."""
        symbols = "".join(f"s{number}, " for number in range(self.scope.symbols))
        yield f"def run(inputs, warn, {symbols}):"
        yield from (f"    {line}" for line in self.body(symbols))

    def body(self, symbols: str) -> Iterator[str]:
        layout = self.layout
        yield from self.scope.lines([*numbers_of(self.code), self.nbytes])
        if layout.inputs:
            yield f"{self.arrays(range(layout.inputs))} = inputs"
        yield from (self.memory(buffer) for buffer in layout.buffers if not buffer.returned)
        yield "try: blocks = idle.pop()"
        yield "except IndexError: blocks = make()"
        calls = list(enumerate(self.code.calls))
        for number, launch in enumerate(self.launches):
            while calls and calls[0][1].before <= number:
                yield from self.host_call(*calls.pop(0))
            yield from self.launch(number, launch)
        for number, call in calls:
            yield from self.host_call(number, call)
        yield f"count_run({len(self.launches)}, {self.name(self.nbytes)})"
        yield "happened = blocks.word[0]"
        yield "if happened: blocks.word[0] = 0"
        yield "idle.append(blocks)"
        if self.tells:
            yield "happened = is_event(happened)"
        yield f"if (happened or {self.code.blind}) and warn: report(inputs, warn, ({symbols}))"
        yield from (f"m{target}[...] = m{source}" for source, target in layout.copies)
        yield from map(self.commit, layout.commits)
        yield f"return [{self.arrays(layout.fresh)}]"

    def memory(self, buffer: Buffer) -> str:
        """An array that a run makes; large ones of recycled memory."""
        made = f"m{buffer.place}"
        if buffer.shares is not None:
            return f"{made} = m{buffer.shares}"
        if buffer.sizes:
            return f"{made} = allocate((max({self.names(buffer.sizes)}),), byte)"
        arguments = f"{self.names(buffer.shape)}, d{buffer.place}"
        if buffer.strides is not None:
            return f"{made} = allocate({arguments}, {self.names(buffer.strides)})"
        small = f"empty({arguments}) if {self.name(buffer.nbytes)} < {SMALL}"
        return f"{made} = {small} else allocate({arguments})"

    def launch(self, number: int, launch: Bound) -> Iterator[str]:
        """One kernel: its numbers, scalars by value, and the call."""
        for function, block, first, numbers in (
            ("pack", "words", len(launch.places), launch.block),
            ("shift", "offsets", 0, launch.offsets),
        ):
            if any(isinstance(each, Extent) for each in numbers):
                listed = ", ".join(map(self.name, numbers))
                yield f"{function}{number}(blocks.{block}[{number}], {8 * first}, {listed})"
        for slot, place in launch.scalars:
            yield f"blocks.set_scalar({number}, {slot}, m{place})"
        total, nbytes = self.name(launch.total), self.name(launch.nbytes)
        shift = f", blocks.offset_addresses[{number}]" if is_shifted(launch) else ""
        most, most_bytes = self.profile.most_serial(launch.iteration_us), self.most_bytes
        yield f"parallel = {total} > {most} or {nbytes} > {most_bytes}"
        yield (
            f"launch({launch.address}, ({self.arrays(launch.places)}), "
            f"blocks.addresses[{number}], {total}, {self.name(launch.grain)}, parallel{shift})"
        )

    def host_call(self, number: int, step: HostStep) -> Iterator[str]:
        """A call of the host: its operands, and where its result goes."""
        yield from (f"m{place} = None" for place in step.idle)
        operands = [self.operand(f"{number}_{n}", each) for n, each in enumerate(step.operands)]
        strides = None if step.strides is None else self.names(step.strides)
        lies = f"d{step.place}, {self.names(step.shape)}, {strides}, allocate"
        if step.reports:
            called = f"call{number}"
            if isinstance(step.call.fn, Product):
                shape, dtype = self.names(step.shape), f"d{step.place}"
                operands, called = [called, shape, dtype, "allocate", *operands], "multiplied"
            listed = "".join(f"{operand}, " for operand in operands)
            yield f"value, happened = watched({called}, ({listed}))"
            yield "if happened: blocks.word[0] |= 1"
            yield f"m{step.place} = laid_out(value, {lies})"
        else:
            yield f"m{step.place} = laid_out(call{number}({', '.join(operands)}), {lies})"

    def operand(self, suffix: str, operand: HostArray | HostScalar | HostNumber) -> str:
        """What a host call is given."""
        if isinstance(operand, HostScalar):
            return f"m{operand.place}[()]"
        if isinstance(operand, HostNumber):
            if isinstance(operand.value, np.generic):
                return f"k{suffix}"
            return f"t{suffix}({self.name(operand.value)})"
        if operand.strides is None:
            return f"m{operand.place}"
        numbers = f"{self.name(operand.offset)}, {self.names(operand.shape)}"
        return f"show(m{operand.place}, t{suffix}, {numbers}, {self.names(operand.strides)})"

    def commit(self, commit: Commit) -> str:
        """A write into an input."""
        numbers = f"{self.name(commit.offset)}, {self.names(commit.shape)}"
        numbers += f", {self.names(commit.strides)}, {commit.whole}"
        made = f"Commit({commit.source}, {commit.input}, {numbers})"
        return f"write(m{commit.input}, m{commit.source}, {made})"

    def arrays(self, places: Sequence[int]) -> str:
        return "".join(f"m{place}, " for place in places)

    def names(self, numbers: Sequence[int]) -> str:
        return f"({''.join(f'{self.name(number)}, ' for number in numbers)})"

    def name(self, number: int) -> str:
        return self.scope.name(number)


def numbers_of(code: NativeCode) -> Iterator[int]:
    """Every number of a program that depends on extents, in a fixed order."""
    layout = code.layout
    for buffer in layout.buffers:
        yield from (*buffer.shape, *(buffer.strides or ()), buffer.nbytes)
    for commit in layout.commits:
        yield from (commit.offset, *commit.shape, *commit.strides)
    for call in code.calls:
        yield from (*call.shape, *(call.strides or ()))
        yield from (number for operand in call.operands for number in numbers_of_operand(operand))
    for launch in code.launches:
        yield from (*launch.offsets, *launch.block, launch.total, launch.grain, launch.nbytes)


def numbers_of_operand(operand: HostArray | HostScalar | HostNumber) -> tuple[int, ...]:
    """The numbers of what a host call is given."""
    if isinstance(operand, HostArray):
        return operand.offset, *operand.shape, *(operand.strides or ())
    if isinstance(operand, HostNumber) and not isinstance(operand.value, np.generic):
        return (operand.value,)
    return ()
