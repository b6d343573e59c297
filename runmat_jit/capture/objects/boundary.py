"""Calls with arrays of ours: ndarrays stand for them inside, results become arrays again.

An ndarray lent to a call ends in a lease (see ``runtime.arrays``). If somebody still holds one when
the next call begins, such as a list that the function appended it to, its memory is visible from
outside: then the host's contents are what counts, and every call leaves them up to date.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from runmat_jit.capture.objects import classify
from runmat_jit.capture.objects.array import Array
from runmat_jit.capture.objects.pytree import Structure, take_apart, write_back
from runmat_jit.capture.objects.traced import Traced
from runmat_jit.capture.objects.values import DEPTH_LIMIT, is_traceable
from runmat_jit.core.frames import uncounted
from runmat_jit.runtime.arrays import Residence, adopted, residence_of, to_host

Lend = Callable[[Any], Any]
Get = Callable[[list[Any]], Any]


class Boundary:
    """What one call was given, and what that stands for outside.

    ``seen`` holds the residences whose host memory somebody outside may hold. ``adopts``: nobody
    else holds new arrays in the result, so that they may go to a device. ``lend_now`` lends in
    whatever call runs at the time: for replays of what this call reads from outside.
    """

    def __init__(self, *, adopts: bool = False, lend_now: Lend | None = None) -> None:
        self.lend_now: Lend = self.lend_any if lend_now is None else lend_now
        self.seen: weakref.WeakSet[Residence] = weakref.WeakSet()
        self.adopts, self.home = adopts, "cpu"
        self._arrays: dict[int, tuple[np.ndarray, Array]] = {}
        self._residences: dict[int, Residence] = {}
        self._plain: dict[int, np.ndarray] = {}
        self._copies: dict[int, tuple[Any, Any, Structure, list[Any]]] = {}  # by the original's id
        self._originals: dict[int, Any] = {}  # by the copy's id
        self._made: dict[int, tuple[Any, Any]] = {}  # by the result's id

    # -- inwards -----------------------------------------------------------------------------------
    def lower(self, value: Any, depth: int = 0) -> Any:
        """What the call sees of an argument: containers that can change are copies."""
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
        """What stands for an array that was read from outside, and how a replay gets that."""
        lend = self.lend_now
        return self.lend(array), lambda slots: lend(get(slots))

    def lend_any(self, value: Any) -> Any:
        """What stands for a value that was read from outside."""
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
        """Whether any array was lent."""
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
        """What unknown code may hold is up to date."""
        for residence in list(self.seen):
            residence.to_host()

    # -- outwards ----------------------------------------------------------------------------------
    def finish(self, result: Any) -> Any:
        """What the caller gets, after ``close``; the call's own ndarrays are let go."""
        lifted = self.lift(result)
        for table in (self._arrays, self._plain, self._copies, self._originals, self._made):
            table.clear()
        self._residences.clear()
        self.seen.clear()
        return lifted

    def lift(self, value: Any, depth: int = 0) -> Any:
        """What the caller gets of a result: arrays of ours for ndarrays, also in containers."""
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
        """What outside code can see is up to date: containers, shapes, and memory it holds."""
        for original, copy, structure, before in self._copies.values():
            apart = take_apart(copy)
            assert apart is not None, "copies are containers"
            if apart[0] != structure or not same(apart[1], before):
                write_back(original, apart[0]([self.lift(child) for child in apart[1]]))
        for lent, array in list(self._arrays.values()):
            if lent.shape != array.shape or lent.strides != array.strides:
                array._follow(lent)
        self.refresh()


class ProgramBoundary(Boundary):
    """Of a program in another language: no code but the recording writes to what it computed."""

    def show(self, value: Any) -> None:
        """The program's functions are to read this value."""
        to_host(value)

    def distrust(self) -> None:
        """Nothing was written unseen."""

    def refresh(self) -> None:
        """What was shown is shown again by whoever reads it again."""


def stays(value: Traced) -> bool:
    """Whether a value is, or will be, in memory that may be on a device: not in NumPy's alone."""
    at = value._rm_geometry
    if at is None:
        return False
    memory = at.storage.memory
    return memory is None or residence_of(memory) is not None


def owns_memory(value: Traced) -> bool:
    """Whether a value is an array with memory of its own, not a view; nothing is computed."""
    at = value._rm_geometry
    return at is not None and at.storage.is_owned_by(value)


def on_host(fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A call that NumPy or Python runs on the host's contents; results are for the same device."""
    boundary = Boundary(adopts=True)
    lent = boundary.lower(args), {name: boundary.lower(value) for name, value in kwargs.items()}
    given = kwargs.get("out") is not None or (isinstance(fn, np.ufunc) and len(args) > fn.nin)
    boundary.settle(writes=given or not classify.is_pure(fn))
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
    """Whether two lists hold the same objects."""
    return len(a) == len(b) and all(x is y for x, y in zip(a, b, strict=True))
