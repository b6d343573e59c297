"""Protocols of native entries ("gates"), which make warm calls without running Python code."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from types import CellType, FunctionType
from typing import Any, Protocol

import numpy as np

from runmat_jit.core.extent import Scope
from runmat_jit.core.frozen import frozen


class NotForGates(Exception):  # noqa: N818  (an answer: Python makes such calls)
    """A step of a call that a native entry cannot do."""


@frozen
class DrawAtGate:
    """Blocks of the generator in a register that a program makes numbers of.

    ``key`` and ``counter``: which inputs of the program the stream's key and position are, if any.
    """

    generator: int
    blocks: int
    key: int | None
    counter: int | None


class Gate(Protocol):
    """Runs the entry whose guards hold; the fallback makes all other calls."""

    call: Callable[..., Any]
    """To be called as the function is."""

    def set_fallback(self, fallback: Callable[..., Any]) -> None:
        """Set the function that makes all other calls."""

    def add(self, entry: Any) -> None:
        """Add what a :class:`GateWriter` has written."""

    def has(self, key: Hashable) -> bool:
        """True if there is an entry for a kind of calls."""

    def remove(self, key: Hashable) -> None:
        """Take the entry for a kind of calls away."""

    def clear(self) -> None:
        """Take all entries away."""

    def flush(self) -> None:
        """Have the calls so far counted."""


class Gates(Protocol):
    """Factory of native functions and their entries."""

    def gate(self, fallback: Callable[..., Any]) -> Gate:
        """Create a native function without entries."""

    def writer(self, positional: int, names: Sequence[str]) -> GateWriter:
        """Writer of an entry for calls with so many arguments by position, and these by name."""


class GateWriter(Protocol):
    """Builder of one native entry: guards, then programs, then a result, in this order.

    Registers hold the arguments, then the values that the entry loads and computes. A guard passes
    if what it names is the same as when it was written. Every method raises :class:`NotForGates`
    for a step that a native entry cannot do.
    """

    # -- guards
    def array(self, register: int, like: np.ndarray) -> None:
        """Dtype, extents, strides and flags of an array."""

    def array_like(self, register: int, like: np.ndarray) -> None:
        """Dtype, rank and flags of a contiguous array whose axes have two elements at least.

        Its strides are what the flags say of its extents.
        """

    def instance(self, register: int, of: type) -> None:
        """Class of an object."""

    def container(self, register: int, like: Any) -> Sequence[int]:
        """Class and length of a tuple, list or dict, keys of a dict; registers of its items."""

    def identity(self, register: int, value: Any) -> None:
        """Guard: a register has this very object."""

    def owner(self, register: int) -> None:
        """Guard: an array owns its memory."""

    def same(self, a: int, b: int, *, is_same: bool) -> None:
        """True if two registers hold one object."""

    def number(self, register: int, value: float) -> None:
        """Value of a Python number, whose class has been guarded."""

    def relation(self, a: tuple[int, np.ndarray], b: tuple[int, np.ndarray]) -> None:
        """Guard: two arrays, each with its register, overlap in memory as they do now."""

    def lie_apart(self, a: tuple[int, np.ndarray], b: tuple[int, np.ndarray]) -> None:
        """Guard: two contiguous arrays of any extents, each with its register, share no memory."""

    def word(self, address: int, value: int) -> None:
        """A word in memory."""

    def function(self, function: FunctionType) -> None:
        """Code of a function."""

    def errstate(self, state: Any) -> None:
        """Guard: NumPy treats floating-point errors as it does now."""

    def gives(self, callable_: Callable[..., Any], arguments: tuple[Any, ...], value: Any) -> None:
        """Guard: a function of the interpreter (at most one argument) returns what it does now."""

    # -- outside state
    def name(self, namespace: dict[str, Any], name: str, value: Any) -> None:
        """Meaning of a name."""

    def missing_name(self, namespace: dict[str, Any], name: str) -> None:
        """Guard: a name is not defined."""

    def read_name(self, namespace: dict[str, Any], name: str) -> int:
        """Register with what a name means then."""

    def cell(self, cell: CellType, value: Any) -> None:
        """Guard: a closure's cell has this object."""

    def read_cell(self, cell: CellType) -> int:
        """Register with what a cell holds then."""

    def attribute(self, owner: Any, name: str, value: Any, *, in_register: bool) -> None:
        """An attribute of an object, or of that in a register."""

    def method(self, owner: int, name: str, function: FunctionType) -> None:
        """A method of the object in a register."""

    def read_attribute(self, owner: Any, name: str, *, in_register: bool) -> int:
        """Register with an attribute of an object, or of that in a register."""

    # -- work
    def run(
        self,
        program: Any,
        inputs: Sequence[int | np.ndarray | tuple[int, type, np.dtype]],
        scalars: Sequence[bool],
        warn: frozenset[str],
        *,
        exact: bool = False,
        tells: bool = True,
        draws: Sequence[DrawAtGate] = (),
    ) -> list[int]:
        """Run a program; the registers of its fresh outputs.

        Args:
            program: As the executor compiled it.
            inputs: Registers of arrays, arrays, and numbers: register, class, dtype as operand.
            scalars: Which outputs are NumPy scalars.
            warn: The events to report: if NumPy's reaction to one is not known,
                Python makes the call again.
            exact: Use kernels that derive events from data, if there are any.
            tells: Its lines are those of the call, so that events may be reported at them.
            draws: Generators that it advances, on the device of resident arrays.

        """

    def run_shaped(
        self,
        program: Any,
        inputs: Sequence[int | tuple[int, type, np.dtype]],
        extents: Sequence[tuple[int, int]],
        scalars: Sequence[bool],
        warn: frozenset[str],
    ) -> list[int]:
        """The same, for all extents for which it holds; others are for other entries.

        Args:
            program: As a template gave it.
            inputs: Registers of arrays, and numbers, as of :meth:`run`.
            extents: The register and the axis of each symbol of its scope.
            scalars: As of :meth:`run`.
            warn: Likewise.

        """

    def lengths(
        self, scope: Scope, extents: Sequence[tuple[int, int]], lengths: Sequence[int]
    ) -> list[int]:
        """Guard: the conditions of a scope hold; returns the registers of its scalars (`int`).

        ``extents``: as of :meth:`run_shaped`.
        """

    def loop(
        self,
        loop: Any,
        operands: Sequence[int | tuple[int, type] | tuple[Any]],
        outside: Mapping[int, np.ndarray],
        inside: Mapping[int, np.ndarray],
        classes: Sequence[Any],
    ) -> list[int]:
        """Run a loop; the registers of what it gives.

        Args:
            loop: As loops give it for native code.
            operands: Registers of arrays and of numbers of programs; register and class of other
                numbers; what is always the same, in a tuple.
            outside: The arrays that are not the call's own, by register: like those there are.
            inside: Likewise those that the call has made, as far as they are known: they may show
                the memory of others.
            classes: Structures of what it gives.

        """

    @property
    def is_done(self) -> bool:
        """True if what has been written must not be done again."""

    def call(self, function: Callable[..., Any], registers: Sequence[int], stop: Any) -> int:
        """Register with what a function gives; Python makes the call again if that is ``stop``.

        ``stop`` is None for functions that do not fail.
        """

    def branch(self, register: int, known: Mapping[bool, Callable[[], None]]) -> None:
        """Go on as a truth value says; ``known`` writes what follows, with a result."""

    def new(self, register: int) -> None:
        """Note that an array is in memory of its own, which nobody else has."""

    def take(self, register: int, index: int) -> int:
        """Register with an item of the tuple in a register."""

    def recover(self, rest: Callable[..., Any], registers: Sequence[int]) -> None:
        """Have Python make the rest of the call where the entry cannot go on from now on.

        ``rest`` gets what is in the registers, and gives the result of the call. Until it is said
        first, Python makes all of the call then.
        """

    def is_decision(self, register: int) -> bool:
        """True if a register holds a truth value of a program's."""

    def alternatives(self, ways: Sequence[Callable[[], None]]) -> None:
        """Continue with the first of ``ways`` whose guards pass; each writes guards, then the rest.

        The rest begins with :meth:`recover` or :meth:`begin`; the last alternative's before guards.
        """

    def begin(self) -> None:
        """Have Python make all of the call where the entry cannot go on from now on."""

    def show(self, registers: Sequence[int]) -> None:
        """Have NumPy scalars in registers whose values the program sees as such."""

    def repeat(self) -> None:
        """Python makes the call again."""

    def drop(self, register: int) -> None:
        """Forget an object."""

    # -- the result
    def hold(self, value: Any) -> int:
        """Register with an object."""

    def give(self, register: int) -> None:
        """The result is the object in a register."""

    def give_tuple(self, registers: Sequence[int]) -> None:
        """The result is a tuple of what is in registers."""

    def entry(self, key: Hashable, count: Callable[[int], None], *, replays: bool = False) -> Any:
        """Finish the entry; ``count`` is called with the number of calls that it has made.

        ``replays``: telemetry counts them as replayed.
        """
