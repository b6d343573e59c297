"""Lowering of a kernel to explicit-SIMD LLVM text.

Every kernel is ``void kernel(i64* args, i64 lo, i64 hi)``. ``args`` holds the parameters in order:
pointers, extents and strides as i64, scalars by their bits (f32 in the low half, i1 as 0 or 1);
behind them stands the address of an i64 in which every ``note`` sets its bit.
``[lo, hi)`` are cells of the top-level ``grid`` or iterations of the top-level ``lanes``.

No fast-math flag and no contraction: a value's bits depend neither on the width of vectors nor on
its position.
"""

from __future__ import annotations

from collections.abc import Sequence

from runmat_jit.backends.llvm.emitter import LLVM_TYPES, Emitter
from runmat_jit.backends.llvm.jit import SEQUENTIAL
from runmat_jit.backends.llvm.lower_blocks import (
    branch,
    lower_grid,
    lower_if,
    lower_if_any,
    lower_lanes,
    lower_leave,
    lower_loop,
    lower_while,
)
from runmat_jit.backends.llvm.lower_call import lower_call, result_type
from runmat_jit.backends.llvm.lower_memory import MEMORY
from runmat_jit.backends.llvm.lower_straight import STRAIGHT, WORD, accumulator
from runmat_jit.backends.llvm.lower_total import lower_total
from runmat_jit.backends.llvm.schedule import Schedule
from runmat_jit.backends.llvm.target import Target
from runmat_jit.kernel.ir import Block, Function, Instruction, Kernel, Scalar, Value
from runmat_jit.kernel.walk import every_instruction, is_sequential

_STRAIGHT = {**STRAIGHT, **MEMORY, "leave": lower_leave}
_BLOCKS = {
    "grid": lower_grid,
    "lanes": lower_lanes,
    "total": lower_total,
    "loop": lower_loop,
    "while": lower_while,
    "if": lower_if,
    "if_any": lower_if_any,
}
_ENTRY_NAME = "kernel"


def lower(kernel: Kernel, schedule: Schedule, target: Target, name: str = _ENTRY_NAME) -> str:
    """LLVM text of a module that defines ``name`` and the kernel's cold functions.

    The kernel must be valid (``runmat_jit.kernel.verify_kernel``).
    """
    emitter = Emitter(target, schedule.width, schedule.unroll, _splatted(kernel.body))
    _load_parameters(emitter, kernel)
    _start_events(emitter, kernel)
    _lower_body(emitter, kernel.body, {f.name: f for f in kernel.functions})
    _finish_events(emitter, len(kernel.parameters))
    cold = [_lower_function(f, schedule, target, emitter.declarations) for f in kernel.functions]
    return "\n".join(
        [
            *([SEQUENTIAL] if is_sequential(kernel.body) else []),
            *sorted(emitter.declarations.values()),
            *cold,
            f"define void @{name}(ptr %args, i64 %lo, i64 %hi) nounwind {{",
            "entry:",
            *emitter.allocas,
            *emitter.lines,
            "  ret void",
            "}",
            "",
        ]
    )


def _lower_body(
    emitter: Emitter, body: Sequence[Instruction], functions: dict[str, Function]
) -> None:
    def lower_block(block: Block) -> None:
        _lower_body(emitter, block.body, functions)

    for instruction in body:
        if instruction.op in _STRAIGHT:
            _STRAIGHT[instruction.op](emitter, instruction)
        elif instruction.op == "call":
            lower_call(emitter, instruction, functions[str(instruction.attrs["function"])])
        else:
            _BLOCKS[instruction.op](emitter, instruction, lower_block)


def _lower_function(
    function: Function, schedule: Schedule, target: Target, declarations: dict[str, str]
) -> str:
    """A cold function of single vectors; its last parameter is the mask of the live lanes."""
    emitter = Emitter(
        target, schedule.width, 1, _splatted(function.body), declarations=declarations
    )
    parameters = []
    for value in function.parameters:
        emitter.bind(value, [emitter.fresh()])
        parameters.append(f"{emitter.vector(value.type)} {emitter.values[value.number][0]}")
    for table in function.tables:
        emitter.pointers[table.name] = emitter.fresh()
        parameters.append(f"ptr {emitter.pointers[table.name]}")
    live = emitter.fresh()
    emitter.live = [live]
    parameters.append(f"{emitter.vector('i1')} {live}")
    _lower_body(emitter, function.body, {})
    structure, returned = result_type(emitter, function), "poison"
    for j, value in enumerate(function.results):
        (operand,) = emitter.lanes(value)
        returned = emitter.put(
            f"insertvalue {structure} {returned}, {emitter.vector(value.type)} {operand}, {j}"
        )
    head = f"define internal {structure} @{function.name}({', '.join(parameters)})"
    lines = [f"  ret {structure} {returned}", "}"]
    return "\n".join([f"{head} noinline cold nounwind {{", "entry:", *emitter.lines, *lines])


