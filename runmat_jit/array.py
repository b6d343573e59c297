"""Arrays that may live on a GPU, and the boundary of calls with them.

``asarray`` makes them; decorated functions take and return them.

Calls with arrays of ours: ndarrays stand for them inside, results become arrays again.

An ndarray lent to a call ends in a lease (see ``runtime.arrays``). If somebody still holds one when
the next call begins, such as a list that the function appended it to, its memory is visible from
outside: then the host's contents are what counts, and every call leaves them up to date.
"""

from __future__ import annotations

import functools
import operator
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from runmat_jit.capture import callables
from runmat_jit.capture.tape import call_forms
from runmat_jit.capture.tape.edits import edits_of
from runmat_jit.capture.tape.locations import Lent
from runmat_jit.capture.tape.pytree import Structure, take_apart, write_back
from runmat_jit.capture.tape.values import DEPTH_LIMIT, is_traceable
from runmat_jit.core.config import DEVICES
from runmat_jit.core.epoch import begin_epoch
from runmat_jit.core.errors import ArgumentError, BackendError
from runmat_jit.core.frames import uncounted
from runmat_jit.core.protocols import Get
from runmat_jit.core.types import byte_strides
from runmat_jit.runtime.arrays import Residence, ResidentArray, adopted, residence_of, to_host
from runmat_jit.runtime.session import current_session

_SHOWN_AT_MOST = 20
"""Elements of an array whose values its ``repr`` shows."""
_NOT_OURS = ("base", "ctypes", "data", "resize", "setflags", "to_device", "tofile", "dump")
_OF_NDARRAYS = frozenset(name for name in dir(np.ndarray) if name[0] != "_") - {*_NOT_OURS}


