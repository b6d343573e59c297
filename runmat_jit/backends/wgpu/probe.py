"""Finds adapters, and what their floats do, in a process of its own: drivers may crash.

What was found is kept in the cache directory, once for each version of a driver. Run as a module
this is the other process: without arguments it lists adapters, with an adapter's key it tests it.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

from runmat_jit.backends.wgpu.adapter import Adapter, AdapterInfo, Device, adapters
from runmat_jit.backends.wgpu.findings import Findings
from runmat_jit.backends.wgpu.selftest import self_test
from runmat_jit.core.private_files import read_private, write_private

_VERSION = 8
"""Of the tests: what other versions found does not count."""

_MANIFESTS = ("/etc/vulkan/icd.d", "/usr/share/vulkan/icd.d", "/usr/local/share/vulkan/icd.d")
_SECONDS = 120
_RECORD_BYTES = 1 << 20
"""Of a file of what was found, at most."""


def usable_adapters(cache: Path | None, log: logging.Logger) -> tuple[Adapter, ...]:
    """Adapters that another process could list without crashing; empty where it crashed.

    Args:
        cache: Where results are kept; None: nowhere.
        log: Gets a line where a driver crashes.

    """
    installed = f"wgpu {metadata.version('wgpu')}; {_manifests()}"
    record = _read(cache, installed)
    if record is None:
        record = _ask([], log)
        _write(cache, installed, record)
    return adapters() if "crashed" not in record else ()


def findings_of(info: AdapterInfo, cache: Path | None, log: logging.Logger) -> Findings | None:
    """Test an adapter's floats in a child process; None if that crashed: do not use the adapter."""
    key = f"{info.key}; wgpu {metadata.version('wgpu')}"
    record = _read(cache, key)
    if record is None:
        record = _ask([info.key], log)
        _write(cache, key, record)
    return None if "crashed" in record else Findings.from_json(record)


def _ask(arguments: Sequence[str], log: logging.Logger) -> dict[str, Any]:
    """Output of the child process, or how it ended."""
    command = [sys.executable, "-m", __name__, *arguments]
    path = os.pathsep.join(folder or str(Path.cwd()) for folder in sys.path)
    environment = {**os.environ, "PYTHONPATH": path}
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, env=environment, timeout=_SECONDS, check=False
        )
        if done.returncode == 0:
            answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
            return answer
        reason = f"status {done.returncode}: {done.stderr[-500:]}"
    except subprocess.TimeoutExpired:
        reason = f"no answer within {_SECONDS} seconds"
    log.warning("GPU driver failed while it was probed (%s): %s", " ".join(arguments), reason)
    return {"crashed": reason}


def _manifests() -> str:
    """Names and dates of the installed Vulkan drivers, where the system keeps such a list."""
    found = []
    for folder in _MANIFESTS:
        with contextlib.suppress(OSError):
            found += [f"{p.name} {p.stat().st_mtime_ns}" for p in sorted(Path(folder).iterdir())]
    chosen = os.environ.get("VK_DRIVER_FILES") or os.environ.get("VK_ICD_FILENAMES") or ""
    return "; ".join([*found, chosen])


# -- files ---------------------------------------------------------------------------------------
def _path(cache: Path, key: str) -> Path:
    return cache / "adapters" / f"{hashlib.sha256(key.encode()).hexdigest()[:32]}.json"


def _read(cache: Path | None, key: str) -> dict[str, Any] | None:
    if cache is None:
        return None
    try:
        record = json.loads(read_private(_path(cache, key), _RECORD_BYTES))
    except (OSError, ValueError, RecursionError):
        return None
    known = isinstance(record, dict) and (record.get("version"), record.get("key")) == (
        _VERSION,
        key,
    )
    return record if known else None


def _write(cache: Path | None, key: str, record: Mapping[str, Any]) -> None:
    """Keep a record; a directory that cannot be written is no error, it costs time."""
    if cache is None:
        return
    text = json.dumps({**record, "version": _VERSION, "key": key}, indent=1)
    with contextlib.suppress(OSError):
        write_private(_path(cache, key), text.encode())


def main(arguments: Sequence[str]) -> None:
    """The other process: print one line of JSON."""
    found = adapters()
    if not arguments:
        answer: dict[str, Any] = {"adapters": [a.info.key for a in found]}
    else:
        (adapter,) = [a for a in found if a.info.key == arguments[0]][:1]
        answer = self_test(Device(adapter)).to_json()
    sys.stdout.write(json.dumps(answer) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
