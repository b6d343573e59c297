"""Plots of results: speed-up over size, ranking, first calls, roofline; as PNG, SVG or text."""

from __future__ import annotations

import io
import itertools
from collections.abc import Callable
from pathlib import Path

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from benchmarks.programs import programs
from benchmarks.results import OURS, Results, ranking, worst_prefix

COLORS = {
    "runmat": "#2f81f7",
    "runmat_gpu": "#8250df",
    "matlab": "#1b7c83",
    "numpy": "#59636e",
    "numba": "#d4a72c",
    "jax": "#cf222e",
    "torch_compile": "#bc4c00",
    "numexpr": "#4d9221",
    "drjit": "#c51b7d",
}
CURVES = 12
"""Programs in the plot of curves at most; the ranking has all."""


def figure(width: float, height: float) -> Figure:
    made = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(made)
    return made


def speed_up_over_size(results: Results) -> Figure | None:
    """Show NumPy's time divided by each peer's, over the size; None without two sizes."""
    names = [name for name in results.programs if len(results.of(name)) > 1][:CURVES]
    if not names:
        return None
    columns = min(3, len(names))
    rows = -(-len(names) // columns)
    made = figure(4.2 * columns, 3.0 * rows + 0.4)
    grid = made.subplots(rows, columns, squeeze=False).flat
    for axes, name in zip(grid, names, strict=False):
        found = results.of(name)
        for peer in results.peers:
            points = [
                (size, each["numpy"].seconds / each[peer].seconds)
                for size, each in found.items()
                if "numpy" in each and peer in each
            ]
            if peer != "numpy" and points:
                style = "-" if peer in OURS else "--"
                axes.plot(
                    *zip(*points, strict=True), style, marker="o", label=peer, color=COLORS[peer]
                )
        axes.axhline(1, color=COLORS["numpy"], linewidth=1)
        axes.set(title=name, xscale="log", yscale="log", xlabel="size")
    for axes in list(grid)[len(names) :]:
        axes.set_axis_off()
    handles, labels = made.axes[0].get_legend_handles_labels()
    made.legend(handles, labels, loc="outside upper center", ncols=len(labels), frameon=False)
    return made


def ranks(results: Results) -> Figure | None:
    """Show the geometric mean of speed-ups of each peer; None where nothing was compared."""
    found = ranking(results)[::-1]
    if not found:
        return None
    made = figure(7, 0.5 * len(found) + 1.2)
    axes = made.subplots()
    colors = [COLORS[rank.peer] for rank in found]
    bars = axes.barh([rank.peer for rank in found], [rank.speed_up for rank in found], color=colors)
    labels = [f"{r.speed_up:.2f}x of {r.programs}; first in {r.first}" for r in found]
    axes.bar_label(bars, labels, padding=4)
    axes.axvline(1, color=COLORS["numpy"], linewidth=1)
    axes.set(xlabel="speed-up over NumPy, geometric mean")
    axes.margins(x=0.45)
    axes.spines[["top", "right"]].set_visible(False)
    return made


def first_calls(results: Results) -> Figure | None:
    """Show first calls with an empty and with a filled cache; None where none were measured."""
    named = [
        name
        for name in results.programs
        if any(each.first_cold is not None for each in results.largest(name).values())
    ][:CURVES]
    if not named:
        return None
    made = figure(9, 0.5 * len(named) + 1.5)
    axes = made.subplots()
    peers = [peer for peer in results.peers if peer != "numpy"]
    for number, peer in enumerate(peers):
        for row, name in enumerate(named):
            found = results.largest(name).get(peer)
            if found is None or found.first_cold is None or found.first_cached is None:
                continue
            y = row + 0.7 * (number / max(1, len(peers)) - 0.4)
            axes.plot([found.first_cached, found.first_cold], [y, y], color=COLORS[peer])
            label = peer if not row else None
            axes.plot(found.first_cold, y, "o", color=COLORS[peer], label=label)
            axes.plot(found.first_cached, y, "|", color=COLORS[peer])
    axes.set_yticks(range(len(named)), named)
    axes.set(xscale="log", xlabel="seconds of a first call: empty cache (dot), filled cache (bar)")
    made.legend(loc="outside upper center", ncols=len(peers), frameon=False)
    return made


def roofline(results: Results) -> Figure | None:
    """Show operations a second over operations a byte; None where no program tells both."""
    known = programs()
    points = []
    for name in results.programs:
        program = known.get(name)
        if program is None or program.flops is None or program.nbytes is None:
            continue
        found = results.largest(name)
        size = max(results.of(name))
        flops, nbytes = program.flops(size), program.nbytes(size)
        points += [
            (flops / nbytes, flops / result.seconds / 1e9, peer, name)
            for peer, result in found.items()
        ]
    if not points:
        return None
    made = figure(8, 5)
    axes = made.subplots()
    best = max(rate / intensity for intensity, rate, _, _ in points)
    ends = [min(p[0] for p in points) / 2, max(p[0] for p in points) * 2]
    label = f"{best:.3g} GB/s, the most that was moved"
    axes.plot(ends, [best * end for end in ends], color=COLORS["numpy"], linewidth=1, label=label)
    for peer in results.peers:
        own = [point for point in points if point[2] == peer]
        if own:
            x, y = [point[0] for point in own], [point[1] for point in own]
            axes.plot(x, y, "o", color=COLORS[peer], label=peer)
    for name in {point[3] for point in points}:
        top = max(point for point in points if point[3] == name)
        axes.annotate(name.partition(".")[2], top[:2], xytext=(0, 8), textcoords="offset points")
    axes.set(xscale="log", yscale="log", xlabel="operations a byte", ylabel="GFLOP/s")
    axes.legend(frameon=False)
    return made


def regret(results: Results) -> Figure | None:
    """Show the time of the first k calls divided by that of plain ones; None without figures."""
    if not results.regret:
        return None
    made = figure(9, 5)
    axes = made.subplots()
    worst = sorted(results.regret, key=lambda name: -worst_prefix(*results.regret[name])[1])[
        :CURVES
    ]
    for name, (ours, plain) in results.regret.items():
        ratios = [
            a / b
            for a, b in zip(itertools.accumulate(ours), itertools.accumulate(plain), strict=True)
        ]
        label = name if name in worst else None
        style = {} if label else {"color": COLORS["numpy"], "linewidth": 0.5}
        axes.plot(range(1, len(ratios) + 1), ratios, label=label, **style)
    axes.axhline(1, color=COLORS["numpy"], linewidth=1)
    axes.set(xscale="log", yscale="log", xlabel="calls", ylabel="time of all calls so far / plain")
    axes.legend(frameon=False, fontsize="small", ncols=2)
    return made


PLOTS: dict[str, Callable[[Results], Figure | None]] = {
    "ranking": ranks,
    "speed_up": speed_up_over_size,
    "first_calls": first_calls,
    "roofline": roofline,
    "regret": regret,
}


def draw_all(results: Results) -> dict[str, Figure]:
    """Return the plots that the results have data for, by name."""
    made = {name: plot(results) for name, plot in PLOTS.items()}
    return {name: each for name, each in made.items() if each is not None}


def save(figures: dict[str, Figure], directory: Path) -> list[Path]:
    """Write each plot as PNG and SVG, and return the files."""
    directory.mkdir(parents=True, exist_ok=True)
    written = []
    for name, each in figures.items():
        for kind in ("png", "svg"):
            written.append(directory / f"{name}.{kind}")
            each.savefig(written[-1], dpi=110)
    return written


def as_svg(made: Figure) -> str:
    """Return a plot as SVG that scales with the page."""
    buffer = io.StringIO()
    made.savefig(buffer, format="svg", metadata={"Date": None})
    text = buffer.getvalue()
    return text[text.index("<svg") :]
