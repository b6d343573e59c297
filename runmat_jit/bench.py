"""``python -m runmat_jit bench``: measures the programs of ``benchmarks/`` and reports them."""

from __future__ import annotations

import sys
from argparse import Namespace
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

PROGRAMS: Final = "benchmarks"
"""The package with the programs; it is in checkouts alone."""
NEAR: Final = 1.2
"""A placement that is as much slower than the better device is not counted as wrong."""
CALLS: Final = 30
"""First calls whose time is compared with that of plain ones."""


def bench(options: Namespace, console: Console | None = None) -> int:
    """Measure programs, or report what was measured.

    Returns:
        0; 1 where an answer is wrong; 2 where something that is asked for is not there.

    """
    console = console or Console()
    if find_spec(PROGRAMS) is None or find_spec(f"{PROGRAMS}.suite") is None:
        return _refuse("the programs are not installed; run this in a checkout of runmat_jit")
    results = import_module(f"{PROGRAMS}.results")
    if not options.report:
        return _measure(options, console)
    if options.report[0] != "report" or len(options.report) != 2:
        return _refuse("there is: bench report FILE")
    path = Path(options.report[1])
    try:
        found = results.read(path)
    except (OSError, ValueError) as error:
        return _refuse(str(error))
    return _report(found, options.output, console)


def _measure(options: Namespace, console: Console) -> int:
    results, suite = import_module(f"{PROGRAMS}.results"), import_module(f"{PROGRAMS}.suite")
    known, names = import_module(f"{PROGRAMS}.programs"), import_module(f"{PROGRAMS}.peers").NAMES
    peers = options.peers.split(",")
    unknown = [peer for peer in peers if peer not in names]
    if unknown:
        return _refuse(f"there is no peer {unknown[0]!r}; there are {', '.join(names)}")
    try:
        asked = options.only.split(",")
        whole = [name for group in suite.WHOLE if group in asked for name in suite.WHOLE[group]()]
        only = ",".join(each for each in asked if each not in suite.WHOLE)
        chosen = known.chosen(only) if only else {}
        cases = [
            (name, size)
            for name, program in chosen.items()
            for size in known.sizes_of(options.sizes, program)
        ]
    except (KeyError, ValueError) as error:
        return _refuse(str(error.args[0]))
    pace = suite.Pace(rounds=options.rounds, first_calls=not options.keep)
    kept = suite.KeptWorkers()
    start = kept.start if options.keep else suite.start
    columns = BarColumn(), TextColumn("{task.description}"), TimeElapsedColumn()
    measured = []
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        regrets = [*chosen, *whole] if options.regret else whole
        task = progress.add_task("", total=len(cases) + len(regrets))
        for name, size in cases:

            def tell(what: str) -> None:
                progress.update(task, description=what)

            try:
                measured.append(suite.measure(name, size, peers, pace, progress=tell, start=start))
            except suite.ParityError as error:
                progress.stop()
                sys.stderr.write(f"error: {error}: nothing is timed\n")
                return 1
            progress.advance(task)
            if options.json:  # what has been measured outlives an interruption
                results.write(results.of_measurements(measured, {}), options.json)
        kept.close()
        lost = {}
        for name in regrets:
            progress.update(task, description=f"{name}: first calls, decorated and plain")
            try:
                lost[name] = suite.regret(name, options.regret or CALLS)
            except suite.ParityError as error:
                progress.stop()
                sys.stderr.write(f"error: {error}\n")
                return 1
            progress.advance(task)
    found = results.of_measurements(measured, lost)
    if options.json:  # before anything else can fail
        results.write(found, options.json)
    _print(found, console)
    return 0


def _print(found: Any, console: Console) -> None:
    duration = import_module(f"{PROGRAMS}.page").duration
    ranking = import_module(f"{PROGRAMS}.results").ranking
    table = Table("program [size]", *found.peers)
    for program in found.programs:
        for size, each in found.of(program).items():
            numpy = each.get("numpy")
            cells = []
            for peer in found.peers:
                result = each.get(peer)
                text = "" if result is None else duration(result.seconds)
                if result is not None and numpy is not None and peer != "numpy":
                    text += f" ({numpy.seconds / result.seconds:.2f}x)"
                cells.append(text)
            table.add_row(f"{program} [{size:,}]", *cells, style="")
    if found.results:
        console.print(table)
    worst_prefix = import_module(f"{PROGRAMS}.results").worst_prefix
    for name, (ours, plain) in found.regret.items():
        ratio, lost = worst_prefix(ours, plain)
        settled = sum(ours[-8:]) / sum(plain[-8:])
        console.print(
            f"{name}: the first {len(ours)} calls take at most {ratio:.3g} times plain ones and "
            f"lose at most {duration(lost)}; then {settled:.2f} times"
        )
    placed = import_module(f"{PROGRAMS}.results").placements(found)
    if placed:
        near = sum(ratio <= NEAR for ratio in placed.values())
        worst = max(placed, key=placed.__getitem__)
        console.print(
            f"automatic placement is within {NEAR} of the better device in {near} of {len(placed)}"
            f" cases; the worst is {worst}, {placed[worst]:.2f} times"
        )
    for rank in ranking(found):
        console.print(
            f"{rank.peer:14} {rank.speed_up:7.2f}x NumPy in the geometric mean, least "
            f"{rank.least:.2f}x; fastest in {rank.first} of {rank.programs}"
        )
    for name, why in found.missing.items():
        console.print(f"missing: {name} ({why})", markup=False)


def _report(found: Any, output: Path, console: Console) -> int:
    page, plots = import_module(f"{PROGRAMS}.page"), import_module(f"{PROGRAMS}.plots")
    written = plots.save(plots.draw_all(found), output)
    written.append(output / "index.html")
    written[-1].write_text(page.page_of(found), encoding="utf-8")
    for path in written:
        console.print(str(path), soft_wrap=True)
    return 0


def _refuse(why: str) -> int:
    sys.stderr.write(f"error: {why}\n")
    return 2
