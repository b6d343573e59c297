"""Bits of whole numbers."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from matlab_frontend.builtins.registry import Builtin, Call, builtin
from matlab_frontend.errors import MatlabError
from matlab_frontend.operators import broadcast_shape
from matlab_frontend.values.array import Array, Value, count_of, kind_of
from matlab_frontend.values.kinds import DTYPES, INTEGER_KINDS, NUMERIC_KINDS
from matlab_frontend.values.make import wrap
from matlab_frontend.values.read import array_of, is_text, text_of

_LOGICAL = ("bitand", "bitor", "bitxor")
"""Functions that truth values have truth values of."""
_WIDTH_OF_DOUBLES = 53
"""Bits of the whole numbers that doubles hold exactly: bit functions count them so."""


def _class_of_bits(name: str, arguments: list[Value]) -> tuple[list[Value], str]:
    """The arguments that are numbers, and the class whose bits are meant."""
    kind = "double"
    if len(arguments) > 2 and is_text(arguments[-1]):
        kind = text_of(arguments.pop())
    else:
        kinds = [kind_of(x) for x in arguments if kind_of(x) in INTEGER_KINDS]
        if len(set(kinds)) > 1:
            raise MatlabError(
                f"MATLAB:{name}:mixedClasses", "Inputs must be of one class, or scalar doubles."
            )
        kind = kinds[0] if kinds else kind
    if kind not in (*INTEGER_KINDS, "double"):
        raise MatlabError(f"MATLAB:{name}:class", f"'{kind}' is no class of whole numbers.")
    return arguments, kind


def _wholes(call: Call, name: str, x: Value) -> np.ndarray:
    """Elements as Python's integers.

    Raises:
        MatlabError: an element has a fraction, or is negative without being of a signed class.

    """
    array = array_of(x)
    data = call.engine.look(array.data)
    if data.dtype.kind == "f" and (np.any(data != np.trunc(data)) or not np.isfinite(data).all()):
        raise MatlabError(f"MATLAB:{name}:inputsMustBeIntegers", "Inputs must be whole numbers.")
    return np.array([int(item) for item in data.ravel()], object).reshape(data.shape)


def _pairwise(name: str, function: Callable[[int, int, str], int], doc: str) -> Builtin:
    def run(call: Call, x: Value, y: Value, assumed: Value | None = None) -> Value:
        given, kind = _class_of_bits(name, [x, y] if assumed is None else [x, y, assumed])
        broadcast_shape(x, y)
        pairs = np.broadcast(*(_wholes(call, name, part) for part in given))
        made = [function(int(p), int(q), kind) for p, q in pairs]
        out = next((k for k in (kind_of(x), kind_of(y)) if k in INTEGER_KINDS), "double")
        if kind_of(x) == kind_of(y) == "logical" and name in _LOGICAL:
            out = "logical"
        return wrap(out, np.array(made, object).reshape(pairs.shape).astype(DTYPES[out]))

    return Builtin(name, run, 2, 3, doc)


def _width(kind: str) -> int:
    return _WIDTH_OF_DOUBLES if kind == "double" else 8 * DTYPES[kind].itemsize


def _fit(number: int, kind: str) -> int:
    """The number whose bits are the lowest ones that a class has."""
    low = number & ((1 << _width(kind)) - 1)
    signed = kind.startswith("int")
    return low - (1 << _width(kind)) if signed and low >> (_width(kind) - 1) else low


def _shift(number: int, places: int, kind: str) -> int:
    return _fit(number << places, kind) if places >= 0 else number >> -places


def _position(name: str, place: int, kind: str) -> int:
    if not 1 <= place <= _width(kind):
        raise MatlabError(
            f"MATLAB:{name}:bitpos", f"Bits are counted from 1 to {_width(kind)} here."
        )
    return place - 1


def _get(number: int, place: int, kind: str) -> int:
    return number >> _position("bitget", place, kind) & 1


@builtin("bitset")
def bitset(call: Call, x: Value, place: Value, bit: Value = 1.0) -> Value:
    """Numbers with one bit set, or cleared."""
    kind = kind_of(x) if kind_of(x) in INTEGER_KINDS else "double"
    operands = (_wholes(call, "bitset", part) for part in (x, place, bit))
    triples = np.broadcast(*operands)
    made = []
    for number, at, value in triples:
        mask = 1 << _position("bitset", int(at), kind)
        made.append(_fit(number | mask if value else number & ~mask, kind))
    return wrap(kind, np.array(made, object).reshape(triples.shape).astype(DTYPES[kind]))


@builtin("bitcmp")
def bitcmp(call: Call, x: Value, assumed: Value | None = None) -> Value:
    """Numbers with all bits of their class the other way round."""
    kind = text_of(assumed) if assumed is not None else kind_of(x)
    if kind not in (*INTEGER_KINDS, "double"):
        raise MatlabError("MATLAB:bitcmp:class", f"'{kind}' is no class of whole numbers.")
    numbers = _wholes(call, "bitcmp", x)
    made = [_fit(~int(number), kind) for number in numbers.flat]
    out = kind_of(x) if kind_of(x) in INTEGER_KINDS else "double"
    return wrap(out, np.array(made, object).reshape(numbers.shape).astype(DTYPES[out]))


@builtin("typecast")
def typecast(call: Call, x: Value, kind: Value) -> Value:
    """The bytes of a vector read as numbers of another class."""
    array, name = array_of(x), text_of(kind, "A class name")
    data = np.ascontiguousarray(call.engine.look(array.data))
    vector = data.ndim == 2 and (1 in data.shape or data.size == 0)
    if name not in NUMERIC_KINDS or array.kind not in (*NUMERIC_KINDS, "char", "logical"):
        raise MatlabError("MATLAB:typecast:unsupportedClass", f"Unsupported class '{name}'.")
    if not vector or data.dtype.kind == "c":
        raise MatlabError("MATLAB:typecast:firstInputMustBeVector", "A real vector is needed.")
    if data.nbytes % DTYPES[name].itemsize:
        raise MatlabError(
            "MATLAB:typecast:notEnoughInputElements",
            "Too few input values to make an output of this class.",
        )
    made = data.ravel().view(DTYPES[name]).copy()
    row = data.shape[1] == 1 and count_of(x) >= 1
    return wrap(name, made.reshape((-1, 1) if row else (1, -1)))


@builtin("swapbytes")
def swapbytes(call: Call, x: Value) -> Value:
    """Numbers with their bytes in reverse."""
    array = array_of(x)
    return Array(array.kind, call.engine.host(np.ndarray.byteswap, array.data))


GENERATED = (
    _pairwise("bitand", lambda p, q, _: p & q, "Bits that are set in both numbers."),
    _pairwise("bitor", lambda p, q, _: p | q, "Bits that are set in either number."),
    _pairwise("bitxor", lambda p, q, _: p ^ q, "Bits that are set in exactly one number."),
    _pairwise("bitshift", _shift, "Bits moved to the left, or to the right where negative."),
    _pairwise("bitget", _get, "One bit of each number."),
)
