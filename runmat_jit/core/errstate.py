"""What NumPy does about floating-point events at this moment."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import field
from functools import cache
from threading import get_ident
from typing import Any, Final

import numpy as np
from numpy._core import umath

from runmat_jit.core.frozen import frozen
from runmat_jit.core.slotted import slotted

current_errstate = umath._extobj_contextvar.get
"""NumPy's immutable state object of this context: compare it by identity."""


def call_under(state: Any, call: Callable[[], Any]) -> Any:
    """Make a call under a state that :func:`current_errstate` gave."""
    before = umath._extobj_contextvar.set(state)
    try:
        return call()
    finally:
        umath._extobj_contextvar.reset(before)


FLAGS: Final = ("invalid", "divide", "over")
"""Events of which the machine keeps flags, in the order of the bits that tell of them here."""


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


@slotted
class ErrorStates:
    """Reads NumPy's state objects, each once."""

    _known: dict[int, tuple[Any, ErrorState]] = field(default_factory=dict)

    def current(self) -> ErrorState:
        """The state of this context."""
        token = current_errstate()
        known = self._known.get(id(token))
        if known is not None and known[0] is token:
            return known[1]
        state = state_of(tuple(np.geterr().values()))
        if len(self._known) > 1000:
            self._known.clear()
        self._known[id(token)] = (token, state)
        return state


@cache
def state_of(actions: tuple[str, ...]) -> ErrorState:
    """What is reported under what ``numpy.geterr()`` gives, in its order."""
    given = dict(zip(np.geterr(), actions, strict=True))
    warn = frozenset(event for event, action in given.items() if action == "warn")
    return ErrorState(
        warn,
        immediate=given["under"] != "ignore"
        or any(action not in ("warn", "ignore") for action in actions),
        raising=raising_state(warn),
    )


def warnings_raise() -> bool:
    """True if a RuntimeWarning may raise, or run code of the program that shows it."""
    global _SILENT_FILTERS  # noqa: PLW0603 - a memo of the last answer
    if warnings.showwarning.__module__ not in _OF_PYTHON:
        return True
    if current_filters() == _SILENT_FILTERS and not _TRYING:
        return False
    filters = list(current_filters())  # another thread may change them meanwhile
    for action, message, category, module, line in filters:
        if not issubclass(RuntimeWarning, category):
            continue
        if action == "error":
            return True
        if message is None and module is None and not line:
            break
    if not _TRYING:
        _SILENT_FILTERS = filters
    return False


_SILENT_FILTERS: list[Any] | None = None
"""Filters that were last found to raise nothing, outside of trials."""
_OF_PYTHON: Final = ("warnings", "_py_warnings", "logging")
"""Modules whose ``showwarning`` runs no code of the program's: ``_py_warnings`` from 3.14 on."""


def current_filters() -> list[Any]:
    """The list of warnings filters in force: the context's own from Python 3.14 on, if it has one.

    The list itself, so that it can be changed.
    """
    found: Any = warnings.filters if _OWN_FILTERS is None else _OWN_FILTERS()
    return found  # type: ignore[no-any-return]  # typed as read-only


_OWN_FILTERS: Final[Any] = getattr(warnings, "_get_filters", None)
_TRYING: Final[list[int]] = []
"""The threads that try a call, once for each."""


class _OfTrials(type):
    def __subclasscheck__(cls, category: type) -> bool:
        return get_ident() in _TRYING


class _WarningOfTrial(Warning, metaclass=_OfTrials):
    """To filters, the base of all warnings in threads that try a call, of none elsewhere."""


_RAISES: Final[Any] = ("error", None, _WarningOfTrial, None, 0)
_IGNORES: Final[Any] = ("ignore", None, _WarningOfTrial, None, 0)


@contextmanager
def trial(*, events: str = "raise") -> Iterator[None]:
    """Have all warnings raise within: for a call that the program is to make, if it warns.

    Python's own ``catch_warnings`` would have every line that has warned warn again, and is for all
    threads. ``events``: what NumPy does about floating-point events.
    """
    with _filtered(_RAISES), np.errstate(all=events):  # type: ignore[arg-type]  # NumPy's words
        yield


def unwarned() -> AbstractContextManager[None]:
    """Have nothing warn within, in this thread: for what we do and the program does not."""
    return _filtered(_IGNORES)


@contextmanager
def _filtered(first: Any) -> Iterator[None]:
    filters = current_filters()
    _TRYING.append(get_ident())
    filters.insert(0, first)
    try:
        yield
    finally:
        filters.remove(first)
        _TRYING.remove(get_ident())
