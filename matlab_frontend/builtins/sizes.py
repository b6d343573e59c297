"""Sizes, classes and dimensions among the arguments of builtins."""

from __future__ import annotations

from collections.abc import Sequence

from matlab_frontend.engine import Engine
from matlab_frontend.errors import MatlabError
from matlab_frontend.values.array import Array, Shape, Value, count_of, kind_of, shape_of
from matlab_frontend.values.kinds import DTYPES
from matlab_frontend.values.read import integer_of, is_text, known, text_of


def split_class(arguments: Sequence[Value], default: str) -> tuple[list[Value], str]:
    """Sizes, and the class that ``'single'`` or ``'like', x`` at the end asks for.

    Raises:
        MatlabError: no array has such a class.

    """
    # 'gpuArray' says where the result lies: the caller sees to it.
    sizes = [x for x in arguments if not (is_text(x) and text_of(x) == "gpuArray")]
    kind = default
    for at, argument in enumerate(sizes):
        if not is_text(argument):
            continue
        name = text_of(argument)
        if len(sizes) > at + (2 if name == "like" else 1):
            raise MatlabError("MATLAB:maxrhs", "Nothing may stand after the class.")
        if name == "like" and at + 1 < len(sizes):
            return sizes[:at], kind_of(sizes[at + 1])
        if name not in DTYPES:
            raise MatlabError(
                "MATLAB:invalidInputClass", f"The class '{name}' is not supported here."
            )
        return sizes[:at], name
    return sizes, kind


def read_size(engine: Engine, sizes: Sequence[Value]) -> Shape:
    """The size that ``(n)``, ``(m, n, ...)`` or ``([m n ...])`` mean.

    Raises:
        MatlabError: a size is no integer.

    """
    if not sizes:
        return (1, 1)
    if len(sizes) == 1 and count_of(sizes[0]) != 1:
        if shape_of(sizes[0])[0] != 1 or len(shape_of(sizes[0])) != 2:
            raise MatlabError(
                "MATLAB:NonRowInput", "Size vector should be a row vector with real elements."
            )
        numbers = [float(x.real) for x in known(engine, sizes[0]).ravel()]
        if any(x != int(x) for x in numbers):
            raise MatlabError("MATLAB:NonIntegerInput", "Size inputs must be integers.")
        extents = [max(int(x), 0) for x in numbers]
    else:
        extents = [max(_extent(engine, size), 0) for size in sizes]
    if len(extents) == 1:
        extents *= 2
    return trimmed(extents)


def _extent(engine: Engine, size: Value) -> int:
    if isinstance(size, Array) and count_of(size) != 1:
        raise MatlabError("MATLAB:NonScalarInput", "Size inputs must be scalar.")
    try:
        return integer_of(engine, size)
    except MatlabError as error:
        raise MatlabError("MATLAB:NonIntegerInput", "Size inputs must be integers.") from error


def trimmed(extents: Sequence[int]) -> Shape:
    """A size without trailing ones beyond the second."""
    shape = list(extents)
    while len(shape) > 2 and shape[-1] == 1:
        shape.pop()
    return tuple(shape)


def first_dimension(value: Value) -> int:
    """The first axis (from 0) whose extent is not 1: where reductions work by themselves."""
    return next((axis for axis, extent in enumerate(shape_of(value)) if extent != 1), 0)


def dimension_of(engine: Engine, value: Value) -> int:
    """An axis (from 0) from the number of a dimension.

    Raises:
        MatlabError: it is no positive integer.

    """
    try:
        number = integer_of(engine, value)
    except MatlabError:
        number = 0
    if number < 1:
        raise MatlabError(
            "MATLAB:getdimarg:dimensionMustBePositiveInteger",
            "Dimension argument must be a positive integer scalar within indexing range.",
        )
    return number - 1
