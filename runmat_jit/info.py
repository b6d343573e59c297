"""What a report of a problem has to say about the machine and the installation."""

from __future__ import annotations

import platform
import sys
import textwrap
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import runmat_jit as runmat
from runmat_jit.backends.llvm.host import ask_llvm
from runmat_jit.backends.llvm.target import unsupported_reason
from runmat_jit.core.config import OPTIONS
from runmat_jit.dispatcher import UNSUPPORTED
from runmat_jit.runtime.gpu import gpu_reports
from runmat_jit.runtime.session import cache_directory, current_session

COLUMNS = 80
INSTALL = (
    "install the driver of your GPU, with Vulkan on Linux and DirectX 12 on Windows; to try "
    "without a GPU, Mesa's software adapter: apt-get install libvulkan1 mesa-vulkan-drivers"
)
PACKAGES = ("runmat-jit", "numpy", "llvmlite", "scipy", "wgpu", "matplotlib")
Section = tuple[str, list[tuple[str, str]]]


def describe() -> str:
    """All sections as aligned text."""
    lines: list[str] = []
    for title, rows in (_versions(), _machine(), *_adapters(), _options(), _telemetry()):
        width = max((len(name) for name, _ in rows), default=0)
        lines.append(title)
        for name, value in rows:
            lines += _wrapped(f"  {name:{width}}  ", value)
        lines.append("")
    return "\n".join(lines).rstrip()


def _wrapped(head: str, value: str) -> list[str]:
    """Lines of at most ``COLUMNS``, except for words that are longer."""
    if len(head) + len(value) <= COLUMNS:
        return [(head + value).rstrip()]
    return textwrap.wrap(
        value,
        COLUMNS,
        initial_indent=head,
        subsequent_indent=" " * len(head),
        break_long_words=False,
        break_on_hyphens=False,
    )


def _versions() -> Section:
    rows = [("python", f"{sys.version.split()[0]} ({platform.python_implementation()})")]
    return "Versions", rows + [(name, _version(name)) for name in PACKAGES]


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def _machine() -> Section:
    target = ask_llvm().target
    rows = [
        ("system", platform.platform()),
        ("CPU", _cpu_name() or target.cpu),
        ("code for", f"{target.cpu} ({target.triple})"),
        ("vector width", f"{8 * target.vector_bytes} bits"),
        ("threads", str(current_session().threads)),
        ("cache", _cache()),
        ("kernels", unsupported_reason(target) or UNSUPPORTED or "compiled"),
    ]
    return "Machine", rows


def _adapters() -> list[Section]:
    session = current_session()
    found = gpu_reports(session.findings_directory(), session.log)
    if not found:
        return [("GPU", [("adapters", "none"), ("to do", INSTALL)])]
    usable = [number for number, (_, rows) in enumerate(found) if rows[-1][0] != "not used"]
    return [
        (f"GPU: {name}" + (", in use" if number in usable[:1] else ""), list(rows))
        for number, (name, rows) in enumerate(found)
    ]


def _cache() -> str:
    config = current_session().config
    return "off" if config.cache_dir == "none" else str(cache_directory(config))


def _cpu_name() -> str:
    path = Path("/proc/cpuinfo")
    if not path.exists():
        return platform.processor()
    lines = path.read_text(encoding="utf-8").splitlines()
    return _first(line.partition(":")[2].strip() for line in lines if line.startswith("model name"))


def _first(names: Iterable[str]) -> str:
    return next(iter(names), "")


def _options() -> Section:
    config = current_session().config
    rows = []
    for option in OPTIONS:
        value = getattr(config, option.name)
        shown = ",".join(sorted(value)) if isinstance(value, frozenset) else str(value)
        rows.append((option.name, f"{shown or '-'}  ({config.sources[option.name]})"))
    return "Options", rows


def _telemetry() -> Section:
    counters = runmat.telemetry.snapshot()
    return "Telemetry", [(name, str(value)) for name, value in sorted(counters.items())]
