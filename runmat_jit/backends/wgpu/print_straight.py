"""Printing of the primitives, ``select``, ``lane_id``, ``note`` and calls of cold functions."""

from __future__ import annotations

from collections.abc import Callable

from runmat_jit.backends.wgpu.print_compare import COMPARISONS, compare
from runmat_jit.backends.wgpu.printer import (
    UNSIGNED,
    WGSL_TYPES,
    Printer,
    opaque_literal,
)
from runmat_jit.kernel.ir import Function, Instruction
from runmat_jit.kernel.math.formats import FORMATS
from runmat_jit.kernel.primitives import FLOATS
from runmat_jit.kernel.walk import note_bit

_INFIX = {"add": "+", "sub": "-", "mul": "*", "div": "/"}
_BITS = {"and": "&", "or": "|", "xor": "^"}
_BUILTIN = {
    "sqrt": "sqrt",
    "rint": "round",
    "floor": "floor",
    "ceil": "ceil",
    "trunc_float": "trunc",
}

Print = Callable[[Printer, Instruction], str]
"""The text of an instruction's result."""


def print_straight(printer: Printer, instruction: Instruction) -> None:
    """Define the result of an instruction, protected where another float operation takes it."""
    (result,) = instruction.results
    text = _PRINTS[instruction.op](printer, instruction)
    rounds = result.type in FLOATS and instruction.op in _PROTECTED
    kept = rounds and printer.is_kept(instruction.op, result)
    if kept and not printer.adds_by_fma(instruction.op, result):
        text = printer.hide(text, result.type, lane=result.lane)
    printer.bind(result, text)


# -- arithmetic ----------------------------------------------------------------------------------
def _infix(printer: Printer, instruction: Instruction) -> str:
    (result,), args = instruction.results, instruction.args
    a, b = printer.operands(instruction)
    if printer.adds_by_fma(instruction.op, result):
        return _add_by_fma(printer, instruction, a, b)
    if instruction.op == "add":
        _note_count(printer, instruction)
    takes_itself = instruction.op == "sub" and args[0].number == args[1].number
    if takes_itself and result.type in FLOATS and printer.keeps_sums:
        b = printer.hide(b, result.type, lane=result.lane)  # x - x is NaN where x is infinite
    return f"{a} {_INFIX[instruction.op]} {b}"


def _note_count(printer: Printer, instruction: Instruction) -> None:
    """Remember sums of a whole number and the numbers of lanes: these are consecutive."""
    (result,), args = instruction.results, instruction.args
    first = next((arg for arg in args if not arg.lane), None)
    if any(arg.number in printer.lane_ids for arg in args) and first is not None:
        printer.counts[result.number] = printer.operand(first, lane=False)


def _quotient_or_rest(printer: Printer, instruction: Instruction) -> str:
    """Integer quotient or remainder; without ``%``, which Vulkan leaves undefined below zero."""
    a, b = printer.operands(instruction)
    return f"{a} / {b}" if instruction.op == "sdiv" else f"{a} - {a} / {b} * {b}"


def _divide_whole(printer: Printer, instruction: Instruction) -> str:
    """Quotients or remainders; of consecutive numbers the first alone is divided.

    The others are at most two periods further on, where a period is half of the lanes or more.
    """
    (result,), (dividend, divisor) = instruction.results, instruction.args
    first, text = printer.counts.get(dividend.number), _quotient_or_rest(printer, instruction)
    if first is None or divisor.lane or printer.lanes == 1 or printer.schedule.apart:
        return text
    period, name = printer.name(printer.uniform(divisor)), printer.fresh("q")
    kind = WGSL_TYPES[result.type]
    vector, one = printer.vector(kind), printer.splat(kind, "1")
    printer.line(f"var {name} = {vector}();")
    with printer.nest(f"if ({period} * 2 >= {printer.lanes} && {first} >= 0)"):
        quotient = printer.let(f"{first} / {period}")
        rest = printer.let(f"{printer.numbers(kind)} + ({first} - {quotient} * {period})")
        limits = (printer.splat(kind, period), printer.splat(kind, f"{period} * 2"))
        wraps = [f"select({vector}(), {one}, {rest} >= {limit})" for limit in limits]
        further = printer.let(" + ".join(wraps))
        found = f"{rest} - {further} * {limits[0]}"
        if instruction.op == "sdiv":
            found = f"{vector}({quotient}) + {further}"
        printer.line(f"{name} = {found};")
    with printer.nest("else"):
        printer.line(f"{name} = {text};")
    return name


