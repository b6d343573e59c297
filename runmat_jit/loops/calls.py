"""Calls of Python's builtins, of ``math`` and of NumPy's functions on single numbers."""

from __future__ import annotations

import ast
import builtins
import itertools
import types
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final

import numpy as np

from runmat_jit.core.types import NARROW_DTYPES
from runmat_jit.kernel.primitives import FLOATS
from runmat_jit.loops import (
    complex_arrays,
    complex_numbers,
    control_flow,
    creation,
    draws,
    elements,
    indexing,
    linear,
    lists,
    numpy_draws,
    operations,
    products,
    slices,
    sorting,
    views,
)
from runmat_jit.loops.arithmetic import Arithmetic, dtypes_of, promoted, sorted_kinds
from runmat_jit.loops.demands import LIMIT, demand, natural, position, whole
from runmat_jit.loops.elements import bounds_of
from runmat_jit.loops.emitter import Emitter
from runmat_jit.loops.signatures import (
    ARRAY,
    VECTOR,
    Operand,
    Signature,
    Table,
    apply,
    array,
    is_any_number,
    is_complex_number,
    is_floating,
    is_integer,
    is_number,
    is_numeric,
    of_numpys,
    refusal,
    signature_of,
)
from runmat_jit.loops.source import Chain, chain_of
from runmat_jit.loops.values import (
    FLOAT,
    FLOAT32,
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
    only,
    scalar,
)
from runmat_jit.loops.whole_arrays import is_whole, plain_of
from runmat_jit.ops.table import row_of, row_of_method

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
    if fn is np.roll and list(named) == ["axis"]:
        items, named = [*items, Object(named["axis"])], {}
    return called_with(e, fn, items, named)


def called_with(e: Emitter, fn: Any, items: Sequence[Item], named: Mapping[str, Any]) -> Item:
    """A call of a function with these operands, and with what keywords name.

    Raises:
        Unknown: loops do not know it.

    """
    signature = None if named else signature_of(_FUNCTIONS, fn, items)
    if signature is not None:
        return signature.emit(e, *items)
    if any(map(_has_whole, items)):
        row = row_of(fn) if callable(fn) else None
        if row is not None:
            return operations.by_row(e, row, items, named)
    elif not named and all(isinstance(item, Scalar) for item in items):
        operands = [scalar(item) for item in items]
        if isinstance(fn, np.ufunc) and (fn.nin, fn.nout) == (len(operands), 1):
            return e.arithmetic.ufunc(fn, operands)
        if isinstance(fn, types.BuiltinFunctionType) and fn.__module__ == "math":
            return e.arithmetic.math(fn, operands)
    raise refusal(_FUNCTIONS, fn)


def refusal_of(fn: Any) -> Unknown:
    """Return the refusal of a call of a function."""
    return refusal(_FUNCTIONS, fn)


def require_known(e: Emitter, chain: Chain | None) -> None:
    """Refuse a name, with the attributes that are read of it, of which nothing is known.

    Raises:
        Unknown: so it is.

    """
    if chain is not None and chain.name not in e.names:
        taken = range(len(chain.attributes) + 1)
        if not any(Chain(chain.name, chain.attributes[:count]) in e.chains for count in taken):
            raise Unknown(f"{chain} is not known to loops")


def _method(
    e: Emitter, base: Item, name: str, args: Sequence[Item], keywords: Mapping[str, Any]
) -> Item:
    """A method of an array or a number."""
    signature = None if keywords else signature_of(_METHODS, name, [base, *args])
    if signature is not None:
        return signature.emit(e, base, *args)
    if isinstance(base, Object) and isinstance(base.value, np.ufunc):
        return _method_of_ufunc(e, base.value, name, args, keywords)
    row = row_of_method(name) if is_whole(base) else None
    if row is None:
        raise refusal(_METHODS, name)
    return operations.by_method(e, row, base, args, keywords)


