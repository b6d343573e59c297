"""Bailout: calls from which nothing is gained are counted, and after some of them bypassed."""

from __future__ import annotations

import types
from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, cast

import numpy as np

from runmat_jit.core.locks import new_lock

BAILOUT_CALLS: Final = 16
"""Calls in a row, with arguments of one kind, in none of which a kernel ran or Python did not."""
_KINDS: Final = 64
"""Kinds of arguments that are counted; those seen least recently go."""


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


def kind_of(value: Any) -> Hashable:
    """Kind of one argument."""
    if type(value) is not np.ndarray:
        return cast("Hashable", type(value))
    dtype = value.dtype
    return OfArray(dtype if dtype.kind in "biufcO" else type(dtype))


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


@dataclass(slots=True)
class Tally:
    """Fruitless calls in a row with arguments of one kind; a fruitful one sets it to 0."""

    count: int = 0


class Bailout:
    """Counts unprofitable calls of a function, by the kinds of their arguments."""

    def __init__(self, fn: types.FunctionType) -> None:
        self._fn, self._code = fn, fn.__code__
        self.kinds: tuple[Kind, ...] = ()
        """With which the function is plain Python from now on; the last one first."""
        self._tallies: OrderedDict[Kind, Tally] = OrderedDict()
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
            tally = self._tallies.setdefault(kind, Tally())
            self._tallies.move_to_end(kind)
            if len(self._tallies) > _KINDS:
                self._tallies.popitem(last=False)
                self.kinds = tuple(kind for kind in self.kinds if kind in self._tallies)
            return tally

    def unprofitable(self, kind: Kind, calls: int = 1) -> bool:
        """Count a call, or several: whether it was the last of its kind that is recorded."""
        tally = self.tally(kind)
        before = tally.count
        tally.count += calls
        if not before < BAILOUT_CALLS <= tally.count:
            return False
        self.kinds = (kind, *self.kinds)
        return True

    def holds(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
        """Whether a call with such arguments is plain Python."""
        return bool(self.kinds) and self.kind(args, kwargs) in self.kinds
