"""Single complex numbers in loops: two real numbers each, with Python's formulas or NumPy's.

A name that holds one is followed as two names (:func:`parts_of`): what is known of them is joined
and carried from iteration to iteration as of any other number.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from runmat_jit.core.types import part_dtype
from runmat_jit.kernel.ir import Value
from runmat_jit.kernel.math import predicates
from runmat_jit.loops.arithmetic import UFUNCS, Arithmetic, promoted
from runmat_jit.loops.values import (
    FLOAT,
    FLOAT64,
    Complex,
    Item,
    Kind,
    Scalar,
    Unknown,
    numpy_kind,
    only,
)
from runmat_jit.ops.promotion import loop_dtypes

COMPLEX: Final = Kind(python=True, dtype=np.dtype(complex))
"""Python's complex numbers."""
_EXPONENTS: Final = range(2, 9)
"""Of powers that are products."""
_SIDES: Final = ("real", "imag")
_MIXES: Final = sys.version_info >= (3, 14)
"""True if Python follows C99's Annex G: mixed arithmetic with real numbers, and infinities that are
recovered from two NaNs."""


def operate(emit: Arithmetic, op: str, items: Sequence[Scalar | Complex]) -> Item:
    """An operator on numbers some of which are complex.

    Raises:
        Unknown: it is another one for each of several classes, or has no formula here.

    """
    if op == "Pow":
        return power(emit, *items)
    if op in ("Eq", "NotEq"):
        return compared(emit, op, *items)
    formula = _FORMULAS.get(op)
    if formula is None:
        raise Unknown(f"{op} of complex numbers")
    kinds = kinds_of(op, items)
    given = [converted(emit, x, kinds) for x in items]
    if not _MIXES or kinds != frozenset((COMPLEX,)):
        return formula(emit, *given)
    mixed = [isinstance(x, Complex) for x in items]
    if len(items) == 2 and not all(mixed):
        formula = _OF_MIXED[op] if mixed[0] else _OF_REVERSED[op]
    return recovered(emit, formula(emit, *given))


def kinds_of(op: str, items: Sequence[Scalar | Complex]) -> frozenset[Kind]:
    """What an operation on these numbers may give, of one dtype."""
    found = set()
    own = [sorted(x.kinds, key=str) for x in items]
    for kinds in itertools.product(*own):
        if all(kind.python for kind in kinds) or is_pythons(kinds):
            found.add(COMPLEX)
            continue
        classes = tuple([complex if kind == COMPLEX else promoted(kind) for kind in kinds])
        dtypes = loop_dtypes(UFUNCS[op], classes, takes_complex=True)
        if dtypes is None:
            raise Unknown(f"{op} of {' and '.join(map(str, kinds))}")
        found.add(numpy_kind(dtypes[-1]))
    only({kind.dtype for kind in found}, "an operation")
    return frozenset(found)


def is_pythons(kinds: Sequence[Kind]) -> bool:
    """True if Python's complex number computes with NumPy's float64, which is one of its floats."""
    return kinds[0] == COMPLEX and all(kind == numpy_kind(FLOAT64) for kind in kinds[1:])


def part_kind(kind: Kind) -> Kind:
    """The kind of the parts of a complex number."""
    return FLOAT if kind.python else numpy_kind(part_dtype(kind.dtype))


def converted(emit: Arithmetic, x: Scalar | Complex, kinds: frozenset[Kind]) -> Complex:
    """A number as a complex one of some kinds, all of one dtype."""
    own = frozenset(map(part_kind, kinds))
    (dtype,) = {kind.dtype for kind in own}
    if isinstance(x, Complex):
        if part_dtype(x.dtype) == dtype:
            return Complex(kinds, *(replace(each, kinds=own) for each in (x.re, x.im)))
        return Complex(kinds, *(number(emit.cast(each, dtype), *own) for each in (x.re, x.im)))
    emit.used(x)
    value = emit.cast(x, dtype)
    return Complex(kinds, number(value, *own), number(emit.k.const(0.0, value.type), *own))


def kind_in(x: Complex) -> Kind:
    """The one kind of a number.

    Raises:
        Unknown: it is of several.

    """
    return only(x.kinds, "a function of a complex number")


def number(value: Value, *kinds: Kind) -> Scalar:
    """A real number of the kernel."""
    return Scalar(frozenset(kinds), value, narrow=value.type == "f32")


# -- formulas --------------------------------------------------------------------------------------
def _added(op: str) -> Callable[..., Complex]:
    def made(emit: Arithmetic, x: Complex, y: Complex) -> Complex:
        return Complex(x.kinds, emit.operate(op, x.re, y.re), emit.operate(op, x.im, y.im))

    return made


def product(emit: Arithmetic, x: Complex, y: Complex) -> Complex:
    """Each part is rounded three times, by Python and by NumPy's scalars."""
    do = emit.operate
    re = do("Sub", do("Mult", x.re, y.re), do("Mult", x.im, y.im))
    return Complex(x.kinds, re, do("Add", do("Mult", x.re, y.im), do("Mult", x.im, y.re)))


