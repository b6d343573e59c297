"""Measured profiles. Oracles: a clock that is told what to say; what every machine can do."""

import itertools
import json
from dataclasses import replace

import numpy as np
import pytest

import runmat_jit as runmat
from runmat_jit import __main__ as cli
from runmat_jit.compiler import calibrate_cpu, calibrate_gpu, timed_sample
from runmat_jit.compiler.calibrate_cpu import measure_cpu
from runmat_jit.compiler.calibrate_gpu import measure_gpu
from runmat_jit.compiler.compiler import Compiler
from runmat_jit.compiler.samples import rate_samples
from runmat_jit.compiler.timed_sample import least_us, rate_of
from runmat_jit.core.config import read_config
from runmat_jit.core.errors import BackendError
from runmat_jit.kernel.work import count_work
from runmat_jit.plan.profile import CPU, TUNING, from_dict, shipped_cpu, to_dict
from runmat_jit.runtime.session import Session, use_session


def test_the_least_time_counts(monkeypatch):
    """A clock by which runs take 50, 40 and 60 us in turns: what is slower is somebody else's."""
    now, runs = [0], itertools.cycle([50_000, 40_000, 60_000])

    def run():
        now[0] += next(runs)

    monkeypatch.setattr(timed_sample.time, "perf_counter_ns", lambda: now[0])
    assert least_us(run, window_ms=1.0) == 40.0


def test_short_runs_are_timed_together(monkeypatch):
    now = [0]

    def run():
        now[0] += 100

    def clock():
        now[0] += 70  # what it takes to ask
        return now[0]

    monkeypatch.setattr(timed_sample.time, "perf_counter_ns", clock)
    assert least_us(run, window_ms=1.0) == pytest.approx(0.1, rel=0.01)


@pytest.mark.parametrize("sample", rate_samples(), ids=lambda sample: sample.names[0])
def test_a_rate_is_what_explains_the_time(sample):
    """Of a device with other rates: from the time that they predict follow the rates."""
    other = {name: 3.0 * rate for name, rate in CPU.rates.items()}
    work = count_work(sample.kernel, sample.numbers(1000))
    us = 1000 * sum(number * other[f"{kind}{width}"] for (kind, width), number in work.items())
    mine = {width for kind, width in work if kind == sample.kind}
    if len(mine) == 1 or len(sample.names) == 1:
        (name,) = sample.names[:1]
        assert rate_of(sample, 1000, us, other) == pytest.approx(other[name], rel=0.3)
    assert rate_of(sample, 1000, 0.0, other) > 0.0  # a clock that says nothing


@pytest.fixture
def quick(monkeypatch):
    """Windows of no time, and small arrays."""
    monkeypatch.setattr(timed_sample, "WINDOW_MS", 0.0)
    monkeypatch.setattr(calibrate_gpu, "_TERMS", 16)
    monkeypatch.setattr(calibrate_cpu, "_SIDES", ((16, 1e4), (32, 1e18)))
    monkeypatch.setattr(calibrate_cpu, "_WORKING_SETS", (1 << 10, 1 << 12, 1 << 14, 1 << 16))


def test_a_machine_is_measured_and_the_measure_is_used(quick, tmp_path):
    config = replace(read_config(), cache_dir=str(tmp_path / "cache"), num_threads=2)
    session, said = Session(config), []
    found = measure_cpu(session, said.append)
    assert said == ["memory", "instructions", "threads", "products"]
    assert from_dict(to_dict(found)) == found
    assert found.measured
    assert found.threads == session.threads
    assert session.profiles.keep(found, *session.identity())
    assert Session(config).profile == found
    assert Session(replace(config, num_threads=3)).profile == shipped_cpu(3)
    assert Session(replace(config, cache_dir="none")).profile == shipped_cpu(2)


def test_a_measured_profile_makes_other_programs_than_the_shipped_one(quick, tmp_path):
    """Two threads from 40 ns on in place of 8 us: kept programs of the other are not taken."""
    config = replace(read_config(), cache_dir=str(tmp_path / "cache"), num_threads=2)
    before = Session(config)
    x = np.arange(5_000.0)
    parallel = []
    for wake_us in (4.0, 0.02):
        session = Session(config)
        session.profiles.keep(replace(CPU, wake_us=wake_us), *before.identity())
        outer = use_session(session)
        try:
            assert runmat.jit(np.sqrt)(x) is not None
            compiled = runmat.jit(lambda x: np.sqrt(x) + 1.0)
            np.testing.assert_array_equal(compiled(x), np.sqrt(x) + 1.0)
            programs = session.service(Compiler, Compiler)._programs.values()
            launches = [b for p in programs for b in p.program.code.launches]
            parallel.append({b.is_parallel(session.profile) for b in launches})
        finally:
            use_session(outer)
    assert parallel == [{False}, {True}]


def test_calibrate_keeps_what_it_prints(quick, tmp_path, capsys, monkeypatch):
    config = replace(read_config(), cache_dir=str(tmp_path / "cache"))
    monkeypatch.setattr("runmat_jit.runtime.session.open_gpu", no_adapter)
    before = use_session(Session(config))
    try:
        assert cli.main(["calibrate", "--json"]) == 0
        shown = capsys.readouterr()
        (found,) = json.loads(shown.out).values()
        assert from_dict(found) == Session(config).profile
        assert "cpu: measured in" in shown.err
        assert "kept" in shown.err
        assert "gpu: there is none" in shown.err
        assert cli.main(["calibrate"]) == 0
        text = capsys.readouterr().out
        assert text.startswith(f"cpu: {found['name']}, {found['threads']} thread")
        assert {line.split()[0] for line in text.splitlines()[1:]} >= {"memory,", *CPU.rates}
    finally:
        use_session(before)


def no_adapter(*_, **__):
    raise BackendError("there is none")


def test_an_adapter_is_measured(gpu, quick):
    found = measure_gpu(gpu, elements=1 << 12)
    assert from_dict(to_dict(found)) == found
    assert found.tuning is not None
    assert found.tuning.tiles.keys() >= TUNING.tiles.keys()
    assert found.link is not None
