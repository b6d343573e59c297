"""Checks of arguments: ``validatestring`` and ``validateattributes``."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from matlab_frontend.builtins.registry import Call, builtin
from matlab_frontend.errors import MatlabError
from matlab_frontend.values.array import HANDLES, Value, count_of, kind_of, shape_of
from matlab_frontend.values.kinds import FLOAT_KINDS, NUMERIC_KINDS
from matlab_frontend.values.make import string, text
from matlab_frontend.values.read import (
    array_of,
    cell_of,
    is_text,
    known,
    lines_of,
    number_of,
    text_of,
)


@builtin("validatestring")
def validatestring(call: Call, x: Value, choices: Value, *where: Value) -> Value:
    """The choice that a text begins, without case; an error where none or several do."""
    del call
    given, listed = text_of(x, "The text"), lines_of(choices)
    found = [choice for choice in listed if choice.lower() == given.lower()] or [
        choice for choice in listed if given and choice.lower().startswith(given.lower())
    ]
    shortest = min(found, key=len, default="")
    if not found or not all(choice.lower().startswith(shortest.lower()) for choice in found):
        problem = "ambiguousStringChoice" if found else "unrecognizedStringChoice"
        options = ", ".join(f"'{choice}'" for choice in listed)
        raise MatlabError(
            f"MATLAB:{problem}",
            f"Expected {_named(where)} to match one of these values:\n\n{options}\n\n"
            f"The input, '{given}', {'matched more than one' if found else 'did not match any'} "
            "of the valid values.",
        )
    return string(shortest) if kind_of(x) == "string" else text(shortest)


def _named(where: Sequence[Value]) -> str:
    """How an error calls an argument: by its position and its name where they are given."""
    words = [text_of(item) for item in where if is_text(item)]
    numbers = [item for item in where if isinstance(item, float)]
    name = words[1] if len(words) > 1 else ""
    if not numbers:
        return name or "input"
    return f"input number {numbers[0]:.0f}" + (f", {name}," if name else "")


_CLASSES: Mapping[str, Callable[[Value], bool]] = {
    "numeric": lambda x: kind_of(x) in NUMERIC_KINDS,
    "float": lambda x: kind_of(x) in FLOAT_KINDS,
    "function_handle": lambda x: isinstance(x, HANDLES),
}


@builtin("validateattributes")
def validateattributes(
    call: Call, x: Value, classes: Value, attributes: Value, *where: Value
) -> None:
    """An error unless a value is of one of the classes and has all the attributes."""
    names = lines_of(cell_of(classes))
    if names and not any(_is_of_class(x, name) for name in names):
        listed = ", ".join(names)
        raise _failed(
            where,
            "invalidType",
            f"one of these types:\n\n{listed}\n\nInstead its type was {kind_of(x)}",
        )
    rest = list(cell_of(attributes).data.flat)
    while rest:
        word = text_of(rest.pop(0), "An attribute").lower()
        if word in _BY_NUMBER:
            test, problem, wanted = _BY_NUMBER[word]
            limit = rest.pop(0)
            if not test(call, x, limit):
                shown = "x".join(f"{n:g}" for n in known(call.engine, limit).ravel())
                shown = shown.replace("nan", "M")
                if word == "size":
                    shown += f", but it is of size {'x'.join(map(str, shape_of(x)))}"
                raise _failed(where, problem, f"{wanted} {shown}")
        elif word in _ATTRIBUTES:
            if not _ATTRIBUTES[word](call, x):
                raise _failed(where, f"expected{word.title()}", word)
        else:
            raise MatlabError("MATLAB:validateattributes:unknown", f"Unknown attribute '{word}'.")


def _is_of_class(x: Value, name: str) -> bool:
    test = _CLASSES.get(name)
    return kind_of(x) == name if test is None else test(x)


def _failed(where: Sequence[Value], problem: str, wanted: str) -> MatlabError:
    function = text_of(where[0]) if where and is_text(where[0]) else ""
    identifier = f"MATLAB:{function}:{problem}" if function else f"MATLAB:{problem}"
    return MatlabError(identifier, f"Expected {_named(where)} to be {wanted}.")


def _all(test: Callable[[np.ndarray], np.ndarray]) -> Callable[[Call, Value], bool]:
    """An attribute that each element must have."""
    return lambda call, x: bool(np.all(test(call.engine.look(array_of(x).data))))


def _steps(
    test: Callable[[np.ndarray], np.ndarray],
) -> Callable[[Call, Value], bool]:
    """An attribute of the differences of neighbours along columns; NaN has none of them."""

    def holds(call: Call, x: Value) -> bool:
        data = known(call.engine, x).astype(float)
        columns = data.reshape(-1, 1) if 1 in data.shape else data
        return not np.isnan(data).any() and bool(np.all(test(np.diff(columns, axis=0))))

    return holds


def _whole(data: np.ndarray) -> np.ndarray:
    return np.asarray(np.isfinite(data) & (data == np.trunc(data.real)))


def _is_square(_: Call, x: Value) -> bool:
    shape = shape_of(x)
    return len(shape) == 2 and shape[0] == shape[1]


def _is_diagonal(call: Call, x: Value) -> bool:
    table = known(call.engine, x)
    return table.ndim == 2 and bool(np.all((table == 0) | (np.eye(*table.shape) == 1)))


_ATTRIBUTES: Mapping[str, Callable[[Call, Value], bool]] = {
    "2d": lambda _, x: len(shape_of(x)) == 2,
    "3d": lambda _, x: len(shape_of(x)) <= 3,
    "column": lambda _, x: len(shape_of(x)) == 2 and shape_of(x)[1] == 1,
    "row": lambda _, x: len(shape_of(x)) == 2 and shape_of(x)[0] == 1,
    "scalar": lambda _, x: count_of(x) == 1,
    "scalartext": lambda _, x: is_text(x),
    "vector": lambda _, x: len(shape_of(x)) == 2 and 1 in shape_of(x),
    "square": _is_square,
    "diag": _is_diagonal,
    "nonempty": lambda _, x: count_of(x) > 0,
    "nonsparse": lambda *_: True,
    "binary": _all(lambda d: (d == 0) | (d == 1)),
    "even": _all(lambda d: _whole(d) & (d % 2 == 0)),
    "odd": _all(lambda d: _whole(d) & (d % 2 == 1)),
    "integer": _all(_whole),
    "real": lambda _, x: array_of(x).data.dtype.kind != "c",
    "finite": _all(np.isfinite),
    "nonnan": _all(lambda d: ~np.isnan(d)),
    "nonnegative": _all(lambda d: d >= 0),
    "nonzero": _all(lambda d: d != 0),
    "positive": _all(lambda d: d > 0),
    "decreasing": _steps(lambda d: d < 0),
    "increasing": _steps(lambda d: d > 0),
    "nondecreasing": _steps(lambda d: d >= 0),
    "nonincreasing": _steps(lambda d: d <= 0),
}


def _bound(
    test: Callable[[np.ndarray, float], np.ndarray],
) -> Callable[[Call, Value, Value], bool]:
    return lambda call, x, limit: bool(
        np.all(test(call.engine.look(array_of(x).data), number_of(call.engine, limit)))
    )


def _has_size(call: Call, x: Value, wanted: Value) -> bool:
    """NaN stands for any extent."""
    extents = known(call.engine, wanted).ravel()
    shape = shape_of(x)
    return len(shape) == extents.size and all(
        np.isnan(n) or n == extent for n, extent in zip(extents, shape, strict=True)
    )


_VALUES = "an array with all of the values"
_BY_NUMBER: Mapping[str, tuple[Callable[[Call, Value, Value], bool], str, str]] = {
    ">": (_bound(lambda d, n: d > n), "notGreater", f"{_VALUES} >"),
    ">=": (_bound(lambda d, n: d >= n), "notGreaterEqual", f"{_VALUES} >="),
    "<": (_bound(lambda d, n: d < n), "notLess", f"{_VALUES} <"),
    "<=": (_bound(lambda d, n: d <= n), "notLessEqual", f"{_VALUES} <="),
    "size": (_has_size, "incorrectSize", "of size"),
    "numel": (
        lambda call, x, n: count_of(x) == number_of(call.engine, n),
        "incorrectNumel",
        "an array with number of elements equal to",
    ),
    "ncols": (
        lambda call, x, n: shape_of(x)[1] == number_of(call.engine, n),
        "incorrectNumcols",
        "an array with number of columns equal to",
    ),
    "nrows": (
        lambda call, x, n: shape_of(x)[0] == number_of(call.engine, n),
        "incorrectNumrows",
        "an array with number of rows equal to",
    ),
    "ndims": (
        lambda call, x, n: len(shape_of(x)) == number_of(call.engine, n),
        "incorrectNumdims",
        "an array with number of dimensions equal to",
    ),
}
"""Attributes that are followed by a value: the test, the error's name, and what was expected."""
