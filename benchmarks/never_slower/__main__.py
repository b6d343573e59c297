"""``python -m benchmarks.never_slower``: is a warm decorated call ever slower than plain Python?

All parity programs, or those that match ``--programs``, at the size they ship with and at others;
at 10,000 elements also with one float in a hundred NaN or zero: the distribution of the ratios, and
the worst ones with what a warm call does. About an hour. Every function is taken to have paid for
being compiled (``benchmarks.regret`` measures how it comes to that).
"""

from __future__ import annotations

import argparse
import fnmatch
import json
import math
import os
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import asdict
from itertools import groupby
from pathlib import Path

from benchmarks.machine import describe_machine
from benchmarks.never_slower.measure import Measured
from benchmarks.never_slower.process import Task, run
from benchmarks.never_slower.variants import VARIANTS
from benchmarks.report import note, print_machine, progress
from tests.parity.program import programs

SLOWER = 1.1
SIZES = {"plain": "shipped,1e4,1e6", "nan": "1e4", "zeros": "1e4"}
"""Where no others are asked for."""
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95, 0.99)


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.never_slower", description=__doc__)
    parser.add_argument(
        "--programs", default="*", help="patterns of names, as field_image.*,*sobel*"
    )
    parser.add_argument("--sizes", help="shipped, or numbers of elements, as shipped,1e4")
    parser.add_argument("--variants", default=",".join(VARIANTS), help="plain, nan, zeros")
    parser.add_argument("--worst", type=int, default=20, help="how many are listed")
    parser.add_argument(
        "--json", type=Path, help="a file, to which each finding is written as a line"
    )
    return parser.parse_args(arguments)


def tasks_of(options: argparse.Namespace) -> list[Task]:
    """What is to be measured: variants of a program follow each other."""
    names = [
        name
        for name, program in programs().items()
        if matches(name, options.programs.split(",")) and not program.differs
    ]
    return [
        task_of(name, variant, (options.sizes or SIZES[variant]).split(","))
        for name in names
        for variant in options.variants.split(",")
    ]


def matches(name: str, patterns: list[str]) -> bool:
    return any(fnmatch.fnmatch(name, pattern) for pattern in patterns)


def task_of(name: str, variant: str, sizes: list[str]) -> Task:
    asked = tuple(int(float(size)) for size in sizes if size != "shipped")
    return Task(name, variant, asked, "shipped" in sizes)


def measure_all(tasks: list[Task]) -> Iterator[Measured]:
    """Each module of programs in a process of its own."""
    for module, group in groupby(tasks, lambda task: task.program.partition(".")[0]):
        progress(module)
        yield from run(list(group))


# -- what is printed -------------------------------------------------------------------------------
def quantile(ordered: Sequence[float], share: float) -> float:
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def print_distribution(found: Sequence[Measured]) -> None:
    """A line for each size and variant."""
    groups: dict[tuple[float, str], list[float]] = defaultdict(list)
    for each in found:
        if not each.failed:
            groups[each.asked or 0, each.variant].append(each.ratio)
    heads = "".join(f"{f'{100 * share:.0f} %':>8}" for share in QUANTILES)
    columns = f"{'programs':>9}{'geo.mean':>9}{'> 1.1':>8}{heads}{'most':>8}"
    print(f"{'elements':>10} {'variant':8}{columns}")
    for (asked, variant), ratios in sorted(groups.items()):
        ordered = sorted(ratios)
        mean = math.exp(sum(map(math.log, ordered)) / len(ordered))
        slower = 100 * sum(ratio > SLOWER for ratio in ordered) / len(ordered)
        size = f"{asked:.0e}" if asked else "shipped"
        steps = "".join(f"{quantile(ordered, share):8.2f}" for share in QUANTILES)
        print(
            f"{size:>10} {variant:8}{len(ordered):9}{mean:9.3f}{slower:6.1f} %{steps}"
            f"{ordered[-1]:8.2f}"
        )


def print_worst(found: Sequence[Measured], count: int) -> None:
    """The slowest against plain Python, and what could not be measured."""
    timed = sorted((each for each in found if not each.failed), key=lambda each: -each.ratio)
    for each in timed[:count]:
        settled = "" if each.settled else ", not settled"
        print(
            f"{each.ratio:7.2f}x {each.program}, {each.variant}, {each.elements} elements: "
            f"{each.ours_us:.1f} us, plain {each.plain_us:.1f} us{settled}\n          {each.why}"
        )
    for each in found:
        if each.failed:
            print(f"  failed: {each.program}, {each.variant}, {each.elements}: {each.failed}")


def main(arguments: Sequence[str] | None = None) -> list[Measured]:
    options = parse(arguments)
    machine = describe_machine()
    print_machine(machine)
    found = []
    with options.json.open("w") if options.json else nullcontext() as lines:
        for each in measure_all(tasks_of(options)):
            found.append(each)
            if lines is not None:
                print(json.dumps(asdict(each)), file=lines, flush=True)
    progress("")
    print_distribution(found)
    print_worst(found, options.worst)
    note(f"load average afterwards {os.getloadavg()[0]:.2f}")
    return found


if __name__ == "__main__":
    main(sys.argv[1:])
