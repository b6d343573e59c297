"""Errors of an adapter's own functions, which a fast row may use where they are small enough."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from runmat_jit.backends.wgpu.adapter import Device, errors_of
from runmat_jit.backends.wgpu.memory import DeviceMemory

Floats = np.ndarray[Any, Any]

_COUNT = 4096
# Function, NumPy's, and the range in which our functions would use it: all normal results of exp2,
# else that to which our own reduction brings its argument. Only float32: on float64 these functions
# return garbage without an error on several drivers.
_FUNCTIONS: dict[str, tuple[Callable[[Floats], Floats], tuple[float, float]]] = {
    "exp2": (np.exp2, (-125.9, 127.9)),
    "log2": (np.log2, (1.1, 1.99)),
    "sin": (np.sin, (0.01, np.pi / 2)),
    "cos": (np.cos, (0.01, 1.5)),
    "tanh": (np.tanh, (0.01, 5.0)),
    "inverseSqrt": (lambda x: 1 / np.sqrt(x), (0.5, 2.0)),
}


_ENDS = np.resize(np.array([np.inf, -np.inf, np.nan, 200.0, -200.0, 0.0, 1.0], np.float32), 64)
"""Where ``exp2`` must be right."""


def builtin_errors(device: Device) -> dict[str, float]:
    """The largest error of each function in ULP."""
    memory = DeviceMemory(device)
    found = {}
    for name, (numpy, (low, high)) in _FUNCTIONS.items():
        x = np.linspace(low, high, _COUNT, dtype=np.float32)
        exact = numpy(x.astype(np.float64))
        got = _computed(device, memory, name, x).astype(np.float64)
        unit = np.spacing(np.abs(exact).astype(np.float32)).astype(np.float64)
        error = np.abs(got - exact) / unit
        found[name] = float(np.max(np.where(np.isnan(error), np.inf, error)))
    with np.errstate(over="ignore"):
        ends = np.exp2(_ENDS)
    if not np.array_equal(_computed(device, memory, "exp2", _ENDS), ends, equal_nan=True):
        found["exp2"] = math.inf
    memory.clear()
    return found


def _text(name: str) -> str:
    return f"""@group(0) @binding(0) var<storage, read_write> x: array<f32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {{ x[id.x] = {name}(x[id.x]); }}
"""


def _computed(device: Device, memory: DeviceMemory, name: str, x: Floats) -> Floats:
    array = memory.upload(x)
    handle = device.handle
    with errors_of(device.info):
        module = handle.create_shader_module(code=_text(name))
        pipeline = handle.create_compute_pipeline(
            layout="auto", compute={"module": module, "entry_point": "main"}
        )
        resource = {"buffer": array.buffer, "offset": 0, "size": array.buffer.size}
        group = handle.create_bind_group(
            layout=pipeline.get_bind_group_layout(0),
            entries=[{"binding": 0, "resource": resource}],
        )
        encoder = handle.create_command_encoder()
        compute = encoder.begin_compute_pass()
        compute.set_pipeline(pipeline)
        compute.set_bind_group(0, group)
        compute.dispatch_workgroups(x.size // 64)
        compute.end()
        device.queue.submit([encoder.finish()])
    found = memory.download(array)
    memory.free([array])
    return found
