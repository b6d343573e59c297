"""The demonstration: four pieces of plain NumPy, timed as they are and under ``@runmat.jit``."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn
from rich.table import Table

import runmat_jit as runmat
from runmat_jit.core.frozen import frozen

Array = np.ndarray[Any, np.dtype[Any]]


def denoise(image: Array, steps: int) -> Array:
    """Smooth an image but not its edges: anisotropic diffusion (Perona and Malik, 1990)."""
    u = image.copy()
    for _ in range(steps):
        middle = u[1:-1, 1:-1]
        north, south = u[:-2, 1:-1] - middle, u[2:, 1:-1] - middle
        west, east = u[1:-1, :-2] - middle, u[1:-1, 2:] - middle
        flow = north / (1 + 70 * north**2) + south / (1 + 70 * south**2)
        flow += west / (1 + 70 * west**2) + east / (1 + 70 * east**2)
        u[1:-1, 1:-1] = middle + 0.2 * flow
    return u


def prices(shocks: Array, jolts: Array) -> Array:
    """Prices day by day, with a volatility that moves itself (Heston, 1993).

    ``shocks``, ``jolts``: normal random numbers ``(days, paths)``, for prices and variances.
    """
    days, paths = shocks.shape
    found = np.empty((days + 1, paths))
    found[0] = 100.0
    variance = np.full(paths, 2e-4)
    for day in range(days):
        spread = np.sqrt(variance)
        found[day + 1] = found[day] * np.exp(2e-4 - 0.5 * variance + spread * shocks[day])
        variance = np.abs(0.97 * variance + 6e-6 + 1.5e-3 * spread * jolts[day])
    return found


def plate(heat: Array, sweeps: int) -> Array:
    """Let heat flow through a plate, element by element (Gauss and Seidel)."""
    rows, columns = heat.shape
    for _ in range(sweeps):
        for i in range(1, rows - 1):
            for j in range(1, columns - 1):
                around = heat[i - 1, j] + heat[i + 1, j] + heat[i, j - 1] + heat[i, j + 1]
                heat[i, j] = 0.25 * around
    return heat


def chain(x: Array) -> Array:
    """A chain of transcendental functions, element by element."""
    y0 = np.sin(x) * np.exp(-x / 10)
    y1 = y0 * np.cos(x / 4) + 0.25 * y0**2
    return np.tanh(y1) + 0.1 * y1


@frozen
class Scale:
    """How large the demonstration is."""

    diffusion_steps: int
    enlarged: int
    days: int
    paths: int
    plate: tuple[int, int]
    sweeps: int
    points: int
    repetitions: int


FULL = Scale(
    25, 2, days=250, paths=1_000, plate=(60, 90), sweeps=60, points=5_000_001, repetitions=5
)
QUICK = Scale(4, 1, days=30, paths=500, plate=(20, 30), sweeps=10, points=200_001, repetitions=3)


@frozen
class Outcome:
    """One program, run both ways on the same arguments."""

    name: str
    function: str
    numpy_ms: float
    jit_ms: float
    first_ms: float
    difference: float  # largest, relative to 1 + |NumPy's value|
    explanation: str
    result: Any
    compiled: bool = True

    @property
    def agrees(self) -> bool:
        """Return True if the difference is that of rounding."""
        return self.difference <= TOLERANCE

    @property
    def speed_up(self) -> float:
        """Return the time of plain NumPy divided by that of a later decorated call."""
        return self.numpy_ms / self.jit_ms


# float32 rounds to 6e-8; forty steps of diffusion multiply that. A NaN in one result only is a
# difference of NaN, which does not pass.
TOLERANCE = 2e-5


def run_demo(output: Path, *, quick: bool = False, console: Console | None = None) -> bool:
    """Run, print and save the picture; True if all were compiled and agreed everywhere.

    Args:
        output: File for the picture; missing directories are made.
        quick: Small arrays, for a smoke run.
        console: Where to print; standard output by default.

    """
    console = console or Console()
    scale = QUICK if quick else FULL
    programs = arguments(scale)
    outcomes: list[Outcome] = []
    with _progress(console, steps=len(programs) + 1) as advance:
        for name, (function, args) in programs.items():
            advance(name)
            outcomes.append(compare(name, function, args, scale.repetitions))
        advance("saving the picture")
        save_picture(output, programs["denoised photograph"][1][0], outcomes)
    report(console, scale, outcomes)
    console.print(f"The picture: {output}", soft_wrap=True)
    if not all(outcome.compiled for outcome in outcomes):
        console.print(
            "Something was not compiled, see above: this is not what decorated functions are for."
        )
    return all(outcome.agrees and outcome.compiled for outcome in outcomes)


def arguments(scale: Scale) -> dict[str, tuple[Callable[..., Any], tuple[Any, ...]]]:
    """Return the programs by name, each with the arguments of a call."""
    rng = np.random.default_rng(0)
    sharp = photograph(scale.enlarged)
    noisy = sharp + np.float32(0.08) * rng.standard_normal(sharp.shape, dtype=np.float32)
    random = rng.standard_normal((2, scale.days, scale.paths))
    rows, columns = scale.plate
    heat = np.full(scale.plate, 20.0)
    heat[0] = 100 * np.sin(np.linspace(0, 3 * np.pi, columns)) ** 2
    heat[:, 0] = heat[:, -1] = 0.0
    heat[rows // 2 : rows // 2 + rows // 4, columns // 5 : columns // 2] = 100.0
    heat[rows // 3 : rows // 3 + rows // 8, 2 * columns // 3 : 5 * columns // 6] = 0.0
    points = np.linspace(0, 4 * np.pi, scale.points, dtype=np.float32)
    return {
        "denoised photograph": (denoise, (noisy, scale.diffusion_steps)),
        "price paths": (prices, tuple(random)),
        "heat in a plate": (plate, (heat, scale.sweeps)),
        "elementwise chain": (chain, (points,)),
    }


def photograph(enlarged: int = 1) -> Array:
    """Return Matplotlib's sample photograph in gray, each pixel so many times along each axis.

    Returns:
        float32 ``(height, width)`` in [0, 1].

    """
    # Imported here: the rest of the command line has no use for it.
    import matplotlib as mpl  # noqa: PLC0415 - likewise
    from matplotlib import image  # noqa: PLC0415 - likewise

    path = Path(mpl.get_data_path(), "sample_data", "grace_hopper.jpg")
    color = image.imread(path)
    gray = np.asarray(color @ np.array([0.299, 0.587, 0.114]) / 255, dtype=np.float32)
    return gray.repeat(enlarged, axis=0).repeat(enlarged, axis=1)


def compare(
    name: str, function: Callable[..., Any], arguments: tuple[Any, ...], repetitions: int
) -> Outcome:
    """Time a function as it is and decorated, in alternation, and compare the results."""
    decorated = runmat.jit(function, compile="first call")
    first_ms, result = _timed(decorated, arguments)
    _, expected = _timed(function, arguments)
    difference = _difference(result, expected)
    del expected
    jit_ms, numpy_ms = [], []
    for _ in range(repetitions):
        numpy_ms.append(_timed(function, arguments)[0])
        jit_ms.append(_timed(decorated, arguments)[0])
    explanation = decorated.explain(*_copies(arguments))
    return Outcome(
        name=name,
        function=function.__name__,
        numpy_ms=median(numpy_ms),
        jit_ms=median(jit_ms),
        first_ms=first_ms,
        difference=difference,
        explanation=str(explanation),
        result=result,
        compiled=bool(explanation.devices),
    )


def report(console: Console, scale: Scale, outcomes: Sequence[Outcome]) -> None:
    """Print times, parity, and what was fused."""
    table = Table("", "NumPy", "@runmat.jit", "speed-up", "first call", "same result")
    for outcome in outcomes:
        table.add_row(
            outcome.name,
            f"{outcome.numpy_ms:.1f} ms",
            f"{outcome.jit_ms:.1f} ms",
            f"{outcome.speed_up:.1f}x",
            f"{outcome.first_ms:.0f} ms",
            f"{'yes' if outcome.agrees else 'NO'} ({outcome.difference:.1g})",
        )
    console.print(table)
    console.print(f"median of {scale.repetitions} calls; the first call compiles")
    for outcome in outcomes:
        console.print(f"\nWhat was compiled of {outcome.function}:")
        console.print(outcome.explanation, markup=False, highlight=False, soft_wrap=True)


# -- the picture -----------------------------------------------------------------------------------
INK, SOFT, BLUE, GREEN = "#1b1f24", "#59636e", "#2f81f7", "#3fb950"
BANDS = ((0.05, 0.95), (0.25, 0.75))


def save_picture(path: Path, noisy: Array, outcomes: Sequence[Outcome]) -> None:
    """Save the photograph before and after, price paths, heat, and the speed-ups as one figure."""
    # Imported here: the rest of the command line has no use for matplotlib.
    from matplotlib.backends.backend_agg import FigureCanvasAgg  # noqa: PLC0415
    from matplotlib.figure import Figure  # noqa: PLC0415 - likewise

    found = {outcome.function: outcome.result for outcome in outcomes}
    figure = Figure(figsize=(13, 9), layout="constrained")
    FigureCanvasAgg(figure)
    parts: Any = figure.subfigures(2, 1, height_ratios=(1.15, 1))
    upper, lower = parts
    photographs = upper.subplots(1, 3, width_ratios=(1, 1, 1.25))
    before_and_after = {"noisy": noisy, "denoised": found["denoise"]}
    for axes, (title, pixels) in zip(photographs, before_and_after.items(), strict=False):
        axes.imshow(pixels, cmap="gray", vmin=0.0, vmax=1.0)
        axes.set_title(title)
        axes.set_axis_off()
    heat = photographs[2].imshow(found["plate"], cmap="inferno", aspect="auto")
    photographs[2].set_title("heat in a plate, from a loop over elements")
    photographs[2].set_axis_off()
    upper.colorbar(heat, ax=photographs[2], shrink=0.8)
    left, right = lower.subplots(1, 2)
    _fan(left, found["prices"])
    _bars(right, outcomes)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)


def _fan(axes: Any, paths: Array) -> None:
    """Show some price paths over the quantiles of all."""
    days = np.arange(len(paths))
    for low, high in BANDS:
        edges = np.quantile(paths, [low, high], axis=1)
        label = f"{high - low:.0%} of the paths"
        axes.fill_between(days, *edges, color=BLUE, alpha=0.18, linewidth=0, label=label)
    axes.plot(days, paths[:, :12], color=SOFT, linewidth=0.6, alpha=0.7)
    axes.plot(days, np.median(paths, axis=1), color=BLUE, linewidth=2, label="median")
    axes.set_title(f"{paths.shape[1]:,} price paths")
    axes.set_xlabel("day")
    axes.legend(loc="upper left", frameon=False)
    axes.margins(x=0)


def _bars(axes: Any, outcomes: Sequence[Outcome]) -> None:
    """Show the speed-up of later calls and of the first one, which compiles."""
    rows = np.arange(len(outcomes))[::-1]
    later = [outcome.speed_up for outcome in outcomes]
    first = [outcome.numpy_ms / outcome.first_ms for outcome in outcomes]
    for offset, values, color, label in (
        (0.2, later, GREEN, "later calls"),
        (-0.2, first, SOFT, "first call, with compiling"),
    ):
        bars = axes.barh(rows + offset, values, height=0.36, color=color, label=label)
        axes.bar_label(bars, [_times(value) for value in values], padding=4, color=INK)
    axes.axvline(1.0, color=INK, linewidth=1)
    axes.set_xscale("log")
    axes.set_yticks(rows, [outcome.name for outcome in outcomes])
    axes.set_title("speed-up over plain NumPy")
    axes.margins(x=0.18)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.08), ncols=2, frameon=False)


def _times(ratio: float) -> str:
    return f"{ratio:.0f}x" if ratio >= 10 else f"{ratio:.1f}x"


def _copies(arguments: tuple[Any, ...]) -> list[Any]:
    """Return arguments that a function may write to."""
    return [each.copy() if isinstance(each, np.ndarray) else each for each in arguments]


def _timed(function: Callable[..., Any], arguments: tuple[Any, ...]) -> tuple[float, Any]:
    own = _copies(arguments)
    start = perf_counter()
    result = function(*own)
    return 1e3 * (perf_counter() - start), result


def _difference(result: Any, expected: Any) -> float:
    if isinstance(expected, tuple):
        return float(np.max([_difference(*pair) for pair in zip(result, expected, strict=True)]))
    if np.shape(result) != np.shape(expected) or result.dtype != expected.dtype:
        return float("inf")
    return float(np.max(np.abs(result - expected) / (1 + np.abs(expected))))


@contextmanager
def _progress(console: Console, steps: int) -> Iterator[Callable[[str], None]]:
    """A progress line that vanishes; the yielded function names the step that begins."""
    columns = (BarColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("", total=steps)

        def advance(description: str) -> None:
            progress.update(task, advance=1, description=description, refresh=True)

        yield advance
