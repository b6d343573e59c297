"""gpuArrays: which values stay on a device, and which results stay there with them."""

from __future__ import annotations

from collections.abc import Sequence

from matlab_frontend.builtins.names import CATEGORIES
from matlab_frontend.engine import Engine
from matlab_frontend.values.array import Array, Value, as_array
from matlab_frontend.values.kinds import NUMERIC_KINDS
from matlab_frontend.values.read import is_text, text_of

_SPREADING = (
    *("binning", "bits", "complex_numbers", "elementwise", "integers", "linear_algebra", "moving"),
    *("polynomials", "reductions", "remainders", "searching", "sets", "shape", "signals"),
    *("special_functions", "statistics", "trigonometry"),
)
_ANSWERS = frozenset(
    (
        *("iscolumn", "isempty", "isequal", "isequaln", "ismatrix", "isrow", "isscalar"),
        *("issorted", "issymmetric", "isvector", "length", "ndims", "numel", "size"),
    )
)
"""What is known of an array without its elements, and what programs branch by: ordinary values."""
_MAKERS = frozenset(
    (
        *("eye", "false", "Inf", "inf", "NaN", "nan", "ones", "rand", "randi", "randn"),
        *("randperm", "true", "zeros"),
    )
)
"""Builtins that take ``'gpuArray'`` for a class."""
_OTHERS = (
    *("arrayfun", "cast", "colon", "diag", "eps", "linspace", "logical", "logspace"),
    *("meshgrid", "ndgrid"),
)
_SPREADS = _MAKERS.union(
    *(CATEGORIES[module].split() for module in _SPREADING), _OTHERS, NUMERIC_KINDS
).difference(_ANSWERS)
"""Builtins whose results are gpuArrays where an argument is one."""


def is_resident(value: object) -> bool:
    """True if a value is a gpuArray."""
    return isinstance(value, Array) and value.on_device


def to_device(engine: Engine, value: Value) -> Value:
    """The value as a gpuArray; texts, cells and objects stay what they are."""
    array = as_array(value)
    if array is None or array.kind in ("char", "string"):
        return value
    return Array(array.kind, engine.keep(array.data), on_device=True)


def spread(engine: Engine, made: Value, *operands: object) -> Value:
    """A result, which is a gpuArray where an operand is one."""
    return to_device(engine, made) if any(map(is_resident, operands)) else made


def spread_call(
    engine: Engine, name: str, arguments: Sequence[Value], made: list[Value]
) -> list[Value]:
    """The results of a builtin, gpuArrays where its arguments say so."""
    if name not in _SPREADS:
        return made
    asked = any(map(is_resident, arguments)) or (
        name in _MAKERS
        and any(is_text(x) and text_of(x) == "gpuArray" for x in arguments)
        and engine.adapter() is not None
    )
    return [to_device(engine, value) for value in made] if asked else made
