"""Runs of a loop in plain execution.

Where it may not run natively, or leaves, it runs in Python from its beginning. Traced:
``capture.record.native_loops``.
"""

from __future__ import annotations

import ast
import types
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import repeat
from operator import length_hint
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from runmat_jit.core.epoch import DISABLED
from runmat_jit.core.hotness import FAILURES, LOOKS
from runmat_jit.core.prices import ELEMENTS, LOOP_PAYS, OPERATIONS
from runmat_jit.core.watching import is_watched
from runmat_jit.loops.objects import put_back
from runmat_jit.loops.reads import Found, find, outside, variables_of
from runmat_jit.loops.source import Chain, LoopSource

if TYPE_CHECKING:
    from runmat_jit.loops.program import LoopCall

LONG: Final = 2000
"""Operations of Python's in a run that is worth a look each time."""
OF_ARRAYS, OF_NUMBERS = 4, 10
"""Times as many operations as Python runs in the time of a native call that is not recorded."""


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
        if not is_enough(call, operands, unknown=iterations) or not self.pays(call, operands):
            return ()
        values = tuple(operands.values())
        result = call.attempt(values)
        if result is None:
            return ()
        self.declined, self.rest, self.runs = 0, 0, self.runs + 1
        if self.evidence is not None and self.evidence.work is not None:
            self.evidence.work.has_native_loops = True
        self.iterations = 0
        call.append(result, values)
        put_back(found.packs, call)
        return (call.merged(result, values),)

    def head(self) -> Iterable[tuple[()]]:
        """Return an iterable of the iterations that a ``while`` runs before it is asked again."""
        if self.unpaid <= 0 or self.loops is None:
            return ()
        count = 1 + self.unpaid // self.per_iteration
        self._head = repeat((), count), count
        return self._head[0]

    def again(self, frame: types.FrameType) -> tuple[tuple[Any, ...], ...]:
        """Run what is left of a ``while``, as :meth:`run`, if all of its head has run."""
        return () if self._head is None or length_hint(self._head[0]) else self.run(frame)

    def _count(self) -> None:
        """Count the iterations of the last ``while`` in Python."""
        if self._head is None:
            return
        left, count = self._head
        self.iterations, self._head = count - length_hint(left), None
        work = self.iterations * self.per_iteration
        self.unpaid -= work
        if work >= LONG:
            self.declined = self.rest = 0

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
        if self.unpaid <= 0:
            return True
        sizes = [value.size for value in operands.values() if type(value) is np.ndarray]
        weight = call.weight if call.has_arrays or sizes else 1  # of single numbers
        operation = 1 + max(sizes, default=0) // ELEMENTS if call.has_arrays else 1
        per_turn = call.per_turn if weight == 1 else call.per_turn_of_arrays
        self.per_iteration = max(1, per_turn * operation)
        if isinstance(self.source.node, ast.While) and not self.is_inner:
            return False  # its iterations are counted
        work = call.expected_turns * per_turn * operation
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


def plain_of(value: Any) -> Any:
    """A number, or the shape of an array."""
    return getattr(value, "shape", None) if isinstance(value, np.ndarray) else value


def is_enough(
    call: LoopCall,
    operands: dict[Chain, Any],
    plain_of: Callable[[Any], Any] = plain_of,
    *,
    recorded: bool = False,
    unknown: int = 0,
) -> bool:
    """Return True if Python would take longer than a native run; rarely looks at an iteration.

    ``plain_of`` gives an operand's number or shape. ``recorded``: or the operations would, recorded
    one by one. ``unknown``: iterations of the last run, for a loop of unknown length.
    """
    from runmat_jit.loops import program, sites  # noqa: PLC0415  (loaded by now)

    value_of = partial(sites.value_of, call.objects, operands, plain_of)
    known = partial(sites.evaluated, value=value_of)
    call.asked += 1
    if call.asked & (call.asked - 1) == 0 or not call.asked % LOOKS:
        call.per_turn = sites.operations_of(call.source, known)
        call.per_turn_of_arrays = sites.operations_of(call.source, known, OPERATIONS)
    turns = sites.turns_of(call.source.node, known)
    if turns is None:  # of lists, many until runs of few have been seen
        turns = max(unknown, sites.TURNS * (program.LISTS if call.source.grown else 1))
    call.expected_turns, call.expected = turns, turns * call.per_turn
    if call.gave_up or (call.is_poor and call.asked % LOOKS):
        return False
    if not (recorded or call.source.grown):
        sizes = [each.size for each in operands.values() if isinstance(each, np.ndarray)]
        if call.weight > 1:  # elements of simple operations take a quarter of what they may take
            turns *= 1 + max(sizes, default=0) // (4 * ELEMENTS)
        turns //= OF_ARRAYS if sizes else OF_NUMBERS
    return call.does_enough(turns, recorded=recorded)
