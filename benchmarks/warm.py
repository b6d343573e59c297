"""What a warm call costs: ``python -m benchmarks.warm``, under a minute.

Ten small functions as users write them, on 100 numbers, warm: decorated, as plain Python and, where
it is installed and takes the program, compiled by Numba. Results are compared first; then the ways
alternate in rounds of one process, and the least time of a call is printed with the medians of the
rounds' ratios.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Any

import numpy as np

import runmat_jit as runmat
from benchmarks.ratios import ratio_of_rounds

Array = np.ndarray
WARM = 20
CALLS = 1_000
OFFSETS = np.linspace(0, 1, 100, dtype=np.float32)


def three_operations(x: Array) -> Array:
    return x * 2 + x - 1


def two_arrays(x: Array, y: Array) -> Array:
    return x * y + x - 1


def array_and_float(x: Array, by: float) -> Array:
    return x * by + x - 1


def global_array(x: Array) -> Array:
    return x * 2 + OFFSETS - 1


def numpy_number(x: Array, by: Any) -> Array:
    return np.where(x > 0.5, x * by, x - by)


def two_results(x: Array) -> tuple[Array, Any]:
    return x - x.mean(), x.max()


def in_place(x: Array) -> Array:
    x -= x.mean()
    return x


def by_keyword(x: Array, *, low: float, high: float) -> Array:
    return np.minimum(np.maximum(x, low), high)


def two_decisions(x: Array) -> Array:
    y = x - x.mean()
    if y.max() > 10:
        return y / 10
    if y.min() < -10:
        return y + 10
    return y


class Model:
    """Weights and a bias."""

    def __init__(self) -> None:
        self.weights, self.bias = OFFSETS, 0.5

    def apply(self, x: Array) -> Array:
        return x * self.weights + self.bias


def method(model: Model, x: Array) -> Array:
    return model.apply(x)


def arguments(fn: Callable[..., Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Those of a call, the same each time."""
    x, y = (np.linspace(a, 1, 100, dtype=np.float32) for a in (0.0, 0.5))
    special: dict[Any, tuple[tuple[Any, ...], dict[str, Any]]] = {
        two_arrays: ((x, y), {}),
        array_and_float: ((x, 2.5), {}),
        numpy_number: ((x, np.float32(3)), {}),
        by_keyword: ((x,), {"low": 0.25, "high": 0.75}),
        method: ((Model(), x), {}),
    }
    return special.get(fn, ((x,), {}))


FUNCTIONS: tuple[Callable[..., Any], ...] = (
    three_operations,
    two_arrays,
    array_and_float,
    global_array,
    numpy_number,
    two_results,
    in_place,
    by_keyword,
    two_decisions,
    method,
)


def parts(value: Any) -> tuple[Any, ...]:
    """The arrays and numbers of a result."""
    return value if isinstance(value, tuple) else (value,)


def require_equal(fn: Callable[..., Any], other: Callable[..., Any]) -> None:
    """Refuse to time what gives something else than the function.

    Raises:
        AssertionError: it does.

    """
    (a, named), (b, same) = arguments(fn), arguments(fn)
    for one, two in zip(parts(fn(*a, **named)), parts(other(*b, **same)), strict=True):
        np.testing.assert_allclose(two, one, rtol=2e-6, atol=1e-6, err_msg=fn.__name__)


def by_numba(fn: Callable[..., Any]) -> Callable[..., Any] | None:
    """The function, compiled by Numba, if that can be done."""
    try:
        import numba  # noqa: PLC0415  (a peer that may be missing)
    except ImportError:
        return None
    compiled: Callable[..., Any] = numba.njit(fn)
    try:
        args, kwargs = arguments(fn)
        compiled(*args, **kwargs)
    except numba.core.errors.NumbaError:
        return None
    return compiled


def measure(fn: Callable[..., Any], rounds: int, calls: int) -> str:
    """A line of the table."""
    decorated, compiled = runmat.jit(fn), by_numba(fn)
    ways = [decorated, fn, *([compiled] if compiled else [])]
    for way in ways:
        for _ in range(WARM):
            require_equal(fn, way)
    times: list[list[float]] = [[] for _ in ways]
    for _ in range(rounds):
        for way, own in zip(ways, times, strict=True):
            args, kwargs = arguments(fn)
            begin = perf_counter()
            for _ in range(calls):
                way(*args, **kwargs)
            own.append((perf_counter() - begin) / calls)
    columns = [f"{fn.__name__:<18}", *(f"{1e6 * min(own):7.2f} µs" for own in times)]
    ratios = [str(ratio_of_rounds(times[0], own)) for own in times[1:]]
    return "  ".join([*columns, *([] if compiled else [f"{'-':>10}"]), *ratios])


def main(given: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.warm", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few rounds: a test, not a figure")
    quick = parser.parse_args(given).quick
    print(f"{'':<18}  decorated       plain       Numba  ratio to plain, to Numba")
    for fn in FUNCTIONS:
        print(measure(fn, 3 if quick else 25, 10 if quick else CALLS), flush=True)


if __name__ == "__main__":
    main()
