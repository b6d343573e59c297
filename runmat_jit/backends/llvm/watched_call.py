"""A call of a kernel that tells which floating-point events the machine has seen meanwhile.

NumPy finds out in the same way, so that what it would report for operations on single numbers is
what the flags say. Code that LLVM has moved may set more of them, never fewer.
"""

from __future__ import annotations

from runmat_jit.backends.llvm.jit import Jit
from runmat_jit.backends.llvm.target import Target

EVENTS = ("invalid", "divide", "over")
"""Events by the bits of what :func:`watched_call` returns, the lowest first."""
_FLAGS = {"x86_64": (0x01, 0x04, 0x08), "aarch64": (0x01, 0x02, 0x04)}
"""The C library's masks of these events, FE_INVALID, FE_DIVBYZERO and FE_OVERFLOW."""
_OF_WINDOWS = (0x10, 0x08, 0x04)
_NAME = "watched_call"


def watched_call(jit: Jit) -> int:
    """Address of ``i64 f(kernel, args)``, which runs one cell of a kernel: the bits of events."""
    return jit.functions(watched_text(jit.target), [_NAME], codegen_level=0)[_NAME]


def watched_text(target: Target) -> str:
    """LLVM text of the function."""
    known = _OF_WINDOWS if target.system == "windows" else _FLAGS[target.architecture]
    every = sum(known)
    lines = [
        "declare i32 @feclearexcept(i32)",
        "declare i32 @fetestexcept(i32)",
        f"define i64 @{_NAME}(ptr %kernel, ptr %args) nounwind {{",
        f"  %cleared = call i32 @feclearexcept(i32 {every})",
        "  call void %kernel(ptr %args, i64 0, i64 1)",
        f"  %seen = call i32 @fetestexcept(i32 {every})",
    ]
    word = "0"
    for bit, flag in enumerate(known):
        lines += [
            f"  %a{bit} = and i32 %seen, {flag}",
            f"  %b{bit} = icmp ne i32 %a{bit}, 0",
            f"  %c{bit} = zext i1 %b{bit} to i64",
            f"  %d{bit} = shl i64 %c{bit}, {bit}",
            f"  %e{bit} = or i64 {word}, %d{bit}",
        ]
        word = f"%e{bit}"
    return "\n".join([*lines, f"  ret i64 {word}", "}", ""])
