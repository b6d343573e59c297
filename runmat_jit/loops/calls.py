"""Calls of Python's builtins, of ``math`` and of NumPy's functions on single numbers."""

from __future__ import annotations

import ast
import builtins
import types
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np

from runmat_jit.core.types import NARROW_DTYPES
from runmat_jit.loops import (
    complex_numbers,
    creation,
    draws,
    elements,
    linear,
    lists,
    numpy_draws,
    operations,
    points,
    products,
    slices,
    ways,
)
from runmat_jit.loops.demands import LIMIT, demand, natural, position, whole
from runmat_jit.loops.elements import bounds_of
from runmat_jit.loops.emitter import Emitter
from runmat_jit.loops.source import Chain, chain_of
from runmat_jit.loops.values import (
    FLOAT,
    FLOAT64,
    INT,
    INT64,
    MOST,
    TRUTH,
    Array,
    Complex,
    Item,
    Items,
    NumpyStream,
    Object,
    Scalar,
    Stream,
    Unknown,
    held_as,
    joined,
    literal,
    numpy_kind,
    scalar,
)
from runmat_jit.loops.wholes import is_whole, plain_of
from runmat_jit.ops.table import row_of, row_of_method

_FUNCTIONS: Final = (type, types.BuiltinFunctionType, types.FunctionType)
"""What functions of Python's are."""
_TYPES: Final[dict[Any, np.dtype]] = {
    np.float64: np.dtype(np.float64),
    np.float32: np.dtype(np.float32),
    np.int64: np.dtype(np.int64),
    np.int32: np.dtype(np.int32),
    np.bool_: np.dtype(np.bool_),
    **{dtype.type: dtype for dtype in NARROW_DTYPES},
}
TYPE_CHARS: Final = {"f32": "f", "f64": "f", "i32": "i", "i64": "i", "i1": "b"}


def call(
    e: Emitter, function: ast.expr, args: Sequence[ast.expr], keywords: Sequence[ast.keyword] = ()
) -> Item:
    """A call of a known function, or of a method."""
    base: Item | None = None
    chain = chain_of(function)
    if isinstance(function, ast.Attribute) and chain not in e.chains:
        require_known(e, chain)
        base = e.item(function.value)
        if isinstance(base, Stream):
            return draws.draw(e, base, function.attr, args, keywords)
        if isinstance(base, NumpyStream):
            return numpy_draws.draw(e, base, function.attr, args, keywords)
    named = {each.arg or "": plain_of(e.item(each.value)) for each in keywords}
    if isinstance(function, ast.Attribute) and base is not None:
        return _method(e, base, function.attr, [e.item(arg) for arg in args], named)
    called = e.item(function)
    fn = called.value if isinstance(called, Object) else None
    if isinstance(fn, Hashable) and fn in creation.FILLED:
        return creation.filled(e, fn, args, keywords)
    items = [e.item(arg) for arg in args]
    if not named and isinstance(fn, Hashable):
        of_complex = complex_numbers.called(e.arithmetic, fn, items)
        if of_complex is not None:
            return of_complex
    if fn is len and len(items) == 1:
        return lists.length(e, items[0])
    if fn is np.roll and list(named) == ["axis"]:
        items, named = [*items, Object(named["axis"])], {}
    if any(map(_has_whole, items)):
        return _of_arrays(e, fn, items, named)
    if named:
        raise Unknown("a call with keywords")
    return _of_numbers(e, fn, items)


def _of_arrays(e: Emitter, fn: Any, items: Sequence[Item], named: Mapping[str, Any]) -> Item:
    """A function of NumPy's of what are not all numbers."""
    handler = _OF_ARRAYS.get(fn) if not named and isinstance(fn, Hashable) else None
    if handler is not None:
        return handler(e, items)
    row = row_of(fn) if callable(fn) else None
    if row is None:
        raise Unknown(f"a call of {getattr(fn, '__name__', 'what is not known')} on arrays")
    return operations.by_row(e, row, items, named)


def require_known(e: Emitter, chain: Chain | None) -> None:
    """Refuse a name, with the attributes that are read of it, of which nothing is known.

    Raises:
        Unknown: so it is.

    """
    if chain is not None and chain.name not in e.names:
        taken = range(len(chain.attributes) + 1)
        if not any(Chain(chain.name, chain.attributes[:count]) in e.chains for count in taken):
            raise Unknown(f"{chain} is not known to loops")


def _of_numbers(e: Emitter, fn: Any, items: Sequence[Item]) -> Item:
    """A function of single numbers."""
    if fn in (np.array, np.stack) and len(items) == 1:
        return creation.array_of(e, items[0])
    if any(isinstance(item, Items | Object) for item in items):
        raise Unknown(f"a call of {getattr(fn, '__name__', 'what is not known')} with no scalar")
    operands = [scalar(item) for item in items]
    if isinstance(fn, np.ufunc):
        if len(operands) != fn.nin or fn.nout != 1:
            raise Unknown(f"numpy.{fn.__name__} with other arguments")
        return e.arithmetic.ufunc(fn, operands)
    if isinstance(fn, types.BuiltinFunctionType) and fn.__module__ == "math":
        return e.arithmetic.math(fn, operands)
    handler = _BUILTINS.get(fn) if isinstance(fn, _FUNCTIONS) else None
    if handler is not None:
        return handler(e, [*operands])
    if isinstance(fn, type) and fn in _TYPES and len(operands) == 1:
        return _of_numpy(e, operands[0], _TYPES[fn])
    raise Unknown(f"a call of {getattr(fn, '__name__', 'what is not known')}")


