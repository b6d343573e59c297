"""Bailout: unprofitable calls are counted, and after some of them bypassed: plain Python."""

from __future__ import annotations

import sys
import types
from collections import OrderedDict
from collections.abc import Hashable
from typing import Any, Final, NamedTuple, cast

import numpy as np

from runmat_jit.core.hotness import AGAIN, ENTRIES, FAILURES, KINDS, OFTEN
from runmat_jit.core.locks import new_lock
from runmat_jit.core.prices import COMPILING, RECORDING
from runmat_jit.core.slotted import slotted

BAILOUT_CALLS: Final = 2 * OFTEN
"""Calls in a row, with arguments of one kind, none of which has gained anything."""
RECORDED_AGAIN: Final = BAILOUT_CALLS // FAILURES
"""As how many of them a recording counts that no replay can repeat."""
RAISED: Final = BAILOUT_CALLS // AGAIN
"""Likewise, a recording of a call that raises."""
UNPAID: Final = COMPILING
"""Price of recordings and replays with arguments of one kind, in calls of NumPy, that the work of
others has not paid.
"""
DEAREST: Final = UNPAID // 8
"""Price that one of them has at most: the first ones may be dear."""
PATIENCE: Final = RECORDING
"""Calls of NumPy that calls which do not raise any more must have been worth to be recorded."""
LET_THROUGH: Final = ENTRIES // 4
"""Kinds of calls that a native entry or a bypass knows; others are looked up by Python."""
EVERY: Final = sys.maxsize
"""More elements than an array has."""


class Kind(NamedTuple):
    """Kinds of a call's arguments: classes, and dtypes of arrays, each None if not given."""

    named: tuple[Hashable, ...]
    """Of the function's parameters, in order."""
    rest: tuple[Hashable, ...]
    """Of further positional arguments."""
    more: tuple[tuple[str, Hashable], ...]
    """Of further keyword arguments."""


class OfArray(NamedTuple):
    """An array of one dtype; of text, dates and records, whose dtypes are many, of one class."""

    dtype: np.dtype | type[np.dtype]
    number: int
    """By which ``longlong`` differs from ``int64``, which it equals."""


def kind_of(value: Any) -> Hashable:
    """Kind of one argument."""
    if type(value) is not np.ndarray:
        return cast("Hashable", type(value))
    dtype = value.dtype
    return OfArray(dtype if dtype.kind in "biufcO" else type(dtype), dtype.num)


def kind_of_call(code: types.CodeType, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Kind:
    """Kind of a call of a function with this code."""
    names, positional = parameters(code), code.co_argcount
    given = dict(zip(names[:positional], args, strict=False))
    by_name = names[code.co_posonlyargcount :]
    given |= {name: value for name, value in kwargs.items() if name in by_name}
    return Kind(
        tuple([kind_of(given[name]) if name in given else None for name in names]),
        tuple(map(kind_of, args[positional:])),
        tuple([(name, kind_of(v)) for name, v in kwargs.items() if name not in by_name]),
    )


def parameters(code: types.CodeType) -> tuple[str, ...]:
    """The names of a function's parameters, but for ``*args`` and ``**kwargs``."""
    return code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]


def size_of(args: tuple[Any, ...], kwargs: dict[str, Any]) -> int:
    """Elements of the largest array among the arguments."""
    arrays = [value for value in (*args, *kwargs.values()) if type(value) is np.ndarray]
    return max([array.size for array in arrays], default=0)


def below(size: int) -> int:
    """A power of two above a size: what is found out at one size is taken to hold for less."""
    return 1 << size.bit_length()


@slotted
class Patience:
    """Calls that are let through because they raise; some that do not end it."""

    work: int = 0
    """Of the kernels in one call, in calls of NumPy."""
    returned: int = 0

    def ends(self) -> bool:
        """Count a call that has not raised: whether enough have not."""
        self.returned += 1
        return self.returned * (1 + self.work) >= PATIENCE


@slotted
class Tally:
    """Fruitless calls in a row with arguments of one kind; a fruitful one sets it to 0.

    ``ours``: compiled results may differ from NumPy's in the last bits; ``patience``: some of those
    counted raised; ``below``: the elements that none of their arrays reached; ``unpaid``: price of
    recordings, less the work of replays.
    """

    count: int = 0
    unpaid: int = 0
    ours: bool = False
    patience: Patience | None = None
    below: int = 0
    told: bool = False
    """The log has a line that they are plain Python."""

    def gained(self) -> None:
        """Count a fruitful call."""
        self.count = self.unpaid = 0

    def replayed(self, work: int) -> None:
        """Count replays that gained something: so much work of kernels, in calls of NumPy."""
        self.count, self.unpaid = 0, max(0, self.unpaid - max(1, work))

    def add(self, calls: int, below: int, patience: Patience | None) -> None:
        """Count a fruitless call."""
        if not self.count:
            self.patience, self.below = None, 0
        self.count += calls
        self.patience = patience or self.patience
        self.below = max(self.below, below)


