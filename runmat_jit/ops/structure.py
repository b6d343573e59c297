"""Rows of a graph's own structure: inputs, constants and counters."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

import numpy as np

from runmat_jit.core.types import TensorType
from runmat_jit.ops.spec import Op


def constant_params(value: complex | np.generic, dtype: np.dtype) -> dict[str, Hashable]:
    """The parameters of a ``constant``: the bits of ``value`` in ``dtype``."""
    return {"bits": np.asarray(value).astype(dtype).tobytes()}


def constant_value(bits: Hashable, dtype: np.dtype) -> np.generic:
    """The number that a ``constant`` of this dtype holds."""
    assert isinstance(bits, bytes), "a constant holds bytes"
    value: np.generic = np.frombuffer(bits, dtype)[0]
    return value


def _constant(*, bits: bytes, type: TensorType) -> Any:  # noqa: A002 -- a node's field
    return constant_value(bits, type.dtype)


def _count(*, number: int, type: TensorType) -> Any:  # noqa: A002 -- a node's field
    return type.dtype.type(number)


def _iota(*, start: float, step: float, type: TensorType) -> Any:  # noqa: A002 -- a node's field
    """``start + step * i``, every operation rounded in the dtype."""
    first, distance = type.dtype.type(start), type.dtype.type(step)
    with np.errstate(all="ignore"):
        return first + distance * np.arange(type.shape[0]).astype(type.dtype)


def _never(**_: Any) -> Any:
    raise AssertionError("this node has no value of its own: whoever runs the graph supplies it")


def _row(name: str, doc: str, numpy: Callable[..., Any]) -> Op:
    return Op(
        name=name, doc=doc, kind="structure", arity=0, numpy=numpy, layout="C", zero_d="array"
    )


ROWS = (
    _row("input", "An argument of the graph, by ``index`` and ``strides``.", _never),
    _row("constant", "A number, by its ``bits`` in the node's dtype.", _constant),
    _row("count", "How many elements there are: a ``number`` that kernels are given.", _count),
    _row("iota", "The numbers ``start + step * i`` along one axis.", _iota),
)
