"""Uses of the floats of a kernel: operands of other operations, values rounded later."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from runmat_jit.core.frozen import frozen
from runmat_jit.kernel.ir import Function, Instruction, Kernel, Value
from runmat_jit.kernel.primitives import FLOATS
from runmat_jit.kernel.walk import every_instruction

_WITHOUT_ARITHMETIC = ("store", "bitcast", "note", "isnan", "fptosi")
"""Operations on floats that no float rule reaches through."""
_JUMPS = ("floor", "ceil", "rint", "trunc_float", "fptosi")
"""Operations whose result may be another whole number where the operand differs by one bit."""
_FACTORS = ("mul", "div", "sqrt", "builtin", "below", "beyond", "lt", "le", "gt", "ge", "eq", "ne")
"""Operations that no product is merged with, but for constants."""
_SUMS = ("add", "sub", "neg")
_PASSES = ("add", "sub", "mul", "div", "fma", "neg", "abs", "sqrt", "copysign", "scale2", "select")
_MOVES = ("splat", "fpext", "fptrunc")
_ROUNDING = ("add", "sub", "mul", "div", "fma", "sqrt", "scale2")


@frozen
class Uses:
    """Numbers of the float values of a kernel, by what happens to them."""

    fed: frozenset[int]
    """Another float operation takes them, or a block carries them on."""
    summed: frozenset[int]
    """They are added to something, or a block carries them on."""
    merged: frozenset[int]
    """If they are products: a sum may take them in, or they may be passed on to one."""
    scaled: frozenset[int]
    """They are multiplied by a constant."""
    before_jumps: frozenset[int]
    """Something is computed from them that is rounded to a whole number."""
    widens: bool
    """True if some float32 is converted to float64."""


def uses_of(kernel: Kernel) -> Uses:
    """Collect the uses of the floats of a kernel."""
    fed: set[int] = set()
    summed: set[int] = set()
    merged: set[int] = set()
    scaled: set[int] = set()
    for instruction in instructions_of(kernel):
        taken = {v.number for v in instruction.args if v.type in FLOATS}
        if instruction.op not in _WITHOUT_ARITHMETIC:
            fed |= taken
        if instruction.op in _SUMS:
            summed |= taken
        if instruction.op == "fma":
            merged.add(instruction.args[2].number)
        elif instruction.op not in (*_FACTORS, *_WITHOUT_ARITHMETIC):
            merged |= taken
        if any(v.literal is not None for v in instruction.args[:2]):
            scaled |= taken if instruction.op in ("mul", "div", "fma") else set()
        if instruction.block is not None:
            carried = {v.number for v in instruction.block.yields if v.type in FLOATS}
            fed |= carried
            summed |= carried
            merged |= carried
    return Uses(
        frozenset(fed),
        frozenset(summed),
        frozenset(merged),
        frozenset(scaled),
        _before_jumps(kernel),
        any(instruction.op == "fpext" for instruction in instructions_of(kernel)),
    )


def _before_jumps(kernel: Kernel) -> frozenset[int]:
    functions = {f.name: f for f in kernel.functions}
    comes_from: dict[int, set[int]] = {}
    pending: list[int] = []
    for instruction in instructions_of(kernel):
        if instruction.op in _JUMPS:
            pending += [v.number for v in instruction.args]
        for value, sources in _sources(instruction, functions):
            floats = {v.number for v in sources if v.type in FLOATS}
            comes_from.setdefault(value.number, set()).update(floats)
    found: set[int] = set()
    while pending:
        number = pending.pop()
        if number not in found:
            found.add(number)
            pending += comes_from.get(number, ())
    return frozenset(found)


def instructions_of(kernel: Kernel) -> Iterator[Instruction]:
    """The instructions of a kernel and of its cold functions."""
    for body in (kernel.body, *(f.body for f in kernel.functions)):
        yield from every_instruction(body)


def rounding_of(kernel: Kernel) -> frozenset[tuple[str, str]]:
    """Operations that round, with the float type that they round to."""
    found: set[tuple[str, str]] = set()
    for instruction in instructions_of(kernel):
        floats = [r.type for r in instruction.results if r.type in FLOATS]
        if instruction.op == "total":
            combines = instruction.attrs["combines"]
            assert isinstance(combines, tuple), "a total names how it combines"
            pairs = zip(combines, instruction.results, strict=True)
            found |= {(op, r.type) for op, r in pairs if r.type in FLOATS}
        elif instruction.op in _ROUNDING:
            found |= {(instruction.op, kind) for kind in floats}
    return frozenset(pair for pair in found if pair[0] in _ROUNDING)


def _sources(
    instruction: Instruction, functions: dict[str, Function]
) -> Iterator[tuple[Value, Sequence[Value]]]:
    """Values that an instruction defines, and the values from which each is computed."""
    op, args, results = instruction.op, instruction.args, instruction.results
    block = instruction.block
    if op == "call":
        function = functions[str(instruction.attrs["function"])]
        yield from ((p, [a]) for p, a in zip(function.parameters, args, strict=True))
        yield from ((r, [f]) for r, f in zip(results, function.results, strict=True))
    elif block is not None:
        inits = args[len(args) - len(block.carried) :]
        for carried, init, after in zip(block.carried, inits, block.yields, strict=False):
            yield carried, [init, after]
        for position, (result, after) in enumerate(zip(results, block.yields, strict=True)):
            yield result, [after, *inits[position : position + 1]]
    elif op in _PASSES or op in _MOVES:
        yield from ((r, args) for r in results)
