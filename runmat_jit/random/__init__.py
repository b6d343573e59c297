"""Random numbers that are the same on every device, thread count and chunking.

:class:`Generator` has the methods of :class:`numpy.random.Generator`; its streams are its own:
Philox4x32-10 in counter mode. The key is ``SeedSequence(seed).generate_state(2)``, low word first;
the position counts blocks of four 32-bit words from 0 on, modulo 2**64. Each call begins at a new
block and advances by the blocks that it used, so the numbers of a call depend on the key, on the
calls before it and on nothing else. Which words of its blocks an element is made of is written in
``runmat_jit.ops.random``.

>>> import runmat_jit as runmat
>>> rng = runmat.random.default_rng(7)
>>> rng.random(3).shape
(3,)
>>> rng.state["state"]["counter"]
2
"""

from __future__ import annotations

from runmat_jit.random.orders import Orders
from runmat_jit.random.stream import Seed

__all__ = ["Generator", "default_rng"]


class Generator(Orders):
    """A generator of random numbers (see :class:`.stream.Stream`)."""


def default_rng(seed: Seed | Generator = None) -> Generator:
    """A generator of this seed; a generator is passed on."""
    return seed if isinstance(seed, Generator) else Generator(seed)
