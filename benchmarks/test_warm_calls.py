"""Is a warm decorated call ever slower than plain Python? Every parity program, at two sizes.

Oracle: the undecorated program, compared before anything is timed. No two calls get the same data,
so what a decorated function remembers of data is of no use to it. ``bench report`` ranks the
results: the least speed-up is the answer. About an hour for all of them; ``-k`` chooses.
"""

from __future__ import annotations

import contextlib
import itertools
import warnings

import numpy as np
import pytest

import runmat_jit as runmat
from benchmarks.sizes import sizes_of
from tests.parity.parity import compare_calls, fresh_arguments
from tests.parity.program import programs

WARM_CALLS, ROUNDS = 24, 32
ALL = {name: program for name, program in programs().items() if not program.differs}


@pytest.mark.parametrize("wanted", ["shipped", "larger"])
@pytest.mark.parametrize("program", ALL)
def test_warm_calls(program, wanted, side, benchmark):
    parity = ALL[program]
    size = sizes_of(parity, [10_000] if wanted == "larger" else [])[-1]
    if wanted == "larger" and size.asked is None:
        pytest.skip("its data do not grow, or plain Python takes too long")
    decorated = runmat.jit(parity.fn)
    for seed in (0, 1):
        compare_calls(parity, decorated, size.configuration, seed)
    seeds = itertools.count(2)

    def fresh():
        np.random.seed(12345)  # noqa: NPY002  (programs draw from the global generator)
        return fresh_arguments(parity, size.configuration, next(seeds))

    def call(*args, **kwargs):
        with contextlib.suppress(Exception):  # programs raise by design: parity has been checked
            (decorated if side == "runmat" else parity.fn)(*args, **kwargs)

    with warnings.catch_warnings(action="ignore"):
        benchmark.pedantic(call, setup=fresh, rounds=ROUNDS, warmup_rounds=WARM_CALLS)
    benchmark.group = f"{program} [{size.elements}]"
    benchmark.extra_info.update(
        program=program, size=size.elements, peer=side, rounds=list(benchmark.stats.stats.data)
    )
