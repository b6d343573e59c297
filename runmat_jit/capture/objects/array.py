"""Arrays that may live on a GPU: what ``asarray`` gives and decorated functions take and return."""

from __future__ import annotations

import functools
import operator
import weakref
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from runmat_jit.capture.objects import classify
from runmat_jit.capture.objects.values import is_traceable
from runmat_jit.core.config import DEVICES
from runmat_jit.core.errors import ArgumentError, BackendError
from runmat_jit.runtime.arrays import Residence, adopted, residence_of
from runmat_jit.runtime.session import current_session

_SHOWN_AT_MOST = 20
"""Elements of an array whose values its ``repr`` shows."""
_NOT_OURS = ("base", "ctypes", "data", "resize", "setflags", "to_device", "tofile", "dump")
_OF_NDARRAYS = frozenset(name for name in dir(np.ndarray) if name[0] != "_") - {*_NOT_OURS}


class Array(NDArrayOperatorsMixin):
    """An array whose contents lie on the host, on a GPU, or on both; ``asarray`` makes them.

    Decorated functions take it where they take an ndarray, and give arrays of this class back when
    an argument is one. It is mutable, as an ndarray is: a decorated function that writes to its
    argument changes this object, and every other array that shows the same memory.

    Outside decorated functions NumPy computes on the host's contents: operators, items, methods
    and NumPy's functions give arrays of this class for the same device.
    """

    __slots__ = (
        *("__weakref__", "_dtype", "_foreign", "_lent", "_offset", "_residence", "_shape"),
        *("_strides", "_writeable"),
    )
    _residence: Residence | None
    _foreign: np.ndarray | None
    """The memory itself where it is not a residence's: NumPy code elsewhere may hold it."""
    _dtype: np.dtype
    _shape: tuple[int, ...]
    _strides: tuple[int, ...]
    _offset: int
    _writeable: bool
    _lent: weakref.ref[np.ndarray]
    __hash__ = None  # type: ignore[assignment]  # mutable, as ndarrays are

    def __init__(self) -> None:
        raise TypeError("arrays are made by runmat_jit.asarray(x)")

    @staticmethod
    def _over(memory: np.ndarray) -> Array:
        """The array that shows the same memory as an ndarray, which stands for it in calls."""
        made = object.__new__(Array)
        residence = residence_of(memory)
        made._residence = residence
        made._foreign = memory if residence is None else None
        made._offset, made._writeable = 0, memory.flags.writeable
        made._lent = weakref.ref(memory)
        made._follow(memory)
        return made

    def _follow(self, memory: np.ndarray) -> None:
        """Take shape, strides and dtype of the ndarray that stands for this array."""
        self._dtype, self._shape, self._strides = memory.dtype, memory.shape, memory.strides
        if self._residence is not None:
            self._offset = self._residence.offset_of(memory)

    # -- facts -------------------------------------------------------------------------------------
    @property
    def shape(self) -> tuple[int, ...]:
        """Extents of the axes."""
        return self._shape

    @property
    def dtype(self) -> np.dtype:
        """Type of the elements."""
        return self._dtype

    @property
    def strides(self) -> tuple[int, ...]:
        """Bytes from one element to the next along each axis, on host and device."""
        return self._strides

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self._shape)

    @property
    def size(self) -> int:
        """Number of elements."""
        return int(np.prod(self._shape, dtype=np.int64))

    @property
    def nbytes(self) -> int:
        """Bytes of the elements."""
        return self.size * self._dtype.itemsize

    @property
    def device(self) -> str:
        """``cpu`` or ``gpu``: where functions leave their results in it."""
        return "cpu" if self._residence is None else self._residence.home

    # -- values ------------------------------------------------------------------------------------
    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:  # noqa: FBT001  (NumPy's protocol)
        """The contents as an ndarray: the memory itself, read-only, unless a copy is asked for."""
        shown = self._show()
        if not copy and (dtype is None or np.dtype(dtype) == shown.dtype):
            return shown
        return np.array(shown, dtype, copy=copy)

    def to(self, device: str) -> Array:
        """The array itself if it is for that device, else a copy that is (see ``asarray``)."""
        return asarray(self, device)

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of an array without axes")
        return self.shape[0]

    def __iter__(self) -> Iterator[Any]:
        return (self[number] for number in range(len(self)))

    def __bool__(self) -> bool:
        return bool(self._show())

    def __int__(self) -> int:
        return int(self._show())

    def __float__(self) -> float:
        return float(self._show())

    def __complex__(self) -> complex:
        return complex(self._show())

    def __index__(self) -> int:
        return operator.index(self._show())

    def __repr__(self) -> str:
        facts = f"shape={self.shape}, dtype={self.dtype}, device={self.device!r}"
        if self.size > _SHOWN_AT_MOST:
            return f"Array({facts})"
        values = np.array2string(self._show(), separator=", ", prefix="Array(")
        return f"Array({values}, {facts})"

    def __copy__(self) -> Array:
        return self.copy()  # type: ignore[no-any-return]  # arrays copy to arrays

    def __deepcopy__(self, memo: dict[int, Any]) -> Array:
        return self.__copy__()

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (np.array(self._show()), self.device)

    # -- NumPy outside decorated functions ---------------------------------------------------------
    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *args: Any, **kwargs: Any) -> Any:
        fn: Any = ufunc if method == "__call__" else classify.bound_method(ufunc, method)
        return _on_host(fn, args, kwargs)

    def __array_function__(self, fn: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return _on_host(fn, args, kwargs)

    def __getitem__(self, key: Any) -> Any:
        return _on_host(operator.getitem, (self, key), {})

    def __setitem__(self, key: Any, value: Any) -> None:
        _on_host(operator.setitem, (self, key, value), {})

    def __getattr__(self, name: str) -> Any:
        """The methods and attributes of ndarrays."""
        if name not in _OF_NDARRAYS:
            raise AttributeError(f"arrays of runmat_jit have no attribute {name!r}", name=name)
        if not callable(getattr(np.ndarray, name)):
            return _on_host(classify.attribute_of(name), (self,), {})

        def method(*args: Any, **kwargs: Any) -> Any:
            return _on_host(classify.method_of(name), (self, *args), kwargs)

        return functools.update_wrapper(method, getattr(np.ndarray, name))

    # -- memory ------------------------------------------------------------------------------------
    def _show(self) -> np.ndarray:
        """The contents, read back from the device where they are newer there; read-only."""
        if self._residence is not None:
            self._residence.to_host()
        return self._view(writeable=False)

    def _lend(self) -> np.ndarray:
        """The ndarray that stands for this array in calls: one as long as anybody holds it.

        Its contents are right after ``to_host`` only.
        """
        found = self._lent()
        if found is None:
            found = self._view(writeable=self._writeable)
            self._lent = weakref.ref(found)
        return found

    def _view(self, *, writeable: bool) -> np.ndarray:
        if self._residence is not None:
            at = self._dtype, self._shape, self._strides, self._offset
            return self._residence.show(*at, writeable=writeable)
        assert self._foreign is not None, "contents are somewhere"
        if writeable == self._foreign.flags.writeable:
            return self._foreign
        view = self._foreign.view()
        view.flags.writeable = False
        return view


def _on_host(fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    from runmat_jit.capture.objects.boundary import on_host  # noqa: PLC0415  (it makes arrays itself)

    return on_host(fn, args, kwargs)


def _restored(contents: np.ndarray, device: str) -> Array:
    """A copied or unpickled array; for the CPU where there is no GPU."""
    return asarray(contents, device if has_gpu() else "cpu")


def asarray(x: Any, device: str | None = None, dtype: Any = None) -> Array:
    """An array of ``x``'s contents for a device: ``x`` itself if it is one, else a copy.

    Args:
        x: What NumPy makes an array of numbers or truth values of.
        device: ``gpu``; ``cpu``; ``auto``: a GPU if this machine has one that is no software
            adapter, else the CPU. None: where ``x`` is, or what the option ``device`` says.
        dtype: Type of the elements; None: ``x``'s.

    Raises:
        ArgumentError: The device has another name, or kernels know no such elements.
        BackendError: The GPU is asked for by name and there is none, or it has no room.

    """
    if device is not None and device not in DEVICES:
        raise ArgumentError(f"device={device!r}: there are {', '.join(DEVICES)}")
    if isinstance(x, Array):
        home = x.device if device is None else chosen(device)
        if home == x.device and (dtype is None or np.dtype(dtype) == x.dtype):
            return x
        x = x._show()
    else:
        home = default_device() if device is None else chosen(device)
    contents = np.array(x, dtype, order="C", subok=False)
    if not is_traceable(contents):
        raise ArgumentError(
            f"elements of {contents.dtype} stay in ndarrays; pass dtype= with a type of numbers"
        )
    memory = adopted(contents, home)
    residence = residence_of(memory)
    if home == "gpu" and residence is not None:
        gpu = current_session().gpu
        with gpu.lock:
            residence.on_device(gpu)
    return Array._over(memory)


def chosen(device: str) -> str:
    """``cpu`` or ``gpu`` for what a user may ask for.

    Raises:
        BackendError: the GPU is asked for by name and there is none.

    """
    if device == "gpu":
        try:
            _ = current_session().gpu
        except BackendError as error:
            raise BackendError(
                f"device='gpu': {error}; install the GPU's driver (on Linux without a GPU: "
                "mesa-vulkan-drivers) and wgpu, or use device='auto'"
            ) from error
    elif device == "auto":
        return "gpu" if has_gpu(software=False) else "cpu"
    return device


def default_device() -> str:
    """Where arrays go for which nobody says it: the option ``device``, where there is a GPU."""
    device = current_session().config.device
    return chosen(device) if device != "gpu" or has_gpu() else "cpu"


def has_gpu(*, software: bool = True) -> bool:
    """Whether this session has a GPU; ``software`` ones, which are a CPU in disguise, may count."""
    try:
        info = current_session().gpu.info
    except BackendError:
        return False
    return software or not info.software
