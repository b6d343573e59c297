"""Transforms, filters and interpolation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from matlab_frontend import operators
from matlab_frontend.builtins.options import word_of
from matlab_frontend.builtins.registry import Builtin, Call, builtin
from matlab_frontend.builtins.sizes import dimension_of, first_dimension
from matlab_frontend.errors import MatlabError
from matlab_frontend.values.array import Value, count_of, kind_of, shape_of
from matlab_frontend.values.kinds import DTYPES, kind_of_dtype
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
    def run(call: Call, x: Value, rows: Value | None = None, columns: Value | None = None) -> Value:
        if (rows is None) is not (columns is None):
            raise MatlabError("MATLAB:minrhs", "Rows and columns are given together.")
        sizes = None
        if rows is not None and columns is not None:
            sizes = tuple(integer_of(call.engine, each) for each in (columns, rows))
        return _of_axes(call, x, function, (-2, -1), sizes)

    return Builtin(name, run, 1, 3, doc)


def _transform_all(name: str, function: Callable[..., Any], doc: str) -> Builtin:
    def run(call: Call, x: Value, extents: Value | None = None) -> Value:
        rank = len(shape_of(x))
        sizes = None
        if extents is not None and count_of(extents):
            sizes = tuple(int(n) for n in known(call.engine, extents).ravel()[::-1])
            if len(sizes) != rank:
                message = "There is an extent for each dimension."
                raise MatlabError(f"MATLAB:{name}:invalidSize", message)
        return _of_axes(call, x, function, tuple(range(rank)), sizes)

    return Builtin(name, run, 1, 2, doc)


def _of_axes(
    call: Call,
    x: Value,
    function: Callable[..., Any],
    axes: tuple[int, ...],
    sizes: tuple[int, ...] | None,
) -> Value:
    """A transform along axes of the data, of which so many elements count."""
    array = array_of(x)
    data = call.engine.look(array.data)
    if data.size == 0:
        return x
    made = function(data, sizes, axes)
    kind = "single" if array.kind == "single" else "double"
    made = made.astype(np.complex64 if kind == "single" else np.complex128)
    return operators.narrow(call.engine, kind, made)


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
    _transform_all("fftn", np.fft.fftn, "Fourier transform along all dimensions."),
    _transform_all("ifftn", np.fft.ifftn, "Inverse Fourier transform along all dimensions."),
    _shift("fftshift", np.fft.fftshift, "Zero frequency moved to the middle."),
    _shift("ifftshift", np.fft.ifftshift, "Zero frequency moved back to the beginning."),
)


_SHAPES = ("full", "same", "valid")


def _floats(call: Call, *arrays: Value) -> list[np.ndarray]:
    """Arrays with the axes in MATLAB's order, as floating-point numbers of one precision."""
    tables = [known(call.engine, x) for x in arrays]
    double = "single" not in map(kind_of, arrays)
    real, complex_ = (np.float64, np.complex128) if double else (np.float32, np.complex64)
    return [t.astype(complex_ if t.dtype.kind == "c" else real) for t in tables]


@builtin("conv")
def conv(call: Call, x: Value, y: Value, shape: Value | None = None) -> Value:
    """Convolution of vectors: the product of polynomials."""
    if any(len(shape_of(part)) > 2 or 1 not in shape_of(part) for part in (x, y)):
        raise MatlabError("MATLAB:conv:AorBNotVector", "A and B must be vectors.")
    a, b = (part.ravel(order="F") for part in _floats(call, x, y))
    word = "full" if shape is None else word_of("conv", shape, _SHAPES)
    made = np.convolve(a, b)
    if word == "same":
        start = b.size // 2
        made = made[start : start + a.size]
    elif word == "valid":
        made = made[b.size - 1 : a.size] if a.size >= b.size else made[:0]
    rows = shape_of(x)[0] == 1 if word != "full" or a.size > b.size else shape_of(y)[0] == 1
    return operators.narrow(
        call.engine, kind_of_dtype(made.dtype), made.reshape((-1, 1) if rows else (1, -1))
    )


