"""Steps of a replay: compiled batches, calls of NumPy, checks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final

import numpy as np

from runmat_jit.capture.tape.entries import Draw, Guard, Nest, Ref, Source, build, shown, spread
from runmat_jit.capture.tape.lines import Line, call_at
from runmat_jit.capture.tape.pytree import take_apart
from runmat_jit.capture.tape.storage import FREED_BYTES
from runmat_jit.core.errstate import call_under, warnings_raise
from runmat_jit.core.extent import Scope, plain
from runmat_jit.core.frozen import frozen
from runmat_jit.core.protocols import Program, Template
from runmat_jit.core.types import Part
from runmat_jit.ops.promotion import fits
from runmat_jit.runtime.arrays import adopted, host_written, to_host

Numbers = Callable[[Sequence[Any]], tuple[int, ...]]
"""Of the slots: the extents of arguments by which calls of one family differ."""


class Stale(Exception):  # noqa: N818  (a signal to run Python, never seen by users)
    """A step does not do for this call what it did in the recording; it has written nothing."""


def inputs_of(sources: tuple[Source, ...], slots: list[Any]) -> list[Any]:
    """The inputs of a program.

    Raises:
        Stale: a number does not fit the dtype that it is used with.

    """
    return [
        slots[slot]
        if how is None
        else how
        if isinstance(how, np.ndarray)
        else scalar_of(slots[slot], how)
        for slot, how in sources
    ]


@frozen
class BatchStep:
    """A compiled stretch of operations.

    ``inputs`` lists where each graph input is found;
    ``outputs`` the slots of the fresh arrays and whether each is a NumPy scalar.
    """

    program: Program
    inputs: tuple[Source, ...]
    outputs: tuple[tuple[int, bool], ...]
    warn: frozenset[str]
    writes: bool
    upto: int
    """Entries of the tape that have been done when it has run."""

    def run(self, slots: list[Any]) -> None:
        """Read slots, run, fill slots.

        Raises:
            Stale: a number does not fit the dtype that it is used with; nothing was written.
            EventsRaise: warnings are exceptions and there is one; nothing was written.

        """
        results = self.results(slots)
        for (slot, generic), result in zip(self.outputs, results, strict=False):
            slots[slot] = result[()] if generic else result

    def results(self, slots: list[Any]) -> list[np.ndarray]:
        """What the program gives."""
        return self.program.run(inputs_of(self.inputs, slots), self.warn)

    def shown(self, _slots: list[Any]) -> Program:
        """The program that runs, for explanations."""
        return self.program

    def shows(self, program: Program, _extents: tuple[int, ...]) -> bool:
        """True if a program that was recorded for some extents is this one."""
        return self.program is program


@frozen
class DrawingBatchStep(BatchStep):
    """A batch that makes the next numbers of generators, which have passed them when it has run."""

    draws: tuple[Draw, ...]

    def results(self, slots: list[Any]) -> list[np.ndarray]:
        """What the program gives."""
        generators = [build(draw.generator, slots) for draw in self.draws]
        for draw, generator in zip(self.draws, generators, strict=True):
            slots[draw.key], slots[draw.counter] = generator.take_blocks(draw.blocks)
        try:
            return self.program.run(inputs_of(self.inputs, slots), self.warn)
        except BaseException:
            for draw, generator in zip(self.draws[::-1], generators[::-1], strict=True):
                generator.return_blocks(draw.blocks, slots[draw.counter])
            raise


@frozen
class ShapedBatchStep(BatchStep):
    """A batch for every shape; ``program`` is that of the shape it was recorded with.

    ``extents`` gives what the template needs of the arguments.
    """

    template: Template
    extents: Numbers

    def results(self, slots: list[Any]) -> list[np.ndarray]:
        """What the program for this shape gives."""
        return self.template.run(self.extents(slots), inputs_of(self.inputs, slots), self.warn)

    def shown(self, slots: list[Any]) -> Program:
        """The program that is compiled for this shape."""
        return self.template.at(self.extents(slots))

    def shows(self, program: Program, extents: tuple[int, ...]) -> bool:
        """True if the one for these extents is that which was recorded for them."""
        return self.template.describes(program, extents)


@frozen
class ShapesStep:
    """The conditions on extents: ``holds`` gives None where one fails."""

    extents: Numbers
    holds: Callable[..., tuple[int, ...] | None]
    slots: tuple[int, ...] = ()
    """Where the lengths go that the program asked for, of which ``holds`` gives the values."""
    scope: Scope | None = None
    """Where ``holds`` comes from, and the ``lengths`` in it."""
    lengths: tuple[int, ...] = ()
    upto: int = 0

    def run(self, slots: list[Any]) -> None:
        """Look at the extents.

        Raises:
            Stale: another shape would have been recorded otherwise.

        """
        lengths = self.holds(*self.extents(slots))
        if lengths is None:
            raise Stale("extents for which this was not recorded")
        if self.slots:
            slots.extend([None] * (self.slots[-1] + 1 - len(slots)))
            for slot, length in zip(self.slots, lengths, strict=True):
                slots[slot] = length


@frozen
class LengthStep:
    """A length of the shape for which a trace was recorded; it may be a formula."""

    slot: int
    number: int
    upto: int = 0

    def run(self, slots: list[Any]) -> None:
        """Fill the slot."""
        slots[self.slot] = plain(self.number)


def scalar_of(value: Any, dtype: np.dtype | Part) -> np.ndarray:
    """A scalar operand, or a part of one, in the dtype that is computed with, as a 0-d array.

    Raises:
        Stale: a Python number does not fit: NumPy raises or warns, at the user's line.

    """
    if isinstance(dtype, Part):
        value, dtype = getattr(value, dtype.name), dtype.dtype
    if type(value) in (int, float) and not fits(value, dtype):
        raise Stale("a number does not fit the dtype it is used with")
    array = np.asarray(value)
    return array if array.dtype is dtype else array.astype(dtype)


@frozen
class CheckStep:
    """A guard on arguments or on numbers made of them."""

    guard: Guard
    upto: int = 0

    def run(self, slots: list[Any]) -> None:
        """Look at the value.

        Raises:
            Stale: it is another one.

        """
        if not self.guard.holds(slots[self.guard.slot]):
            raise Stale(str(self.guard))


@frozen
class FreeStep:
    """Values that the program can ask for no more; of ``maybe``, those that are large.

    ``upto``: entries that have been done, and are not to be done again without these values.
    """

    slots: tuple[int, ...]
    upto: int = 0
    maybe: tuple[int, ...] = ()

    def run(self, slots: list[Any]) -> None:
        """Forget them."""
        for slot in self.slots:
            slots[slot] = None
        for slot in self.maybe:
            if slots[slot].nbytes >= FREED_BYTES:
                slots[slot] = None


@frozen
class CallStep:
    """Something NumPy or Python runs at replay: a host call, a view, scalar arithmetic.

    ``check`` says whether the results are what the rest of the trace was recorded for; ``line``
    is where the user called it, for NumPy's warnings; ``upto`` is 0 for what may be done again.
    """

    fn: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]
    out: Any
    structure: Any = None
    check: Callable[[Any], bool] | None = None
    line: Line | None = None
    writes: bool = False
    upto: int = 0
    errstate: Any = None
    """NumPy's state of floating-point errors, where it is not that of the call's beginning."""
    shape: tuple[int, ...] | None = None
    """Of a new array in C order, if it has formulas."""

    def run(self, slots: list[Any]) -> None:
        """Run the call and spread its results over their slots.

        Raises:
            Stale: the result has another structure; or it would raise after it has written.

        """
        result = self.result(slots)
        if self.check is not None and not self.check(result):
            raise Stale(f"another structure of {self}")
        spread(self.out, result, slots)

    def result(self, slots: list[Any]) -> Any:
        """Result of the call.

        Raises:
            Stale: it would raise after it has written.

        """
        if self.writes and warnings_raise():
            raise Stale("warnings are exceptions, and what was written stays written")
        return call_again(
            self.fn, self.args, self.kwargs, slots, line=self.line, errstate=self.errstate
        )

    def __str__(self) -> str:
        return shown(self.fn, self.args, self.kwargs, self.out)


@frozen
class ShapedCallStep(CallStep):
    """A call that makes an array for every shape: ``numbers`` of ``extents`` is its shape."""

    numbers: Callable[..., tuple[int, ...] | None] = lambda *_extents: None
    extents: Numbers = lambda _slots: ()

    def run(self, slots: list[Any]) -> None:
        """Run the call, and compare what it makes.

        Raises:
            Stale: the result has another structure; or it would raise after it has written.

        """
        result = self.result(slots)
        _, dtype, _, _, writeable = self.structure
        known = type(result) is np.ndarray and result.dtype == dtype
        known = known and result.shape == self.numbers(*self.extents(slots))
        if not (known and result.flags.c_contiguous and result.flags.writeable == bool(writeable)):
            raise Stale(f"another structure of {self}")
        spread(self.out, result, slots)


def call_again(
    fn: Callable[..., Any],
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    slots: list[Any],
    *,
    line: Line | None,
    errstate: Any,
) -> Any:
    """Make a call with the values that are in the slots now."""
    given = tuple([build(arg, slots) for arg in args])
    named = {name: build(arg, slots) for name, arg in kwargs.items()}
    if errstate is None:
        return call_at(line, fn, given, named)
    return call_under(errstate, partial(call_at, line, fn, given, named))


@frozen
class RaiseStep:
    """A call that raised, and whose exception the program caught."""

    fn: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]
    kind: type[Exception]
    texts: tuple[str, ...]
    line: Line | None
    upto: int
    errstate: Any = None

    def run(self, slots: list[Any]) -> None:
        """Make the call, which writes nothing.

        Raises:
            Stale: it gives a result, or raises something else.

        """
        try:
            call_again(
                self.fn, self.args, self.kwargs, slots, line=self.line, errstate=self.errstate
            )
        except Exception as error:
            if type(error) is self.kind and error.args == self.texts:
                return
            raise
        raise Stale(f"{self} raised {self.kind.__name__}, and does not")

    def __str__(self) -> str:
        return shown(self.fn, self.args, self.kwargs, None)


_NONE: Final[dict[str, Any]] = {}


@frozen
class SingleStep:
    """An operation on single numbers, or the read of one, by NumPy at the user's line.

    Its operands are refs and constants; it may be done again, unless it warns: ``raising`` is the
    state of errors under which it then raises, None for what never warns. ``quiet``: it is done
    under that state, for warnings of operations before it in the program come later. ``entry`` is
    its number on the tape.
    """

    fn: Callable[..., Any]
    args: tuple[Any, ...]
    out: int
    line: Line
    raising: Any = None
    quiet: bool = False
    entry: int = 0
    upto: int = 0

    def run(self, slots: list[Any]) -> None:
        """Compute, as Python does; ``FloatingPointError`` where it warns and is to be quiet."""
        args = [
            slots[a.slot] if type(a) is Ref else build(a, slots) if type(a) is Nest else a
            for a in self.args
        ]
        if self.quiet:
            call = partial(self.line.call, self.fn, args, _NONE)
            slots[self.out] = call_under(self.raising, call)
        else:
            slots[self.out] = self.line.call(self.fn, args, _NONE)

    @property
    def may_warn(self) -> bool:
        """True if it may warn, where all that comes before it has been done."""
        return self.raising is not None and not self.quiet

    def warned_upto(self, slots: list[Any]) -> int:
        """Entries that are not to be done again, because this one has warned; 0 if it has not."""
        if not self.may_warn:
            return 0
        try:
            replace(self, quiet=True).run(list(slots))
        except FloatingPointError:
            return self.entry + 1
        return 0

    def __str__(self) -> str:
        return f"%{self.out} = {getattr(self.fn, '__name__', self.fn)}{self.args}"


@frozen
class SettleStep:
    """Brings what a call of the host needs from a device; ``host_writes``: it may write it."""

    slots: tuple[int, ...]
    host_writes: bool
    upto: int = 0

    def run(self, slots: list[Any]) -> None:
        """Bring the contents of arrays to the host."""
        for slot in self.slots:
            to_host(slots[slot])
            if self.host_writes:
                host_written(slots[slot])


@frozen
class AdoptStep:
    """Gives new arrays of a call of the host a residence, so that they may go to a device."""

    slots: tuple[int, ...]
    upto: int = 0

    def run(self, slots: list[Any]) -> None:
        """Put arrays on the same memory in their place."""
        for slot in self.slots:
            if type(slots[slot]) is np.ndarray:
                slots[slot] = fresh_adopted(slots[slot])


def fresh_adopted(array: np.ndarray) -> np.ndarray:
    """An array that NumPy has just made, on memory of a residence; others as they are."""
    numbers = array.dtype.kind in "biufc" and array.dtype.isnative
    fresh = array.base is None and array.flags.writeable
    return adopted(array) if numbers and fresh else array


def brought(value: Any) -> Any:
    """A container that the caller sees, with the contents of its arrays on the host."""
    apart = take_apart(value)
    if apart is None:
        to_host(value)
    else:
        for child in apart[1]:
            brought(child)
    return value


Step = (
    BatchStep
    | SingleStep
    | CallStep
    | RaiseStep
    | CheckStep
    | FreeStep
    | SettleStep
    | AdoptStep
    | ShapesStep
    | LengthStep
)
