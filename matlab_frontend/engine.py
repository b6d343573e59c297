"""All arithmetic on arrays goes through an engine.

An engine's array has a dtype and a shape at once and values when somebody looks. The NumPy engine
computes at once; another one may record what is asked for and compute it when ``look`` needs it.
Shapes and axes here are those of the data: MATLAB's in reverse.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias

import numpy as np

from matlab_frontend.draws import Draw, draw_now
from matlab_frontend.values.array import Data

if TYPE_CHECKING:
    from runmat_jit.core.source import SourceLine
    from runmat_jit.loops.sites import Loops
    from runmat_jit.random import Generator

Operand: TypeAlias = Any
"""An engine's array, or a Python number, which takes the dtype of the arrays beside it."""
Key: TypeAlias = tuple[Any, ...]
"""One slice or array of positions an axis, counted from 0; arrays are applied as ``np.ix_`` does
where there are several axes."""


ALWAYS_KNOWN = (np.dtype(np.uint16), np.dtype(object))
"""Dtypes of characters, strings and cells: an engine gives NumPy arrays of them, never others."""


class Adapter(NamedTuple):
    """A device that arrays can be kept on."""

    name: str
    has_doubles: bool


class Engine(Protocol):
    """What the interpreter and the builtins ask for."""

    def apply(self, row: str, *operands: Operand) -> Data:
        """An elementwise row of the op table, with NumPy's broadcasting and promotion."""

    def reduce(self, row: str, data: Data, axes: tuple[int, ...], **given: int) -> Data:
        """A reduction row; the axes stay, with extent 1. ``given``: its further parameters."""

    def accumulate(self, row: str, data: Data, axis: int) -> Data:
        """Running results of a binary row along an axis."""

    def cast(self, data: Data, dtype: np.dtype) -> Data:
        """Another dtype, by NumPy's conversion."""

    def reshape(self, data: Data, shape: tuple[int, ...]) -> Data:
        """The same elements in the same order."""

    def permute(self, data: Data, axes: tuple[int, ...]) -> Data:
        """Axes in another order."""

    def broadcast(self, data: Data, shape: tuple[int, ...]) -> Data:
        """Repeated along axes of extent 1."""

    def concatenate(self, parts: Sequence[Data], axis: int) -> Data:
        """Joined along an axis."""

    def full(self, shape: tuple[int, ...], value: Any, dtype: np.dtype) -> Data:
        """One value everywhere."""

    def arange(self, count: int, start: float, step: float) -> Data:
        """``start + step * k`` for k below ``count``: doubles along one axis."""

    def draw(self, generator: Generator, draw: Draw) -> Data:
        """The next random numbers of a generator."""

    def take(self, data: Data, key: Key) -> Data:
        """The elements at a key; never shares memory with ``data``."""

    def put(self, data: Data, key: Key, value: Operand, *, exclusive: bool) -> Data:
        """``data`` with new elements at a key; changed in place if nobody else holds it."""

    def matmul(self, a: Data, b: Data) -> Data:
        """Matrix product of the data (MATLAB's product has the factors swapped)."""

    def host(self, function: Callable[..., Any], *operands: Operand) -> Any:
        """A NumPy function that no row describes, on computed arrays."""

    def look(self, data: Data) -> np.ndarray:
        """The values, computed now if they are not yet."""

    def is_nonnegative(self, data: Data) -> bool:
        """True if no element is below zero, so that roots and logarithms stay real."""

    def has_nan(self, data: Data) -> bool:
        """True if an element is NaN, which has no truth value."""

    def computes_now(self, data: Data) -> bool:
        """True if an array is known, and operations on it alone are computed at once."""

    def owns_memory(self, data: Data) -> bool:
        """True if an array is no view of another's memory; nothing is computed."""

    def settle(self, data: Data, count: int) -> Data:
        """The same array for a program that asks for so many of its elements: in memory, if they
        are few.
        """

    def adapter(self) -> Adapter | None:
        """The device that ``keep`` keeps arrays on; None where programs have none."""

    def keep(self, data: Data) -> Data:
        """The same elements; what computes on the device finds them there, and leaves them."""

    def loops(self) -> Loops | None:
        """What makes loops run natively; None where they are interpreted."""

    @property
    def recording(self) -> bool:
        """True if there may be arrays that are not computed yet."""

    def is_pending(self, data: Data) -> bool:
        """True if an array is not computed yet."""

    def follow(self, line: Callable[[], SourceLine | None], place: Callable[[], Hashable]) -> None:
        """Be told how to ask for the line that runs, and for the expression."""

    def repeating(self) -> AbstractContextManager[Callable[[], None]]:
        """While a loop runs; gives what its end of a step calls."""

    def explain(self) -> str:
        """What was computed where, and why, in lines for a user."""


