"""``python -m runmat_jit calibrate``: what this machine's devices can do, measured and kept."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, Final

import numpy as np

import runmat_jit as runmat
from runmat_jit.compiler.calibrate_cpu import measure_cpu
from runmat_jit.compiler.calibrate_gpu import measure_gpu
from runmat_jit.compiler.timed_sample import least_us
from runmat_jit.core.errors import BackendError
from runmat_jit.plan.profile import Profile, to_dict
from runmat_jit.runtime.session import Session, current_session


def calibrate(*, as_json: bool = False) -> int:
    """Measure the CPU and the adapter in use, keep both, and print them; the exit status.

    Args:
        as_json: Whether the profiles are printed as a JSON object, by device.

    """
    session = current_session()
    found: dict[str, Profile] = {}
    if session.unsupported is None:
        found["cpu"] = _measured(session, "cpu", lambda tell: measure_cpu(session, tell))
    try:
        gpu = session.gpu
    except BackendError as error:
        sys.stderr.write(f"gpu: {error}\n")
    else:
        if gpu.info.software:
            sys.stderr.write(f"gpu: {gpu.info} is a CPU in disguise, which nothing is placed on\n")
        else:
            found["gpu"] = _measured(session, "gpu", lambda tell: _whole(measure_gpu(gpu, tell)))
            gpu.backend.device.tuning = found["gpu"].tuning or gpu.backend.device.tuning
    if as_json:
        text = json.dumps({device: to_dict(profile) for device, profile in found.items()}, indent=1)
    else:
        text = "\n\n".join(describe(device, profile) for device, profile in found.items())
    sys.stdout.write(f"{text}\n")
    return 0 if found else 1


_WARM: Final = 64
"""Calls after which nothing is recorded, compiled or tried any more."""


def _whole(profile: Profile) -> Profile:
    """The profile, in which waiting is what a call takes beside its parts: Python's steps, too."""
    link = profile.link
    assert link is not None, "of a device with memory of its own"
    x = np.linspace(0.1, 2.0, 4096, dtype=np.float32)
    call, launched = partial(runmat.jit(_waves, device="gpu"), x), _launched()
    for _ in range(_WARM):
        call()
    if _launched() - launched < _WARM:  # a program that is not run there tells nothing
        return profile
    parts = link.transfers_us([x.nbytes], [x.nbytes]) + link.submission_us
    waiting = max(least_us(call) - parts, link.waiting_us)
    return replace(profile, link=replace(link, waiting_us=waiting))


def _waves(x: np.ndarray) -> Any:
    return np.tanh(np.sin(x) * np.exp(-x / 10)) + np.cos(x) * np.sqrt(x)


def _launched() -> int:
    found = runmat.telemetry.snapshot()["gpu_launches"]
    assert isinstance(found, int), "a counter"
    return found


def _measured(
    session: Session, device: str, measure: Callable[[Callable[[str], None]], Profile]
) -> Profile:
    """A profile that is measured, with a line of progress, and kept."""
    shows = sys.stderr.isatty()

    def tell(what: str) -> None:
        if shows:
            sys.stderr.write(f"\r\x1b[Kmeasuring {device}: {what}")
            sys.stderr.flush()

    start = time.perf_counter()
    profile = measure(tell)
    if shows:
        sys.stderr.write("\r\x1b[K")
    identity = session.identity() if device == "cpu" else ("gpu", session.gpu.info.key)
    kept = session.profiles.keep(profile, *identity)
    took = f"{device}: measured in {time.perf_counter() - start:.1f} s"
    sys.stderr.write(f"{took}, {'kept' if kept else 'not kept'}\n")
    return profile


def describe(device: str, profile: Profile) -> str:
    """A table for people."""
    lines = [f"{device}: {profile.name}, {profile.threads} thread(s)"]
    for tier in profile.bandwidth:
        size = f"up to {_size(tier.up_to)}" if tier is not profile.bandwidth[-1] else "beyond"
        lines.append(
            f"  memory, {size:18} {tier.one / 1e3:8.1f} GB/s   all threads "
            f"{tier.every / 1e3:8.1f} GB/s"
        )
    for name, rate in sorted(profile.rates.items()):
        lines.append(f"  {name:26} {1e-3 / rate:10.2f} billion a second")
    lines.extend(
        f"  products up to {each.up_to:8.2g} flops  float32 {each.single / 1e3:8.1f} GFLOP/s   "
        f"float64 {each.double / 1e3:8.1f} GFLOP/s"
        for each in profile.products
    )
    lines.append(f"  launch {profile.launch_us:.2f} us, waking threads {profile.wake_us:.2f} us")
    if profile.tuning is not None:
        lines.extend(
            f"  tiles {name:12} {pace.us:10.1f} us a thousand terms, {pace.at_once:.0f} at once"
            for name, pace in profile.tuning.tiles.items()
        )
        lines.append(f"  columns: {profile.tuning.column_threads} threads")
    if profile.link is not None:
        link = profile.link
        lines.append(
            f"  upload {link.upload_us:.0f} us and {link.upload / 1e3:.1f} GB/s, "
            f"download {link.download_us:.0f} us and {link.download / 1e3:.1f} GB/s, "
            f"submission {link.submission_us:.0f} us, waiting {link.waiting_us:.0f} us"
        )
    return "\n".join(lines)


def _size(nbytes: int) -> str:
    for unit, scale in (("MB", 1 << 20), ("KB", 1 << 10)):
        if nbytes >= scale:
            return f"{nbytes // scale} {unit}"
    return f"{nbytes} B"
