"""Finds out what the floats of an adapter do, by kernels whose results are known.

The weakest guard under which a group of formulas holds is the one to print shaders with; division,
square root, ``fma`` and subnormal numbers are properties of the hardware, tested under the
strongest guard.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from runmat_jit.backends.wgpu.adapter import Device
from runmat_jit.backends.wgpu.arithmetic import GUARDS, Arithmetic, Guard
from runmat_jit.backends.wgpu.backend import WgpuBackend
from runmat_jit.backends.wgpu.builtin_errors import builtin_errors
from runmat_jit.backends.wgpu.findings import Findings, FloatFindings
from runmat_jit.backends.wgpu.identities import (
    FUNCTIONS,
    HARDWARE,
    IDENTITIES,
    JUMPS,
    Formula,
    operands_of,
)
from runmat_jit.backends.wgpu.run import KernelRun, WgpuRunner
from runmat_jit.kernel.build import Builder
from runmat_jit.kernel.ir import Kernel, Table, Value
from runmat_jit.kernel.math.tables import table

_INPUTS = ("x", "h", "special")


def self_test(device: Device) -> Findings:
    """Run all tests on a device: some twenty small shaders."""
    kinds = ["f32", *(["f64"] if "f64" in device.info.kinds else [])]
    hardware = {kind: _test_hardware(device, kind) for kind in kinds}
    needed = Findings(hardware, {}).arithmetic(reproducible=False)
    floats = {
        kind: replace(found, accurate_guard=_test_functions(device, kind, needed))
        for kind, found in hardware.items()
    }
    return Findings(floats, builtin_errors(device))


def _test_hardware(device: Device, kind: str) -> FloatFindings:
    """All but the accuracy of functions, which depends on what of this has to be corrected."""
    exact = {**IDENTITIES, **HARDWARE}
    shares = {guard: shares_of(device, kind, Arithmetic(guard), exact) for guard in GUARDS}
    hardware = shares["or"]
    return FloatFindings(
        _weakest(shares, IDENTITIES),
        None,
        fused_fma=hardware["fma"] == 1.0,
        exact_division=hardware["division"] == 1.0,
        exact_sqrt=hardware["sqrt"] == 1.0,
        keeps_subnormals=hardware["subnormals"] == 1.0,
    )


def _test_functions(device: Device, kind: str, needed: Arithmetic) -> Guard | None:
    """The weakest guard under which functions are accurate."""
    formulas = {**FUNCTIONS, **JUMPS}
    shares = {g: shares_of(device, kind, replace(needed, guard=g), formulas) for g in GUARDS}
    return _weakest(shares, formulas)


def shares_of(
    device: Device, kind: str, arithmetic: Arithmetic, formulas: Mapping[str, Formula]
) -> dict[str, float]:
    """The share of expected results of each formula, by name."""
    runner = WgpuRunner(WgpuBackend(device, arithmetic))
    memory = runner.backend.memory
    operands = operands_of(kind)
    size, dtype = operands[0].size, operands[0].dtype
    kernel = _kernel(kind, [formula.build for formula in formulas.values()])
    out = memory.empty(len(formulas) * size, dtype)
    inputs = {name: memory.upload(x) for name, x in zip(_INPUTS, operands, strict=True)}
    tables = {
        p.name: memory.upload(table(p.name)) for p in kernel.parameters if isinstance(p, Table)
    }
    arrays = {**inputs, **tables, "out": out}
    runner.run([KernelRun(kernel, {**arrays, "n": size}, (0, size))])
    rows = memory.download(out).reshape(len(formulas), size)
    memory.free([out, *inputs.values(), *tables.values()])
    memory.clear()
    pairs = zip(formulas.items(), rows, strict=True)
    return {name: formula.share(row, operands) for (name, formula), row in pairs}


def _weakest(shares: Mapping[Guard, Mapping[str, float]], names: Iterable[str]) -> Guard | None:
    """The first guard under which all results are as expected."""
    names = tuple(names)
    right = (g for g in GUARDS if all(shares[g][name] == 1.0 for name in names))
    return next(right, None)


def _kernel(kind: str, builds: Sequence[Callable[..., Value]]) -> Kernel:
    b = Builder()
    inputs = [b.buffer(name, kind) for name in _INPUTS]
    out, n = b.buffer("out", kind, written=True), b.scalar("n", "index")
    with b.lanes(0, n) as lanes:
        values = [b.load(buffer, lanes.i) for buffer in inputs]
        for number, build in enumerate(builds):
            b.store(out, n * number + lanes.i, build(b, *values))
    return b.finish()
