"""A published trace: what must hold, what runs, what comes back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from runmat_jit.capture.pytree import write_back
from runmat_jit.capture.tape import Entry, Guard, Op, Read, Return, build
from runmat_jit.core.protocols import Program


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
        OverflowError: a Python integer does not fit, as in NumPy.

    """
    if type(value) is int and dtype.kind in "iu":
        return np.asarray(dtype.type(value))
    return np.asarray(value).astype(dtype)


@dataclass(frozen=True, slots=True)
class Call:
    """Something NumPy or Python runs at replay: a host call, a view, scalar arithmetic.

    ``check`` says whether the results are what the rest of the trace was recorded for.
    """

    op: Op
    check: Callable[[Any], bool] | None = None

    def run(self, slots: list[Any]) -> None:
        """Run the call and spread its results over their slots."""
        op = self.op
        args = [build(arg, slots) for arg in op.args]
        kwargs = {name: build(arg, slots) for name, arg in op.kwargs.items()}
        result = op.fn(*args, **kwargs)
        if self.check is not None and not self.check(result):
            raise Stale
        spread(op.out, result, slots)


def spread(template: Any, value: Any, slots: list[Any]) -> None:
    """Put a result into the slots that its template names."""
    if template is None:
        return
    if hasattr(template, "slot"):
        slots[template.slot] = value
    elif hasattr(template, "items"):
        children = value.values() if isinstance(value, dict) else value
        for item, child in zip(template.items, children, strict=True):
            spread(item, child, slots)


Step = Batch | Call


@dataclass(slots=True)
class Trace:
    """A recorded call that may be repeated without Python."""

    leaves: int
    size: int
    reads: tuple[Read, ...]
    guards: tuple[Guard, ...]
    steps: tuple[Step, ...]
    result: Return
    entries: list[Entry]
    hits: int = 0
    unsafe: bool = False
    """Whether a step after a write may turn out stale, so that it must not be replayed."""
    failed: str = ""
    simple: tuple[int, ...] | None = field(default=None)

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
            Stale: a result differs in structure from the recorded one; nothing was written.

        """
        for step in self.steps:
            step.run(slots)
        for slot, template in self.result.write_backs:
            write_back(slots[slot], build(template, slots))
        return build(self.result.tree, slots)
