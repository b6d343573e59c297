"""Kernels of single calls, for code that is executed eagerly.

A row whose bits are our own is computed by its kernel however it is asked for: fused, by itself, in
the first call or in a later one. Each kernel is recorded once, with extents that remember their
formulas, and then runs on arrays of every shape.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import partial
from typing import Any, Final, NamedTuple

import numpy as np

from runmat_jit.capture import operators
from runmat_jit.capture.record import caller_frames, deferral
from runmat_jit.capture.record.eager_gates import EagerCall, EagerGate
from runmat_jit.capture.record.special_methods import may_call_back
from runmat_jit.capture.record.tracer import Tracer
from runmat_jit.capture.replay.key import layout_of
from runmat_jit.capture.replay.steps import Numbers, scalar_of
from runmat_jit.capture.shapes.families import Symbols
from runmat_jit.capture.tape import call_forms
from runmat_jit.capture.tape.functionalize import Functional, Refused, ScalarInput, functionalize
from runmat_jit.capture.tape.lines import Lines, call_at
from runmat_jit.capture.tape.values import GENERIC
from runmat_jit.core.errstate import ErrorStates, warnings_raise
from runmat_jit.core.frames import uncounted
from runmat_jit.core.hotness import OFTEN
from runmat_jit.core.prices import ELEMENTS
from runmat_jit.core.protocols import Executor, Program
from runmat_jit.core.room import Room
from runmat_jit.graph.renumber import as_seen
from runmat_jit.ops.spec import is_ours
from runmat_jit.ops.table import ROWS, row_of
from runmat_jit.passes.events import possible_events

KERNELS_LIMIT: Final = 10_000
"""Kernels of single calls that are kept."""
FEW: Final = 2 * ELEMENTS
"""Elements for which NumPy is asked at once what it reports of a call that no gate makes."""
_NOTHING: Final[Mapping[str, Any]] = {}
_CONSTANTS: Final = (bool, int, str, type(None), type, np.dtype)
_NUMBERS: Final = {int, float}
_NUMPYS: Final = (np.ndarray, np.generic)
_OURS: Final = tuple(
    [row for row in ROWS.values() if "ours" in (row.exactness, row.complex_exactness)]
)
OWN_FUNCTIONS: Final[frozenset[Any]] = frozenset(
    spelling for row in _OURS for spelling in row.spellings
)
"""Functions and operators whose bits are our own for some dtypes."""
OWN_METHODS: Final = frozenset(method for row in _OURS for method in row.methods)
"""Likewise, methods of arrays."""


def is_own(fn: Any) -> bool:
    """Whether a row whose bits are our own covers some calls of a function, operator or method."""
    if isinstance(fn, call_forms.MethodCall):
        return fn.__name__ in OWN_METHODS
    if type(fn) is np.ufunc:
        row = row_of(fn)
        return row in _OURS
    return isinstance(fn, Hashable) and fn in OWN_FUNCTIONS


POWERS: Final = frozenset((operator.pow, operator.ipow, pow, np.power, np.float_power))
"""Calls whose exponents may be constants of the program."""

Holds = Callable[..., Any]
"""A function of extents: None where the conditions of a kernel are not met."""


class Kernel(NamedTuple):
    """A program of one call, for the extents that meet its conditions."""

    run: Callable[[tuple[int, ...], Sequence[Any], frozenset[str]], list[np.ndarray]]
    program: Callable[[tuple[int, ...]], Program]
    """The program of its own that calls of certain extents have."""
    shaped: Callable[[tuple[int, ...]], Any]
    """A program that calls of other extents have, too; None where there is none."""
    extents: Numbers
    holds: Holds
    sources: tuple[tuple[int, np.dtype | None], ...]
    """Which argument each input is; the dtype that a number is cast to."""
    events: frozenset[str]
    """What NumPy may report."""
    is_scalar: bool


class EagerKernels:
    """The kernels of single calls of a session, by all that tells such calls apart but extents."""

    def __init__(self, executor: Executor, states: ErrorStates, lines: Lines, room: Room) -> None:
        self.executor, self.states, self.lines, self.room = executor, states, lines, room
        self._known: dict[Hashable, list[Kernel]] = {}
        self._numpys: set[Hashable] = set()
        """Calls that no row covers, or whose rows have NumPy's bits."""
        self._gates: dict[Any, EagerGate] = {}
        self._launches = self.loops = 0

    @property
    def launches(self) -> int:
        """Kernels that have run, those of loops among them."""
        for gate in list(self._gates.values()):
            gate.flush()
        return self._launches

    def ran_loop(self, *, rounds: bool) -> None:
        """Count a native run of a loop; ``rounds``: some of its bits are our own."""
        self.loops += 1
        self._launches += rounds

    def _count(self, launches: int) -> None:
        self._launches += launches

    def function(self, fn: Any) -> Callable[..., Any]:
        """What is called for a function, operator or method whose bits may be our own."""
        known = self._gates.get(fn)
        if known is not None:
            return known.call

        @uncounted
        def call(*args: Any, **kwargs: Any) -> Any:
            gate = self._gates.get(fn)
            with self.room:
                if fn is operator.pow and not any(isinstance(arg, _NUMPYS) for arg in args):
                    return self.power(args, gate)
                return self.call(fn, args, kwargs, gate)

        gates = self.executor.gates()
        if gates is None:
            return call
        gate = self._gates[fn] = EagerGate(gates, call, self._count)
        return gate.call

    def call(
        self,
        fn: Any,
        args: tuple[Any, ...],
        kwargs: Mapping[str, Any] = _NOTHING,
        gate: EagerGate | None = None,
    ) -> Any:
        """``fn(*args, **kwargs)``, by a kernel where its bits are our own, else by NumPy.

        ``gate``: will make such calls.
        """
        line = self.lines.here()
        leaves: list[Any] = []
        key = signature(fn, args, kwargs, leaves)
        if key is None or not leaves or self.is_numpys(key, leaves):
            result = call_at(line, fn, args, kwargs)
            if gate is not None and key is not None and special_shapes(leaves) is None:
                gate.offer_numpys(key, fn, args, kwargs, leaves)
            return result
        source = None if line is None else line.source
        is_empty = any(type(leaf) is np.ndarray and not leaf.size for leaf in leaves)
        kernel = None if is_empty else self.kernel((key, source), fn, args, kwargs, leaves)
        if kernel is None:
            self._numpys.add((key, special_shapes(leaves)))
            return call_at(line, fn, args, kwargs)
        state = self.states.current()
        possible = warn = state.warn & kernel.events
        asked = state.immediate or (warn and (are_few(leaves) or warnings_raise()))
        if asked or of_numbers(leaves):
            call_at(line, operators.OUT_OF_PLACE.get(fn, fn), *without_out(fn, args, kwargs))
            warn = frozenset()  # NumPy has reported, and has not raised
        self._count(1)
        extents = kernel.extents(leaves)
        inputs = [
            leaves[place] if dtype is None else scalar_of(leaves[place], dtype)
            for place, dtype in kernel.sources
        ]
        results = kernel.run(extents, inputs, warn)
        if not results:  # it wrote into an array of the program's
            target = kwargs.get("out", args[0])
            return target[0] if type(target) is tuple else target
        if gate is not None and not state.immediate:
            made = EagerCall((key, possible), args, kwargs, leaves, kernel, None, possible)
            offer(gate, made, kernel, extents)
        return results[0][()] if kernel.is_scalar else results[0]

    @uncounted
    def power(self, args: tuple[Any, ...], gate: EagerGate | None) -> Any:
        """A power of what is not NumPy's; code of the program's finds the user's line above it."""
        if gate is not None and {*map(type, args)} <= _NUMBERS:
            gate.offer_plain(operator.pow, tuple(map(type, args)))
        if may_call_back(operator.pow, args, _NOTHING):
            return caller_frames.call(self.lines, None, operator.pow, args, _NOTHING)
        return operator.pow(*args)

    def is_numpys(self, key: Hashable, leaves: list[Any]) -> bool:
        """Whether NumPy computes such calls, or those of these extents."""
        return bool(self._numpys) and (key, special_shapes(leaves)) in self._numpys

    def kernel(
        self,
        key: Hashable,
        fn: Any,
        args: tuple[Any, ...],
        kwargs: Mapping[str, Any],
        leaves: list[Any],
    ) -> Kernel | None:
        """The kernel for these extents; None where NumPy computes."""
        known = self._known.get(key)
        if known is None:
            if len(self._known) >= KERNELS_LIMIT:
                self._known.clear()
            known = self._known[key] = []
        for kernel in known:
            if kernel.holds(*kernel.extents(leaves)) is not None:
                return kernel
        symbolic = len(known) < OFTEN  # conditions divide their shapes
        made = self.record(fn, args, kwargs, leaves, Symbols(leaves) if symbolic else None)
        if made is not None and symbolic:
            known.append(made)
        return made

    def record(
        self,
        fn: Any,
        args: tuple[Any, ...],
        kwargs: Mapping[str, Any],
        leaves: list[Any],
        symbols: Symbols | None,
    ) -> Kernel | None:
        """Record one call; its kernel, for all extents that ``symbols`` stand for."""
        tracer = Tracer(
            self.executor, self.states, self.lines.recorded(), len(leaves), symbols=symbols
        )
        lifted = [tracer.lift(leaf, slot, frozenset((slot,))) for slot, leaf in enumerate(leaves)]
        stand_ins = {id(leaf): traced for leaf, traced in zip(leaves, lifted, strict=True)}
        seen = partial(with_stand_ins, stand_ins)
        with np.errstate(all="ignore"):
            tracer.begin()
            named = {name: seen(value) for name, value in kwargs.items()}
            _, made = deferral.attempt(tracer, fn, tuple(map(seen, args)), named)
            found = self.made(tracer, leaves, symbols)
            tracer.take_pending()
            is_scalar = found is not None and made._rm_kind == GENERIC
            tracer.forget()
        return None if found is None else found._replace(is_scalar=is_scalar)

    def made(self, tracer: Tracer, leaves: list[Any], symbols: Symbols | None) -> Kernel | None:
        """The kernel of what a recording of one call has left pending."""
        pending = tracer.pending
        if not any(is_ours(o.meaning.row, o.meaning.operand_dtypes) for o in pending):
            return None
        live = [o.target.storage for o in pending if o.out is not None and o.target.storage.alive]
        try:
            functional = functionalize(pending, live)
        except Refused:
            return None
        template = None
        if symbols is not None and symbols.usable:
            template = self.executor.template(functional.graph, symbols.scope)
        if template is None or symbols is None:
            graph = functional.graph if symbols is None else as_seen(functional.graph)
            program = self.executor.compile(graph)
            shapes = tuple([np.shape(leaf) for leaf in leaves])
            return Kernel(
                lambda _extents, inputs, warn: program.run(inputs, warn),
                lambda _extents: program,
                lambda _extents: None,
                lambda values: tuple(map(np.shape, values)),
                lambda *found: True if found == shapes else None,
                sources_of(functional),
                possible_events(functional.graph),
                is_scalar=False,
            )
        symbols.scope.close()
        return Kernel(
            template.run,
            template.at,
            template.shaped,
            symbols.extents(),
            symbols.scope.function(()),
            sources_of(functional),
            possible_events(functional.graph),
            is_scalar=False,
        )


