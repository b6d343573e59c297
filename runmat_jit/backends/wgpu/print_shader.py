"""Printing of a kernel as one WGSL module with the entry point ``main``.

Bindings of group 0: the uniform block, the buffers and tables in the order of the kernel's
parameters, and behind them a word in which every ``note`` sets its bit. Names are
``p0``, ``s0``, ``v0`` ...: no name of a user reaches WGSL, some of them are its keywords.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from runmat_jit.backends.wgpu.arithmetic import Arithmetic
from runmat_jit.backends.wgpu.cells import cells_of, touched
from runmat_jit.backends.wgpu.facts import NO_FACTS, Facts
from runmat_jit.backends.wgpu.print_blocks import (
    print_grid,
    print_if,
    print_if_any,
)
from runmat_jit.backends.wgpu.print_contract import print_contract
from runmat_jit.backends.wgpu.print_loop import print_loop
from runmat_jit.backends.wgpu.print_memory import order, print_gather, print_load, print_store
from runmat_jit.backends.wgpu.print_rows import print_lanes_or_walk
from runmat_jit.backends.wgpu.print_straight import (
    STRAIGHT,
    function_name,
    print_call,
    print_note,
    print_straight,
)
from runmat_jit.backends.wgpu.print_total import declare_shared, print_total
from runmat_jit.backends.wgpu.printer import WGSL_TYPES, Memory, Printer
from runmat_jit.backends.wgpu.rows import rows_of
from runmat_jit.backends.wgpu.schedule import Schedule, staged_accesses
from runmat_jit.backends.wgpu.staged import walked_lines
from runmat_jit.backends.wgpu.uniforms import uniform_block
from runmat_jit.backends.wgpu.uses import uses_of
from runmat_jit.backends.wgpu.views import views_of
from runmat_jit.core.frozen import frozen
from runmat_jit.kernel.ir import Block, Buffer, Function, Instruction, Kernel, Scalar

_STRAIGHT = {
    **dict.fromkeys(STRAIGHT, print_straight),
    "load": print_load,
    "store": print_store,
    "gather": print_gather,
    "note": print_note,
}
_BLOCKS = {
    "grid": print_grid,
    "lanes": print_lanes_or_walk,
    "total": print_total,
    "contract": print_contract,
    "loop": print_loop,
    "if": print_if,
    "if_any": print_if_any,
}
_BUILTINS = (
    "@builtin(workgroup_id) wid: vec3<u32>, @builtin(num_workgroups) nwg: vec3<u32>, "
    "@builtin(local_invocation_index) lid: u32"
)
_UNKNOWN_ZEROS = ("wid.z", "nwg.z - 1u")
"""Of constants, and of values that are kept: ``constant - keep(constant)`` would be a difference of
the same bits otherwise. Launches have two dimensions. Numbers of the uniform block are no secret:
drivers that compile a shader again for the values at hand (lavapipe does, for its loops) would see
what the zeros are."""


@frozen
class Binding:
    """A buffer or table of a shader; ``writable`` is its access mode, not what happens to it."""

    parameter: str
    writable: bool


def print_shader(
    kernel: Kernel, schedule: Schedule, arithmetic: Arithmetic, facts: Facts = NO_FACTS
) -> str:
    """Print a kernel as WGSL; it must be valid (``runmat_jit.kernel.verify_kernel``)."""
    views = views_of(kernel, facts, 1 if schedule.apart else schedule.lanes)
    memory = _memory(kernel, schedule, facts, views.wide)
    ordered = cells_of(kernel).ordered
    if facts.shared & ordered:
        ordered |= facts.shared
    printer = Printer(
        schedule, arithmetic, uses_of(kernel), memory, views, facts.whole_part, ordered
    )
    printer.aliased = facts.shared
    staged = staged_accesses(kernel) if schedule.staged else frozenset()
    printer.rows = rows_of(kernel, schedule.steps, facts.shared, staged)
    printer.along = walked_lines(kernel) if schedule.chunk else ()
    _bind_scalars(printer, kernel)
    functions = {f.name: f for f in kernel.functions}
    _print_body(printer, kernel.body, functions)
    cold = [_print_function(printer, f) for f in kernel.functions]
    if printer.noted:
        with printer.nest("if (event != 0u)"):
            printer.line("atomicOr(&events, event);")
    return "\n".join(
        [
            uniform_block(kernel, facts).text,
            *_declarations(kernel, facts, memory, schedule),
            f"{_binding(len(memory) + 1)} var<storage, read_write> events: atomic<u32>;",
            *declare_shared(printer),
            "var<private> zero: u32;",
            "var<private> other_zero: u32;",
            *printer.functions.values(),
            *cold,
            f"@compute @workgroup_size({schedule.threads})",
            f"fn main({_BUILTINS}) {{",
            "  zero = {}; other_zero = {};".format(*_UNKNOWN_ZEROS),
            *(["  var event = 0u;"] if printer.noted else []),
            *printer.lines,
            "}",
            "",
        ]
    )


def bindings_of(kernel: Kernel, facts: Facts = NO_FACTS) -> tuple[Binding, ...]:
    """The buffers and tables of a shader in the order of their bindings."""
    return tuple(
        Binding(p.name, isinstance(p, Buffer) and (p.written or p.name in facts.shared))
        for p in kernel.parameters
        if not isinstance(p, Scalar)
    )


def _print_body(
    printer: Printer, body: Sequence[Instruction], functions: dict[str, Function]
) -> None:
    def print_block(block: Block) -> None:
        _print_body(printer, block.body, functions)

    for instruction in body:
        op = instruction.op
        if op in ("load", "store", "gather") and printer.in_cell and not printer.in_lanes:
            order(printer, *touched([instruction]))
        if op in _STRAIGHT:
            _STRAIGHT[op](printer, instruction)
        elif op == "call":
            print_call(printer, instruction, functions[str(instruction.attrs["function"])])
        else:
            _BLOCKS[op](printer, instruction, print_block)


def _print_function(outer: Printer, function: Function) -> str:
    """A cold function: of scalars, so that it takes few registers, and of the live lanes."""
    printer = Printer(
        replace(outer.schedule, lanes=1),
        outer.arithmetic,
        outer.uses,
        outer.memory,
        functions=outer.functions,
    )
    printer.in_lanes = True
    printer.values |= {v.number: f"a{number}_" for number, v in enumerate(function.parameters)}
    _print_body(printer, function.body, {})
    name = function_name(function)
    own = [WGSL_TYPES[v.type] for v in function.parameters]
    given = [WGSL_TYPES[v.type] for v in function.results]
    results = ", ".join(printer.operand(r, lane=True) for r in function.results)
    return "\n".join(
        [
            f"struct {name}_result {{ {_listed('f', given)} }}",
            f"fn {name}_lane({_listed('a', own)}) -> {name}_result {{",
            *printer.lines,
            f"  return {name}_result({results});",
            "}",
            _for_live_lanes(outer, name, own, given),
        ]
    )


def _for_live_lanes(printer: Printer, name: str, own: list[str], given: list[str]) -> str:
    """The cold function ``name`` of vectors, which calls the one of scalars.

    What it gives other lanes nobody sees; some drivers make much of an undefined value.
    """
    lines = []
    for lane in range(printer.lanes):
        live = printer.component("live", lane)
        args = ", ".join(printer.component(f"a{number}_", lane) for number in range(len(own)))
        lines += [f"  if ({live}) {{", f"    let one = {name}_lane({args});"]
        places = (printer.component(f"r.f{number}_", lane) for number in range(len(given)))
        lines += [f"    {place} = one.f{number}_;" for number, place in enumerate(places)]
        lines.append("  }")
    others = ", ".join(
        f"a{own.index(kind)}_" if kind in own else f"{printer.vector(kind)}()" for kind in given
    )
    fields = _listed("f", list(map(printer.vector, given)))
    parameters = f"{_listed('a', list(map(printer.vector, own)))}, live: {printer.vector('bool')}"
    return "\n".join(
        [
            f"struct {name}_results {{ {fields} }}",
            f"fn {name}({parameters}) -> {name}_results {{",
            f"  var r = {name}_results({others});",
            *lines,
            "  return r;",
            "}",
        ]
    )


def _listed(letter: str, kinds: list[str]) -> str:
    """Parameters or fields of these types."""
    return ", ".join(f"{letter}{number}_: {kind}" for number, kind in enumerate(kinds))


def _memory(
    kernel: Kernel, schedule: Schedule, facts: Facts, wide: frozenset[str]
) -> dict[str, Memory]:
    """Shader types of all buffers and tables."""
    found: dict[str, Memory] = {}
    for number, parameter in enumerate(kernel.parameters):
        if isinstance(parameter, Scalar):
            continue
        name, is_bool = parameter.name, parameter.element == "bool"
        written = isinstance(parameter, Buffer) and (parameter.written or name in facts.shared)
        found[name] = Memory(
            name,
            f"p{number}",
            parameter.element,
            wide=name in wide and (not is_bool or schedule.lanes == 4),
            atomic=is_bool and written,
            origin=f"P.o{number}" if name in facts.shifted else None,
        )
    return found


def _declarations(
    kernel: Kernel, facts: Facts, memory: dict[str, Memory], schedule: Schedule
) -> list[str]:
    lines = []
    for number, binding in enumerate(bindings_of(kernel, facts)):
        seen = memory[binding.parameter]
        element = WGSL_TYPES.get(seen.element, "u32")
        if seen.atomic:
            element = "atomic<u32>"
        elif seen.wide and seen.element != "bool":
            element = f"vec{schedule.lanes}<{element}>"
        access = "read_write" if binding.writable else "read"
        lines.append(
            f"{_binding(number + 1)} var<storage, {access}> {seen.name}: array<{element}>;"
        )
    return lines


def _binding(number: int) -> str:
    return f"@group(0) @binding({number})"


def _bind_scalars(printer: Printer, kernel: Kernel) -> None:
    for number, parameter in enumerate(kernel.parameters):
        if isinstance(parameter, Scalar):
            text = f"P.s{number}" if parameter.type != "i1" else f"(P.s{number} != 0u)"
            printer.values[kernel.arguments[parameter.name].number] = text
