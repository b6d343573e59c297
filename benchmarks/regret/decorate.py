"""The decorator of the programs: ours, or none. Set before a program is loaded."""

from collections.abc import Callable
from typing import Any


class _Chosen:
    jit: Callable[[Any], Any] | None = None


CHOSEN = _Chosen()


def jit(fn: Any) -> Any:
    """Decorate a function with what was chosen."""
    return fn if CHOSEN.jit is None else CHOSEN.jit(fn)
