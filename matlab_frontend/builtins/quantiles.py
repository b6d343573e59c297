"""Quantiles, by linear interpolation between the sorted elements."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from matlab_frontend.builtins.axes import read_axes
from matlab_frontend.builtins.registry import Call, builtin
from matlab_frontend.errors import MatlabError
from matlab_frontend.values.array import Value, count_of, kind_of
from matlab_frontend.values.make import wrap
from matlab_frontend.values.read import is_text, known


@builtin("prctile")
def prctile(call: Call, x: Value, percents: Value, *rest: Value) -> Value:
    """Percentiles along a dimension; NaN does not count."""
    shares = known(call.engine, percents).astype(float) / 100
    return _quantiles(call, "prctile", x, shares, rest)


@builtin("quantile")
def quantile(call: Call, x: Value, shares: Value, *rest: Value) -> Value:
    """Quantiles of cumulative probabilities along a dimension, or N of equal distances."""
    table = known(call.engine, shares).astype(float)
    if table.size == 1 and table.item() > 1 and table.item() == np.floor(table.item()):
        count = int(table.item())
        table = (np.arange(1, count + 1) / (count + 1)).reshape(1, -1)
    return _quantiles(call, "quantile", x, table, rest)


@builtin("iqr")
def iqr(call: Call, x: Value, *rest: Value) -> Value:
    """The range between the quartiles along a dimension."""
    low, high = (_quantiles(call, "iqr", x, np.array([[s]]), rest) for s in (0.25, 0.75))
    difference = known(call.engine, high) - known(call.engine, low)
    return wrap("double", np.ascontiguousarray(difference.T))


def _quantiles(call: Call, name: str, x: Value, shares: np.ndarray, rest: Sequence[Value]) -> Value:
    if kind_of(x) not in ("double", "single", "logical"):
        raise MatlabError(f"MATLAB:{name}:class", "Data must be real floating-point numbers.")
    if any(is_text(each) and count_of(each) and kind_of(each) == "char" for each in rest[1:]):
        raise MatlabError(f"MATLAB:{name}:options", "Options for the method are not supported.")
    if np.any(~((shares >= 0) & (shares <= 1))):
        raise MatlabError(f"MATLAB:{name}:BadProbs", "Probabilities must be between 0 and 1.")
    table = known(call.engine, x)
    if table.dtype.kind == "c":
        raise MatlabError(f"MATLAB:{name}:class", "Data must be real floating-point numbers.")
    axes = read_axes(call.engine, x, rest)
    if len(axes.dimensions) == table.ndim:
        flat = table.reshape(-1, 1)
    elif len(axes.dimensions) == 1:
        at = axes.dimensions[0]
        flat = np.moveaxis(table, at, 0) if at < table.ndim else table[None]
    else:
        raise MatlabError(f"MATLAB:{name}:dims", "There is one dimension, or 'all'.")
    made = np.apply_along_axis(_of_line, 0, flat.astype(float), shares.ravel(order="F"))
    is_vector = table.ndim == 2 and 1 in table.shape and not axes.explicit
    if is_vector or len(axes.dimensions) == table.ndim:
        result = made.reshape(shares.shape, order="F")
    else:
        result = np.moveaxis(made, 0, axes.dimensions[0])
    kind = "single" if kind_of(x) == "single" else "double"
    result = result.astype(np.float32 if kind == "single" else np.float64)
    return wrap(kind, np.ascontiguousarray(result.T))


def _of_line(line: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """Quantiles of some numbers: the k-th of n sorted ones has the probability (k - 0.5)/n."""
    numbers = np.sort(line[~np.isnan(line)])
    if not numbers.size:
        return np.full(shares.shape, np.nan)
    places = (np.arange(numbers.size) + 0.5) / numbers.size
    return np.asarray(np.interp(shares, places, numbers))
