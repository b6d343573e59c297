"""Rows of mathematical functions: our own expansions, which every backend computes alike."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Hashable
from typing import Any

import numpy as np

from runmat_jit.core.types import TensorType
from runmat_jit.kernel.build import Builder
from runmat_jit.kernel.ir import Value
from runmat_jit.kernel.math.deferred import deferred
from runmat_jit.kernel.math.formats import nearest
from runmat_jit.ops import parts, sign
from runmat_jit.ops.elementwise import ABSORBS, PASSES, elementwise, is_float
from runmat_jit.ops.promotion import kind_of, shape_of, ufunc_rule
from runmat_jit.ops.readers import (
    Arguments,
    Bind,
    Keywords,
    NotCovered,
    method_reader,
    reader,
    ufunc_reader,
)
from runmat_jit.ops.spec import Bound, Event, Make, Op, Operand, Params, Result, Weak
from runmat_jit.ops.structure import constant_params

_ULP_1 = {"float32": 1.0, "float64": 1.0}
_ULP_1_5 = {"float32": 1.5, "float64": 1.5}
_ULP_2 = {"float32": 2.0, "float64": 2.0}
_ULP_3 = {"float32": 3.0, "float64": 3.0}
_ULP_4 = {"float32": 4.0, "float64": 4.0}
_INVALID: frozenset[Event] = frozenset({"invalid"})
_GROWS: frozenset[Event] = frozenset({"overflow", "underflow"})
_LOGARITHMIC: frozenset[Event] = frozenset({"divide", "invalid"})
_TINY: frozenset[Event] = frozenset({"underflow"})
_PERIODIC: frozenset[Event] = _INVALID | {"underflow"}  # of tiny angles, by some NumPy builds
_ALL: frozenset[Event] = frozenset({"divide", "overflow", "underflow", "invalid"})
_NUMBERS = (int, float, bool)
_ULP_POWER = _ULP_2
_ULP_COSINE = {"float32": 1.5, "float64": 1.6}
_ULP_PERIODIC_GPU = {"float32": 3.0, "float64": 2.0}
_ULP_EXP_GPU = {"float32": 4.0, "float64": 2.0}

_integer_power = deferred("power", "integer_power")
_power = deferred("power", "power")
_power_constant = deferred("power", "power_constant")
_log_sum_reports = deferred("log_sum", "log_sum_reports")

_read_power = ufunc_reader(2)


@reader
def _bind_power(args: Arguments, kwargs: Keywords) -> Bound:
    """Both operands, and the exponent's value where it is a plain number."""
    bound = _read_power(args, kwargs)
    if bound is None:
        raise NotCovered
    exponent = bound.operands[1]
    known = exponent if type(exponent) in _NUMBERS else None
    return Bound(bound.operands, {"exponent": known}, bound.out)


def _power_result(rule: Callable[..., Result | None]) -> Callable[..., Result | None]:
    def result(operands: tuple[Operand, ...], params: Params) -> Result | None:
        found = rule(operands, params)
        exponent = params["exponent"]
        if found is None or found.type.dtype.kind == "f":
            return found
        # an integer to a negative power raises
        known = isinstance(exponent, int) and exponent >= 0
        return found if known or kind_of(operands[1]) == np.dtype(bool) else None

    return result


_ufunc_result = _power_result(ufunc_rule(np.power))
_SCALED = ufunc_rule(np.multiply)
_scalar_result = _power_result(ufunc_rule(np.power, scalar_integers=False))
_complex_result = ufunc_rule(np.power, takes_complex=True)


def _operator_result(operands: tuple[Operand, ...], params: Params) -> Result | None:
    """``**`` calls square, reciprocal and sqrt for the exact numbers 2, -1 and 0.5."""
    result, exponent = _scalar_result(operands, params), params["exponent"]
    if result is None and type(exponent) is int and exponent in parts.EXPONENTS:
        found = _complex_result(operands, params)
        return found if found is not None and found.type.dtype.kind == "c" else None
    if result is None or not isinstance(exponent, (int, float)) or isinstance(exponent, bool):
        return result
    quick = exponent in (2, -1) if isinstance(exponent, int) else exponent == 0.5
    if not quick:
        return result
    base = operands[0]
    square_of_bool = isinstance(exponent, int) and kind_of(base) == np.dtype(bool)  # in int8
    scalar_root = exponent == 0.5 and shape_of(base) == ()  # a NumPy scalar's root of -0.0 is 0.0
    return None if square_of_bool or scalar_root else result


