"""Calls of a loop: natively where that is known to give what Python gives, else as Python runs it.

A native run is a transaction. Arrays that it writes are copied first, and where it leaves (an index
out of range, an integer of more than 64 bits, an event that NumPy is to report, Ctrl-C) they get
their elements back: Python runs the loop from its beginning.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import field
from functools import partial
from time import perf_counter_ns
from typing import Any, Final

from runmat_jit.core.errstate import FLAGS, ErrorStates, warnings_raise
from runmat_jit.core.frozen import frozen_object
from runmat_jit.core.hardware import IN_REGISTERS
from runmat_jit.core.hotness import AGAIN, FAILURES, OFTEN
from runmat_jit.core.locks import new_lock
from runmat_jit.core.log import LOG
from runmat_jit.core.prices import ELEMENTS, ENTRY, FREE, GUARDED, OPERATIONS, REPLAY
from runmat_jit.core.slotted import slotted
from runmat_jit.kernel.ir import Kernel, Table
from runmat_jit.loops.drawing import drawing_of, is_generator, stream_of
from runmat_jit.loops.emit import Emitted, Same, emit
from runmat_jit.loops.emit_registers import emit_registers
from runmat_jit.loops.extents import shapes
from runmat_jit.loops.forms import Forms, ObjectForm, forms_of, key_of
from runmat_jit.loops.kinds import kind_of
from runmat_jit.loops.lanes import Lanes
from runmat_jit.loops.list_buffers import NoRoomError
from runmat_jit.loops.native_loop import LastRun, NativeLoop, is_for_native_code, native_loop
from runmat_jit.loops.nests import breaks
from runmat_jit.loops.progress import LoopProgress
from runmat_jit.loops.registers import computes
from runmat_jit.loops.run_times import RunTimes
from runmat_jit.loops.source import Chain, Helper, LoopSource
from runmat_jit.loops.tiles import RunCells, Tiled, gains_in_registers, gains_in_tiles, lanes_for
from runmat_jit.loops.transposing import Transposing
from runmat_jit.loops.values import Unknown
from runmat_jit.loops.variant import WATCHED, Results, Variant, Watch, make_variant, may_write
from runmat_jit.passes.fusion.groups import MOST_NODES

VARIANTS: Final = 2 * OFTEN
"""Kernels of one loop, half of which know of equal extents; other operands are left to Python."""
WORTH: Final = REPLAY * OPERATIONS
"""Operations of Python's that take longer than a native call of a loop by Python."""
SHORT: Final = GUARDED * OPERATIONS
"""The same of a call by native code."""
UNROLLED: Final = 2 * WORTH
"""The same of loops whose iterations could be recorded one by one, and be kernels."""
SMALL: Final = ELEMENTS // 2
"""Elements of arrays up to which an iteration takes no longer than the launches of its kernels."""
LISTS: Final = 9
"""Iterations that take as long as a native call of a loop that appends to the program's lists."""
REPLAYED: Final = 2048
"""Iterations up to which recorded kernels give the arrays of a list sooner than a native call."""
HELD: Final = 16
"""Iterations from which on one kernel is better than kernels of a few iterations each."""
LONG: Final = FREE // ENTRY
"""Operations whose recording takes longer than a run in tiles, though its kernels take less."""
LONG_WITH_GAPS: Final = 10 * MOST_NODES
"""The same where tiles are copied so that lanes lie side by side; kernels read as they lie."""

Compile = Callable[[Kernel], Any]


class NotCompiledError(Exception):
    """There is no native code of a kernel, for a mistake of ours; nothing has happened yet."""


class LoopLeft(Exception):  # noqa: N818  (a signal between our own layers, never a user's)
    """A loop does not run natively on these values; nothing has happened yet."""


@frozen_object
class Reads:
    """What a loop reads: what it is given, and what is the same in all calls.

    ``operands`` are arrays and numbers; ``helpers`` the functions of the program's among the
    ``objects``, and what they read.
    """

    operands: tuple[Chain, ...]
    objects: Mapping[Chain, Any]
    helpers: Mapping[Any, Helper]


