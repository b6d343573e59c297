"""Between real values and traced ones: lift, raw, encode."""

from __future__ import annotations

import dataclasses
import struct
import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from runmat_jit.capture.pytree import Structure, is_namedtuple, is_plain_dataclass, take_apart
from runmat_jit.capture.storage import Storage
from runmat_jit.capture.tape import Nest, Ref
from runmat_jit.capture.traced import ARRAY, GENERIC, PYTHON, Traced, TracedMethod

if TYPE_CHECKING:
    from runmat_jit.capture.tracer import Tracer

SCALARS = (bool, int, float, complex)
CONSTANTS = (
    *SCALARS,
    str,
    bytes,
    type(None),
    type(Ellipsis),
    type(NotImplemented),
    type,
    np.dtype,
    np.generic,
    np.ufunc,
    range,
    types.BuiltinFunctionType,
)
"""Classes of values that a tape may keep as they are: immutable, or compared by identity."""


class Unencodable(Exception):  # noqa: N818  (an answer: the caller makes it an effect)
    """A value that a tape cannot keep."""


def bits_of(value: Any) -> tuple[Any, ...]:
    """A key by type and bits: ``0.0``, ``-0.0``, NaN, ``1``, ``True`` and ``1.0`` all differ."""
    kind = type(value)
    if kind is float:
        return kind, struct.pack("<d", value)
    if kind is complex:
        return kind, struct.pack("<dd", value.real, value.imag)
    if isinstance(value, np.generic):
        return kind, value.dtype.str, value.tobytes()
    if kind is tuple:
        return kind, *map(bits_of, value)
    return kind, value


def exact_value(value: Any) -> Callable[[Any], bool]:
    """A test for exactly this value."""
    key = bits_of(value)
    return lambda other: bits_of(other) == key


def is_traceable(array: np.ndarray) -> bool:
    """Whether an array's memory is what kernels and views can speak of."""
    dtype = array.dtype
    return (
        type(array) is np.ndarray
        and dtype.isnative
        and dtype.kind in "biufc"
        and dtype.char not in "gG"
        and array.flags.aligned
    )


class Encoder:
    """Lifts, lowers and encodes the values of one tracer."""

    def __init__(self, tracer: Tracer) -> None:
        self.tracer = tracer
        self.leaves: list[Any] = []

    def leaf_value(self, slot: int) -> Any:
        """The real value of an argument's leaf."""
        return self.leaves[slot]

    # -- real to traced --------------------------------------------------------------------------
    def lift(self, value: Any, slot: int | None, roots: frozenset[int] | None) -> Any:
        """A traced value for an array or scalar; anything else is returned as it is."""
        tracer = self.tracer
        if type(value) is Traced:
            return value
        if isinstance(value, np.ndarray):
            return self.lift_array(value, slot)
        if isinstance(value, np.generic):
            return Traced(tracer, tracer.slot() if slot is None else slot, GENERIC, held=value)
        if type(value) in SCALARS:
            slot = tracer.slot() if slot is None else slot
            return Traced(tracer, slot, PYTHON, held=value, roots=roots)
        return value

    def lift_array(self, value: np.ndarray, slot: int | None) -> Any:
        """The traced value of a real array: one for each array object."""
        tracer = self.tracer
        found = tracer.known.get(id(value))
        if found is not None and found[0] is value:
            return found[1]
        if not is_traceable(value):
            return value
        storage = Storage.of(tracer.slot() if slot is None else slot, value)
        traced = Traced(tracer, storage.slot, ARRAY, held=value, geometry=storage.geometry())
        storage.owned_by(traced)
        tracer.known[id(value)] = (value, traced)
        return traced

    # -- traced to real --------------------------------------------------------------------------
    def raw(self, value: Any) -> Any:
        """Real values for the traced ones, also inside containers and slices."""
        kind = type(value)
        if kind is Traced:
            return self.tracer.value(value)
        if kind is TracedMethod:
            return getattr(self.tracer.value(value.__self__), value.__name__)
        if not holds_traced(value):
            return value
        if kind is slice:
            return slice(*map(self.raw, (value.start, value.stop, value.step)))
        if kind is set or kind is frozenset:
            return kind(map(self.raw, value))
        if is_plain_dataclass(value):
            copy = object.__new__(kind)
            copy.__dict__.update({name: self.raw(v) for name, v in value.__dict__.items()})
            return copy
        if kind is dict:
            return {self.raw(key): self.raw(item) for key, item in value.items()}
        apart = take_apart(value)
        return apart[0](list(map(self.raw, apart[1]))) if apart else value

    # -- traced to template ------------------------------------------------------------------------
    def encode(self, value: Any) -> Any:
        """A template: refs for traced values, nests for containers.

        Raises:
            Unencodable: something else whose identity or contents may change.

        """
        kind = type(value)
        if kind is Traced:
            if value._rm_tracer is not self.tracer:
                raise Unencodable("a value of another recording")
            return Ref(value._rm_slot)
        if isinstance(value, CONSTANTS):
            return value
        if kind is slice:
            items = (value.start, value.stop, value.step)
            return Nest(Structure(slice), tuple(map(self.encode, items)))
        if kind is np.ndarray:
            found = self.tracer.known.get(id(value))
            if found is not None and found[0] is value:
                return Ref(found[1]._rm_slot)
            raise Unencodable("an array of unknown origin")
        apart = take_apart(value)
        if apart is None:
            raise Unencodable(f"an argument of type {kind.__name__}")
        return Nest(apart[0], tuple(map(self.encode, apart[1])))


def holds_traced(value: Any) -> bool:
    """Whether a traced value is anywhere inside."""
    kind = type(value)
    if kind is Traced or kind is TracedMethod:
        return True
    if kind in (tuple, list, set, frozenset) or is_namedtuple(value):
        return any(map(holds_traced, value))
    if kind is dict:
        return any(map(holds_traced, value)) or any(map(holds_traced, value.values()))
    if kind is slice:
        return any(map(holds_traced, (value.start, value.stop, value.step)))
    if dataclasses.is_dataclass(kind) and is_plain_dataclass(value):
        return any(map(holds_traced, value.__dict__.values()))
    return False
