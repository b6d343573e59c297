"""Gates of single calls: what eager execution does again and again needs no Python.

Each function whose bits may be our own gets a gate. Its entries are for calls of one kind (dtypes,
extents, layouts, constants): they run the kernel that :mod:`.eager_kernels` has for it. A call for
which there is none, and one in which a floating-point event occurs, is made by Python.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, Final, Literal, Protocol

import numpy as np

from runmat_jit.core.epoch import EPOCH_ADDRESS, epoch
from runmat_jit.core.errstate import current_errstate
from runmat_jit.core.gates import Gate, Gates, GateWriter, NotForGates
from runmat_jit.core.hotness import AGAIN, FAILURES, KINDS, OFTEN, is_due
from runmat_jit.core.slotted import slotted

_NUMBERS: Final = (int, float)
_NATIVE: Final = (np.ufunc, type(np.sum), types.BuiltinFunctionType)
"""Callables without a frame that warnings would be told to come from."""


@slotted
class EagerCall:
    """One call that a kernel has made; ``leaves`` are the arguments that it takes as data."""

    key: Hashable
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]
    leaves: list[Any]
    kernel: EagerKernel
    program: Any
    warn: frozenset[str]
    exact: bool = False
    """Its kernels are to tell events from data: such calls had none, but fell through an entry."""


class EagerKernel(Protocol):
    """A kernel, as far as its gate needs to know it."""

    @property
    def sources(self) -> Sequence[tuple[int, np.dtype | None]]:
        """Which leaf each of its inputs is, and the dtype that a number is cast to."""

    @property
    def is_scalar(self) -> bool:
        """Whether its result is a NumPy scalar."""


class EagerGate:
    """The gate of one function; ``count`` is told how many kernels have run."""

    def __init__(
        self,
        gates: Gates,
        fallback: Callable[..., Any],
        count: Callable[[int], None],
    ) -> None:
        self._gates, self._count = gates, count
        self._gate: Gate = gates.gate(fallback)
        self._seen: dict[Hashable, tuple[Hashable, int, int]] = {}
        self._refused: set[Hashable] = set()
        """Programs for all shapes that no entry runs, with the keys of the calls."""
        self._shapeless: dict[Hashable, int] = {}
        """How often there was no entry for all shapes, by the keys of the calls."""
        self._shapes: dict[Hashable, int] = {}
        """How often each shape of such calls came."""
        self.call = self._gate.call

    def wants(self, key: Hashable, shapes: Hashable) -> Literal["alike", "again", "shaped", ""]:
        """Count a call: what is to be offered for such ones.

        For calls of these shapes, if they came in a row (and came again in spite of that), or for
        all shapes, if others came.
        """
        if len(self._seen) >= KINDS:
            self._seen.clear()
            self._refused.clear()
            self._shapeless.clear()
        last, alike, others = self._seen.get(key, (None, 0, 0))
        if shapes == last:
            alike += 1
        else:
            others, alike = others + (last is not None), 1
        self._seen[key] = shapes, alike, others
        if shapes == last and is_due(alike):
            return "alike" if alike == AGAIN else "again"
        if shapes == last or not others:
            return ""
        if self._shapeless.get(key, 0) < FAILURES:
            return "shaped"
        if len(self._shapes) >= KINDS:
            self._shapes.clear()
        count = self._shapes[key, shapes] = self._shapes.get((key, shapes), 0) + 1
        return "alike" if count >= OFTEN and is_due(count) else ""

    def refuse_shapes(self, key: Hashable) -> None:
        """There was no entry for all shapes."""
        self._shapeless[key] = self._shapeless.get(key, 0) + 1

    def offer(self, call: EagerCall, *, shaped: bool) -> None:
        """Make an entry for calls like this one, if it can be."""
        kind = call.program if shaped else tuple(map(np.shape, call.leaves))
        offered = call.key, kind
        if shaped and self._gate.has(offered):
            return
        if shaped and offered in self._refused:
            self.refuse_shapes(call.key)
            return
        writer = self._gates.writer(len(call.args), tuple(call.kwargs))
        try:
            _write(writer, call, shaped=shaped)
        except NotForGates:
            if shaped:
                self._refused.add(offered)
            return
        self._gate.add(writer.entry(offered, self._count))

    def offer_plain(self, function: Callable[..., Any], classes: tuple[type, ...]) -> None:
        """Make an entry for numbers of these classes, which ``function`` computes."""
        writer = self._gates.writer(len(classes), ())
        for register, kind in enumerate(classes):
            writer.instance(register, kind)
        writer.give(writer.call(function, range(len(classes)), None))
        self._gate.add(writer.entry(classes, lambda _calls: None))

    def offer_numpys(
        self,
        key: Hashable,
        function: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: Mapping[str, Any],
        leaves: list[Any],
    ) -> None:
        """Make an entry for calls like this one, which NumPy computes, if they come again."""
        if kwargs or type(function) not in _NATIVE or not self.wants(key, ()):
            return
        writer = self._gates.writer(len(args), ())
        try:
            _arguments(writer, args, leaves, writer.array_like)
            writer.word(EPOCH_ADDRESS, epoch())
            writer.give(writer.call(function, range(len(args)), None))
        except NotForGates:
            return
        self._gate.add(writer.entry((key, "numpys"), lambda _calls: None))

    def flush(self) -> None:
        """Have the calls so far counted."""
        self._gate.flush()


def _write(writer: GateWriter, call: EagerCall, *, shaped: bool) -> None:
    """One entry: the guards of a call, its kernel, its result."""
    guard = writer.array_like if shaped else writer.array
    registers = _arguments(writer, (*call.args, *call.kwargs.values()), call.leaves, guard)
    writer.word(EPOCH_ADDRESS, epoch())
    writer.errstate(current_errstate())
    inputs: list[Any] = []
    for place, dtype in call.kernel.sources:
        register, kind = registers[place], type(call.leaves[place])
        inputs.append(register if dtype is None else (register, kind, dtype))
    scalars = [call.kernel.is_scalar]
    if shaped:
        arrays = [(r, v) for r, v in zip(registers, call.leaves, strict=True) if is_array(v)]
        extents = [(register, axis) for register, value in arrays for axis in range(value.ndim)]
        results = writer.run_shaped(call.program, inputs, extents, scalars, call.warn)
    else:
        results = writer.run(  # whose line may be that of another call
            call.program, inputs, scalars, call.warn, exact=call.exact, tells=False
        )
    if not results:
        raise NotForGates("a call that writes into an argument")
    writer.give(results[0])


def _arguments(
    writer: GateWriter,
    values: Sequence[Any],
    leaves: list[Any],
    guard: Callable[[int, np.ndarray], None],
) -> list[int]:
    """Guards of the arguments; the registers of the leaves among them."""
    registers: list[int] = []
    for register, value in enumerate(values):
        place = len(registers)
        if place < len(leaves) and leaves[place] is value:
            if is_array(value):
                guard(register, value)
            else:
                writer.instance(register, type(value))
            registers.append(register)
        elif type(value) in _NUMBERS:
            writer.instance(register, type(value))
            writer.number(register, value)
        else:
            writer.identity(register, value)
    if len(registers) < len(leaves):
        raise NotForGates("an array in a container")
    return registers


def is_array(value: Any) -> bool:
    """Whether a leaf is an array, not a number."""
    return type(value) is np.ndarray
