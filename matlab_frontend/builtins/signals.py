"""Transforms, filters and interpolation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from matlab_frontend import operators
from matlab_frontend.builtins.registry import Builtin, Call, builtin
from matlab_frontend.builtins.sizes import dimension_of, first_dimension
from matlab_frontend.errors import MatlabError
from matlab_frontend.values.array import Value, count_of, shape_of
from matlab_frontend.values.kinds import DTYPES
from matlab_frontend.values.make import reverse, wrap
from matlab_frontend.values.read import array_of, integer_of, is_text, known, text_of


def _transform(name: str, function: Callable[..., Any], doc: str) -> Builtin:
    def run(
        call: Call, x: Value, count: Value | None = None, dimension: Value | None = None
    ) -> Value:
        array = array_of(x)
        axis = first_dimension(x) if dimension is None else dimension_of(call.engine, dimension)
        n = None if count is None or count_of(count) == 0 else integer_of(call.engine, count)
        data = call.engine.look(array.data)
        if data.size == 0:
            return x
        made = function(data, n, axis=data.ndim - 1 - axis)
        if array.kind == "single":
            made = made.astype(np.complex64)
        return operators.narrow(call.engine, "single" if array.kind == "single" else "double", made)

    return Builtin(name, run, 1, 3, doc)


def _transform_2d(name: str, function: Callable[..., Any], doc: str) -> Builtin:
    def run(call: Call, x: Value) -> Value:
        data = call.engine.look(array_of(x).data)
        return operators.narrow(call.engine, "double", function(data, axes=(-2, -1)))

    return Builtin(name, run, 1, 1, doc)


def _shift(name: str, function: Callable[..., Any], doc: str) -> Builtin:
    def run(call: Call, x: Value, dimension: Value | None = None) -> Value:
        array = array_of(x)
        data = call.engine.look(array.data)
        axes = None
        if dimension is not None:
            axes = (data.ndim - 1 - dimension_of(call.engine, dimension),)
        return wrap(array.kind, function(data, axes))

    return Builtin(name, run, 1, 2, doc)


GENERATED = (
    _transform("fft", np.fft.fft, "Discrete Fourier transform along a dimension."),
    _transform("ifft", np.fft.ifft, "Inverse Fourier transform along a dimension."),
    _transform_2d("fft2", np.fft.fft2, "Fourier transform along rows and columns."),
    _transform_2d("ifft2", np.fft.ifft2, "Inverse Fourier transform along rows and columns."),
    _shift("fftshift", np.fft.fftshift, "Zero frequency moved to the middle."),
    _shift("ifftshift", np.fft.ifftshift, "Zero frequency moved back to the beginning."),
)


@builtin("conv")
def conv(call: Call, x: Value, y: Value, shape: Value | None = None) -> Value:
    """Convolution of vectors: the product of polynomials."""
    a, b = (known(call.engine, part).ravel() for part in (x, y))
    word = "full" if shape is None else text_of(shape)
    made = np.convolve(a, b)
    if word == "same":
        start = b.size // 2
        made = made[start : start + a.size]
    elif word == "valid":
        made = made[b.size - 1 : a.size] if a.size >= b.size else made[:0]
    rows = shape_of(x)[0] == 1 if word == "same" or a.size >= b.size else shape_of(y)[0] == 1
    return wrap(
        "double", made.reshape((-1, 1) if rows else (1, -1)).astype(np.result_type(made, float))
    )


@builtin("deconv")
def deconv(call: Call, x: Value, y: Value) -> tuple[Value, ...]:
    """Quotient and remainder of polynomials."""
    a, b = (known(call.engine, part).ravel().astype(float) for part in (x, y))
    quotient, rest = np.polydiv(a, b)
    padded = np.zeros(a.size)
    padded[a.size - rest.size :] = rest
    return wrap("double", quotient.reshape(-1, 1)), wrap("double", padded.reshape(-1, 1))


@builtin("conv2")
def conv2(call: Call, x: Value, y: Value, shape: Value | None = None) -> Value:
    """Two-dimensional convolution."""
    from scipy.signal import convolve2d  # noqa: PLC0415  (SciPy loads slowly and few programs need it)

    word = "full" if shape is None else text_of(shape)
    a, b = (known(call.engine, part).astype(float) for part in (x, y))
    made = convolve2d(a, b, word)
    return wrap("double", reverse(made))


@builtin("filter")
def filter_(call: Call, b: Value, a: Value, x: Value, *rest: Value) -> tuple[Value, ...]:
    """A rational filter with numerator b and denominator a, and its final state.

    After the arguments may stand the state to begin with ([] for zeros) and the dimension.
    """
    from scipy.signal import lfilter  # noqa: PLC0415  (SciPy loads slowly and few programs need it)

    array = array_of(x)
    along = dimension_of(call.engine, rest[1]) if len(rest) > 1 else first_dimension(x)
    top, bottom = (known(call.engine, part).ravel() for part in (b, a))
    if bottom.size == 0 or bottom[0] == 0:
        raise MatlabError(
            "MATLAB:filter:zeroDenom", "First denominator filter coefficient must be non-zero."
        )
    kind = "single" if array.kind == "single" else "double"
    data = call.engine.look(array.data)
    data = data.astype(np.result_type(data, DTYPES[kind]))
    lines = np.moveaxis(data, data.ndim - 1 - along, -1)
    count = max(top.size, bottom.size) - 1
    begin = np.zeros((*lines.shape[:-1], count))
    if rest and count_of(rest[0]):
        begin = known(call.engine, rest[0]).T.reshape(begin.shape)
    made, end = lfilter(top, bottom, lines, axis=-1, zi=begin)
    made = np.ascontiguousarray(np.moveaxis(made, -1, data.ndim - 1 - along))
    dtype = made.dtype if made.dtype.kind == "c" else DTYPES[kind]
    state = np.ascontiguousarray(end.reshape(-1, count))
    return operators.narrow(call.engine, kind, made.astype(dtype)), wrap("double", state)


@builtin("interp1")
def interp1(call: Call, *arguments: Value) -> Value:
    """Interpolation between samples: linear, nearest, previous, next, spline, pchip."""
    plain = [argument for argument in arguments if not is_text(argument)]
    words = [text_of(argument) for argument in arguments if is_text(argument)]
    if len(plain) == 2:
        count = float(count_of(plain[0]))
        places, heights, wanted = np.arange(1.0, count + 1), known(call.engine, plain[0]), plain[1]
    else:
        places, heights, wanted = (
            known(call.engine, plain[0]).ravel(),
            known(call.engine, plain[1]),
            plain[2],
        )
    order = np.argsort(places)
    places, heights = places[order], heights.ravel()[order]
    query = call.engine.look(array_of(wanted).data).astype(float)
    method = next((word for word in words if word != "extrap"), "linear")
    outside = known(call.engine, plain[3]).item() if len(plain) > 3 else np.nan
    made = _interpolate(places, heights, query, method)
    if "extrap" not in words and method not in ("spline", "pchip", "cubic"):
        made = np.where((query < places[0]) | (query > places[-1]), outside, made)
    return wrap("double", made)


def _interpolate(
    places: np.ndarray, heights: np.ndarray, query: np.ndarray, method: str
) -> np.ndarray:
    if method == "linear":
        at = np.clip(np.searchsorted(places, query, side="right") - 1, 0, places.size - 2)
        step = (query - places[at]) / (places[at + 1] - places[at])
        return np.asarray(heights[at] + step * (heights[at + 1] - heights[at]))
    if method == "nearest":
        middle = (places[1:] + places[:-1]) / 2
        return np.asarray(heights[np.searchsorted(middle, query, side="right")])
    if method == "previous":
        at = np.searchsorted(places, query, side="right") - 1
        return np.asarray(heights[np.clip(at, 0, places.size - 1)])
    if method == "next":
        at = np.searchsorted(places, query, side="left")
        return np.asarray(heights[np.clip(at, 0, places.size - 1)])
    from scipy import interpolate  # noqa: PLC0415  (SciPy loads slowly and few programs need it)

    if method == "spline":
        return np.asarray(interpolate.CubicSpline(places, heights, bc_type="not-a-knot")(query))
    if method in ("pchip", "cubic"):
        return np.asarray(interpolate.PchipInterpolator(places, heights)(query))
    raise MatlabError("MATLAB:interp1:InvalidMethod", f"Unknown interpolation method '{method}'.")


@builtin("spline")
def spline(call: Call, x: Value, y: Value, query: Value) -> Value:
    """Cubic spline interpolation."""
    places, heights = (known(call.engine, part).ravel() for part in (x, y))
    return wrap(
        "double", _interpolate(places, heights, call.engine.look(array_of(query).data), "spline")
    )


@builtin("unwrap")
def unwrap(call: Call, x: Value) -> Value:
    """Angles without jumps of more than pi."""
    data = call.engine.look(array_of(x).data)
    return wrap("double", np.unwrap(data, axis=data.ndim - 1 - first_dimension(x)))
