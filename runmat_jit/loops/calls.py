"""Calls of Python's builtins, of ``math`` and of NumPy's functions on single numbers."""

from __future__ import annotations

import ast
import builtins
import types
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np

from runmat_jit.loops import complex_numbers
from runmat_jit.loops.demands import LIMIT, demand, natural, position, whole
from runmat_jit.loops.draws import Draws
from runmat_jit.loops.elements import bounds_of
from runmat_jit.loops.source import chain_of
from runmat_jit.loops.values import (
    FLOAT,
    FLOAT64,
    INT,
    INT64,
    LEAST,
    MOST,
    TRUTH,
    Array,
    Complex,
    Item,
    Items,
    Object,
    Scalar,
    Stream,
    Unknown,
    held_as,
    joined,
    literal,
    numpy_kind,
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
}
TYPE_CHARS: Final = {"f32": "f", "f64": "f", "i32": "i", "i64": "i", "i1": "b"}


class Calls(Draws):
    """Emits calls."""

    __slots__ = ()

    def call(
        self, function: ast.expr, args: Sequence[ast.expr], keywords: Sequence[ast.keyword] = ()
    ) -> Item:
        """A call of a known function, or of a method."""
        base: Item | None = None
        if isinstance(function, ast.Attribute) and chain_of(function) not in self.chains:
            base = self.item(function.value)
            if isinstance(base, Stream):
                return self.draw(base, function.attr, args, keywords)
        named = {each.arg or "": plain_of(self.item(each.value)) for each in keywords}
        if isinstance(function, ast.Attribute) and base is not None:
            return self.method(base, function.attr, [self.item(arg) for arg in args], named)
        called = self.item(function)
        fn = called.value if isinstance(called, Object) else None
        items = [self.item(arg) for arg in args]
        if not named and isinstance(fn, Hashable):
            of_complex = complex_numbers.called(self.arithmetic, fn, items)
            if of_complex is not None:
                return of_complex
        if fn is len and len(items) == 1:
            return self.length(items[0])
        if fn is np.roll and list(named) == ["axis"]:
            items, named = [*items, Object(named["axis"])], {}
        if any(map(has_whole, items)):
            return self.of_arrays(fn, items, named)
        if named:
            raise Unknown("a call with keywords")
        if fn in (np.array, np.stack) and len(items) == 1:
            return self.array_of(items[0])
        return self.of_numbers(fn, [self.scalar(item) for item in items])

    def of_arrays(self, fn: Any, items: Sequence[Item], named: Mapping[str, Any]) -> Item:
        """A function of NumPy's of what are not all numbers."""
        handler = _OF_ARRAYS.get(fn) if not named and isinstance(fn, Hashable) else None
        if handler is not None:
            return handler(self, items)
        row = row_of(fn) if callable(fn) else None
        if row is None:
            raise Unknown(f"a call of {getattr(fn, '__name__', 'what is not known')} on arrays")
        return self.by_row(row, items, named)

    def of_numbers(self, fn: Any, operands: Sequence[Scalar]) -> Item:
        """A function of single numbers."""
        if isinstance(fn, np.ufunc):
            if len(operands) != fn.nin or fn.nout != 1:
                raise Unknown(f"numpy.{fn.__name__} with other arguments")
            return self.arithmetic.ufunc(fn, operands)
        if isinstance(fn, types.BuiltinFunctionType) and fn.__module__ == "math":
            return self.arithmetic.math(fn, operands)
        handler = _BUILTINS.get(fn) if isinstance(fn, _FUNCTIONS) else None
        if handler is not None:
            return handler(self, [*operands])
        if isinstance(fn, type) and fn in _TYPES and len(operands) == 1:
            return self.of_numpy(operands[0], _TYPES[fn])
        raise Unknown(f"a call of {getattr(fn, '__name__', 'what is not known')}")

    def method(
        self, base: Item, name: str, args: Sequence[Item], keywords: Mapping[str, Any]
    ) -> Item:
        """A method of an array or a number."""
        if isinstance(base, Scalar) and name in ("item", "copy") and not args and not keywords:
            return self.python_number(base) if name == "item" else self.copied(base)
        if isinstance(base, Complex) and not args and not keywords:
            return complex_numbers.methods(self.arithmetic, base, name)
        if not is_whole(base):
            raise Unknown(f"the method {name}")
        if name in _METHODS and not keywords:
            return _METHODS[name](self, [base, *args])
        row = row_of_method(name)
        if row is None:
            raise Unknown(f"the method {name} of arrays")
        return self.by_method(row, base, args, keywords)

    def length(self, of: Item) -> Scalar:
        if isinstance(of, Items):
            return literal(self.k, len(of.items))
        settled = self.settled(of)  # its events count
        if isinstance(settled, Array) and settled.axes:
            return self.extent(settled.axes[0])
        raise Unknown("the length of what is no array")

    def python_number(self, x: Scalar) -> Scalar:
        """``x.item()``: the number as one of Python's."""
        if any(kind.python for kind in x.kinds):
            raise Unknown("item() of a Python number")
        return self.as_python(x)

    def copied(self, x: Scalar) -> Scalar:
        """``x.copy()``: the same number."""
        if any(kind.python for kind in x.kinds):
            raise Unknown("copy() of a Python number")
        return x

    def as_python(self, x: Scalar) -> Scalar:
        dtype = {"f": FLOAT, "i": INT, "b": TRUTH}[TYPE_CHARS[x.type]]
        value = self.arithmetic.cast(x, dtype.dtype)
        return Scalar(frozenset((dtype,)), value, x.low, x.high, x.top, x.literal, x.narrow)

    def of_numpy(self, x: Scalar, dtype: np.dtype) -> Scalar:
        """``np.float64(x)`` and its siblings."""
        if x.is_float and dtype.kind == "i":
            raise Unknown("a float becomes an integer of NumPy's")
        value = self.arithmetic.cast(x, dtype)
        bounds = (x.low, x.high) if dtype.kind == "i" and not x.is_float else bounds_of(dtype)
        return Scalar(frozenset((numpy_kind(dtype),)), value, *bounds, narrow=value.type == "f32")

    def extreme(self, operands: Sequence[Scalar], op: str) -> Scalar:
        """``min`` or ``max`` of Python's: a later number wins where it compares so."""
        found = operands[0]
        for other in operands[1:]:
            best = found
            wins = self.arithmetic.truth(self.arithmetic.operate(op, other, best))
            met = joined(other, best)
            if not isinstance(met, Scalar):
                raise Unknown("the least or greatest of several classes")
            chosen = self.k.select(
                wins, held_as(self.k, other, met.type), held_as(self.k, best, met.type)
            )
            numpys = self.is_numpys(other), self.is_numpys(best)
            found = replace(met, value=chosen, literal=None, top=None, line=None)
            if isinstance(numpys[0], Scalar) and isinstance(numpys[1], Scalar):
                is_numpys = self.k.select(wins, numpys[0].value, numpys[1].value)
                self.numpys[chosen.number] = Scalar(frozenset((TRUTH,)), is_numpys)
        return found

    def integer(self, x: Scalar) -> Scalar:
        if x.is_float:
            return self.arithmetic.whole(
                self.k.prim("trunc_float", self.arithmetic.cast(x, FLOAT64))
            )
        if x.type == "i1":
            value = self.arithmetic.cast(x, INT64)
            return Scalar(frozenset((INT,)), value, 0, 1)
        return self.as_python(x)

    def demanded(self, holds: Scalar, value: Scalar) -> Scalar:
        """``demand(holds, value)``."""
        if holds.literal is not True:
            truth = self.arithmetic.truth(holds)
            self.k.leave_if(self.k.prim("xor", truth, True))
        return value

    def whole(self, x: Scalar) -> Scalar:
        """``whole(x)``: the integer that a float is."""
        if not x.is_float:
            return self.integer(x)
        k, value = self.k, self.arithmetic.cast(x, FLOAT64)
        k.leave_if(k.prim("xor", k.prim("abs", value) <= float(LIMIT), True))
        found = k.convert("fptosi", value, "i64")
        k.leave_if(k.ne(k.convert("sitofp", found, "f64"), value))
        return Scalar(frozenset((INT,)), found, -LIMIT, LIMIT)

    def natural(self, x: Scalar) -> Scalar:
        """``natural(x)``: an integer that is not negative."""
        if x.is_float or x.type == "i1":
            raise Unknown("an integer is wanted")
        if x.low < 0:
            self.k.leave_if(x.value < 0)
        return replace(x, low=max(x.low, 0), high=max(x.high, 0))

    def position(self, x: Scalar) -> Scalar:
        """``position(x)``: a place counted from 0."""
        found = self.arithmetic.operate("Sub", self.whole(x), literal(self.k, 1))
        return self.natural(found)

    def magnitude(self, x: Scalar) -> Scalar:
        if x.type == "i1":
            raise Unknown("the magnitude of a truth value")
        if x.is_float:
            value = self.k.prim("abs", x.value)
            return replace(x, value=value, literal=None, top=None)
        low = -(1 << 31) if x.type == "i32" else LEAST
        if x.low <= low:
            self.k.leave_if(self.k.eq(x.value, low))
        value = self.k.prim("abs", x.value)
        high = max(abs(x.low), abs(x.high))
        return Scalar(x.kinds, value, 0, min(high, MOST), None)


