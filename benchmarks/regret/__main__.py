"""Time of the first k calls of decorated programs: ``python -m benchmarks.regret``, some minutes.

Whole programs in which every function is decorated, and small functions, each in a fresh process,
with a cold disk cache and with the one that an earlier process has left. Calls alternate between
plain and decorated code; the time of all calls so far is compared. Regret is the time beyond one
and a half times that of plain Python.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import asdict
from itertools import accumulate
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from benchmarks.machine import describe_machine
from benchmarks.regret.process import PROGRAMS, Measured, measure
from benchmarks.regret.small import names
from benchmarks.report import note, print_machine, progress

PREFIXES = (1, 2, 3, 5, 10, 20, 30, 50, 100, 300)
CALLS = {"programs": 100, "small": 300}
SETTLED = 8
"""Last calls, of which settled speed is the median."""


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.regret", description=__doc__)
    parser.add_argument("only", nargs="*", help="names of programs, or of small functions")
    parser.add_argument("--kind", choices=("programs", "small"), help="one of both")
    parser.add_argument("--calls", type=int, help="calls of each")
    parser.add_argument("--cache", default="cold,warm", help="cold, warm or both")
    parser.add_argument("--json", type=Path, help="file that gets each finding as a line")
    return parser.parse_args(arguments)


def programs(kind: str) -> list[str]:
    if kind == "small":
        return [f"small:{name}" for name in names()]
    return sorted(path.stem for path in PROGRAMS.glob("*.py") if path.stem != "__init__")


def row(found: Measured) -> dict[str, float]:
    """Return the figures of one program, in milliseconds and ratios."""
    ours, plain = list(accumulate(found.ours)), list(accumulate(found.plain))
    pairs = list(zip(ours, plain, strict=True))
    return {
        "plain call": 1e3 * median(found.plain),
        "import": 1e3 * found.import_s,
        "first": ours[0] / plain[0],
        "worst beyond 2x": 1e3 * max(a - 2 * b for a, b in pairs),
        "regret": 1e3 * max(a - 1.5 * b for a, b in pairs),
        "settled": median(found.ours[-SETTLED:]) / median(found.plain[-SETTLED:]),
        **{str(k): ours[k - 1] / plain[k - 1] for k in PREFIXES if k <= len(ours)},
    }


def report(kind: str, cache: str, found: Sequence[Measured]) -> None:
    """Print a table, the worst first."""
    rows = sorted(((each.program, row(each)) for each in found), key=lambda r: -r[1]["regret"])
    print(f"\n{kind}, {cache} disk cache: worst first; ms, ms, ratios to plain Python")
    heads = list(max((figures for _, figures in rows), key=len))
    print(f"{'':28}" + " ".join(f"{head:>9.9}" for head in heads))
    for name, figures in rows:
        cells = [f"{figures[head]:9.2f}" if head in figures else 9 * " " for head in heads]
        print(f"{name.removeprefix('small:'):28}" + " ".join(cells))
    for each in found:
        if not each.same:
            note(f"{each.program}: the results are not the same")


def main(arguments: Sequence[str] | None = None) -> int:
    options = parse(arguments)
    print_machine(describe_machine())
    failed = False
    for kind in (options.kind,) if options.kind else tuple(CALLS):
        chosen = [
            name
            for name in programs(kind)
            if not options.only or any(each in name for each in options.only)
        ]
        found: dict[str, list[Measured]] = {each: [] for each in options.cache.split(",")}
        for name in chosen:
            with TemporaryDirectory() as folder:
                for cache, into in found.items():
                    progress(f"{name}, {cache}")
                    calls = options.calls or CALLS[kind]
                    if cache == "warm" and "cold" not in found:
                        measure(name, calls, folder, loaded=kind == "small")
                    made = measure(name, calls, folder, loaded=kind == "small")
                    into.append(made)
                    failed = failed or not made.same
                    if options.json:
                        with options.json.open("a", encoding="utf-8") as file:
                            file.write(json.dumps({"cache": cache, **asdict(made)}) + "\n")
        progress("")
        for cache, each in found.items():
            if each:
                report(kind, cache, each)
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
