"""The suite as tests of pytest-benchmark: parity of all programs, and their times by peer.

``pytest benchmarks`` checks parity; ``pytest benchmarks --benchmark-only`` measures.
"""

from __future__ import annotations

import os
import tempfile

import pytest

from benchmarks.peers import NAMES
from benchmarks.programs import GROUPS, programs, sizes_of
from benchmarks.suite import Measurement, Pace, ParityError, measure


def pytest_addoption(parser):
    group = parser.getgroup("benchmarks", "programs, sizes and peers of the suite")
    group.addoption("--peers", default="numpy,runmat", help=f"of {', '.join(NAMES)}, with commas")
    group.addoption(
        "--sizes", default="usual", help="usual, small, all of a plot, or numbers with commas"
    )
    group.addoption("--rounds", type=int, default=9, help="rounds of each measurement")
    group.addoption("--update-counts", action="store_true", help="write counts.json anew")
    group.addoption(
        "--at-most", type=float, help="fail where a call of ours takes longer than so many of NumPy"
    )


def pytest_configure(config):
    os.environ.setdefault("RUNMAT_COMPILE", "first")  # else small programs are plain Python
    os.environ.setdefault("RUNMAT_NUM_THREADS", "2")  # on any machine: counts are the same
    os.environ.setdefault("RUNMAT_TRIALS", "0")
    if not hasattr(config, "workerinput"):  # no profile of the user's, which changes counts
        scratch = tempfile.TemporaryDirectory(prefix="runmat-benchmarks-")
        config.add_cleanup(scratch.cleanup)
        os.environ["RUNMAT_CACHE_DIR"] = scratch.name
    for name in GROUPS:
        config.addinivalue_line("markers", f"{name}: programs of the group {name}")


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config):
    if config.option.benchmark_only:  # times are taken in one process, which starts the others
        config.option.numprocesses, config.option.dist = 0, "no"
        config.option.benchmark_skip = False
    elif config.option.dist == "loadfile":
        config.option.dist = "load"  # all programs are in one file


def chosen_peers(config):
    names = config.getoption("--peers").split(",")
    unknown = [name for name in names if name not in NAMES]
    if unknown:
        raise pytest.UsageError(f"there is no peer {unknown[0]!r}; there are {', '.join(NAMES)}")
    return names


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


@pytest.fixture(scope="session")
def measured(pytestconfig):
    """Return what measures a program at a size by all peers; it does so once."""
    known: dict[tuple[str, int], Measurement | ParityError] = {}
    pace = Pace(rounds=pytestconfig.getoption("--rounds"))

    def find(name, size):
        if (name, size) not in known:
            try:
                found = measure(name, size, chosen_peers(pytestconfig), pace)
            except ParityError as error:
                found = error
            known[name, size] = found
        if isinstance(known[name, size], ParityError):
            raise known[name, size]
        return known[name, size]

    find.at_most = pytestconfig.getoption("--at-most")
    return find
