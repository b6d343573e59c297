"""A process that holds one implementation of one program and measures it on request.

Processes are separate because thread pools, allocators and compilers of different implementations
would disturb each other in one; a waiting worker sleeps in `recv` and costs nothing.
"""

from __future__ import annotations

import gc
import multiprocessing
import os
import re
import resource
import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from time import perf_counter
from typing import Any, Self

from benchmarks.peers import load
from benchmarks.peers.peer import Implementation, PeerUnavailableError, copies
from benchmarks.program import Arguments, Parity, Program, check
from benchmarks.programs import programs

MOST_BYTES = 1 << 28
"""Bytes of the arguments of one round at most."""
BUSY = 0.3
"""Seconds that a device is kept busy before it is measured, at least: it may be slow at first."""
PATIENCE = 100
"""Seconds that a peer may take, to compile first of all."""
COUNTERS = ("kernel_launches", "loops_run", "bytes_moved", "kernels_compiled", "programs_built")


class WorkerError(Exception):
    """The measured process failed; the message holds its traceback."""

    @property
    def reason(self) -> str:
        """Return the line that names the error, without colors."""
        lines = [re.sub(r"\x1b\[[0-9;]*m", "", line).strip() for line in str(self).splitlines()]
        named = [line for line in lines if re.match(r"[\w.]+(Error|Exception|Interrupt)\b", line)]
        return (named or [line for line in lines if line] or [""])[-1]


@dataclass(frozen=True, slots=True)
class Description:
    """Versions, threads and a note of one peer, for reports."""

    versions: dict[str, str]
    threads: int
    note: str


