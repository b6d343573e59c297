"""Batch-cache key: what is pending, without its values; operations with equal keys have one graph.

The key lists, operation by operation, the pattern, the user's line, what is read and what is
written. Storages and scalars are numbered as they turn up. What existing memory a storage is does
not count, nor does the value of a scalar: both are inputs.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import field
from typing import Any

import numpy as np

from runmat_jit.capture.tape.entries import CONSTANT, Operation, ScalarOperand
from runmat_jit.capture.tape.storage import Geometry, Storage, Windows
from runmat_jit.core.slotted import slotted


@slotted
class BatchKey:
    """The key of pending operations; their storages and scalars by number."""

    key: Hashable = None
    storages: list[Storage] = field(default_factory=list)
    scalars: list[ScalarOperand] = field(default_factory=list)


def batch_key(pending: Sequence[Operation], live: Sequence[Storage], windows: Windows) -> BatchKey:
    """The key of operations after which the values of ``live`` are wanted."""
    made = BatchKey()
    storages, scalars = made.storages, made.scalars
    numbers: dict[Storage, int] = {}
    slots: dict[int, int] = {}
    parts: list[Any] = []
    add = parts.append
    for operation in pending:
        add(operation.call.pattern)
        add(operation.source)
        for place in operation.places:
            if type(place) is Geometry:
                window = windows.of(place)
                if window is not None:
                    place = window.geometry()  # noqa: PLW2901  (the same array)
                storage = place.storage
                number = numbers.get(storage)
                if number is None:
                    number = numbers[storage] = len(storages)
                    storages.append(storage)
                    if storage.memory is not None:
                        add((storage.dtype, storage.shape, storage.strides))
                whole = place.shape is storage.shape and place.strides is storage.strides
                if whole and not place.offset and place.dtype is storage.dtype:
                    add(number)
                else:
                    add((number, place.offset, place.dtype, place.shape, place.strides))
            elif type(place) is ScalarOperand:
                slot = identity(place)
                number = slots.get(slot)
                if number is None:
                    number = slots[slot] = len(scalars)
                    scalars.append(place)
                is_pair = isinstance(place.value, complex | np.complexfloating)
                add((~number, is_pair) if is_pair else ~number)
            else:
                add(constant(place))
    made.key = tuple(parts), tuple([numbers[storage] for storage in live])
    return made


def identity(operand: ScalarOperand) -> int:
    """Equal for scalars that are one: those in a slot; a number of the program is alone."""
    return id(operand) if operand.slot == CONSTANT else operand.slot


def constant(value: float | np.generic) -> tuple[Any, ...]:
    """A key for a number: equal for those that every dtype has the same bits for."""
    if isinstance(value, np.generic):
        return value.dtype, value.tobytes()
    return (value,) if value else (str(value),)  # 0.0 is not -0.0
