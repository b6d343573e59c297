"""Methods, attributes and items as functions of their object: equal ones are one callable."""

from __future__ import annotations

import functools
import operator
from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from runmat_jit.core.frozen import frozen


class CallForm:
    """A callable that stands for another one, which its arguments tell."""

    __slots__ = ()

    @abstractmethod
    def spelled(self, args: Sequence[Any]) -> tuple[Any, Sequence[Any]]:
        """What the program calls, and the arguments that it gets."""

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        fn, rest = self.spelled(args)
        return fn(*rest, **kwargs)


@frozen
class MethodCall(CallForm):
    """``value.name(*args)`` as a function of the value; equal by name.

    ``ordered``: it changes the value, a random generator, so that it is called once in its place;
    ``cannot_raise``: as of :class:`runmat_jit.capture.callables.Callee`.
    """

    name: str
    ordered: bool = False
    cannot_raise: bool = False

    def spelled(self, args: Sequence[Any]) -> tuple[Any, Sequence[Any]]:
        return getattr(args[0], self.name), args[1:]

    @property
    def __name__(self) -> str:
        return self.name


@frozen
class AttributeCall(CallForm):
    """``value.name`` as a function of the value; equal by name."""

    name: str

    def spelled(self, args: Sequence[Any]) -> tuple[Any, Sequence[Any]]:
        return getattr, (*args, self.name)

    @property
    def __name__(self) -> str:
        return self.name


@frozen
class UfuncMethod(CallForm):
    """``ufunc.reduce`` and its siblings; equal by ufunc and name."""

    ufunc: np.ufunc
    name: str

    def spelled(self, args: Sequence[Any]) -> tuple[Any, Sequence[Any]]:
        return getattr(self.ufunc, self.name), args

    @property
    def __name__(self) -> str:
        return f"{self.ufunc.__name__}.{self.name}"


@frozen
class IndexBuilder(CallForm):
    """``np.mgrid[key]`` and its siblings as a function of the key."""

    builder: Any

    def spelled(self, args: Sequence[Any]) -> tuple[Any, Sequence[Any]]:
        return operator.getitem, (self.builder, *args)

    @property
    def __name__(self) -> str:
        return type(self.builder).__name__


FORMS: Final = frozenset((MethodCall, AttributeCall, UfuncMethod, IndexBuilder))

INDEX_BUILDERS: Final[tuple[Any, ...]] = (np.mgrid, np.ogrid, np.r_, np.c_)
"""Objects whose items NumPy makes of keys alone."""

method_of: Callable[[str], MethodCall] = functools.cache(MethodCall)

attribute_of: Callable[[str], AttributeCall] = functools.cache(AttributeCall)

bound_method: Callable[[np.ufunc, str], UfuncMethod] = functools.cache(UfuncMethod)

TOLIST: Final = method_of("tolist")

GETITEM: Final = operator.getitem

SETITEM: Final = operator.setitem


def name_of(fn: Any) -> str:
    """Name of a callable in messages."""
    return str(getattr(fn, "__qualname__", getattr(fn, "__name__", type(fn).__name__)))
