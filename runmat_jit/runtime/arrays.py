"""Contents of arrays that may lie on the host, on a GPU, or on both; and who has the newest.

A :class:`Residence` owns the memory. NumPy sees its host side through arrays made by ``show``; each
ends in a :class:`Lease`, so that from any view of such an array the residence can be found, and so
that it is known whether anybody still holds one. Whoever reads or writes host memory calls
``to_host`` before and, after a write, ``host_written``.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from runmat_jit.core.errors import BackendError

if TYPE_CHECKING:
    from runmat_jit.backends.wgpu.memory import DeviceArray
    from runmat_jit.core.protocols import Boundary
    from runmat_jit.runtime.gpu import Gpu


class ResidentArray:
    """An array of the package's own: in calls an ndarray stands for it.

    ``boundary`` makes what knows, in one call, which ndarray stands for which array.
    """

    __slots__ = (
        *("__weakref__", "_dtype", "_foreign", "_lent", "_offset", "_residence", "_shape"),
        *("_strides", "_writeable"),
    )
    boundary: ClassVar[Callable[..., Boundary]]
    _residence: Residence | None
    _foreign: np.ndarray | None
    """The memory itself where it is not a residence's: NumPy code elsewhere may hold it."""
    _dtype: np.dtype
    _shape: tuple[int, ...]
    _strides: tuple[int, ...]
    _offset: int
    _writeable: bool
    _lent: weakref.ref[np.ndarray] | None

    @classmethod
    def _over(cls, memory: np.ndarray) -> Self:
        """The array that shows the same memory as an ndarray, which stands for it in calls."""
        made = object.__new__(cls)
        residence = residence_of(memory)
        made._residence = residence
        made._foreign = memory if residence is None else None
        made._offset, made._writeable = 0, memory.flags.writeable
        made._lent = weakref.ref(memory)
        made._follow(memory)
        return made

    @classmethod
    def _on(
        cls, residence: Residence, dtype: np.dtype, shape: tuple[int, ...], strides: tuple[int, ...]
    ) -> Self:
        """An array of all memory of a residence, which nobody else shows."""
        made = object.__new__(cls)
        made._residence, made._foreign, made._lent = residence, None, None
        made._dtype, made._shape, made._strides = dtype, shape, strides
        made._offset, made._writeable = 0, True
        return made

    def _follow(self, memory: np.ndarray) -> None:
        """Take shape, strides and dtype of the ndarray that stands for this array."""
        self._dtype, self._shape, self._strides = memory.dtype, memory.shape, memory.strides
        if self._residence is not None:
            self._offset = self._residence.offset_of(memory)

    def _lend(self) -> np.ndarray:
        """The ndarray that stands for this array in calls: one as long as anybody holds it.

        Its contents are right after ``to_host`` only.
        """
        found = None if self._lent is None else self._lent()
        if found is None:
            found = self._view(writeable=self._writeable)
            self._lent = weakref.ref(found)
        return found

    def _view(self, *, writeable: bool) -> np.ndarray:
        """An ndarray on the host memory; its contents are right after ``to_host`` only."""
        if self._residence is not None:
            at = self._dtype, self._shape, self._strides, self._offset
            return self._residence.show(*at, writeable=writeable)
        assert self._foreign is not None, "contents are somewhere"
        if writeable == self._foreign.flags.writeable:
            return self._foreign
        view = self._foreign.view()
        view.flags.writeable = False
        return view

    def _on_device(self, gpu: Gpu) -> DeviceArray | None:
        """Where it lies on the device; None if between two elements, or in others' memory."""
        residence = self._residence
        if residence is None:
            return None
        if residence.gpu is gpu and not self._offset:
            found = residence._device
            if found is not None and found.dtype is self._dtype:
                return found
        return residence.part(gpu, self._dtype, self._offset)


class Lease:
    """What the arrays of one ``show`` are based on; it lives as long as one of them.

    ``offset`` is where the first of them begins, in bytes of the residence.
    """

    __slots__ = ("__array_interface__", "__weakref__", "offset", "residence")

    def __init__(self, residence: Residence, offset: int, interface: dict[str, Any]) -> None:
        self.residence, self.offset, self.__array_interface__ = residence, offset, interface