def _load_parameters(emitter: Emitter, kernel: Kernel) -> None:
    for j, parameter in enumerate(kernel.parameters):
        at = emitter.put(f"getelementptr i64, ptr %args, i64 {j}")
        if not isinstance(parameter, Scalar):
            emitter.pointers[parameter.name] = emitter.put(f"load ptr, ptr {at}, align 8")
            continue
        if parameter.type == "i1":
            operand = emitter.put(f"icmp ne i64 {emitter.put(f'load i64, ptr {at}, align 8')}, 0")
        else:
            operand = emitter.put(f"load {LLVM_TYPES[parameter.type]}, ptr {at}, align 8")
        emitter.bind(kernel.arguments[parameter.name], [operand])


def _start_events(emitter: Emitter, kernel: Kernel) -> None:
    notes = {accumulator(i) for i in every_instruction(kernel.body) if i.op == "note"}
    emitter.events = {k: ["zeroinitializer"] * emitter.unroll for k in sorted(notes)}


def _finish_events(emitter: Emitter, slot: int) -> None:
    """Set the bits of the event word that lanes have noted."""
    if not emitter.events:
        return
    word = _noted_bits(emitter)
    masks = list(emitter.events.get("i1", []))
    for kind in ("f32", "f64"):
        vector = emitter.vector(kind)
        masks += [
            emitter.put(f"fcmp uno {vector} {x}, zeroinitializer")
            for x in emitter.events.get(kind, [])
        ]
    emitter.events = {}
    if masks:
        lowest = emitter.put(f"zext i1 {emitter.any_of(masks)} to i64")
        word = emitter.put(f"or i64 {word}, {lowest}")
    raised = emitter.put(f"icmp ne i64 {word}, 0")

    def raise_event() -> list[str]:
        at = emitter.put(f"getelementptr i64, ptr %args, i64 {slot}")
        place = emitter.put(f"load ptr, ptr {at}, align 8")
        emitter.put(f"atomicrmw or ptr {place}, i64 {word} monotonic")
        return []

    branch(emitter, raised, [], raise_event)


def _noted_bits(emitter: Emitter) -> str:
    """The bits that notes other than of the lowest have set, as an i64."""
    words = emitter.events.get(WORD, [])
    if not words:
        return "0"
    vector, together = emitter.vector(WORD), words[0]
    for other in words[1:]:
        together = emitter.put(f"or {vector} {together}, {other}")
    name = f"llvm.vector.reduce.or.v{emitter.width}i32"
    bits = emitter.put(emitter.call(name, "i32", [(vector, together)]))
    return emitter.put(f"zext i32 {bits} to i64")


def _splatted(body: Sequence[Instruction]) -> frozenset[int]:
    """Numbers of uniform values that stand where lanes are wanted."""
    found = set()
    for instruction in every_instruction(body):
        found |= {v.number for v in _lane_operands(instruction) if not v.lane and v.literal is None}
    return frozenset(found)


def _lane_operands(instruction: Instruction) -> Sequence[Value]:
    """Operands that are wanted per lane, whatever they are."""
    op, args, block = instruction.op, instruction.args, instruction.block
    if op in ("load", "store"):
        if instruction.attrs["stride"] == 0:
            return ()
        return args[1:]
    if op == "total" and block is not None:
        return block.yields
    if op == "while":
        return ()  # all of it is uniform
    if block is not None:
        inits = args[len(args) - len(block.carried) :]
        pairs = (
            *zip(inits, block.carried, strict=True),
            *zip(block.yields, block.carried, strict=True),
        )
        return [value for value, carried in pairs if carried.lane]
    if op in ("call", "note", "splat") or any(r.lane for r in instruction.results):
        return args
    return ()
