"""Buffers that take turns on one memory; oracle: an allocation for each, and the live values."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import runmat_jit as runmat
from runmat_jit.compiler.lifetimes import take_turns
from runmat_jit.compiler.program import Buffer


def buffer(place, shape=(4,), dtype="f8"):
    kind = np.dtype(dtype)
    return Buffer(place, shape, kind, None, int(np.prod(shape)) * kind.itemsize)


@given(
    uses=st.lists(st.sets(st.integers(0, 7), max_size=4), max_size=12),
    kept=st.sets(st.integers(0, 7)),
    long=st.sets(st.integers(0, 7)),
)
def test_no_memory_is_taken_while_its_value_is_needed(uses, kept, long):
    buffers = [buffer(n, (9,) if n in long else (4,)) for n in range(8)]
    made = take_turns(buffers, [tuple(places) for places in uses], kept)
    assert [b.place for b in made] == list(range(8))
    lives = {n: [k for k, places in enumerate(uses) if n in places] for n in range(8)}
    memory = {b.place: b.place if b.shares is None else b.shares for b in made}
    for b in made:
        if b.shares is None:
            continue
        assert b.place not in kept
        assert made[b.shares].shape == b.shape
        assert made[b.shares].shares is None
        assert b.shares < b.place
        for other in made:
            if other.place < b.place and memory[other.place] == b.shares:
                assert other.place not in kept
                assert lives[other.place][-1] < lives[b.place][0]


def test_a_long_function_runs_in_the_memory_of_few_arrays():
    def fn(x):
        y = x
        for _ in range(60):
            y = y - y.mean()
            y = np.cumsum(y * 1.01) * 0.1
            y = y / y.max()
        return y

    decorated = runmat.jit(fn)
    x = np.random.default_rng(0).normal(size=4096)
    np.testing.assert_allclose(decorated(x), fn(x), rtol=1e-6, atol=1e-9)
    (record,) = decorated._captured[1].records.values()
    for compiled in record.programs:
        large = [b for b in compiled.program.layout.buffers if b.nbytes >= x.nbytes]
        assert sum(b.shares is None for b in large) <= 4