def _demanded(body: Calls, operands: list[Scalar]) -> Item:
    if len(operands) != 2:
        raise Unknown("a call with another number of arguments")
    return body.demanded(*operands)


def _one(handler: Callable[[Calls, Scalar], Item]) -> Callable[[Calls, list[Scalar]], Item]:
    def handle(body: Calls, operands: list[Scalar]) -> Item:
        if len(operands) != 1:
            raise Unknown("a call with another number of arguments")
        return handler(body, operands[0])

    return handle


def _several(op: str) -> Callable[[Calls, list[Scalar]], Item]:
    def handle(body: Calls, operands: list[Scalar]) -> Item:
        if len(operands) < 2:
            raise Unknown("the least or greatest of one value")
        return body.extreme(operands, op)

    return handle


def _truth(body: Calls, x: Scalar) -> Item:
    return Scalar(frozenset((TRUTH,)), body.arithmetic.truth(x))


def _float(body: Calls, x: Scalar) -> Item:
    value = body.arithmetic.cast(x, FLOAT64)
    return Scalar(frozenset((FLOAT,)), value, narrow=x.narrow)


_BUILTINS: Final[dict[Any, Callable[[Calls, list[Scalar]], Item]]] = {
    builtins.abs: _one(Calls.magnitude),
    builtins.min: _several("Lt"),
    builtins.max: _several("Gt"),
    builtins.int: _one(Calls.integer),
    builtins.float: _one(_float),
    builtins.bool: _one(_truth),
    demand: _demanded,
    natural: _one(Calls.natural),
    position: _one(Calls.position),
    whole: _one(Calls.whole),
}


def has_whole(item: Item) -> bool:
    """Whether arrays are among some values."""
    return any(map(has_whole, item.items)) if isinstance(item, Items) else is_whole(item)


def _like(number: int) -> Callable[[Calls, Sequence[Item]], Item]:
    def handle(body: Calls, items: Sequence[Item]) -> Item:
        if len(items) != 1:
            raise Unknown("a new array with other arguments")
        return body.like(items[0], number)

    return handle


_OF_ARRAYS: Final[dict[Any, Callable[[Calls, Sequence[Item]], Item]]] = {
    np.matmul: Calls.product,
    np.dot: Calls.dot,
    np.inner: Calls.inner,
    np.matvec: Calls.matvec,
    np.outer: Calls.outer,
    np.stack: Calls.stacked,
    np.roll: Calls.rolled,
    np.zeros_like: _like(0),
    np.ones_like: _like(1),
    np.empty_like: _like(0),
}
_METHODS: Final = {"dot": Calls.dot}
