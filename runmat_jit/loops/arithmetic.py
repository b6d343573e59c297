"""Python's and NumPy's operators and functions on single numbers, as kernel code.

What a kernel cannot do as Python or NumPy does it (an exception, a warning, an integer of more than
64 bits) leaves the kernel: nothing has been written then, and Python runs the loop. NumPy's dtypes
come from its own resolution, its values from the rows of :mod:`runmat_jit.ops`.
"""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Callable, Sequence
from dataclasses import field
from functools import cache
from typing import Any, Final

import numpy as np

from runmat_jit.core.frozen import frozen
from runmat_jit.core.slotted import slotted
from runmat_jit.core.types import is_compiled_dtype
from runmat_jit.kernel.build import Builder
from runmat_jit.kernel.ir import Value
from runmat_jit.loops.values import (
    BOOL,
    EXACT,
    FLOAT,
    FLOAT64,
    INT,
    INT64,
    LEAST,
    MOST,
    TRUTH,
    TYPES,
    Complex,
    Kind,
    Line,
    Scalar,
    Unknown,
    is_narrow_dtype,
    literal,
    numpy_kind,
    only,
)
from runmat_jit.ops.promotion import loop_dtypes
from runmat_jit.ops.table import row_of

UFUNCS: Final[dict[str, np.ufunc]] = {
    "Add": np.add,
    "Sub": np.subtract,
    "Mult": np.multiply,
    "Div": np.divide,
    "FloorDiv": np.floor_divide,
    "Mod": np.remainder,
    "Pow": np.power,
    "BitAnd": np.bitwise_and,
    "BitOr": np.bitwise_or,
    "BitXor": np.bitwise_xor,
    "LShift": np.left_shift,
    "RShift": np.right_shift,
    "Lt": np.less,
    "LtE": np.less_equal,
    "Gt": np.greater,
    "GtE": np.greater_equal,
    "Eq": np.equal,
    "NotEq": np.not_equal,
    "USub": np.negative,
    "UAdd": np.positive,
    "Invert": np.invert,
}
"""The ufuncs that operators on NumPy's scalars compute like, by nodes of Python's syntax."""
OF_PYTHON: Final[dict[str, Callable[..., Any]]] = {
    "Add": operator.add,
    "Sub": operator.sub,
    "Mult": operator.mul,
    "Div": operator.truediv,
    "FloorDiv": operator.floordiv,
    "Mod": operator.mod,
    "Pow": operator.pow,
    "BitAnd": operator.and_,
    "BitOr": operator.or_,
    "BitXor": operator.xor,
    "LShift": operator.lshift,
    "RShift": operator.rshift,
    "Lt": operator.lt,
    "LtE": operator.le,
    "Gt": operator.gt,
    "GtE": operator.ge,
    "Eq": operator.eq,
    "NotEq": operator.ne,
    "USub": operator.neg,
    "UAdd": operator.pos,
    "Invert": operator.invert,
}
_COMPARISONS: Final = {
    "Lt": "lt",
    "LtE": "le",
    "Gt": "gt",
    "GtE": "ge",
    "Eq": "eq",
    "NotEq": "ne",
}
_BITWISE: Final = {"BitAnd": "and", "BitOr": "or", "BitXor": "xor"}
_SHIFTS: Final = ("LShift", "RShift")
_OF_INTEGERS: Final = ("BitAnd", "BitOr", "BitXor", "LShift", "RShift", "Invert")
_EXPONENT: Final = 64
"""Largest exponent of integers that loops compute: powers by larger ones have more than 64 bits."""
_LARGEST: Final = float(np.finfo(np.float32).max)
MATH: Final[dict[Any, str]] = {
    getattr(math, name): name
    for name in (
        *("sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh"),
        *("exp", "expm1", "log", "log2", "log10", "log1p", "asinh", "acosh", "atanh"),
        *("atan2", "fmod", "pow"),
    )
}
"""Functions of Python's ``math`` that call the C library's, and raise where its result is odd."""


