"""Between real values and traced ones: lift, raw, encode."""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Sequence
from typing import Any

import numpy as np

from runmat_jit.capture.record.recording import Recording
from runmat_jit.capture.record.traced import Traced, TracedMethod
from runmat_jit.capture.replay.plain_objects import is_plain_object
from runmat_jit.capture.shapes.families import Symbols
from runmat_jit.capture.tape.entries import CONSTANT, Nest, Ref
from runmat_jit.capture.tape.pytree import (
    Structure,
    is_namedtuple,
    is_plain_dataclass,
    take_apart,
)
from runmat_jit.capture.tape.storage import Storage
from runmat_jit.capture.tape.values import (
    ARRAY,
    CONSTANTS,
    DEPTH_LIMIT,
    GENERIC,
    PYTHON,
    SCALARS,
    Unencodable,
    is_bound,
    is_number,
    is_opaque,
    is_opaque_scalar,
    is_random_state,
    is_traceable,
    steps_of,
)

_PLAIN = frozenset((bool, int, float, str, type(None)))
_SIMPLE = frozenset((int, float, bool, str, type(None), np.ndarray, np.dtype, type))


class Encoder:
    """Lifts, lowers and encodes the values of one recording."""

    def __init__(self, recording: Recording) -> None:
        self.recording = recording
        self.leaves: list[Any] = []

    # -- real to traced --------------------------------------------------------------------------
    def lift(self, value: Any, slot: int | None, roots: frozenset[int] | None) -> Any:
        """A traced value for an array or scalar; anything else is returned as it is."""
        recording = self.recording
        if type(value) is Traced:
            return value
        if isinstance(value, np.ndarray):
            return self.lift_array(value, slot)
        if is_number(value) or is_opaque_scalar(value):
            return Traced(
                recording, recording.slot() if slot is None else slot, GENERIC, held=value
            )
        if type(value) in SCALARS:
            slot = recording.slot() if slot is None else slot
            return Traced(recording, slot, PYTHON, held=value, roots=roots)
        return value

    def lift_array(self, value: np.ndarray, slot: int | None) -> Any:
        """The traced value of a real array: one for each array object."""
        recording = self.recording
        found = recording.adopt(value)
        if found is not None:
            return found
        if not is_traceable(value):
            return self.lift_opaque(value, slot) if is_opaque(value) else value
        storage = Storage.of(recording.slot() if slot is None else slot, value)
        if recording.symbols is not None:
            self.name_extents(storage, recording.symbols, made=slot is None)
        traced = Traced(recording, storage.slot, ARRAY, held=value, geometry=storage.geometry())
        storage.owned_by(traced, recording.tape.dead, is_freed=storage.is_freed)
        recording.remember(value, traced)
        return traced

    def lift_opaque(self, value: np.ndarray, slot: int | None) -> Traced:
        """The traced value of an array that NumPy alone computes with: it has no geometry."""
        recording = self.recording
        if recording.symbols is not None:
            recording.symbols.usable = False  # its extents have no names
        traced = Traced(recording, recording.slot() if slot is None else slot, ARRAY, held=value)
        recording.remember(value, traced)
        recording.watch(traced)
        return traced

    def name_extents(self, storage: Storage, symbols: Symbols, *, made: bool) -> None:
        """Give an argument's extents their names.

        Arrays from outside have those that they are read with; of arrays that NumPy has ``made``
        only some are known beforehand.
        """
        found = symbols.arrays.get(storage.slot)
        if found is not None:
            storage.shape, storage.strides = found
        elif made and symbols.describes(storage.shape, storage.strides, storage.dtype.itemsize):
            assert symbols.shape is not None, "the law has told"
            storage.shape, storage.strides = symbols.shape, steps_of(symbols.shape, storage.dtype)
        elif made:
            symbols.usable = False

    # -- traced to real --------------------------------------------------------------------------
    def raw(self, value: Any, depth: int = 0) -> Any:
        """Real values for the traced ones, also inside (copies of) containers and slices."""
        kind = type(value)
        if kind is Traced:
            return self.recording.value(value)
        if kind is TracedMethod:
            return getattr(self.recording.value(value.__self__), value.__name__)
        if not holds_traced(value):
            return value
        if depth > DEPTH_LIMIT or (kind not in _COPIED and not is_namedtuple(value)):
            return self.recording.release(value)
        items = [self.raw(item, depth + 1) for item in children_of(value)]
        if kind is slice:
            return slice(*items)
        if kind is set or kind is frozenset:
            return kind(items)
        if kind is dict:
            return dict(zip(items[::2], items[1::2], strict=True))
        return kind(*items) if is_namedtuple(value) else kind(items)

    def slot_of(self, value: Any) -> int | None:
        """The slot that holds a real array, or an object from outside; None where none may."""
        kind = type(value)
        if kind is np.ndarray:
            found = self.recording.adopt(value)
            return None if found is None else found._rm_slot
        whole = kind is types.FunctionType or is_random_state(kind)
        known = whole or is_plain_object(value)
        return self.recording.slot_of(value) if known else None

    # -- traced to template ------------------------------------------------------------------------
    def encode(self, value: Any, depth: int = 0) -> Any:
        """A template: refs for traced values, nests for containers.

        Raises:
            Unencodable: something else whose identity or contents may change.

        """
        kind = type(value)
        if kind is Traced:
            if value._rm_tracer is not self.recording:
                raise Unencodable("a value of another recording")
            return value._rm_held if value._rm_slot == CONSTANT else Ref(value._rm_slot)
        if kind in _PLAIN:
            return value
        if kind is TracedMethod or is_bound(value):
            raise Unencodable("a bound method")
        slot = self.slot_of(value)
        if slot is not None:
            return Ref(slot)
        if isinstance(value, CONSTANTS):
            return value
        if is_random_state(kind) or kind is np.ndarray:
            raise Unencodable(f"a {kind.__name__} of unknown origin")
        if depth > DEPTH_LIMIT:
            raise Unencodable("containers nested too deeply")
        if kind is slice:
            items = (value.start, value.stop, value.step)
            return Nest(Structure(slice), tuple([self.encode(item) for item in items]))
        apart = take_apart(value)
        if apart is None:
            raise Unencodable(f"an argument of type {kind.__name__}")
        return Nest(apart[0], tuple([self.encode(item, depth + 1) for item in apart[1]]))


_COPIED = (tuple, list, set, frozenset, dict, slice)


def children_of(value: Any) -> Sequence[Any]:
    """Children of a container: keys and values alternately for a dict."""
    kind = type(value)
    if kind in (tuple, list, set, frozenset) or is_namedtuple(value):
        return tuple(value)
    if kind is dict:
        return [part for item in value.items() for part in item]
    if kind is slice:
        return value.start, value.stop, value.step
    if dataclasses.is_dataclass(kind) and is_plain_dataclass(value):
        return tuple(value.__dict__.values())
    return ()


def holds_traced(value: Any, depth: int = 0) -> bool:
    """True if a traced value is anywhere inside (or the containers are too deep to tell)."""
    kind = type(value)
    if kind is Traced or kind is TracedMethod:
        return True
    if kind in _SIMPLE:
        return False
    return depth > DEPTH_LIMIT or any(
        holds_traced(child, depth + 1) for child in children_of(value)
    )
