"""Numbers of the classes that round each result: ``single``, and integers of 32 bits at most.

In a loop they are Python's floats: sums, differences and quotients of whole numbers of 32 bits
round as their doubles do, larger products saturate however they are rounded, and a double that is
rounded to a single is the single that MATLAB computes (twice the bits, and two more).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from matlab_frontend.interpreter.native import functions
from matlab_frontend.interpreter.native.classes import NARROW, Kind, Made, NotNative
from matlab_frontend.source import Span

LIMITS: Final[Mapping[str, tuple[float, float]]] = {
    kind: (float(np.iinfo(kind).min), float(np.iinfo(kind).max))
    for kind in NARROW
    if kind != "single"
}
"""The least and the largest number of each class of integers."""
_OF_INTEGERS: Final[Mapping[tuple[str, int], Callable[..., Any]]] = {
    ("abs", 1): functions.magnitude,
    **dict.fromkeys([(name, 1) for name in ("floor", "ceil", "fix", "round")], functions.fix),
    ("sign", 1): functions.sign,
    ("mod", 2): functions.modulo,
    ("rem", 2): functions.remainder,
    ("max", 2): functions.greater,
    ("min", 2): functions.smaller,
    ("bitand", 2): functions.bits_in_both,
    ("bitor", 2): functions.bits_in_one,
    ("bitxor", 2): functions.bits_that_differ,
    ("idivide", 2): functions.quotient,
}
_OF_UNSIGNED: Final = {**_OF_INTEGERS, ("bitshift", 2): functions.shifted_within}
_OF_SINGLES: Final[Mapping[tuple[str, int], Callable[..., Any]]] = {
    ("abs", 1): functions.magnitude,
    ("floor", 1): functions.floor,
    ("ceil", 1): functions.ceil,
    ("fix", 1): functions.fix,
    ("round", 1): functions.half_away,
    ("sqrt", 1): functions.root,
    ("max", 2): functions.greater,
    ("min", 2): functions.smaller,
}


def functions_of(kind: Kind) -> Mapping[tuple[str, int], Callable[..., Any]]:
    """The builtins that loops know of numbers of a class, by name and number of arguments."""
    if kind == "single":
        return _OF_SINGLES
    return _OF_UNSIGNED if kind.startswith("u") else _OF_INTEGERS


def common(numbers: Sequence[Made], span: Span) -> Kind:
    """The class of what an operation of two numbers gives, of which one is of a class that rounds.

    Raises:
        NotNative: they are of two such classes.

    """
    kinds = {each.kind for each in numbers if each.kind in NARROW}
    if len(kinds) != 1:
        raise NotNative(f"numbers of classes {' and '.join(sorted(kinds))}", span)
    return kinds.pop()
