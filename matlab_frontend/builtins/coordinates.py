"""Cartesian, polar, cylindrical and spherical coordinates."""

from __future__ import annotations

import numpy as np

from matlab_frontend.builtins.registry import Call, builtin
from matlab_frontend.errors import MatlabError
from matlab_frontend.values.array import Value, kind_of
from matlab_frontend.values.make import wrap
from matlab_frontend.values.read import array_of


def _data(call: Call, *values: Value) -> list[np.ndarray]:
    """Real floating-point numbers of one size.

    Raises:
        MatlabError: they are of another class.

    """
    for value in values:
        if kind_of(value) not in ("double", "single"):
            raise MatlabError("MATLAB:invalidType", "Coordinates must be floating-point numbers.")
    found = [call.engine.look(array_of(value).data) for value in values]
    if any(each.dtype.kind == "c" for each in found):
        raise MatlabError("MATLAB:invalidType", "Coordinates must be real.")
    return found


def _made(*parts: np.ndarray) -> tuple[Value, ...]:
    dtype = np.result_type(*parts)
    kind = "single" if dtype == np.float32 else "double"
    return tuple(wrap(kind, np.asarray(part, dtype)) for part in parts)


@builtin("cart2pol")
def cart2pol(call: Call, x: Value, y: Value, z: Value | None = None) -> tuple[Value, ...]:
    """Angle and radius of points, and their height."""
    a, b = _data(call, x, y)
    return (*_made(np.arctan2(b, a), np.hypot(a, b)), *(() if z is None else (z,)))


@builtin("pol2cart")
def pol2cart(call: Call, angle: Value, radius: Value, z: Value | None = None) -> tuple[Value, ...]:
    """Points of angles and radii, and their height."""
    theta, rho = _data(call, angle, radius)
    return (*_made(rho * np.cos(theta), rho * np.sin(theta)), *(() if z is None else (z,)))


@builtin("cart2sph")
def cart2sph(call: Call, x: Value, y: Value, z: Value) -> tuple[Value, ...]:
    """Azimuth, elevation and radius of points."""
    a, b, c = _data(call, x, y, z)
    flat = np.hypot(a, b)
    return _made(np.arctan2(b, a), np.arctan2(c, flat), np.hypot(flat, c))


@builtin("sph2cart")
def sph2cart(call: Call, azimuth: Value, elevation: Value, radius: Value) -> tuple[Value, ...]:
    """Points of azimuths, elevations and radii."""
    theta, phi, r = _data(call, azimuth, elevation, radius)
    flat = r * np.cos(phi)
    return _made(flat * np.cos(theta), flat * np.sin(theta), r * np.sin(phi))