def quotient(emit: Arithmetic, x: Complex, y: Complex) -> Complex:
    """By Smith's method: Python divides at the end, NumPy multiplies by what it has divided."""
    k, do, own = emit.k, emit.operate, part_kind(kind_in(x))
    sizes = [k.prim("abs", part.value) for part in (y.re, y.im)]
    across = sizes[0] >= sizes[1]
    nan = k.prim("isnan", sizes[0]) | k.prim("isnan", sizes[1])
    k.leave_if(nan | k.eq(y.re.value, 0.0) & k.eq(y.im.value, 0.0))  # Python raises, NumPy reports

    def chosen(one: Scalar, other: Scalar) -> Scalar:
        return number(k.select(across, one.value, other.value), own)

    large, small = chosen(y.re, y.im), chosen(y.im, y.re)
    first, second = chosen(x.re, x.im), chosen(x.im, x.re)
    ratio = do("Div", small, large)
    norm = do("Add", large, do("Mult", small, ratio))
    re = do("Add", first, do("Mult", second, ratio))
    crossed = do("Mult", first, ratio)
    im = chosen(do("Sub", second, crossed), do("Sub", crossed, second))
    if kind_in(x).python:
        return Complex(x.kinds, do("Div", re, norm), do("Div", im, norm))
    scale = do("Div", number(k.const(1.0, norm.value.type), own), norm)
    return Complex(x.kinds, do("Mult", re, scale), do("Mult", im, scale))


def recovered(emit: Arithmetic, found: Complex) -> Complex:
    """A result of Python 3.14, which finds infinities behind two NaNs: there the loop leaves."""
    k = emit.k
    k.leave_if(k.prim("isnan", found.re.value) & k.prim("isnan", found.im.value))
    return found


def _with_real(op: str) -> Callable[..., Complex]:
    """A complex number and a real one: each part and that one."""

    def made(emit: Arithmetic, x: Complex, y: Complex) -> Complex:
        return Complex(x.kinds, emit.operate(op, x.re, y.re), emit.operate(op, x.im, y.re))

    return made


def _shifted(op: str) -> Callable[..., Complex]:
    """A complex number and a real one: the imaginary part stays, with its sign."""

    def made(emit: Arithmetic, x: Complex, y: Complex) -> Complex:
        return Complex(x.kinds, emit.operate(op, x.re, y.re), x.im)

    return made


def _real_without(emit: Arithmetic, x: Complex, y: Complex) -> Complex:
    return Complex(x.kinds, emit.operate("Sub", x.re, y.re), emit.operate("USub", y.im))


def _by_real(emit: Arithmetic, x: Complex, y: Complex) -> Complex:
    emit.k.leave_if(emit.k.eq(y.re.value, 0.0))  # Python raises
    return _with_real("Div")(emit, x, y)


def _real_by(emit: Arithmetic, x: Complex, y: Complex) -> Complex:
    """By Smith's method, without the products by the imaginary part that is not there."""
    k, do, own = emit.k, emit.operate, FLOAT
    sizes = [k.prim("abs", part.value) for part in (y.re, y.im)]
    across = sizes[0] >= sizes[1]
    nan = k.prim("isnan", sizes[0]) | k.prim("isnan", sizes[1])
    k.leave_if(nan | k.eq(y.re.value, 0.0) & k.eq(y.im.value, 0.0))

    def chosen(one: Scalar, other: Scalar) -> Scalar:
        return number(k.select(across, one.value, other.value), own)

    large, small = chosen(y.re, y.im), chosen(y.im, y.re)
    ratio = do("Div", small, large)
    norm = do("Add", large, do("Mult", small, ratio))
    minus = do("USub", x.re)
    re = chosen(x.re, do("Mult", x.re, ratio))
    im = chosen(do("Mult", minus, ratio), minus)
    return Complex(x.kinds, do("Div", re, norm), do("Div", im, norm))


def negative(emit: Arithmetic, x: Complex) -> Complex:
    return Complex(x.kinds, emit.operate("USub", x.re), emit.operate("USub", x.im))


def positive(_emit: Arithmetic, x: Complex) -> Complex:
    return x


