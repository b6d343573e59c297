"""Programs of complex numbers: arithmetic, functions, transforms, an iteration."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.program import Program

Array = np.ndarray


def chain(z: Array, w: Array, _x: Array) -> Any:
    return (z * w + z) * np.conj(w) - 2j * z


def quotient(z: Array, w: Array, _x: Array) -> Any:
    return (z - w) / (z + w)


def bilinear(z: Array, w: Array, x: Array) -> Any:
    return z + (w - z) * x


def power(z: Array, _w: Array, _x: Array) -> Any:
    return z.real**2 + z.imag**2


def magnitude(z: Array, w: Array, _x: Array) -> Any:
    return np.abs(z * w)


def rotation(z: Array, _w: Array, x: Array) -> Any:
    return z * np.exp(1j * x)


def rotation_by_parts(z: Array, _w: Array, x: Array) -> Any:
    return z * (np.cos(x) + 1j * np.sin(x))


def energy(z: Array, w: Array, _x: Array) -> Any:
    return (z * w.conj()).sum()


def filtered(z: Array, w: Array, _x: Array) -> Any:
    return np.fft.ifft(np.fft.fft(z) * w).real * 2


def mandelbrot(z: Array, w: Array, _x: Array) -> Any:
    for _ in range(10):
        z = z * z + w
        z = np.where(z.real * z.real + z.imag * z.imag < 4, z, 2)
    return z


def polynomial(z: Array, w: Array, _x: Array) -> Any:
    return z**3 - 2 * z**2 + w * z - 1


FUNCTIONS = (
    *(chain, quotient, bilinear, power, magnitude, rotation, rotation_by_parts, energy),
    *(filtered, mandelbrot, polynomial),
)


def _program(fn: Callable[..., Any], dtype: str) -> Program:
    def inputs(rng: np.random.Generator, size: int) -> tuple[Array, ...]:
        z, w = (rng.standard_normal(size) + 1j * rng.standard_normal(size) for _ in range(2))
        z, w = z.astype(dtype), w.astype(dtype)
        return z, w, rng.standard_normal(size).astype(z.real.dtype)

    close = 1e-4 if dtype == "complex64" else 1e-11
    sizes, label = (100, 10_000, 1_000_000), f"{fn.__name__}_{dtype}"
    return Program(fn, inputs, 1_000_000, 100, rtol=close, atol=close, sizes=sizes, label=label)


PROGRAMS = tuple(_program(fn, dtype) for fn in FUNCTIONS for dtype in ("complex64", "complex128"))
