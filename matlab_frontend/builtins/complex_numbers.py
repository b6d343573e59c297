"""Real and imaginary parts."""

from __future__ import annotations

import numpy as np

from matlab_frontend.builtins.elementwise import floating
from matlab_frontend.builtins.registry import Call, builtin
from matlab_frontend.operators import broadcast_shape, positive
from matlab_frontend.values.array import Array, Value
from matlab_frontend.values.kinds import NUMERIC_KINDS
from matlab_frontend.values.make import wrap
from matlab_frontend.values.read import array_of


@builtin("real")
def real(call: Call, x: Value) -> Value:
    """Real parts."""
    array = array_of(x)
    if array.data.dtype.kind != "c":
        return (
            x
            if array.kind not in ("logical", "char")
            else wrap("double", call.engine.cast(array.data, np.dtype(float)))
        )
    return wrap(array.kind, call.engine.host(lambda d: d.real.copy(), array.data))


@builtin("imag")
def imag(call: Call, x: Value) -> Value:
    """Imaginary parts."""
    array = array_of(x)
    if array.kind not in NUMERIC_KINDS:
        array = floating(call.engine, "imag", x)
    if array.data.dtype.kind != "c":
        return wrap(array.kind, call.engine.full(array.data.shape, 0.0, array.data.dtype))
    return wrap(array.kind, call.engine.host(lambda d: d.imag.copy(), array.data))


@builtin("conj")
def conj(call: Call, x: Value) -> Value:
    """Complex conjugates."""
    array = array_of(x)
    if array.data.dtype.kind != "c":
        return positive(call.engine, x)
    return wrap(array.kind, call.engine.host(np.conj, array.data))


@builtin("angle")
def angle(call: Call, x: Value) -> Value:
    """Angles of complex numbers in radians."""
    array = floating(call.engine, "angle", x)
    return wrap(array.kind, call.engine.host(np.angle, array.data))


@builtin("complex")
def complex_(call: Call, real_part: Value, imaginary: Value = 0.0) -> Value:
    """Complex numbers from both parts; they stay complex without imaginary parts."""
    broadcast_shape(real_part, imaginary)
    a, b = (floating(call.engine, "complex", part) for part in (real_part, imaginary))
    kind = "single" if "single" in (a.kind, b.kind) else "double"
    made = call.engine.host(lambda x, y: x + 1j * y, a.data, b.data)
    return Array(kind, made.astype(np.complex64 if kind == "single" else np.complex128))


def imaginary_unit(_: Call) -> Value:
    """The imaginary unit."""
    return Array("double", np.full((1, 1), 1j))


i = builtin("i")(imaginary_unit)
j = builtin("j")(imaginary_unit)
