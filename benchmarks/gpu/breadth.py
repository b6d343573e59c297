"""`python -m benchmarks.gpu.breadth`: thirty programs on one GPU beside `torch.compile`.

Arrays lie on the device before and after; everything else is as users have it by default. The
answer is checked against NumPy first. A call is timed over many with one wait at the end, after the
device has been kept busy, in turns with the peer.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections.abc import Callable, Sequence
from statistics import median
from typing import Any

import numpy as np

import runmat_jit as runmat
from benchmarks.gpu.implementations import describe_device, is_software, torch_has_a_gpu
from benchmarks.gpu.programs import PROGRAMS, Program

SIZES = (1 << 20, 1 << 24, 1 << 27)
QUICK = (1 << 14,)
MEASURED_S = 0.05
ROUNDS = 5
CHECKED = 1 << 24
"""Elements of the arguments up to which NumPy computes the answer, too."""


class WrongAnswerError(Exception):
    """A program's result is not NumPy's."""


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.gpu.breadth", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small arrays, any adapter: a test")
    parser.add_argument("--only", metavar="TEXT", default="", help="programs with this in the name")
    options = parser.parse_args(arguments)
    if is_software() and not options.quick:
        print("the adapter is no GPU; use --quick for a smoke run", file=sys.stderr)
        return 1
    print(*(f"{name}: {value}" for name, value in describe_device().items()), sep="\n")
    for size in QUICK if options.quick else SIZES:
        print(f"\n{size} elements: microseconds of a call, torch.compile's as a multiple of ours")
        ratios = [compare(program, size) for program in PROGRAMS if options.only in program.name]
        known = [ratio for ratio in ratios if ratio is not None]
        if known:
            mean = math.exp(sum(map(math.log, known)) / len(known))
            print(f"geometric mean {mean:.2f}, the worst {min(known):.2f}")
    return 0


def compare(program: Program, size: int) -> float | None:
    """The peer's time as a multiple of ours; None where there is no peer.

    Raises:
        WrongAnswerError: our result is not NumPy's.

    """
    host = program.make(np.random.default_rng(0), size)
    fast = runmat.jit(program.numpy, device="gpu")
    ours = tuple(runmat.asarray(each, device="gpu") for each in host)
    for _ in range(3):
        result = fast(*ours)
    if sum(each.size for each in host) <= CHECKED:
        check(program, np.asarray(result), host)
    del result
    sides: list[tuple[Callable[[], Any], Callable[[], None]]] = [
        (lambda: fast(*ours), runmat.synchronize)
    ]
    if torch_has_a_gpu():
        import torch  # noqa: PLC0415  (may not be installed)

        theirs = tuple(torch.from_numpy(each).cuda() for each in host)
        compiled = torch.compile(program.torch(torch))
        for _ in range(3):
            compiled(*theirs)
        sides.append((lambda: compiled(*theirs), torch.cuda.synchronize))
    seconds: list[list[float]] = [[] for _ in sides]
    for _ in range(ROUNDS):
        for (run, wait), found in zip(sides, seconds, strict=True):
            found.append(timed(run, wait))
    ratio = None
    if len(sides) == 2:
        ratio = median(t / o for o, t in zip(*seconds, strict=True))
    where = {region["device"] for region in fast.explain(*ours).to_dict()["regions"]}
    beside = "" if where == {"gpu"} else f"  on {sorted(where)}"
    told = "" if ratio is None else f"{ratio:8.2f}"
    print(f"  {program.name:20}{1e6 * median(seconds[0]):10.1f}{told}{beside}", flush=True)
    return ratio


def check(program: Program, found: np.ndarray, host: tuple[np.ndarray, ...]) -> None:
    """Compare a result with NumPy's in float64."""
    wanted = program.numpy(*(each.astype(np.float64) for each in host))
    if found.dtype.kind == "i":
        right = np.array_equal(found, program.numpy(*host))
    else:
        scale = np.abs(wanted).max()
        right = bool(np.abs(found - wanted).max() <= program.rtol * max(scale, 1e-3))
    if not right or found.shape != wanted.shape:
        raise WrongAnswerError(f"{program.name}: the result is not NumPy's")


def timed(run: Callable[[], Any], wait: Callable[[], None]) -> float:
    """Seconds of a call, of as many as fill the time, when the device is warm."""
    begin = time.perf_counter()
    run()
    wait()
    once = time.perf_counter() - begin
    count = max(3, min(400, int(MEASURED_S / once)))
    for _ in range(count):
        run()
    wait()
    begin = time.perf_counter()
    for _ in range(count):
        run()
    wait()
    return (time.perf_counter() - begin) / count


if __name__ == "__main__":
    sys.exit(main())
