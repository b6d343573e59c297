"""Protection of float operations in shaders against the freedoms of WGSL.

WGSL gives no float operation a meaning of its own: drivers may reassociate, contract, fold
constants through operations, ignore the sign of zero, and assume that nothing is infinite or NaN.
Four levels of protection:

- ``none``: as written.
- ``fma``: a product that feeds another operation is ``fma(a, b, -0.0)``, which cannot be
  contracted again. One instruction on most hardware; does not stop reassociation. Where the
  adapter splits ``fma``, the product is kept instead: the sum with -0.0 would be one like others.
- ``sums``: as ``fma``, and sums and differences that another sum or difference takes are kept:
  nothing is reassociated. Where ``fma`` is fused, such a sum is one of a product with an unknown 1.
- ``or``: every result that feeds another float operation is kept, and so is what is compared.

What is kept passes through an integer ``or`` with a zero that the driver does not know. No rule of
floats sees through that, and no rule of integers takes two of them away, as it would of ``xor``.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Literal

from runmat_jit.core.frozen import frozen

Guard = Literal["none", "fma", "sums", "or"]
GUARDS: tuple[Guard, ...] = ("none", "fma", "sums", "or")
"""From the cheapest to the strongest."""


@frozen
class Arithmetic:
    """Printing rules for the float operations of one shader.

    ``emulate_fma`` holds the types whose ``fma`` the adapter splits into two roundings;
    ``correct`` holds (operation, type) pairs, of ``div`` and ``sqrt``, that it rounds wrongly, and
    ``correct_before_jumps`` those of which only results that are rounded to whole numbers later
    have to be right. Emulating float32 needs float64, correcting needs it or a fused ``fma``.
    """

    guard: Guard = "or"
    emulate_fma: frozenset[str] = frozenset()
    correct: frozenset[tuple[str, str]] = frozenset()
    wide: bool = True
    """True if float64 and 64-bit integers may be used to emulate and to correct."""
    correct_before_jumps: frozenset[tuple[str, str]] = frozenset()
    fused: frozenset[str] = frozenset()
    """Types whose ``fma`` the adapter rounds once."""
    exact: bool = True
    """True if results must have the CPU's bits; else products are protected only where a sum or a
    constant could take them in."""
    flushed: frozenset[str] = frozenset()
    """Types whose subnormal numbers the adapter takes for zeros: they are compared, negated,
    converted and rounded to whole numbers by their bits."""
    whole_by_bits: frozenset[str] = frozenset()
    """Types of which the adapter's own rounding to whole numbers is wrong for zeros below zero or
    for large numbers: that is done by their bits."""
    guards: tuple[tuple[str, Guard], ...] = ()
    """What does for shaders of one float type alone; ``guard`` does for all."""

    def of(self, kinds: Collection[str]) -> Arithmetic:
        """Printing rules for a shader that uses these float types."""
        guards = [guard for kind, guard in self.guards if kind in kinds]
        return replace(self, guard=max(guards, key=GUARDS.index)) if guards else self