class LetThrough(NamedTuple):
    """Calls that are plain Python from now on."""

    kind: Kind
    below: int = EVERY
    """The elements that none of their arrays reaches."""
    patience: Patience | None = None
    """While they raise."""

    def holds(self, kind: Kind, size: int) -> bool:
        """True if a call of a kind is one of them; ``size``: of its largest array."""
        return self.kind == kind and size < self.below


class Bailout:
    """Counts unprofitable calls of a function, by the kinds of their arguments."""

    def __init__(self, fn: types.FunctionType) -> None:
        self._fn, self._code = fn, fn.__code__
        self.kinds: tuple[LetThrough, ...] = ()
        """What is plain Python from now on; the last one first."""
        self.told = False  # in the log
        self._tallies: OrderedDict[Kind, Tally] = OrderedDict()
        self._forgotten = Tally()
        """Properties of the kinds that are counted no more."""
        self._lock = new_lock()

    def kind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Kind:
        """The kind of a call. A function that has got other code is another one."""
        code = self._fn.__code__
        if code is not self._code:
            with self._lock:
                self._code, self.kinds = code, ()
                self._tallies.clear()
        return kind_of_call(code, args, kwargs)

    def tally(self, kind: Kind) -> Tally:
        """The count of the calls of a kind."""
        with self._lock:
            gone = self._forgotten
            tally = self._tallies.setdefault(kind, Tally(ours=gone.ours))
            self._tallies.move_to_end(kind)
            if len(self._tallies) > KINDS:
                oldest, left = self._tallies.popitem(last=False)
                gone.ours = gone.ours or left.ours
                self.kinds = tuple(each for each in self.kinds if each.kind != oldest)
            return tally

    def of_tally(self, tally: Tally) -> LetThrough | None:
        """How calls are let through that have a count, if they are."""
        with self._lock:
            kind = next((kind for kind, each in self._tallies.items() if each is tally), None)
        return next((each for each in self.kinds if each.kind == kind), None)

    def unprofitable(self, kind: Kind, price: int = 0, *, below: int = EVERY) -> bool:
        """Count a call: whether such calls are plain Python from now on, as never yet.

        ``price``: of what was tried; ``below``: elements that no array among the arguments reaches.
        """
        return self._count(kind, BAILOUT_CALLS if self._owes(kind, price) else 1, below, None)

    def fruitless(self, kind: Kind, below: int, work: int, *, raised: bool) -> bool:
        """Count a recording that no replay can repeat, likewise; ``work``: of its kernels."""
        calls = RAISED if raised else RECORDED_AGAIN
        return self._count(kind, calls, below, Patience(work) if raised else None)

    def unrepeated(self, kind: Kind, below: int, price: int) -> bool:
        """Count a recording that a replay can repeat, likewise: few may ever come."""
        self.tally(kind).count = 0
        return self._owes(kind, price) and self._count(kind, BAILOUT_CALLS, below, None)

    def _owes(self, kind: Kind, price: int) -> bool:
        """Count a price: whether it is too much by now."""
        tally = self.tally(kind)
        tally.unpaid += min(price, DEAREST)
        if tally.unpaid < UNPAID:
            return False
        tally.unpaid = 0
        return True

    def _count(self, kind: Kind, calls: int, below: int, patience: Patience | None) -> bool:
        tally = self.tally(kind)
        tally.add(calls, below, patience)
        if tally.count < BAILOUT_CALLS:
            return False
        tally.count, told, tally.told = 0, tally.told, True
        self.let_through(LetThrough(kind, tally.below, tally.patience))
        return not told

    def let_through(self, made: LetThrough) -> None:
        """Let calls through from now on; larger ones of the kind stay let through."""
        with self._lock:
            same = [each for each in self.kinds if each.kind == made.kind]
            others = tuple(each for each in self.kinds if each.kind != made.kind)
            below = [each.below for each in same if each.patience is None]
            if made.patience is None:
                made = made._replace(below=max([made.below, *below]))
            self.kinds = (made, *others)

    def has_returned(self, let_through: LetThrough) -> bool:
        """Count a call that was to raise, and has not: whether such calls are looked at again."""
        patience = let_through.patience
        if patience is None or not patience.ends():
            return False
        with self._lock:
            self.kinds = tuple(each for each in self.kinds if each is not let_through)
        return True

    def find(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> LetThrough | None:
        """How a call with such arguments is let through, if it is."""
        if not self.kinds:
            return None
        kind, size = self.kind(args, kwargs), size_of(args, kwargs)
        return next((each for each in self.kinds if each.holds(kind, size)), None)
