"""How a kernel is cut for a CPU: lanes of a vector, vectors in flight, iterations of a chunk."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from runmat_jit.backends.llvm.target import Target
from runmat_jit.core.frozen import frozen
from runmat_jit.kernel.ir import Instruction, Kernel
from runmat_jit.kernel.walk import every_instruction, leaves

_BYTES = {"f64": 8, "i64": 8, "f32": 4, "i32": 4}

_SHORT_LOOP = 60
"""Instructions of a loop body below which twice the vectors are kept in flight."""

_SHORT_TURN = 300
"""Instructions of a loop's turn above which more vectors in flight only take longer to compile."""
_REGISTERS, _WIDEST = 32, 64
"""Vector registers where vectors have so many bytes; half as many where they are shorter."""
_LONG, _HUGE = 700, 1500
"""Instructions above which registers do not hold four, or two, vectors of each value."""


@frozen
class Schedule:
    """``width`` lanes, ``unroll`` vectors in flight; chunks of at least ``grain`` iterations."""

    width: int
    unroll: int
    grain: int


def schedule_for(kernel: Kernel, target: Target) -> Schedule:
    """The schedule that measured best for kernels of this size.

    The widest type that lanes hold fills a vector register. ``grain`` counts iterations of a
    top-level ``lanes``; a cell of a ``grid`` is a chunk of its own, since only the caller knows
    how long it takes.
    """
    widest = max(
        (
            _BYTES.get(v.type, 1)
            for i in every_instruction(kernel.body)
            for v in i.results
            if v.lane
        ),
        default=4,
    )
    width = target.vector_bytes // max(widest, 4)
    flat = kernel.body[-1].op == "lanes"
    registers = _REGISTERS if target.vector_bytes == _WIDEST else _REGISTERS // 2
    most = _power_below(registers // (2 * max(1, _most_carried(kernel))))
    return Schedule(
        width, min(_unroll(kernel), most), _grain(instruction_count(kernel)) if flat else 1
    )


def instruction_count(kernel: Kernel) -> int:
    """Instructions of the hot path: cold functions and rare branches do not count."""
    return _hot_count(kernel.body)


def _hot_count(body: Sequence[Instruction]) -> int:
    count = 0
    for instruction in body:
        count += 1
        if instruction.block is not None and instruction.op != "if_any":
            count += _hot_count(instruction.block.body)
    return count


def _unroll(kernel: Kernel) -> int:
    """Four vectors in flight; more where a short loop waits for its own results."""
    count = instruction_count(kernel)
    if leaves(kernel.body) and not _has_turns_in_lanes(kernel):  # turns over short arrays
        return 2 if count < _SHORT_TURN else 1
    if count > _HUGE:
        return 1
    if count > _LONG:
        return 2
    return 8 if _has_short_loop(kernel) else 4


def _has_short_loop(kernel: Kernel) -> bool:
    return any(_hot_count(body) < _SHORT_LOOP for body in _loops_that_carry_lanes(kernel))


def _has_turns_in_lanes(kernel: Kernel) -> bool:
    return any(True for _ in _loops_that_carry_lanes(kernel))


def _loops_that_carry_lanes(kernel: Kernel) -> Iterator[Sequence[Instruction]]:
    """The bodies of loops in lanes that keep what they compute in registers."""
    for i in every_instruction(kernel.body):
        if i.op == "loop" and i.block is not None and any(c.lane for c in i.block.carried):
            yield i.block.body


def _most_carried(kernel: Kernel) -> int:
    """The most values of lanes that a loop carries: half of the registers hold them."""
    blocks = (i.block for i in every_instruction(kernel.body) if i.op == "loop")
    return max((sum(c.lane for c in block.carried) for block in blocks if block), default=0)


def _power_below(number: int) -> int:
    """The greatest power of two up to a number, at least 1."""
    return 1 << max(0, number.bit_length() - 1)


def _grain(instructions: int) -> int:
    """Iterations that take some ten microseconds, a power of two."""
    return 1 << max(10, 18 - max(instructions, 4).bit_length() + 1)
