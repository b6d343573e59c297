"""Questions about objects of classes, which these answer themselves; other values are none."""

from __future__ import annotations

from matlab_frontend.builtins.registry import Call, builtin
from matlab_frontend.errors import MatlabError
from matlab_frontend.values.array import Value, kind_of


def _refusal(function: str, value: Value) -> MatlabError:
    message = f"Function '{function}' is for objects of classes, not for '{kind_of(value)}'."
    return MatlabError("MATLAB:UndefinedFunction", message)


@builtin("properties")
def properties(_: Call, x: Value) -> Value:
    """The names of the public properties of an object."""
    raise _refusal("properties", x)


@builtin("methods")
def methods(_: Call, x: Value) -> Value:
    """The names of the public methods of an object."""
    raise _refusal("methods", x)


@builtin("isvalid")
def isvalid(_: Call, x: Value) -> Value:
    """True if a handle was not deleted."""
    raise _refusal("isvalid", x)


@builtin("isprop")
def isprop(_: Call, x: Value, name: Value) -> Value:
    """True if an object has a property."""
    del x, name
    return False


@builtin("ismethod")
def ismethod(_: Call, x: Value, name: Value) -> Value:
    """True if an object has a method."""
    del x, name
    return False
