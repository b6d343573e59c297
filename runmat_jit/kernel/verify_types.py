"""Types of primitives, conversions and memory: the part of the verifier without scopes."""

from __future__ import annotations

from collections.abc import Callable

from runmat_jit.kernel.ir import Buffer, Instruction, Table
from runmat_jit.kernel.primitives import FLOATS, INTEGERS, PRIMITIVES, VALUE_OF_ELEMENT, accepts

_BITS = {"f32": 32, "f64": 64, "i32": 32, "i64": 64, "index": 64, "i1": 1}


class KernelError(AssertionError):
    """A kernel that some stage of ours built is not valid."""


def require(condition: bool, sentence: str) -> None:  # noqa: FBT001 - as an assertion
    """Raise ``KernelError`` with the sentence unless the condition holds."""
    if not condition:
        raise KernelError(sentence)


def memory_type(buffer: Buffer | Table) -> str:
    """The value type of an element."""
    return VALUE_OF_ELEMENT.get(buffer.element, buffer.element)


def check_primitive(instruction: Instruction) -> None:
    """Check operand and result types of a primitive or ``select``."""
    op, args = instruction.op, instruction.args
    require(len(instruction.results) == 1, f"{op} has one result")
    kind = instruction.results[0].type
    if op == "select":
        require(len(args) == 3, "select takes 3 operands")
        require([a.type for a in args] == ["i1", kind, kind], "select chooses between equal types")
        return
    primitive = PRIMITIVES[op]
    require(len(args) == primitive.arity, f"{op} takes {primitive.arity} operands")
    operand = args[0].type
    require(all(a.type == operand for a in args), f"{op} takes operands of one type")
    require(accepts(primitive.domain, operand), f"{op} does not take {operand}")
    require(op != "mulhi" or operand == "i32", "mulhi takes i32")
    wanted = {"same": operand, "i1": "i1", "given": kind}[primitive.result]
    require(kind == wanted, f"{op} of {operand} is no {kind}")
    if primitive.result == "given":
        fits = _CONVERSIONS[op](operand, kind)
        require(fits, f"{op} does not convert {operand} to {kind}")


def _narrows(before: str, after: str) -> bool:
    return after not in FLOATS and _BITS[after] <= _BITS[before]


def _widens(before: str, after: str) -> bool:
    return after in INTEGERS and _BITS[after] >= _BITS[before]


_CONVERSIONS: dict[str, Callable[[str, str], bool]] = {
    "sitofp": lambda _, after: after in FLOATS,
    "uitofp": lambda _, after: after in FLOATS,
    "fptosi": lambda _, after: after in INTEGERS,
    "fpext": lambda before, after: (before, after) == ("f32", "f64"),
    "fptrunc": lambda before, after: (before, after) == ("f64", "f32"),
    "trunc": _narrows,
    "zext": _widens,
    "sext": _widens,
    "bitcast": lambda before, after: _BITS[before] == _BITS[after] and before != "i1",
}
