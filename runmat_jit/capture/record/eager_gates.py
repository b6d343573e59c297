"""Gates of single calls: what eager execution does again and again needs no Python.

Each function whose bits may be our own gets a gate. Its entries are for calls of one kind (dtypes,
extents, layouts, constants): they run the kernel that :mod:`.eager_kernels` has for it. A call for
which there is none, and one in which a floating-point event occurs, is made by Python.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy._core import umath

from runmat_jit.core.epoch import EPOCH_ADDRESS, epoch
from runmat_jit.core.errstate import current_errstate
from runmat_jit.core.gates import Gate, Gates, GateWriter, NotForGates
from runmat_jit.core.slotted import slotted

FIRST_OFFER: Final = 2
"""Calls of a kind after which it gets an entry."""
_KINDS: Final = 256
_NUMBERS: Final = (int, float)


@slotted
class EagerCall:
    """One call that a kernel has made.

    ``leaves`` are the arguments that it takes as data, ``sources`` those of its inputs: which leaf,
    and the dtype that a number is cast to.
    """

    key: Hashable
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]
    leaves: list[Any]
    sources: Sequence[tuple[int, np.dtype | None]]
    program: Any
    is_scalar: bool
    warn: frozenset[str]


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
        self._seen: dict[Hashable, int] = {}
        self.call = self._gate.call

    def wants(self, key: Hashable) -> bool:
        """Count a call of a kind: whether it is to be offered."""
        if len(self._seen) >= _KINDS:
            self._seen.clear()
        seen = self._seen[key] = self._seen.get(key, 0) + 1
        return seen >= FIRST_OFFER and not seen & (seen - 1)

    def offer(self, call: EagerCall) -> None:
        """Make an entry for calls like this one, if it can be."""
        writer = self._gates.writer(len(call.args), tuple(call.kwargs))
        try:
            _write(writer, call)
        except NotForGates:
            return
        self._gate.add(writer.entry(call.key, self._count))

    def offer_plain(self, function: Callable[..., Any], classes: tuple[type, ...]) -> None:
        """Make an entry for numbers of these classes, which ``function`` computes."""
        writer = self._gates.writer(len(classes), ())
        for register, kind in enumerate(classes):
            writer.instance(register, kind)
        writer.give(writer.call(function, range(len(classes)), None))
        self._gate.add(writer.entry(classes, lambda _calls: None))

    def flush(self) -> None:
        """Have the calls so far counted."""
        self._gate.flush()


def _write(writer: GateWriter, call: EagerCall) -> None:
    """One entry: the guards of a call, its kernel, its result."""
    writer.word(EPOCH_ADDRESS, epoch())
    writer.context(umath._extobj_contextvar, current_errstate())
    registers: list[int] = []
    for register, value in enumerate((*call.args, *call.kwargs.values())):
        place = len(registers)
        if place < len(call.leaves) and call.leaves[place] is value:
            _guard(writer, register, value)
            registers.append(register)
        elif type(value) in _NUMBERS:
            writer.instance(register, type(value))
            writer.number(register, value)
        else:
            writer.identity(register, value)
    if len(registers) < len(call.leaves):
        raise NotForGates("an array in a container")
    inputs: list[Any] = []
    for place, dtype in call.sources:
        register, kind = registers[place], type(call.leaves[place])
        inputs.append(register if dtype is None else (register, kind, dtype))
    results = writer.run(call.program, inputs, [call.is_scalar], call.warn)
    if not results:
        raise NotForGates("a call that writes into an argument")
    writer.give(results[0])


def _guard(writer: GateWriter, register: int, value: Any) -> None:
    if type(value) is np.ndarray:
        writer.array(register, value)
    else:
        writer.instance(register, type(value))
