"""What the layers ask of one another where imports may not point."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

from runmat_jit.core.gates import Gates


class Program(Protocol):
    """A compiled graph."""

    def run(self, inputs: Sequence[Any], warn: frozenset[str]) -> list[np.ndarray]:
        """Run on one value for each graph input; give the fresh outputs in order.

        Writes into inputs are committed last. ``warn`` holds the floating-point events to warn of.

        Raises:
            EventsRaise: an event occurred while the warnings filters raise; nothing was written.

        """


class Template(Protocol):
    """The programs of a graph of extents, for all that meet the conditions of a scope."""

    def run(
        self, extents: tuple[int, ...], inputs: Sequence[Any], warn: frozenset[str]
    ) -> list[np.ndarray]:
        """Run the program for these values of the scope's symbols, as :meth:`Program.run` does."""

    def at(self, extents: tuple[int, ...]) -> Program:
        """The program that was, or would be, compiled for these values alone."""

    def shaped(self, extents: tuple[int, ...]) -> Any:
        """The program that runs for these values, if it is one for others, too; for gates."""

    def prepare(self, extents: tuple[int, ...]) -> Program:
        """The same, and learn from it for other values."""

    def describes(self, program: Program, extents: tuple[int, ...]) -> bool:
        """True if a program, of a graph that was recorded with these values, is of this one."""


Get = Callable[[list[Any]], Any]
"""Finds a value that is read from outside, by what a call's slots hold."""


class Boundary(Protocol):
    """Boundary of a call with arrays of the package's own: ndarrays stand for them inside."""

    home: str
    """The device of its arrays: where results stay."""
    given: tuple[tuple[Any, ...], dict[str, Any]] | None
    """The arguments of the call as its caller gave them, for gates; None where there are none."""

    @property
    def has_arrays(self) -> bool:
        """True if any array was lent."""

    def lower(self, value: Any, depth: int = 0) -> Any:
        """An argument as the call sees it."""

    def lift(self, value: Any, depth: int = 0) -> Any:
        """A value as the caller sees it."""

    def read(self, array: Any, get: Get) -> tuple[np.ndarray, Get]:
        """Stand-in for an array that was read from outside, and how a replay gets it."""

    def lend_any(self, value: Any) -> Any:
        """Stand-in for a value that was read from outside."""

    def settle(self, *, writes: bool) -> None:
        """Bring all contents to the host; from now on they count, if the call may write them."""

    def show(self, value: Any) -> None:
        """Code is to see this value."""

    def distrust(self) -> None:
        """Unknown code may have written to what it saw."""

    def refresh(self) -> None:
        """Memory that unknown code may hold is brought up to date."""

    def know(self, value: Any, depth: int = 0) -> None:
        """NumPy's arrays among the arguments stay what they are in the result."""

    def close(self) -> None:
        """What outside code can see is brought up to date."""

    def finish(self, result: Any) -> Any:
        """Result for the caller, after ``close``."""


class Executor(Protocol):
    """Iterations graphs into programs; implemented by the compiler, given to capture."""

    def compile(self, graph: Any) -> Program:
        """A program for a :class:`runmat_jit.graph.node.Graph`; equal structure compiles once."""

    def template(self, graph: Any, scope: Any) -> Template | None:
        """Programs for every shape, of a graph whose extents are symbols of a scope."""

    @property
    def takes_products(self) -> bool:
        """True if graphs may have products of floats: kernels compute all of them."""

    @property
    def on_gpu(self) -> bool:
        """True if it is a GPU: kernels have turns as loops there, and are bound to memory."""

    @property
    def makes_draws(self) -> bool:
        """True if kernels are to make random numbers: what the host makes has to be copied."""

    @property
    def takes_host_calls(self) -> bool:
        """True if graphs for it may hold host calls; where not, programs end before each.

        A graph with host calls that is compiled nevertheless gives the same results, on the CPU.
        """

    @property
    def place(self) -> Any:
        """Where its programs run, and take their inputs from: equal for equal programs."""

    def resident(self, home: str) -> Executor:
        """One whose programs take inputs where they are (``home``), and leave results there."""

    def count(self, event: str, amount: int = 1) -> None:
        """Add to a telemetry counter."""

    def loops(self) -> Any:
        """The :class:`runmat_jit.loops.sites.Loops` of its session; None where there are none."""

    def gates(self) -> Gates | None:
        """What makes gates for its programs; None where there are none."""


class EventsRaise(Exception):  # noqa: N818  (a signal between our own layers, never a user's)
    """NumPy would raise: the caller runs the program again, operation by operation."""