def _method_of_ufunc(
    e: Emitter, fn: np.ufunc, name: str, args: Sequence[Item], keywords: Mapping[str, Any]
) -> Item:
    """``np.add.outer(a, b)`` of arrays, and ``np.add.reduce(x, axis=0)``."""
    if name == "outer" and len(args) == 2 and not keywords and any(map(is_whole, args)):
        a, b = (indexing.settled(e, arg) for arg in args)
        if isinstance(a, Array) and isinstance(b, Array):
            axes = (*a.axes, *(elements.single(e) for _ in b.axes))
            a = replace(a, axes=axes, whole=False)
        return called_with(e, fn, [a, b], {})
    if name == "reduce" and len(args) == 1 and fn in _REDUCED and is_whole(args[0]):
        named = {"axis": 0} | dict(keywords)
        if named.keys() == {"axis"} and type(named["axis"]) is int:
            return called_with(e, _REDUCED[fn], args, named)
    if name == "accumulate" and fn in creation.ACCUMULATING and not keywords:
        return apply(e, creation.ACCUMULATING, fn, args)
    raise refusal(_METHODS, f"{fn.__name__}.{name}")


def _as_python(e: Emitter, x: Scalar) -> Scalar:
    dtype = {"f": FLOAT, "i": INT, "b": TRUTH}[TYPE_CHARS[x.type]]
    value = e.arithmetic.cast(x, dtype.dtype)
    return Scalar(frozenset((dtype,)), value, x.low, x.high, x.top, x.literal, x.narrow)


def _of_numpy(e: Emitter, x: Scalar, *, dtype: np.dtype) -> Scalar:
    """``np.float64(x)`` and its siblings."""
    value, bounds = e.arithmetic.cast(x, dtype), bounds_of(dtype)
    if dtype.kind in "iu" and not x.is_float:
        bounds = max(x.low, bounds[0]), min(x.high, bounds[1])
    return Scalar(frozenset((numpy_kind(dtype),)), value, *bounds, narrow=value.type == "f32")


def _astype(e: Emitter, x: Scalar, of: Object) -> Scalar:
    """``x.astype(dtype)`` of a number of NumPy's."""
    return _of_numpy(e, x, dtype=np.dtype(of.value))


def _is_dtype(x: Item) -> bool:
    """Return True for a dtype of numbers, and for a class of these."""
    found = x.value if isinstance(x, Object) else None
    return isinstance(found, np.dtype | type) and np.dtype(found).type in _TYPES


def _rounded(e: Emitter, x: Item, digits: Scalar | None = None) -> Item:
    """``np.round(x, digits)``: scaled, rounded and scaled back, as NumPy does."""
    by = literal(e.k, 10.0 ** (0 if digits is None or digits.literal is None else digits.literal))
    if by.literal == 1.0:
        return called_with(e, np.rint, [x], {})
    scaled = called_with(e, np.rint, [called_with(e, np.multiply, [x, by], {})], {})
    return called_with(e, np.divide, [scaled, by], {})


def _clipped(e: Emitter, x: Scalar, low: Scalar, high: Scalar) -> Scalar:
    """``np.clip(x, low, high)`` of a number, which stays where it equals a bound."""
    found = set()
    for kinds in itertools.product(*(sorted_kinds(each) for each in (x, low, high))):
        first = dtypes_of(np.maximum, tuple(map(promoted, kinds[:2]))) or (None,)
        found.add((dtypes_of(np.maximum, (first[-1], promoted(kinds[2]))) or (None,))[-1])
    dtype = only(found, "clip")
    if dtype not in (FLOAT64, FLOAT32, INT64):
        raise refusal(_FUNCTIONS, np.clip)
    k = e.k
    for each in (x, low, high):
        e.arithmetic.used(each)
    value, least, most = (e.arithmetic.cast(each, dtype) for each in (x, low, high))
    for bound, op in ((least, "gt"), (most, "lt")):
        beyond = k.prim(op, bound, value)
        if bound.type in FLOATS:
            beyond = beyond | k.prim("isnan", bound)
        value = k.select(beyond, bound, value)
    return Scalar(frozenset((numpy_kind(dtype),)), value, narrow=value.type == "f32")


