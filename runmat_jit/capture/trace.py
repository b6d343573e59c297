"""A published trace: what must hold, what runs, what comes back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from runmat_jit.capture.lines import Line, call_at
from runmat_jit.capture.pytree import take_apart, write_back
from runmat_jit.capture.tape import Entry, Guard, Nest, Op, Read, Ref, Return, build
from runmat_jit.core.protocols import EventsRaise, Program
from runmat_jit.ops.promotion import fits
from runmat_jit.runtime.arrays import adopted, host_written, to_host


class Stale(Exception):  # noqa: N818  (a signal to record anew, never seen by users)
    """The trace does not hold for this call; nothing has been written."""


@dataclass(frozen=True, slots=True)
class Batch:
    """A compiled stretch of operations.

    ``inputs`` lists, for each graph input, the slot and (for scalars) the dtype to cast to;
    ``outputs`` the slots of the fresh arrays and whether each is a NumPy scalar.
    """

    program: Program
    inputs: tuple[tuple[int, np.dtype | None], ...]
    outputs: tuple[tuple[int, bool], ...]
    warn: frozenset[str]
    writes: bool

    def run(self, slots: list[Any]) -> None:
        """Read slots, run, fill slots."""
        values = [
            slots[slot] if dtype is None else scalar_of(slots[slot], dtype)
            for slot, dtype in self.inputs
        ]
        results = self.program.run(values, self.warn)
        for (slot, generic), result in zip(self.outputs, results, strict=False):
            slots[slot] = result[()] if generic else result


def scalar_of(value: Any, dtype: np.dtype) -> np.ndarray:
    """A scalar operand in the dtype that the operation computes with, as a 0-d array.

    Raises:
        Stale: a Python number does not fit: NumPy raises or warns, at the user's line.

    """
    if type(value) in (int, float) and not fits(value, dtype):
        raise Stale("a number does not fit the dtype it is used with")
    return np.asarray(value).astype(dtype)


@dataclass(frozen=True, slots=True)
class Fits:
    """Finds out, before anything is written, that a Python number fits where it is used later."""

    slot: int
    dtype: np.dtype
    writes: bool = False

    def run(self, slots: list[Any]) -> None:
        """Look at the number."""
        scalar_of(slots[self.slot], self.dtype)


@dataclass(frozen=True, slots=True)
class Call:
    """Something NumPy or Python runs at replay: a host call, a view, scalar arithmetic.

    ``check`` says whether the results, given with the arguments, are what the rest of the trace was
    recorded for; ``line`` is where the user called it, for NumPy's warnings.
    """

    op: Op
    check: Callable[[Any, tuple[Any, ...]], bool] | None = None
    line: Line | None = None
    writes: bool = False

    def run(self, slots: list[Any]) -> None:
        """Run the call and spread its results over their slots."""
        op = self.op
        args = tuple([build(arg, slots) for arg in op.args])
        kwargs = {name: build(arg, slots) for name, arg in op.kwargs.items()}
        result = call_at(self.line, op.fn, args, kwargs)
        if self.check is not None and not self.check(result, args):
            raise Stale(f"another structure of {op}")
        spread(op.out, result, slots)


@dataclass(frozen=True, slots=True)
class Settle:
    """Brings what a call of the host needs from a device; ``host_writes``: it may write it."""

    slots: tuple[int, ...]
    host_writes: bool
    writes: bool = False

    def run(self, slots: list[Any]) -> None:
        """Bring the contents of arrays to the host."""
        for slot in self.slots:
            to_host(slots[slot])
            if self.host_writes:
                host_written(slots[slot])


@dataclass(frozen=True, slots=True)
class Adopt:
    """Gives new arrays of a call of the host a residence, so that they may go to a device."""

    slots: tuple[int, ...]
    writes: bool = False

    def run(self, slots: list[Any]) -> None:
        """Put arrays on the same memory in their place."""
        for slot in self.slots:
            if type(slots[slot]) is np.ndarray:
                slots[slot] = fresh_adopted(slots[slot])


def fresh_adopted(array: np.ndarray) -> np.ndarray:
    """An array that NumPy has just made, on memory of a residence; others as they are."""
    return adopted(array) if array.base is None and array.flags.writeable else array


def spread(template: Any, value: Any, slots: list[Any]) -> None:
    """Put a result into the slots that its template names."""
    if template is None:
        return
    if type(template) is Ref:
        slots[template.slot] = value
    elif type(template) is Nest:
        children = value.values() if isinstance(value, dict) else value
        for item, child in zip(template.items, children, strict=True):
            spread(item, child, slots)


def brought(value: Any) -> Any:
    """A container that the caller sees, with the contents of its arrays on the host."""
    apart = take_apart(value)
    if apart is None:
        to_host(value)
    else:
        for child in apart[1]:
            brought(child)
    return value


Step = Batch | Call | Fits | Settle | Adopt


@dataclass(slots=True)
class Trace:
    """A recorded call that may be repeated without Python."""

    leaves: int
    size: int
    reads: tuple[Read, ...]
    guards: tuple[Guard, ...]
    early: tuple[Step, ...]
    steps: tuple[Step, ...]
    result: Return
    entries: list[Entry]
    writes: bool
    """Whether it writes to arrays that exist outside."""
    hits: int = 0
    failed: str = ""

    def holds(self, slots: list[Any]) -> bool:
        """Check guards on arguments, then read and check outside state, filling its slots."""
        for guard in self.guards:
            if not guard.holds(slots[guard.slot]):
                self.failed = str(guard)
                return False
        for read in self.reads:
            try:
                value = read.get(slots)
                held = read.holds(value, slots)
            except Exception:  # noqa: BLE001  (a read may raise anything: the trace does not hold)
                held = False
            if not held:
                self.failed = str(read)
                return False
            slots[read.slot] = value
        return True

    def replay(self, slots: list[Any]) -> Any:
        """Run the steps; write changed containers back; give the result.

        Raises:
            Stale: something differs from the recording, or raises an exception, which Python is
                to raise; nothing was written.
            EventsRaise: warnings are exceptions and there is one; nothing was written.

        """
        done = 0
        try:
            for step in self.early:
                step.run(slots)
            for step in self.steps:
                step.run(slots)
                done += 1
        except (Stale, EventsRaise):
            raise
        except Exception as error:
            if any(step.writes for step in self.steps[:done]):
                raise
            raise Stale(f"{type(error).__name__}: {error}") from error
        for slot, template in self.result.write_backs:
            write_back(slots[slot], brought(build(template, slots)))
        return build(self.result.tree, slots)
