"""A call of a kernel that tells which floating-point events the machine has seen meanwhile.

NumPy finds out in the same way, so that what it would report for operations on single numbers is
what the flags say. Code that LLVM has moved may set more of them, never fewer.
"""

from __future__ import annotations

from runmat_jit.backends.llvm.flags import flags_of
from runmat_jit.backends.llvm.jit import Jit
from runmat_jit.backends.llvm.target import Target

_NAME = "watched_call"


def watched_call(jit: Jit) -> int:
    """Address of ``i64 f(kernel, args)``, which runs one cell of a kernel: the bits of events.

    Bit ``n`` tells of event ``n`` of :data:`runmat_jit.core.errstate.FLAGS`.
    """
    return jit.functions(watched_text(jit.target), [_NAME], codegen_level=0)[_NAME]


def watched_text(target: Target) -> str:
    """LLVM text of the function."""
    known, every = flags_of(target), sum(flags_of(target))
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
