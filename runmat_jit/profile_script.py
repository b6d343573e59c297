"""``python -m runmat_jit profile script.py``: which functions are worth decorating, and the gain.

The script runs four times, each in a process of its own: plain; decorated; and decorated with
``compile="first call"``, first with an empty cache, then with what that run has kept. Calls are
compared that undecorated code makes; what they call is compiled as part of them.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any, Final

from rich import box
from rich.console import Console
from rich.table import Table

from runmat_jit.core.frozen import frozen
from runmat_jit.core.slotted import slotted
from runmat_jit.core.wording import wrapped
from runmat_jit.plan.price import shown

FEW: Final = 2
"""Calls, at most, of a function that mostly calls others, as ``main`` does."""
CALLEES: Final = 10_000
"""Calls that such a function makes at most: more of them are a loop that is worth compiling."""
OWN_SHARE: Final = 0.1
"""Share of the time of such a function that it takes itself, at most."""
SMALL: Final = 0.01
"""Share of the script's time below which a function is not listed."""
GAIN: Final = 1.1
"""Gain below which a function is not worth decorating."""
FIRST_CALL: Final = 1.5
"""Number of times larger the gain of compiling at the first call has to be, to be recommended."""
REASONS: Final = 4
"""Reasons that are printed of a function, at most."""
RUNS: Final = {
    "plain": "disabled",
    "jit": "hot",
    "first": "first call",
    "again": "first call",
}
"""Runs of the script, and when functions are compiled in them."""
Tree = Sequence[Mapping[str, Any]]


@slotted
class CallTimes:
    """Calls of a function that undecorated code makes: their number, their seconds in all."""

    calls: int = 0
    seconds: float = 0.0


@frozen
class FunctionGain:
    """One function: its calls in each run, what became of them, and where it is compiled."""

    function: str
    times: Mapping[str, CallTimes]
    said: Mapping[str, Mapping[str, Any]]
    within: tuple[str, ...] = ()
    """Functions as part of which it is compiled: undecorated code does not call it."""

    def gain(self, run: str) -> float:
        """Return the plain time divided by that of another run."""
        return self.times["plain"].seconds / max(self.times[run].seconds, 1e-9)

    @property
    def best(self) -> str:
        """Return the run that gains: ``jit``, ``again``, or ``plain`` if none does."""
        if self.within:
            return "plain"
        jit, again = self._gain_of_code("jit"), self._gain_of_code("again")
        if max(jit, again) < GAIN:
            return "plain"
        return "again" if again > FIRST_CALL * jit else "jit"

    def _gain_of_code(self, run: str) -> float:
        """Return the gain in a run in which some of the function was compiled, else 1."""
        return self.gain(run) if self.said[run].get("done") else 1.0

    @property
    def verdict(self) -> str:
        """Return what to write above the function."""
        if self.within:
            return "in " + ", ".join(map(short, self.within[:2]))
        named = {"jit": "@jit", "again": "@jit first", "plain": ""}
        return named[self.best]


def profile_script(
    script: str,
    arguments: Sequence[str] = (),
    *,
    as_json: bool = False,
    console: Console | None = None,
) -> int:
    """Run a script plain and decorated, and print the gain of each function.

    What the script prints is compared, not shown. It reads no input.

    Args:
        script: The file.
        arguments: Of the script.
        as_json: Print a JSON object, not the table; times in seconds.
        console: Where the table is printed; standard output by default.

    Returns:
        0; 1 where the script fails in a run; 2 where there is no such file.

    """
    if not Path(script).is_file():
        sys.stderr.write(f"error: there is no file {script!r}\n")
        return 2
    console = console or Console(highlight=False)
    runs: dict[str, Mapping[str, Any]] = {}
    with tempfile.TemporaryDirectory(prefix="runmat-profile-") as scratch:
        left: set[str] = set()
        shows = console.is_terminal and not as_json
        with console.status("") if shows else nullcontext() as status:
            for run in RUNS:
                if status is not None:
                    status.update(f"{LEGEND[run]} ...")
                try:
                    runs[run] = run_script([script, *arguments], run, left, Path(scratch))
                except subprocess.CalledProcessError as error:
                    code = error.returncode
                    sys.stderr.write(f"error: {script} ended with status {code} in a run: {run}\n")
                    return 1
                if run == "plain":
                    left = undecorated(runs[run]["tree"])
    gains = gains_of(runs, drivers(runs["plain"]["tree"]))
    same = len({run["printed"] for run in runs.values()}) == 1
    seconds = {name: run["seconds"] for name, run in runs.items()}
    if as_json:
        found = {"seconds": seconds, "prints_the_same": same, "functions": list(map(_data, gains))}
        sys.stdout.write(json.dumps(found, indent=1) + "\n")
    else:
        _report(console, gains, Path(script).name, seconds, same=same)
    return 0