def power(emit: Arithmetic, x: Scalar | Complex, y: Scalar | Complex) -> Complex:
    """A power with a small exponent that is written in the program: products, in both languages."""
    exponent = y.literal if isinstance(y, Scalar) else None
    if not isinstance(x, Complex) or type(exponent) is not int or exponent not in _EXPONENTS:
        raise Unknown("a power of complex numbers")
    k, zero = emit.k, emit.k.const(0.0, x.re.value.type)
    one = Complex(
        x.kinds, replace(x.re, value=k.const(1.0, x.re.value.type)), replace(x.im, value=zero)
    )
    if not kind_in(x).python and exponent < 4:
        found = product(emit, x, x)
        found = found if exponent == 2 else product(emit, x, found)
    else:
        found, squared = one, x
        while exponent:
            found = product(emit, found, squared) if exponent & 1 else found
            exponent >>= 1
            squared = product(emit, squared, squared) if exponent else squared
    if kind_in(x).python:
        endless = [predicates.isinf(k, part.value) for part in (found.re, found.im)]
        k.leave_if(endless[0] | endless[1])  # Python raises
        return recovered(emit, found) if _MIXES else found
    nothing = k.eq(x.re.value, 0.0) & k.eq(x.im.value, 0.0)
    parts = (
        replace(part, value=k.select(nothing, zero, part.value)) for part in (found.re, found.im)
    )
    return Complex(x.kinds, *parts)


def compared(emit: Arithmetic, op: str, x: Scalar | Complex, y: Scalar | Complex) -> Scalar:
    """True if two numbers are equal; real ones have no imaginary part."""
    if isinstance(y, Scalar) and any(map(is_pythons, itertools.product(x.kinds, y.kinds))):
        only({*itertools.product(x.kinds, y.kinds)}, "a comparison")
        y = replace(y, kinds=frozenset((FLOAT,)))
    same = [
        emit.operate(op, *(side(emit, *pair, name) for pair in ((x, y), (y, x)))) for name in _SIDES
    ]
    left, right = (each.value for each in same)
    return replace(same[0], value=left & right if op == "Eq" else left | right, literal=None)


def side(emit: Arithmetic, x: Scalar | Complex, other: Scalar | Complex, name: str) -> Scalar:
    """A part of a number that is compared with another one, a complex one at least."""
    if isinstance(x, Complex):
        return part(x, name)
    if name == "real":
        return x
    assert isinstance(other, Complex), "one of them is complex"
    return Scalar(other.im.kinds, emit.k.const(0.0, other.im.value.type))


_FORMULAS: Final[dict[str, Callable[..., Complex]]] = {
    "Add": _added("Add"),
    "Sub": _added("Sub"),
    "Mult": product,
    "Div": quotient,
    "USub": negative,
    "UAdd": positive,
}
_OF_MIXED: Final[dict[str, Callable[..., Complex]]] = {
    "Add": _shifted("Add"),
    "Sub": _shifted("Sub"),
    "Mult": _with_real("Mult"),
    "Div": _by_real,
}
"""Python's formulas of a complex number and a real one, from 3.14 on."""
_OF_REVERSED: Final[dict[str, Callable[..., Complex]]] = {
    "Add": lambda emit, x, y: _shifted("Add")(emit, y, x),
    "Sub": _real_without,
    "Mult": lambda emit, x, y: _with_real("Mult")(emit, y, x),
    "Div": _real_by,
}
"""Those of a real number and a complex one."""


# -- functions and attributes ----------------------------------------------------------------------
def conjugate(emit: Arithmetic, x: Complex) -> Complex:
    return Complex(x.kinds, x.re, emit.operate("USub", x.im))


def magnitude(emit: Arithmetic, x: Complex) -> Scalar:
    """``abs(z)`` of Python's numbers and NumPy's, by the C library."""
    k, parts = emit.k, (x.re.value, x.im.value)
    found = k.libm("hypot", *parts)
    if kind_in(x).python:  # Python raises where it is too large
        finite = k.prim("xor", predicates.isinf(k, parts[0]) | predicates.isinf(k, parts[1]), True)
        k.leave_if(predicates.isinf(k, found) & finite)
    else:
        emit.made_at[found.number] = emit.place
    return number(found, part_kind(kind_in(x)))


def absolute(emit: Arithmetic, x: Complex) -> Scalar:
    """``np.abs(z)``, which has the bits of our row."""
    own = numpy_kind(part_dtype(x.dtype))
    parts = (replace(part, kinds=frozenset((own,))) for part in (x.re, x.im))
    return emit.ufunc(np.hypot, [*parts])


def part(x: Complex, name: str) -> Scalar:
    """``z.real`` and ``z.imag``."""
    return x.re if name == "real" else x.im


def made(emit: Arithmetic, *numbers: Scalar | Complex, kind: Kind) -> Complex:
    """``complex(re, im)``, and NumPy's classes of one number."""
    if len(numbers) == 1:
        return converted(emit, numbers[0], frozenset((kind,)))
    parts = []
    for x in numbers:
        assert isinstance(x, Scalar), "its signature says so"
        emit.used(x)
        parts.append(number(emit.cast(x, FLOAT.dtype), FLOAT))
    return Complex(frozenset((kind,)), *parts)


def as_numpys(emit: Arithmetic, x: Complex) -> Complex:
    """The number as one of NumPy's."""
    return converted(emit, x, frozenset((numpy_kind(x.dtype),)))


def as_pythons(emit: Arithmetic, x: Complex) -> Complex:
    """``z.item()``."""
    return converted(emit, x, frozenset((COMPLEX,)))