@frozen
class Meaning:
    """What an operation computes with, what it gives, and whether NumPy reports its events."""

    operands: tuple[np.dtype, ...]
    kind: Kind


@slotted
class Arithmetic:
    """Emits operations.

    Floating-point events of NumPy's are found by the machine's flags, after the run: they tell of
    each operation whose result is used. ``careful``: each operation looks for its own instead, for
    kernels whose code sets flags where NumPy sees no event.
    """

    k: Builder
    careful: bool = False
    doubtful: Callable[[Value], None] | None = None
    """Takes note of a condition under which the kernel is to leave; None: it does at once."""
    loop: int = 0
    """Number of the loop whose turn is emitted: values with smaller ones are no turn's own."""
    place: int = 0
    """Number of the way, or of the iteration, that is emitted."""
    made_at: dict[int, int] = field(default_factory=dict)
    """Where results that may tell of events were made, by their numbers, until they are used."""
    ours: bool = False
    """Something is computed, or stored, by code of our own: no flags tell of its events."""
    rounds: bool = False
    """Some bits of that are our own, not NumPy's."""

    def mark_ours(self, *, bits: bool = True) -> None:
        """Something is done by code of our own; ``bits``: whose bits are not NumPy's."""
        self.ours = True
        self.rounds = self.rounds or bits

    # -- operators ---------------------------------------------------------------------------------
    def operate(self, name: str, *operands: Scalar) -> Scalar:
        """An operator, by its node of Python's syntax."""
        if all(x.literal is not None and x.kinds <= _PYTHONS for x in operands):
            return self.folded(name, operands)
        if name == "Pow":
            return self.power(*operands)
        meanings = {
            self.meaning(name, kinds)
            for kinds in itertools.product(*(sorted_kinds(x) for x in operands))
        }
        kinds = frozenset(meaning.kind for meaning in meanings)
        dtypes = only({meaning.operands for meaning in meanings}, "an operation")
        dtype = only({kind.dtype for kind in kinds}, "an operation")
        if name in _COMPARISONS and (BOOL in dtypes or any(map(is_narrow_dtype, dtypes))):
            dtypes = (INT64,) * len(operands)  # a Python number may be any
        numpys = any(not kind.python for x in operands for kind in x.kinds)
        pythons = all(any(kind.python for kind in x.kinds) for x in operands)
        for x in operands:  # nobody may need the answer of a comparison
            (self.dropped if name in _COMPARISONS else self.used)(x)
        converted = [self.cast(x, d) for x, d in zip(operands, dtypes, strict=True)]
        if pythons and name in ("Div", "FloorDiv", "Mod") and converted[0].type in ("f32", "f64"):
            self.k.leave_if(self.k.eq(converted[1], 0.0))  # Python raises
        made = self.compute(name, operands, converted, numpys=numpys)
        if is_narrow_dtype(dtype):
            return self.narrowed(name, operands, made, dtype)
        found = Scalar(kinds, made)
        if found.is_float:
            if numpys:
                self.made_at[made.number] = self.place
            return found
        return self.bounded(name, operands, found)

    def narrowed(
        self, name: str, operands: Sequence[Scalar], made: Value, dtype: np.dtype
    ) -> Scalar:
        """An integer of few bits, computed in 64: what it does not hold leaves, as NumPy warns.

        Bits that are shifted out are gone without a warning.
        """
        k, low, high = self.k, *limits_of(dtype)
        bounds = self.bounds(name, operands)
        if name == "LShift":
            free = 64 - 8 * dtype.itemsize
            made = k.prim("ashr" if low else "lshr", k.prim("shl", made, free), free)
            bounds = low, high
        elif name == "Invert" and not low:
            made, bounds = k.prim("and", made, high), (low, high)
        elif not low <= bounds[0] <= bounds[1] <= high:
            inside = k.prim("ult", made - low, high - low + 1)
            self.doubt(k.prim("xor", inside, True))
        bounds = max(low, bounds[0]), min(high, bounds[1])
        return Scalar(frozenset((numpy_kind(dtype),)), made, *bounds)

    def used(self, x: Scalar) -> None:
        """A result is used where it was made: the machine computes it, and its flags tell."""
        if self.made_at.get(x.value.number) == self.place:
            del self.made_at[x.value.number]

    def dropped(self, x: Scalar) -> None:
        """Nobody uses a result for sure: it is to be computed all the same."""
        if self.made_at.pop(x.value.number, None) is not None:
            self.k.keep(x.value)

    def doubt(self, condition: Value) -> None:
        """Where this holds, nothing that is computed will count."""
        if self.doubtful is None:
            self.k.leave_if(condition)
        else:
            self.doubtful(condition)

    def folded(self, name: str, operands: Sequence[Scalar]) -> Scalar:
        """An operation of numbers that are written in the program."""
        try:
            made = OF_PYTHON[name](*(x.literal for x in operands))
        except (ArithmeticError, ValueError, TypeError) as error:
            raise Unknown(str(error)) from None
        if type(made) not in (bool, int, float):
            raise Unknown(f"a {type(made).__name__}")
        return literal(self.k, made)

    def meaning(self, name: str, kinds: tuple[Kind, ...]) -> Meaning:
        """The dtypes of an operation on numbers of these kinds."""
        if all(kind.python for kind in kinds):
            return self.meaning_of_pythons(name, kinds)
        found = dtypes_of(UFUNCS[name], tuple(map(promoted, kinds)))
        if found is None:
            raise Unknown(f"{name} of {' and '.join(map(str, kinds))}")
        return Meaning(found[:-1], numpy_kind(found[-1]))

    def meaning_of_pythons(self, name: str, kinds: tuple[Kind, ...]) -> Meaning:
        """The same for Python's numbers."""
        count = len(kinds)
        floats = any(kind is FLOAT or kind == FLOAT for kind in kinds) or name == "Div"
        if name in _COMPARISONS:
            if all(kind == TRUTH for kind in kinds):
                return Meaning((INT64,) * count, TRUTH)
            return Meaning((FLOAT64 if floats else INT64,) * count, TRUTH)
        if name in _BITWISE and all(kind == TRUTH for kind in kinds):
            return Meaning((BOOL,) * count, TRUTH)
        if floats and name in _OF_INTEGERS:
            raise Unknown(f"{name} of floats")
        return Meaning(((FLOAT64 if floats else INT64),) * count, FLOAT if floats else INT)

    def compute(
        self, name: str, operands: Sequence[Scalar], x: Sequence[Value], *, numpys: bool
    ) -> Value:
        """The value of an operation; leaves where Python would raise or NumPy report."""
        k = self.k
        if name in _COMPARISONS:
            return k.prim(_COMPARISONS[name], *x)
        kind = x[0].type
        if kind == "i1":
            return self.compute_truths(name, x)
        if kind in ("f32", "f64"):
            row = row_of(UFUNCS[name])
            if row is None or row.expand is None:
                raise Unknown(f"{name} of floats")
            made = row.expand(k, *x)
            if numpys and row.events:
                self.watch(made, x)
            return made
        return self.compute_integers(name, operands, x)

    def compute_truths(self, name: str, x: Sequence[Value]) -> Value:
        if name in _BITWISE:
            return self.k.prim(_BITWISE[name], *x)
        if name == "Invert":
            return self.k.prim("xor", x[0], True)
        if name in ("Add", "Mult"):
            return self.k.prim("or" if name == "Add" else "and", *x)
        raise Unknown(f"{name} of truth values")

    def compute_integers(self, name: str, operands: Sequence[Scalar], x: Sequence[Value]) -> Value:
        """Integers: what does not fit its type leaves, as Python's grow and NumPy's warn."""
        k, kind = self.k, x[0].type
        if name in _BITWISE:
            return k.prim(_BITWISE[name], *x)
        if name == "Invert":
            return k.prim("xor", x[0], -1)
        if name == "UAdd":
            return x[0]
        if name in _SHIFTS:
            return self.shift(name, operands, x)
        if name in ("FloorDiv", "Mod"):
            return self.divide(name, operands, x)
        if name == "USub":
            if not fits(self.bounds(name, operands), kind):
                self.doubt(k.eq(x[0], least(kind)))
            return -x[0]
        if name == "Mult" and operands[0].literal is not None:
            operands, x = operands[::-1], x[::-1]
        made = k.binary({"Add": "add", "Sub": "sub", "Mult": "mul"}[name], *x)
        if not fits(self.bounds(name, operands), kind):
            self.watch_integers(name, operands, x, made)
        return made

    def watch_integers(
        self, name: str, operands: Sequence[Scalar], x: Sequence[Value], made: Value
    ) -> None:
        """See whether a sum, a difference or a product of integers fits their type."""
        k, kind = self.k, made.type
        if name == "Mult" and operands[1].literal is not None and operands[1].literal > 1:
            most = (-least(kind) - 1) // int(operands[1].literal)
            inside = k.prim("ult", x[0] + most, 2 * most + 1)
            self.doubt(k.prim("xor", inside, True))
        elif name == "Mult":
            self.watch_product(x[0], x[1], made)
        elif operands[1].literal is not None:
            grows = (operands[1].literal > 0) == (name == "Add")
            self.doubt(made < x[0] if grows else x[0] < made)
        else:
            other = x[1] if name == "Add" else k.prim("xor", x[1], -1)
            self.doubt((k.prim("xor", x[0], made) & k.prim("xor", other, made)) < 0)

    def watch_product(self, a: Value, b: Value, made: Value) -> None:
        """Leave where a product of integers does not fit."""
        k, kind = self.k, a.type
        if kind == "i32":
            wide = k.convert("sext", a, "i64") * k.convert("sext", b, "i64")
            k.leave_if(k.ne(wide, k.convert("sext", made, "i64")))
            return
        half = k.const(1 << 31, kind)
        small = k.prim("ult", a + half, 1 << 32) & k.prim("ult", b + half, 1 << 32)
        with k.if_(k.prim("xor", small, True)) as rare:
            minus = k.eq(a, -1) | k.eq(b, -1)
            k.leave_if(minus & (k.eq(a, least(kind)) | k.eq(b, least(kind))))
            divisor = k.select(k.eq(a, 0) | k.eq(a, -1), 1, a)
            proven = k.eq(k.prim("sdiv", k.select(k.eq(divisor, a), made, 0), divisor), b)
            trivial = k.eq(a, 0) | k.eq(a, -1)
            k.leave_if(k.prim("xor", proven | trivial, True))
            rare.yield_()

    def divide(self, name: str, operands: Sequence[Scalar], x: Sequence[Value]) -> Value:
        k, kind = self.k, x[0].type
        divisor = operands[1]
        number = divisor.literal
        if type(number) is int and number > 0 and number & (number - 1) == 0:
            if name == "Mod":
                return x[0] & (number - 1)
            return k.prim("ashr", x[0], number.bit_length() - 1)
        if divisor.low <= 0 <= divisor.high:
            k.leave_if(k.eq(x[1], 0))
        if divisor.low <= -1 <= divisor.high and operands[0].low <= least(kind):
            k.leave_if(k.eq(x[1], -1) & k.eq(x[0], least(kind)))
        if divisor.literal is not None and divisor.literal > 0 and operands[0].low >= 0:
            return k.prim("sdiv" if name == "FloorDiv" else "srem", *x)
        quotient, rest = k.prim("sdiv", *x), k.prim("srem", *x)
        if operands[0].low >= 0 and divisor.low > 0:
            return quotient if name == "FloorDiv" else rest
        opposed = k.ne(rest, 0) & (k.prim("xor", rest, x[1]) < 0)
        if name == "FloorDiv":
            return quotient - k.select(opposed, k.const(1, kind), 0)
        return rest + k.select(opposed, x[1], 0)

    def shift(self, name: str, operands: Sequence[Scalar], x: Sequence[Value]) -> Value:
        k, kind = self.k, x[0].type
        bits = 31 if kind == "i32" else 63
        if operands[1].low < 0 or operands[1].high > bits:
            k.leave_if(k.prim("xor", k.prim("ult", x[1], bits + 1), True))
        if name == "RShift":
            return k.prim("ashr", *x)
        made = k.prim("shl", *x)
        if not fits(self.bounds(name, operands), kind):
            k.leave_if(k.ne(k.prim("ashr", made, x[1]), x[0]))
        return made

    # -- powers ------------------------------------------------------------------------------------
    def power(self, base: Scalar, exponent: Scalar) -> Scalar:
        """Integers by multiplying, floats by the C library, as Python and NumPy's scalars do."""
        number = exponent.literal
        if not base.is_float and base.kinds == {INT} and type(number) is int and 0 <= number <= 8:
            made = literal(self.k, 1)
            for _ in range(number):
                made = self.operate("Mult", made, base)
            return made
        if base.kinds == {numpy_kind(INT64)} and type(number) is int and 0 <= number <= 8:
            return self.wrapping_power(base, number)
        if base.kinds == exponent.kinds == {INT}:
            return self.power_of_integers(base, exponent)
        kinds = {
            self.kind_of_power(kinds)
            for kinds in itertools.product(sorted_kinds(base), sorted_kinds(exponent))
        }
        if {kind.dtype for kind in kinds} != {FLOAT64}:
            raise Unknown("a power of integers or of float32")
        x, y = (self.cast(each, FLOAT64) for each in (base, exponent))
        made_by = self.k.libm("pow", x, y)
        if any(kind.python for kind in kinds):  # negative bases give complex numbers, others raise
            self.leave_unless_finite(made_by, (x, y), always=True)
            self.k.leave_if((x < 0.0) & self.k.ne(self.k.prim("rint", y), y))
        else:
            self.watch(made_by, (x, y))
        return Scalar(frozenset(kinds), made_by)

    def wrapping_power(self, base: Scalar, number: int) -> Scalar:
        """Emit a power of NumPy's integers, which wrap around without a warning."""
        value = self.k.const(1, "i64")
        for _ in range(number):
            value = value * base.value
        most = max(abs(base.low), abs(base.high)) ** number
        low = 0 if base.low >= 0 or not number % 2 else -most
        return Scalar(base.kinds, value, *((low, most) if most <= MOST else (LEAST, MOST)))

    def power_of_integers(self, base: Scalar, exponent: Scalar) -> Scalar:
        """A power of Python's integers; leaves where it is a float, or has more than 64 bits."""
        k, least_of = self.k, LEAST if base.low < 0 else 0
        if not 0 <= exponent.low <= exponent.high <= _EXPONENT:
            k.leave_if(k.prim("xor", k.prim("ult", exponent.value, _EXPONENT + 1), True))
        with k.loop(0, k.convert("sext", exponent.value, "index"), [k.const(1, "i64")]) as loop:
            made = loop.carry[0] * base.value
            self.watch_product(loop.carry[0], base.value, made)
            loop.yield_(made)
        return Scalar(frozenset((INT,)), loop.out[0], least_of)

    def kind_of_power(self, kinds: tuple[Kind, ...]) -> Kind:
        """The kind of a power; an integer's where it may be one, or NumPy raises."""
        if all(kind.python for kind in kinds):
            return FLOAT if FLOAT in kinds else INT
        found = dtypes_of(np.power, tuple(map(promoted, kinds)))
        return INT if found is None else numpy_kind(found[-1])

    # -- functions ---------------------------------------------------------------------------------
    def ufunc(self, fn: np.ufunc, operands: Sequence[Scalar]) -> Scalar:
        """A ufunc on numbers: NumPy's scalar, of Python's numbers as well."""
        row = row_of(fn)
        if row is None or row.expand is None or row.kind != "elementwise" or fn is np.power:
            raise Unknown(f"numpy.{fn.__name__} of numbers")
        found = {
            dtypes_of(fn, tuple(map(promoted, kinds)))
            for kinds in itertools.product(*(sorted_kinds(x) for x in operands))
        }
        dtypes = only(found, f"numpy.{fn.__name__}")
        for each in operands:
            self.used(each)
        has_events = row.event_test is not None or bool(row.events)
        if dtypes is None or not (
            len(dtypes) == len(operands) + 1
            and (fn in _WITHIN or not is_narrow_dtype(dtypes[-1]))
            and not (has_events and dtypes[0].kind in "iu")
        ):
            raise Unknown(f"numpy.{fn.__name__} of numbers of these classes")
        x = [self.cast(each, dtype) for each, dtype in zip(operands, dtypes, strict=False)]
        if row.exactness == "ours":
            self.mark_ours()
        made = row.expand(self.k, *x)
        kinds = frozenset((numpy_kind(dtypes[-1]),))
        scalar = Scalar(kinds, made, *limits_of(dtypes[-1]))
        if made.type not in ("f32", "f64"):
            return scalar
        if row.events:
            self.watch(made, x)
        self.made_at[made.number] = self.place
        return scalar

    def math(self, fn: Any, operands: Sequence[Scalar]) -> Scalar:
        """A function of ``math``."""
        k, x = self.k, [self.cast(each, FLOAT64) for each in operands]
        if fn is math.sqrt:
            k.leave_if(x[0] < 0.0)
            return Scalar(frozenset((FLOAT,)), k.prim("sqrt", x[0]))
        if fn is math.fabs:
            return Scalar(frozenset((FLOAT,)), k.prim("abs", x[0]))
        if fn in (math.floor, math.ceil, math.trunc) and operands[0].is_float:
            whole = {math.floor: "floor", math.ceil: "ceil", math.trunc: "trunc_float"}[fn]
            return self.whole(k.prim(whole, x[0]))
        if fn is math.isnan:
            return Scalar(frozenset((TRUTH,)), k.prim("isnan", x[0]))
        if fn in (math.isinf, math.isfinite):
            op = "eq" if fn is math.isinf else "lt"
            return Scalar(frozenset((TRUTH,)), k.prim(op, k.prim("abs", x[0]), math.inf))
        name = MATH.get(fn)
        if name is None or len(x) != (2 if name in ("atan2", "fmod", "pow") else 1):
            raise Unknown(f"math.{getattr(fn, '__name__', fn)}")
        made_by = k.libm(name, *x)
        self.leave_unless_finite(made_by, x, always=True)
        return Scalar(frozenset((FLOAT,)), made_by)

    def whole(self, x: Value) -> Scalar:
        """A whole float as a Python integer."""
        k = self.k
        self.k.leave_if(k.prim("xor", k.prim("abs", x) < 2.0**62, True))
        return Scalar(frozenset((INT,)), k.convert("fptosi", x, "i64"), -(1 << 62), 1 << 62)

    # -- events ------------------------------------------------------------------------------------
    def watch(self, made: Value, operands: Sequence[Value]) -> None:
        """Leave where NumPy reports an event of an operation on floats, if that is seen here."""
        if self.careful:
            self.leave_unless_finite(made, operands)

    def leave_unless_finite(
        self, made: Value, operands: Sequence[Value], *, always: bool = False
    ) -> None:
        """Leave where a result is not finite though its operands say nothing of the kind.

        ``always``: whatever the operands are.
        """
        k = self.k
        odd = k.prim("isnan", made - made)
        if always:
            k.leave_if(odd)
            return
        with k.if_(odd) as rare:
            is_nan = k.prim("isnan", made)
            quiet: Value = k.const(False, "i1")
            infinite: Value = k.const(False, "i1")
            for x in operands:
                if x.type in ("f32", "f64"):
                    quiet = quiet | k.prim("isnan", x)
                    infinite = infinite | k.ne(x - x, 0.0)
            none = k.prim("xor", k.select(is_nan, quiet, infinite), True)
            k.leave_if(none)
            rare.yield_()

    # -- conversions -------------------------------------------------------------------------------
    def cast(self, x: Scalar, dtype: np.dtype) -> Value:
        """A number as Python and NumPy convert it before they compute in a dtype."""
        k, to, value = self.k, TYPES[dtype], x.value
        held = x.type
        if is_narrow_dtype(dtype) and not x.is_float:
            return self.as_narrow(x, dtype)
        if held == to:
            return value
        if x.literal is not None and not isinstance(x.literal, float):
            return k.const(x.literal, to)
        if held == "i1":
            return k.convert("uitofp" if dtype.kind == "f" else "zext", value, to)
        if to == "i1":
            return k.ne(value, 0.0 if x.is_float else 0)
        if dtype.kind == "f":
            return self.as_float(x, to)
        if x.is_float:
            raise Unknown("a float becomes an integer")
        if to == "i64":
            return k.convert("sext", value, to)
        made = k.convert("trunc", value, to)
        if not (least("i32") <= x.low and x.high <= -least("i32") - 1):
            k.leave_if(k.ne(k.convert("sext", made, "i64"), value))
        return made

    def as_narrow(self, x: Scalar, dtype: np.dtype) -> Value:
        """An integer as one of few bits; leaves where it does not fit."""
        k, low, high = self.k, *limits_of(dtype)
        if x.type == "i1":
            return k.convert("zext", x.value, "i64")
        value = x.value if x.type == "i64" else k.convert("sext", x.value, "i64")
        if not low <= x.low <= x.high <= high:
            k.leave_if(k.prim("xor", k.prim("ult", value - low, high - low + 1), True))
        return value

    def as_float(self, x: Scalar, to: str) -> Value:
        """An integer, or a float of another type, as a float."""
        k, value = self.k, x.value
        if not x.is_float:
            if x.type == "i64" and not (x.low >= -EXACT and x.high <= EXACT):
                k.leave_if(k.prim("abs", value) > EXACT)
                k.leave_if(k.eq(value, LEAST))
            return k.convert("sitofp", value, to)
        if to == "f64":
            return k.convert("fpext", value, to)
        if x.literal is not None and abs(x.literal) > _LARGEST:
            raise Unknown("a number that float32 does not hold")
        made = k.convert("fptrunc", value, to)
        self.watch(made, (value,))
        return made

    def stored(self, x: Scalar, dtype: np.dtype) -> Value:
        """A number as an assignment to an element casts it."""
        k, to = self.k, TYPES[dtype]
        self.used(x)
        if x.is_float and dtype.kind in "iu":
            value, (low, high) = self.cast(x, FLOAT64), limits_of(dtype)
            inside = (value > float(low) - (low > LEAST)) & (value < float(high) + 1.0)
            k.leave_if(k.prim("xor", inside, True))
            return k.convert("fptosi", value, to)
        return self.cast(x, dtype)

    def truth(self, x: Scalar) -> Value:
        """True if a number counts as true."""
        self.used(x)
        return self.cast(x, BOOL)

    def index(self, x: Scalar) -> Value:
        """A number as an index."""
        if x.is_float or x.type == "i1":
            raise Unknown("an index that is no integer")
        return self.k.convert("sext", self.cast(x, INT64), "index")

    # -- bounds of integers ------------------------------------------------------------------------
    def bounds(self, name: str, operands: Sequence[Scalar]) -> tuple[int, int]:
        """Between which numbers the result of an operation on integers lies."""
        if any(x.is_float for x in operands):
            return LEAST, MOST
        a = (0, 1) if operands[0].type == "i1" else (operands[0].low, operands[0].high)
        if len(operands) == 1:
            return {"USub": (-a[1], -a[0]), "Invert": (-a[1] - 1, -a[0] - 1)}.get(name, a)
        b = (0, 1) if operands[1].type == "i1" else (operands[1].low, operands[1].high)
        if name == "Add":
            return a[0] + b[0], a[1] + b[1]
        if name == "Sub":
            return a[0] - b[1], a[1] - b[0]
        if name == "Mult":
            products = [p * q for p in a for q in b]
            return min(products), max(products)
        if name == "Mod" and b[0] > 0:
            return 0, b[1] - 1
        if name == "FloorDiv" and b[0] > 0:
            return min(a[0], 0), max(a[1], 0)
        if name == "BitAnd" and (a[0] >= 0 or b[0] >= 0):
            return 0, min(end for start, end in (a, b) if start >= 0)
        if name in ("BitOr", "BitXor") and a[0] >= 0 and b[0] >= 0:
            return 0, (1 << max(a[1], b[1]).bit_length()) - 1
        if name == "RShift" and a[0] >= 0:
            return 0, a[1]
        if name == "LShift" and a[0] >= 0 and b[0] >= 0 and b[1] <= 62:
            return 0, a[1] << b[1]
        return LEAST, MOST

    def bounded(self, name: str, operands: Sequence[Scalar], made: Scalar) -> Scalar:
        """The result with what is known of it."""
        if made.is_float or made.type == "i1":
            return made
        low, high = self.bounds(name, operands)
        top, line = None, None
        if name in ("Add", "Sub") and made.type == "i64":
            lines = [self.line_of(x) for x in operands]
            if lines[0] is not None and lines[1] is not None:
                line = lines[0].plus(lines[1], 1 if name == "Add" else -1)
        if name in ("Add", "Sub") and operands[0].top is not None:
            axis, offset = operands[0].top
            other = operands[1]
            if not other.is_float and other.type != "i1":
                top = axis, offset + (other.high if name == "Add" else -other.low)
        elif name == "Add" and operands[1].top is not None and not operands[0].is_float:
            top = operands[1].top[0], operands[1].top[1] + operands[0].high
        if top is not None and abs(top[1]) > 1 << 40:
            top = None
        low, high = max(low, least(made.type)), min(high, -least(made.type) - 1)
        return Scalar(made.kinds, made.value, low, high, top, line=line)

    def line_of(self, x: Scalar) -> Line | None:
        """How an integer moves with the turns of the loop that is emitted; None: nobody knows."""
        if x.type != "i64":
            return None
        if x.literal is not None:
            return Line(self.loop, 0, (), int(x.literal))
        if x.line is not None and x.line.loop == self.loop:
            return x.line
        if x.value.number < self.loop:
            return Line(self.loop, 0, ((1, x.value),), 0)
        return None


