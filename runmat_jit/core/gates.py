"""What capture asks of gates, which make warm calls without Python; the compiler has them."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from types import CellType, FunctionType
from typing import Any, Protocol

import numpy as np

from runmat_jit.core.extent import Scope
from runmat_jit.core.frozen import frozen


class NotForGates(Exception):  # noqa: N818  (an answer: Python makes such calls)
    """Something that no entry of a gate does."""


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
        """What makes all other calls."""

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
    """Makes gates and their entries."""

    def gate(self, fallback: Callable[..., Any]) -> Gate:
        """A gate without entries."""

    def writer(self, positional: int, names: Sequence[str]) -> GateWriter:
        """Writer of an entry for calls with so many arguments by position, and these by name."""


class GateWriter(Protocol):
    """Writes what warm calls of one kind do, in order: guards, programs, a result.

    Registers hold the arguments, then what the entry finds and makes. A guard holds of a call as
    long as what it names is what it was when it was written. Each method raises
    :class:`NotForGates` for what no gate does.
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
        """Which object it is."""

    def owner(self, register: int) -> None:
        """That an array owns its memory."""

    def same(self, a: int, b: int, *, is_same: bool) -> None:
        """True if two registers hold one object."""

    def number(self, register: int, value: float) -> None:
        """Value of a Python number, whose class has been guarded."""

    def relation(self, a: tuple[int, np.ndarray], b: tuple[int, np.ndarray]) -> None:
        """How two arrays, each with its register, lie to each other."""

    def lie_apart(self, a: tuple[int, np.ndarray], b: tuple[int, np.ndarray]) -> None:
        """That two contiguous arrays of any extents, each with its register, share no memory."""

    def word(self, address: int, value: int) -> None:
        """A word in memory."""

    def function(self, function: FunctionType) -> None:
        """Code of a function."""

    def errstate(self, state: Any) -> None:
        """What NumPy does about floating-point errors, whichever object tells it."""

    def gives(self, callable_: Callable[..., Any], arguments: tuple[Any, ...], value: Any) -> None:
        """What a function of the interpreter says of one argument at most."""

    # -- outside state
    def name(self, namespace: dict[str, Any], name: str, value: Any) -> None:
        """Meaning of a name."""

    def missing_name(self, namespace: dict[str, Any], name: str) -> None:
        """That a name has no meaning."""

    def read_name(self, namespace: dict[str, Any], name: str) -> int:
        """Register with what a name means then."""

    def cell(self, cell: CellType, value: Any) -> None:
        """What a cell holds."""

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
            warn: The events to report: where one happens of which it is not known what NumPy says,
                Python makes the call again.
            exact: Have events told from data, by kernels that do, where there are some.
            tells: Its lines are those of the call, so that events may be reported at them.
            draws: Generators that it draws from, on a device where arrays of ours are.

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
        """That the conditions of a scope hold; registers of numbers in it, as Python's integers.

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
        """Go on in the first way that can; each writes its guards, then what holds from there on.

        That is :meth:`recover` or :meth:`begin`; the last way does so before its guards.
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
        """What has been written; ``count`` is told how many calls it has made.

        ``replays``: telemetry counts them as replayed.
        """
