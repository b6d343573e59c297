"""Profiles and isolation for all tests.

`RUNMAT_TEST_PROFILE=full` runs the tests marked `slow` and more examples of each property;
`explore` draws new random examples at each run, to look for what the fixed ones have missed, and
looks for a smaller example of each failure, which takes minutes where examples are compiled.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, settings

PROFILE = os.environ.get("RUNMAT_TEST_PROFILE", "default")
TEMPORARY = pytest.StashKey[tempfile.TemporaryDirectory]()

_common = settings(
    deadline=None,  # a first example compiles, a busy machine is slow: neither is a failure
    database=None,
    print_blob=True,
    phases=(Phase.explicit, Phase.generate),
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("default", _common, max_examples=25, derandomize=True)
settings.register_profile("full", _common, max_examples=300, derandomize=True)
settings.register_profile(
    "explore", _common, max_examples=300, derandomize=False, phases=tuple(Phase)
)


def pytest_configure(config):
    settings.load_profile(PROFILE)
    scratch = tempfile.TemporaryDirectory(prefix="runmat-tests-")
    config.stash[TEMPORARY] = scratch
    os.environ["RUNMAT_CACHE_DIR"] = str(Path(scratch.name, "cache"))  # never the user's own
    os.environ["MPLCONFIGDIR"] = str(Path(scratch.name, "matplotlib"))
    os.environ["MPLBACKEND"] = "Agg"


def pytest_unconfigure(config):
    config.stash[TEMPORARY].cleanup()


def pytest_report_header():
    return f"profile: {PROFILE} (RUNMAT_TEST_PROFILE)"


def pytest_collection_modifyitems(items):
    if PROFILE != "default":
        return
    skip = pytest.mark.skip(reason="slow: only with RUNMAT_TEST_PROFILE=full")
    for item in items:
        if "slow" in item.keywords:
            item.add_marker(skip)
