"""Printing of the primitives, ``select``, ``lane_id``, ``note`` and calls of cold functions."""

from __future__ import annotations

from collections.abc import Callable

from runmat_jit.backends.wgpu.printer import (
    UNSIGNED,
    WGSL_TYPES,
    Printer,
    opaque_literal,
)
from runmat_jit.kernel.ir import Function, Instruction, Value
from runmat_jit.kernel.primitives import FLOATS

_INFIX = {"add": "+", "sub": "-", "mul": "*", "div": "/", "sdiv": "/", "srem": "%"}
_BITS = {"and": "&", "or": "|", "xor": "^"}
_COMPARE = {"lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!="}
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
    if rounds and printer.is_kept(instruction.op, result):
        text = printer.hide(text, result.type, lane=result.lane)
    printer.bind(result, text)


def _operands(printer: Printer, instruction: Instruction) -> list[str]:
    """Operands as lanes or scalars; constants alone would be computed before the shader runs."""
    (result,) = instruction.results
    args = instruction.args
    if all(a.literal is not None for a in args):
        return [_hidden(printer, a, lane=result.lane) for a in args]
    return [printer.operand(a, lane=result.lane) for a in args]


def _hidden(printer: Printer, value: Value, *, lane: bool) -> str:
    """An operand; a constant in a form that the driver does not know."""
    if value.literal is None:
        return printer.operand(value, lane=lane)
    text = opaque_literal(value.literal, value.type)
    return printer.splat(WGSL_TYPES[value.type], text, lane=lane)


# -- arithmetic ----------------------------------------------------------------------------------
def _infix(printer: Printer, instruction: Instruction) -> str:
    (result,), args = instruction.results, instruction.args
    a, b = _operands(printer, instruction)
    takes_itself = instruction.op == "sub" and args[0].number == args[1].number
    if takes_itself and result.type in FLOATS and printer.keeps_sums:
        b = printer.hide(b, result.type, lane=result.lane)  # x - x is NaN where x is infinite
    return f"{a} {_INFIX[instruction.op]} {b}"


def _multiply(printer: Printer, instruction: Instruction) -> str:
    (result,) = instruction.results
    if (
        result.type in FLOATS
        and printer.arithmetic.guard in ("fma", "sums")
        and printer.is_fed(result)
    ):
        a, b = _operands(printer, instruction)
        zero = printer.constant(-0.0, result.type, lane=result.lane)
        return f"fma({a}, {b}, {zero})"
    return _infix(printer, instruction)


def _divide(printer: Printer, instruction: Instruction) -> str:
    (result,), (dividend, divisor) = instruction.results, instruction.args
    a, b = _operands(printer, instruction)
    if printer.opaque and divisor.literal is not None:
        b = _hidden(printer, divisor, lane=result.lane)  # not a product with its reciprocal
    elif printer.opaque and dividend.number == divisor.number:
        b = printer.keep(b, result.type, lane=result.lane)
    if printer.corrects("div", result):
        return printer.call("div", result.type, a, b, lane=result.lane)
    return f"{a} / {b}"


def _fma(printer: Printer, instruction: Instruction) -> str:
    (result,) = instruction.results
    operands = _operands(printer, instruction)
    if result.type in printer.arithmetic.emulate_fma:
        return printer.call("fma", result.type, *operands, lane=result.lane)
    return f"fma({', '.join(operands)})"


def _builtin(printer: Printer, instruction: Instruction) -> str:
    (result,) = instruction.results
    (x,) = _operands(printer, instruction)
    by_bits = instruction.op in ("floor", "ceil") and printer.flushes(result.type)
    if by_bits or printer.corrects(instruction.op, result):
        return printer.call(instruction.op, result.type, x, lane=result.lane)
    return f"{_BUILTIN[instruction.op]}({x})"


def _library(printer: Printer, instruction: Instruction) -> str:
    (result,) = instruction.results
    operands = _operands(printer, instruction)
    return printer.call(instruction.op, result.type, *operands, lane=result.lane)


def _neg(printer: Printer, instruction: Instruction) -> str:
    (result,) = instruction.results
    (x,) = _operands(printer, instruction)
    if printer.flushes(result.type):
        return printer.call("neg", result.type, x, lane=result.lane)
    return f"-({x})"


def _abs(printer: Printer, instruction: Instruction) -> str:
    (result,) = instruction.results
    (x,) = _operands(printer, instruction)
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
        a, b = _operands(printer, instruction)
        return f"{a} {_BITS[instruction.op]} {b}"
    a, b = (printer.operand(value, lane=result.lane) for value in instruction.args)
    if instruction.op != "xor":
        return f"{a} {_BITS[instruction.op]} {b}"
    turned = [i for i, value in enumerate(instruction.args) if value.literal is True]
    if not turned:
        return f"{a} != {b}"
    return _negated(printer, (b, a)[turned[0]], lane=result.lane)


