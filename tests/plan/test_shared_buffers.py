"""Buffers that take turns on one memory; oracle: an allocation for each, and the live values."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import runmat_jit as runmat
from runmat_jit.plan.layout import Buffer
from runmat_jit.plan.shared_buffers import take_turns


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
        owner = made[b.shares]
        assert owner.shares is None
        if owner.sizes:
            assert not {b.place, owner.place} & kept
            assert {b.nbytes, owner.nbytes} <= set(owner.sizes)
        else:
            assert owner.shape == b.shape
        assert b.shares < b.place
        for other in made:
            if other is b or memory[other.place] != b.shares:
                continue
            first, second = sorted((b, other), key=lambda each: lives[each.place][0])
            assert lives[first.place][-1] < lives[second.place][0]
            assert first.place not in kept


def test_what_only_kernels_see_takes_memory_of_other_sizes():
    buffers = [buffer(0), buffer(1, (9,)), buffer(2, (2,), "f4"), buffer(3, (2, 2))]
    made = take_turns(buffers, [(0, 1), (1, 2), (2, 3)], {3})
    assert [b.shares for b in made] == [None, None, 0, None]
    assert made[0].sizes == (32, 8)
    assert take_turns(buffers[:3], [(0, 1), (1, 2)], {2})[2].shares is None


def test_what_a_host_call_returns_is_memory_of_its_own():
    returned = Buffer(1, (4,), np.dtype("f8"), None, 32, returned=True)
    made = take_turns([buffer(0), returned, buffer(2)], [(0,), (0, 1), (1, 2)], ())
    assert [b.shares for b in made] == [None, None, 0]


def test_a_kept_value_takes_memory_that_is_needed_no_more():
    made = take_turns([buffer(0), buffer(1), buffer(2)], [(1,), (1, 2), (2, 0)], {0})
    assert [b.shares for b in made] == [None, 0, None]


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
        assert sum(b.shares is None and not b.returned for b in large) <= 4


def test_temporaries_of_many_lengths_run_in_the_memory_of_few_arrays():
    def differences(x):
        for _ in range(20):
            x = x[1:] - x[:-1]
        return x

    decorated = runmat.jit(differences)
    for size in (4096, 5000, 70000, 6000, 4096):
        x = np.random.default_rng(size).normal(size=size)
        np.testing.assert_array_equal(decorated(x), differences(x))
    for record in decorated._captured[1].records.values():
        for compiled in record.programs:
            buffers = compiled.program.layout.buffers
            assert sum(b.shares is None for b in buffers) <= 3
