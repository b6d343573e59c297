"""Lengths that a program asks for while extents have formulas: ``len(x)``, ``x.shape``, ``x.size``.

The program gets a traced number, as for arguments that are numbers: arithmetic is repeated by a
replay, and where Python decides by it, the trace holds for that. It also keeps its formula, so that
slices, shapes and new arrays that are made of it are formulas as well.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

from runmat_jit.capture.record.recording import Recording
from runmat_jit.capture.record.traced import Traced
from runmat_jit.capture.tape.values import PYTHON
from runmat_jit.core.extent import Extent, plain

_COUNTED: Final = ("add", "sub", "mul", "floordiv", "mod", "neg", "min", "max", "pos")
"""Names of arithmetic that a formula has, too."""


def length_of(recording: Recording, extent: int) -> Any:
    """Extent as the program sees it; numbers that are no formulas are what they are."""
    symbols = recording.symbols
    if symbols is None or recording.closed or not isinstance(extent, Extent):
        return plain(extent)
    known = symbols.lengths.get(extent.name)
    if known is None:
        slot = recording.slot()
        known = Traced(recording, slot, PYTHON, held=plain(extent), roots=frozenset())
        known._rm_extent = extent
        symbols.lengths[extent.name] = known
        recording.tape.length(slot, extent)
    return known


def shape_of(recording: Recording, shape: tuple[int, ...]) -> tuple[Any, ...]:
    """``x.shape`` of an array."""
    return tuple([length_of(recording, extent) for extent in shape])


def count_of(recording: Recording, shape: tuple[int, ...]) -> Any:
    """``x.size`` of an array."""
    return length_of(recording, math.prod(shape))


def formula_of(fn: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    """The formula of arithmetic on lengths and whole numbers; None where there is none.

    It may be a number, under the conditions that its arithmetic has noted.
    """
    if not any(is_length(arg) for arg in args):
        return None
    operands = [arg._rm_extent if is_length(arg) else arg for arg in args]
    if not all(type(operand) is int or isinstance(operand, Extent) for operand in operands):
        return None
    if fn is int:
        return operands[0]
    return fn(*operands) if fn.__name__ in _COUNTED else None


def is_length(value: Any) -> bool:
    """True if a value is a traced number with a formula."""
    return type(value) is Traced and value._rm_extent is not None


def in_formulas(value: Any) -> Any:
    """A key or shape with formulas for the lengths in it."""
    return _replaced(value, lambda length: length._rm_extent)


def in_numbers(value: Any) -> Any:
    """A key or shape with this call's numbers for the lengths in it."""
    return _replaced(value, lambda length: length._rm_held)


def _replaced(value: Any, choose: Callable[[Traced], Any]) -> Any:
    kind = type(value)
    if kind is Traced:
        return choose(value) if value._rm_extent is not None else value
    if kind is slice:
        return slice(*[_replaced(part, choose) for part in (value.start, value.stop, value.step)])
    if kind is tuple or kind is list:
        return kind([_replaced(part, choose) for part in value])
    return value
