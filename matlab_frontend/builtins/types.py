"""Classes: conversions and questions."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from matlab_frontend.builtins.registry import Builtin, Call, builtin
from matlab_frontend.concatenation import convert
from matlab_frontend.errors import MatlabError
from matlab_frontend.operators import truth
from matlab_frontend.residency import is_resident
from matlab_frontend.values.array import (
    HANDLES,
    Array,
    Cell,
    MapObject,
    ParserObject,
    Struct,
    Value,
    as_array,
    count_of,
    kind_of,
)
from matlab_frontend.values.kinds import FLOAT_KINDS, INTEGER_KINDS, NUMERIC_KINDS
from matlab_frontend.values.make import strings, text, text_rows, wrap
from matlab_frontend.values.read import is_text, lines_of, text_of

_CATEGORIES = {
    "numeric": NUMERIC_KINDS,
    "float": FLOAT_KINDS,
    "integer": INTEGER_KINDS,
}


def _conversion(kind: str) -> Builtin:
    def function(call: Call, x: Value) -> Value:
        array = as_array(x)
        if array is None or (array.kind == "string" and kind != "double"):
            raise MatlabError(
                "MATLAB:invalidConversion",
                f"Conversion to {kind} from {kind_of(x)} is not possible.",
            )
        if array.kind == "string":
            return call.interpreter.call_one(text("str2double"), x)
        if array.data.dtype.kind == "c" and kind in INTEGER_KINDS:
            raise MatlabError(
                "MATLAB:complexIntegers", "Complex numbers of integer classes are not supported."
            )
        return wrap(kind, convert(call.engine, array, kind))

    return Builtin(kind, function, 1, 1, f"A value as {kind}.")


def _question(name: str, holds: Callable[[Value], bool], doc: str) -> Builtin:
    return Builtin(name, lambda _, x: holds(x), 1, 1, doc)


def _is_real(x: Value) -> bool:
    array = as_array(x)
    return array is not None and array.kind != "string" and array.data.dtype.kind != "c"


GENERATED = (
    *map(_conversion, NUMERIC_KINDS),
    _question("isnumeric", lambda x: kind_of(x) in NUMERIC_KINDS, "Whether it holds numbers."),
    _question("isfloat", lambda x: kind_of(x) in FLOAT_KINDS, "Whether it is double or single."),
    _question("isinteger", lambda x: kind_of(x) in INTEGER_KINDS, "Whether its class is integer."),
    _question("islogical", lambda x: kind_of(x) == "logical", "Whether it holds truth values."),
    _question("ischar", lambda x: kind_of(x) == "char", "Whether it holds characters."),
    _question("isstring", lambda x: kind_of(x) == "string", "Whether it holds strings."),
    _question("iscell", lambda x: isinstance(x, Cell), "Whether it is a cell array."),
    _question("isstruct", lambda x: isinstance(x, Struct), "Whether it is a struct array."),
    _question("isreal", _is_real, "Whether it is stored without imaginary parts."),
    _question(
        "iscellstr",
        lambda x: isinstance(x, Cell) and all(kind_of(item) == "char" for item in x.data.flat),
        "Whether it is a cell array of texts.",
    ),
    _question(
        "isobject",
        lambda x: isinstance(x, (MapObject, ParserObject)),
        "Whether it is an object of a class.",
    ),
    _question("issparse", lambda _: False, "Whether it is stored sparsely."),
)


@builtin("class")
def class_(_: Call, x: Value) -> Value:
    """The name of a value's class."""
    return text("gpuArray" if is_resident(x) else kind_of(x))


@builtin("isa")
def isa(_: Call, x: Value, name: Value) -> Value:
    """True if a value is of a class or of a category of classes."""
    wanted = text_of(name, "A class name")
    kind = kind_of(x)
    named = "gpuArray" if is_resident(x) else kind
    return named == wanted or kind in _CATEGORIES.get(wanted, ())


@builtin("logical")
def logical(call: Call, x: Value) -> Value:
    """Truth values: what is not zero is true; NaN is refused."""
    array = as_array(x)
    if array is None:
        raise MatlabError(
            "MATLAB:invalidConversion",
            f"Conversion to logical from {kind_of(x)} is not possible.",
        )
    return wrap("logical", truth(call.engine, array))


@builtin("char")
def char(call: Call, *parts: Value) -> Value:
    """Characters from codes, or texts as the rows of a matrix."""
    if len(parts) == 1:
        array = as_array(parts[0])
        if array is not None and array.kind not in ("string", "char"):
            return Array("char", call.engine.cast(array.data, np.dtype(np.uint16)))
        if array is not None and (array.kind == "char" or count_of(array) == 1):
            return array if array.kind == "char" else text(text_of(array))
    return text_rows([line for part in parts for line in _rows(call, part)])


def _rows(call: Call, part: Value) -> list[str]:
    """The rows that an argument of ``char`` gives: a blank one where it has no characters."""
    array = as_array(part)
    if array is None or array.kind == "string":
        return lines_of(part)
    if count_of(array) == 0:
        return [""]
    return lines_of(Array("char", call.engine.cast(array.data, np.dtype(np.uint16))))


@builtin("string")
def string(call: Call, x: Value) -> Value:
    """Strings from texts or numbers."""
    if isinstance(x, Cell):
        return strings(lines_of(x), x.data.shape[::-1])
    array = as_array(x)
    if array is None:
        raise MatlabError(
            "MATLAB:string:conversion", f"Conversion to string from {kind_of(x)} is not possible."
        )
    if is_text(array):
        return strings([text_of(array)], (1, 1))
    return wrap("string", convert(call.engine, array, "string"))


@builtin("is_function_handle")
def is_function_handle(_: Call, x: Value) -> Value:
    """True if it is a function handle."""
    return isinstance(x, HANDLES)
