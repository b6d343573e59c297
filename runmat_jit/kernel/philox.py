"""Random bits as a function of a counter: Philox4x32-10.

Source: Salmon, Moraes, Dror, Shaw: Parallel random numbers: as easy as 1, 2, 3 (SC 2011).
"""

from __future__ import annotations

from runmat_jit.kernel.build import Builder
from runmat_jit.kernel.ir import Value

Counter = tuple[Value, Value, Value, Value]
Key = tuple[Value, Value]

ROUNDS = 10
MULTIPLIERS = (0xD2511F53, 0xCD9E8D57)
"""The factors of words 0 and 2 in every round."""
WEYL = (0x9E3779B9, 0xBB67AE85)
"""What the words of the key grow by from round to round."""


def philox4x32(k: Builder, counter: Counter, key: Key) -> Counter:
    """Four i32 words of random bits for a counter of four i32 words under a key of two."""
    for number in range(ROUNDS):
        counter = _round(k, counter, key)
        if number + 1 < ROUNDS:
            first, second = map(_signed, WEYL)
            key = key[0] + first, key[1] + second
    return counter


def _round(k: Builder, counter: Counter, key: Key) -> Counter:
    first, second = map(_signed, MULTIPLIERS)
    a, b, c, d = counter
    return (
        k.prim("mulhi", c, second) ^ b ^ key[0],
        c * second,
        k.prim("mulhi", a, first) ^ d ^ key[1],
        a * first,
    )


def _signed(word: int) -> int:
    """The i32 with the bits of an unsigned word."""
    return word - (1 << 32) if word >> 31 else word
