"""Dr.Jit's LLVM backend; the elementwise case only: it has no reduction over two of three axes."""

from __future__ import annotations

import drjit as dr
import numpy as np
from drjit.llvm import Float

from benchmarks.cases.case import Arrays, Case
from benchmarks.peers.peer import Implementation, select


def elementwise(x):
    y0 = dr.sin(x) * dr.exp(-x / 10)
    y1 = y0 * dr.cos(x / 4) + 0.25 * dr.square(y0)
    return dr.tanh(y1) + 0.1 * y1


FUNCTIONS = {"elementwise": elementwise}


def prepare(inputs: Arrays) -> tuple[Float, ...]:
    arrays = tuple(map(Float, inputs))
    dr.eval(arrays)
    dr.sync_thread()
    return arrays


def implement(case: Case) -> Implementation:
    frozen = dr.freeze(select("drjit", FUNCTIONS, case.name))

    def run(*inputs):
        result = frozen(*inputs)
        dr.eval(result)
        dr.sync_thread()
        return result

    return Implementation(
        peer="drjit",
        versions={"drjit": dr.__version__},
        threads=dr.thread_count(),
        run=run,
        prepare=prepare,
        to_numpy=np.array,
        note="frozen function, Dr.Jit arrays in and out",
    )