def _nearest(e: Emitter, x: Scalar) -> Scalar:
    """``round(x)`` of a float, an integer of Python's."""
    return e.arithmetic.whole(e.k.prim("rint", e.arithmetic.cast(x, FLOAT64)))


def _is_digits(x: Item) -> bool:
    """Return True for a number of digits that is written in the program."""
    return isinstance(x, Scalar) and type(x.literal) is int and 0 <= x.literal <= _DIGITS


def _part_of(e: Emitter, x: Item, *, name: str) -> Item:
    """``np.real(z)`` and ``np.imag(z)`` of an array."""
    found: Item = complex_arrays.part(e, indexing.settled_array(e, x), name)
    return found


def _item_at(e: Emitter, x: Item, at: Scalar) -> Scalar:
    """``x.item(i)`` of a vector."""
    return _as_python(e, scalar(elements.load(e, elements.at(e, indexing.settled_array(e, x), at))))


def _extreme(e: Emitter, *operands: Scalar, op: str) -> Scalar:
    """``min`` or ``max`` of Python's: a later number wins where it compares so."""
    found = operands[0]
    for other in operands[1:]:
        best = found
        wins = e.arithmetic.truth(e.arithmetic.operate(op, other, best))
        met = joined(other, best)
        if not isinstance(met, Scalar):
            raise Unknown("the least or greatest of several classes")
        chosen = e.k.select(wins, held_as(e.k, other, met.type), held_as(e.k, best, met.type))
        numpys = control_flow.is_numpys(e, other), control_flow.is_numpys(e, best)
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
    if x.low < 0:
        e.k.leave_if(x.value < 0)
    return replace(x, low=max(x.low, 0), high=max(x.high, 0))


def _position(e: Emitter, x: Scalar) -> Scalar:
    """``position(x)``: a place counted from 0."""
    found = e.arithmetic.operate("Sub", _whole(e, x), literal(e.k, 1))
    return _natural(e, found)


def _magnitude(e: Emitter, x: Scalar) -> Scalar:
    if x.is_float:
        value = e.k.prim("abs", x.value)
        return replace(x, value=value, literal=None, top=None)
    low = max(bounds_of(kind.dtype)[0] for kind in x.kinds)
    if x.low <= low:
        e.k.leave_if(e.k.eq(x.value, low))
    value = e.k.prim("abs", x.value)
    high = max(abs(x.low), abs(x.high))
    return Scalar(x.kinds, value, 0, min(high, MOST), None)


def _truth(e: Emitter, x: Scalar) -> Item:
    return Scalar(frozenset((TRUTH,)), e.arithmetic.truth(x))


def _float(e: Emitter, x: Scalar) -> Item:
    value = e.arithmetic.cast(x, FLOAT64)
    return Scalar(frozenset((FLOAT,)), value, narrow=x.narrow)


def _has_whole(item: Item) -> bool:
    """True if arrays are among some values."""
    return any(map(_has_whole, item.items)) if isinstance(item, Items) else is_whole(item)


_REDUCED: Final[dict[np.ufunc, Any]] = {
    np.add: np.sum,
    np.multiply: np.prod,
    np.maximum: np.max,
    np.minimum: np.min,
}
"""Functions that reduce arrays as a ufunc does."""


def _by(function: Callable[..., Item]) -> Callable[..., Item]:
    """Return what emits a call by a function that is given the arithmetic alone."""
    return lambda e, *items: function(e.arithmetic, *items)


def _conjugated(emit: Arithmetic, x: Complex) -> Complex:
    return complex_numbers.conjugate(emit, complex_numbers.as_numpys(emit, x))


def _is_double(x: Item) -> bool:
    return isinstance(x, Complex) and x.re.value.type == "f64"


