"""Shapes at which a program has about so many elements, found by making it larger step by step.

A program says at which shapes its data can be made; what it makes of them may grow faster (a matrix
of a length), its work faster still (all pairs). So nothing is computed: shapes grow until the
largest array is as large as asked for, or a call of plain Python takes too long, or fails.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from time import perf_counter

import numpy as np

from tests.parity.parity import Configuration, fresh_arguments
from tests.parity.program import Program

CALL_S = 0.1
"""What a call of plain Python, and making its arguments, may take at the largest size."""
STEP = 4.0
"""By how much the elements of a shape grow at most before a call is tried again."""
ENOUGH = 0.5
"""Of the elements asked for."""
WORTH = 4.0
"""As many times the elements of the size before make a size of its own."""


@dataclass(frozen=True, slots=True)
class Size:
    """A size of a program: what was asked for (None: the largest that it ships with)."""

    asked: int | None
    configuration: Configuration
    elements: int
    """Of the largest array among the arguments."""


def sizes_of(program: Program, asked: list[int]) -> list[Size]:
    """The shipped size, and for each number of elements the nearest that makes sense."""
    shapes = [(shape, elements_at(program, shape)) for shape in program.shapes]
    shape, elements = max(shapes, key=lambda each: each[1])
    found = [Size(None, configured(program, shape), elements)]
    grown = list(growing(program, shape, elements, max(asked, default=0)))
    for wanted in sorted(asked) if grown else ():
        shape, elements = min(grown, key=lambda each: abs(math.log(each[1] / wanted)))
        if elements >= WORTH * found[-1].elements:
            found.append(Size(wanted, configured(program, shape), elements))
    return found


def configured(program: Program, shape: tuple[int, ...]) -> Configuration:
    return Configuration(shape, program.dtypes[0])


def growing(
    program: Program, shape: tuple[int, ...], elements: int, largest: int
) -> Iterator[tuple[tuple[int, ...], int]]:
    """Larger and larger shapes, at each of which a call of plain Python is quick enough."""
    exponent, factor = 1.0, 1.0
    while elements < ENOUGH * largest and 0 not in shape and shape:
        step = min(STEP, (largest / elements) ** (1 / exponent))
        if largest > 1e4 > elements > 0:  # there is a size on the way
            step = min(step, max(1.5, (1e4 / elements) ** (1 / exponent)))
        factor *= step
        larger = tuple([max(n, round(n * factor ** (1 / len(shape)))) for n in shape])
        try:
            reached = elements_at(program, larger)
            seconds = seconds_at(program, larger)
        except (Exception, MemoryError):  # noqa: BLE001  (not made for such a shape)
            return
        if seconds > CALL_S or reached <= elements:
            return
        yield larger, reached
        exponent = max(0.5, math.log(reached / elements) / math.log(step))
        elements = reached


def seconds_at(program: Program, shape: tuple[int, ...]) -> float:
    """The time to make arguments and call the plain function, whatever it raises by design."""
    start = perf_counter()
    args, kwargs = fresh_arguments(program, configured(program, shape), 0)
    program.fn(*args, **kwargs)
    return perf_counter() - start


def elements_at(program: Program, shape: tuple[int, ...]) -> int:
    """Elements of the largest array among the arguments; of the shape where there is none."""
    args, kwargs = fresh_arguments(program, configured(program, shape), 0)
    sizes = [array.size for array in arrays_in((args, kwargs))]
    return max(sizes) if sizes else math.prod(shape)


def arrays_in(value: object) -> Iterator[np.ndarray]:
    """The arrays of containers, at every depth."""
    if isinstance(value, np.ndarray):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from arrays_in(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from arrays_in(item)
