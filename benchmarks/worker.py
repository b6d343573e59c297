"""A process that holds one implementation of one case and measures it when told to.

Processes are separate because thread pools, allocators and compilers of different implementations
would disturb each other in one; a waiting worker sleeps in `recv` and costs nothing.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from statistics import median
from typing import Any, Self

from benchmarks.cases import CASES
from benchmarks.cases.case import Case, Parity, Shape
from benchmarks.peers import load
from benchmarks.peers.peer import Implementation, PeerUnavailableError
from benchmarks.timing import Inputs, time_dropped, time_first, time_kept, time_small


class WorkerError(Exception):
    """The measured process failed; the message holds its traceback."""


@dataclass(frozen=True, slots=True)
class Description:
    versions: dict[str, str]
    threads: int
    note: str


@dataclass(slots=True)
class Measured:
    """The state of the measured process: inputs made once, and results that must stay alive."""

    case: Case
    implementation: Implementation
    shape: Shape
    inputs: Inputs = field(init=False)
    kept: list[Any] = field(default_factory=list)

    def __post_init__(self) -> None:
        prepare, make = self.implementation.prepare, self.case.make_inputs
        self.inputs = (prepare(make(self.shape, 0)), prepare(make(self.shape, 1)))

    def describe(self) -> Description:
        built = self.implementation
        return Description(built.versions, built.threads, built.note)

    def parity(self) -> Parity:
        """The worse of both inputs, each checked twice in alternation: stale results show."""
        found = [self._parity_of(step) for step in (0, 1, 0, 1)]
        return max(found, key=lambda parity: (not parity.ok, parity.worst, parity.metric))

    def warm_up(self, calls: int) -> float:
        """Median seconds of the calls, to choose how many a round holds."""
        self.dropped(calls=calls)
        return self.dropped(calls=calls)

    def dropped(self, calls: int) -> float:
        return time_dropped(self.implementation.run, self.inputs, calls)

    def keep(self, calls: int) -> float:
        return time_kept(self.implementation.run, self.inputs, calls, self.kept)

    def small(self, calls: int) -> float:
        batches = [time_small(self.implementation.run, self.inputs, calls // 5) for _ in range(5)]
        return median(batches)

    def first(self) -> float:
        return time_first(self.implementation.run, self.inputs, self.implementation.has_compiled)

    def _parity_of(self, step: int) -> Parity:
        result = self.implementation.to_numpy(self.implementation.run(*self.inputs[step]))
        return self.case.check(self.case.make_inputs(self.shape, step), result)


class Worker:
    """The parent's end: each method call runs in the process and returns its result."""

    def __init__(
        self, peer: str, case: str, shape: Shape, environment: dict[str, str] | None = None
    ) -> None:
        context = multiprocessing.get_context("spawn")
        self.peer = peer
        self._connection, theirs = context.Pipe()
        arguments = (theirs, peer, case, shape, environment or {})
        self._process = context.Process(target=serve, args=arguments, daemon=True)
        self._process.start()
        theirs.close()
        self._receive()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()
        self._process.join()

    def call(self, method: str, **arguments: Any) -> Any:
        self._connection.send((method, arguments))
        return self._receive()

    def _receive(self) -> Any:
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
    connection: Connection, peer: str, case: str, shape: Shape, environment: dict[str, str]
) -> None:
    """Answer requests until the parent closes its end."""
    os.environ.update(environment)
    sys.dont_write_bytecode = False  # as installed packages are: their bytecode exists
    measured: list[Measured] = []

    def start() -> None:
        measured.append(Measured(CASES[case], load(peer, CASES[case]), shape))

    connection.send(_answer(start))
    while measured:
        try:
            method, arguments = connection.recv()
        except EOFError:
            return
        connection.send(_answer(getattr(measured[0], method), **arguments))


def _answer(action: Callable[..., Any], **arguments: Any) -> tuple[Exception | None, Any]:
    try:
        return None, action(**arguments)
    except PeerUnavailableError as error:
        return error, None
    except Exception:  # noqa: BLE001 - whatever failed there has to be told here
        return WorkerError(traceback.format_exc()), None
