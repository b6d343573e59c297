"""A generator of random numbers while a loop draws from it."""

from __future__ import annotations

from typing import Any, Final

from runmat_jit.core.slotted import slotted_object

_WORD: Final = 1 << 64


@slotted_object
class Drawing:
    """A stream while a loop draws from it; ``reached`` is where the run that counts has ended."""

    generator: Any
    key: int
    counter: int
    reached: int

    @classmethod
    def of(cls, generator: Any) -> Drawing:
        """The stream of a generator, from where it is."""
        state = generator.state["state"]
        return cls(generator, state["key"], state["counter"], state["counter"])

    def commit(self) -> bool:
        """Take the generator on; not where others have drawn from it meanwhile."""
        before = self.key, self.counter
        return bool(self.generator._advance_from(before, self.reached % _WORD))


def signed(word: int) -> int:
    """A word of 64 bits as an argument block holds it."""
    return word - _WORD if word >> 63 else word
