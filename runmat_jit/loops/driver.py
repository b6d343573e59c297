"""Runs of a loop in plain execution.

Where it may not run natively, or leaves, it runs in Python from its beginning. Traced:
``capture.record.native_loops``.
"""

from __future__ import annotations

import ast
import types
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import repeat
from operator import length_hint
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from runmat_jit.core.epoch import DISABLED
from runmat_jit.core.hotness import FAILURES, LOOKS
from runmat_jit.core.prices import ELEMENTS, LOOP_PAYS
from runmat_jit.core.watching import is_watched
from runmat_jit.loops.objects import put_back
from runmat_jit.loops.reads import Found, find, outside, variables_of
from runmat_jit.loops.source import Chain, LoopSource

if TYPE_CHECKING:
    from runmat_jit.loops.program import LoopCall

LONG: Final = 2000
"""Operations of Python's in a run that is worth a look each time."""


class PlainLoop:
    """A loop of a function that is not recorded.

    One that has not run natively some times in a row is looked at now and then only.
    """

    def __init__(self, hooks: Any, number: int) -> None:
        self.source: LoopSource = hooks.loops[number]
        self.name, self.converter = hooks.fn.__qualname__, hooks.converter
        self.outside, self.free = partial(outside, hooks), hooks.cells
        self.loops = hooks.executor.loops()
        self.declined = self.rest = self.skipped = 0
        """Looks in a row that did not run it natively; calls until the next one, since the last."""
        self.asked = self.runs = 0
        """Calls, and native runs of them, since :meth:`begin`."""
        self.is_inner = any(self.source.is_within(other) for other in hooks.loops)
        """True if it stands in a loop that may run natively, too: that one is compiled first."""
        self.evidence = hooks.plain.evidence
        self.unpaid = 0 if self.evidence is None else LOOP_PAYS * (1 + self.is_inner)
        """Operations of Python's that it has still to run before it is compiled."""
        self._unpaid = self.unpaid
        self.per_iteration = 1
        """Operations of Python's in an iteration, about."""
        self.iterations = 0
        """Iterations of the last run of a ``while``."""
        plain, node = self.is_inner or self.evidence is None, self.source.node
        self._has_head = isinstance(node, ast.While) and not (plain or node.orelse)
        self.few = 0
        """Iterations of a compiled ``while`` in Python, since the last runs have ended before."""
        self._head: tuple[Iterator[tuple[()]], int] | None = None
        """Iterations of a ``while`` that are counted: those left, and how many there were."""
        self.last: tuple[Any, LoopCall] | None = None
        """What it read when it was last looked at, and the loop that reads that."""

    def run(self, frame: types.FrameType) -> tuple[tuple[Any, ...], ...]:
        """The values that the loop leaves in its variables, in a tuple; empty: it has not run."""
        self.asked += 1
        self._count()
        if self.rest or self.loops is None or DISABLED.depth or is_watched():
            self.rest -= self.rest > 0
            self.skipped += 1
            return ()
        self.declined += 1
        self.rest = LOOKS - 1 if self.declined >= FAILURES else 0
        variables, free = variables_of(frame), self.free
        found = find(self.source, variables, self.outside, self.converter, free=free, packs=True)
        call, operands = self.call_of(found), found.operands
        iterations = max(self.iterations, call.turns)
        from runmat_jit.loops.sites import is_enough, iterations_enough  # noqa: PLC0415  (loaded)

        counted = self._has_head and self.unpaid <= 0 < iterations
        self.few = 0
        if not is_enough(call, operands, unknown=iterations, counted=counted):
            self.few = iterations_enough(call, operands) if counted else 0
            return ()
        pays, work = self.pays(call, operands), call.expected_turns * self.per_iteration
        if not pays or call.times.leaves(work, call.expected):
            call.times.begin(frame, work)
            return ()
        values, kernels, start = tuple(operands.values()), call.kernels, call.times.clock()
        result = call.attempt(values)
        if result is None:
            return ()
        if call.kernels == kernels:
            call.times.ran(work, start)
        self.declined, self.rest, self.runs = 0, 0, self.runs + 1
        if self.evidence is not None and self.evidence.work is not None:
            self.evidence.work.has_native_loops = True
        self.iterations = 0
        call.append(result, values)
        put_back(found.packs, call)
        return (call.merged(result, values),)

    def ended(self, frame: types.FrameType) -> None:
        """Note that Python has run the loop to its end."""
        if self.last is not None:
            self.last[1].times.end(frame)

    def head(self) -> Iterable[tuple[()]]:
        """Return an iterable of the iterations that a ``while`` runs before it is asked again."""
        count = 1 + self.unpaid // self.per_iteration if self.unpaid > 0 else self.few
        if not count or self.loops is None:
            return ()
        self._head = repeat((), count), count
        return self._head[0]

    def again(self, frame: types.FrameType) -> tuple[tuple[Any, ...], ...]:
        """Run what is left of a ``while``, as :meth:`run`, if all of its head has run."""
        if self._head is None or length_hint(self._head[0]):
            return ()
        self.rest = 0
        return self.run(frame)

    def _count(self) -> None:
        """Count the iterations of the last ``while`` in Python."""
        if self._head is None:
            return
        left, count = self._head
        self.iterations, self._head = count - length_hint(left), None
        work = self.iterations * self.per_iteration
        if work >= LONG and self.unpaid > 0:
            self.declined = self.rest = 0
        self.unpaid -= work

    def begin(self) -> None:
        """Count calls, and native runs of them, from now on."""
        self.asked = self.runs = 0
        self._unpaid = self.unpaid

    @property
    def is_idle(self) -> bool:
        """True if it has not run natively, and will not soon."""
        return not self.runs and not 0 < self.unpaid < LOOKS * (self._unpaid - self.unpaid)

    def pays(self, call: LoopCall, operands: dict[Chain, Any]) -> bool:
        """Count a run: True if the loop has run for as long as compiling it takes."""
        sizes = [value.size for value in operands.values() if type(value) is np.ndarray]
        weight = call.weight if call.has_arrays or sizes else 1  # of single numbers
        operation = 1 + max(sizes, default=0) // ELEMENTS if call.has_arrays else 1
        per_turn = call.per_turn if weight == 1 else call.per_turn_of_arrays
        self.per_iteration = max(1, per_turn * operation)
        if self.unpaid <= 0:
            return True
        if isinstance(self.source.node, ast.While) and not self.is_inner:
            return False  # its iterations are counted
        work = call.expected_turns * self.per_iteration
        self.unpaid, self.skipped = self.unpaid - work * (1 + self.skipped), 0
        if work >= LONG:
            self.declined = self.rest = 0  # look at the next one, too
        return self.unpaid <= 0

    def call_of(self, found: Found) -> LoopCall:
        """The loop that reads this."""
        objects = [repr(each) if type(each) is tuple else each for each in found.objects.values()]
        reads = tuple(found.operands), tuple(found.objects), tuple(objects)
        if self.last is None or self.last[0] != reads or found.helpers:
            self.last = reads, self.loops.call(self.source, self.name, found.reads)
        return self.last[1]