def run_script(command: Sequence[str], run: str, left: set[str], scratch: Path) -> dict[str, Any]:
    """Return the result of one run (see ``profiled_run``), and what the script has printed.

    Raises:
        subprocess.CalledProcessError: the script has failed.

    """
    order, result = scratch / "order.json", scratch / "result.json"
    order.write_text(json.dumps({"plain": run == "plain", "left": sorted(left)}), encoding="utf-8")
    compiles = RUNS[run]
    environment = {**os.environ, "RUNMAT_CACHE_DIR": str(scratch / compiles)}
    changed = ("RUNMAT_DISABLE_JIT", "1") if run == "plain" else ("RUNMAT_COMPILE", compiles)
    environment |= dict([changed])
    child = [sys.executable, "-m", "runmat_jit.profiled_run", str(order), str(result)]
    done = subprocess.run(
        [*child, *command],
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        check=True,
    )
    found: dict[str, Any] = json.loads(result.read_text(encoding="utf-8"))
    _subtract(found["tree"], found["overhead"])
    return {**found, "printed": done.stdout}


def _subtract(tree: list[dict[str, Any]], overhead: float) -> int:
    """Subtract the time of timing itself from a tree, and return the number of its calls."""
    total = 0
    for node in tree:
        below = _subtract(node["callees"], overhead)
        node["seconds"] = max(0.0, node["seconds"] - below * overhead)
        total += node["calls"] + below
    return total


# -- which functions are decorated -----------------------------------------------------------------
def drivers(tree: Tree) -> set[str]:
    """Return the functions that mostly call others, as ``main`` does: they stay undecorated."""
    found: set[str] = set()
    for node in tree:
        own = node["seconds"] - sum(each["seconds"] for each in node["callees"])
        calls = sum(each["calls"] for each in node["callees"])
        few = node["calls"] <= FEW and 0 < calls <= CALLEES
        if few and own <= OWN_SHARE * node["seconds"]:
            found |= {node["function"], *drivers(node["callees"])}
    return found


def undecorated(tree: Tree) -> set[str]:
    """Return the functions that stay undecorated: drivers, and what decorated ones alone call."""
    left = drivers(tree)
    outer = {name for name, _ in _outermost(tree, left)}
    return left | {name for name, _, _ in _inner(tree, left) if name not in outer}


