"""Measures one program at one size by several peers: parity first, then interleaved rounds."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext, suppress
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.peers.peer import PeerUnavailableError
from benchmarks.program import Parity
from benchmarks.programs import programs
from benchmarks.regret import process, small
from benchmarks.worker import Description, Worker, WorkerError

CACHES = ("RUNMAT_CACHE_DIR", "TORCHINDUCTOR_CACHE_DIR", "NUMBA_CACHE_DIR")
PLAIN_SECONDS = 2.0
"""A peer whose call takes longer at a size is measured by one call a round."""


class ParityError(Exception):
    """An implementation's answer is wrong, so its time means nothing."""


@dataclass(frozen=True, slots=True)
class Pace:
    """Number of rounds, seconds of calls in each, and seconds of pause between two peers.

    Spinning threads of the peer before fall asleep in a pause.
    """

    rounds: int = 9
    seconds: float = 0.1
    pause: float = 0.05
    first_calls: bool = True
    """Measure first calls, with an empty cache and with a filled one: two processes each."""


@dataclass(slots=True)
class Figures:
    """All that was measured of one peer: seconds of a call in each round, and what else counts."""

    description: Description
    parity: Parity
    seconds: list[float] = field(default_factory=list)
    calls: int = 1
    first_cold: float | None = None
    first_cached: float | None = None
    peak_bytes: int = 0
    counts: dict[str, float] = field(default_factory=dict)


@dataclass(slots=True)
class Measurement:
    """One program at one size: figures by peer, and why others are missing."""

    name: str
    size: int
    figures: dict[str, Figures] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)


class KeptWorkers:
    """Processes that go from one program to the next, where starting takes longer than measuring.

    First calls cannot be measured in them.
    """

    def __init__(self) -> None:
        self._workers: dict[str, Worker] = {}

    def start(self, peer: str, name: str, size: int) -> AbstractContextManager[Worker]:
        """Return the peer's process, which has gone over to a program."""
        worker = self._workers.get(peer)
        if worker is None or not worker.is_alive:
            self._workers[peer] = worker = start(peer, name, size)
        else:
            worker.take(name, size)
        return nullcontext(worker)

    def close(self) -> None:
        """End all processes."""
        for worker in self._workers.values():
            worker.close()
        self._workers.clear()


def start(peer: str, name: str, size: int) -> Worker:
    """Start a process for a program."""
    return Worker(peer, name, size, {"RUNMAT_COMPILE": "first"})


def measure(
    name: str,
    size: int,
    peers: Sequence[str],
    pace: Pace,
    *,
    progress: Callable[[str], None] = lambda _: None,
    start: Callable[[str, str, int], AbstractContextManager[Worker]] = start,
) -> Measurement:
    """Check, then measure; peers that are missing are reported and left out.

    Raises:
        ParityError: an answer is wrong: nothing is timed.

    """
    found, program = Measurement(name, size), programs()[name]
    with ExitStack() as stack:
        workers = []
        for peer in peers:
            progress(f"{name}: {peer} starts")
            try:
                worker = stack.enter_context(start(peer, name, size))
                parity = worker.call("parity", size=program.small)
            except PeerUnavailableError as error:
                found.missing[peer] = str(error)
                continue
            except WorkerError as error:
                found.missing[peer] = error.reason
                continue
            if not parity.ok:
                raise ParityError(f"{peer} gives a wrong answer for {name}: {parity.detail}")
            workers.append(worker)
            found.figures[peer] = Figures(worker.call("describe"), parity)
        for worker in list(workers):
            progress(f"{name}: {worker.peer} warms up")
            try:
                typical = worker.call("typical")
            except WorkerError as error:
                found.missing[worker.peer] = error.reason
                del found.figures[worker.peer]
                workers.remove(worker)
                continue
            calls = 1 if typical > PLAIN_SECONDS else round(pace.seconds / typical)
            found.figures[worker.peer].calls = max(1, min(20_000, calls))
        for number in range(pace.rounds):
            progress(f"{name}: round {number + 1} of {pace.rounds}")
            for worker in workers:
                time.sleep(pace.pause)
                figures = found.figures[worker.peer]
                figures.seconds.append(worker.call("timed", calls=figures.calls))
        for worker in workers:
            found.figures[worker.peer].counts = worker.call("counts")
            found.figures[worker.peer].peak_bytes = worker.call("peak_bytes")
    if pace.first_calls:
        for peer, figures in found.figures.items():
            progress(f"{name}: first call of {peer}")
            with suppress(WorkerError):
                figures.first_cold, figures.first_cached = first_calls(name, peer, size)
    return found


def first_calls(name: str, peer: str, size: int) -> tuple[float, float]:
    """Return the seconds of the first call, with an empty cache, and with what that one left."""
    with TemporaryDirectory(prefix="runmat-bench-") as directory:
        environment = {each: str(Path(directory, each.lower())) for each in CACHES}
        environment["RUNMAT_COMPILE"] = "first"
        found = []
        for _ in range(2):
            with Worker(peer, name, size, environment) as worker:
                found.append(worker.call("first"))
    return found[0], found[1]


def regret(name: str, calls: int) -> tuple[list[float], list[float]]:
    """Return the seconds of the first calls, decorated and plain, from an empty cache.

    Functions are compiled when that pays, as by default. ``regret.NAME`` is a whole program of
    ``benchmarks/regret/programs``, ``regret.small:NAME`` a function of ``benchmarks/regret/small``;
    others run at their small size.
    """
    with TemporaryDirectory(prefix="runmat-bench-") as directory:
        group, _, whole = name.partition(".")
        if group == "regret":
            found = process.measure(whole, calls, directory, loaded=whole.startswith("small:"))
            if not found.same:
                raise ParityError(f"{name}: decorated and plain calls differ")
            return found.ours, found.plain
        environment = {"RUNMAT_COMPILE": "hot", "RUNMAT_CACHE_DIR": directory}
        with Worker("runmat", name, programs()[name].small, environment) as worker:
            return worker.call("alternate", calls=calls)


def whole_programs() -> list[str]:
    """Return the names of the whole programs, all of whose functions are decorated."""
    found = sorted(path.stem for path in process.PROGRAMS.glob("*.py"))
    return [f"regret.{name}" for name in found if name != "__init__"]


def small_functions() -> list[str]:
    """Return the names of the small functions, each at its sizes."""
    return [f"regret.small:{name}" for name in small.names()]


WHOLE: dict[str, Callable[[], list[str]]] = {
    "regret": whole_programs,
    "regret_small": small_functions,
}
"""Groups of which first calls alone are measured."""
