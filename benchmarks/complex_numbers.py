"""Programs of complex numbers: ``python -m benchmarks.complex_numbers``, about a minute.

Each program decorated and as plain NumPy, warm, on equal data; results are compared first, to the
bit where arithmetic is all there is. Ratios are of the least times of rounds in which both
alternate.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Any

import numpy as np

import runmat_jit as runmat

Array = np.ndarray
SIZES = {100: 500, 10_000: 50, 1_000_000: 1}
"""Elements, and calls of one measurement."""
DTYPES = ("complex64", "complex128")
ROUNDS = 15


# -- programs --------------------------------------------------------------------------------------
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


PROGRAMS = (
    *(chain, quotient, bilinear, power, magnitude, rotation, rotation_by_parts, energy),
    *(filtered, mandelbrot, polynomial),
)
CLOSE = (magnitude, rotation, rotation_by_parts, energy, filtered)
"""Programs of functions and sums, whose bits are not NumPy's."""


# -- measuring -------------------------------------------------------------------------------------
def operands(size: int, dtype: str) -> tuple[Array, Array, Array]:
    """Two arrays of complex numbers and one of their parts' dtype."""
    rng = np.random.default_rng(1)
    z, w = (rng.standard_normal(size) + 1j * rng.standard_normal(size) for _ in range(2))
    z, w = z.astype(dtype), w.astype(dtype)
    return z, w, rng.standard_normal(size).astype(z.real.dtype)


def measure(program: Callable[..., Any], args: Sequence[Array], calls: int, rounds: int) -> float:
    """NumPy's time for ours."""
    compiled = runmat.jit(program)
    relative = 1e-4 if args[0].dtype == np.complex64 else 1e-11
    for _ in range(20):
        ours, theirs = compiled(*args), program(*args)
        if program in CLOSE:
            np.testing.assert_allclose(ours, theirs, rtol=relative, atol=relative)
        else:
            np.testing.assert_array_equal(ours, theirs)
    best = [np.inf, np.inf]
    for _ in range(rounds):
        for way, function in enumerate((compiled, program)):
            start = perf_counter()
            for _ in range(calls):
                function(*args)
            best[way] = min(best[way], perf_counter() - start)
    return best[1] / best[0]


def main(argv: Sequence[str] | None = None) -> None:
    """Print a row for each program and dtype, with a ratio for each size."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a smoke run")
    quick = parser.parse_args(argv).quick
    sizes, rounds = ({100: 1, 1000: 1}, 1) if quick else (SIZES, ROUNDS)
    print(f"| program | dtype | {' | '.join(f'{size:,}' for size in sizes)} |")
    print("|---|---|" + "---|" * len(sizes))
    for program in PROGRAMS:
        for dtype in DTYPES:
            ratios = (
                measure(program, operands(size, dtype), calls, rounds)
                for size, calls in sizes.items()
            )
            print(f"| {program.__name__} | {dtype} | {' | '.join(f'{r:.2f}' for r in ratios)} |")


if __name__ == "__main__":
    main()