def _negated(printer: Printer, condition: str, *, lane: bool) -> str:
    """Whether a condition does not hold, by way of numbers.

    The driver would turn "not less" into "greater or equal", which NaN is not. Nor may it be asked
    whether the unknown zero is 0: it would make a copy of the loop around in which that is known.
    """
    none, one, zero = (printer.splat("u32", n, lane=lane) for n in ("0u", "1u", "zero"))
    return f"select({none}, {one}, {condition}) == {zero}"


def _shift(printer: Printer, instruction: Instruction) -> str:
    (result,), (value, amount) = instruction.results, instruction.args
    x = _hidden(printer, value, lane=result.lane)
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


# -- comparisons ---------------------------------------------------------------------------------
def _compare(printer: Printer, instruction: Instruction) -> str:
    (result,), args, op = instruction.results, instruction.args, instruction.op
    kind = args[0].type
    if kind == "i1":
        a, b = (_hidden(printer, value, lane=result.lane) for value in args)
        return f"{a} {_COMPARE[op]} {b}"
    a, b = _operands(printer, instruction)
    if kind not in FLOATS:
        return f"{a} {_COMPARE[op]} {b}"
    if printer.flushes(kind):
        return _compare_bits(printer, instruction, a, b)
    kept = printer.keep(a, kind, lane=result.lane)  # apart from a select between the same numbers
    if op != "ne":
        return f"{kept} {_COMPARE[op]} {b}"
    nan = [printer.call("nan", kind, x, lane=result.lane) for x in (a, b)]
    return f"({kept} != {b}) | {' | '.join(nan)}"


def _compare_bits(printer: Printer, instruction: Instruction, a: str, b: str) -> str:
    """Floats are ordered as integers made of their bits; NaN apart."""
    (result,), op, kind = instruction.results, instruction.op, instruction.args[0].type
    nan = " | ".join(printer.call("nan", kind, x, lane=result.lane) for x in (a, b))
    x, y = (printer.call("order", kind, each, lane=result.lane) for each in (a, b))
    holds = f"({x} {_COMPARE[op]} {y})"
    return f"{holds} | {nan}" if op == "ne" else f"{holds} & !({nan})"


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
    return [_hidden(printer, a, lane=result.lane) for a in instruction.args]


# -- conversions ---------------------------------------------------------------------------------
def _convert(printer: Printer, instruction: Instruction) -> str:
    (value,), (result,), op = instruction.args, instruction.results, instruction.op
    (x,) = _operands(printer, instruction)
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


def _splat(printer: Printer, instruction: Instruction) -> str:
    return printer.operand(instruction.args[0], lane=True)


def _lane_id(printer: Printer, instruction: Instruction) -> str:
    (result,) = instruction.results
    return printer.numbers(WGSL_TYPES[result.type])


def print_note(printer: Printer, instruction: Instruction) -> None:
    """Remember in the thread that a live lane saw an event."""
    (value,) = instruction.args
    printer.noted = True
    text = _hidden(printer, value, lane=value.lane)
    if value.type != "i1":
        text = printer.call("not_finite", value.type, text, lane=value.lane)
    if value.lane:
        masked = text if printer.live is None else f"{printer.live} & ({text})"
        text = printer.any_of(masked)
    if printer.in_cell:
        text = f"live & ({text})"
    printer.line(f"event = event | ({text});")  # a branch would keep loads from being moved up


def print_call(printer: Printer, instruction: Instruction, function: Function) -> None:
    """Call a cold function; where every operand is uniform, so are the results."""
    lane = any(a.lane for a in instruction.args)
    args = [printer.operand(a, lane=True) for a in instruction.args]
    everyone = printer.splat("bool", "true")
    args.append((printer.live or everyone) if lane else everyone)
    found = printer.let(f"{function_name(function)}({', '.join(args)})", "r")
    for number, value in enumerate(instruction.results):
        text = f"{found}.f{number}"
        printer.bind(value, text if lane else printer.component(text, 0))


def function_name(function: Function) -> str:
    """WGSL's name of a cold function: its own may be a word of the language."""
    return f"cold_{function.name}"


_PRINTS: dict[str, Print] = {
    **dict.fromkeys(("add", "sub", "sdiv", "srem"), _infix),
    "mul": _multiply,
    "div": _divide,
    "fma": _fma,
    **dict.fromkeys(_BUILTIN, _builtin),
    **dict.fromkeys(("copysign", "scale2", "mulhi"), _library),
    "neg": _neg,
    "abs": _abs,
    **dict.fromkeys(_BITS, _bitwise),
    **dict.fromkeys(("shl", "lshr", "ashr"), _shift),
    **dict.fromkeys(_COMPARE, _compare),
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
    *_BUILTIN,
}
