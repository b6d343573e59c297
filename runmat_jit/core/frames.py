"""Frames of ours that ``warnings.warn`` does not count, when the user's function asks for a caller.

Python leaves out frames of its import system when it looks for the line that a ``stacklevel``
means, and knows them by their file names. Functions of ours that do nothing but call the user's
have such names: a warning of a plain call belongs to the user's line, as without a decorator.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeVar

F = TypeVar("F", bound=Callable[..., Any])

UNCOUNTED: Final = " (as importlib._bootstrap)"
"""The end of such file names."""


def uncounted(fn: F) -> F:
    """The function, no frame of which counts as a caller."""
    function: Any = fn
    code = function.__code__
    function.__code__ = code.replace(co_filename=code.co_filename + UNCOUNTED)
    return fn


@uncounted
def call_of(fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    """Call a function: a recording of this one serves all functions with the same code."""
    return fn(*args, **kwargs)