def with_stand_ins(stand_ins: Mapping[int, Any], value: Any) -> Any:
    """An argument with traced values for the leaves in it."""
    if type(value) is tuple:
        return tuple([with_stand_ins(stand_ins, part) for part in value])
    return stand_ins.get(id(value), value)


def of_numbers(leaves: Sequence[Any]) -> bool:
    """Whether a call has no arrays: NumPy reports the events of such ones."""
    return not any(type(leaf) is np.ndarray for leaf in leaves)


def are_few(leaves: Sequence[Any]) -> bool:
    """Whether NumPy computes a call once more in less time than it takes to find its events."""
    return sum([leaf.size for leaf in leaves if type(leaf) is np.ndarray]) <= FEW


def offer(gate: EagerGate, call: EagerCall, kernel: Kernel, extents: tuple[int, ...]) -> None:
    """Have later calls like one that Python has made go through a gate, where that may pay."""
    wanted = gate.wants(call.key, tuple(map(np.shape, call.leaves)))
    shaped = kernel.shaped(extents) if wanted == "shaped" else None
    if shaped is None and wanted == "shaped":
        gate.refuse_shapes(call.key)
    if shaped is None and wanted not in ("alike", "again"):
        return
    call.program = kernel.program(extents) if shaped is None else shaped
    call.exact = wanted == "again"
    gate.offer(call, shaped=shaped is not None)