def _add_by_fma(printer: Printer, instruction: Instruction, a: str, b: str) -> str:
    """A sum that no rule of sums sees: one operand is multiplied by an unknown one."""
    (result,) = instruction.results
    one = opaque_literal(1.0 if instruction.op == "add" else -1.0, result.type)
    factor = printer.splat(WGSL_TYPES[result.type], one, lane=result.lane)
    return f"fma({b}, {factor}, {a})"


def _multiply(printer: Printer, instruction: Instruction) -> str:
    (result,) = instruction.results
    guarded = printer.arithmetic.guard in ("fma", "sums")
    if guarded and result.type in FLOATS and printer.is_merged(instruction):
        a, b = printer.operands(instruction)
        if result.type in printer.arithmetic.emulate_fma:  # split, it is a sum like others
            return printer.hide(f"{a} * {b}", result.type, lane=result.lane)
        zero = printer.constant(-0.0, result.type, lane=result.lane)
        return f"fma({a}, {b}, {zero})"
    return _infix(printer, instruction)


def _divide(printer: Printer, instruction: Instruction) -> str:
    (result,), (dividend, divisor) = instruction.results, instruction.args
    a, b = printer.operands(instruction)
    if printer.opaque and divisor.literal is not None:
        b = printer.hidden(divisor, lane=result.lane)  # not a product with its reciprocal
    elif printer.opaque and dividend.number == divisor.number:
        b = printer.keep(b, result.type, lane=result.lane)
    if printer.corrects("div", result):
        return printer.call("div", result.type, a, b, lane=result.lane)
    if _is_divided_by_one_number(printer, instruction):
        literal = divisor.literal
        known = literal is None or 2.0**-100 < abs(float(literal)) < 2.0**100
        one = (printer.operand if known else printer.hidden)(divisor, lane=False)
        return printer.call("div_uniform", result.type, a, one, lane=True)
    inexact = ("div", result.type) in printer.arithmetic.correct_before_jumps
    vanishes = dividend.literal is not None and abs(float(dividend.literal)) <= 1.0
    if inexact and not vanishes:  # by a large number a small one is 0 to the adapter anyway
        return printer.call("div_by_large", result.type, a, b, lane=result.lane)
    return f"{a} / {b}"


def _is_divided_by_one_number(printer: Printer, instruction: Instruction) -> bool:
    """True if all lanes are divided by one number, on an adapter that rounds no quotient right.

    The reciprocal is computed once then, and a remainder makes each product with it as good.
    """
    (result,), (dividend, divisor) = instruction.results, instruction.args
    exact = ("div", result.type) not in printer.arithmetic.correct_before_jumps
    fused = result.type in printer.arithmetic.fused
    return dividend.lane and not divisor.lane and fused and not exact


def _fma(printer: Printer, instruction: Instruction) -> str:
    (result,) = instruction.results
    operands = printer.operands(instruction)
    if result.type in printer.arithmetic.emulate_fma:
        return printer.call("fma", result.type, *operands, lane=result.lane)
    return f"fma({', '.join(operands)})"


def _builtin(printer: Printer, instruction: Instruction) -> str:
    (result,) = instruction.results
    (x,) = printer.operands(instruction)
    if printer.rounds_by_bits(instruction.op, result.type) or printer.corrects(
        instruction.op, result
    ):
        return printer.call(instruction.op, result.type, x, lane=result.lane)
    return f"{_BUILTIN[instruction.op]}({x})"


def _nearest(printer: Printer, instruction: Instruction) -> str:
    """The whole number that stays when a large number is added and taken off again.

    The driver does not know that it is the same number.
    """
    (result,), kind = instruction.results, instruction.args[0].type
    (x,) = printer.operands(instruction)
    shifter = FORMATS[kind].shifter
    unknown = printer.splat(WGSL_TYPES[kind], opaque_literal(shifter, kind), lane=result.lane)
    return f"({x} + {printer.constant(shifter, kind, lane=result.lane)}) - {unknown}"


def _library(printer: Printer, instruction: Instruction) -> str:
    (result,) = instruction.results
    operands = printer.operands(instruction)
    return printer.call(instruction.op, result.type, *operands, lane=result.lane)


def _neg(printer: Printer, instruction: Instruction) -> str:
    (result,) = instruction.results
    (x,) = printer.operands(instruction)
    if printer.flushes(result.type):
        return printer.call("neg", result.type, x, lane=result.lane)
    return f"-({x})"


