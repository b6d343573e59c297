"""Profiles and isolation for all tests.

`RUNMAT_TEST_PROFILE=full` runs the tests marked `slow` and more examples of each property;
`explore` draws new random examples at each run, to look for what the fixed ones have missed, and
looks for a smaller example of each failure, which takes minutes where examples are compiled.
"""

from __future__ import annotations

import gc
import logging
import os
import signal
import tempfile
import zlib
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, settings

PROFILE = os.environ.get("RUNMAT_TEST_PROFILE", "default")
SHARED = "RUNMAT_TESTS_SHARED"
"""The variable with the directory that all processes of a run share."""
TEMPORARY = pytest.StashKey[tempfile.TemporaryDirectory]()

_common = settings(
    deadline=None,  # a first example compiles, a busy machine is slow: neither is a failure
    database=None,
    print_blob=True,
    phases=(Phase.explicit, Phase.generate),
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("default", _common, max_examples=8, derandomize=True)
settings.register_profile("full", _common, max_examples=300, derandomize=True)
settings.register_profile(
    "explore", _common, max_examples=300, derandomize=False, phases=tuple(Phase)
)


def pytest_configure(config):
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # so shells begin what is not waited for
        signal.signal(signal.SIGINT, signal.default_int_handler)
    settings.load_profile(PROFILE)
    scratch = tempfile.TemporaryDirectory(prefix="runmat-tests-")
    config.stash[TEMPORARY] = scratch
    if not hasattr(config, "workerinput"):
        os.environ[SHARED] = scratch.name
    # never the user's own; one for all processes of a run: what one compiles, all have
    os.environ["RUNMAT_CACHE_DIR"] = str(Path(os.environ[SHARED], "cache"))
    os.environ["MPLCONFIGDIR"] = str(Path(scratch.name, "matplotlib"))
    os.environ["MPLBACKEND"] = "Agg"
    os.environ.setdefault("RUNMAT_TRIALS", "0")  # but in test_trials: replays are counted
    os.environ.setdefault("RUNMAT_COMPILE", "first")  # but in test_plain_tier
    os.environ.setdefault("RUNMAT_NUM_THREADS", "2")  # on any machine
    from runmat_jit.runtime.gpu import might_have_gpu  # noqa: PLC0415  (not before the variables)

    if might_have_gpu():  # on which programs would be placed, with bits of its own
        os.environ.setdefault("RUNMAT_DEVICE", "cpu")
    if PROFILE == "default":
        from runmat_jit.backends.llvm.jit import Jit  # noqa: PLC0415  (not before the variables)

        Jit.codegen_level = 0  # bits are the same, and kernels of tests run once


@pytest.fixture
def gpu():
    """The session's GPU, a software one included; skips, or fails if one is required, without."""
    from runmat_jit.core.errors import BackendError  # noqa: PLC0415  (few tests need it)
    from runmat_jit.runtime.session import current_session  # noqa: PLC0415  (likewise)

    try:
        return current_session().gpu
    except BackendError as error:
        if os.environ.get("RUNMAT_REQUIRE_GPU") == "1":
            raise
        pytest.skip(f"no adapter: {error}")


@pytest.fixture
def steps_aside(monkeypatch):
    """A session as by default, but that functions pay at their first call: others step aside."""
    from dataclasses import replace  # noqa: PLC0415  (few tests need it)

    from runmat_jit.core import evidence  # noqa: PLC0415  (not before the variables)
    from runmat_jit.core.config import read_config  # noqa: PLC0415  (likewise)
    from runmat_jit.loops import driver  # noqa: PLC0415  (likewise)
    from runmat_jit.runtime.session import Session, use_session  # noqa: PLC0415  (likewise)

    monkeypatch.setattr(evidence.Evidence, "pays", True)
    monkeypatch.setattr(driver, "LOOP_PAYS", 0)
    before = use_session(Session(replace(read_config(), compile="hot")))
    yield
    use_session(before)


@pytest.fixture(autouse=True)
def no_mistakes_of_ours():
    """Fails a test in which a mistake of ours was survived and written to the log alone.

    Gives what was written; a test that makes one takes it from there.
    """
    mistakes = Mistakes()
    log = logging.getLogger("runmat_jit")
    log.addHandler(mistakes)
    yield mistakes.messages
    log.removeHandler(mistakes)
    assert not mistakes.messages


@pytest.fixture(autouse=True)
def no_measurement(request):
    """A machine's GPU is not measured in the background: tests count what runs on it.

    But in those marked ``measures``.
    """
    from runmat_jit.runtime.gpu import might_have_gpu  # noqa: PLC0415  (not before the variables)

    if might_have_gpu() and "measures" not in request.keywords:
        from runmat_jit.compiler.calibration import Calibration  # noqa: PLC0415  (likewise)

        patch = request.getfixturevalue("monkeypatch")
        patch.setattr(Calibration, "begin", lambda *_: None)


@pytest.fixture(autouse=True, scope="module")
def nothing_old_to_collect():
    """What other files have left is for no collection of this one's: those would take seconds."""
    gc.collect()
    gc.freeze()


class Mistakes(logging.Handler):
    """Keeps what asks users for a report."""

    def __init__(self):
        super().__init__(logging.ERROR)
        self.messages = []

    def emit(self, record):
        if "please report" in record.getMessage():
            self.messages.append(self.format(record))


def pytest_collection_finish():
    gc.freeze()  # thousands of tests live until the end: no collection need look at them


def pytest_unconfigure(config):
    config.stash[TEMPORARY].cleanup()


def pytest_report_header():
    return f"profile: {PROFILE} (RUNMAT_TEST_PROFILE)"


def pytest_collection_modifyitems(config, items):
    if PROFILE != "default":
        return
    kept, left_out = sampled(items)
    config.hook.pytest_deselected(items=left_out)
    items[:] = kept
    skip = pytest.mark.skip(reason="slow: only with RUNMAT_TEST_PROFILE=full")
    for item in items:
        if "slow" in item.keywords:
            item.add_marker(skip)


def sampled(items):
    """The tests of the default profile, and the others.

    Of those marked ``sampled(n)`` it runs one case in n, by a hash of their names, and of each test
    one at least.
    """
    tests = {}
    for item in items:
        tests.setdefault(item.nodeid.split("[")[0], []).append(item)
    kept, left_out = [], []
    for cases in tests.values():
        mark = cases[0].get_closest_marker("sampled")
        if mark is None or len(cases) == 1:
            kept += cases
            continue
        ordered = sorted(cases, key=lambda item: zlib.crc32(item.nodeid.encode()))
        most = -(-len(cases) // mark.args[0])
        kept += ordered[:most]
        left_out += ordered[most:]
    return kept, left_out
