"""Oracle: what the adapter itself reports; the errors that wgpu raises."""

import os
import subprocess
import sys

import numpy as np
import pytest

from runmat_jit.backends.wgpu.adapter import Device, DeviceLost
from runmat_jit.backends.wgpu.memory import DeviceMemory
from runmat_jit.core.errors import BackendError


def test_an_adapter_describes_itself(adapter):
    info = adapter.info
    assert info.backend in ("Vulkan", "Metal", "D3D12")
    assert info.software == (adapter.handle.info["adapter_type"] == "CPU")
    assert info.driver in info.key
    assert str(info).startswith(info.name)
    assert info.kinds <= {"f64", "i64"}


def test_a_device_has_all_of_its_adapter(adapter):
    device = Device(adapter)
    for name, limit in adapter.info.limits.items():
        assert device.handle.limits[name] >= limit
    wanted = {"shader-f64", "shader-int64", "subgroup"} & adapter.info.features
    assert wanted <= set(device.handle.features)
    assert device.largest_binding % 256 == 0
    device.close()


def test_a_lost_device_says_so(adapter):
    device = Device(adapter)
    memory = DeviceMemory(device)
    array = memory.upload(np.arange(3.0))
    device.wait()
    device.close()
    with pytest.raises(DeviceLost, match="lost"):
        memory.download(array)
    assert issubclass(DeviceLost, BackendError)


def test_the_backend_is_imported_without_wgpu():
    code = """import sys
import runmat_jit.backends.wgpu.program, runmat_jit.backends.wgpu.probe
assert "wgpu" not in sys.modules"""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    done = subprocess.run([sys.executable, "-c", code], env=environment, check=False)
    assert done.returncode == 0


def test_without_wgpu_there_is_no_adapter():
    code = """import sys
sys.modules["wgpu"] = None
from runmat_jit.backends.wgpu.adapter import adapters
assert adapters() == ()"""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    done = subprocess.run([sys.executable, "-c", code], env=environment, check=False)
    assert done.returncode == 0
