"""The suite as tests of pytest-benchmark: parity of all programs, and their times by peer.

``pytest benchmarks`` checks parity; ``pytest benchmarks --benchmark-only`` measures.
"""

from __future__ import annotations

import os
import tempfile

import pytest

from benchmarks.peers import NAMES
from benchmarks.programs import GROUPS
from benchmarks.suite import Measurement, Pace, ParityError, measure

TIMED_ALONE = (
    *("test_speed", "test_scripts", "test_startup", "test_warm_calls", "test_operations"),
    *("test_events", "test_download", "test_upload", "test_number_of_torch"),
    *("test_download_of_torch", "test_upload_of_torch"),
)


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
    config.option.benchmark_skip = False
    if config.option.benchmark_only:  # times are taken in one process, which starts the others
        config.option.numprocesses, config.option.dist = 0, "no"
        return
    config.option.benchmark_disable = True  # what is timed is called once
    if config.option.dist == "loadfile":
        config.option.dist = "load"  # all programs are in one file


def chosen_peers(config):
    names = config.getoption("--peers").split(",")
    unknown = [name for name in names if name not in NAMES]
    if unknown:
        raise pytest.UsageError(f"there is no peer {unknown[0]!r}; there are {', '.join(NAMES)}")
    return names


def pytest_collection_modifyitems(config, items):
    """Leave out what does nothing without times, or takes minutes."""
    if config.option.benchmark_disable:
        left_out = [item for item in items if item.originalname in TIMED_ALONE]
        items[:] = [item for item in items if item.originalname not in TIMED_ALONE]
        config.hook.pytest_deselected(items=left_out)


def pytest_generate_tests(metafunc):
    if "side" in metafunc.fixturenames:
        timed = metafunc.config.option.benchmark_only
        metafunc.parametrize("side", ["numpy", "runmat"] if timed else ["runmat"])


def record(benchmark, seconds):
    """Hand times to pytest-benchmark that were taken in other processes."""
    benchmark._mode = "rounds of other processes"
    stats = benchmark._make_stats(1)
    for each in seconds:
        stats.update(each)


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
