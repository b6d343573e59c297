"""`python -m benchmarks.gpu`: contests on one GPU, answers checked before anything is timed."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median

from benchmarks.gpu.contests import CONTESTS, Contest
from benchmarks.gpu.implementations import (
    Implementation,
    describe_device,
    is_software,
    ours,
    torch_has_a_gpu,
    torch_peer,
    where_it_ran,
)
from benchmarks.gpu.measure import FULL, QUICK, Inputs, Pace, time_rounds
from benchmarks.machine import describe_machine
from benchmarks.ratios import Ratio, ratio_of_rounds
from benchmarks.report import print_machine
from runmat_jit.core.errors import BackendError


@dataclass(frozen=True, slots=True)
class Found:
    """Seconds of a call by implementation and round, and torch's times as multiples of ours."""

    contest: str
    shape: tuple[int, ...]
    where: str
    seconds: dict[str, list[float]]
    ratio: Ratio | None


class WrongAnswerError(Exception):
    """An implementation's result is not the function's."""


def main(arguments: Sequence[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    try:
        device = describe_device()
    except BackendError as error:
        print(error, file=sys.stderr)
        return 1
    if is_software() and not options.quick:
        print(f"{device['adapter']} is no GPU; use --quick for a smoke run", file=sys.stderr)
        return 1
    print_machine(describe_machine())
    print(*(f"{name}: {value}" for name, value in device.items()), sep="\n")
    pace = QUICK if options.quick else FULL
    try:
        found = [hold(contest, pace, quick=options.quick) for contest in CONTESTS]
    except (WrongAnswerError, BackendError) as error:
        print(error, file=sys.stderr)
        return 1
    if options.json:
        report = {"device": device, "contests": [asdict(each) for each in found]}
        Path(options.json).write_text(json.dumps(report, indent=1), encoding="utf-8")
    return 0


def hold(contest: Contest, pace: Pace, *, quick: bool) -> Found:
    """Check and time all implementations of one contest.

    Raises:
        WrongAnswerError: a result is wrong.
        BackendError: the program does not run on the GPU.
    """
    shape = contest.quick_shape if quick else contest.shape
    host = contest.make_inputs(shape, 0), contest.make_inputs(shape, 1)
    mine = ours(contest)
    sides = [mine, torch_peer(contest)] if torch_has_a_gpu() else [mine]
    prepared: list[tuple[Implementation, Inputs]] = []
    for side in sides:
        inputs = side.prepare(host[0]), side.prepare(host[1])
        for arrays, device_arrays in zip(host, inputs, strict=True):
            wrong = contest.check(arrays, side.to_numpy(side.run(*device_arrays)))
            if wrong and (side is mine or not contest.reproducible):  # no peer has our CPU's bits
                raise WrongAnswerError(f"{contest.name}, {side.name}: {wrong}")
        prepared.append((side, inputs))
    where = where_it_ran(contest, mine, prepared[0][1][0])
    seconds = time_rounds(prepared, pace)
    peers = [side.name for side in sides[1:]]
    ratio = ratio_of_rounds(seconds[peers[0]], seconds[mine.name]) if peers else None
    found = Found(contest.name, shape, where, seconds, ratio)
    _print(contest, found, sides)
    return found


def _print(contest: Contest, found: Found, sides: Sequence[Implementation]) -> None:
    shape = " x ".join(map(str, found.shape))
    print(f"\n{found.contest}: {shape} float32, {found.where}")
    for side in sides:
        typical = median(found.seconds[side.name])
        rate = contest.bytes_min(found.shape) / typical / 1e9
        print(f"  {side.name:14}{1e3 * typical:9.3f} ms {rate:8.1f} GB/s")
    if found.ratio is not None:
        print(f"  {sides[1].name} takes {found.ratio} of our time, {found.ratio.rounds} rounds")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.gpu", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small arrays, any adapter: a test")
    parser.add_argument("--json", metavar="FILE", help="write the figures to this file")
    return parser


if __name__ == "__main__":
    sys.exit(main())
