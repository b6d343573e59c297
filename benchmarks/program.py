"""One measured program: plain NumPy code, its inputs, and how its answer is checked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

Arguments = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Program:
    """A function of plain NumPy with everything that a measurement needs.

    ``inputs(rng, size)`` makes the arguments of a call. ``small`` is a size at which plain Python
    takes milliseconds: parity is checked there. ``close``: how far a result may be from that of the
    function in double precision. ``metric``: the number of a result that is compared as well, with
    its relative tolerance.
    """

    fn: Callable[..., Any]
    inputs: Callable[[np.random.Generator, int], Arguments]
    size: int
    small: int
    rtol: float = 1e-9
    atol: float = 1e-12
    scaled: bool = False
    """``rtol`` is a share of the largest magnitude of a result, not of each."""
    tags: frozenset[str] = frozenset()
    label: str = ""
    """Name, where it is not the function's."""
    sizes: tuple[int, ...] = ()
    """Sizes of a plot; the small one and the usual one by default."""
    metric: Callable[[Any], float] | None = None
    metric_rtol: float = 0.0
    nbytes: Callable[[int], float] | None = None
    """Bytes that have to be moved at a size, at least."""
    flops: Callable[[int], float] | None = None
    """Operations on numbers at a size."""
    outputs: tuple[str, ...] = ()
    """Variables with the results of the MATLAB script ``programs/matlab/NAME.m``, if there is one.

    It finds the arguments in variables that are called like the parameters.
    """

    @property
    def name(self) -> str:
        return self.label or self.fn.__name__

    @property
    def plotted(self) -> tuple[int, ...]:
        """Sizes of a plot, the smallest one first."""
        return self.sizes or (self.small, self.size)

    def tagged(self, *tags: str) -> Program:
        """Return the program with more tags."""
        return replace(self, tags=self.tags | {*tags})

    def arguments(self, size: int, step: int) -> Arguments:
        """Return the arguments of a call; another step, other numbers."""
        return self.inputs(np.random.default_rng(step), size)


@dataclass(frozen=True, slots=True)
class Parity:
    """The largest errors of a result, as multiples of what is allowed. A NaN never passes."""

    worst: float = 0.0
    metric: float = 0.0
    detail: str = field(default="", compare=False)

    @property
    def ok(self) -> bool:
        return self.worst <= 1.0 and self.metric <= 1.0


def check(program: Program, arguments: Arguments, found: Any, *, squeezes: bool = False) -> Parity:
    """Compare a result with that of the function in double precision.

    ``squeezes``: axes of extent 1 do not count.
    """
    expected = program.fn(*map(in_double, arguments))
    if squeezes:
        found, expected = squeezed(found), squeezed(expected)
    try:
        worst = excess(found, expected, program.rtol, program.atol, scaled=program.scaled)
    except TypeError as error:
        return Parity(float("inf"), float("inf"), str(error))
    metric = 0.0
    if program.metric is not None:
        ours, exact = float(program.metric(found)), float(program.metric(expected))
        metric = abs(ours - exact) / (program.metric_rtol * abs(exact))
    return Parity(worst, metric, f"{max(worst, metric):.2g} times the tolerance")


def squeezed(value: Any) -> Any:
    """Return a result whose arrays have no axes of extent 1."""
    if isinstance(value, tuple | list):
        return tuple(map(squeezed, value))
    return np.squeeze(value)


def in_double(value: Any) -> Any:
    """Return a copy of an argument, single precision as double."""
    if isinstance(value, np.ndarray):
        return value.astype(np.float64) if value.dtype == np.float32 else value.copy()
    if isinstance(value, list):
        return [in_double(item) for item in value]
    return copied(value)


def copied(value: Any) -> Any:
    """Return an argument that a call may write to."""
    if isinstance(value, np.ndarray):
        return value.copy()
    if isinstance(value, np.random.Generator):
        made = np.random.default_rng()
        made.bit_generator.state = value.bit_generator.state
        return made
    if isinstance(value, list):
        return [copied(item) for item in value]
    if isinstance(value, dict):
        return {key: copied(item) for key, item in value.items()}
    return value


def excess(found: Any, expected: Any, rtol: float, atol: float, *, scaled: bool = False) -> float:
    """Return the largest error as a multiple of what is allowed.

    ``scaled``: errors relative to the largest magnitude are allowed, not to each.

    Raises:
        TypeError: the results have other structures or shapes.

    """
    of_part = partial(excess, rtol=rtol, atol=atol, scaled=scaled)
    if isinstance(expected, tuple | list) and not _is_numeric(expected):
        if not isinstance(found, tuple | list) or len(found) != len(expected):
            raise TypeError(f"a {type(found).__name__}, expected {len(expected)} items")
        pairs = zip(found, expected, strict=True)
        return max((of_part(ours, exact) for ours, exact in pairs), default=0.0)
    if isinstance(expected, dict):
        if set(found) != set(expected):
            raise TypeError(f"keys {sorted(found)}, expected {sorted(expected)}")
        return max((of_part(found[k], expected[k]) for k in expected), default=0.0)
    if isinstance(expected, str | type(None)):
        return 0.0 if found == expected else float("inf")
    ours, exact = np.asarray(found), np.asarray(expected)
    if ours.shape != exact.shape:
        raise TypeError(f"shape {ours.shape}, expected {exact.shape}")
    if ours.size == 0:
        return 0.0
    if exact.dtype.kind in "biu":
        return 0.0 if np.array_equal(ours, exact) else float("inf")
    same = (ours == exact) | (np.isnan(ours) & np.isnan(exact))
    with np.errstate(invalid="ignore"):
        magnitude = np.abs(exact).max() if scaled else np.abs(exact)
        error = np.where(same, 0.0, np.abs(ours - exact) / (atol + rtol * magnitude))
    worst = float(error.max())
    return float("inf") if np.isnan(worst) else worst


def _is_numeric(items: Any) -> bool:
    return bool(items) and all(
        isinstance(each, int | float | complex | np.generic) for each in items
    )