def _outermost(tree: Tree, left: set[str]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the functions that none but those of ``left`` call, each with its node."""
    for node in tree:
        if node["function"] in left:
            yield from _outermost(node["callees"], left)
        else:
            yield node["function"], node


def _inner(
    tree: Tree, left: set[str], within: str = ""
) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """Yield the functions that others call: the name, the outermost caller, and the node."""
    for node in tree:
        name = node["function"]
        if within:
            yield name, within, node
        yield from _inner(node["callees"], left, within or ("" if name in left else name))


def gains_of(runs: Mapping[str, Mapping[str, Any]], left: set[str]) -> list[FunctionGain]:
    """Return the functions that take time, those that take most first."""
    outer = {
        name: _summed(_outermost(run["tree"], left if name == "plain" else set()))
        for name, run in runs.items()
    }
    said = {name: run["said"] for name, run in runs.items()}
    found = [
        FunctionGain(
            function,
            {name: outer[name].get(function, CallTimes()) for name in runs},
            {name: said[name].get(function, {}) for name in runs},
        )
        for function in outer["plain"]
    ]
    inner = list(_inner(runs["plain"]["tree"], left))
    for function, times in _summed((name, node) for name, _, node in inner).items():
        if function not in outer["plain"]:
            within = dict.fromkeys(caller for name, caller, _ in inner if name == function)
            found.append(FunctionGain(function, {"plain": times}, {}, tuple(within)))
    limit = SMALL * runs["plain"]["seconds"]
    found = [each for each in found if each.times["plain"].seconds >= limit]
    return sorted(found, key=lambda each: -each.times["plain"].seconds)


def _summed(nodes: Iterable[tuple[str, Mapping[str, Any]]]) -> dict[str, CallTimes]:
    found: dict[str, CallTimes] = {}
    for name, node in nodes:
        times = found.setdefault(name, CallTimes())
        times.calls += node["calls"]
        times.seconds += node["seconds"]
    return found


# -- what is printed -------------------------------------------------------------------------------
LEGEND: Final = {
    "plain": "plain Python",
    "jit": "decorated with @runmat.jit",
    "first": 'decorated with @runmat.jit(compile="first call"), "@jit first"; the cache is empty',
    "again": "likewise, in the next process: the cache has what the first one has compiled",
}


def short(function: str) -> str:
    """Return a function's name without its file."""
    return function.rpartition(":")[2]


def _report(
    console: Console,
    gains: Sequence[FunctionGain],
    script: str,
    seconds: Mapping[str, float],
    *,
    same: bool,
) -> None:
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    table.add_column("function", overflow="fold")
    for heading in ("calls", *RUNS, "gain"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("write", overflow="fold")
    for each in gains:
        calls = str(each.times["plain"].calls)
        table.add_row(short(each.function), calls, *_cells(each), each.verdict)
    if gains:
        table.add_section()
    totals = [_seconds(each) for each in seconds.values()]
    table.add_row(script, "", *totals, "", "")
    console.print(table)
    for run, what in LEGEND.items():
        console.print(f"{run:6} {what}", markup=False)
    if not same:
        console.print(
            "\nThe script did not print the same in all runs: times, or last digits of sums?"
        )
    for each in gains:
        for line in _why(each):
            console.print(line, markup=False)


def _cells(gain: FunctionGain) -> list[str]:
    """Return the times of all runs and the gain of the best one, as a row of the table has them."""
    found = [_seconds(times.seconds) for times in gain.times.values()]
    if gain.within:
        return [*found, "", "", "", ""]
    best = "jit" if gain.best == "plain" else gain.best
    return [*found, f"{gain.gain(best):.3g}x"]


def _seconds(value: float) -> str:
    return shown(1e6 * value)


def _why(gain: FunctionGain) -> Iterator[str]:
    """Yield what became of a function's calls."""
    runs = ("jit", "again") if gain.best == "jit" else ("again", "jit")
    said = next((gain.said[run] for run in runs if gain.said.get(run)), None)
    if said is None:
        return
    file, line, name = gain.function.rsplit(":", 2)
    done = f"; {said['done']}" if said["done"] else ""
    yield f"\n{name} ({Path(file).name}:{line}): {said['mode']}{done}"
    for each in said["why"][:REASONS]:
        yield from wrapped(f"  - {each}")
    if len(said["why"]) > REASONS:
        yield f"  and {len(said['why']) - REASONS} more"


def _data(gain: FunctionGain) -> dict[str, Any]:
    return {
        "function": gain.function,
        **{
            run: {"calls": times.calls, "seconds": times.seconds}
            for run, times in gain.times.items()
        },
        "write": gain.verdict,
        "within": gain.within,
        "said": gain.said,
    }
