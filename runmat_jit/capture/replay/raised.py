"""Calls that raise, and whose exception the program may catch: an outcome like others.

A replay makes such a call again and goes on only if it raises the same. Before it there is a fork,
at which a call that succeeds finds its own continuation.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from runmat_jit.capture.tape.entries import Raised

_PLAIN: Final[frozenset[type[Exception]]] = frozenset(
    (
        *(ValueError, TypeError, IndexError, ArithmeticError, ZeroDivisionError, OverflowError),
        np.linalg.LinAlgError,
    )
)
"""Exceptions that are their class and a text."""


def attempt(_value: Any) -> None:
    """Outcome before a call that may raise: none, whether it does will be seen."""


def may_be_caught(error: Exception) -> bool:
    """True if an exception of a replay is one that a program may meet, and a replay repeat."""
    return raised_by(error) is not None


def raised_by(error: Exception) -> Raised | None:
    """Comparable form of an exception; None where it is more than its class and a text."""
    alone = error.__cause__ is None and error.__context__ is None and not error.__dict__
    if type(error) not in _PLAIN or not alone or not all(type(arg) is str for arg in error.args):
        return None
    return Raised(type(error), error.args)
