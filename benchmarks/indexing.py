"""Indexing with masks and index arrays: ``python -m benchmarks.indexing``, about a minute.

Each program decorated and as plain NumPy, warm, on equal data that both restore before each call
where they write. Results and written arrays are compared first. Ratios are of the least times of
rounds in which both alternate.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Any

import numpy as np

import runmat_jit as runmat

Array = np.ndarray
SIZES = {100: 500, 10_000: 50, 4_000_000: 1}
"""Elements, and calls of one measurement."""
DTYPES = ("float32", "float64")
DENSITIES = (0.0, 0.02, 0.5, 1.0)
ORDERS = ("random", "near", "sorted")
ROUNDS = 15


# -- programs --------------------------------------------------------------------------------------
def store(x: Array, mask: Array) -> None:
    x[mask] = 0


def limit(x: Array, _mask: Array) -> None:
    x[x < 0] = 0


def scale(x: Array, mask: Array) -> None:
    x[mask] *= 0.5


def gather(x: Array, index: Array, y: Array) -> Array:
    return x[index] + y


def take(x: Array, index: Array, y: Array) -> Array:
    return np.take(x, index) * y + 1


MASKED: dict[str, Callable[..., Any]] = {
    "x[mask] = 0": store,
    "x[x < 0] = 0": limit,
    "x[mask] *= 0.5": scale,
}
GATHERS: dict[str, Callable[..., Any]] = {"x[i] + y": gather, "take(x, i)*y + 1": take}


# -- operands --------------------------------------------------------------------------------------
def masked(size: int, dtype: str, density: float) -> tuple[Array, Array]:
    """Numbers, negative where the mask is true, and a mask of a density."""
    rng = np.random.default_rng(1)
    mask = rng.random(size) < density
    x = rng.uniform(0.5, 1, size)
    return np.where(mask, -x, x).astype(dtype), mask


def gathered(size: int, dtype: str, order: str) -> tuple[Array, Array, Array]:
    """Numbers, positions of which some count from the end, and numbers."""
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(2, size)).astype(dtype)
    index = rng.integers(-size, size, size)
    if order == "sorted":
        index.sort()
    elif order == "near":
        index = np.clip(np.arange(size) + rng.integers(-9, 10, size), 0, size - 1)
    return x, index, y


# -- measuring -------------------------------------------------------------------------------------
def check(program: Callable[..., Any], compiled: Callable[..., Any], args: Sequence[Array]) -> None:
    """Compare results, and what has been written, in the first calls and the warm ones."""
    for _ in range(6):
        ours, theirs = ([arg.copy() for arg in args] for _ in range(2))
        np.testing.assert_array_equal(compiled(*ours), program(*theirs))
        for one, other in zip(ours, theirs, strict=True):
            np.testing.assert_array_equal(one, other)


def measure(
    program: Callable[..., Any], args: Sequence[Array], calls: int, *, rounds: int
) -> tuple[float, float]:
    """Microseconds of a call, ours and NumPy's."""
    compiled = runmat.jit(program)
    check(program, compiled, args)
    best = [np.inf, np.inf]
    used = [arg.copy() for arg in args]
    for _ in range(rounds):
        for way, function in enumerate((compiled, program)):
            used[0][...] = args[0]
            start = perf_counter()
            for _ in range(calls):
                function(*used)
            best[way] = min(best[way], (perf_counter() - start) / calls * 1e6)
    return best[0], best[1]


def main(argv: Sequence[str] | None = None) -> None:
    """Print a row for each program, size and dtype, with a ratio for each kind of data."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a smoke run")
    quick = parser.parse_args(argv).quick
    sizes, rounds = ({100: 1, 1000: 1}, 1) if quick else (SIZES, ROUNDS)
    for title, programs, kinds, operands in (
        ("density", MASKED, DENSITIES, masked),
        ("order", GATHERS, ORDERS, gathered),
    ):
        print(f"\n| program | elements | dtype | {' | '.join(f'{title} {k}' for k in kinds)} |")
        print("|---|---|---|" + "---|" * len(kinds))
        for name, program in programs.items():
            for size, calls in sizes.items():
                for dtype in DTYPES:
                    make: Callable[..., Any] = operands
                    cells = []
                    for kind in kinds:
                        ours, plain = measure(
                            program, make(size, dtype, kind), calls, rounds=rounds
                        )
                        cells.append(f"{ours:.1f} us, {plain / ours:.1f}x")
                    print(f"| `{name}` | {size} | {dtype} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
