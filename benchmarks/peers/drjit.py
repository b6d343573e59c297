"""Dr.Jit's LLVM backend; the elementwise case only: it has no reduction over two of three axes."""

from __future__ import annotations

import drjit as dr
import numpy as np
from drjit.llvm import Float

from benchmarks.peers.peer import Implementation, PeerUnavailableError
from benchmarks.program import Arguments, Program


def elementwise(x):
    y0 = dr.sin(x) * dr.exp(-x / 10)
    y1 = y0 * dr.cos(x / 4) + 0.25 * dr.square(y0)
    return dr.tanh(y1) + 0.1 * y1


FUNCTIONS = {"six.elementwise": elementwise}


def prepare(inputs: Arguments) -> tuple[Float, ...]:
    arrays = tuple(map(Float, inputs))
    dr.eval(arrays)
    dr.sync_thread()
    return arrays


def implement(name: str, _program: Program) -> Implementation:
    if name not in FUNCTIONS:
        raise PeerUnavailableError(f"drjit: no version of {name}")
    frozen = dr.freeze(FUNCTIONS[name])

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
