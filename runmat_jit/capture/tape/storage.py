"""Memory as a trace sees it: storages, and the geometry of arrays on them.

NumPy itself says what is a view: its own call is applied to the real array, or, where nothing has
been computed yet, to an unfilled stand-in of the same geometry. What shares memory with the
operand is a view; its offset, shape and strides are read off the array that NumPy made.
"""

from __future__ import annotations

import math
import weakref
from dataclasses import field, replace
from typing import Any, final

import numpy as np

from runmat_jit.core.extent import Extent, plain
from runmat_jit.core.frozen import frozen
from runmat_jit.core.slotted import slotted_object
from runmat_jit.core.types import TensorType, is_complex, part_dtype
from runmat_jit.runtime.arrays import Shown

FREED_BYTES = 4096
"""Arrays of fewer bytes stay to the end of a replay: Python may have decided by them."""
LARGE_BYTES = 1 << 30
"""Results of as many bytes are tried to be allocated while they are recorded."""


class Watch(weakref.ref[Any]):
    """A weak reference that knows the slot of its value; see :func:`watch`."""

    __slots__ = ("slot",)
    slot: int


def watch(value: Any, slot: int, dead: list[Watch]) -> Watch:
    """A reference to the value of a slot, which is added to ``dead`` when the value dies."""
    made = Watch(value, dead.append)
    made.slot = slot
    return made


@slotted_object
class Storage:
    """A block of memory that arrays of a trace show; ``scalar``: a NumPy scalar, no array.

    ``memory`` is the array that the storage was made as, None while its value is pending. ``slot``
    is where a replay finds that array. Dtype, shape and strides (bytes) are that array's.
    """

    slot: int
    dtype: np.dtype
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    memory: np.ndarray | None = None
    scalar: bool = False
    hollow: bool = False
    """The memory was never filled: nobody can ask for it any more."""
    exposed: bool = False
    """Code that no hook sees may hold the memory."""
    _standin: np.ndarray | None = None
    _owner: weakref.ref[Any] | None = None

    def owned_by(self, traced: Any, dead: list[Watch], *, is_freed: bool) -> None:
        """Tie the storage's life to the traced value of its base array (views keep that alive).

        ``is_freed``: a replay forgets it when the program does.
        """
        self._owner = watch(traced, self.slot, dead) if is_freed else weakref.ref(traced)

    @property
    def is_freed(self) -> bool:
        """True if it is so large, or may be, that replays forget it when the program has."""
        return is_freed(self.dtype, self.shape)

    @property
    def is_sized(self) -> bool:
        """True if that depends on extents of the call: a replay tells."""
        return any(isinstance(extent, Extent) for extent in self.shape)

    def is_owned_by(self, traced: Any) -> bool:
        """True if a traced value is the one of the base array."""
        return self._owner is not None and self._owner() is traced

    @property
    def alive(self) -> bool:
        """True if the program can still ask for the values."""
        return self._owner is not None and self._owner() is not None

    @staticmethod
    def of(slot: int, array: np.ndarray) -> Storage:
        """The storage of an array whose values exist."""
        return Storage(slot, array.dtype, array.shape, array.strides, array, exposed=True)

    def geometry(self) -> Geometry:
        """The geometry of the whole storage."""
        return Geometry(self, 0, self.dtype, self.shape, self.strides)

    def array(self) -> np.ndarray:
        """The memory, or an unfilled stand-in of the same geometry."""
        if self.memory is not None:
            return self.memory
        if self._standin is None:
            self._standin = empty_strided(self.shape, self.dtype, self.strides)
        return self._standin

    def locate(self, view: np.ndarray) -> Geometry | None:
        """The geometry of a view of :meth:`array`; None where it shows other memory."""
        base = self.array()
        if not np.may_share_memory(base, view):
            return None
        offset = view.__array_interface__["data"][0] - base.__array_interface__["data"][0]
        return Geometry(self, offset, view.dtype, view.shape, view.strides)


