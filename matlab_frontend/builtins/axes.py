"""Arguments of reductions: dimensions, the class of the result, and what to do with NaN."""

from __future__ import annotations

from collections.abc import Sequence

from matlab_frontend.builtins.sizes import dimension_of, first_dimension
from matlab_frontend.engine import Engine
from matlab_frontend.errors import MatlabError
from matlab_frontend.values.array import Value, count_of, shape_of
from matlab_frontend.values.read import is_text, known, text_of
from runmat_jit.core.frozen import frozen

_OPTIONS = ("default", "double", "native", "omitnan", "includenan", "omitmissing", "includemissing")


@frozen
class Axes:
    """MATLAB's dimensions, from 0, and options."""

    dimensions: tuple[int, ...]
    output: str
    omit_nan: bool
    explicit: bool = True
    """True if the dimensions were given, not found from the size."""

    def of(self, rank: int) -> tuple[int, ...]:
        """The axes of the data, which lie in reverse; dimensions beyond the rank have extent 1."""
        return tuple(rank - 1 - axis for axis in self.dimensions if axis < rank)


def read_axes(engine: Engine, x: Value, arguments: Sequence[Value]) -> Axes:
    """Read ``dim``, ``[dims]``, ``'all'``, ``'omitnan'``, ``'native'`` and the like.

    Raises:
        MatlabError: a dimension is no positive integer, or an option is unknown.

    """
    dimensions: tuple[int, ...] | None = None
    output, omit = "default", False
    for argument in arguments:
        if not is_text(argument):
            if dimensions is not None:
                raise MatlabError("MATLAB:maxrhs", "There is one dimension argument.")
            if count_of(argument) != 0:
                dimensions = read_dimensions(engine, argument)
            continue
        option = text_of(argument).lower()
        if option == "all":
            dimensions = tuple(range(len(shape_of(x))))
        elif option not in _OPTIONS:
            raise MatlabError("MATLAB:unknownOption", f"Unknown option '{option}'.")
        elif option.startswith("omit"):
            omit = True
        elif not option.startswith("include"):
            output = option
    if dimensions is None:
        return Axes((first_dimension(x),), output, omit, explicit=False)
    return Axes(dimensions, output, omit)


def read_dimensions(engine: Engine, value: Value) -> tuple[int, ...]:
    """One dimension or a vector of them, from 0."""
    if count_of(value) == 1:
        return (dimension_of(engine, value),)
    return tuple(dimension_of(engine, float(number)) for number in known(engine, value).ravel())


def gives_scalar(value: Value, axes: Axes) -> bool:
    """``sum([])`` is a scalar, although other empty matrices keep their columns."""
    return shape_of(value) == (0, 0) and not axes.explicit
