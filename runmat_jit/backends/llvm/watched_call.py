"""A call of a kernel that tells which floating-point events the machine has seen meanwhile.

NumPy finds out in the same way, so that what it would report for operations on single numbers is
what the flags say. Code that LLVM has moved may set more of them, never fewer.
"""

from __future__ import annotations

from runmat_jit.backends.llvm.flags import flags_of
from runmat_jit.backends.llvm.jit import Jit
from runmat_jit.backends.llvm.target import Target

_NAME, _CELLS_NAME = "watched_call", "watched_cells"
_CELLS = f"""
define void @{_CELLS_NAME}(ptr %args, i64 %lo, i64 %hi) nounwind {{
entry:
  %number = load i64, ptr %args
  %steps.at = getelementptr i64, ptr %args, i64 1
  %steps = load ptr, ptr %steps.at
  %seen.at = getelementptr i64, ptr %args, i64 2
  %seen = load ptr, ptr %seen.at
  %first = mul i64 %lo, %number
  %last = mul i64 %hi, %number
  %some = icmp slt i64 %first, %last
  br i1 %some, label %step, label %done
step:
  %i = phi i64 [ %first, %entry ], [ %next, %step ]
  %twice = shl i64 %i, 1
  %step.at = getelementptr ptr, ptr %steps, i64 %twice
  %kernel = load ptr, ptr %step.at
  %block.at = getelementptr ptr, ptr %step.at, i64 1
  %block = load ptr, ptr %block.at
  %word = call i64 @{_NAME}(ptr %kernel, ptr %block)
  %word.at = getelementptr i64, ptr %seen, i64 %i
  store i64 %word, ptr %word.at
  %next = add i64 %i, 1
  %more = icmp slt i64 %next, %last
  br i1 %more, label %step, label %done
done:
  ret void
}}
"""


def watched_call(jit: Jit) -> int:
    """Address of ``i64 f(kernel, args)``, which runs one cell of a kernel: the bits of events.

    Bit ``n`` tells of event ``n`` of :data:`runmat_jit.core.errstate.FLAGS`.
    """
    return jit.functions(watched_text(jit.target), [_NAME], codegen_level=0)[_NAME]


def watched_cells(jit: Jit) -> int:
    """Address of ``void f(args, lo, hi)``, which does so for cells ``lo`` to ``hi``, step by step.

    ``args`` are the steps of a cell, the address of a table of the steps (kernel and argument block
    of each) and that of as many words for the bits of events.
    """
    text = watched_text(jit.target) + _CELLS
    return jit.functions(text, [_CELLS_NAME], codegen_level=0)[_CELLS_NAME]


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
