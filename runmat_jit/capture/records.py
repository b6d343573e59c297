"""What is known of the calls of a decorated function."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from runmat_jit.capture import classify
from runmat_jit.capture.aside import Tally
from runmat_jit.capture.tape import Effect, Op, refs
from runmat_jit.capture.tree import Fork
from runmat_jit.core.source import SourceLine


@dataclass(slots=True)
class Record:
    """What is known of calls with one key: their tree, and why Python is needed."""

    root: Fork = field(default_factory=Fork)
    misses: int = 0
    """Calls in a row that no replay has finished."""
    tally: Tally = field(default_factory=Tally)
    """The fruitless calls of this kind."""
    driven: bool = False
    """Python runs in each call: replays did not come to an end."""
    effects: tuple[Effect, ...] = ()
    refused: tuple[str, ...] = ()
    programs: tuple[Any, ...] = ()
    """The programs of the last recording."""
    host_calls: tuple[tuple[str, SourceLine | None], ...] = ()
    """What NumPy itself computed in it, and where."""
    draws: bool = False
    """Whether it drew random numbers, or printed: a second run would do so again."""


@dataclass(slots=True)
class Counts:
    """Calls of one function, by what happened."""

    replayed: int = 0
    recorded: int = 0
    plain: int = 0
    retraced: int = 0
    """Recordings that took over where a replay had left its tree."""


def host_calls(calls: Iterable[Op]) -> tuple[tuple[str, SourceLine | None], ...]:
    """The calls on arrays that no kernel computes, each once, in order."""
    found = [(str(call.fn.__name__), call.line) for call in calls if is_host_call(call)]
    return tuple(dict.fromkeys(found))


def is_host_call(op: Op) -> bool:
    """Whether NumPy computes it; views and Python's own arithmetic are nobody's work."""
    if op.meaning is not None or op.view or getattr(op.fn, "tells", False):
        return False
    if op.fn is classify.GETITEM or op.fn is classify.SETITEM:
        return bool(refs(op.args[1]))  # by arrays; other keys are views and elements
    kinds = classify.MethodCall | classify.UfuncMethod | np.ufunc
    module = str(getattr(op.fn, "__module__", ""))
    return op.fn is operator.matmul or isinstance(op.fn, kinds) or module.startswith("numpy")
