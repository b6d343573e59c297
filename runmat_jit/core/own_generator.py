"""Whether a class is our own generator of random numbers, without loading it."""

from __future__ import annotations

import sys


def is_own_generator(kind: type) -> bool:
    """Whether a class is :class:`runmat_jit.random.Generator`, where that has been loaded."""
    own = sys.modules.get("runmat_jit.random")
    return own is not None and kind is getattr(own, "Generator", None)
