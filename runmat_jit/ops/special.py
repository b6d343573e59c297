"""Rows of special functions: those of ``scipy.special``, which is not loaded for them.

SciPy reports no floating-point events, nor do they. Where the exact result is subnormal, SciPy may
give 0.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from runmat_jit.kernel.ir import Value
from runmat_jit.kernel.math.deferred import deferred
from runmat_jit.ops import sign
from runmat_jit.ops.elementwise import ABSORBS, PASSES
from runmat_jit.ops.library import LibraryUfunc
from runmat_jit.ops.readers import ufunc_reader
from runmat_jit.ops.spec import Op

_ULP_1_5 = {"float32": 1.5, "float64": 1.5}
_ULP_GPU = {"float32": 4.0, "float64": 4.0}


def _row(
    name: str, doc: str, expand: Callable[..., Value], absorbs: tuple[bool, ...], **fields: Any
) -> Op:
    ufunc = LibraryUfunc("scipy.special", name, len(absorbs))
    return Op(
        name=name,
        doc=doc,
        kind="elementwise",
        arity=ufunc.nin,
        numpy=ufunc,
        library=ufunc,
        bind=ufunc_reader(ufunc.nin),
        result=ufunc.result,
        expand=expand,
        absorbs=absorbs,
        allocates="ufunc",
        ufunc=name,
        exactness="ours",
        ulp=_ULP_1_5,
        gpu_ulp=_ULP_GPU,
        **fields,
    )


ROWS = (
    _row(
        "expit",
        "The logistic function ``1 / (1 + e**-x)``.",
        deferred("logistic", "expit"),
        (ABSORBS,),
        flops=30,
        domain=(-20.0, 20.0),
        sign=sign.clear,
        top=sign.one,
    ),
    _row(
        "logit",
        "``log(x / (1 - x))``, accurate around 1/2.",
        deferred("logistic", "logit"),
        (PASSES,),
        flops=35,
        domain=(0.0, 1.0),
    ),
    _row(
        "xlogy",
        "``x log(y)``; 0 where the first operand is 0 and the second one a number.",
        deferred("logistic", "xlogy"),
        (ABSORBS, ABSORBS),
        flops=30,
        domain=(0.0, 50.0),
    ),
    _row(
        "xlog1py",
        "``x log(1 + y)``; 0 where the first operand is 0 and the second one a number.",
        deferred("logistic", "xlog1py"),
        (ABSORBS, ABSORBS),
        flops=35,
        domain=(0.0, 50.0),
    ),
    _row(
        "entr",
        "``-x log(x)``; 0 at 0, -inf below.",
        deferred("logistic", "entr"),
        (PASSES,),
        flops=30,
        domain=(0.0, 3.0),
    ),
    _row(
        "erf",
        "The error function.",
        deferred("error_function", "erf"),
        (ABSORBS,),
        flops=70,
        domain=(-5.0, 5.0),
        sign=sign.least,
        top=sign.one,
    ),
    _row(
        "erfc",
        "``1 - erf(x)``, accurate where that is small.",
        deferred("error_function", "erfc"),
        (ABSORBS,),
        flops=70,
        domain=(-5.0, 9.0),
        sign=sign.clear,
    ),
)