def _abs(printer: Printer, instruction: Instruction) -> str:
    (result,) = instruction.results
    (x,) = printer.operands(instruction)
    if printer.flushes(result.type):
        return printer.call("abs", result.type, x, lane=result.lane)
    if result.type in FLOATS:
        return f"abs({x})"
    zero = printer.constant(0, result.type, lane=result.lane)
    return f"select({x}, -({x}), ({x}) < {zero})"


# -- bits and shifts -----------------------------------------------------------------------------
def _bitwise(printer: Printer, instruction: Instruction) -> str:
    (result,) = instruction.results
    if result.type != "i1":
        a, b = printer.operands(instruction)
        return f"{a} {_BITS[instruction.op]} {b}"
    a, b = (printer.operand(value, lane=result.lane) for value in instruction.args)
    if instruction.op != "xor":
        return f"{a} {_BITS[instruction.op]} {b}"
    turned = [i for i, value in enumerate(instruction.args) if value.literal is True]
    if not turned:
        return f"{a} != {b}"
    return _negated(printer, (b, a)[turned[0]], lane=result.lane)


def _negated(printer: Printer, condition: str, *, lane: bool) -> str:
    """Print the negation of a condition as integer arithmetic.

    The driver would turn "not less" into "greater or equal", which NaN is not. Nor may it be asked
    whether the unknown zero is 0: it would make a copy of the loop around in which that is known.
    """
    none, one, zero = (printer.splat("u32", n, lane=lane) for n in ("0u", "1u", "zero"))
    return f"select({none}, {one}, {condition}) == {zero}"


def _shift(printer: Printer, instruction: Instruction) -> str:
    (result,), (value, amount) = instruction.results, instruction.args
    x = printer.hidden(value, lane=result.lane)
    if amount.literal is not None:
        by = printer.splat("u32", f"{int(amount.literal)}u", lane=result.lane)
    else:
        text = printer.operand(amount, lane=result.lane)
        by = f"{printer.vector('u32', lane=result.lane)}({text})"
    if instruction.op == "shl":
        return f"{x} << {by}"
    if instruction.op == "ashr":
        return f"{x} >> {by}"
    unsigned = printer.vector(UNSIGNED[result.type], lane=result.lane)
    return f"bitcast<{printer.type_of(result)}>(bitcast<{unsigned}>({x}) >> {by})"


# -- bits that are compared ----------------------------------------------------------------------
def _ult(printer: Printer, instruction: Instruction) -> str:
    (result,), kind = instruction.results, instruction.args[0].type
    unsigned = printer.vector(UNSIGNED[kind], lane=result.lane)
    a, b = (f"bitcast<{unsigned}>({x})" for x in _hidden_operands(printer, instruction))
    return f"{a} < {b}"


def _isnan(printer: Printer, instruction: Instruction) -> str:
    (result,), kind = instruction.results, instruction.args[0].type
    (x,) = _hidden_operands(printer, instruction)
    return printer.call("nan", kind, x, lane=result.lane)


def _hidden_operands(printer: Printer, instruction: Instruction) -> list[str]:
    """Operands that constants may stand for: their bits are what counts."""
    (result,) = instruction.results
    return [printer.hidden(a, lane=result.lane) for a in instruction.args]


# -- conversions ---------------------------------------------------------------------------------
def _convert(printer: Printer, instruction: Instruction) -> str:
    (value,), (result,), op = instruction.args, instruction.results, instruction.op
    (x,) = printer.operands(instruction)
    lane = result.lane
    before, after = WGSL_TYPES[value.type], WGSL_TYPES[result.type]
    to = printer.vector(after, lane=lane)
    if op in ("fpext", "fptrunc") and printer.flushes("f32"):
        return printer.call(op, "f32", x, lane=lane)
    if before == "bool":
        return _from_bool(printer, instruction, x)
    if after == "bool":  # the lowest bit
        one, zero = (printer.constant(n, value.type, lane=lane) for n in (1, 0))
        return f"({x} & {one}) != {zero}"
    if before == after:  # an index is an i32 here
        return x
    if op == "bitcast":
        widths = {UNSIGNED[value.type], UNSIGNED[result.type]}
        return f"bitcast<{to}>({x})" if len(widths) == 1 else f"{to}({x})"
    if op == "uitofp" or (op == "zext" and value.type != "index"):
        unsigned = UNSIGNED[value.type]
        x = f"bitcast<{printer.vector(unsigned, lane=lane)}>({x})"
    if op == "zext" and result.type == "i64" and value.type != "index":
        wide = printer.vector("u64", lane=lane)
        return f"bitcast<{to}>({wide}({x}))"
    return f"{to}({x})"


