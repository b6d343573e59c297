"""The demonstration: two pieces of plain NumPy, timed as they are and under ``@runmat.jit``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
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


def normalize(images: Array) -> tuple[Array, Any]:
    """Whiten each image, apply gain, bias and gamma; also the mean squared change."""
    mean = images.mean(axis=(1, 2), keepdims=True)
    sigma = np.sqrt(((images - mean) ** 2).mean(axis=(1, 2), keepdims=True) + 1e-6)
    out = np.maximum((images - mean) / sigma * 1.0123 - 0.02, 0.0) ** 1.8
    return out, np.mean((out - images) ** 2)


def chain(x: Array) -> Array:
    """A chain of transcendental functions, element by element."""
    y0 = np.sin(x) * np.exp(-x / 10)
    y1 = y0 * np.cos(x / 4) + 0.25 * y0**2
    return np.tanh(y1) + 0.1 * y1


@frozen
class Scale:
    """How large the demonstration is."""

    images: int
    height: int
    width: int
    points: int
    repetitions: int


FULL = Scale(images=4, height=2160, width=3840, points=5_000_001, repetitions=5)
QUICK = Scale(images=1, height=540, width=960, points=200_001, repetitions=3)


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
        return self.difference <= TOLERANCE


# float32 rounds to 6e-8; the statistics of an image and the exponent 1.8 multiply that. A NaN in
# one result only is a difference of NaN, which does not pass.
TOLERANCE = 2e-5


def run_demo(output: Path, *, quick: bool = False, console: Console | None = None) -> bool:
    """Run, print and save the picture; True if both were compiled and agreed everywhere.

    Args:
        output: File for the picture; missing directories are made.
        quick: Small arrays, for a smoke run.
        console: Where to print; standard output by default.

    """
    console = console or Console()
    scale = QUICK if quick else FULL
    with _progress(console, steps=4) as advance:
        advance("preparing the photograph")
        images = photograph(scale)
        points = np.linspace(0, 4 * np.pi, scale.points, dtype=np.float32)
        advance("image normalization")
        first = compare("images", normalize, images, scale.repetitions)
        advance("elementwise chain")
        second = compare("chain", chain, points, scale.repetitions)
        advance("saving the picture")
        save_picture(output, images[0], first.result[0][0])
    report(console, scale, (first, second))
    console.print(f"Before and after: {output}", soft_wrap=True)
    outcomes = first, second
    if not all(outcome.compiled for outcome in outcomes):
        console.print(
            "Nothing was compiled, see above: this is not what decorated functions are for."
        )
    return all(outcome.agrees and outcome.compiled for outcome in outcomes)


def photograph(scale: Scale) -> Array:
    """Matplotlib's sample photograph, gray, tiled, at a different exposure in each image.

    Returns:
        float32 ``(images, height, width)`` in [0, 1].

    """
    # Imported here: the rest of the command line has no use for it.
    import matplotlib as mpl  # noqa: PLC0415 - likewise
    from matplotlib import image  # noqa: PLC0415 - likewise

    path = Path(mpl.get_data_path(), "sample_data", "grace_hopper.jpg")
    color = image.imread(path)
    gray = (color @ np.array([0.299, 0.587, 0.114]) / 255).astype(np.float32)
    rows, columns = -(-scale.height // gray.shape[0]), -(-scale.width // gray.shape[1])
    tiled = np.tile(gray, (rows, columns))[: scale.height, : scale.width]
    exposures = np.linspace(1.0, 0.4, scale.images, dtype=np.float32)
    return tiled * exposures[:, np.newaxis, np.newaxis]


def compare(
    name: str, function: Callable[[Array], Any], argument: Array, repetitions: int
) -> Outcome:
    """Time a function as it is and decorated, in alternation, and compare the results."""
    decorated = runmat.jit(function, compile="first call")
    first_ms, result = _timed(decorated, argument)
    _, expected = _timed(function, argument)
    difference = _difference(result, expected)
    del expected
    jit_ms, numpy_ms = [], []
    for _ in range(repetitions):
        numpy_ms.append(_timed(function, argument)[0])
        jit_ms.append(_timed(decorated, argument)[0])
    explanation = decorated.explain(argument)
    return Outcome(
        name=name,
        function=function.__name__,
        numpy_ms=median(numpy_ms),
        jit_ms=median(jit_ms),
        first_ms=first_ms,
        difference=difference,
        explanation=str(explanation),
        result=result,
        compiled=bool(explanation.regions),
    )


def report(console: Console, scale: Scale, outcomes: tuple[Outcome, ...]) -> None:
    """Print times, parity, and what was fused."""
    console.print(
        f"{scale.images} x {scale.height} x {scale.width} pixels and {scale.points:,} points, "
        f"float32; median of {scale.repetitions} calls"
    )
    table = Table("", "NumPy", "@runmat.jit", "speed-up", "first call", "same result")
    for outcome in outcomes:
        table.add_row(
            outcome.name,
            f"{outcome.numpy_ms:.1f} ms",
            f"{outcome.jit_ms:.1f} ms",
            f"{outcome.numpy_ms / outcome.jit_ms:.1f}x",
            f"{outcome.first_ms:.0f} ms",
            f"{'yes' if outcome.agrees else 'NO'} ({outcome.difference:.1g})",
        )
    console.print(table)
    for outcome in outcomes:
        console.print(f"\nWhat was fused in {outcome.function}:")
        console.print(outcome.explanation, markup=False, highlight=False, soft_wrap=True)


def save_picture(path: Path, before: Array, after: Array) -> None:
    """Both images beside each other, at a quarter of their resolution."""
    # Imported here: the rest of the command line has no use for matplotlib.
    from matplotlib.backends.backend_agg import FigureCanvasAgg  # noqa: PLC0415
    from matplotlib.figure import Figure  # noqa: PLC0415 - likewise

    figure = Figure(figsize=(12, 3.8), layout="constrained")
    FigureCanvasAgg(figure)
    panels = (("before", before, 1.0), ("after", after, float(np.percentile(after, 99))))
    for axes, (title, pixels, brightest) in zip(figure.subplots(1, 2), panels, strict=True):
        axes.imshow(pixels[::4, ::4], cmap="gray", vmin=0.0, vmax=brightest)
        axes.set_title(title)
        axes.set_axis_off()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=120)


def _timed(function: Callable[[Array], Any], argument: Array) -> tuple[float, Any]:
    start = perf_counter()
    result = function(argument)
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
