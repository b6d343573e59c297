"""Methods, attributes and items as functions of their object: equal ones are one callable."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from runmat_jit.core.frozen import frozen


@frozen
class MethodCall:
    """``value.name(*args)`` as a function of the value; equal by name.

    ``ordered``: it changes the value, a random generator or an instance, so that it is called once
    in its place; ``cannot_raise``: as of :class:`runmat_jit.capture.callables.Callee`.
    """

    name: str
    ordered: bool = False
    cannot_raise: bool = False

    def __call__(self, value: Any, /, *args: Any, **kwargs: Any) -> Any:
        return getattr(value, self.name)(*args, **kwargs)

    @property
    def __name__(self) -> str:
        return self.name


@frozen
class AttributeCall:
    """``value.name`` as a function of the value; equal by name."""

    name: str

    def __call__(self, value: Any, /) -> Any:
        return getattr(value, self.name)

    @property
    def __name__(self) -> str:
        return self.name


@frozen
class TextMethod:
    """``text.name(*args)`` as a function of the text; equal by name."""

    name: str

    def __call__(self, text: Any, /, *args: Any, **kwargs: Any) -> Any:
        return getattr(text, self.name)(*args, **kwargs)

    @property
    def __name__(self) -> str:
        return self.name


@frozen
class UfuncMethod:
    """``ufunc.reduce`` and its siblings; equal by ufunc and name."""

    ufunc: np.ufunc
    name: str

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return getattr(self.ufunc, self.name)(*args, **kwargs)

    @property
    def __name__(self) -> str:
        return f"{self.ufunc.__name__}.{self.name}"


@frozen
class FlagOf:
    """``array.flags.name`` as a function of the array; equal by name."""

    name: str

    def __call__(self, array: np.ndarray, /) -> Any:
        return getattr(array.flags, self.name)

    @property
    def __name__(self) -> str:
        return f"flags.{self.name}"


@frozen
class IndexBuilder:
    """``np.mgrid[key]`` and its siblings as a function of the key."""

    builder: Any

    def __call__(self, key: Any, /) -> Any:
        return self.builder[key]

    @property
    def __name__(self) -> str:
        return type(self.builder).__name__


INDEX_BUILDERS: Final[tuple[Any, ...]] = (np.mgrid, np.ogrid, np.r_, np.c_)
"""Objects whose items NumPy makes of keys alone."""

method_of: Callable[[str], MethodCall] = functools.cache(MethodCall)

text_method: Callable[[str], TextMethod] = functools.cache(TextMethod)

attribute_of: Callable[[str], AttributeCall] = functools.cache(AttributeCall)

bound_method: Callable[[np.ufunc, str], UfuncMethod] = functools.cache(UfuncMethod)

TOLIST: Final = method_of("tolist")

GETITEM: Final = operator.getitem

SETITEM: Final = operator.setitem

SETATTR: Final = MethodCall("__setattr__", ordered=True, cannot_raise=True)


def name_of(fn: Any) -> str:
    """Name of a callable in messages."""
    return str(getattr(fn, "__qualname__", getattr(fn, "__name__", type(fn).__name__)))
