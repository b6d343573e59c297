"""Host calls of a program, bound to its memory."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, cast

import numpy as np

from runmat_jit.core.frozen import frozen
from runmat_jit.graph.node import Node
from runmat_jit.ops.host_call import HostCall, watched
from runmat_jit.ops.product import Product
from runmat_jit.plan.argument import HostOperand, InputScalar, Number
from runmat_jit.plan.layout import Layout
from runmat_jit.runtime.arrays import Shown

Allocate = Callable[..., np.ndarray]
"""Gives new memory of a shape, dtype and byte strides."""


RECYCLED_BYTES = 1 << 20
"""Products of as many bytes lie in recycled memory: new pages may cost more than the product."""
_IN_C_ORDER, _USABLE = 0x1, 0x500  # NumPy's flags; aligned and writeable


@frozen
class HostArray:
    """An operand: the array at ``place``, or elements of its memory.

    ``offset`` and ``strides`` are in bytes; strides None for the array itself.
    """

    place: int
    offset: int
    shape: tuple[int, ...]
    dtype: np.dtype
    strides: tuple[int, ...] | None

    def get(self, memory: Sequence[Any]) -> Any:
        """The array, in the memory of one run."""
        if self.strides is None:
            return memory[self.place]
        return show(memory[self.place], self.dtype, self.offset, self.shape, self.strides)


@frozen
class HostScalar:
    """An operand: the number at ``place``, by value."""

    place: int

    def get(self, memory: Sequence[Any]) -> Any:
        """The number, as a NumPy scalar."""
        return memory[self.place][()]


@frozen
class HostNumber:
    """An operand: a number, by value."""

    value: int | np.generic
    dtype: np.dtype

    def get(self, _memory: Sequence[Any]) -> Any:
        """The number, as a NumPy scalar."""
        return self.dtype.type(self.value)


@frozen
class HostStep:
    """A call that runs before the launch of number ``before``.

    The result, ``place`` in the program's memory, has the shape, dtype and byte strides (None: C
    order) of its buffer. ``idle`` are the places of earlier results that nothing needs any more.
    """

    before: int
    call: HostCall
    operands: tuple[HostArray | HostScalar | HostNumber, ...]
    place: int
    shape: tuple[int, ...]
    dtype: np.dtype
    strides: tuple[int, ...] | None
    idle: tuple[int, ...]
    reports: bool
    """It may report floating-point events."""

    def run(self, memory: list[Any], allocate: Allocate) -> bool:
        """Call it, put the result into the memory of this run; whether an event happened."""
        for place in self.idle:
            memory[place] = None
        operands = [operand.get(memory) for operand in self.operands]
        memory[self.place], happened = self.compute(operands, allocate)
        return happened

    def compute(self, operands: Sequence[Any], allocate: Allocate) -> tuple[np.ndarray, bool]:
        """The result for some operands; whether an event happened."""
        fn = self.call.fn
        if isinstance(fn, Product) and is_large(self.shape, self.dtype):
            fn = partial(multiplied, fn, self.shape, self.dtype, allocate)
        if self.reports:
            value, happened = watched(fn, operands)
        else:
            value, happened = fn(*operands), False
        return laid_out(value, self.dtype, self.shape, self.strides, allocate), happened

    @property
    def whole(self) -> tuple[int, ...] | None:
        """The places of the operands, where all are whole arrays."""
        if all(isinstance(each, HostArray) and each.strides is None for each in self.operands):
            return tuple([each.place for each in self.operands if isinstance(each, HostArray)])
        return None


def multiplied(
    product: Product, shape: tuple[int, ...], dtype: np.dtype, allocate: Allocate, *given: Any
) -> Any:
    """A product; a large one in recycled memory."""
    a, b = given
    if is_large(shape, dtype):
        return product.into(a, b, allocate(shape, dtype))
    return product(a, b)


def is_large(shape: tuple[int, ...], dtype: np.dtype) -> bool:
    """True if a product of this shape lies in recycled memory."""
    return dtype.itemsize * math.prod(shape) >= RECYCLED_BYTES


def bind_host_step(
    node: Node,
    operands: Sequence[HostOperand],
    layout: Layout,
    before: int,
    idle: tuple[int, ...],
) -> HostStep:
    """Bind a host call to the memory of a program (arguments as fields of ``HostStep``)."""
    place = layout.places[node]
    buffer = layout.buffers[place - layout.inputs - len(layout.tables)]
    return HostStep(
        before,
        cast("HostCall", node.params["call"]),
        tuple(_bound(operand, layout) for operand in operands),
        place,
        buffer.shape,
        buffer.dtype,
        buffer.strides,
        idle,
        bool(node.op.events),
    )


def _bound(operand: HostOperand, layout: Layout) -> HostArray | HostScalar | HostNumber:
    if isinstance(operand, Number):
        return HostNumber(operand.value, operand.dtype)
    if isinstance(operand, InputScalar):
        return HostScalar(layout.places[operand.node])
    place, kind = layout.places[operand.base], operand.node.type
    if operand.is_whole and not _is_shared(place, layout):
        return HostArray(place, 0, kind.shape, kind.dtype, None)
    size = kind.dtype.itemsize
    strides = tuple(stride * size for stride in operand.strides)
    return HostArray(place, operand.offset * size, kind.shape, kind.dtype, strides)


def _is_shared(place: int, layout: Layout) -> bool:
    """True if an array at a place may be of another shape than its value."""
    first = layout.inputs + len(layout.tables)
    if place < first:
        return False
    buffer = layout.buffers[place - first]
    return buffer.shares is not None or bool(buffer.sizes)


def laid_out(
    value: Any,
    dtype: np.dtype,
    shape: tuple[int, ...],
    strides: tuple[int, ...] | None,
    allocate: Allocate,
) -> np.ndarray:
    """What a host call returned, as memory that kernels may read and write: copied if need be."""
    array = np.asarray(value)
    assert (array.dtype, array.shape) == (dtype, shape), (
        f"a host call returned {array.dtype}{list(array.shape)}, its law says {dtype}{list(shape)}"
    )
    flags = array.flags.num
    lies = flags & _IN_C_ORDER if strides is None else array.strides == strides
    if lies and flags & _USABLE == _USABLE:
        return array
    made = allocate(shape, dtype, strides)
    made[...] = array
    return made


def show(
    target: np.ndarray,
    dtype: np.dtype,
    offset: int,
    shape: tuple[int, ...],
    strides: tuple[int, ...],
) -> np.ndarray:
    """Elements of an array's memory as another array; offset and strides in bytes."""
    if target.flags.c_contiguous and type(target) is np.ndarray:
        return np.ndarray(shape, dtype, target, offset, strides)
    interface = dict(target.__array_interface__)
    address, _ = interface["data"]
    interface.update(
        data=(address + offset, False), shape=shape, strides=strides, typestr=dtype.str
    )
    return np.asarray(Shown(interface, target))