def _canonical_power(params: Params, operands: tuple[Operand, ...]) -> dict[str, Hashable]:
    single = all(extent == 1 for extent in shape_of(operands[1]))
    return {"exponent": params["exponent"], "single": single}


def _expand_power(
    k: Builder, x: Value, y: Value, *, exponent: float | None = None, single: bool = False
) -> Value:
    """NumPy takes a square root where one exponent for all elements is 0.5: -0.0 and -inf differ
    from the power there.
    """
    if not is_float(x):
        return _integer_power(k, x, y if exponent is None else k.const(int(exponent), x.type))
    if exponent is not None:
        return _power_constant(k, x, nearest(exponent, x.type))
    general = _power(k, x, y)
    return k.select(k.eq(y, 0.5), k.prim("sqrt", x), general) if single else general


def _power_row(
    name: str, spellings: tuple[Callable[..., Any], ...], result: Any, doc: str, **fields: Any
) -> Op:
    numpy = spellings[0]

    def meaning(x: Any, y: Any, exponent: float | None = None, *, single: bool = False) -> Any:
        del single  # a fact for the kernel
        return numpy(x, y if exponent is None else exponent)

    bind: Bind = _bind_power
    return Op(
        name=name,
        doc=doc,
        kind="elementwise",
        arity=2,
        numpy=meaning,
        spellings=spellings,
        bind=bind,
        result=result,
        canonical=_canonical_power,
        expand=_expand_power,
        absorbs=(ABSORBS, ABSORBS),
        exactness="ours",
        events=_ALL,
        divisor=0,
        strict=(1,),
        sign=sign.power,
        top=sign.top_of_power,
        allocates="ufunc",
        ufunc="power",
        flops=40,
        domain=(0.0, 50.0),
        ulp=_ULP_POWER,
        gpu_ulp=_ULP_4,
        **fields,
    )


def _sinc_result(operands: tuple[Operand, ...], params: Params) -> Result | None:
    """That of a product with a number."""
    found = _SCALED((*operands, Weak(float)), params)
    return None if found is None else Result(found.type, found.operand_dtypes[:1])


def _decompose_sinc(make: Make, args: tuple[Any, ...], _params: Params, kind: TensorType) -> Any:
    """NumPy divides a sine as well, and takes a small angle for 0."""

    def number(value: float) -> Any:
        return make("constant", (), constant_params(value, kind.dtype), TensorType(kind.dtype, ()))

    angle = make("multiply", (*args, number(math.pi)), {}, kind)
    truth = TensorType(np.dtype(bool), kind.shape)
    is_angle = make("not_equal", (angle, number(0.0)), {}, truth)
    angle = make("where", (is_angle, angle, number(1e-20)), {}, kind)
    return make("divide", (make("sin", (angle,), {}, kind), angle), {}, kind)


def _log_sum_row(ufunc: np.ufunc, doc: str, name: str) -> Op:
    return elementwise(
        ufunc,
        doc,
        deferred("log_sum", name),
        (ABSORBS, ABSORBS),
        exactness="ours",
        events=_GROWS | _INVALID,
        event_test=_log_sum_reports,
        flops=50,
        domain=(-20.0, 20.0),
        ulp=_ULP_2,
        gpu_ulp=_ULP_4,
    )