def _from_bool(printer: Printer, instruction: Instruction, x: str) -> str:
    (result,) = instruction.results
    if result.type == "i1":
        return x
    kind, one = result.type, -1 if instruction.op == "sext" else 1
    zero = printer.constant(0, kind, lane=result.lane)
    return f"select({zero}, {printer.constant(one, kind, lane=result.lane)}, {x})"


# -- others --------------------------------------------------------------------------------------
def _select(printer: Printer, instruction: Instruction) -> str:
    (result,), (condition, chosen, other) = instruction.results, instruction.args
    a, b = (printer.operand(v, lane=result.lane) for v in (other, chosen))
    return f"select({a}, {b}, {printer.operand(condition, lane=result.lane)})"


def _adapters_own(printer: Printer, instruction: Instruction) -> str:
    (x,) = printer.operands(instruction)
    return f"{instruction.attrs['function']}({x})"


def _magnitude(printer: Printer, instruction: Instruction) -> str:
    """A limit is no subnormal number, so that flushing changes nothing."""
    x, limit = printer.operands(instruction)
    return f"abs({x}) {'<' if instruction.op == 'below' else '>='} {limit}"


def _unknown(printer: Printer, instruction: Instruction) -> str:
    return printer.hidden(instruction.args[0], lane=False)


def _splat(printer: Printer, instruction: Instruction) -> str:
    return printer.operand(instruction.args[0], lane=True)


def _lane_id(printer: Printer, instruction: Instruction) -> str:
    (result,) = instruction.results
    printer.lane_ids.add(result.number)
    return printer.numbers(WGSL_TYPES[result.type])


def print_note(printer: Printer, instruction: Instruction) -> None:
    """Remember in the thread that a live lane saw an event."""
    (value,) = instruction.args
    printer.noted = True
    text = printer.hidden(value, lane=value.lane)
    if value.type != "i1":
        text = printer.call("not_finite", value.type, text, lane=value.lane)
    if value.lane:
        masked = text if printer.live is None else f"{printer.live} & ({text})"
        text = printer.any_of(masked)
    if printer.in_cell:
        text = f"live & ({text})"
    bit = f"{1 << note_bit(instruction)}u"  # a branch would keep loads from being moved up
    printer.line(f"event = event | select(0u, {bit}, {text});")


def print_call(printer: Printer, instruction: Instruction, function: Function) -> None:
    """Call a cold function; where every operand is uniform, so are the results."""
    lane = any(a.lane for a in instruction.args)
    args = [printer.operand(a, lane=True) for a in instruction.args]
    everyone = printer.splat("bool", "true")
    args.append((printer.live or everyone) if lane else everyone)
    found = printer.let(f"{function_name(function)}({', '.join(args)})", "r")
    for number, value in enumerate(instruction.results):
        text = f"{found}.f{number}_"
        printer.bind(value, text if lane else printer.component(text, 0))


def function_name(function: Function) -> str:
    """WGSL's name of a cold function: its own may be a word of the language."""
    return f"cold_{function.name}"


_PRINTS: dict[str, Print] = {
    **dict.fromkeys(("add", "sub"), _infix),
    **dict.fromkeys(("sdiv", "srem"), _divide_whole),
    "mul": _multiply,
    "div": _divide,
    "fma": _fma,
    **dict.fromkeys(_BUILTIN, _builtin),
    "nearest": _nearest,
    **dict.fromkeys(("copysign", "scale2", "mulhi"), _library),
    "neg": _neg,
    "abs": _abs,
    **dict.fromkeys(_BITS, _bitwise),
    **dict.fromkeys(("shl", "lshr", "ashr"), _shift),
    **dict.fromkeys(COMPARISONS, compare),
    "ult": _ult,
    "isnan": _isnan,
    **dict.fromkeys(
        (
            "sitofp",
            "uitofp",
            "fptosi",
            "fpext",
            "fptrunc",
            "trunc",
            "zext",
            "sext",
            "bitcast",
        ),
        _convert,
    ),
    "select": _select,
    "builtin": _adapters_own,
    "unknown": _unknown,
    "below": _magnitude,
    "beyond": _magnitude,
    "splat": _splat,
    "lane_id": _lane_id,
}
STRAIGHT = frozenset(_PRINTS)
"""Instructions with one result and no memory."""

_PROTECTED = {
    "add",
    "sub",
    "mul",
    "div",
    "fma",
    "neg",
    "abs",
    "sitofp",
    "uitofp",
    "fpext",
    "fptrunc",
    "nearest",
    *_BUILTIN,
}