class Array(ResidentArray, NDArrayOperatorsMixin):
    """An array whose contents lie on the host, on a GPU, or on both; ``asarray`` makes them.

    Decorated functions take it where they take an ndarray, and give arrays of this class back when
    an argument is one. It is mutable, as an ndarray is: a decorated function that writes to its
    argument changes this object, and every other array that shows the same memory.

    Outside decorated functions NumPy computes on the host's contents: operators, items, methods
    and NumPy's functions give arrays of this class for the same device.
    """

    __slots__ = ()
    __hash__ = None  # type: ignore[assignment]  # mutable, as ndarrays are

    def __init__(self) -> None:
        raise TypeError("arrays are made by runmat_jit.asarray(x)")

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

    def block_until_ready(self) -> Array:
        """The array itself, when the device has computed it.

        Raises:
            BackendError: the device is lost, or refused what it was given.

        """
        gpu = None if self._residence is None else self._residence.gpu
        if gpu is not None:
            with gpu.lock:
                gpu.backend.device.wait()
        return self

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
        fn: Any = ufunc if method == "__call__" else call_forms.bound_method(ufunc, method)
        return on_host(fn, args, kwargs)

    def __array_function__(self, fn: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return on_host(fn, args, kwargs)

    def __getitem__(self, key: Any) -> Any:
        return on_host(operator.getitem, (self, key), {})

    def __setitem__(self, key: Any, value: Any) -> None:
        on_host(operator.setitem, (self, key, value), {})

    def __getattr__(self, name: str) -> Any:
        """The methods and attributes of ndarrays."""
        if name not in _OF_NDARRAYS:
            raise AttributeError(f"arrays of runmat_jit have no attribute {name!r}", name=name)
        if not callable(getattr(np.ndarray, name)):
            return on_host(call_forms.attribute_of(name), (self,), {})

        def method(*args: Any, **kwargs: Any) -> Any:
            return on_host(call_forms.method_of(name), (self, *args), kwargs)

        return functools.update_wrapper(method, getattr(np.ndarray, name))

    # -- memory ------------------------------------------------------------------------------------
    def _show(self) -> np.ndarray:
        """The contents, read back from the device where they are newer there; read-only."""
        if self._residence is not None:
            self._residence.to_host()
        return self._view(writeable=False)


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
    contents = np.asarray(x, dtype, order="C")
    if not is_traceable(contents):
        raise ArgumentError(
            f"elements of {contents.dtype} stay in ndarrays; pass dtype= with a type of numbers"
        )
    if home != "gpu" or not contents.size:
        return Array._over(adopted(np.array(contents, order="C", subok=False), home))
    gpu = current_session().gpu
    with gpu.lock:  # the device's copy is the only one
        residence = Residence.of_device(gpu, gpu.backend.memory.upload(contents))
    strides = byte_strides(contents.shape, contents.itemsize)
    return Array._on(residence, contents.dtype, contents.shape, strides)


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
        may = current_session().may_have_gpu
        return "gpu" if may and has_gpu(software=False) else "cpu"
    return device


def default_device() -> str:
    """Where arrays go for which nobody says it: the option ``device``, where there is a GPU."""
    device = current_session().config.device
    return chosen(device) if device != "gpu" or has_gpu() else "cpu"


def has_gpu(*, software: bool = True) -> bool:
    """True if this session has a GPU; ``software`` ones, which are a CPU in disguise, may count."""
    try:
        info = current_session().gpu.info
    except BackendError:
        return False
    return software or not info.software


# -- calls with such arrays ------------------------------------------------------------------------
Lend = Callable[[Any], Any]


class Boundary:
    """Boundary of one call: its arrays, and the ndarrays that stand for them inside.

    ``seen`` holds the residences whose host memory somebody outside may hold. ``adopts``: nobody
    else holds new arrays in the result, so that they may go to a device. ``lend_now`` lends in
    whatever call runs at the time: for replays of what this call reads from outside.
    """

    def __init__(self, *, adopts: bool = False, lend_now: Lend | None = None) -> None:
        self.lend_now = lend_now
        self.seen: weakref.WeakSet[Residence] = weakref.WeakSet()
        self.adopts, self.home = adopts, "cpu"
        self.given: tuple[tuple[Any, ...], dict[str, Any]] | None = None
        self._arrays: dict[int, tuple[np.ndarray, Array]] = {}
        self._residences: dict[int, Residence] = {}
        self._plain: dict[int, np.ndarray] = {}
        self._copies: dict[int, tuple[Any, Any, Structure, list[Any]]] = {}  # by the original's id
        self._originals: dict[int, Any] = {}  # by the copy's id
        self._made: dict[int, tuple[Any, Any]] = {}  # by the result's id

    # -- inwards -----------------------------------------------------------------------------------
    def lower(self, value: Any, depth: int = 0) -> Any:
        """Argument as the call sees it: containers that can change are copies."""
        if type(value) is Array:
            return self.lend(value)
        if isinstance(value, np.ndarray):
            self._plain[id(value)] = value
            return value
        apart = None if depth > DEPTH_LIMIT else take_apart(value)
        if apart is None:
            return value
        if isinstance(value, tuple):
            items = [self.lower(child, depth + 1) for child in apart[1]]
            return value if same(items, apart[1]) else apart[0](items)
        return self.lower_mutable(value, *apart, depth)

    def lower_mutable(
        self, value: Any, structure: Structure, children: list[Any], depth: int
    ) -> Any:
        """A list, dict or dataclass; one that has no arrays and operators of its own stays."""
        found = self._copies.get(id(value))
        if found is not None:
            return found[1]
        copy = structure([None] * len(children))
        self._copies[id(value)] = value, copy, structure, []
        before = [self.lower(child, depth + 1) for child in children]
        if same(before, children) and structure.kind not in (list, dict):
            del self._copies[id(value)]
            return value
        write_back(copy, structure(before))
        self._copies[id(value)] = value, copy, structure, before
        self._originals[id(copy)] = value
        return copy

    def know(self, value: Any, depth: int = 0) -> None:
        """NumPy's arrays among the arguments stay what they are in the result."""
        if isinstance(value, np.ndarray):
            self._plain[id(value)] = value
            return
        apart = None if depth > DEPTH_LIMIT else take_apart(value)
        for child in apart[1] if apart is not None else ():
            self.know(child, depth + 1)

    def read(self, array: Array, get: Get) -> tuple[np.ndarray, Get]:
        """Stand-in for an array that was read from outside, and how a replay gets it."""
        return self.lend(array), Lent(get, self.lend_now or self.lend_any)

    def lend_any(self, value: Any) -> Any:
        """Stand-in for a value that was read from outside."""
        return self.lend(value) if type(value) is Array else value

    def lend(self, array: Array) -> np.ndarray:
        """The ndarray that stands for an array in this call."""
        residence = array._residence
        if residence is not None and id(residence) not in self._residences:
            self._residences[id(residence)] = residence
            if residence.is_shown:  # somebody may have written to it, and is to see what we write
                residence.to_host()
                residence.host_written()
                self.seen.add(residence)
        if array.device == "gpu":
            self.home = "gpu"
        lent = array._lend()
        self._arrays[id(lent)] = lent, array
        return lent

    @property
    def has_arrays(self) -> bool:
        """True if any array was lent."""
        return bool(self._arrays)

    # -- for code that reads and writes host memory ------------------------------------------------
    def settle(self, *, writes: bool) -> None:
        """Bring all contents to the host; from now on they count, if the call may write them."""
        for residence in self._residences.values():
            residence.to_host()
            if writes:
                residence.host_written()

    def show(self, value: Any) -> None:
        """Code is to see this value: an array's contents are brought to the host."""
        residence = residence_of(value) if isinstance(value, np.ndarray) else None
        if residence is not None:
            residence.to_host()
            self.seen.add(residence)

    def distrust(self) -> None:
        """Unknown code may have written to what it saw: the host's contents count."""
        for residence in list(self.seen):
            residence.to_host()
            residence.host_written()

    def refresh(self) -> None:
        """Memory that unknown code may hold is brought up to date."""
        for residence in list(self.seen):
            residence.to_host()

    # -- outwards ----------------------------------------------------------------------------------
    def finish(self, result: Any) -> Any:
        """Result for the caller, after ``close``; the call's own ndarrays are let go."""
        lifted = self.lift(result)
        for table in (self._arrays, self._plain, self._copies, self._originals, self._made):
            table.clear()
        self._residences.clear()
        self.seen.clear()
        return lifted

    def lift(self, value: Any, depth: int = 0) -> Any:
        """Result for the caller: arrays of ours for ndarrays, also in containers."""
        if isinstance(value, np.ndarray):
            return self.lift_array(value)
        original = self._originals.get(id(value))
        if original is not None:
            return original
        made = self._made.get(id(value))
        if made is not None:
            return made[1]
        apart = None if depth > DEPTH_LIMIT else take_apart(value)
        if apart is None:
            return value
        items = [self.lift(child, depth + 1) for child in apart[1]]
        result = value if same(items, apart[1]) else apart[0](items)
        self._made[id(value)] = value, result
        return result

    def lift_array(self, value: np.ndarray) -> Any:
        """An argument itself, or the array that shows a result's memory."""
        known = self._arrays.get(id(value))
        if known is not None:
            return known[1]
        if self._plain.get(id(value)) is value or not is_traceable(value):
            return value
        if self.adopts and value.flags.owndata and value.base is None:
            value = adopted(value, self.home)
        made = Array._over(value)
        self._arrays[id(value)] = value, made
        return made

    def close(self) -> None:
        """Containers, shapes and memory that outside code can see are brought up to date."""
        for original, copy, structure, before in self._copies.values():
            apart = take_apart(copy)
            assert apart is not None, "copies are containers"
            edits = edits_of((structure, before), apart)
            if edits is not None:
                values = [before[n] for n in edits.olds] + [apart[1][n] for n in edits.news]
                edits.apply(original, list(map(self.lift, values)))
        for lent, array in list(self._arrays.values()):
            if lent.shape != array.shape or lent.strides != array.strides:
                array._follow(lent)
        self.refresh()


Array.boundary = Boundary


class ProgramBoundary(Boundary):
    """Of a program in another language: no code but the recording writes to what it computed."""

    def show(self, value: Any) -> None:
        """The program's functions are to read this value."""
        to_host(value)

    def distrust(self) -> None:
        """Nothing was written unseen."""

    def refresh(self) -> None:
        """Memory that was shown is shown again by whoever reads it again."""


def on_host(fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A call that NumPy or Python runs on the host's contents; results are for the same device."""
    boundary = Boundary(adopts=True)
    lent = boundary.lower(args), {name: boundary.lower(value) for name, value in kwargs.items()}
    given = kwargs.get("out") is not None or (isinstance(fn, np.ufunc) and len(args) > fn.nin)
    boundary.settle(writes=given or not callables.of(fn).pure)
    try:
        result = fn(*lent[0], **lent[1])
    finally:
        boundary.close()
    return boundary.finish(result)


@uncounted
def plain_call(fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A call of an undecorated function, on ndarrays in place of arrays of ours."""
    boundary = Boundary()
    lent = boundary.lower(args), {name: boundary.lower(value) for name, value in kwargs.items()}
    if not boundary.has_arrays:
        return fn(*args, **kwargs)
    boundary.settle(writes=True)
    try:
        result = fn(*lent[0], **lent[1])
    finally:
        boundary.close()
    return boundary.finish(result)


def same(a: list[Any], b: list[Any]) -> bool:
    """True if two lists hold the same objects."""
    return len(a) == len(b) and all(x is y for x, y in zip(a, b, strict=True))


begin_epoch()  # plain calls compare tokens of the epoch, and would not look for arrays of ours
