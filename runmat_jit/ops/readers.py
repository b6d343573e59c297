"""Readers of calls: how arguments of NumPy's functions, methods and ufuncs become operands.

Operands are opaque: a reader looks at the identity and class of other arguments only, so that
traced values pass through untouched.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from functools import wraps
from typing import Any

import numpy as np

from runmat_jit.core.extent import Extent
from runmat_jit.core.types import DUPLICATES
from runmat_jit.ops.spec import Bound

Arguments = tuple[Any, ...]
Keywords = Mapping[str, Any]
Bind = Callable[[Arguments, Keywords], Bound | None]
Axis = int | tuple[int, ...] | None

_UFUNC_DEFAULTS: dict[str, object] = {
    "where": True,
    "casting": "same_kind",
    "order": "K",
    "dtype": None,
    "subok": True,
}
_NO_OPERAND = (list, tuple, dict, str, bytes, range, type(None))


class NotCovered(Exception):  # noqa: N818 -- raised and caught by readers only: not an error
    """A form of the call that the row leaves to NumPy."""


def reader(read: Callable[[Arguments, Keywords], Bound]) -> Bind:
    """A ``bind`` from a function that raises :class:`NotCovered`."""

    @wraps(read)
    def bind(args: Arguments, kwargs: Keywords) -> Bound | None:
        try:
            return read(args, kwargs)
        except NotCovered:
            return None

    return bind


def arguments(
    args: Arguments, kwargs: Keywords, names: tuple[str, ...], required: int = 1
) -> dict[str, Any]:
    """Arguments by name, the missing and ``np._NoValue`` left out.

    Raises:
        NotCovered: too many or too few, an unknown keyword, or one given twice.

    """
    if len(args) > len(names):
        raise NotCovered
    given = dict(zip(names, args, strict=False))
    if any(name not in names or name in given for name in kwargs):
        raise NotCovered
    given.update(kwargs)
    given = {name: value for name, value in given.items() if value is not np._NoValue}
    if any(name not in given for name in names[:required]):
        raise NotCovered
    return given


def require_defaults(given: Keywords, defaults: Mapping[str, object]) -> None:
    """Refuse keywords whose value is not the default one."""
    for name, default in defaults.items():
        if name in given:
            value = given[name]
            if value is not default and not (type(value) is type(default) and value == default):
                raise NotCovered


def operand(value: Any) -> Any:
    """The value, unless it is a container that NumPy would convert."""
    if isinstance(value, _NO_OPERAND):
        raise NotCovered
    return value


def destination(out: Any) -> Any:
    """The one array of ``out=``."""
    if isinstance(out, tuple):
        if len(out) != 1:
            raise NotCovered
        out = out[0]
    if out is Ellipsis:
        raise NotCovered
    return out


def whole(value: Any) -> int:
    """A plain whole number."""
    if type(value) is int or isinstance(value, Extent):
        return value  # type: ignore[return-value]  # as extent()
    if isinstance(value, np.integer):
        return int(value)
    raise NotCovered


def axis_of(value: Any) -> Axis:
    """``axis=`` as an int, a tuple of ints, or None."""
    if value is None:
        return None
    return tuple(map(whole, value)) if isinstance(value, tuple) else whole(value)


def flag(value: Any) -> bool:
    """A plain truth value."""
    if type(value) is bool:
        return value
    raise NotCovered


def dtype_of(value: Any) -> str | None:
    """``dtype=`` by name, None for NumPy's default."""
    if value is None:
        return None
    if not isinstance(value, (np.dtype, type, str)):
        raise NotCovered
    try:
        dtype = np.dtype(value)
    except TypeError:
        raise NotCovered from None
    if not dtype.isnative or dtype.kind not in "bifc" or dtype.char in DUPLICATES:
        raise NotCovered
    return dtype.name


def shape_of(value: Any) -> tuple[int, ...]:
    """A shape of plain whole numbers, none of them negative."""
    shape = tuple(map(whole, value)) if isinstance(value, (tuple, list)) else (whole(value),)
    if any(extent < 0 for extent in shape):
        raise NotCovered
    return shape


def order_of(value: Any) -> str:
    """``order=`` where it is C or K."""
    if type(value) is str and value in ("C", "K"):
        return value
    raise NotCovered


def ufunc_reader(arity: int, *, positional_out: bool = True) -> Bind:
    """Reads a ufunc or an operator: operands, then ``out``, which may be positional."""

    def read(args: Arguments, kwargs: Keywords) -> Bound:
        if not arity <= len(args) <= arity + positional_out:
            raise NotCovered
        if any(name != "out" and name not in _UFUNC_DEFAULTS for name in kwargs):
            raise NotCovered
        if len(args) > arity and "out" in kwargs:
            raise NotCovered
        require_defaults(kwargs, _UFUNC_DEFAULTS)
        out = args[arity] if len(args) > arity else kwargs.get("out")
        return Bound(tuple(map(operand, args[:arity])), {}, destination(out))

    return reader(read)


def method_reader(names: tuple[str, ...], params: Mapping[str, Callable[[Any], Hashable]]) -> Bind:
    """Reads a function or method of one array whose other arguments are parameters.

    Args:
        names: The arguments' names in order, the array first; ``out`` is the destination.
        params: For each parameter, what reads it; ``params`` holds all of them, None by default.

    """

    def read(args: Arguments, kwargs: Keywords) -> Bound:
        given = arguments(args, kwargs, names)
        values = {
            name: parse(given[name]) if name in given else None for name, parse in params.items()
        }
        return Bound((operand(given[names[0]]),), values, destination(given.get("out")))

    return reader(read)