def sources_of(functional: Functional) -> tuple[tuple[int, np.dtype | None], ...]:
    """Which argument each input of a graph is; the dtype that a number is cast to."""
    return tuple(
        [
            (entry.operand.slot, entry.dtype)
            if isinstance(entry, ScalarInput)
            else (entry.slot, entry.dtype if entry.scalar else None)
            for entry in functional.inputs
        ]
    )


def signature(
    fn: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any], leaves: list[Any]
) -> Hashable | None:
    """All that tells calls apart but extents; None of calls that no row covers.

    ``leaves`` gets the arrays, and the numbers that a kernel takes as data.
    """
    parts: list[Any] = [fn, *(described(fn, value, leaves) for value in args)]
    for name, value in kwargs.items():
        parts += name, described(fn, value, leaves)
    return None if None in parts else tuple(parts)


def described(fn: Any, value: Any, leaves: list[Any]) -> Hashable | None:
    """One argument of a signature; None where no row covers such arguments."""
    kind = type(value)
    if kind is np.ndarray:
        leaves.append(value)
        layout = layout_of(value)
        number, lies = value.dtype.num, layout or steps_of(value)
        return value.dtype, number, value.ndim, lies, value.flags.writeable
    if isinstance(value, np.generic):
        leaves.append(value)
        return kind, value.dtype
    if kind is float or (kind is int and fn in POWERS):
        if fn in POWERS and is_constant_exponent(value):
            return kind, str(value)
        leaves.append(value)
        return kind, "number"
    if kind in _CONSTANTS:
        return kind, value
    if kind is tuple:
        parts = tuple([described(fn, part, leaves) for part in value])
        return None if None in parts else (kind, parts)
    return None


def steps_of(array: np.ndarray) -> tuple[tuple[int, bool], ...]:
    """The order and the directions of an array's axes in memory: those of a result follow them."""
    steps = array.strides
    order = sorted(range(array.ndim), key=lambda axis: -abs(steps[axis]))
    return tuple([(axis, steps[axis] >= 0) for axis in order])


def is_constant_exponent(value: float) -> bool:
    """Whether a kernel for all exponents might give other bits than one for this exponent."""
    return abs(value) <= 8 and 2 * value == int(2 * value)


def special_shapes(leaves: list[Any]) -> tuple[tuple[int, ...], ...] | None:
    """The shapes of arrays, where one has no or one element along an axis: rows may treat it so."""
    shapes = tuple(map(np.shape, leaves))
    return shapes if any(extent < 2 for shape in shapes for extent in shape) else None


def without_out(
    fn: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments for a call that writes nothing."""
    named = {name: value for name, value in kwargs.items() if name != "out"}
    return args[: fn.nin] if type(fn) is np.ufunc else args, named
