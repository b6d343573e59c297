"""Profiles of devices. Oracles: arithmetic by hand; laws over generated profiles."""

import json
import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runmat_jit.plan.profile import (
    CPU,
    GPU,
    MEMORY,
    TUNING,
    Bandwidth,
    Link,
    Pace,
    Products,
    Profile,
    Tuning,
    from_dict,
    shipped_cpu,
    to_dict,
)

positive = st.floats(1e-6, 1e9)


@st.composite
def profiles(draw):
    """Any device: speeds fall as sizes grow, and several threads are no slower than one."""
    sizes = sorted({*draw(st.lists(st.integers(1 << 10, 1 << 30), max_size=3)), MEMORY})
    speeds = sorted((draw(positive) for _ in sizes), reverse=True)
    threads = draw(st.integers(1, 64))
    tiers = tuple(
        Bandwidth(size, speed, speed * draw(st.floats(1.0, threads)))
        for size, speed in zip(sizes, speeds, strict=True)
    )
    rates = {name: draw(positive) for name in CPU.rates}
    products = (Products(float(MEMORY), draw(positive), draw(positive)),)
    link = draw(st.none() | st.builds(Link, *(positive,) * 7))
    pace = st.builds(Pace, positive, positive)
    paces = st.fixed_dictionaries(dict.fromkeys(TUNING.tiles, pace))
    tuning = draw(st.none() | st.builds(Tuning, paces, st.integers(1, 1 << 30)))
    launch_us, wake_us = draw(positive), draw(positive)
    return Profile("x", threads, tiers, rates, products, launch_us, wake_us, link, tuning)


@given(profiles())
def test_a_profile_reads_back_from_its_text(profile):
    assert from_dict(json.loads(json.dumps(to_dict(profile)))) == profile


@pytest.mark.parametrize(
    "broken",
    [
        {},
        [],
        None,
        {**to_dict(CPU), "version": 0},
        {**to_dict(CPU), "threads": 0},
        {**to_dict(GPU), "tuning": {}},
        {**to_dict(GPU), "tuning": {"tiles": {"1x1": [0.0, 1.0]}, "column_threads": 1}},
        {**to_dict(GPU), "tuning": {"tiles": to_dict(GPU)["tuning"]["tiles"], "column_threads": 0}},
        {**to_dict(GPU), "tuning": {"tiles": {"1x1": [1.0, 1.0]}, "column_threads": 1}},
        {**to_dict(CPU), "bandwidth": []},
        {**to_dict(CPU), "bandwidth": [[2, 1.0, 1.0], [1, 1.0, 1.0]]},
        {**to_dict(CPU), "bandwidth": [[1, 1.0]]},
        {**to_dict(CPU), "rates": {"arithmetic4": 1.0}},
        {**to_dict(CPU), "rates": dict.fromkeys(CPU.rates, 0.0)},
        {**to_dict(CPU), "rates": dict.fromkeys(CPU.rates, math.nan)},
        {**to_dict(CPU), "launch_us": math.inf},
        {**to_dict(CPU), "wake_us": -2.0},
        {**to_dict(CPU), "products": "none"},
        {**to_dict(GPU), "link": [1.0]},
        {**to_dict(GPU), "link": [1.0, -1.0, 1.0, 1.0, 1.0, 1.0, 1.0]},
    ],
)
def test_what_is_no_profile_is_refused(broken):
    with pytest.raises(ValueError, match=r"profile|version"):
        from_dict(broken)


@given(profiles(), st.integers(0, 1 << 34), st.integers(0, 1 << 34), st.integers(1, 64))
def test_more_bytes_never_take_less_time(profile, nbytes, more, threads):
    least = profile.memory_us(nbytes, threads=threads)
    assert profile.memory_us(nbytes + more, threads=threads) >= least * (1 - 1e-12)
    assert profile.memory_us(nbytes, threads=1) >= least * (1 - 1e-12)


@given(profiles(), st.integers(0, 1 << 34), st.floats(0, 1.0))
def test_several_threads_are_for_what_takes_longer_than_waking_them(profile, total, iteration_us):
    waits = profile.parallel_from_us
    assert profile.is_parallel(total, 0, iteration_us) == (
        total > int(waits / max(iteration_us, 1e-6))
    )
    least = profile.parallel_from_bytes
    assert not profile.is_parallel(0, least, 0.0)
    assert profile.is_parallel(0, least + 1, 0.0)
    assert profile.memory_us(least) <= waits * (1 + 1e-9)


def test_the_threshold_of_bytes_lies_in_the_tier_that_has_it():
    tiers = (Bandwidth(1000, 100.0, 100.0), Bandwidth(MEMORY, 10.0, 10.0))
    slow = replace(CPU, bandwidth=tiers, wake_us=2.0)
    assert slow.parallel_from_bytes == 400  # 4 us at 100 bytes a microsecond
    assert replace(slow, wake_us=20.0).parallel_from_bytes == 1000  # beyond, 40 us are 400 bytes
    assert replace(slow, wake_us=100.0).parallel_from_bytes == 2000


@pytest.mark.parametrize("threads", [1, 2, 64])
def test_the_shipped_profile_is_of_as_many_threads(threads):
    found = from_dict(to_dict(shipped_cpu(threads)))
    assert found.threads == threads
    assert all(tier.one <= tier.every <= threads * tier.one for tier in found.bandwidth)
    assert found.bandwidth[-1].up_to == MEMORY
    assert not found.measured
