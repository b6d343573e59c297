"""Generators of random numbers while a loop draws from them.

A run that is abandoned has drawn nothing: it draws from a copy, and the generator is taken on where
the run counts, unless others have drawn from it meanwhile.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import ExitStack
from typing import Any, Final

import numpy as np

from runmat_jit.core.generators import is_numpys_generator, is_own_generator
from runmat_jit.core.slotted import slotted_object

BITS: Final = "g"
"""Begin of the names of parameters that say where a generator of NumPy's lies."""
_WORD: Final = 1 << 64
_SPARE: Final[dict[type, list[Any]]] = {}
"""Generators of bits that nobody draws from, by class: making one takes as long as some draws."""


@slotted_object
class Drawing:
    """A stream of ours while a loop draws from it.

    ``state`` is where it was before; ``reached`` is where the run that counts has ended.
    """

    generator: Any
    state: Any
    key: int
    counter: int
    reached: int

    @classmethod
    def of(cls, generator: Any) -> Drawing:
        """The stream of a generator, from where it is."""
        state = generator.state
        key, counter = state["state"]["key"], state["state"]["counter"]
        return cls(generator, state, key, counter, counter)

    def begin(self) -> None:
        """Draw from where the generator is."""

    @property
    def lock(self) -> Any:
        """Of the generator."""
        return self.generator._lock

    @property
    def after(self) -> Any:
        """Where the generator is after the loop."""
        return {**self.state, "state": {"key": self.key, "counter": self.reached % _WORD}}


@slotted_object
class NumpyDrawing:
    """A generator of bits of NumPy's while a loop draws from a ``copy`` of its ``state``."""

    generator: Any
    state: Any
    copy: Any

    @classmethod
    def of(cls, generator: Any) -> NumpyDrawing:
        """What a generator of bits draws, from where it is."""
        with generator.lock:
            state = generator.state
        try:
            copy = _SPARE.setdefault(type(generator), []).pop()
        except IndexError:
            copy = type(generator)(0)
        return cls(generator, state, copy)

    @property
    def bits(self) -> int:
        """Where the copy lies, of NumPy's public type ``bitgen_t``."""
        address: int = self.copy.ctypes.bit_generator.value
        return address

    def begin(self) -> None:
        """Draw from where the generator is."""
        self.copy.state = self.state

    @property
    def lock(self) -> Any:
        """Of the generator."""
        return self.generator.lock

    @property
    def after(self) -> Any:
        """Where the generator is after the loop; nobody draws from the copy any more."""
        found = self.copy.state
        _SPARE[type(self.copy)] = [self.copy]
        return found


DRAWINGS: Final = (Drawing, NumpyDrawing)


def is_generator(value: Any) -> bool:
    """True if a value is a generator that loops draw from, or stands for one meanwhile."""
    return type(value) in DRAWINGS or is_own_generator(type(value)) or is_numpys_generator(value)


def stream_of(value: Any) -> int:
    """The identity of what such a generator draws from: NumPy's may have it in common."""
    return id(value.bit_generator) if is_numpys_generator(value) else id(value)


def drawing_of(generator: Any) -> Drawing | NumpyDrawing:
    """What stands for a generator while a loop draws from it."""
    if is_numpys_generator(generator):
        return NumpyDrawing.of(generator.bit_generator)
    return Drawing.of(generator)


def commit(drawings: Iterable[Drawing | NumpyDrawing]) -> bool:
    """Take the generators on; none of them where others have drawn from one meanwhile."""
    found = sorted(drawings, key=lambda each: id(each.generator))
    with ExitStack() as held:
        for each in found:
            held.enter_context(each.lock)
        if not all(is_same(each.generator.state, each.state) for each in found):
            return False
        for each in found:
            each.generator.state = each.after
    return True


def is_same(a: Any, b: Any) -> bool:
    """True if two states are the same one."""
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(is_same(a[name], b[name]) for name in a)
    return bool(np.array_equal(a, b)) if isinstance(a, np.ndarray) else bool(a == b)


def signed(word: int) -> int:
    """A word of 64 bits as an argument block holds it."""
    return word - _WORD if word >> 63 else word
