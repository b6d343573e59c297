"""Finds out what the floats of an adapter do, by kernels whose results are known.

The weakest guard under which a group of formulas holds is the one to print shaders with; division,
square root, ``fma`` and subnormal numbers are properties of the hardware, tested under the
strongest guard.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

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
    Floats,
    Formula,
    operands_of,
    same_bits,
)
from runmat_jit.backends.wgpu.run import KernelRun, WgpuRunner
from runmat_jit.kernel.build import Builder
from runmat_jit.kernel.interpret import interpret
from runmat_jit.kernel.ir import Kernel, Table, Value
from runmat_jit.kernel.math.tables import table

_UNITS = 4
"""Of a formula of several operations, in the last place: what a row may be off on a GPU."""
_INPUTS = ("x", "h", "special")


def self_test(device: Device) -> Findings:
    """Run all tests on a device: some twenty small shaders."""
    kinds = ["f32", *(["f64"] if "f64" in device.info.kinds else [])]
    found = Findings({kind: _test_hardware(device, kind) for kind in kinds}, {})
    accurate, exact = (found.arithmetic(reproducible=r) for r in (False, True))
    floats = {
        kind: replace(
            hardware,
            guard=_exact_guard(device, kind, exact, hardware.guard),
            accurate_guard=_accurate_guard(device, kind, accurate),
        )
        for kind, hardware in found.floats.items()
    }
    return Findings(floats, builtin_errors(device))


def _test_hardware(device: Device, kind: str) -> FloatFindings:
    """Find the corrections that hardware needs, and the weakest guard for identities."""
    hardware = shares_of(device, kind, Arithmetic("or"), HARDWARE)
    fused = frozenset({kind} if hardware["fma"] == 1.0 else ())
    shares = {
        guard: shares_of(device, kind, Arithmetic(guard, fused=fused), IDENTITIES)
        for guard in GUARDS
    }
    return FloatFindings(
        _weakest(shares, IDENTITIES),
        None,
        fused_fma=hardware["fma"] == 1.0,
        exact_division=hardware["division"] == 1.0,
        exact_sqrt=hardware["sqrt"] == 1.0,
        keeps_subnormals=hardware["subnormals"] == 1.0,
        rounds_to_whole=hardware["trunc"] == hardware["rint"] == 1.0,
    )


def _accurate_guard(device: Device, kind: str, needed: Arithmetic) -> Guard | None:
    """The weakest guard that functions need; groups that compile fast come first."""
    near = {name: replace(formula, units=_UNITS) for name, formula in IDENTITIES.items()}
    for guard in GUARDS:
        arithmetic = replace(needed, guard=guard, guards=())
        groups = (near, JUMPS, FUNCTIONS)
        shares = (shares_of(device, kind, arithmetic, group) for group in groups)
        if all(share == 1.0 for group in shares for share in group.values()):
            return guard
    return None


def _exact_guard(
    device: Device, kind: str, needed: Arithmetic, least: Guard | None
) -> Guard | None:
    """The weakest guard, from ``least`` on, under which functions have the bits of the CPU."""
    if least is None:
        return None
    formulas = {**JUMPS, **FUNCTIONS}
    operands = operands_of(kind)
    kernel = _kernel(kind, [formula.build for formula in formulas.values()])
    arguments = _arguments(kernel, operands, len(formulas))
    with np.errstate(all="ignore"):
        interpret(kernel, arguments)
    for guard in GUARDS[GUARDS.index(least) :]:
        rows = _computed(device, kind, replace(needed, guard=guard, guards=()), formulas)
        if all(map(same_bits, rows, arguments["out"].reshape(rows.shape))):
            return guard
    return None


def shares_of(
    device: Device, kind: str, arithmetic: Arithmetic, formulas: Mapping[str, Formula]
) -> dict[str, float]:
    """The share of expected results of each formula, by name."""
    operands = operands_of(kind)
    rows = _computed(device, kind, arithmetic, formulas)
    pairs = zip(formulas.items(), rows, strict=True)
    return {name: formula.share(row, operands) for (name, formula), row in pairs}


def _computed(
    device: Device, kind: str, arithmetic: Arithmetic, formulas: Mapping[str, Formula]
) -> Floats:
    """The results of each formula on the device."""
    kernel = _kernel(kind, [formula.build for formula in formulas.values()])
    given = _arguments(kernel, operands_of(kind), len(formulas))
    runner = WgpuRunner(WgpuBackend(device, arithmetic))
    memory, size = runner.backend.memory, given.pop("n")
    arrays = {name: memory.upload(array) for name, array in given.items()}
    runner.run([KernelRun(kernel, {**arrays, "n": size}, (0, size))])
    rows = memory.download(arrays["out"]).reshape(len(formulas), size)
    memory.free(arrays.values())
    memory.clear()
    return rows


def _arguments(kernel: Kernel, operands: Sequence[Floats], formulas: int) -> dict[str, Any]:
    """Arguments of a kernel of formulas, by name."""
    size, dtype = operands[0].size, operands[0].dtype
    tables = {p.name: table(p.name) for p in kernel.parameters if isinstance(p, Table)}
    inputs = dict(zip(_INPUTS, operands, strict=True))
    return {**inputs, **tables, "out": np.zeros(formulas * size, dtype), "n": size}


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
