"""What NumPy does about floating-point events at this moment."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy._core import umath

from runmat_jit.core.frozen import frozen

current_errstate = umath._extobj_contextvar.get
"""NumPy's immutable state object of this context: compare it by identity."""


def call_under(state: Any, call: Callable[[], Any]) -> Any:
    """Make a call under a state that :func:`current_errstate` gave."""
    before = umath._extobj_contextvar.set(state)
    try:
        return call()
    finally:
        umath._extobj_contextvar.reset(before)


@frozen
class ErrorState:
    """What is reported: ``warn`` holds the events to warn of.

    ``immediate`` states (raise, call, log, print, or underflow reported) need every operation to
    be run by NumPy when the program reaches it.
    """

    warn: frozenset[str]
    immediate: bool
    raising: Any = None
    """NumPy's state in which what is warned of raises, and nothing else is reported."""


def raising_state(warn: frozenset[str]) -> Any:
    """NumPy's state object in which these events raise, and others are ignored."""
    actions: Any = {event: "raise" if event in warn else "ignore" for event in np.geterr()}
    with np.errstate(**actions):
        return current_errstate()


@dataclass(slots=True)
class ErrorStates:
    """Reads NumPy's state objects, each once."""

    _known: dict[int, tuple[Any, ErrorState]] = field(default_factory=dict)

    def current(self) -> ErrorState:
        """The state of this context."""
        token = current_errstate()
        known = self._known.get(id(token))
        if known is not None and known[0] is token:
            return known[1]
        actions: dict[str, str] = {event: str(action) for event, action in np.geterr().items()}
        warn = frozenset(event for event, action in actions.items() if action == "warn")
        state = ErrorState(
            warn,
            immediate=actions["under"] != "ignore"
            or any(action not in ("warn", "ignore") for action in actions.values()),
            raising=raising_state(warn),
        )
        if len(self._known) > 1000:
            self._known.clear()
        self._known[id(token)] = (token, state)
        return state


def warnings_raise() -> bool:
    """Whether the warnings filters may turn a RuntimeWarning into an exception."""
    for action, message, category, module, line in warnings.filters:
        if not issubclass(RuntimeWarning, category):
            continue
        if action == "error":
            return True
        if message is None and module is None and not line:
            return False
    return False