@builtin("deconv")
def deconv(call: Call, x: Value, y: Value) -> tuple[Value, ...]:
    """Quotient and remainder of polynomials."""
    a, b = (part.ravel() for part in _floats(call, x, y))
    if not b.size or b[0] == 0:
        raise MatlabError(
            "MATLAB:deconv:ZeroCoef1", "First coefficient of the divisor must be non-zero."
        )
    quotient, rest = np.polydiv(a, b)
    padded = np.zeros(a.size, quotient.dtype)
    padded[a.size - rest.size :] = rest
    return wrap("double", quotient.reshape(-1, 1)), wrap("double", padded.reshape(-1, 1))


@builtin("conv2")
def conv2(call: Call, x: Value, y: Value, shape: Value | None = None) -> Value:
    """Two-dimensional convolution."""
    from scipy.signal import convolve2d  # noqa: PLC0415  (SciPy loads slowly and few programs need it)

    word = "full" if shape is None else word_of("conv2", shape, _SHAPES)
    a, b = _floats(call, x, y)
    made = convolve2d(a, b, "valid" if word == "valid" else "full")
    if word == "same":  # the middle, or what lies behind it where there are two
        first = [extent // 2 for extent in b.shape]
        made = made[first[0] : first[0] + a.shape[0], first[1] : first[1] + a.shape[1]]
    elif word == "valid" and any(m < n for m, n in zip(a.shape, b.shape, strict=True)):
        made = made[:0, :0]
    return operators.narrow(call.engine, kind_of_dtype(made.dtype), reverse(made))


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
    words = [text_of(argument).lower() for argument in arguments if is_text(argument)]
    if len(words) > 2 or (len(words) == 2 and words[1] != "extrap") or len(plain) > 4:
        raise MatlabError("MATLAB:interp1:arguments", "After the points: a method, then 'extrap'.")
    if len(plain) == 2:
        heights, wanted = known(call.engine, plain[0]), plain[1]
        places = np.arange(1.0, (heights.size if 1 in heights.shape else heights.shape[0]) + 1)
    else:
        places, heights, wanted = (
            known(call.engine, plain[0]).ravel(),
            known(call.engine, plain[1]),
            plain[2],
        )
    if heights.ndim > 2 or (heights.size != places.size and heights.shape[0] != places.size):
        raise MatlabError("MATLAB:interp1:YInvalidNumRows", "X and V must be of the same length.")
    order = np.argsort(places)
    places = places[order]
    if places.size < 2 or np.any(np.diff(places) == 0):
        raise MatlabError(
            "MATLAB:griddedInterpolant:NonUniqueCompVecsPtsErrId",
            "There must be two sample points at least, all different.",
        )
    heights = heights.ravel()[order] if heights.size == places.size else heights[order]
    query = call.engine.look(array_of(wanted).data).astype(float)
    method = next((word for word in words if word != "extrap"), "linear")
    outside = known(call.engine, plain[3]).item() if len(plain) > 3 else np.nan
    keeps = "extrap" in words or (len(plain) < 4 and method in ("spline", "pchip", "cubic"))
    beyond = (query < places[0]) | (query > places[-1])

    def values(column: np.ndarray) -> np.ndarray:
        made = _interpolate(places, column, query, method)
        return made if keeps else np.where(beyond, outside, made)

    if heights.ndim == 1:
        return wrap("double", values(heights))
    if query.ndim > 2 or 1 not in query.shape:
        raise MatlabError("MATLAB:interp1:columns", "Points must be a vector where V is a matrix.")
    return wrap("double", np.array([values(column).ravel() for column in heights.T]))


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


@builtin("unwrap")
def unwrap(call: Call, x: Value) -> Value:
    """Angles without jumps of more than pi."""
    data = call.engine.look(array_of(x).data)
    if data.dtype.kind != "f":
        raise MatlabError("MATLAB:unwrap:class", "Angles must be real, double or single.")
    if data.size == 0:
        return x
    made = np.unwrap(data, axis=data.ndim - 1 - first_dimension(x))
    return wrap(kind_of(x), made.astype(data.dtype))
