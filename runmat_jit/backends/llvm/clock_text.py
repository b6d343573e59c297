"""LLVM text for waiting: a pause between two looks at memory, and a clock."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from runmat_jit.backends.llvm.target import Target


def pause_text(target: Target) -> str:
    """``void pause()``, some 20 ns during which a sibling hardware thread gets the core."""
    return _PAUSE[target.architecture]


def clock_symbols(target: Target) -> tuple[str, ...]:
    """C functions that ``clock_ms`` calls."""
    return ("GetTickCount64",) if target.system == "windows" else ("clock_gettime",)


# AArch64's own spin hint takes one cycle; the barrier takes about as long as x86's pause.
_PAUSE: Mapping[str, str] = MappingProxyType(
    {
        "x86_64": """
declare void @llvm.x86.sse2.pause()
define internal void @pause() alwaysinline {
  call void @llvm.x86.sse2.pause()
  ret void
}""",
        "aarch64": """
declare void @llvm.aarch64.isb(i32)
define internal void @pause() alwaysinline {
  call void @llvm.aarch64.isb(i32 15)
  ret void
}""",
    }
)


def clock_text(target: Target) -> str:
    """``i64 clock_ms()``, monotonic; 16 ms steps on Windows are fine enough for slices."""
    if target.system == "windows":
        return """
declare i64 @GetTickCount64()
define internal i64 @clock_ms() {
  %now = call i64 @GetTickCount64()
  ret i64 %now
}"""
    monotonic = 6 if target.system == "darwin" else 1
    return f"""
declare i32 @clock_gettime(i32, ptr)
define internal i64 @clock_ms() {{
  %time = alloca [2 x i64], align 8
  %failed = call i32 @clock_gettime(i32 {monotonic}, ptr %time)
  %s = load i64, ptr %time, align 8
  %p_ns = getelementptr i8, ptr %time, i64 8
  %ns = load i64, ptr %p_ns, align 8
  %whole = mul i64 %s, 1000
  %rest = udiv i64 %ns, 1000000
  %now = add i64 %whole, %rest
  ret i64 %now
}}"""
