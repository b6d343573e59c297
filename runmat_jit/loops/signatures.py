"""Signatures of functions and methods in loops: one test of operands, one refusal, for all.

A table has, for each function, pairs of operands and of what emits the call. The first pair whose
operands fit is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from typing import Any, Final

from runmat_jit.core.frozen import frozen_object
from runmat_jit.loops.emitter import Emitter
from runmat_jit.loops.values import Complex, Item, Items, Scalar, Unknown
from runmat_jit.loops.whole_arrays import is_whole, plain_of

Operand = Callable[[Item], bool]
"""Returns True for the items that an operand may be."""


@frozen_object
class Signature:
    """Operands of a call, and what emits it: it is given the emitter and the items.

    ``more``: any number of operands like the last one may follow.
    """

    operands: tuple[Operand, ...]
    emit: Callable[..., Item]
    more: bool = False

    def fits(self, items: Sequence[Item]) -> bool:
        """Return True if items are such operands."""
        own = self.operands
        if self.more:
            own += own[-1:] * (len(items) - len(own))
        return len(items) == len(own) and all(
            fits(item) for fits, item in zip(own, items, strict=True)
        )


Table = Mapping[Any, Sequence[Signature]]


def signature_of(table: Table, key: Any, items: Sequence[Item]) -> Signature | None:
    """The signature of a function or a method that items fit."""
    own = table.get(key, ()) if isinstance(key, Hashable) else ()
    return next((each for each in own if each.fits(items)), None)


def apply(e: Emitter, table: Table, key: Any, items: Sequence[Item]) -> Item:
    """Emit a call.

    Raises:
        Unknown: the table has none with these operands.

    """
    signature = signature_of(table, key, items)
    if signature is None:
        raise refusal(table, key)
    return signature.emit(e, *items)


def refusal(table: Table, key: Any) -> Unknown:
    """Return the refusal of a call that a table does not know, or not with these operands."""
    name = key if isinstance(key, str) else getattr(key, "__name__", "what is not known")
    known = isinstance(key, Hashable) and key in table
    return Unknown(f"a call of {name}{' with these arguments' if known else ''}")


# -- operands --------------------------------------------------------------------------------------
def array(*ranks: int, of: Collection[Any] | None = None, kinds: str = "") -> Operand:
    """Arrays of some ranks, of these dtypes, of dtypes of these kinds; of all where not given."""

    def fits(x: Item) -> bool:
        if not is_whole(x):
            return False
        if (of is not None and x.dtype not in of) or (kinds and x.dtype.kind not in kinds):
            return False
        return not ranks or len(x.axes) in ranks

    return fits


def listed(operand: Operand) -> Operand:
    """Tuples and lists of at least one such operand."""
    return lambda x: isinstance(x, Items) and bool(x.items) and all(map(operand, x.items))


def is_number(x: Item) -> bool:
    """Return True for real numbers."""
    return isinstance(x, Scalar)


def is_numeric(x: Item) -> bool:
    """Return True for real numbers that are no truth values."""
    return isinstance(x, Scalar) and x.type != "i1"


def is_integer(x: Item) -> bool:
    """Return True for integers."""
    return isinstance(x, Scalar) and not x.is_float and x.type != "i1"


def is_floating(x: Item) -> bool:
    """Return True for floats."""
    return isinstance(x, Scalar) and x.is_float


def is_complex_number(x: Item) -> bool:
    """Return True for complex numbers."""
    return isinstance(x, Complex)


def is_any_number(x: Item) -> bool:
    """Return True for real and complex numbers."""
    return isinstance(x, Scalar | Complex)


def of_numpys(operand: Operand) -> Operand:
    """Such operands that are NumPy's scalars for sure."""
    return lambda x: operand(x) and not any(kind.python for kind in getattr(x, "kinds", ()))


def is_written(x: Item) -> bool:
    """Return True for an integer that is written in the program."""
    return type(plain_of(x)) is int


VECTOR: Final = array(1)
MATRIX: Final = array(2)
ARRAY: Final = array()
