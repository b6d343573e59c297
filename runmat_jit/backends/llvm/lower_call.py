"""Lowering of calls of cold functions.

Few lanes of the vectors in flight take a rare way as a rule. Where a machine can move those to the
front of one vector, the function is called once for all of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from runmat_jit.backends.llvm.emitter import Emitter, Operands
from runmat_jit.backends.llvm.lower_blocks import branch
from runmat_jit.kernel.ir import Function, Instruction
from runmat_jit.kernel.primitives import SIZES


def result_type(emitter: Emitter, function: Function) -> str:
    """LLVM's type of what a cold function returns: a structure of vectors."""
    return "{ " + ", ".join(emitter.vector(r.type) for r in function.results) + " }"


def lower_call(emitter: Emitter, instruction: Instruction, function: Function) -> None:
    """Call a cold function; where every operand is uniform, so are the results."""
    if not any(a.lane for a in instruction.args):
        _call_once(emitter, instruction, function)
    elif emitter.live and emitter.unroll > 1 and _can_pack(emitter, instruction):
        _call_packed_or_each(emitter, instruction, function, emitter.live)
    else:
        _call_each(emitter, instruction, function)


def _call_once(emitter: Emitter, instruction: Instruction, function: Function) -> None:
    args = [emitter.lanes(a)[0] for a in instruction.args]
    for value, out in zip(
        instruction.results, _call(emitter, function, args, "splat (i1 true)"), strict=True
    ):
        first = f"extractelement {emitter.vector(value.type)} {out}, i64 0"
        emitter.bind(value, [emitter.put(first)])


def _call_each(emitter: Emitter, instruction: Instruction, function: Function) -> None:
    columns = _results_of_each(emitter, instruction, function)
    for value, column in zip(instruction.results, columns, strict=True):
        emitter.bind(value, column)


def _results_of_each(
    emitter: Emitter, instruction: Instruction, function: Function
) -> list[Operands]:
    """The vectors of each result, by a call for each vector."""
    rows = zip(*(emitter.lanes(a) for a in instruction.args), strict=True)
    calls = zip(rows, emitter.live_masks(), strict=True)
    outs = [_call(emitter, function, row, mask) for row, mask in calls]
    return [list(column) for column in zip(*outs, strict=True)]


def _call(emitter: Emitter, function: Function, args: Sequence[str], mask: str) -> Operands:
    """One call, of single vectors; its results."""
    kinds = [emitter.vector(p.type) for p in function.parameters]
    texts = [f"{t} {a}" for t, a in zip(kinds, args, strict=True)]
    texts += [f"ptr {emitter.pointer(t)}" for t in function.tables]
    texts.append(f"{emitter.vector('i1')} {mask}")
    structure = result_type(emitter, function)
    returned = emitter.put(f"call {structure} @{function.name}({', '.join(texts)})")
    return [
        emitter.put(f"extractvalue {structure} {returned}, {j}")
        for j in range(len(function.results))
    ]


# -- lanes moved together ------------------------------------------------------------------------
def _can_pack(emitter: Emitter, instruction: Instruction) -> bool:
    values = (*instruction.args, *instruction.results)
    sizes = {SIZES.get(v.type, 0) * emitter.width for v in values}
    return emitter.target.has("avx512vl") and sizes <= {16, 32, 64}


def _call_packed_or_each(
    emitter: Emitter, instruction: Instruction, function: Function, masks: Operands
) -> None:
    """One call where the live lanes fit into a vector, else one for each vector."""
    counts = [_count(emitter, mask) for mask in masks]
    starts = ["0"]
    for count in counts:
        starts.append(emitter.put(f"add i64 {starts[-1]}, {count}"))
    fit = emitter.put(f"icmp ule i64 {starts[-1]}, {emitter.width}")

    def packed() -> Operands:
        parts = [_range(emitter, *ends) for ends in zip(starts, counts, strict=False)]
        args = [
            _gathered(emitter, a.type, emitter.lanes(a), zip(masks, parts, strict=True))
            for a in instruction.args
        ]
        outs = _call(emitter, function, args, _range(emitter, "0", starts[-1]))
        return [
            _move(emitter, "expand", value.type, _front(emitter, value.type, out, part), mask)
            for value, out in zip(instruction.results, outs, strict=True)
            for mask, part in zip(masks, parts, strict=True)
        ]

    def each() -> Operands:
        return [x for column in _results_of_each(emitter, instruction, function) for x in column]

    kinds = [emitter.vector(v.type) for v in instruction.results for _ in masks]
    found = branch(emitter, fit, [(kind, "zeroinitializer") for kind in kinds], packed)
    many = emitter.put(f"xor i1 {fit}, true")
    found = branch(emitter, many, list(zip(kinds, found, strict=True)), each)
    for j, value in enumerate(instruction.results):
        emitter.bind(value, found[j * emitter.unroll : (j + 1) * emitter.unroll])


def _count(emitter: Emitter, mask: str) -> str:
    """The number of lanes that are set, an i64."""
    width = emitter.width
    bits = emitter.put(f"bitcast <{width} x i1> {mask} to i{width}")
    count = emitter.put(emitter.call(f"llvm.ctpop.i{width}", f"i{width}", [(f"i{width}", bits)]))
    return emitter.put(f"zext i{width} {count} to i64")


def _range(emitter: Emitter, start: str, count: str) -> str:
    """The mask of ``count`` lanes from ``start``."""
    width = emitter.width
    above = emitter.put(f"shl i64 -1, {count}")
    bits = emitter.put(f"shl i64 {emitter.put(f'xor i64 {above}, -1')}, {start}")
    bits = emitter.put(f"trunc i64 {bits} to i{width}")
    return emitter.put(f"bitcast i{width} {bits} to <{width} x i1>")


def _gathered(
    emitter: Emitter, kind: str, vectors: Operands, moves: Iterable[tuple[str, str]]
) -> str:
    """One vector of lanes of all: those of a first mask become those of a second; others are 0."""
    together = "zeroinitializer"
    for vector, (mask, part) in zip(vectors, moves, strict=True):
        front = _front(emitter, kind, vector, mask)
        together = _move(emitter, "expand", kind, front, part, others=together)
    return together


def _front(emitter: Emitter, kind: str, vector: str, mask: str) -> str:
    """The lanes that are set, from the first lane on."""
    return _move(emitter, "compress", kind, vector, mask)


def _move(
    emitter: Emitter,
    how: str,
    kind: str,
    vector: str,
    mask: str,
    *,
    others: str = "zeroinitializer",
) -> str:
    """AVX-512's move of the lanes that are set to the front, or of the first ones to those."""
    typed = emitter.vector(kind)
    name = f"llvm.x86.avx512.mask.{how}.{emitter.suffix(kind, lane=True)}"
    args = [(typed, vector), (typed, others), (emitter.vector("i1"), mask)]
    return emitter.put(emitter.call(name, typed, args))
