"""What Python refuses: its messages name the operator and the operands as the program has them.

Python asks the second operand where the first one does not know it, and says what it refuses only
afterwards. A traced value is asked, and must tell how.
"""

from __future__ import annotations

import dis
import functools
import operator
from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np

from runmat_jit.capture import operators
from runmat_jit.capture.record.traced import Traced
from runmat_jit.capture.tape.lines import Lines
from runmat_jit.capture.tape.values import ARRAY, PYTHON, SCALARS

REFLECTED: Final[Mapping[Any, Any]] = {
    operator.lt: operator.gt,
    operator.le: operator.ge,
    operator.gt: operator.lt,
    operator.ge: operator.le,
}
_SYMBOLS: Final = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
_ARITHMETIC: Final = frozenset(("add", "sub", "mul", "truediv", "floordiv", "mod", "pow"))
_REAL: Final = (bool, int, float, np.integer, np.floating)
_PLAIN: Final = (*SCALARS, str, bytes, tuple, list, dict, set, frozenset, type(None))
"""Classes whose operators run nobody's code."""


@functools.cache
def _comparisons() -> Mapping[tuple[int, int], Callable[[Any, Any], Any]]:
    """Instructions, with their arguments, that compare."""
    found = {}
    for symbol, fn in _SYMBOLS.items():
        for text in (f"a {symbol} b", f"1 if a {symbol} b else 2"):  # 3.13 tells them apart
            code = compile(text, "", "eval").co_code
            place = next(n for n in range(0, len(code), 2) if dis.opname[code[n]] == "COMPARE_OP")
            found[code[place], code[place + 1]] = fn
    return found


def is_reflected(lines: Lines, fn: Any) -> bool:
    """True if the program compares the other way around than with ``fn``."""
    code, place = instruction(lines)
    written = _comparisons().get((code[place], code[place + 1])) if code else None
    return written is not None and REFLECTED[written] is fn


def instruction(lines: Lines) -> tuple[bytes, int]:
    """The code of the user's that is running, and the place in it."""
    frame = lines.frame(0)
    return (b"", 0) if frame is None else (frame.f_code.co_code, frame.f_lasti)


def refuses(op: str, fn: Any, lhs: Any, rhs: Any) -> bool:
    """True if ``lhs op= rhs`` raises, for operands of these classes: only ``fn`` says how."""
    if type(lhs) is not Traced and type(rhs) is not Traced:
        return False
    if type(lhs) is Traced and lhs._rm_kind == ARRAY:  # NumPy's own business
        return False
    classes = lhs.__class__, rhs.__class__
    if op in _ARITHMETIC and issubclass(classes[0], _REAL) and issubclass(classes[1], _REAL):
        return False
    name = op.rstrip("_")
    if hasattr(classes[0], f"__i{name}__"):
        return classes[0] is list and name == "add" and classes[1] in SCALARS
    if not all(value in _PLAIN or not answers(value, name) for value in map(type, (lhs, rhs))):
        return False
    try:
        with np.errstate(all="ignore"):
            operators.OUT_OF_PLACE[fn](sample(lhs), sample(rhs))
    except TypeError:
        return True
    except Exception:  # noqa: BLE001  (the program raises that itself)
        return False
    return False


def answers(cls: type, name: str) -> bool:
    """True if a class has code for an operator; a traced value only tells what NumPy answers."""
    methods = {f"__{name}__", f"__r{name}__"}
    return cls is not Traced and any(methods & vars(base).keys() for base in cls.__mro__)


def sample(value: Any) -> Any:
    """A small value of the same class."""
    if type(value) is Traced and value._rm_kind == ARRAY:
        return np.ones((1,) * value.ndim, value.dtype)
    if type(value) is Traced and value._rm_kind != PYTHON:
        return value.__class__()
    return type(value)() if isinstance(value, SCALARS) else value


# -- iterations ------------------------------------------------------------------------------------
def refuse_iteration(lines: Lines, value: Any) -> None:
    """Raise what Python says of a value without items, by the instruction that asks for them."""
    code, place = instruction(lines)
    _ITERATED.get(dis.opname[code[place]] if code else "", iter)(value)


def _unpack(value: Any) -> Any:
    first, second = value
    return first, second


_ITERATED: Final[Mapping[str, Callable[[Any], Any]]] = {
    "UNPACK_SEQUENCE": _unpack,
    "UNPACK_EX": _unpack,
}


def enter(value: Any) -> None:
    """Raise what Python says of a value that is no context."""
    with value:
        pass
