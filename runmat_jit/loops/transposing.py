"""Copies between arrays whose elements lie side by side along different axes, by native code.

Some lines of one array are read side by side, so that what a cache line brings is used before it
goes: NumPy walks along the one array or the other.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from runmat_jit.core.types import KERNEL_ELEMENTS
from runmat_jit.kernel.build import Builder
from runmat_jit.kernel.ir import Kernel

_SCALARS: Final = ("lines", "length", "gap", "source_step", "made_step")
LINES: Final = 16
"""Lines that are read side by side."""


def transposing_kernel(element: str, *, gathers: bool) -> Kernel:
    """Copies ``lines`` times ``length`` elements, in lanes across the lines.

    ``gathers``: the copy has no gaps across the lines; else what is copied has none.
    """
    k = Builder()
    source = k.buffer("source", element)
    made = k.buffer("made", element, written=True)
    lines, length, gap, source_step, made_step = (k.scalar(name, "index") for name in _SCALARS)
    source_line, made_line = (gap, 1) if gathers else (1, gap)
    with k.grid(1):
        blocks = k.prim("sdiv", lines + (LINES - 1), LINES)
        with k.loop(0, blocks) as block:
            first = block.i * LINES
            last = first + LINES
            last = k.select(last < lines, last, lines)
            with k.loop(0, length) as step:
                here, there = step.i * source_step, step.i * made_step
                with k.lanes(first, last) as lanes:
                    at = here + lanes.i * source_line
                    value = k.load(source, at, source_line)
                    k.store(made, there + lanes.i * made_line, value, made_line)
                step.yield_()
            block.yield_()
    return k.finish()


class Transposing:
    """Copies; ``compile_`` gives native code of a kernel."""

    def __init__(self, compile_: Callable[[Kernel], Any]) -> None:
        self.compile = compile_
        self.addresses: dict[tuple[str, bool], int] = {}

    def step(self, source: np.ndarray, made: np.ndarray, axis: int) -> tuple[int, array[int]]:
        """The kernel and the argument block of a copy of an array with two axes.

        One of the arrays has no gaps along the axis of the lanes.
        """
        gathers = made.strides[axis] == made.itemsize
        key = KERNEL_ELEMENTS[source.dtype], gathers
        if key not in self.addresses:
            self.addresses[key] = self.compile(transposing_kernel(key[0], gathers=gathers)).address
        return self.addresses[key], block_of(source, made, axis, gathers=gathers)


def block_of(source: np.ndarray, made: np.ndarray, axis: int, *, gathers: bool) -> array[int]:
    """The argument block of one copy."""
    gap = (source if gathers else made).strides[axis]
    steps = [
        each // source.itemsize for each in (gap, source.strides[1 - axis], made.strides[1 - axis])
    ]
    extents = source.shape[axis], source.shape[1 - axis]
    words = array("q", [address_of(source), address_of(made), *extents, *steps, 0, 0])
    words[-2] = words.buffer_info()[0] + 8 * (len(words) - 1)  # the event word
    return words


def address_of(x: np.ndarray) -> int:
    """Where the first element lies."""
    found: int = x.__array_interface__["data"][0]
    return found
