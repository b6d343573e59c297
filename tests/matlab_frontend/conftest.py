"""Skips, or with RUNMAT_REQUIRE_GPU=1 fails, where no adapter runs shaders."""

import os

import pytest

from runmat_jit.core.errors import BackendError
from runmat_jit.runtime.session import current_session


@pytest.fixture
def gpu():
    """The session's GPU, a software one included."""
    try:
        return current_session().gpu
    except BackendError as error:
        if os.environ.get("RUNMAT_REQUIRE_GPU") == "1":
            raise
        pytest.skip(f"no adapter: {error}")
