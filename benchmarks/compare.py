"""Ratios between `runmat.jit` and its peers: `python -m benchmarks.compare elementwise image_4k`.

Answers are checked before anything is timed; a wrong one ends the run. The rules: README.md.
"""

from __future__ import annotations

import argparse
import json
import sys
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from benchmarks import report
from benchmarks.cases import CASES
from benchmarks.cases.case import Case, Parity, Shape
from benchmarks.machine import Machine, describe_machine, load_average
from benchmarks.peers import NAMES
from benchmarks.peers.peer import PeerUnavailableError
from benchmarks.ratios import Ratio, ratio_of_rounds
from benchmarks.rounds import Contest, Pace, Rounds, run_dropped, run_kept, run_small
from benchmarks.startup import FirstCall, ImportTime, measure_first_call, measure_import
from benchmarks.worker import Description, Worker, WorkerError


class ParityError(Exception):
    """An implementation's answer is wrong, so its time means nothing."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """All that was measured of one case."""

    case: str
    bytes_min: int
    peers: dict[str, Description]
    parity: dict[str, Parity]
    rounds: list[Rounds]
    ratios: list[dict[str, Ratio]]  # beside `rounds`
    first_call: dict[str, FirstCall]
    load_after: float


@dataclass(frozen=True, slots=True)
class Result:
    machine: Machine
    import_time: ImportTime | None
    comparisons: list[Comparison]


@dataclass(frozen=True, slots=True)
class Options:
    peers: tuple[str, ...]
    baseline: str
    pace: Pace
    first_calls: int
    quick: bool


def compare(case: Case, shape: Shape, options: Options) -> Comparison:
    """Check, then measure one case; peers that are missing are reported and left out."""
    with ExitStack() as stack:
        workers = _start(case, shape, options, stack)
        parity = _checked(case, workers)
        descriptions = {worker.peer: worker.call("describe") for worker in workers}
        contest = Contest(case, shape, workers, report.progress)
        rounds = [run_dropped(contest, options.pace), run_kept(contest, options.pace)]
        _checked(case, workers)  # what was timed still answers correctly
    present = tuple(descriptions)
    with ExitStack() as stack:
        workers = _start(case, case.small_shape, replace(options, peers=present), stack)
        _checked(case, workers)
        contest = Contest(case, case.small_shape, workers, report.progress)
        rounds.append(run_small(contest, options.pace))
    report.progress(f"{case.name}: first calls")
    return Comparison(
        case=case.name,
        bytes_min=case.bytes_min(shape),
        peers=descriptions,
        parity=parity,
        rounds=rounds,
        ratios=[_ratios(measured, options.baseline) for measured in rounds],
        first_call=measure_first_call(case, present, shape, options.first_calls),
        load_after=load_average(),
    )


def _start(case: Case, shape: Shape, options: Options, stack: ExitStack) -> list[Worker]:
    workers = []
    for peer in options.peers:
        report.progress(f"{case.name}: starting {peer}")
        try:
            workers.append(stack.enter_context(Worker(peer, case.name, shape)))
        except PeerUnavailableError as error:
            if peer == options.baseline:
                raise
            report.note(f"left out: {error}")
    return workers


def _checked(case: Case, workers: list[Worker]) -> dict[str, Parity]:
    parities = {}
    for worker in workers:
        report.progress(f"{case.name}: checking {worker.peer}")
        parity = worker.call("parity")
        if not parity.ok:
            raise ParityError(
                f"{worker.peer} gives a wrong answer for {case.name} ({parity.detail}; "
                f"{max(parity.worst, parity.metric):.3g} times the tolerance): nothing is timed"
            )
        parities[worker.peer] = parity
    return parities


def _ratios(measured: Rounds, baseline: str) -> dict[str, Ratio]:
    reference = measured.seconds[baseline]
    return {
        peer: ratio_of_rounds(seconds, reference)
        for peer, seconds in measured.seconds.items()
        if peer != baseline
    }


def parse(arguments: list[str] | None) -> tuple[argparse.Namespace, Options]:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.compare", description=__doc__)
    parser.add_argument("cases", nargs="*", help=f"of {', '.join(CASES)}; all by default")
    parser.add_argument("--peers", default="numpy", help=f"comma-separated, of {', '.join(NAMES)}")
    parser.add_argument("--baseline", default="runmat", help="the peer the others are divided by")
    parser.add_argument("--size", type=int, help="points or images, instead of the case's own")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--pause", type=float, default=0.2, help="seconds between two workers")
    parser.add_argument("--first-calls", type=int, default=3, help="fresh processes each; 0: none")
    parser.add_argument("--json", type=Path, help="where to write all figures")
    parser.add_argument(
        "--quick", action="store_true", help="small sizes, three rounds: a smoke run"
    )
    chosen = parser.parse_args(arguments)
    unknown = [case for case in chosen.cases if case not in CASES]
    if unknown:
        parser.error(f"there is no case {unknown[0]!r}; there are {', '.join(CASES)}")
    names = [chosen.baseline, *filter(None, chosen.peers.split(","))]
    for name in names:
        if name not in NAMES:
            parser.error(f"there is no peer {name!r}; there are {', '.join(NAMES)}")
    pace = Pace(rounds=3, pause_s=0.05) if chosen.quick else Pace(chosen.rounds, chosen.pause)
    first_calls = min(1, chosen.first_calls) if chosen.quick else chosen.first_calls
    peers = tuple(dict.fromkeys(names))
    return chosen, Options(peers, chosen.baseline, pace, first_calls, chosen.quick)


def main(arguments: list[str] | None = None) -> int:
    chosen, options = parse(arguments)
    machine = describe_machine()
    report.print_machine(machine)
    imports = None
    if "runmat" in options.peers:
        report.progress("import time")
        imports = measure_import(3 if options.quick else options.pace.rounds)
        report.print_import(imports)
    comparisons = []
    for name in chosen.cases or CASES:
        case = CASES[name]
        shape = case.quick_shape if options.quick else case.default_shape
        shape = case.shape_of(chosen.size) if chosen.size else shape
        try:
            comparisons.append(compare(case, shape, options))
        except (ParityError, PeerUnavailableError, WorkerError) as error:
            report.note(str(error))
            return 1
        report.print_comparison(comparisons[-1], options.baseline)
    if chosen.json:
        result = asdict(Result(machine, imports, comparisons))
        chosen.json.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