def _method(
    e: Emitter, base: Item, name: str, args: Sequence[Item], keywords: Mapping[str, Any]
) -> Item:
    """A method of an array or a number."""
    if isinstance(base, Scalar) and name in ("item", "copy") and not args and not keywords:
        return _python_number(e, base) if name == "item" else _same_number(base)
    if isinstance(base, Object) and isinstance(base.value, np.ufunc):
        return _method_of_ufunc(e, base.value, name, args, keywords)
    if isinstance(base, Complex) and not args and not keywords:
        return complex_numbers.methods(e.arithmetic, base, name)
    if not is_whole(base):
        raise Unknown(f"the method {name}")
    if name in _METHODS and not keywords:
        return _METHODS[name](e, [base, *args])
    row = row_of_method(name)
    if row is None:
        raise Unknown(f"the method {name} of arrays")
    return operations.by_method(e, row, base, args, keywords)


def _method_of_ufunc(
    e: Emitter, fn: np.ufunc, name: str, args: Sequence[Item], keywords: Mapping[str, Any]
) -> Item:
    """``np.add.outer(a, b)`` of arrays, and ``np.add.reduce(x, axis=0)``."""
    if name == "outer" and len(args) == 2 and not keywords and any(map(is_whole, args)):
        a, b = (points.settled(e, arg) for arg in args)
        if isinstance(a, Array) and isinstance(b, Array):
            axes = (*a.axes, *(elements.single(e) for _ in b.axes))
            a = replace(a, axes=axes, whole=False)
        return _of_arrays(e, fn, [a, b], {})
    if name == "reduce" and len(args) == 1 and fn in _REDUCED and is_whole(args[0]):
        named = {"axis": 0} | dict(keywords)
        if named.keys() == {"axis"} and type(named["axis"]) is int:
            return _of_arrays(e, _REDUCED[fn], args, named)
    raise Unknown(f"{fn.__name__}.{name} called in this way")


def _python_number(e: Emitter, x: Scalar) -> Scalar:
    """``x.item()``: the number as one of Python's."""
    if any(kind.python for kind in x.kinds):
        raise Unknown("item() of a Python number")
    return _as_python(e, x)


def _same_number(x: Scalar) -> Scalar:
    """``x.copy()``: the same number."""
    if any(kind.python for kind in x.kinds):
        raise Unknown("copy() of a Python number")
    return x


def _as_python(e: Emitter, x: Scalar) -> Scalar:
    dtype = {"f": FLOAT, "i": INT, "b": TRUTH}[TYPE_CHARS[x.type]]
    value = e.arithmetic.cast(x, dtype.dtype)
    return Scalar(frozenset((dtype,)), value, x.low, x.high, x.top, x.literal, x.narrow)


def _of_numpy(e: Emitter, x: Scalar, dtype: np.dtype) -> Scalar:
    """``np.float64(x)`` and its siblings."""
    if x.is_float and dtype.kind in "iu":
        raise Unknown("a float becomes an integer of NumPy's")
    value, bounds = e.arithmetic.cast(x, dtype), bounds_of(dtype)
    if dtype.kind in "iu" and not x.is_float:
        bounds = max(x.low, bounds[0]), min(x.high, bounds[1])
    return Scalar(frozenset((numpy_kind(dtype),)), value, *bounds, narrow=value.type == "f32")


def _extreme(e: Emitter, operands: Sequence[Scalar], op: str) -> Scalar:
    """``min`` or ``max`` of Python's: a later number wins where it compares so."""
    found = operands[0]
    for other in operands[1:]:
        best = found
        wins = e.arithmetic.truth(e.arithmetic.operate(op, other, best))
        met = joined(other, best)
        if not isinstance(met, Scalar):
            raise Unknown("the least or greatest of several classes")
        chosen = e.k.select(wins, held_as(e.k, other, met.type), held_as(e.k, best, met.type))
        numpys = ways.is_numpys(e, other), ways.is_numpys(e, best)
        found = replace(met, value=chosen, literal=None, top=None, line=None)
        if isinstance(numpys[0], Scalar) and isinstance(numpys[1], Scalar):
            is_numpys = e.k.select(wins, numpys[0].value, numpys[1].value)
            e.numpys[chosen.number] = Scalar(frozenset((TRUTH,)), is_numpys)
    return found


def _integer(e: Emitter, x: Scalar) -> Scalar:
    if x.is_float:
        return e.arithmetic.whole(e.k.prim("trunc_float", e.arithmetic.cast(x, FLOAT64)))
    if x.type == "i1":
        value = e.arithmetic.cast(x, INT64)
        return Scalar(frozenset((INT,)), value, 0, 1)
    return _as_python(e, x)


