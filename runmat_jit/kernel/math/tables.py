"""Contents of the tables that expansions read, computed exactly with whole numbers."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt  # its docstrings take 2 ms to write

_PI_BITS = 1280
"""Enough for the largest float64 (2**1024) and 160 more digits."""


def table(name: str) -> npt.NDArray[np.int32] | npt.NDArray[np.float64]:
    """The table of this name, computed at every call (2 ms): callers keep it.

    Raises:
        KeyError: No expansion uses a table of this name.

    """
    return _TABLES[name]()


def _one_over_pi_f64() -> npt.NDArray[np.float64]:
    """For each exponent field e: ``2**(e - 1075) / pi mod 2`` as a sum of four doubles."""
    scaled = _one_over_pi(_PI_BITS)
    rows = np.zeros((2048, 4))
    for field in range(1023, 2047):
        last = field - 1075 - _PI_BITS  # the exponent of the number's last bit
        number = scaled & ((1 << (1 - last)) - 1)
        spare = max(number.bit_length() - 6 * 53, 0)
        number, last = number >> spare, last + spare
        for part in range(4):
            drop = max(number.bit_length() - 53, 0)
            top = number >> drop
            rows[field, part] = math.ldexp(top, last + drop)
            number -= top << drop
    return rows.ravel()


def _one_over_pi_f32() -> npt.NDArray[np.int32]:
    """For each exponent field e: ``2**(e - 150) / pi mod 2`` as 96 bits, in units of 2**-95."""
    scaled = _one_over_pi(_PI_BITS)
    words = np.zeros((256, 3), np.uint32)
    for field in range(127, 255):
        number = (scaled >> (_PI_BITS - 95 - (field - 150))) & ((1 << 96) - 1)
        words[field] = [(number >> shift) & 0xFFFFFFFF for shift in (64, 32, 0)]
    return words.view(np.int32).ravel()


def _one_over_pi(bits: int) -> int:
    """``floor(2**bits / pi)``, or one less (Machin's formula)."""
    guard = 32
    one = 1 << (bits + guard)
    pi = 4 * (4 * _arctan_of_inverse(5, one) - _arctan_of_inverse(239, one))
    return (one << bits) // pi


def _arctan_of_inverse(n: int, one: int) -> int:
    """``one * arctan(1 / n)`` by Gregory's series."""
    power, total, k = one // n, 0, 0
    while power:
        term = power // (2 * k + 1)
        total += term if k % 2 == 0 else -term
        power //= n * n
        k += 1
    return total


_TABLES: dict[str, Callable[[], npt.NDArray[np.int32] | npt.NDArray[np.float64]]] = {
    "one_over_pi_f32": _one_over_pi_f32,
    "one_over_pi_f64": _one_over_pi_f64,
}
