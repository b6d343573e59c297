"""What an array is, apart from its values."""

from __future__ import annotations

import math

import numpy as np

from runmat_jit.core.frozen import frozen

COMPILED_DTYPES = tuple(np.dtype(name) for name in ("float32", "float64", "int32", "int64", "bool"))
"""The dtypes that kernels compute with; everything else stays with NumPy."""

COMPLEX_DTYPES = tuple(np.dtype(name) for name in ("complex64", "complex128"))
"""The dtypes of which kernels know the two parts, each a real number."""

_CHARACTERS = frozenset(dtype.char for dtype in COMPILED_DTYPES)
_PARTS: dict[np.dtype, np.dtype] = {
    np.dtype("complex64"): np.dtype("float32"),
    np.dtype("complex128"): np.dtype("float64"),
}

DUPLICATES = frozenset(char for char in "bhilqBHILQ" if np.dtype(np.dtype(char).str).char != char)
"""Type characters of integers that equal others of NumPy's, and are told apart: ``longlong``."""

NARROW_DTYPES = tuple(np.dtype(name) for name in ("uint8", "int8", "uint16", "int16", "uint32"))
"""Integers that native loops read, compute in 64 bits and store."""

KERNEL_ELEMENTS: dict[np.dtype, str] = {
    np.dtype("float32"): "f32",
    np.dtype("float64"): "f64",
    np.dtype("int32"): "i32",
    np.dtype("int64"): "i64",
    np.dtype("bool"): "bool",
    np.dtype("complex64"): "f32",
    np.dtype("complex128"): "f64",
    **dict(zip(NARROW_DTYPES, ("u8", "i8", "u16", "i16", "u32"), strict=True)),
}
"""The kernel IR's name of an element in memory; of a complex number, that of a part."""


def is_compiled_dtype(dtype: np.dtype) -> bool:
    """True if kernels compute with a dtype; ``longlong`` is none of them, though it equals one."""
    return dtype in COMPILED_DTYPES and dtype.char in _CHARACTERS


def is_graph_dtype(dtype: np.dtype) -> bool:
    """True if graphs have values of a dtype: one of kernels, or of complex numbers."""
    return is_compiled_dtype(dtype) or (dtype.kind == "c" and dtype in _PARTS)


def is_complex(dtype: np.dtype) -> bool:
    """True if a dtype of a graph's value has two parts."""
    return dtype.kind == "c"


def part_dtype(dtype: np.dtype) -> np.dtype:
    """The dtype of the two parts of a complex dtype; a real one itself."""
    return _PARTS.get(dtype, dtype)


@frozen
class TensorType:
    """Dtype and shape of a value in a graph."""

    dtype: np.dtype
    shape: tuple[int, ...]

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        return self.size * self.dtype.itemsize

    def __str__(self) -> str:
        return f"{self.dtype}[{', '.join(map(str, self.shape))}]"


@frozen
class Part:
    """The real or the imaginary part of a complex number, in a dtype."""

    name: str
    dtype: np.dtype


def c_strides(shape: tuple[int, ...], order: tuple[int, ...] | None = None) -> tuple[int, ...]:
    """Strides in elements of contiguous memory whose axes lie in ``order``, outermost first."""
    strides = [0] * len(shape)
    step = 1
    for axis in reversed(range(len(shape)) if order is None else order):
        strides[axis] = step
        step *= shape[axis]
    return tuple(strides)


def byte_strides(
    shape: tuple[int, ...], itemsize: int, order: tuple[int, ...] | None = None
) -> tuple[int, ...]:
    """Strides in bytes of contiguous memory whose axes lie in ``order``, outermost first."""
    return tuple([stride * itemsize for stride in c_strides(shape, order)])


def broadcast_shapes(*shapes: tuple[int, ...]) -> tuple[int, ...]:
    """The shape that shapes broadcast to, as NumPy's function of this name, on any kind of int.

    Raises:
        ValueError: They do not.

    """
    found: list[int] = [1] * max(map(len, shapes), default=0)
    for shape in shapes:
        for axis, extent in enumerate(shape, len(found) - len(shape)):
            if found[axis] == 1:
                found[axis] = extent
            elif extent not in (1, found[axis]):
                raise ValueError(f"shapes {', '.join(map(str, shapes))} do not broadcast")
    return tuple(found)
