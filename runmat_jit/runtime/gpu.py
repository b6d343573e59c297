"""The GPU that a session uses, and the list of devices that users see."""

from __future__ import annotations

import functools
import os
import sys
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from runmat_jit.core.errors import BackendError
from runmat_jit.core.frozen import immutable
from runmat_jit.core.loading import GPU, LOADER
from runmat_jit.core.locks import new_lock

if TYPE_CHECKING:
    import logging

    from runmat_jit.backends.wgpu.adapter import AdapterInfo
    from runmat_jit.backends.wgpu.arithmetic import Arithmetic
    from runmat_jit.backends.wgpu.backend import WgpuBackend
    from runmat_jit.backends.wgpu.findings import Findings
    from runmat_jit.backends.wgpu.report import Row
    from runmat_jit.kernel.ir import Kernel


@immutable
class DeviceInfo:
    """A device that regions may run on; ``software`` ones are a CPU in disguise."""

    kind: str
    """``cpu`` or ``gpu``."""
    name: str
    backend: str
    software: bool
    dtypes: tuple[str, ...]
    """The dtypes that kernels compute with there."""

    def __str__(self) -> str:
        note = ", software" if self.software and self.kind == "gpu" else ""
        return f"{self.kind}: {self.name} ({self.backend}{note})"


@immutable
class Gpu:
    """An opened adapter: its compiler and memory, for one run at a time.

    ``reproducible`` programs have the CPU's bits, or do not run there.
    """

    backend: WgpuBackend
    info: AdapterInfo
    lock: threading.RLock
    findings: Findings
    reproducible: bool = False

    @property
    def builtins(self) -> frozenset[str] | None:
        """Functions of the adapter that kernels may use; None: kernels as the CPU's.

        Software adapters compute what they are told: shorter functions are no gain there.
        """
        fused = self.findings.floats["f32"].fused_fma
        if self.reproducible or self.info.software or not fused:
            return None
        return self.findings.usable_builtins()

    def at(self, *, reproducible: bool) -> Gpu:
        """The same device, memory and pipelines for programs with this promise."""
        if reproducible == self.reproducible:
            return self
        backend = self.backend.at(*_promise(self.findings, reproducible=reproducible))
        return replace(self, backend=backend, reproducible=reproducible)


def might_have_gpu() -> bool:
    """True if the system has a GPU, as far as can be seen without a driver."""
    return not sys.platform.startswith("linux") or any(map(os.path.exists, _CARDS))


_CARDS = ("/dev/dri", "/dev/nvidiactl", "/dev/kfd", "/dev/dxg", "/dev/mali0", "/dev/kgsl-3d0")
"""What Linux's kernel drivers of GPUs make."""


def open_gpu(cache: Path | None, log: logging.Logger, *, reproducible: bool = False) -> Gpu:
    """The first adapter that works: real ones come before software.

    Args:
        cache: Where the findings about adapters are kept; None: nowhere.
        log: Gets a line where a driver crashes.
        reproducible: Whether programs must have the CPU's bits.

    Raises:
        BackendError: there is none, or its driver crashes.

    """
    LOADER.load(GPU)
    from runmat_jit.backends.wgpu.adapter import Device  # noqa: PLC0415  (loads no GPU code before)
    from runmat_jit.backends.wgpu.backend import WgpuBackend  # noqa: PLC0415  (likewise)
    from runmat_jit.backends.wgpu.probe import findings_of, usable_adapters  # noqa: PLC0415  (likewise)

    for adapter in usable_adapters(cache, log):
        findings = findings_of(adapter.info, cache, log)
        if findings is not None:
            arithmetic, refuse = _promise(findings, reproducible=reproducible)
            backend = WgpuBackend(Device(adapter), arithmetic, refuse=refuse)
            return Gpu(backend, adapter.info, new_lock(), findings, reproducible)
    raise BackendError("no Vulkan, Metal or DirectX adapter was found whose driver works")


def _promise(
    findings: Findings, *, reproducible: bool
) -> tuple[Arithmetic, Callable[[Kernel], str | None]]:
    """How shaders are printed, and which kernels do not run."""
    refuse = functools.partial(findings.refusal, reproducible=reproducible)
    return findings.arithmetic(reproducible=reproducible), refuse


def gpu_devices(cache: Path | None, log: logging.Logger) -> tuple[DeviceInfo, ...]:
    """The adapters of this machine, software ones marked."""
    from runmat_jit.backends.wgpu.probe import usable_adapters  # noqa: PLC0415  (see open_gpu)

    return tuple(describe(adapter.info) for adapter in usable_adapters(cache, log))


def gpu_reports(cache: Path | None, log: logging.Logger) -> list[tuple[str, tuple[Row, ...]]]:
    """The name of each adapter, and what was found of it; the first one is the one in use."""
    from runmat_jit.backends.wgpu.probe import findings_of, usable_adapters  # noqa: PLC0415  (see open_gpu)
    from runmat_jit.backends.wgpu.report import report_adapter  # noqa: PLC0415  (likewise)

    return [
        (str(a.info), report_adapter(a.info, findings_of(a.info, cache, log)))
        for a in usable_adapters(cache, log)
    ]


def describe(info: AdapterInfo) -> DeviceInfo:
    """What users are told of an adapter."""
    wide = {"i64": "int64", "f64": "float64"}
    dtypes = ("float32", "int32", "bool", *(wide[k] for k in ("i64", "f64") if k in info.kinds))
    return DeviceInfo("gpu", info.name, info.backend, info.software, dtypes)
