"""Results of the suite, as ``bench`` and ``pytest --benchmark-json`` write them."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import median, quantiles
from typing import Any

from benchmarks.machine import describe_machine
from benchmarks.suite import Measurement

DEVICES = ("runmat_cpu", "runmat_gpu")
OURS = ("runmat", *DEVICES, "runmat_resident", "matlab")
"""Peers that are this package."""


@dataclass(frozen=True, slots=True)
class Result:
    """Seconds of a call of a program at a size by one peer, in each round."""

    program: str
    size: int
    peer: str
    rounds: tuple[float, ...]
    first_cold: float | None = None
    first_cached: float | None = None
    peak_bytes: int = 0
    counts: dict[str, float] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)
    threads: int = 1
    note: str = ""

    @property
    def seconds(self) -> float:
        """Return the median seconds of a call."""
        return median(self.rounds)

    @property
    def spread(self) -> float:
        """Return the distance between the quartiles as a share of the median."""
        if len(self.rounds) < 2:
            return 0.0
        low, _, high = quantiles(self.rounds, n=4)
        return (high - low) / self.seconds


@dataclass(frozen=True, slots=True)
class Results:
    """All results of a run, the machine, and peers that were missing, with the reason."""

    results: tuple[Result, ...]
    machine: dict[str, Any] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)
    regret: dict[str, tuple[list[float], list[float]]] = field(default_factory=dict)
    """Seconds of the first calls of a program, decorated and plain."""

    @property
    def peers(self) -> list[str]:
        """Return the peers in the order in which they were measured."""
        return list(dict.fromkeys(result.peer for result in self.results))

    @property
    def programs(self) -> list[str]:
        """Return the programs in the order in which they were measured."""
        return list(dict.fromkeys(result.program for result in self.results))

    def of(self, program: str) -> dict[int, dict[str, Result]]:
        """Return the results of a program by size and peer, the smallest size first."""
        found: dict[int, dict[str, Result]] = {}
        for result in self.results:
            if result.program == program:
                found.setdefault(result.size, {})[result.peer] = result
        return dict(sorted(found.items()))

    def largest(self, program: str) -> dict[str, Result]:
        """Return the results at the largest size, by peer."""
        return list(self.of(program).values())[-1]


def of_measurements(
    measurements: Iterable[Measurement],
    regret: dict[str, tuple[list[float], list[float]]] | None = None,
) -> Results:
    """Return what was measured as results."""
    results, missing = [], {}
    for measured in measurements:
        missing |= {
            f"{peer}, {measured.name}": why.splitlines()[0]
            for peer, why in measured.missing.items()
        }
        results += [
            Result(
                measured.name,
                measured.size,
                peer,
                tuple(figures.seconds),
                figures.first_cold,
                figures.first_cached,
                figures.peak_bytes,
                figures.counts,
                **asdict(figures.description),
            )
            for peer, figures in measured.figures.items()
        ]
    return Results(tuple(results), asdict(describe_machine()), missing, regret or {})


def write(results: Results, path: Path) -> None:
    """Write results as JSON."""
    path.write_text(json.dumps(asdict(results), indent=1) + "\n", encoding="utf-8")


def read(path: Path) -> Results:
    """Read what :func:`write` or ``pytest --benchmark-json`` has written.

    Raises:
        ValueError: the file has no results of the suite.

    """
    found = json.loads(path.read_text(encoding="utf-8"))
    if "benchmarks" in found:
        infos = [each["extra_info"] for each in found["benchmarks"] if "peer" in each["extra_info"]]
        names = Result.__dataclass_fields__
        rows = [{name: info[name] for name in names if name in info} for info in infos]
        machine = found.get("machine_info", {})
        cpu = machine.get("cpu", {}).get("brand_raw", "")
        machine = {"cpu": cpu, "system": machine.get("system", "")}
        found = {"results": rows, "machine": machine, "missing": {}, "regret": {}}
    if not (found.get("results") or found.get("regret")):
        raise ValueError(f"{path} has no results of the suite")
    results = tuple(Result(**{**row, "rounds": tuple(row["rounds"])}) for row in found["results"])
    regret = {name: (times[0], times[1]) for name, times in found["regret"].items()}
    return Results(results, found["machine"], found["missing"], regret)


# -- what is made of them --------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class Rank:
    """Speed of a peer relative to NumPy, over all programs that it has."""

    peer: str
    speed_up: float
    """Geometric mean of NumPy's time divided by the peer's, at the largest sizes."""
    least: float
    programs: int
    first: int
    """Programs in which no other peer is faster."""


def geometric_mean(values: Sequence[float]) -> float:
    return math.exp(sum(map(math.log, values)) / len(values))


def ranking(results: Results, baseline: str = "numpy") -> list[Rank]:
    """Return all peers, first those that are fastest in most programs.

    Means alone would favor a peer that has one program. Those without the baseline do not count.
    """
    ratios: dict[str, list[float]] = {peer: [] for peer in results.peers}
    first = dict.fromkeys(results.peers, 0)
    for program in results.programs:
        found = results.largest(program)
        if baseline not in found:
            continue
        for peer, result in found.items():
            ratios[peer].append(found[baseline].seconds / result.seconds)
        first[min(found, key=lambda peer: found[peer].seconds)] += 1
    ranks = [
        Rank(peer, geometric_mean(found), min(found), len(found), first[peer])
        for peer, found in ratios.items()
        if found
    ]
    return sorted(ranks, key=lambda rank: (-rank.first, -rank.speed_up))


def placements(results: Results) -> dict[str, float]:
    """Return the time where ``runmat`` chooses the device as a multiple of the better device's.

    The devices alone are ``runmat_cpu`` and ``runmat_gpu``; cases that lack one are left out.
    """
    found = {}
    for program in results.programs:
        for size, peers in results.of(program).items():
            if {"runmat", *DEVICES} <= set(peers):
                best = min(peers[device].seconds for device in DEVICES)
                found[f"{program} [{size:,}]"] = peers["runmat"].seconds / best
    return found


def worst_prefix(ours: Sequence[float], plain: Sequence[float]) -> tuple[float, float]:
    """Return the largest ratio of all calls so far to plain ones, and the seconds lost most.

    Seconds are lost beyond one and a half times those of plain calls.
    """
    pairs = list(zip(itertools.accumulate(ours), itertools.accumulate(plain), strict=True))
    return max(a / b for a, b in pairs), max(0.0, *(a - 1.5 * b for a, b in pairs))


def area_under_curve(results: Results, program: str, peer: str, baseline: str = "numpy") -> float:
    """Return the mean speed-up over the logarithm of the size: the area under its curve.

    The mean is that of logarithms, so that 2x and 0.5x make 1x. NaN where the peer is missing.
    """
    points = [
        (math.log(size), math.log(found[baseline].seconds / found[peer].seconds))
        for size, found in results.of(program).items()
        if baseline in found and peer in found
    ]
    if not points:
        return math.nan
    if len(points) == 1:
        return math.exp(points[0][1])
    pairs = list(itertools.pairwise(points))
    area = sum((b[0] - a[0]) * (a[1] + b[1]) / 2 for a, b in pairs)
    return math.exp(area / (points[-1][0] - points[0][0]))
