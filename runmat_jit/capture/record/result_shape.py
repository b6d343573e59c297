"""The shape of what NumPy computes, in symbolic extents, by the law of the callable's row."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from runmat_jit.capture import callables
from runmat_jit.capture.call_laws import Shape
from runmat_jit.capture.record.traced import Traced
from runmat_jit.capture.tape.values import ARRAY


def result_shape(fn: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Shape | None:
    """The shape of the result; None where no law tells. NumPy's own is compared with it."""
    law = callables.of(fn).result
    try:
        return None if law is None or not args else law(list(map(shape_of, args)), kwargs)
    except ValueError:  # NumPy says so, too
        return None


def shape_of(value: Any) -> Shape | None:
    """The shape of an operand, with its formulas; None where it is no array and no number."""
    if type(value) is Traced:
        at = value._rm_geometry
        if value._rm_kind == ARRAY:
            return None if at is None else at.shape
        return ()
    return () if isinstance(value, (int, float, complex, np.generic)) else None
