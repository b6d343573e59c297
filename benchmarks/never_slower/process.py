"""A process that measures programs one after the other; it is ended where one takes too long."""

from __future__ import annotations

import contextlib
import io
import logging
import multiprocessing
import resource
import signal
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection
from types import FrameType

import runmat_jit as runmat
from benchmarks.never_slower.measure import Measured, measure
from benchmarks.never_slower.sizes import sizes_of
from benchmarks.never_slower.variants import applies, variant_of
from runmat_jit.core.evidence import Evidence
from tests.parity.program import programs

LIMIT_S = 30.0
"""For one program in one variant, at all sizes."""
PATIENCE_S = 15.0
"""More, before a process that does not heed the limit is ended."""
ADDRESS_SPACE = 8 << 30


@dataclass(frozen=True, slots=True)
class Task:
    """A program in one variant, at the shipped size and others."""

    program: str
    variant: str
    asked: tuple[int, ...]
    shipped: bool

    def failed(self, why: str) -> Measured:
        return Measured(self.program, self.variant, None, 0, failed=why)


class OverdueError(BaseException):
    """The time is up."""


def run(tasks: list[Task]) -> Iterator[Measured]:
    """Measure in a process of their own, and in another where one is lost."""
    context = multiprocessing.get_context("spawn")
    left = list(tasks)
    while left:
        ours, theirs = context.Pipe()
        process = context.Process(target=serve, args=(theirs, left), daemon=True)
        process.start()
        theirs.close()
        yield from receive(ours, left)
        if process.is_alive():
            process.kill()
        process.join()


def receive(connection: Connection, left: list[Task]) -> Iterator[Measured]:
    """What a process finds; tasks that are done, or were its end, leave the list."""
    while left:
        try:
            found = connection.recv() if connection.poll(LIMIT_S + PATIENCE_S) else None
        except EOFError:
            found = None
        task = left.pop(0)
        if found is None:
            yield task.failed("the process was lost: out of time or memory")
            return
        yield from found


def serve(connection: Connection, tasks: list[Task]) -> None:
    """Measure and send, in order."""
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
    logging.getLogger("runmat_jit").setLevel(logging.ERROR)  # functions that step aside say so
    warnings.simplefilter("default")
    signal.signal(signal.SIGALRM, overdue)
    # The default policy, with every function recorded at its first call: plain calls cost nothing.
    runmat.config(compile="hot")
    Evidence.pays = True  # type: ignore[method-assign, assignment]  # a property
    for task in tasks:
        # Not by an own `showwarning`: warnings would run code, and events be computed otherwise.
        said = io.StringIO()
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            connection.send(list(found_of(task)))


def overdue(_number: int, _frame: FrameType | None) -> None:
    raise OverdueError


def found_of(task: Task) -> Iterator[Measured]:
    """What one program does at all sizes, as far as the time goes."""
    found = programs()[task.program]
    signal.setitimer(signal.ITIMER_REAL, LIMIT_S)
    try:
        if not applies(found, task.variant):
            return
        program = variant_of(found, task.variant)
        for size in sizes_of(program, list(task.asked)):
            if size.asked is not None or task.shipped:
                yield measure(program, task.variant, size)
    except OverdueError:
        yield task.failed(f"out of time ({LIMIT_S:.0f} s)")
    except Exception as error:  # noqa: BLE001  (whatever it is, the others are measured)
        yield task.failed(f"{type(error).__name__}: {error}"[:200])
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