class LoopCall:
    """A loop of a function, called with the values of its operands: its results, in their order.

    Args:
        source: The statement.
        name: Name of the function that it stands in.
        reads: What it reads.
        services: Of the session.

    """

    def __init__(
        self,
        source: LoopSource,
        name: str,
        reads: Reads,
        services: Services,
    ) -> None:
        self.source, self.services = source, services
        self.operands, self.objects, self.helpers = reads.operands, reads.objects, reads.helpers
        self.variants: dict[Any, Variant | Unknown] = {}
        self.registers: dict[Any, Variant | Unknown] = {}
        """Kernels with arrays in registers, of those that run in tiles."""
        self.known_registers: dict[Any, Emitted | Unknown] = {}
        self.known: dict[Any, Emitted | Unknown] = {}
        self.exits = self.odd = self.poor = 0
        self.least = SHORT
        """Work from which on a run gains, as far as that is known (:meth:`decide`)."""
        self.per_turn, self.per_turn_of_arrays, self.asked = 1, OPERATIONS, 0
        """Operations of Python's in an iteration, about: of numbers, and of arrays."""
        self.expected = self.expected_turns = self.turns = 0
        """Operations and iterations of the run that is looked at; iterations of the last run."""
        self.last: LastRun | None = None
        self.held = False
        """True if the last run had its arrays in registers."""
        self.careful = False
        self.rounds = False
        """True if some bits of a kernel's are our own, not NumPy's."""
        self.__name__ = self.__qualname__ = f"loop of line {source.line} in {name}"
        self.same: Mapping[str, int] | None = None
        """Results that are operands, and which: the same in all calls."""
        self.written = frozenset[int]()
        """Operands that it stores to, as far as that is known."""
        self.kind = "element_loop"
        """What its body does (:mod:`.kinds`)."""
        self.has_arrays = False
        """True if a kernel of it stores arrays at once, or multiplies some."""
        self.asks_numpy = False
        """True if an iteration, recorded, would call NumPy between kernels."""
        self.keeps_arrays = False
        """True if it appends arrays to lists."""
        self._lock = new_lock()
        ends = isinstance(source.node, ast.While) or breaks(source.node) or source.returns
        self.times = RunTimes(compares=services.times_runs and not ends)

    def __call__(self, *values: Any) -> Any:
        """The results of the loop, but for those that are operands (:meth:`merged`).

        After the operands the places of those may follow, in a tuple, that are new arrays of zeros.

        Raises:
            LoopLeft: it does not run natively, or does too little for that; nothing has happened.

        """
        found = None if self.is_poor else self.attempt(values)
        if found is None:
            raise LoopLeft(self.__name__)
        return found

    def attempt(
        self, values: Sequence[Any], spare: frozenset[int] = frozenset()
    ) -> tuple[Any, ...] | None:
        """Run natively, see :meth:`__call__`; None where nothing has happened.

        ``spare``: operands that nobody needs then; no event may be reported, which begins anew.
        """
        if self.exits >= FAILURES:
            return None
        start, state = perf_counter_ns(), self.services.states.current()
        if state.immediate or (state.warn and warnings_raise()):
            return None
        count = len(self.operands)
        values, blank = drawn_from(values[:count]), frozenset[int](*values[count:])
        found = None
        if not (self.careful and state.warn):
            found = self.attempt_with(values, blank, state.warn, careful=False, spare=spare)
        if found is None and state.warn:
            found = self.attempt_with(values, blank, state.warn, careful=True)
            self.odd = self.odd + 1 if found is not None else 0
            self.careful = self.odd >= AGAIN  # data that are not finite: each operation is watched
        if found is None:
            self.exits += 1
            self.services.count("loops_left")
            return None
        self.exits, results, self.turns = 0, *found
        self.services.count("loops_run")
        self.services.count_loop(self.kind, self.turns, start)
        self.services.count("loop_turns", self.turns)
        self.poor = 0 if self.does_enough(self.turns, recorded=True) else self.poor + 1
        return results

    def attempt_with(
        self,
        values: Sequence[Any],
        blank: frozenset[int],
        warn: frozenset[str],
        *,
        careful: bool,
        spare: frozenset[int] = frozenset(),
    ) -> tuple[tuple[Any, ...], int] | None:
        """Results and iterations of a run by a kernel that looks at events so."""
        if not self.variants and not all(may_write(values[n], values) for n in self.written):
            return None  # before anything is compiled
        variant = self.variant(values, careful=careful, quiet=not warn)
        if variant is None:
            return None
        progress = LoopProgress(self.__name__) if self.services.shows_progress else None
        watch = Watch(events_in(warn, careful=careful), bool(warn), progress)
        with progress or nullcontext(), suppress(NotCompiledError):
            return self.run_by(variant, values, blank, watch, careful=careful, spare=spare)
        return None

    def run_by(
        self,
        variant: Variant,
        values: Sequence[Any],
        blank: frozenset[int],
        watch: Watch,
        *,
        careful: bool,
        spare: frozenset[int],
    ) -> tuple[tuple[Any, ...], int] | None:
        """The same, by a kernel: all at once, or in tiles, with arrays in registers if they can."""
        quiet, lanes = not watch.noted, lanes_for(variant, values)
        turns = self.expected_turns
        held, tiles = None, lanes is not None and gains_in_tiles(variant, lanes, values, turns)
        if lanes is not None and (tiles or gains_in_registers(variant, lanes, values, turns)):
            held = self.in_registers(variant, lanes, values, careful=careful, quiet=quiet)
            if held is not None and not (lanes.gaps or computes(held.emitted.kernel)):
                held = None
        if lanes is None or not (tiles or held):
            while True:
                try:
                    run_slices = partial(variant.run_slices, values, watch)
                    found = variant.run(values, blank, run_slices, spare)
                except NoRoomError:  # what has been appended is gone, and nobody has seen it
                    continue
                if found is not None:
                    self.last = LastRun(variant, shapes(values), watch, careful, found[1])
                return found
        run = self.tiled(held or variant, lanes, blank, careful=careful, quiet=quiet)
        found = variant.run(values, blank, partial(run, values, watch), spare)
        if found is not None:
            self.held = held is not None
            self.services.count("loops_tiled")
            self.services.count("loops_in_registers", int(self.held))
        return found

    def tiled(
        self, variant: Variant, lanes: Lanes, blank: frozenset[int], *, careful: bool, quiet: bool
    ) -> Callable[[Sequence[Any], Watch], Results | None]:
        """Runs a kernel in tiles, as :meth:`.variant.Variant.run_slices` does without."""

        def variant_of(like: Sequence[Any]) -> Variant | None:
            found = self.variant(like, careful=careful, quiet=quiet)
            if found is None or not variant.emitted.width:
                return found
            return self.in_registers(found, lanes, like, careful=careful, quiet=quiet)

        services = self.services
        return Tiled(
            variant, lanes, variant_of, services.transposing, services.run_cells, blank
        ).run

    def in_registers(
        self,
        variant: Variant,
        lanes: Lanes,
        values: Sequence[Any],
        *,
        careful: bool,
        quiet: bool,
    ) -> Variant | None:
        """The kernel that does the same with arrays in registers; None where there is none."""
        facts = lanes.number > 0
        key = careful, quiet, lanes.number, key_of(values, facts=facts)
        found = self.registers.get(key)
        if found is None:
            with self._lock:
                found = self.registers.get(key)
                if found is None:
                    given = dict(zip(self.operands, values, strict=True))
                    forms = forms_of(given, facts=facts)
                    looks = careful or (variant.emitted.ours and not quiet)
                    emitted = self.emitted_registers(
                        variant.emitted, lanes, forms, careful=looks, exact=careful
                    )
                    found = self.registers[key] = (
                        emitted if isinstance(emitted, Unknown) else self.compiled(emitted, forms)
                    )
        return found if isinstance(found, Variant) else None

    def emitted_registers(
        self, like: Emitted, lanes: Lanes, forms: Forms, *, careful: bool, exact: bool = False
    ) -> Emitted | Unknown:
        """Such a kernel beside one that does the same, or why there is none."""
        if "recurrent_loop" in self.services.refused:
            return Unknown("arrays in registers are switched off")
        key = careful, exact, lanes.number, tuple([forms[chain] for chain in self.operands])
        if key not in self.known_registers:
            emission = partial(emit_registers, self.source, self.complete(forms), self.helpers)
            self.known_registers[key] = self.tried(
                partial(emission, lanes, like, careful=careful, exact=exact)
            )
        return self.known_registers[key]

    def tried(self, emission: Callable[[], Emitted]) -> Emitted | Unknown:
        """A kernel, or why there is none."""
        try:
            return emission()
        except Unknown as unknown:  # without the frames that hold what is the program's
            return Unknown(unknown.why, unknown.line)
        except Exception:  # the program runs as it stands, and must not fail for our sake
            LOG.exception("%s was not made a kernel of; please report this", self.__name__)
            return Unknown("a mistake of runmat_jit")

    def native(self) -> NativeLoop | None:
        """The loop as native code runs it like the last time, here and now; None where not."""
        last, warn = self.last, self.services.states.current().warn
        if last is None or self.services.shows_progress:
            return None
        events = events_in(warn, careful=last.careful)
        if (last.watch.events, last.watch.noted) != (events, bool(warn)):
            return None
        return native_loop(last, self.count_native)

    def count_native(self, runs: int, turns: int, last: int) -> None:
        """Count runs by native code, all their iterations, and those of the last."""
        self.turns, self.poor = last, 0
        self.services.count("loops_run", runs)
        self.services.count_loop(self.kind, turns, runs=runs)
        self.services.count("loop_turns", turns)

    def does_enough(self, turns: int, *, recorded: bool = False) -> bool:
        """True if so many turns take longer than a native call; ``recorded``: or than kernels."""
        least = self.least if recorded else max(self.least, WORTH)
        least *= LISTS if self.source.grown else 1
        is_plain = not recorded and self.weight > 1  # functions of NumPy's are not recorded
        per_turn = self.per_turn_of_arrays if is_plain else self.per_turn * self.weight
        return turns * per_turn >= least

    def decide(self, found: Emitted, forms: Forms, given: Sequence[Any]) -> None:
        """Decide from how much work on runs of this kernel gain; ``given``: numbers and shapes."""
        unrolls = self.has_arrays and not self.asks_numpy
        decides = isinstance(self.source.node, ast.While) or breaks(self.source.node)
        small = decides or found.span(given) <= SMALL
        if is_for_native_code(found, forms.values()) and (small or not unrolls):
            self.least = SHORT
        else:
            self.least = UNROLLED if unrolls else WORTH

    def is_kept(self, found: Emitted, given: Sequence[Any]) -> bool:
        """True if kernels of a few recorded turns have all of them in registers, as no run has."""
        of_few = found.lanes and found.reduces and 1 < found.mixed(given) <= IN_REGISTERS
        small = found.span(given) <= SMALL or self.expected >= LONG_WITH_GAPS
        return bool(of_few) and not (small or self.asks_numpy)

    def gains_in_tiles(self, found: Emitted, forms: Forms, given: Sequence[Any]) -> bool:
        """True if runs in tiles take less than recorded kernels, for large arrays.

        Kernels of elementwise iterations, or that reduce few elements, keep these in registers.
        """
        if not found.lanes:
            return False
        has_gaps = any(lanes.gaps for lanes in found.lanes)
        if self.expected >= (LONG_WITH_GAPS if has_gaps else LONG):
            return True
        if self.expected_turns < HELD:
            return False
        mixed = found.mixed(given)
        stores = not has_gaps and (mixed > IN_REGISTERS or (mixed > 1 and not found.reduces))
        return stores or self._is_held(found, forms)

    def _is_held(self, found: Emitted, forms: Forms) -> bool:
        """True if a kernel can have its arrays in registers, along some axis."""
        every = [
            self.emitted_registers(found, each, forms, careful=found.ours) for each in found.lanes
        ]
        return any(isinstance(each, Emitted) and computes(each.kernel) for each in every)

    @property
    def weight(self) -> int:
        """About how many operations of Python's one takes as long as; more, if nobody knows yet."""
        looked_at = self.known or self.variants
        return OPERATIONS if self.has_arrays or not looked_at else 1

    @property
    def replays_better(self) -> bool:
        """True if a replay of kernels takes less than the next run, with lists of its results."""
        if not self.has_arrays:
            return False
        part = 128 if self.asks_numpy else 1 if self.keeps_arrays else 8
        return self.expected_turns < REPLAYED // part

    @property
    def kernels(self) -> int:
        """Kernels that have been compiled, for all kinds of operands."""
        return len(self.variants) + len(self.registers)

    @property
    def gave_up(self) -> bool:
        """True if it has left so often that it is not tried any more."""
        return self.exits >= FAILURES

    @property
    def is_poor(self) -> bool:
        """True if its last runs did little, so that it is tried now and then only."""
        return self.poor >= OFTEN

    def look(self, forms: Forms) -> Emitted | Unknown:
        """The kernel for operands of these forms, or why there is none; nothing is compiled."""
        key = tuple([forms[chain] for chain in self.operands])
        if key not in self.known:
            self.known[key] = self.emitted(forms, careful=None)
        return self.known[key]

    def emitted(
        self, forms: Forms, *, careful: bool | None, exact: bool = False
    ) -> Emitted | Unknown:
        """The kernel for operands of these forms, or why there is none.

        ``careful`` and ``exact`` as of :func:`.emit.emit`.
        """
        emission = partial(emit, self.source, self.complete(forms), self.helpers)
        found = self.tried(partial(emission, careful=careful, exact=exact))
        if isinstance(found, Unknown):
            return found
        kind = kind_of(self.source, found)
        if kind in self.services.refused and kind != "recurrent_loop":
            return Unknown(f"{kind} is switched off")
        self.kind, self.written = kind, found.written
        same = {n: what.operand for n, what in found.results if isinstance(what, Same)}
        if self.same is None:
            self.same = same
        elif self.same != same:
            return Unknown("names hold arrays of the caller's, or others, by turns")
        self.asks_numpy = self.asks_numpy or found.asks_numpy
        self.has_arrays = self.has_arrays or bool(found.spans) or found.asks_numpy
        self.keeps_arrays = self.keeps_arrays or any(each.keeps_arrays for each in found.lists)
        return found

    def merged(self, made: Sequence[Any], operands: Sequence[Any]) -> tuple[Any, ...]:
        """All results in their order, of those that are made and of the operands."""
        rest, same = iter(made), self.same or {}
        return tuple([operands[same[n]] if n in same else next(rest) for n in self.source.results])

    def append(self, made: Sequence[Any], operands: Sequence[Any]) -> None:
        """Append to the program's lists what a run has appended."""
        lists = {id(value): value for value in operands if type(value) is list}
        if lists:
            for target, items in zip(lists.values(), made[-len(lists) :], strict=True):
                target.extend(items)

    def report(self) -> str:
        """How the loop runs, for people."""
        variants = list(self.variants.values())  # another thread may add one meanwhile
        native = [each for each in variants if isinstance(each, Variant)]
        refused = [*self.known.values(), *variants]
        why = next((each for each in refused if isinstance(each, Unknown)), None)
        if self.exits >= FAILURES and (native or why is None):
            return "in Python: native runs of it have left each time"
        if self.is_poor:
            return "in Python: it does too little for a native run"
        if native:
            kernels = "1 kernel" if len(native) == 1 else f"{len(native)} kernels"
            held = ", arrays in registers" if self.held else ""
            if any(each.emitted.drawn for each in native):
                held += ", random numbers drawn"
            turns = f"{self.turns} iterations in the last call"
            return f"natively, by {kernels}{held} ({self.kind}); {turns}"
        if why is not None:
            at = "" if why.line is None else f" (line {why.line})"
            return f"in Python: {why.why}{at}"
        return "in Python: it does too little for a native run"

    def complete(self, forms: Forms) -> Forms:
        """Forms of the operands, with those of the objects."""
        return {**forms, **{chain: ObjectForm(value) for chain, value in self.objects.items()}}

    def variant(self, values: Sequence[Any], *, careful: bool, quiet: bool) -> Variant | None:
        """The kernel for operands like these, or None; ``quiet``: no event is to be reported."""
        facts = len(self.variants) < OFTEN
        key = careful, quiet, key_of(values, facts=facts)
        found = self.variants.get(key)
        if found is None:
            with self._lock:
                found = self.variants.get(key)
                if found is None and len(self.variants) < VARIANTS:
                    given = dict(zip(self.operands, values, strict=True))
                    forms = forms_of(given, facts=facts)
                    found = self.make(forms, careful=careful, quiet=quiet)
                    self.variants[key] = found
        return found if isinstance(found, Variant) else None

    def make(self, forms: Forms, *, careful: bool, quiet: bool) -> Variant | Unknown:
        """The kernel, or why there is none.

        Processors tell of the events of NumPy's operations, but not of those of ours.
        """
        if careful:
            emitted = self.emitted(forms, careful=True, exact=True)
        else:
            emitted = self.look(forms)
            if quiet and isinstance(emitted, Emitted) and emitted.ours:
                emitted = self.emitted(forms, careful=False)
        if isinstance(emitted, Unknown):
            return emitted
        self.rounds = self.rounds or emitted.rounds
        self.times.compares = self.times.compares and not self.rounds
        return self.compiled(emitted, forms)

    def compiled(self, emitted: Emitted, forms: Forms) -> Variant:
        """What runs a kernel for operands of these forms; it is compiled when it is to run.

        Beside a loop in tiles, or in registers, there is a kernel that only tells how.
        """
        names = [p.name for p in emitted.kernel.parameters if isinstance(p, Table)]
        tables = {name: self.services.table(name) for name in names}
        entry = WATCHED(self.services.watched_call())
        code = functools.cache(partial(self.code, emitted.kernel))
        return make_variant(emitted, code, entry, forms, tables)

    def code(self, kernel: Kernel) -> int:
        """The address of the native code of a kernel.

        Raises:
            NotCompiledError: there is none.

        """
        try:
            compiled = self.services.compile(kernel)
        except Exception as error:  # as above
            LOG.exception("%s was not compiled; please report this", self.__name__)
            raise NotCompiledError from error
        self.services.count("kernels_compiled")
        return int(compiled.address)


def events_in(warn: frozenset[str], *, careful: bool) -> int:
    """Bits of the machine's events that end a run, where these are to be reported."""
    if careful:  # the kernel looks for them itself
        return 0
    return sum(1 << number for number, event in enumerate(FLAGS) if event in warn)


def drawn_from(values: Sequence[Any]) -> Sequence[Any]:
    """The same operands, with streams in the places of generators."""
    generators = {stream_of(value): value for value in values if is_generator(value)}
    if not generators:
        return values
    drawings = {key: drawing_of(value) for key, value in generators.items()}
    return tuple([drawings[stream_of(v)] if is_generator(v) else v for v in values])


@slotted
class Services:
    """What loops are given by the session that they run in."""

    compile: Compile
    table: Callable[[str], int]
    watched_call: Callable[[], int]
    run_cells: RunCells
    transposing: Transposing
    count: Callable[..., None]
    count_loop: Callable[..., None]
    states: ErrorStates = field(default_factory=ErrorStates)
    refused: frozenset[str] = frozenset()
    """Kinds of loops that are switched off."""
    shows_progress: bool = False
    times_runs: bool = False
