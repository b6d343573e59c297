"""Inputs that vary between the batches of a loop: offsets of views, and scalars.

A loop over an array views another part of it in each iteration, and computes with its index. Both
are inputs of the batch's program, so that one program serves all iterations.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import field
from typing import Any

import numpy as np

from runmat_jit.capture.record.inline_cache import exact
from runmat_jit.capture.tape.entries import CONSTANT, Operation, ScalarOperand
from runmat_jit.capture.tape.storage import Geometry, Storage
from runmat_jit.core.slotted import slotted

NUMBERS = (bool, int, float)


@slotted
class Moving:
    """The views and numbers in the batches of one recording.

    Views are told apart by their array, shape and strides; numbers by the line, the pattern and the
    place of the operand. With each stands what the batch had that showed it first.
    """

    _seen: dict[Hashable, set[Any]] = field(default_factory=dict)
    _moving: set[Hashable] = field(default_factory=set)

    def look(self, pending: Sequence[Operation]) -> frozenset[Storage]:
        """The arrays of which a batch shows parts that move; its moving numbers become data."""
        views: dict[Hashable, set[Any]] = {}
        numbers: dict[Hashable, set[Any]] = {}
        found: list[tuple[Operation, int, Hashable]] = []
        for operation in pending:
            for at in operation.places:
                if type(at) is Geometry and at.slot is not None and at.storage.memory is not None:
                    views.setdefault((at.storage, at.shape, at.strides), set()).add(at.offset)
            for place, value in enumerate(operation.operands):
                if type(value) in NUMBERS or isinstance(value, np.generic):
                    key: Hashable = (operation.line, operation.call.pattern, place)
                    numbers.setdefault(key, set()).add(exact_number(value))
                    found.append((operation, place, key))
        moving = self.compare(views)
        if self.compare(numbers):
            for operation, place, key in found:
                if key in self._moving:
                    make_data(operation, place)
        return frozenset([part[0] for part in moving])  # type: ignore[index]  # as put together above

    def compare(self, found: dict[Hashable, set[Any]]) -> list[Hashable]:
        """Those that have something which the batch that showed them first has not."""
        for key, values in found.items():
            if not values <= self._seen.setdefault(key, values):
                self._moving.add(key)
        return [key for key in found if key in self._moving]


def exact_number(value: Any) -> Hashable:
    """A number as a key: equal for those that have one type and the same bits."""
    return (value.dtype, value.tobytes()) if isinstance(value, np.generic) else exact(value)


def make_data(operation: Operation, place: int) -> None:
    """Have a program take a number of the program as an input."""
    operands = list(operation.operands)
    value: Any = operands[place]
    operands[place] = ScalarOperand(CONSTANT, value, early=True)
    operation.operands = tuple(operands)
