"""What the layers ask of one another where imports may not point."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np


class Program(Protocol):
    """A compiled graph."""

    def run(self, inputs: Sequence[Any], warn: frozenset[str]) -> list[np.ndarray]:
        """Run on one value for each graph input; give the fresh outputs in order.

        Writes into inputs are committed last. ``warn`` holds the floating-point events to warn of.

        Raises:
            EventsRaise: an event occurred while the warnings filters raise; nothing was written.

        """


class Template(Protocol):
    """A program for every shape that meets the conditions of a scope."""

    def numbers(self) -> list[int]:
        """What depends on the shape, as formulas."""

    def at(self, numbers: Sequence[int], symbols: Sequence[int]) -> Program:
        """The program for given values of the formulas and of the scope's symbols."""

    def describes(self, program: Program, numbers: Sequence[int]) -> bool:
        """Whether a program, compiled for one shape, is this one with these numbers."""


class Executor(Protocol):
    """Turns graphs into programs; implemented by the compiler, given to capture."""

    def compile(self, graph: Any) -> Program:
        """A program for a :class:`runmat_jit.graph.node.Graph`; equal structure compiles once."""

    def template(self, graph: Any, scope: Any) -> Template | None:
        """A program for every shape, of a graph whose extents are symbols of a scope."""

    def resident(self) -> Executor:
        """One whose programs take inputs where they are and leave results there."""

    def count(self, event: str, amount: int = 1) -> None:
        """Add to a telemetry counter."""


class EventsRaise(Exception):  # noqa: N818  (a signal between our own layers, never a user's)
    """NumPy would raise: the caller runs the program again, operation by operation."""
