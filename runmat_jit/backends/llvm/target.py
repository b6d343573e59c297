"""Which machine code is generated for: triple, CPU, features and the vector width that follows."""

from __future__ import annotations

from runmat_jit.core.frozen import frozen


@frozen
class Target:
    """A machine to generate code for, as LLVM names it."""

    triple: str
    cpu: str
    features: str

    def has(self, feature: str) -> bool:
        """True if the feature list turns ``feature`` on (``avx512f``, ``fma``, ``neon``)."""
        return f"+{feature}" in self.features.split(",")

    @property
    def architecture(self) -> str:
        """``x86_64``, ``aarch64``, or whatever else the triple begins with."""
        name = self.triple.partition("-")[0]
        return {"amd64": "x86_64", "arm64": "aarch64"}.get(name, name)

    @property
    def system(self) -> str:
        """``linux``, ``darwin``, ``windows``, or ``other``: what decides names of C functions."""
        for system, words in _SYSTEMS:
            if any(word in self.triple for word in words):
                return system
        return "other"

    @property
    def vector_bytes(self) -> int:
        """Bytes of the widest vector register: 64 with AVX-512, 32 with AVX2, 16 with NEON."""
        if self.architecture != "x86_64":
            return 16
        if all(self.has(feature) for feature in _AVX512):
            return 64
        return 32 if self.has("avx2") else 16


_SYSTEMS = (("linux", ("linux",)), ("darwin", ("darwin", "macos")), ("windows", ("windows",)))
_AVX512 = ("avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl")
_V3 = ("avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe")

FULL_WIDTH = "-prefer-256-bit"
"""LLVM may split 512-bit operations in two on CPUs tuned for it, which measured 2 times slower."""


def _features(names: tuple[str, ...]) -> str:
    return ",".join([*(f"+{name}" for name in names), FULL_WIDTH])


X86_64_V3_LINUX = Target("x86_64-unknown-linux-gnu", "x86-64-v3", _features(_V3))
X86_64_V4_LINUX = Target("x86_64-unknown-linux-gnu", "x86-64-v4", _features(_V3 + _AVX512))
X86_64_V3_WINDOWS = Target("x86_64-pc-windows-msvc", "x86-64-v3", _features(_V3))
AARCH64_LINUX = Target("aarch64-unknown-linux-gnu", "generic", "+neon")
ARM64_MACOS = Target("arm64-apple-macosx11", "apple-m1", "+neon")

CROSS_TARGETS = (
    X86_64_V3_LINUX,
    X86_64_V4_LINUX,
    X86_64_V3_WINDOWS,
    AARCH64_LINUX,
    ARM64_MACOS,
)


def unsupported_reason(target: Target) -> str | None:
    """Reason why no kernels are generated for ``target``; ``None`` where they are.

    Fused multiply-add is the floor: without it ``llvm.fma`` is a library call, 30 to 50 times
    slower than NumPy.
    """
    if target.system == "other":
        return f"no kernels are generated for {target.triple} (Linux, macOS and Windows only)"
    if target.architecture == "aarch64":
        return None  # NEON with fused multiply-add is part of the architecture
    if target.architecture != "x86_64":
        return f"no kernels are generated for {target.architecture} (x86-64 and AArch64 only)"
    missing = [feature for feature in ("avx2", "fma") if not target.has(feature)]
    if missing:
        return f"the CPU ({target.cpu}) lacks {' and '.join(missing)}; x86-64-v3 is needed"
    return None


def supported(target: Target) -> bool:
    """True if kernels are generated for ``target``: x86-64-v3 or better, or AArch64."""
    return unsupported_reason(target) is None