_PYTHONS: Final = frozenset((INT, FLOAT, TRUTH))
_WITHIN: Final = (np.minimum, np.maximum, np.bitwise_and, np.bitwise_or, np.bitwise_xor)
"""Ufuncs whose results are within the bounds of their operands' dtype."""


@cache  # a memo of a pure question
def dtypes_of(fn: np.ufunc, kinds: tuple[Any, ...]) -> tuple[np.dtype, ...] | None:
    """The dtypes of a ufunc's loop, as :func:`loop_dtypes`, of integers of few bits as well."""
    of_numpys = [kind for kind in kinds if isinstance(kind, np.dtype)]
    if not any(is_narrow_dtype(kind) or kind == np.uint64 for kind in of_numpys):
        return loop_dtypes(fn, kinds)
    try:
        resolved = fn.resolve_dtypes((*kinds, *(None,) * fn.nout))
    except TypeError:
        return None
    known = all(is_narrow_dtype(dtype) or is_compiled_dtype(dtype) for dtype in resolved)
    return resolved if known else None


def limits_of(dtype: np.dtype) -> tuple[int, int]:
    """The smallest and the largest integer of a dtype; of others, of all that are held."""
    if dtype.kind not in "iu":
        return LEAST, MOST
    limits = np.iinfo(dtype)
    return int(limits.min), int(limits.max)


def sorted_kinds(x: Scalar | Complex) -> list[Kind]:
    """The kinds of a number, in one order."""
    return sorted(x.kinds, key=str)


def promoted(kind: Kind) -> Any:
    """A kind as NumPy's promotion takes it."""
    if not kind.python or kind.dtype == BOOL:
        return kind.dtype
    return float if kind.dtype == FLOAT64 else int


def least(kind: str) -> int:
    """The smallest integer of a type."""
    return -(1 << 31) if kind == "i32" else LEAST


def fits(bounds: tuple[int, int], kind: str) -> bool:
    """True if all integers between bounds are of a type."""
    return least(kind) <= bounds[0] and bounds[1] <= -least(kind) - 1
