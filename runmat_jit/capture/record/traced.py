"""The value that user code sees while a call is recorded.

One class stands for arrays, NumPy scalars, Python scalars and text. It is no subclass of any of
them (C code would read a subclass's payload unseen), but answers ``isinstance`` as the value it
stands for. Every operation goes to the tracer; only truth tests, indices, hashing and text that no
hook makes look at the value itself.
"""

from __future__ import annotations

import math
import operator
import types
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Protocol

import numpy as np

from runmat_jit.capture.tape.entries import AbstractValue
from runmat_jit.capture.tape.storage import Geometry
from runmat_jit.capture.tape.values import ARRAY, NOTHING
from runmat_jit.runtime.arrays import residence_of

_REAL = (bool, int, float)
"""Classes of numbers that all values but complex ones are compared with."""


class Operations(Protocol):
    """Interface of a recording for its traced values."""

    symbols: Any
    outside: Any

    @property
    def passive(self) -> bool: ...

    def attribute(self, value: Traced, name: str) -> Any: ...
    def call(self, fn: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any: ...
    def count_of(self, shape: tuple[int, ...]) -> Any: ...
    def getitem(self, value: Traced, key: Any) -> Any: ...
    def is_input(self, value: Traced) -> bool: ...
    def compare(self, fn: Any, value: Traced, other: Any) -> Any: ...
    def inplace(self, fn: Any, target: Traced, other: Any) -> Any: ...
    def iterated(self, value: Traced) -> Iterator[Any]: ...
    def entered(self, value: Traced) -> Any: ...
    def leak(self, value: Traced, detail: str) -> Any: ...
    def look(self, value: Traced, use: str) -> Any: ...
    def method(self, value: Traced, name: str, args: tuple[Any, ...], kwargs: Any) -> Any: ...
    def numpy(self, fn: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any: ...
    def operator(self, fn: Any, args: tuple[Any, ...]) -> Any: ...
    def set_attribute(self, target: Traced, name: str, value: Any) -> None: ...
    def setitem(self, target: Traced, key: Any, value: Any) -> None: ...
    def shape_of(self, shape: tuple[int, ...]) -> tuple[Any, ...]: ...
    def stand_in(self, value: Traced) -> np.ndarray: ...
    def truth(self, value: Traced) -> bool: ...
    def ufunc(self, fn: np.ufunc, method: str, args: Any, kwargs: Any) -> Any: ...
    def value(self, traced: Traced) -> Any: ...
    def writable(self, value: Traced) -> bool: ...


class Traced:
    """A traced value; see the module. Its own state has names that no array has."""

    __slots__ = (
        "__weakref__",
        "_rm_abstract",  # None until it is asked for, and after its geometry has changed
        "_rm_extent",  # of lengths that the program asked for: the formula
        "_rm_geometry",  # where its elements lie (arrays and pending NumPy scalars)
        "_rm_held",  # the real value; None while pending
        "_rm_kind",
        "_rm_origin",  # for views: (parent, function, args, kwargs)
        "_rm_roots",  # for Python scalars: the argument slots it depends on; None: on arrays
        "_rm_slot",
        "_rm_standin",  # for views of pending storages: the view of the stand-in
        "_rm_tracer",
    )
    __array_priority__ = 1e6

    def __init__(
        self,
        tracer: Operations,
        slot: int,
        kind: str,
        geometry: Geometry | None = None,
        abstract: AbstractValue | None = None,
        *,
        held: Any = None,
        roots: frozenset[int] | None = None,
    ) -> None:
        self._rm_tracer, self._rm_slot, self._rm_kind = tracer, slot, kind
        self._rm_held, self._rm_geometry, self._rm_roots = held, geometry, roots
        self._rm_abstract = abstract
        self._rm_origin: Any = None
        self._rm_extent: Any = None
        self._rm_standin: Any = None

    # -- what the value is -----------------------------------------------------------------------
    @property  # type: ignore[misc]  # isinstance must answer as the real value, even in C
    def __class__(self) -> type:
        if self._rm_kind == ARRAY:
            return np.ndarray
        if self._rm_geometry is not None:
            return self._rm_geometry.dtype.type
        return type(self._rm_held)

    @property
    def shape(self) -> Any:
        shape = self._rm_geometry.shape if self._rm_geometry else self._rm_held.shape
        return shape if self._rm_tracer.symbols is None else self._rm_tracer.shape_of(shape)

    @property
    def dtype(self) -> Any:
        return self._rm_geometry.dtype if self._rm_geometry else self._rm_held.dtype

    @property
    def strides(self) -> Any:
        strides = self._rm_geometry.strides if self._rm_geometry else self._rm_held.strides
        return strides if self._rm_tracer.symbols is None else tuple(map(operator.index, strides))

    @property
    def ndim(self) -> int:
        return len(self._rm_geometry.shape if self._rm_geometry else self._rm_held.shape)

    @property
    def size(self) -> int:
        if self._rm_tracer.symbols is None or self._rm_geometry is None:
            return math.prod(self.shape)
        return self._rm_tracer.count_of(self._rm_geometry.shape)  # type: ignore[no-any-return]  # a number or one that is traced

    @property
    def itemsize(self) -> int:
        return int(self.dtype.itemsize)

    @property
    def nbytes(self) -> int:
        return self.size * self.itemsize

    # -- NumPy's protocols -----------------------------------------------------------------------
    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *args: Any, **kwargs: Any) -> Any:
        return self._rm_tracer.ufunc(ufunc, method, args, kwargs)

    def __array_function__(self, fn: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return self._rm_tracer.numpy(fn, args, kwargs)

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        value = self._rm_tracer.leak(self, "an array went to code that is not captured")
        return np.array(value, dtype=dtype, copy=copy)

    def __getattr__(self, name: str) -> Any:
        return self._rm_tracer.attribute(self, name)

    # -- looks: the value itself decides what Python does ------------------------------------------
    def __bool__(self) -> bool:
        return self._rm_tracer.truth(self)

    def __index__(self) -> int:
        return operator.index(self._rm_tracer.look(self, "an index"))

    def __int__(self) -> int:
        return int(self._rm_tracer.look(self, "int()"))

    def __float__(self) -> float:
        return float(self._rm_tracer.look(self, "float()"))

    def __complex__(self) -> complex:
        return complex(self._rm_tracer.look(self, "complex()"))

    def __hash__(self) -> int:
        if self._rm_kind == ARRAY:
            raise TypeError("unhashable type: 'numpy.ndarray'")
        return hash(self._rm_tracer.look(self, "a hash"))

    def __repr__(self) -> str:
        return repr(self._rm_tracer.look(self, "text"))

    def __str__(self) -> str:
        return str(self._rm_tracer.look(self, "text"))

    def __format__(self, spec: str) -> str:
        return format(self._rm_tracer.look(self, "text"), spec)

    def __contains__(self, item: Any) -> bool:
        return bool(self._rm_tracer.operator(operator.contains, (self, item)))

    def __reduce_ex__(self, protocol: Any) -> Any:
        return self._rm_tracer.leak(self, "a value was pickled").__reduce_ex__(protocol)

    # -- containers ------------------------------------------------------------------------------
    def __len__(self) -> int:
        if self._rm_kind != ARRAY:
            return len(self._rm_tracer.look(self, "len()"))
        if not self.shape:
            raise TypeError("len() of unsized object")
        return int(self.shape[0])

    def __iter__(self) -> Iterator[Any]:
        if self._rm_kind != ARRAY:
            return self._rm_tracer.iterated(self)
        if not self.shape:
            raise TypeError("iteration over a 0-d array")
        return (self[index] for index in range(self.shape[0]))

    def __enter__(self) -> Any:
        return self._rm_tracer.entered(self)  # no value has a context

    __exit__ = __enter__

    def __getitem__(self, key: Any) -> Any:
        return self._rm_tracer.getitem(self, key)

    def __setitem__(self, key: Any, value: Any) -> None:
        self._rm_tracer.setitem(self, key, value)

    def __delitem__(self, key: Any) -> None:
        operator.delitem(self._rm_tracer.value(self), key)  # NumPy says why it cannot be

    def __round__(self, *digits: Any) -> Any:
        return self._rm_tracer.operator(round, (self, *digits))

    def __copy__(self) -> Any:
        return self._rm_tracer.method(self, "__copy__", (), {})

    def __deepcopy__(self, memo: Any) -> Any:
        return self._rm_tracer.method(self, "__deepcopy__", (memo,), {})


class TracedMethod:
    """A method of a traced value, not called yet."""

    __slots__ = ("__name__", "__self__")

    def __init__(self, value: Traced, name: str) -> None:
        self.__self__, self.__name__ = value, name

    @property  # type: ignore[misc]  # as for Traced
    def __class__(self) -> type:
        return types.BuiltinMethodType

    def __repr__(self) -> str:
        return repr(getattr(self.__self__._rm_tracer.look(self.__self__, "text"), self.__name__))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        tracer = self.__self__._rm_tracer
        return tracer.method(self.__self__, self.__name__, args, kwargs)


def _forward(fn: Callable[..., Any]) -> Callable[..., Any]:
    def unary(self: Traced) -> Any:
        return self._rm_tracer.call(fn, (self,), NOTHING)

    return unary


def _binary(fn: Callable[..., Any]) -> tuple[Callable[..., Any], Callable[..., Any]]:
    def forward(self: Traced, other: Any) -> Any:
        return self._rm_tracer.call(fn, (self, other), NOTHING)

    def reflected(self: Traced, other: Any) -> Any:
        return self._rm_tracer.call(fn, (other, self), NOTHING)

    return forward, reflected


def _comparison(fn: Callable[..., Any]) -> Callable[..., Any]:
    def compare(self: Traced, other: Any) -> Any:
        if type(other) is Traced or (type(other) in _REAL and type(self._rm_held) is not complex):
            return self._rm_tracer.call(fn, (self, other), NOTHING)
        return self._rm_tracer.compare(fn, self, other)

    return compare


def _inplace(fn: Callable[..., Any]) -> Callable[..., Any]:
    def inplace(self: Traced, other: Any) -> Any:
        return self._rm_tracer.inplace(fn, self, other)

    return inplace


def _settable(name: str) -> property:
    """An attribute that NumPy lets programs set; hooks set all others through the tracer."""
    found = Traced.__dict__.get(name)
    read = found.fget if isinstance(found, property) else None

    def get(self: Traced) -> Any:
        return self._rm_tracer.attribute(self, name)

    def set_(self: Traced, value: Any) -> None:
        self._rm_tracer.set_attribute(self, name, value)

    return property(read or get, set_)


def _install() -> None:
    for name in ("shape", "strides", "dtype", "real", "imag", "flat", "data"):
        setattr(Traced, name, _settable(name))
    names: tuple[str, ...] = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul")
    names += ("and", "or", "xor", "lshift", "rshift")
    for name in names:
        fn = getattr(operator, {"and": "and_", "or": "or_"}.get(name, name))
        forward, reflected = _binary(fn)
        setattr(Traced, f"__{name}__", forward)
        setattr(Traced, f"__r{name}__", reflected)
        setattr(Traced, f"__i{name}__", _inplace(fn))
    for name in ("eq", "ne"):
        setattr(Traced, f"__{name}__", _binary(getattr(operator, name))[0])
    for name in ("lt", "le", "gt", "ge"):
        setattr(Traced, f"__{name}__", _comparison(getattr(operator, name)))
    for name in ("neg", "pos", "abs", "invert"):
        setattr(Traced, f"__{name}__", _forward(getattr(operator, name)))
    for name, fn in (("trunc", math.trunc), ("floor", math.floor), ("ceil", math.ceil)):
        setattr(Traced, f"__{name}__", _forward(fn))
    forward, reflected = _binary(divmod)
    setattr(Traced, "__divmod__", forward)  # noqa: B010  (a type checker knows no such method)
    setattr(Traced, "__rdivmod__", reflected)  # noqa: B010  (likewise)


_install()
# Python 3.14 names the class of an unhashable key: of all traced values only arrays are unhashable.
Traced.__module__, Traced.__qualname__ = "numpy", "ndarray"


def stays(value: Traced) -> bool:
    """True if a value is, or will be, in memory that may be on a device: not in NumPy's alone."""
    at = value._rm_geometry
    if at is None:
        return False
    memory = at.storage.memory
    return memory is None or residence_of(memory) is not None


def owns_memory(value: Traced) -> bool:
    """True if a value is an array with memory of its own, not a view; nothing is computed."""
    at = value._rm_geometry
    return at is not None and at.storage.is_owned_by(value)
