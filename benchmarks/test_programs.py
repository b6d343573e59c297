"""Parity of every program, and its time by each peer. Oracle: NumPy in double precision."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from statistics import median

import pytest

from benchmarks.conftest import chosen_peers, record
from benchmarks.machine import describe_machine
from benchmarks.peers import load
from benchmarks.peers.peer import PeerUnavailableError
from benchmarks.programs import programs, sizes_of
from benchmarks.worker import Measured

COUNTS = Path(__file__).with_name("counts.json")
COUNTED = ("kernel_launches", "loops_run", "bytes_moved")


@pytest.fixture(scope="session")
def counts(pytestconfig):
    """Return the counts that are kept for vectors as wide as this machine's.

    They are written again at the end if that is asked for.
    """
    every = json.loads(COUNTS.read_text(encoding="utf-8")) if COUNTS.exists() else {}
    kept = every.setdefault(str(describe_machine().vector_bits), {})
    yield kept
    if pytestconfig.getoption("--update-counts"):
        COUNTS.write_text(shown(every), encoding="utf-8")


def shown(every):
    """Return counts as JSON with a line for each program."""
    widths = []
    for width, kept in sorted(every.items()):
        rows = ",\n".join(
            f"{json.dumps(name)}: {json.dumps(kept[name], sort_keys=True)}" for name in sorted(kept)
        )
        widths.append(f"{json.dumps(width)}: {{\n{rows}\n}}")
    return "{" + ",\n".join(widths) + "}\n"


def pytest_generate_tests(metafunc):
    marks = {name: getattr(pytest.mark, name.partition(".")[0]) for name in programs()}
    if "size" in metafunc.fixturenames:
        cases = [
            pytest.param(name, size, peer, marks=marks[name], id=f"{name}-{size}-{peer}")
            for name, program in programs().items()
            for size in sizes_of(metafunc.config.getoption("--sizes"), program)
            for peer in chosen_peers(metafunc.config)
        ]
        metafunc.parametrize(("name", "size", "peer"), cases)
    elif "peer" in metafunc.fixturenames:
        cases = [
            pytest.param(name, peer, marks=marks[name], id=f"{name}-{peer}")
            for name in programs()
            for peer in chosen_peers(metafunc.config)
        ]
        metafunc.parametrize(("name", "peer"), cases)
    elif "name" in metafunc.fixturenames:
        cases = [pytest.param(name, marks=marks[name]) for name in programs()]
        metafunc.parametrize("name", cases)


def test_parity(name, peer, counts, pytestconfig):
    """Two inputs alternate: an implementation that remembers is caught.

    A warm call of ours does what it has done so far: kernels, native loops, bytes.
    """
    program = programs()[name]
    try:
        worker = Measured(program, load(peer, name), program.small)
    except PeerUnavailableError as error:
        pytest.skip(str(error))
    parity = worker.parity()
    assert parity.ok, parity.detail
    if peer != "runmat":
        return
    worker.timed(4)
    found = worker.counts()
    found = {each: found[each] for each in COUNTED}
    if pytestconfig.getoption("--update-counts"):
        counts[name] = found
    if not counts:
        pytest.skip("no counts are kept for vectors of this width; parity holds")
    assert counts.get(name) == found, "run pytest benchmarks -n0 --update-counts if this is right"


def test_speed(name, size, peer, benchmark, measured):
    """Rounds of all peers are interleaved when the first of them is asked for."""
    found = measured(name, size)
    if peer in found.missing:
        pytest.skip(found.missing[peer])
    figures = found.figures[peer]
    benchmark.group = f"{name} [{size:,}]"
    benchmark.extra_info.update(
        program=name,
        size=size,
        peer=peer,
        parity=figures.parity.detail,
        first_cold=figures.first_cold,
        first_cached=figures.first_cached,
        peak_bytes=figures.peak_bytes,
        counts=figures.counts,
        calls=figures.calls,
        rounds=figures.seconds,
        **asdict(figures.description),
    )
    record(benchmark, figures.seconds)
    limit = measured.at_most
    if limit and peer == "runmat" and "numpy" in found.figures:
        ratio = median(figures.seconds) / median(found.figures["numpy"].seconds)
        assert ratio <= limit, f"a call takes {ratio:.2f} times NumPy's"
