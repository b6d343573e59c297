"""``RUNMAT_VERIFY=2``: each repeated call is compared with the undecorated function."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from runmat_jit.array import Array
from runmat_jit.capture.function import CapturedFunction
from runmat_jit.capture.known import record_of
from runmat_jit.capture.tape.pytree import take_apart
from runmat_jit.core.errors import RunMatError

RELATIVE = {"f": 1e-4, "d": 1e-10, "F": 1e-4, "D": 1e-10}
"""Tolerance of values by dtype, relative to the largest finite magnitude of the result: room for
the documented bounds of long chains and sums."""


class VerificationError(RunMatError, AssertionError):
    """A captured call differs from the undecorated function."""


def verified_call(function: CapturedFunction, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The captured result, compared with plain Python's on deep copies (sharing kept).

    Only calls that have a finished trace are compared: those repeat no effect.

    Raises:
        VerificationError: type, dtype, shape, strides, identity, mutation or values differ.

    """
    if not has_trace(function, args, kwargs):
        return function.call(args, kwargs)
    plain_args, plain_kwargs = copy.deepcopy((args, kwargs))
    with np.errstate(all="ignore"):
        expected = function.fn(*plain_args, **plain_kwargs)
    result = function.call(args, kwargs)
    name = function.fn.__qualname__
    compare(expected, result, f"the result of {name}")
    compare(plain_args, args, f"an argument of {name} after the call")
    compare(plain_kwargs, kwargs, f"an argument of {name} after the call")
    for number, (theirs, ours) in enumerate(zip(plain_args, args, strict=True)):
        if (expected is theirs) != (result is ours):
            raise VerificationError(f"{name}: the result's identity with argument {number} differs")
    return result


def has_trace(function: CapturedFunction, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """True if calls like this one may be repeated without Python."""
    record = record_of(function, args, kwargs)
    return record is not None and bool(record.root.outcomes) and not record.ordered


def compare(expected: Any, found: Any, what: str) -> None:
    """Refuse a difference in anything that a caller can see.

    Text counts by its class alone: it may show the last digits of numbers that differ by less than
    the tolerance.

    Raises:
        VerificationError: with what differs.

    """
    if type(expected) is not type(found):
        kinds = f"{type(expected).__name__}, not {type(found).__name__}"
        raise VerificationError(f"{what} should be a {kinds}")
    if isinstance(expected, np.ndarray):
        facts = [(a.dtype, a.shape, a.strides, a.flags.writeable) for a in (expected, found)]
        if facts[0] != facts[1]:
            raise VerificationError(f"{what} should have {facts[0]}, not {facts[1]}")
    if isinstance(expected, Array):
        expected, found = expected._show(), found._show()
    if isinstance(expected, (np.ndarray, np.generic, float, int, complex)):
        if not close(np.asarray(expected), np.asarray(found)):
            raise VerificationError(f"{what} should be {expected!r}, not {found!r}")
        return
    apart, other = take_apart(expected), take_apart(found)
    if apart is None or other is None:
        return
    if apart[0] != other[0] or len(apart[1]) != len(other[1]):
        raise VerificationError(f"{what} has another structure")
    for theirs, ours in zip(apart[1], other[1], strict=True):
        compare(theirs, ours, what)


def close(expected: np.ndarray, found: np.ndarray) -> bool:
    """Equal, NaN for NaN, or within the tolerance of floats."""
    if expected.dtype.char not in RELATIVE:
        return bool(np.array_equal(expected, found))
    finite = np.abs(expected[np.isfinite(expected)])
    scale = float(finite.max()) if finite.size else 0.0
    tolerance = RELATIVE[expected.dtype.char]
    with np.errstate(all="ignore"):
        return bool(np.allclose(found, expected, tolerance, tolerance * scale, equal_nan=True))
