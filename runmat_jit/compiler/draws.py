"""Draws of random numbers as programs of one kernel: key and position are given by value."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from typing import NamedTuple

import numpy as np

from runmat_jit.compiler.compile_graph import CompiledGraph
from runmat_jit.compiler.compiler import Compiler
from runmat_jit.core.types import TensorType
from runmat_jit.graph.node import Fresh, Graph, GraphBuilder, Node, Output
from runmat_jit.ops.random import ELEMENTS_PER_BLOCK
from runmat_jit.ops.table import ROWS
from runmat_jit.runtime.session import Session

SMALL = 4096
"""Draws up to here share the program of the next power of two: a new size costs nothing."""
PROGRAM_LIMIT = 256
"""Programs kept by draw; the compiler keeps them by their graphs as well."""
_INT64 = np.dtype(np.int64)


class Draw(NamedTuple):
    """Numbers of a row, a dtype and a shape: all that the program of a draw depends on.

    ``random_bounded`` stands for whole numbers: the row of random bits, bounded by ``last``, plus
    ``first``. Elements count in C order.
    """

    row: str
    dtype: str
    shape: tuple[int, ...]

    @property
    def size(self) -> int:
        """Number of scalars."""
        return math.prod(self.shape)

    @property
    def blocks(self) -> int:
        """Number of blocks of the stream the elements own words of."""
        return -(-self.size // self._per_block)

    @property
    def owned(self) -> int:
        """Number of random numbers that those blocks have."""
        return self.blocks * self._per_block

    @property
    def _per_block(self) -> int:
        size = 8 if self.row == "random_bounded" else np.dtype(self.dtype).itemsize
        return ELEMENTS_PER_BLOCK[size]

    def of_size(self, size: int) -> Draw:
        """As many numbers of this kind, one after another."""
        return self._replace(shape=(size,))

    @property
    def padded(self) -> Draw:
        """A draw, one of few, that begins with the numbers of this one."""
        if not 0 < self.size <= SMALL:
            return self
        return self._replace(shape=(1 << (self.size - 1).bit_length(),))

    def graph(self) -> Graph:
        """Inputs: key, block number and, for whole numbers, ``last`` and ``first``."""
        builder = GraphBuilder()

        def given() -> Node:
            return builder.input(ROWS["input"], TensorType(_INT64, ()), None, None)

        def make(name: str, kind: str, *args: Node, **params: Hashable) -> Node:
            type_ = TensorType(np.dtype(kind), self.shape)
            return builder.make(ROWS[name], args, params, type_)

        key, counter = given(), given()
        index_dtype = "int32" if self.size < 1 << 31 else "int64"
        flat = TensorType(np.dtype(index_dtype), (self.size,))
        index = builder.make(ROWS["iota"], (), {"start": 0, "step": 1}, flat)
        if self.shape != flat.shape:
            index = make("reshape", index_dtype, index, shape=self.shape)
        stream = index, key, counter
        if self.row == "random_bounded":
            bounded = make(
                "random_bounded", "int64", make("random_bits", "int64", *stream), given()
            )
            value = make("add", "int64", bounded, given())
            if self.dtype != "int64":
                value = make("cast", self.dtype, value, dtype=self.dtype)
        else:
            value = make(self.row, self.dtype, *stream, dtype=self.dtype)
        return builder.finish([Output(value, Fresh(tuple(range(len(self.shape)))))])


class DrawPrograms:
    """The programs of draws of one session."""

    def __init__(self, session: Session) -> None:
        self._compiler = session.service(Compiler, Compiler)
        self._programs: dict[Draw, CompiledGraph] = {}

    def run(self, draw: Draw, scalars: Sequence[int]) -> np.ndarray:
        """The numbers, in new memory; scalars are taken modulo 2**64."""
        program = self._program(draw.padded)
        operands = [np.array(scalar % (1 << 64), np.uint64).view(_INT64) for scalar in scalars]
        (values,) = program.run(operands, frozenset())
        if values.shape == draw.shape:
            return values
        result = np.empty(draw.shape, values.dtype)
        result.reshape(-1)[:] = values[: draw.size]
        return result

    def _program(self, draw: Draw) -> CompiledGraph:
        found = self._programs.get(draw)
        if found is None:
            found = self._compiler.compile(draw.graph())
            if len(self._programs) >= PROGRAM_LIMIT:
                self._programs.clear()
            self._programs[draw] = found
        return found