@dataclass(slots=True)
class Measured:
    """The state of the measured process: a program and the arguments of two kinds of calls.

    Calls alternate between both, so an implementation that remembers results is caught.
    """

    program: Program
    implementation: Implementation
    size: int
    arguments: tuple[Arguments, Arguments] = field(init=False)
    on_device: list[Arguments] = field(default_factory=list)
    """Both, where calls take them from a device."""

    def __post_init__(self) -> None:
        self.arguments = (
            self.program.arguments(self.size, 0),
            self.program.arguments(self.size, 1),
        )

    def describe(self) -> Description:
        built = self.implementation
        return Description(built.versions, built.threads, built.note)

    def parity(self, size: int | None = None) -> Parity:
        """Return the worse of two inputs, each checked twice in alternation: stale results show."""
        arguments = self.arguments
        if size is not None and size != self.size:
            arguments = self.program.arguments(size, 0), self.program.arguments(size, 1)
        found = [self._parity_of(arguments[step]) for step in (0, 1, 0, 1)]
        return max(found, key=lambda parity: (not parity.ok, parity.worst, parity.metric))

    def first(self) -> float:
        """Return the seconds of the first call."""
        return self._seconds(1)

    def timed(self, calls: int) -> float:
        """Return the mean seconds of some calls; each result is freed before the next call.

        The arguments are made before, as far as they fit. A device is kept busy before.
        """
        if self.implementation.resident:
            begin, before = perf_counter(), float("inf")
            while (now := self._seconds(calls)) < 0.97 * before or perf_counter() - begin < BUSY:
                before = now
        return self._seconds(calls)

    def _seconds(self, calls: int) -> float:
        built = self.implementation
        batch = max(1, min(calls, MOST_BYTES // max(1, _nbytes(self.arguments[0]))))
        if built.resident:
            batch = calls
            self.on_device = self.on_device or [built.prepare(each) for each in self.arguments]
        total, left = 0.0, calls
        while left > 0:
            number = min(batch, left)
            if built.resident:
                prepared = [self.on_device[n % 2] for n in range(number)]
            else:
                prepared = [built.prepare(self.arguments[n % 2]) for n in range(number)]
            left -= number
            run = built.run
            gc.collect()
            gc.disable()
            start = perf_counter()
            for arguments in prepared:
                run(*arguments)
            built.wait()
            total += perf_counter() - start
            gc.enable()
        return total / calls

    def alternate(self, calls: int) -> tuple[list[float], list[float]]:
        """Return the seconds of the first calls, and of as many plain ones, in alternation."""
        ours, plain = list[float](), list[float]()
        sides = (self.implementation.run, ours), (self.program.fn, plain)
        for number in range(calls):
            for run, seconds in sides if number % 2 else sides[::-1]:
                arguments = copies(self.arguments[number % 2])
                start = perf_counter()
                run(*arguments)
                seconds.append(perf_counter() - start)
        return ours, plain

    def typical(self) -> float:
        """Return the seconds of a warm call, to choose how many a round holds."""
        self.timed(2)
        return min(self.timed(1) for _ in range(3))

    def counts(self) -> dict[str, float]:
        """Return what one warm call does, as far as the peer counts it."""
        if "runmat_jit" not in self.implementation.versions:
            return {}
        import runmat_jit as runmat  # noqa: PLC0415  (peers do not load it)

        before = runmat.telemetry.snapshot()
        self._seconds(2)
        after = runmat.telemetry.snapshot()
        found = {name: (after[name] - before[name]) / 2 for name in COUNTERS[:3]}
        return found | {name: after[name] for name in COUNTERS[3:]}

    def peak_bytes(self) -> int:
        """Return the most memory that the process has had so far."""
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024

    def _parity_of(self, arguments: Arguments) -> Parity:
        built = self.implementation
        result = built.to_numpy(built.run(*built.prepare(arguments)))
        return check(self.program, arguments, result, squeezes=built.squeezes)


def _nbytes(arguments: Arguments) -> int:
    return sum(getattr(each, "nbytes", 1000) for each in arguments)


class Worker:
    """The parent's end: each method call runs in the process and returns its result."""

    def __init__(
        self, peer: str, name: str, size: int, environment: dict[str, str] | None = None
    ) -> None:
        context = multiprocessing.get_context("spawn")
        self.peer = peer
        self._connection, theirs = context.Pipe()
        arguments = (theirs, peer, name, size, environment or {})
        self._process = context.Process(target=serve, args=arguments, daemon=True)
        self._process.start()
        theirs.close()
        self._receive()

    @property
    def is_alive(self) -> bool:
        return self._process.is_alive()

    def take(self, name: str, size: int) -> None:
        """Go over to another program or size.

        Raises:
            PeerUnavailableError: the peer does not have the program.

        """
        self._connection.send(("take", {"name": name, "size": size}))
        self._receive()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the process."""
        self._connection.close()
        self._process.join()

    def call(self, method: str, **arguments: Any) -> Any:
        """Return what a method of the process's :class:`Measured` returns.

        Raises:
            WorkerError: the process has failed, or needs more than :data:`PATIENCE`.
            PeerUnavailableError: the peer does not have the program.

        """
        self._connection.send((method, arguments))
        return self._receive()

    def _receive(self) -> Any:
        if not self._connection.poll(PATIENCE):
            self._process.kill()
            raise WorkerError(f"{self.peer}: not done after {PATIENCE} seconds")
        try:
            failure, value = self._connection.recv()
        except EOFError as error:
            self._process.join()
            raise WorkerError(
                f"{self.peer}: the process ended with exit code {self._process.exitcode}"
            ) from error
        if failure is not None:
            raise failure
        return value


def serve(
    connection: Connection, peer: str, name: str, size: int, environment: dict[str, str]
) -> None:
    """Answer requests until the parent closes its end."""
    os.environ.update(environment)
    sys.dont_write_bytecode = False  # as installed packages are: their bytecode exists
    measured: list[Measured] = []

    def take(name: str, size: int) -> None:
        measured.clear()  # its arrays first
        measured.append(Measured(programs()[name], load(peer, name), size))

    connection.send(_answer(take, name=name, size=size))
    while True:
        try:
            method, arguments = connection.recv()
        except EOFError:
            return
        action = take if method == "take" else getattr(measured[0], method)
        connection.send(_answer(action, **arguments))


def _answer(action: Callable[..., Any], **arguments: Any) -> tuple[Exception | None, Any]:
    try:
        return None, action(**arguments)
    except PeerUnavailableError as error:
        return error, None
    except Exception:  # noqa: BLE001 - whatever failed there has to be told here
        return WorkerError(traceback.format_exc()), None
