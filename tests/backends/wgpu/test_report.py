"""Oracles: adapters and findings made by hand, and the sentences that they must give."""

from dataclasses import replace

from runmat_jit.backends.wgpu.adapter import AdapterInfo
from runmat_jit.backends.wgpu.findings import Findings, FloatFindings
from runmat_jit.backends.wgpu.report import report_adapter

LIMITS = {
    "max-buffer-size": 1 << 32,
    "max-storage-buffer-binding-size": 1 << 31,
    "max-storage-buffers-per-shader-stage": 16,
    "max-compute-workgroup-storage-size": 48 << 10,
    "max-compute-invocations-per-workgroup": 1024,
    "max-compute-workgroup-size-x": 1024,
}
FEATURES = frozenset({"shader-f64", "shader-int64"})
INFO = AdapterInfo("Some GPU", "Vendor", "1.2.3", "Vulkan", False, FEATURES, LIMITS)
GOOD = FloatFindings("none", "none", True, True, True, True, True)


def test_an_adapter_that_does_all_right():
    rows = dict(report_adapter(INFO, Findings({"f32": GOOD, "f64": GOOD}, {"exp2": 1.25})))
    assert rows["driver"] == "1.2.3"
    assert rows["types"] == "float32, float64, int32, int64, bool"
    assert rows["limits"].startswith("4 GiB an array, 2 GiB seen at once, 16 arrays a kernel")
    assert rows["float32"] == rows["float64"]
    assert rows["float32"] == "no guard, fma fused, division exact, sqrt exact, subnormals kept"
    assert rows["built-in"] == "exp2 1.25 ULP (used: exp2)"
    assert rows["reproducible"] == "float32 yes, no guard; float64 yes, no guard"


def test_an_adapter_without_wide_types_that_flushes():
    coarse = FloatFindings("or", "fma", False, False, False, False, True)
    info = replace(INFO, features=frozenset())
    rows = dict(report_adapter(info, Findings({"f32": coarse}, {})))
    assert "no float64, no int64" in rows["types"]
    assert "float64" not in rows
    assert rows["float32"] == (
        "products guarded, fma split, division inexact, sqrt inexact, subnormals flushed"
    )
    assert rows["reproducible"] == "float32 no, it flushes subnormal float32 numbers to zero"


def test_an_adapter_whose_driver_crashed():
    assert report_adapter(INFO, None)[-1][0] == "not used"
