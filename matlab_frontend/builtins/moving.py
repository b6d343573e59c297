"""Statistics of a window that moves along a dimension."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from matlab_frontend.builtins.registry import Builtin, Call
from matlab_frontend.builtins.sizes import dimension_of, first_dimension
from matlab_frontend.errors import MatlabError
from matlab_frontend.values.array import Value, count_of
from matlab_frontend.values.kinds import DTYPES
from matlab_frontend.values.make import wrap
from matlab_frontend.values.read import array_of, is_text, known, text_of

Statistic = Callable[..., np.ndarray]
"""Of an array along its last axis; NaN counts as missing where ``omit`` is true."""


def _either(plain: Callable[..., np.ndarray], omitting: Callable[..., np.ndarray]) -> Statistic:
    def statistic(windows: np.ndarray, *, omit: bool, **options: int) -> np.ndarray:
        return np.asarray((omitting if omit else plain)(windows, axis=-1, **options))

    return statistic


def _spread(squared: Statistic) -> Statistic:
    """A variance over n - 1, or 0 of one element."""

    def statistic(windows: np.ndarray, *, omit: bool) -> np.ndarray:
        return squared(windows, omit=omit, ddof=int(windows.shape[-1] > 1))

    return statistic


def _window(call: Call, length: Value) -> tuple[int, int]:
    """Number of elements before and after each one that belong to its window."""
    numbers = known(call.engine, length).ravel()
    if np.any(numbers != np.floor(numbers)) or np.any(numbers < 0) or numbers.size not in (1, 2):
        raise MatlabError("MATLAB:movfun:wrongWindowLength", "Window lengths are whole numbers.")
    if numbers.size == 2:
        return int(numbers[0]), int(numbers[1])
    n = int(numbers[0])
    if n == 0:
        raise MatlabError("MATLAB:movfun:wrongWindowLength", "A window holds one element at least.")
    return n // 2, (n - 1) // 2


def _options(call: Call, x: Value, options: Sequence[Value]) -> tuple[int, bool, str]:
    """The dimension, whether NaN is left out, and what becomes of windows at the ends."""
    dimension, omit, ends = first_dimension(x), False, "shrink"
    rest = list(options)
    while rest:
        option = rest.pop(0)
        if not is_text(option):
            dimension = dimension_of(call.engine, option)
            continue
        word = text_of(option).lower()
        if word == "endpoints" and rest:
            ends = text_of(rest.pop(0), "The treatment of endpoints").lower()
        elif word in ("omitnan", "omitmissing", "includenan", "includemissing"):
            omit = word.startswith("omit")
        else:
            raise MatlabError("MATLAB:movfun:unknownOption", f"Unknown option '{word}'.")
    if ends not in ("shrink", "discard"):
        raise MatlabError("MATLAB:movfun:endpoints", f"Endpoints cannot be treated by '{ends}'.")
    return dimension, omit, ends


def _moving(name: str, statistic: Statistic, doc: str) -> Builtin:
    def run(call: Call, x: Value, length: Value, *options: Value) -> Value:
        array = array_of(x)
        before, after = _window(call, length)
        dimension, omit, ends = _options(call, x, options)
        kind = "single" if array.kind == "single" else "double"
        data = call.engine.look(array.data).astype(DTYPES[kind])
        if dimension >= data.ndim or count_of(x) == 0:
            return wrap(kind, data)
        along = np.moveaxis(data, data.ndim - 1 - dimension, -1)
        made = _slide(along, (before, after), lambda part: statistic(part, omit=omit))
        if ends == "discard":
            made = made[..., before : made.shape[-1] - after]
        made = np.ascontiguousarray(np.moveaxis(made, -1, data.ndim - 1 - dimension))
        return wrap(kind, made.astype(DTYPES[kind]))

    return Builtin(name, run, 2, None, doc)


def _slide(
    data: np.ndarray, window: tuple[int, int], statistic: Callable[[np.ndarray], np.ndarray]
) -> np.ndarray:
    """A statistic of each window along the last axis; windows shrink at the ends."""
    before, after = window
    count = data.shape[-1]
    made = np.empty(data.shape, float)
    whole = range(before, count - after)
    if whole:
        windows = np.lib.stride_tricks.sliding_window_view(data, before + after + 1, axis=-1)
        made[..., before : count - after] = statistic(windows)
    for at in range(count):
        if at not in whole:
            made[..., at] = statistic(data[..., max(at - before, 0) : at + after + 1])
    return made


_VARIANCE = _spread(_either(np.var, np.nanvar))
_DEVIATION = _spread(_either(np.std, np.nanstd))

GENERATED = (
    _moving("movmean", _either(np.mean, np.nanmean), "Moving means."),
    _moving("movsum", _either(np.sum, np.nansum), "Moving sums."),
    _moving("movprod", _either(np.prod, np.nanprod), "Moving products."),
    _moving("movmax", _either(np.max, np.nanmax), "Moving maxima."),
    _moving("movmin", _either(np.min, np.nanmin), "Moving minima."),
    _moving("movmedian", _either(np.median, np.nanmedian), "Moving medians."),
    _moving("movvar", _VARIANCE, "Moving variances."),
    _moving("movstd", _DEVIATION, "Moving standard deviations."),
)