def _fits(dtype: np.dtype) -> Operand:
    """Numbers that NumPy's class of a dtype takes as they are."""
    return is_number if dtype.kind not in "iu" else lambda x: is_number(x) and not is_floating(x)


_COMPLEX: Final = of_numpys(is_complex_number)
_DIGITS: Final = 15
"""Digits of which the power of ten is a double."""
_ROUNDED: Final = tuple(
    [
        Signature((operand, *digits), _rounded)
        for operand in (array(kinds="f"), of_numpys(is_floating))
        for digits in ((), (_is_digits,))
    ]
)
_FUNCTIONS: Final[Table] = {
    builtins.abs: [
        Signature((is_numeric,), _magnitude),
        Signature((_is_double,), _by(complex_numbers.magnitude)),
    ],
    builtins.min: [Signature((is_number, is_number), partial(_extreme, op="Lt"), more=True)],
    builtins.max: [Signature((is_number, is_number), partial(_extreme, op="Gt"), more=True)],
    builtins.int: [Signature((is_number,), _integer)],
    builtins.round: [
        Signature((is_floating,), _nearest),
        Signature((of_numpys(is_floating), _is_digits), _rounded),
    ],
    np.round: _ROUNDED,
    np.clip: [Signature((is_number, is_number, is_number), _clipped)],
    builtins.float: [Signature((is_number,), _float)],
    builtins.bool: [Signature((is_number,), _truth)],
    builtins.len: [Signature((lambda x: not isinstance(x, Scalar),), lists.length)],
    builtins.complex: [
        Signature(operands, _by(partial(complex_numbers.made, kind=complex_numbers.COMPLEX)))
        for operands in ((is_any_number,), (is_number, is_number))
    ],
    demand: [Signature((is_number, is_number), _demanded)],
    natural: [Signature((is_integer,), _natural)],
    position: [Signature((is_number,), _position)],
    whole: [Signature((is_number,), _whole)],
    np.real: [Signature((array(kinds="c"),), partial(_part_of, name="real"))],
    np.imag: [Signature((array(kinds="c"),), partial(_part_of, name="imag"))],
    np.absolute: [Signature((is_complex_number,), _by(complex_numbers.absolute))],
    np.conjugate: [Signature((is_complex_number,), _by(_conjugated))],
    **{
        fn: [Signature((_fits(dtype),), partial(_of_numpy, dtype=dtype))]
        for fn, dtype in _TYPES.items()
    },
    **{
        fn: [
            Signature(
                (is_any_number,), _by(partial(complex_numbers.made, kind=numpy_kind(np.dtype(fn))))
            )
        ]
        for fn in (np.complex128, np.complex64)
    },
    np.flip: [Signature((ARRAY,), slices.flipped)],
    **products.CALLS_OF_PRODUCTS,
    **creation.CALLS_OF_CREATION,
    **linear.CALLS_OF_LINEAR,
    **sorting.CALLS_OF_SORTING,
    **views.CALLS_OF_VIEWS,
}
_METHODS: Final[Table] = {
    "round": _ROUNDED,
    "item": [
        Signature((VECTOR, is_integer), _item_at),
        Signature((of_numpys(is_number),), _as_python),
        Signature((_COMPLEX,), _by(complex_numbers.as_pythons)),
    ],
    "astype": [Signature((of_numpys(is_number), _is_dtype), _astype)],
    "copy": [Signature((of_numpys(is_number),), lambda _, x: x)],
    "conjugate": [Signature((is_complex_number,), _by(complex_numbers.conjugate))],
    "conj": [Signature((_COMPLEX,), _by(complex_numbers.conjugate))],
    "dot": products.CALLS_OF_PRODUCTS["dot"],
    **{name: creation.CALLS_OF_CREATION[name] for name in ("cumsum", "cumprod", "prod")},
    "argsort": sorting.CALLS_OF_SORTING["argsort"],
    **views.CALLS_OF_VIEWS,
}
