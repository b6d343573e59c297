"""Report on an adapter for people: its limits, and the results of its float tests."""

from __future__ import annotations

from collections.abc import Iterator

from runmat_jit.backends.wgpu.adapter import AdapterInfo
from runmat_jit.backends.wgpu.findings import FLOAT_NAMES, Findings, FloatFindings

Row = tuple[str, str]

_GUARDS = {
    "none": "no guard",
    "fma": "products guarded",
    "sums": "products and sums guarded",
    "or": "every operation guarded",
}


def report_adapter(info: AdapterInfo, findings: Findings | None) -> tuple[Row, ...]:
    """Names and values; without findings testing the driver crashed."""
    rows = [
        ("driver", info.driver or "unknown"),
        ("types", _types(info)),
        ("limits", _limits(info)),
    ]
    if findings is None:
        return (*rows, ("not used", "its driver crashed while its shaders were tested"))
    rows += [(FLOAT_NAMES[kind], _floats(kind, findings)) for kind in findings.floats]
    rows.append(("built-in", _builtins(findings)))
    rows.append(("reproducible", "; ".join(_reproducible(findings))))
    return tuple(rows)


def _types(info: AdapterInfo) -> str:
    lacking = [
        name for kind, name in (("f64", "float64"), ("i64", "int64")) if kind not in info.kinds
    ]
    names = [n for n in ("float32", "float64", "int32", "int64", "bool") if n not in lacking]
    missing = f" (no {', no '.join(lacking)}: such regions stay on the CPU)" if lacking else ""
    return ", ".join(names) + missing


def _limits(info: AdapterInfo) -> str:
    limits = info.limits
    return (
        f"{_size(limits['max-buffer-size'])} an array, "
        f"{_size(limits['max-storage-buffer-binding-size'])} seen at once, "
        f"{limits['max-storage-buffers-per-shader-stage']} arrays a kernel, "
        f"{limits['max-compute-invocations-per-workgroup']} threads and "
        f"{_size(limits['max-compute-workgroup-storage-size'])} a workgroup"
    )


def _size(nbytes: int) -> str:
    for unit, scale in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if nbytes >= scale:
            return f"{nbytes / scale:.4g} {unit}"
    return f"{nbytes} B"


def _floats(kind: str, findings: Findings) -> str:
    found = findings.floats[kind]
    inaccurate = findings.inaccurate(kind)
    guard = found.accurate_guard
    accurate = "not used" if inaccurate or guard is None else _GUARDS[guard]
    return ", ".join((accurate, *_hardware(kind, found, findings)))


def _hardware(kind: str, found: FloatFindings, findings: Findings) -> Iterator[str]:
    emulated = kind in findings.arithmetic(reproducible=True).emulate_fma
    split = "fma split" + (" and emulated" if emulated else "")
    yield "fma fused" if found.fused_fma else split
    yield f"division {'exact' if found.exact_division else 'inexact'}"
    yield f"sqrt {'exact' if found.exact_sqrt else 'inexact'}"
    yield f"subnormals {'kept' if found.keeps_subnormals else 'flushed'}"
    if not found.rounds_to_whole:
        yield "rounded to whole numbers by their bits"


def _builtins(findings: Findings) -> str:
    errors = (f"{name} {error:.3g}" for name, error in findings.builtins.items())
    used = ", ".join(sorted(findings.usable_builtins())) or "none"
    return f"{', '.join(errors)} ULP (used: {used})"


def _reproducible(findings: Findings) -> Iterator[str]:
    for kind in findings.floats:
        reason, guard = findings.irreproducible(kind), findings.floats[kind].guard
        if reason is None and guard is not None:
            yield f"{FLOAT_NAMES[kind]} yes, {_GUARDS[guard]}"
        else:
            yield f"{FLOAT_NAMES[kind]} no, {reason}"