class Shown:
    """An object that NumPy reads an array's geometry from; keeps the memory's owner alive."""

    __slots__ = ("__array_interface__", "owner")

    def __init__(self, interface: dict[str, Any], owner: np.ndarray) -> None:
        self.__array_interface__, self.owner = interface, owner


class Residence:
    """Memory of one or several arrays, with a side on the host and perhaps one on a GPU.

    Args:
        nbytes: Size.
        host: An array whose memory, from its first byte on, is the host side; None: made when
            first shown, its contents being on the device.
        home: Where its owner wants it: ``cpu`` or ``gpu``.

    """

    __slots__ = (
        "__weakref__",
        "_address",
        "_device",
        "_host",
        "_leases",
        "gpu",
        "home",
        "nbytes",
        "on_host",
    )

    def __init__(self, nbytes: int, host: np.ndarray | None, home: str) -> None:
        self.nbytes, self.home = nbytes, home
        self.gpu: Gpu | None = None
        self.on_host = host is not None
        self._host = host
        self._address = 0 if host is None else address_of(host)
        self._device: DeviceArray | None = None
        self._leases: list[weakref.ref[Lease]] = []

    @staticmethod
    def of_device(gpu: Gpu, array: DeviceArray) -> Residence:
        """A residence of contents that are on a device, which it owns from now on."""
        made = Residence(array.size * array.dtype.itemsize, None, "gpu")
        made.gpu, made._device = gpu, array
        return made

    # -- the host's side ---------------------------------------------------------------------------
    def show(
        self,
        dtype: np.dtype,
        shape: tuple[int, ...],
        strides: tuple[int, ...],
        offset: int = 0,
        *,
        writeable: bool = True,
    ) -> np.ndarray:
        """An array on the host memory; its contents are right after ``to_host`` only."""
        if self._host is None:
            self._host = np.empty(self.nbytes, np.uint8)
            self._address = address_of(self._host)
        interface = {
            "version": 3,
            "data": (self._address + offset, not writeable),
            "typestr": dtype.str,
            "shape": shape,
            "strides": strides,
        }
        lease = Lease(self, offset, interface)
        if self._leases:
            self._leases = [old for old in self._leases if old() is not None]
        self._leases.append(weakref.ref(lease))
        return np.asarray(lease)

    @property
    def is_shown(self) -> bool:
        """True if somebody holds an array on the host memory."""
        leases = self._leases
        return bool(leases) and any(lease() is not None for lease in leases)

    def offset_of(self, array: np.ndarray) -> int:
        """Bytes before the first element of an array that shows this memory."""
        base: Any = array.base
        return base.offset if type(base) is Lease else address_of(array) - self._address

    def to_host(self) -> None:
        """Bring the newest contents to the host, where they are then kept.

        Raises:
            BackendError: They were on a device that is lost.

        """
        if self.on_host:
            return
        assert self.gpu is not None, "contents are somewhere"
        with self.gpu.lock:
            if self.on_host or self._device is None:  # another thread was faster
                return
            try:
                self.gpu.backend.memory.download(self._device, self._bytes())
            except BackendError as error:
                raise BackendError(
                    f"the contents of an array of {self.nbytes} bytes could not be read back and "
                    f"are lost with the device; make it again from its source: {error}"
                ) from error
            self.on_host = True

    def host_written(self) -> None:
        """The host's contents, which are complete, are the only ones from now on."""
        assert self.on_host, "only complete contents are written to"
        if self._device is not None and self.gpu is not None:
            with self.gpu.lock:  # another thread may be about to use it
                self.drop_device()

    # -- the device's side -------------------------------------------------------------------------
    def part(self, gpu: Gpu, dtype: np.dtype, offset: int) -> DeviceArray | None:
        """The device's copy as elements of which one begins at a byte; None if none does."""
        whole = self.on_device(gpu)
        if not offset and whole.dtype is dtype:
            return whole
        size = dtype.itemsize
        if offset % size:
            return None
        found = type(whole)(whole.buffer, dtype, self.nbytes // size, offset // size)
        if not offset:
            self._device = found  # the same memory, for the next call
        return found

    def on_device(self, gpu: Gpu) -> DeviceArray:
        """The device's copy, made where there is none; the caller holds the device's lock.

        Raises:
            BackendError: The device has no room, or is lost.

        """
        memory = gpu.backend.memory
        if self._device is None or self.gpu is None or self.gpu.backend.memory is not memory:
            self.to_host()
            made = memory.upload(self._bytes())
            self.drop_device()
            self.gpu, self._device = gpu, made
        return self._device

    def device_written(self, gpu: Gpu, array: DeviceArray) -> None:
        """The only valid contents are in a device array, owned from now on."""
        self.drop_device()
        self.gpu, self._device = gpu, array
        self.on_host = False

    def write_on_device(self, gpu: Gpu, values: DeviceArray, offset: int) -> None:
        """Copy a device array to a place in the device's copy; whole words."""
        gpu.backend.memory.copy(values, self.on_device(gpu), offset)
        self.on_host = False

    def drop_device(self) -> None:
        """Give the device's copy back; the caller holds the device's lock, or is the last user."""
        device, self._device = self._device, None
        if device is not None and self.gpu is not None:
            self.gpu.backend.memory.discard(device)

    def __del__(self) -> None:
        if self._device is not None:
            self.drop_device()

    def _bytes(self) -> np.ndarray:
        return self.show(np.dtype(np.uint8), (self.nbytes,), (1,))


def residence_of(array: np.ndarray) -> Residence | None:
    """The residence whose memory an array shows; None for other memory."""
    base: Any = array.base
    while base is not None and type(base) is not Lease:
        base = base.owner if type(base) is Shown else getattr(base, "base", None)
    return None if base is None else base.residence


def to_host(value: Any) -> None:
    """Make the host memory of an array right; anything else is right already."""
    if isinstance(value, np.ndarray):
        residence = residence_of(value)
        if residence is not None:
            residence.to_host()


def host_written(value: Any) -> None:
    """The host memory of an array is about to be written, or was: it alone counts."""
    if isinstance(value, np.ndarray):
        residence = residence_of(value)
        if residence is not None:
            residence.to_host()
            residence.host_written()


def adopted(array: np.ndarray, home: str = "cpu") -> np.ndarray:
    """The same memory, which nobody else holds, as that of a residence."""
    owner = array
    while isinstance(owner.base, np.ndarray):
        owner = owner.base
    offset = 0 if array is owner else address_of(array) - address_of(owner)
    residence = Residence(owner.nbytes, owner, home)
    return residence.show(array.dtype, array.shape, array.strides, offset)


def address_of(array: np.ndarray) -> int:
    """Where an array's first element is."""
    address: int = array.__array_interface__["data"][0]
    return address


def device_view(array: np.ndarray, residence: Residence, gpu: Gpu) -> DeviceArray | None:
    """Where an array on a residence lies on the device; None if between two elements."""
    return residence.part(gpu, array.dtype, residence.offset_of(array))


def are_alike(arrays: Sequence[ResidentArray]) -> Callable[..., bool] | None:
    """Tells whether calls with other arrays are as one with these; None where nothing does.

    Each is as the one here, is which of the others it is here, shares memory with no other, and
    nobody outside holds an ndarray on its memory, who may write there or is to see what a call
    writes.
    """
    facts = []
    for array in arrays:
        residence = array._residence
        if residence is None:
            return None
        fact = array._dtype, array._shape, array._strides, array._writeable, residence.home
        facts.append((fact, array._dtype.itemsize))
    objects = _first_places(arrays)
    if _first_places([array._residence for array in arrays]) != objects:
        return None
    are_several = len(facts) > 1

    def holds(*given: ResidentArray) -> bool:
        for array, (fact, itemsize) in zip(given, facts, strict=True):
            residence = array._residence
            if residence is None or fact != (
                *(array._dtype, array._shape, array._strides, array._writeable),
                residence.home,
            ):
                return False
            if (residence._leases and residence.is_shown) or array._offset % itemsize:
                return False
        if not are_several:
            return True
        memory = [array._residence for array in given]
        return _first_places(given) == objects == _first_places(memory)

    return holds


def _first_places(items: Sequence[Any]) -> list[int]:
    """Of each item, where it is first."""
    first: dict[int, int] = {}
    return [first.setdefault(id(item), place) for place, item in enumerate(items)]
