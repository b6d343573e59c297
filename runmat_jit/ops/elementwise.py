"""How elementwise rows are made: a NumPy ufunc, its kernel code, and what differs from the rest."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from runmat_jit.kernel.build import Builder
from runmat_jit.kernel.ir import Value
from runmat_jit.ops.promotion import ufunc_rule
from runmat_jit.ops.readers import ufunc_reader
from runmat_jit.ops.spec import Op

FLOAT_TYPES = ("f32", "f64")
PASSES = False
"""``absorbs``: an operand that is not finite makes the result not finite."""
ABSORBS = True
"""``absorbs``: the result may be finite although the operand is not."""

GPU_ROUNDED = {"float32": 0.5, "float64": 0.5}
"""``gpu_ulp`` of what every GPU rounds correctly, where it is not subnormal."""
GPU_DIVIDED = {"float32": 2.5, "float64": 2.5}
"""``gpu_ulp`` of one division, by the Vulkan specification."""


def elementwise(
    ufunc: np.ufunc,
    doc: str,
    expand: Callable[..., Value],
    absorbs: tuple[bool, ...],
    *,
    spellings: tuple[Callable[..., Any], ...] = (),
    scalar_integers: bool = True,
    positional_out: bool = True,
    **fields: Any,
) -> Op:
    """The row of a ufunc with one result.

    Args:
        ufunc: NumPy's function; it gives the name, the arity and the dtype rule.
        doc: A sentence.
        expand: Kernel code.
        absorbs: One of ``PASSES`` and ``ABSORBS`` for each operand.
        spellings: Callables that mean the same, such as operators.
        scalar_integers: See :func:`promotion.ufunc_rule`.
        positional_out: False where NumPy warns, or may, that this form is deprecated.
        fields: Further fields of the row.

    """
    return Op(
        name=fields.pop("name", ufunc.__name__),
        doc=doc,
        kind="elementwise",
        arity=ufunc.nin,
        numpy=ufunc,
        spellings=(ufunc, *spellings),
        bind=ufunc_reader(ufunc.nin, positional_out=positional_out),
        result=ufunc_rule(ufunc, scalar_integers=scalar_integers, takes_complex="parts" in fields),
        expand=expand,
        absorbs=absorbs,
        allocates="ufunc",
        ufunc=ufunc.__name__,
        **fields,
    )


def is_float(value: Value) -> bool:
    """True if the value is a float."""
    return value.type in FLOAT_TYPES


def identity(_k: Builder, x: Value) -> Value:
    """The operand itself."""
    return x


def not_(k: Builder, condition: Value) -> Value:
    """The opposite of an i1."""
    return k.prim("xor", condition, True)


def smallest(kind: str) -> int:
    """The smallest number of an integer type."""
    return -(1 << (int(kind[1:]) - 1))
