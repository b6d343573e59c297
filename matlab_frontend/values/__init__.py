"""Values of MATLAB programs, how to make them, and how to read them."""

from matlab_frontend.values.array import (
    HANDLES,
    AnonymousHandle,
    Array,
    Cell,
    Data,
    ErrorObject,
    MapObject,
    NamedHandle,
    Shape,
    Struct,
    Value,
    as_array,
    count_of,
    kind_of,
    shape_of,
)

__all__ = [
    "HANDLES",
    "AnonymousHandle",
    "Array",
    "Cell",
    "Data",
    "ErrorObject",
    "MapObject",
    "NamedHandle",
    "Shape",
    "Struct",
    "Value",
    "as_array",
    "count_of",
    "kind_of",
    "shape_of",
]
