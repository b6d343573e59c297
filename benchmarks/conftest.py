"""Fixtures of the pytest-benchmark tests: every peer that is installed, its answer checked."""

from __future__ import annotations

from itertools import cycle

import pytest

from benchmarks.peers import NAMES, load
from benchmarks.peers.peer import PeerUnavailableError


@pytest.fixture(params=NAMES)
def measure(request, benchmark):
    """A function that checks one case at one shape and then times it under this peer."""

    def check_then_time(case, shape):
        try:
            implementation = load(request.param, case)
        except PeerUnavailableError as error:
            pytest.skip(str(error))
        inputs = [case.make_inputs(shape, step) for step in (0, 1)]
        prepared = [implementation.prepare(arrays) for arrays in inputs]
        for arrays, arguments in zip(inputs, prepared, strict=True):
            parity = case.check(arrays, implementation.to_numpy(implementation.run(*arguments)))
            assert parity.ok, parity
        alternating = cycle(prepared)
        benchmark.extra_info.update(
            bytes_min=case.bytes_min(shape),
            threads=implementation.threads,
            note=implementation.note,
        )
        benchmark(lambda: implementation.run(*next(alternating)))

    return check_then_time