ROWS = (
    elementwise(
        np.sqrt,
        "Square root.",
        lambda k, x: k.prim("sqrt", x),
        (PASSES,),
        events=_INVALID,
        matlab="sqrt",
        flops=6,
        domain=(0.0, 1e3),
        gpu_ulp=_ULP_3,
        sign=sign.least,
        top=sign.top_of_square,
    ),
    elementwise(
        np.exp,
        "e to the power of the value.",
        deferred("exponential", "exp"),
        (ABSORBS,),
        exactness="ours",
        events=_GROWS,
        matlab="exp",
        flops=15,
        domain=(-80.0, 80.0),
        ulp=_ULP_1,
        gpu_ulp=_ULP_EXP_GPU,
        sign=sign.clear,
        parts=parts.exp,
        complex_exactness="ours",
    ),
    elementwise(
        np.log,
        "Natural logarithm.",
        deferred("logarithm", "log"),
        (PASSES,),
        exactness="ours",
        events=_LOGARITHMIC,
        matlab="log",
        flops=20,
        domain=(0.0, 1e3),
        ulp=_ULP_1,
        gpu_ulp=_ULP_2,
        top=sign.logarithm,
    ),
    elementwise(
        np.sin,
        "Sine of an angle in radians.",
        deferred("trigonometric", "sin"),
        (PASSES,),
        exactness="ours",
        events=_PERIODIC,
        matlab="sin",
        flops=18,
        ulp=_ULP_1_5,
        gpu_ulp=_ULP_PERIODIC_GPU,
    ),
    elementwise(
        np.cos,
        "Cosine of an angle in radians.",
        deferred("trigonometric", "cos"),
        (PASSES,),
        exactness="ours",
        events=_PERIODIC,
        matlab="cos",
        flops=18,
        ulp=_ULP_COSINE,
        gpu_ulp=_ULP_PERIODIC_GPU,
    ),
    elementwise(
        np.tan,
        "Tangent of an angle in radians.",
        deferred("tangent", "tan"),
        (PASSES,),
        exactness="ours",
        events=_PERIODIC,
        matlab="tan",
        flops=40,
        domain=(-20.0, 20.0),
        ulp=_ULP_1_5,
        gpu_ulp=_ULP_4,
    ),
    Op(
        name="sinc",
        doc="``sin(pi x) / (pi x)``, by the row ``sin``.",
        kind="elementwise",
        arity=1,
        numpy=np.sinc,
        spellings=(np.sinc,),
        bind=method_reader(("x",), {}),
        result=_sinc_result,
        allocates="iterator",
        decompose=_decompose_sinc,
        exactness="ours",
        events=_GROWS | _INVALID,
        ufunc="sin",
        flops=24,
        gpu_ulp=_ULP_4,
    ),
    elementwise(
        np.tanh,
        "Hyperbolic tangent.",
        deferred("hyperbolic", "tanh"),
        (ABSORBS,),
        exactness="ours",
        matlab="tanh",
        flops=24,
        domain=(-20.0, 20.0),
        ulp=_ULP_1_5,
        gpu_ulp=_ULP_4,
        sign=sign.least,
    ),
    elementwise(
        np.exp2,
        "2 to the power of the value; exact for whole numbers.",
        deferred("exponential", "exp2"),
        (ABSORBS,),
        exactness="ours",
        events=_GROWS,
        flops=14,
        domain=(-100.0, 100.0),
        ulp=_ULP_1,
        gpu_ulp=_ULP_2,
        sign=sign.clear,
    ),
    elementwise(
        np.expm1,
        "``e**x - 1``, accurate around 0.",
        deferred("exponential", "expm1"),
        (ABSORBS,),
        exactness="ours",
        events=_GROWS,
        matlab="expm1",
        flops=18,
        domain=(-20.0, 80.0),
        ulp=_ULP_2,
        gpu_ulp=_ULP_3,
        sign=sign.least,
    ),
    elementwise(
        np.log2,
        "Logarithm to base 2; exact for powers of two.",
        deferred("logarithm", "log2"),
        (PASSES,),
        exactness="ours",
        events=_LOGARITHMIC,
        flops=22,
        domain=(0.0, 1e3),
        ulp=_ULP_1_5,
        gpu_ulp=_ULP_2,
        top=sign.logarithm,
    ),
    elementwise(
        np.log10,
        "Logarithm to base 10; exact for powers of ten.",
        deferred("logarithm", "log10"),
        (PASSES,),
        exactness="ours",
        events=_LOGARITHMIC,
        matlab="log10",
        flops=22,
        domain=(0.0, 1e3),
        ulp=_ULP_1_5,
        gpu_ulp=_ULP_2,
        top=sign.logarithm,
    ),
    elementwise(
        np.log1p,
        "``log(1 + x)``, accurate around 0.",
        deferred("logarithm", "log1p"),
        (PASSES,),
        exactness="ours",
        events=_LOGARITHMIC,
        matlab="log1p",
        flops=26,
        domain=(-1.0, 1e3),
        ulp=_ULP_1_5,
        gpu_ulp=_ULP_3,
        sign=sign.least,
        top=sign.highest,
    ),
    elementwise(
        np.sinh,
        "Hyperbolic sine.",
        deferred("hyperbolic", "sinh"),
        (PASSES,),
        exactness="ours",
        events=_GROWS,
        matlab="sinh",
        flops=24,
        domain=(-20.0, 20.0),
        ulp=_ULP_2,
        gpu_ulp=_ULP_3,
        sign=sign.least,
    ),
    elementwise(
        np.cosh,
        "Hyperbolic cosine.",
        deferred("hyperbolic", "cosh"),
        (PASSES,),
        exactness="ours",
        events=_GROWS,
        matlab="cosh",
        flops=24,
        domain=(-20.0, 20.0),
        ulp=_ULP_1_5,
        gpu_ulp=_ULP_3,
        sign=sign.clear,
    ),
    elementwise(
        np.arctan,
        "Angle in radians whose tangent is the value.",
        deferred("inverse_trigonometric", "arctan"),
        (ABSORBS,),
        exactness="ours",
        events=_TINY,
        matlab="atan",
        flops=24,
        ulp=_ULP_2,
        gpu_ulp=_ULP_4,
        sign=sign.least,
        top=sign.highest,
    ),
    elementwise(
        np.arctan2,
        "Angle in radians of the point whose coordinates are the second and the first operand.",
        deferred("inverse_trigonometric", "arctan2"),
        (ABSORBS, ABSORBS),
        exactness="ours",
        events=_TINY,
        matlab="atan2",
        flops=35,
        ulp=_ULP_2,
        gpu_ulp=_ULP_4,
    ),
    elementwise(
        np.arcsin,
        "Angle in radians whose sine is the value.",
        deferred("inverse_trigonometric", "arcsin"),
        (PASSES,),
        exactness="ours",
        events=_INVALID,
        matlab="asin",
        flops=24,
        domain=(-1.0, 1.0),
        ulp=_ULP_1_5,
        gpu_ulp=_ULP_4,
        sign=sign.least,
    ),
    elementwise(
        np.arccos,
        "Angle in radians whose cosine is the value.",
        deferred("inverse_trigonometric", "arccos"),
        (PASSES,),
        exactness="ours",
        events=_INVALID,
        matlab="acos",
        flops=24,
        domain=(-1.0, 1.0),
        ulp=_ULP_1_5,
        gpu_ulp=_ULP_4,
        sign=sign.clear,
    ),
    elementwise(
        np.arcsinh,
        "Inverse hyperbolic sine.",
        deferred("inverse_hyperbolic", "arcsinh"),
        (PASSES,),
        exactness="ours",
        events=_TINY,
        matlab="asinh",
        flops=45,
        ulp=_ULP_2,
        gpu_ulp=_ULP_4,
        sign=sign.least,
    ),
    elementwise(
        np.arccosh,
        "Inverse hyperbolic cosine; NaN below 1.",
        deferred("inverse_hyperbolic", "arccosh"),
        (PASSES,),
        exactness="ours",
        events=_INVALID,
        matlab="acosh",
        flops=45,
        domain=(1.0, 1e3),
        ulp=_ULP_1_5,
        gpu_ulp=_ULP_4,
        sign=sign.clear,
    ),
    elementwise(
        np.arctanh,
        "Inverse hyperbolic tangent; infinite at 1, NaN beyond.",
        deferred("inverse_hyperbolic", "arctanh"),
        (PASSES,),
        exactness="ours",
        events=_LOGARITHMIC | _TINY,
        matlab="atanh",
        flops=32,
        domain=(-1.0, 1.0),
        ulp=_ULP_1_5,
        gpu_ulp=_ULP_4,
        sign=sign.least,
    ),
    elementwise(
        np.cbrt,
        "Cube root, of negative numbers too.",
        deferred("cube_root", "cbrt"),
        (PASSES,),
        exactness="ours",
        flops=22,
        ulp=_ULP_1,
        gpu_ulp=_ULP_3,
        sign=sign.least,
    ),
    elementwise(
        np.hypot,
        "``sqrt(x**2 + y**2)`` without overflow in between.",
        deferred("hypotenuse", "hypot"),
        (PASSES, PASSES),
        exactness="ours",
        events=_GROWS,
        matlab="hypot",
        flops=14,
        ulp=_ULP_1_5,
        gpu_ulp=_ULP_4,
        sign=sign.clear,
    ),
    _log_sum_row(
        np.logaddexp,
        "``log(e**x + e**y)``, to 2 ULP of the largest of the result, the larger operand and what "
        "the other one adds to it.",
        "logaddexp",
    ),
    _log_sum_row(
        np.logaddexp2,
        "``log2(2**x + 2**y)``, as ``logaddexp``.",
        "logaddexp2",
    ),
    _power_row(
        "power",
        (np.power,),
        _ufunc_result,
        "The first operand to the power of the second; integers with a known exponent only.",
        matlab="power",
    ),
    _power_row(
        "pow",
        (operator.pow, pow),
        _operator_result,
        "The operator ``**``, as ``power``; of complex numbers, with exponents from 2 to 8.",
        parts=parts.power,
    ),
    elementwise(
        np.float_power,
        "As ``power``, of at least float64.",
        _power,
        (ABSORBS, ABSORBS),
        exactness="ours",
        events=_ALL,
        divisor=0,
        strict=(1,),
        flops=40,
        domain=(0.0, 50.0),
        ulp=_ULP_POWER,
        gpu_ulp=_ULP_4,
    ),
)
