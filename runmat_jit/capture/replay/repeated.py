"""Functions whose result no argument tells, and which a replay calls again in their place."""

from __future__ import annotations

import os
import re
import sys
import time
import types
from typing import Any, Final

_CLOCKS: Final = ("time", "perf_counter", "monotonic", "process_time", "thread_time")
CLOCKS: Final[frozenset[Any]] = frozenset(
    getattr(time, name) for name in dir(time) if name.removesuffix("_ns") in _CLOCKS
)
"""What tells the time: asked again by each replay, for a number that nobody knows."""
_DRAWS: Final = frozenset(
    (
        *("random", "uniform", "gauss", "normalvariate", "expovariate", "betavariate"),
        *("gammavariate", "lognormvariate", "triangular", "paretovariate", "weibullvariate"),
        *("vonmisesvariate", "randint", "randrange", "getrandbits", "seed"),
    )
)
"""Functions of the module ``random`` that give numbers, or nothing."""


def is_repeated(fn: Any) -> bool:
    """Whether a replay calls a function again whose result no argument tells, in its place."""
    if type(fn) not in (types.BuiltinFunctionType, types.MethodType):
        return False  # objects of other classes may have a hash of their own
    return any(fn is clock for clock in CLOCKS) or fn is time.sleep or draws_numbers(fn)


def draws_numbers(fn: Any) -> bool:
    """Whether it is a function of the module ``random``, which draws from a common state."""
    owner = getattr(fn, "__self__", None)
    loaded = sys.modules.get("random")
    return (
        type(fn) in (types.MethodType, types.BuiltinFunctionType)
        and loaded is not None
        and owner is getattr(loaded, "_inst", fn)
        and fn.__name__ in _DRAWS
    )


PURE_STANDARD: Final[frozenset[Any]] = frozenset(
    (
        *(os.path.join, os.path.basename, os.path.dirname, os.path.split, os.path.splitext),
        *(os.path.normpath, os.path.isabs),
        *(re.findall, re.split, re.sub, re.escape),
    )
)
"""Functions of the standard library that make text, lists of it or truth values of text alone."""
