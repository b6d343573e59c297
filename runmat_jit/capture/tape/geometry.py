"""Views as movement: one geometry on a storage, in terms of the storage's own array.

Everything here is integer arithmetic on strides; a geometry that it cannot express exactly is
refused (None), never approximated.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from runmat_jit.core.frozen import frozen
from runmat_jit.core.types import c_strides


@frozen
class Window:
    """A view as ``base[starts : : steps]`` with some axes dropped, reordered or repeated.

    ``axes[j]`` is the base axis that axis ``j`` of the view walks, or -1 where the view repeats
    (stride 0) or has extent 1.
    """

    starts: tuple[int, ...]
    steps: tuple[int, ...]
    extents: tuple[int, ...]
    axes: tuple[int, ...]
    shape: tuple[int, ...]

    def permutation(self) -> tuple[int, ...] | None:
        """The axes of the view in base order, if the view is the whole base reordered."""
        walked = [axis for axis in self.axes if axis >= 0]
        whole = all(step in (1, -1) for step in self.steps) and len(self.axes) == len(self.starts)
        return tuple(walked) if whole and len(walked) == len(self.starts) else None


def window(
    base_shape: tuple[int, ...],
    base_strides: tuple[int, ...],
    offset: int,
    shape: tuple[int, ...],
    strides: tuple[int, ...],
) -> Window | None:
    """Express a view as a window on its base; offset and strides in elements.

    None where an axis of the view mixes axes of the base (diagonals, most reshapes).
    """
    rank = len(base_shape)
    axes: list[int] = []
    steps = [1] * rank
    extents = [1] * rank
    free = sorted(
        (axis for axis in range(rank) if base_shape[axis] > 1 and base_strides[axis]),
        key=lambda axis: -abs(base_strides[axis]),
    )
    taken: set[int] = set()
    for extent, stride in zip(shape, strides, strict=True):
        if extent == 1 or stride == 0:
            axes.append(-1)
            continue
        for axis in free:
            step, rest = divmod(stride, base_strides[axis])
            if not rest and axis not in taken and abs(step) * (extent - 1) < base_shape[axis]:
                break
        else:
            return None
        taken.add(axis)
        axes.append(axis)
        steps[axis], extents[axis] = step, extent
    starts = _starts((base_shape, base_strides), offset, free, steps, extents)
    if starts is None:
        return None
    return Window(starts, tuple(steps), tuple(extents), tuple(axes), shape)


def _starts(
    base: tuple[tuple[int, ...], tuple[int, ...]],
    offset: int,
    free: list[int],
    steps: list[int],
    extents: list[int],
) -> tuple[int, ...] | None:
    """Where the window begins along each axis: the offset written in the base's strides.

    The lowest corner of the window is found first (a negative step begins at its far end), by
    division from the largest stride down; a base with negative strides counts from its own lowest
    element.
    """
    base_shape, base_strides = base
    low = offset
    for axis in free:
        span = base_strides[axis] * steps[axis] * (extents[axis] - 1)
        low += min(span, 0)
        if base_strides[axis] < 0:
            low -= base_strides[axis] * (base_shape[axis] - 1)
    starts = [0] * len(base_shape)
    for axis in free:
        stride = abs(base_strides[axis])
        count, low = divmod(low, stride)
        reach = abs(steps[axis]) * (extents[axis] - 1)
        if count < 0 or count + reach >= base_shape[axis]:
            return None
        if base_strides[axis] > 0:
            starts[axis] = count + (reach if steps[axis] < 0 else 0)
        else:
            last = base_shape[axis] - 1 - count
            starts[axis] = last if steps[axis] < 0 else last - reach
    reached = sum(start * stride for start, stride in zip(starts, base_strides, strict=True))
    return tuple(starts) if low == 0 and reached == offset else None


def in_elements(strides: tuple[int, ...], itemsize: int) -> tuple[int, ...] | None:
    """Byte strides in elements; None where they are no whole elements."""
    pairs = [divmod(stride, itemsize) for stride in strides]
    return None if any(rest for _, rest in pairs) else tuple(count for count, _ in pairs)


def is_contiguous(shape: tuple[int, ...], strides: tuple[int, ...]) -> bool:
    """True if element strides are those of C-contiguous memory; extents of 1 do not matter."""
    if 0 in shape:
        return True
    return all(
        extent == 1 or stride == wanted
        for extent, stride, wanted in zip(shape, strides, c_strides(shape), strict=True)
    )


def overlaps_itself(shape: tuple[int, ...], strides: tuple[int, ...]) -> bool:
    """True if two indices may reach one element (conservative: True where unsure)."""
    reach = 0
    for stride, extent in sorted((abs(s), e) for e, s in zip(shape, strides, strict=True) if e > 1):
        if stride <= reach:
            return True
        reach += stride * (extent - 1)
    return False


def result_strides(
    arrays: list[np.ndarray], shape: tuple[int, ...], itemsize: int
) -> tuple[int, ...]:
    """Byte strides of a new array that NumPy's iterator makes for these operands: ask NumPy."""
    operands: list[Any] = [*arrays, None]
    nditer: Any = np.nditer  # the stubs know no None among operand dtypes
    iterator = nditer(
        operands,
        flags=["zerosize_ok", "refs_ok"],
        order="K",
        op_flags=[*(["readonly"] for _ in arrays), ["writeonly", "allocate"]],
        op_dtypes=[*(None for _ in arrays), np.dtype(np.int8)],
        itershape=shape,
    )
    return tuple(stride * itemsize for stride in iterator.operands[-1].strides)


def ufunc_strides(
    arrays: list[np.ndarray], dtypes: list[np.dtype], shape: tuple[int, ...], itemsize: int
) -> tuple[int, ...]:
    """Byte strides of a ufunc's new result; ``dtypes`` are those that the operands are cast to.

    Operands that all lie in Fortran order take a way of their own through NumPy, which differs in
    the strides of axes of extent 1.
    """
    plain = all(
        array.ndim == 0
        or (array.shape == shape and array.dtype == dtype and array.flags.f_contiguous)
        for array, dtype in zip(arrays, dtypes, strict=True)
    )
    if not plain:
        return result_strides(arrays, shape, itemsize)
    return tuple(stride * itemsize for stride in c_strides(shape, tuple(range(len(shape)))[::-1]))


def copy_strides(array: np.ndarray, itemsize: int) -> tuple[int, ...]:
    """Byte strides of a copy that keeps the order of the axes."""
    alike = np.empty_like(array, np.int8)
    return tuple(stride * itemsize for stride in alike.strides)
