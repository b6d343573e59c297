"""Skips, or with RUNMAT_REQUIRE_GPU=1 fails, where no adapter runs shaders."""

import os

import pytest

from runmat_jit.backends.wgpu.adapter import adapters

_WHERE = "install a Vulkan driver, such as mesa-vulkan-drivers with libvulkan1"


@pytest.fixture(scope="session")
def adapter():
    """Any adapter, a software one included."""
    found = adapters()
    if not found:
        if os.environ.get("RUNMAT_REQUIRE_GPU") == "1":
            pytest.fail(f"RUNMAT_REQUIRE_GPU=1 and no adapter was found: {_WHERE}")
        pytest.skip(f"no adapter was found: {_WHERE}")
    return found[0]
