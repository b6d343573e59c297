"""Rows that find infinities by their sign, and that replace what is not finite."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable
from typing import Any

import numpy as np

from runmat_jit.core.types import TensorType
from runmat_jit.kernel.build import Builder
from runmat_jit.kernel.ir import Value
from runmat_jit.ops.elementwise import ABSORBS, is_float
from runmat_jit.ops.promotion import fits, is_compiled
from runmat_jit.ops.readers import NotCovered, flag, method_reader
from runmat_jit.ops.spec import Make, Op, Operand, Params, Result
from runmat_jit.ops.structure import constant_params

_BOOL = np.dtype(bool)


def _tested(operands: tuple[Operand, ...], _params: Params) -> Result | None:
    (x,) = operands
    if not isinstance(x, TensorType) or not is_compiled(x.dtype) or x.dtype == _BOOL:
        return None
    return Result(TensorType(_BOOL, x.shape), (x.dtype,))


def _equals(number: float) -> Callable[[Builder, Value], Value]:
    def expand(k: Builder, x: Value) -> Value:
        return k.eq(x, number) if is_float(x) else k.const(0, "i1")

    return expand


def _infinity(numpy: Callable[..., Any], doc: str, number: float) -> Op:
    return Op(
        name=numpy.__name__,
        doc=doc,
        kind="elementwise",
        arity=1,
        numpy=numpy,
        spellings=(numpy,),
        bind=method_reader(("x", "out"), {}),
        result=_tested,
        expand=_equals(number),
        absorbs=(ABSORBS,),
    )


def _number(value: Any) -> Hashable:
    """A plain number that replaces others, None for NumPy's default."""
    if value is None or (type(value) in (int, float) and not math.isnan(value)):
        return value  # type: ignore[no-any-return]  # None, an int or a float
    raise NotCovered


def _copied(value: Any) -> Hashable:
    if not flag(value):
        raise NotCovered
    return True


_REPLACED = ("nan", "posinf", "neginf")


def _replaced(operands: tuple[Operand, ...], params: Params) -> Result | None:
    (x,) = operands
    if not isinstance(x, TensorType) or not is_compiled(x.dtype) or x.dtype.kind != "f":
        return None
    given = [params[name] for name in _REPLACED]
    if not all(value is None or fits(value, x.dtype) for value in given):  # type: ignore[arg-type]  # numbers
        return None
    return Result(x, (x.dtype,))


def _canonical(params: Params, _operands: tuple[Operand, ...]) -> dict[str, Hashable]:
    return {name: params[name] for name in _REPLACED}


def _replace(x: Any, nan: Any = 0.0, posinf: Any = None, neginf: Any = None, **_copy: Any) -> Any:
    return np.nan_to_num(x, nan=0.0 if nan is None else nan, posinf=posinf, neginf=neginf)


def _decompose(make: Make, args: tuple[Any, ...], params: Params, kind: TensorType) -> Any:
    (x,), number = args, TensorType(kind.dtype, ())
    limits, tests = np.finfo(kind.dtype), TensorType(_BOOL, kind.shape)

    def constant(value: Any) -> Any:
        return make("constant", (), constant_params(value, kind.dtype), number)

    defaults = {"nan": 0.0, "posinf": limits.max, "neginf": limits.min}
    nan, above, below = (
        constant(default if params[name] is None else params[name])
        for name, default in defaults.items()
    )
    result = x
    for infinite, other in ((constant(-math.inf), below), (constant(math.inf), above)):
        result = make("where", (make("equal", (x, infinite), {}, tests), other, result), {}, kind)
    return make("where", (make("isnan", (x,), {}, tests), nan, result), {}, kind)


ROWS = (
    _infinity(np.isposinf, "Whether a value is positive infinity.", math.inf),
    _infinity(np.isneginf, "Whether a value is negative infinity.", -math.inf),
    Op(
        name="nan_to_num",
        doc="Floats with numbers in place of NaN and infinities.",
        kind="elementwise",
        arity=1,
        numpy=_replace,
        spellings=(np.nan_to_num,),
        bind=method_reader(
            ("x", "copy", *_REPLACED),
            {"copy": _copied, **dict.fromkeys(_REPLACED, _number)},
        ),
        result=_replaced,
        canonical=_canonical,
        decompose=_decompose,
        flops=3,
    ),
)