class NumpyEngine:
    """Computes at once, with NumPy; rows are found by the names they share with NumPy's."""

    recording = False

    def apply(self, row: str, *operands: Operand) -> Data:
        return getattr(np, row)(*operands)

    def reduce(self, row: str, data: Data, axes: tuple[int, ...], **given: int) -> Data:
        function = getattr(np, row)
        if isinstance(function, np.ufunc):
            return function.reduce(data, axis=axes, keepdims=True)
        return function(data, axis=axes, keepdims=True, **given)

    def accumulate(self, row: str, data: Data, axis: int) -> Data:
        return getattr(np, row).accumulate(data, axis=axis)

    def cast(self, data: Data, dtype: np.dtype) -> Data:
        return np.asarray(data).astype(dtype, copy=False)

    def reshape(self, data: Data, shape: tuple[int, ...]) -> Data:
        return np.reshape(data, shape)

    def permute(self, data: Data, axes: tuple[int, ...]) -> Data:
        return np.ascontiguousarray(np.transpose(data, axes))

    def broadcast(self, data: Data, shape: tuple[int, ...]) -> Data:
        return np.ascontiguousarray(np.broadcast_to(data, shape))

    def concatenate(self, parts: Sequence[Data], axis: int) -> Data:
        return np.concatenate(parts, axis)

    def full(self, shape: tuple[int, ...], value: Any, dtype: np.dtype) -> Data:
        return np.full(shape, value, dtype)

    def arange(self, count: int, start: float, step: float) -> Data:
        return start + step * np.arange(count, dtype=np.float64)

    def draw(self, generator: Generator, draw: Draw) -> Data:
        return draw_now(generator, draw)

    def take(self, data: Data, key: Key) -> Data:
        if all(type(part) is slice for part in key):
            return data[key].copy()
        return np.ascontiguousarray(data[open_mesh(data.shape, key)]).copy()

    def put(self, data: Data, key: Key, value: Operand, *, exclusive: bool) -> Data:
        target = data if exclusive and data.flags.writeable else data.copy()
        target[open_mesh(data.shape, key)] = value
        return target

    def matmul(self, a: Data, b: Data) -> Data:
        return np.matmul(a, b)

    def host(self, function: Callable[..., Any], *operands: Operand) -> Any:
        return function(*operands)

    def look(self, data: Data) -> np.ndarray:
        return np.asarray(data)

    def is_nonnegative(self, data: Data) -> bool:
        return not np.any(np.less(data, 0))

    def has_nan(self, data: Data) -> bool:
        return bool(np.isnan(data).any())

    def computes_now(self, data: Data) -> bool:
        return type(data) is np.ndarray

    def owns_memory(self, data: Data) -> bool:
        return bool(data.base is None)

    def settle(self, data: Data, count: int) -> Data:
        del count
        return data

    def adapter(self) -> Adapter | None:
        return None

    def keep(self, data: Data) -> Data:
        return data

    def loops(self) -> Loops | None:
        return None

    def is_pending(self, data: Data) -> bool:
        del data
        return False

    def follow(self, line: Callable[[], SourceLine | None], place: Callable[[], Hashable]) -> None:
        """Nothing is recorded, so no line is asked for."""

    def repeating(self) -> AbstractContextManager[Callable[[], None]]:
        return nullcontext(_nothing)

    def explain(self) -> str:
        return "NumPy computed each operation at once, on the CPU; nothing was fused.\n"


def _nothing() -> None:
    """What computes at once has nothing to do at the end of a step."""


def open_mesh(shape: tuple[int, ...], key: Key) -> Key:
    """The key with which NumPy indexes each axis on its own."""
    if sum(not isinstance(part, slice) for part in key) <= 1:
        return key
    return np.ix_(
        *(
            np.arange(extent)[part] if isinstance(part, slice) else part
            for extent, part in zip(shape, key, strict=True)
        )
    )
