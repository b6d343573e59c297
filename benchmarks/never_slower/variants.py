"""Variants of a program: its own data, or one in a hundred of their floats NaN or zero."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from benchmarks.never_slower.sizes import arrays_in
from tests.parity.program import Program

SHARE = 0.01
VARIANTS = {"plain": None, "nan": np.nan, "zeros": 0.0}


def variant_of(program: Program, name: str) -> Program:
    """The program on data of the variant."""
    value = VARIANTS[name]
    if value is None:
        return program

    def make(rng: np.random.Generator, shape: tuple[int, ...], dtype: np.dtype) -> Any:
        made = program.make(rng, shape, dtype)
        places = np.random.default_rng(shape)  # not the program's own, which it may be given
        for array in floats_in(made):
            count = max(1, round(SHARE * array.size))
            array.flat[places.integers(0, array.size, count)] = value
        return made

    return replace(program, make=make)


def floats_in(made: Any) -> list[np.ndarray]:
    """Arrays of floats that can be written."""
    return [
        array
        for array in arrays_in(made)
        if array.dtype.kind in "fc" and array.size > 1 and array.flags.writeable
    ]


def applies(program: Program, name: str) -> bool:
    """Whether the program's data have floats to replace."""
    shape, dtype = program.shapes[0], program.dtypes[0]
    return VARIANTS[name] is None or bool(floats_in(program.arguments(0, shape, dtype)))