@final
@frozen
class Geometry:
    """Bytes of a storage that an array shows; offset and strides in bytes from its base array.

    Never changed (it is not frozen because each operation makes one, in a quarter of the time).

    ``slot`` is where a replay finds that array, if it is more than the storage's base.
    """

    storage: Storage
    offset: int
    dtype: np.dtype
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    slot: int | None = field(default=None, compare=False)

    def shows_part(self) -> bool:
        """True if it shows the real or the imaginary parts of complex numbers."""
        dtype = self.storage.dtype
        return is_complex(dtype) and self.dtype == part_dtype(dtype)

    def shows_numbers(self) -> bool:
        """True if it shows the storage's own numbers, or parts of them."""
        return self.dtype == self.storage.dtype or self.shows_part()

    def of_complex(self) -> Geometry:
        """The geometry of the complex numbers whose parts are shown."""
        offset = self.offset - self.offset_in_number()
        return replace(self, offset=offset, dtype=self.storage.dtype, slot=None)

    def offset_in_number(self) -> int:
        """Number of bytes into complex numbers the parts that are shown lie."""
        return self.offset % self.storage.dtype.itemsize

    def at_slot(self, slot: int) -> Geometry:
        """The same of an array that a replay finds in a slot."""
        return Geometry(self.storage, self.offset, self.dtype, self.shape, self.strides, slot)

    def as_storage(self) -> Storage | None:
        """The array as if it were memory of its own, where it exists."""
        memory = self.storage.memory
        if self.slot is None or memory is None:
            return None
        view = array_at(memory, self.offset, self.dtype, self.shape, self.strides)
        return Storage(self.slot, self.dtype, self.shape, self.strides, view)

    def whole(self) -> bool:
        """True if this is the storage's base array itself."""
        base = self.storage
        return (
            self.offset == 0
            and self.shape == base.shape
            and self.strides == base.strides
            and self.dtype == base.dtype
        )


class Windows:
    """Views of memory that a graph takes as inputs of their own, wherever in it they lie.

    A loop that goes through an array shows another part of it each time: what it does with the part
    is one program.
    """

    def __init__(self, storages: frozenset[Storage] = frozenset()) -> None:
        self.storages = storages
        self._made: dict[Geometry, Storage | None] = {}

    def of(self, at: Geometry) -> Storage | None:
        """A view as memory of its own; None where it is part of its base's."""
        if at.storage not in self.storages or at.whole():
            return None
        if at not in self._made:
            self._made[at] = at.as_storage()
        return self._made[at]


def is_freed(dtype: np.dtype, shape: tuple[int, ...]) -> bool:
    """True if an array is so large, or may be, that replays forget it when the program has."""
    nbytes = math.prod(shape) * dtype.itemsize
    return isinstance(nbytes, Extent) or nbytes >= FREED_BYTES


def memory_order(shape: tuple[int, ...], strides: tuple[int, ...]) -> tuple[int, ...]:
    """The axes from the outermost to the innermost in memory.

    Of axes with equal strides those of extent 1 lie inside: they do not lengthen the others.
    """
    return tuple(
        sorted(range(len(shape)), key=lambda axis: (-abs(strides[axis]), shape[axis] == 1, axis))
    )


def empty_strided(shape: tuple[int, ...], dtype: np.dtype, strides: tuple[int, ...]) -> np.ndarray:
    """New unfilled memory whose axes lie in the order that the strides say."""
    shape, strides = tuple(map(plain, shape)), tuple(map(plain, strides))
    order = memory_order(shape, strides)
    if order == tuple(range(len(shape))):
        return np.empty(shape, dtype)
    inverse = tuple(sorted(range(len(order)), key=order.__getitem__))
    return np.empty(tuple(shape[axis] for axis in order), dtype).transpose(inverse)


def array_at(
    base: np.ndarray,
    offset: int,
    dtype: np.dtype,
    shape: tuple[int, ...],
    strides: tuple[int, ...],
) -> np.ndarray:
    """The array of this geometry on the memory of another, which it keeps alive."""
    interface = dict(base.__array_interface__)
    address, read_only = interface["data"]
    interface.update(
        data=(address + plain(offset), read_only),
        typestr=dtype.str,
        shape=tuple(map(plain, shape)),
        strides=tuple(map(plain, strides)),
    )
    return np.asarray(Shown(interface, base))


def owner_of(array: np.ndarray) -> np.ndarray:
    """The array at the end of the chain of ``base``: the owner of the memory."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


def has_room(kind: TensorType) -> bool:
    """True if there is memory for a result: if not, NumPy is to say so at once, not a batch."""
    extents = tuple(map(plain, kind.shape))
    if math.prod(extents) * kind.dtype.itemsize < LARGE_BYTES:
        return True
    try:
        np.empty(extents, kind.dtype)
    except (MemoryError, ValueError):  # too large for this machine, or for any
        return False
    return True
