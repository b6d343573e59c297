"""Arithmetic on index values of kernels."""

from __future__ import annotations

from runmat_jit.kernel.ir import Value


def split(number: Value, size: Value) -> tuple[Value, Value]:
    """Quotient and remainder of an index that is not negative."""
    quotient = number.builder.prim("sdiv", number, size)
    return quotient, number - quotient * size


def unravel(number: Value, sizes: list[Value]) -> list[Value]:
    """Coordinates of a cell number: ``sizes`` are the extents of all axes but the outermost."""
    coordinates = []
    for size in reversed(sizes):
        number, coordinate = split(number, size)
        coordinates.append(coordinate)
    return [number, *reversed(coordinates)]


def smaller(a: Value, b: Value) -> Value:
    """The lesser of two indices."""
    return a.builder.select(a < b, a, b)
