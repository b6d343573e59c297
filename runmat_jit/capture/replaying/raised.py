"""Calls that raise, and whose exception the program may catch: an outcome like others.

A replay makes such a call again and goes on only if it raises the same. Before it there is a fork,
at which a call that succeeds finds its own continuation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from runmat_jit.capture.replaying.trace import Raises
from runmat_jit.capture.tape import Op
from runmat_jit.core.frozen import frozen

if TYPE_CHECKING:
    from runmat_jit.capture.objects.lines import Line
    from runmat_jit.capture.tracer import Tracer

_PLAIN: Final[frozenset[type[Exception]]] = frozenset(
    (
        *(ValueError, TypeError, IndexError, ArithmeticError, ZeroDivisionError, OverflowError),
        np.linalg.LinAlgError,
    )
)
"""Exceptions that are their class and a text."""


@frozen
class Raised:
    """An exception instead of a result."""

    kind: type[Exception]
    args: tuple[str, ...]

    def error(self) -> Exception:
        """Such an exception."""
        return self.kind(*self.args)


def attempt(_value: Any) -> None:
    """What is decided by before a call that may raise: nothing, whether it does will be seen."""


def may_be_caught(error: Exception) -> bool:
    """Whether an exception of a replay is one that a program may meet, and a replay repeat."""
    return raised_by(error) is not None


def raised_by(error: Exception) -> Raised | None:
    """What a replay compares of an exception; None where it is more than its class and a text."""
    alone = error.__cause__ is None and error.__context__ is None and not error.__dict__
    if type(error) not in _PLAIN or not alone or not all(type(arg) is str for arg in error.args):
        return None
    return Raised(type(error), error.args)


def note(
    tracer: Tracer, op: Op, raised: Raised | None, line: Line | None, *, writes: bool, detail: str
) -> None:
    """Record that a call raises, if a replay may find that out; else it is an effect."""
    if raised is None or writes or not tracer.publishable or tracer.boundary is not None:
        tracer.effect("exception", detail)
        return
    steps = tracer.steps
    if not steps.at_attempt:
        steps.branch(None, attempt, None, tracer.line(), tracer.count)
    steps.need((*op.args, *op.kwargs.values()))
    errstate = None if tracer.token is tracer.first_token else tracer.token
    steps.add(Raises(op, raised.kind, raised.args, line, steps.count + 1, errstate))
    steps.note(op)