def _demanded(e: Emitter, holds: Scalar, value: Scalar) -> Scalar:
    """``demand(holds, value)``."""
    if holds.literal is not True:
        truth = e.arithmetic.truth(holds)
        e.k.leave_if(e.k.prim("xor", truth, True))
    return value


def _whole(e: Emitter, x: Scalar) -> Scalar:
    """``whole(x)``: the integer that a float is."""
    if not x.is_float:
        return _integer(e, x)
    k, value = e.k, e.arithmetic.cast(x, FLOAT64)
    k.leave_if(k.prim("xor", k.prim("abs", value) <= float(LIMIT), True))
    found = k.convert("fptosi", value, "i64")
    k.leave_if(k.ne(k.convert("sitofp", found, "f64"), value))
    return Scalar(frozenset((INT,)), found, -LIMIT, LIMIT)


def _natural(e: Emitter, x: Scalar) -> Scalar:
    """``natural(x)``: an integer that is not negative."""
    if x.is_float or x.type == "i1":
        raise Unknown("an integer is wanted")
    if x.low < 0:
        e.k.leave_if(x.value < 0)
    return replace(x, low=max(x.low, 0), high=max(x.high, 0))


def _position(e: Emitter, x: Scalar) -> Scalar:
    """``position(x)``: a place counted from 0."""
    found = e.arithmetic.operate("Sub", _whole(e, x), literal(e.k, 1))
    return _natural(e, found)


def _magnitude(e: Emitter, x: Scalar) -> Scalar:
    if x.type == "i1":
        raise Unknown("the magnitude of a truth value")
    if x.is_float:
        value = e.k.prim("abs", x.value)
        return replace(x, value=value, literal=None, top=None)
    low = max(bounds_of(kind.dtype)[0] for kind in x.kinds)
    if x.low <= low:
        e.k.leave_if(e.k.eq(x.value, low))
    value = e.k.prim("abs", x.value)
    high = max(abs(x.low), abs(x.high))
    return Scalar(x.kinds, value, 0, min(high, MOST), None)


def _taking(count: int, handler: Callable[..., Item]) -> Callable[[Emitter, list[Scalar]], Item]:
    """Return a handler of calls with so many arguments."""

    def handle(e: Emitter, operands: list[Scalar]) -> Item:
        if len(operands) != count:
            raise Unknown("a call with another number of arguments")
        return handler(e, *operands)

    return handle


def _one(handler: Callable[[Emitter, Scalar], Item]) -> Callable[[Emitter, list[Scalar]], Item]:
    return _taking(1, handler)


def _several(op: str) -> Callable[[Emitter, list[Scalar]], Item]:
    def handle(e: Emitter, operands: list[Scalar]) -> Item:
        if len(operands) < 2:
            raise Unknown("the least or greatest of one value")
        return _extreme(e, operands, op)

    return handle


def _truth(e: Emitter, x: Scalar) -> Item:
    return Scalar(frozenset((TRUTH,)), e.arithmetic.truth(x))


def _float(e: Emitter, x: Scalar) -> Item:
    value = e.arithmetic.cast(x, FLOAT64)
    return Scalar(frozenset((FLOAT,)), value, narrow=x.narrow)


_BUILTINS: Final[dict[Any, Callable[[Emitter, list[Scalar]], Item]]] = {
    builtins.abs: _one(_magnitude),
    builtins.min: _several("Lt"),
    builtins.max: _several("Gt"),
    builtins.int: _one(_integer),
    builtins.float: _one(_float),
    builtins.bool: _one(_truth),
    demand: _taking(2, _demanded),
    natural: _one(_natural),
    position: _one(_position),
    whole: _one(_whole),
}


def _has_whole(item: Item) -> bool:
    """Whether arrays are among some values."""
    return any(map(_has_whole, item.items)) if isinstance(item, Items) else is_whole(item)


def _like(number: int) -> Callable[[Emitter, Sequence[Item]], Item]:
    def handle(e: Emitter, items: Sequence[Item]) -> Item:
        return creation.like(e, items[0] if len(items) == 1 else Items(()), number)

    return handle


_OF_ARRAYS: Final[dict[Any, Callable[[Emitter, Sequence[Item]], Item]]] = {
    np.matmul: products.product,
    np.dot: products.dot,
    np.inner: products.inner_product,
    np.matvec: products.matrix_vector,
    np.outer: products.outer_product,
    np.stack: creation.stacked,
    np.roll: creation.rolled,
    np.cumsum: creation.accumulated,
    np.zeros_like: _like(0),
    np.ones_like: _like(1),
    np.empty_like: _like(0),
    np.flip: slices.flipped,
    **linear.HANDLERS,
}
_REDUCED: Final[dict[np.ufunc, Any]] = {
    np.add: np.sum,
    np.multiply: np.prod,
    np.maximum: np.max,
    np.minimum: np.min,
}
"""Functions that reduce arrays as a ufunc does."""
_METHODS: Final = {"dot": products.dot, "cumsum": creation.accumulated}
