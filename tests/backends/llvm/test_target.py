"""Oracle: the platforms' own definitions."""

import pytest

from runmat_jit.backends.llvm.target import (
    AARCH64_LINUX,
    ARM64_MACOS,
    CROSS_TARGETS,
    X86_64_V3_LINUX,
    X86_64_V3_WINDOWS,
    X86_64_V4_LINUX,
    Target,
    supported,
    unsupported_reason,
)


@pytest.mark.parametrize(
    ("target", "architecture", "system", "vector_bytes"),
    [
        (X86_64_V3_LINUX, "x86_64", "linux", 32),
        (X86_64_V4_LINUX, "x86_64", "linux", 64),
        (X86_64_V3_WINDOWS, "x86_64", "windows", 32),
        (AARCH64_LINUX, "aarch64", "linux", 16),
        (ARM64_MACOS, "aarch64", "darwin", 16),
        (Target("x86_64-pc-windows-msvc-elf", "haswell", "+avx2,+fma"), "x86_64", "windows", 32),
        (Target("x86_64-unknown-freebsd", "haswell", "+avx2,+fma"), "x86_64", "other", 32),
    ],
)
def test_platform_and_width_follow_from_the_description(target, architecture, system, vector_bytes):
    assert (target.architecture, target.system) == (architecture, system)
    assert target.vector_bytes == vector_bytes


@pytest.mark.parametrize("target", CROSS_TARGETS)
def test_listed_platforms_are_supported(target):
    assert supported(target)
    assert unsupported_reason(target) is None


@pytest.mark.parametrize(
    ("target", "reason"),
    [
        (Target("x86_64-unknown-linux-gnu", "nehalem", "+sse4.2"), "avx2 and fma"),
        (Target("x86_64-unknown-linux-gnu", "sandybridge", "+avx2,-fma"), "lacks fma"),
        (Target("riscv64-unknown-linux-gnu", "generic", "+v"), "riscv64"),
        (Target("x86_64-unknown-freebsd", "haswell", "+avx2,+fma"), "freebsd"),
    ],
)
def test_a_refused_machine_gets_a_reason(target, reason):
    assert not supported(target)
    assert reason in unsupported_reason(target)


def test_a_feature_is_on_only_when_named_exactly():
    target = Target("x86_64-unknown-linux-gnu", "x", "+avx512f,-fma,+avx")
    assert target.has("avx512f")
    assert target.has("avx")
    assert not target.has("fma")
    assert not target.has("avx512")
