"""The state of one recording, and what the modules of this package ask of it.

Nobody else writes its fields. What needs those modules (computing what is pending, running a call)
is declared here and implemented by :class:`runmat_jit.capture.record.tracer.Tracer`.
"""

from __future__ import annotations

import types
import weakref
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from threading import get_ident
from typing import Any, Protocol

import numpy as np

from runmat_jit.capture.record.balance import ELEMENTS_LIMIT, Balance
from runmat_jit.capture.record.batch_cache import BatchCache
from runmat_jit.capture.record.inline_cache import InlineCache
from runmat_jit.capture.record.shadow_copies import ShadowCopies
from runmat_jit.capture.record.streams import Streams
from runmat_jit.capture.record.tape_writer import TapeWriter
from runmat_jit.capture.record.traced import Operations, Traced
from runmat_jit.capture.record.varying import Moving
from runmat_jit.capture.replay.resume import Resume
from runmat_jit.capture.shapes.families import Symbols
from runmat_jit.capture.source.hook_calls import RUNTIME
from runmat_jit.capture.source.rewrite import copy_annotations
from runmat_jit.capture.tape.entries import CONSTANT, Operation, ScalarOperand
from runmat_jit.capture.tape.lines import Line, Lines
from runmat_jit.capture.tape.storage import Geometry, Storage, watch
from runmat_jit.capture.tape.values import GENERIC, NOTHING
from runmat_jit.core.errstate import ErrorState, ErrorStates, current_errstate, warnings_raise
from runmat_jit.core.protocols import Boundary, Executor
from runmat_jit.core.source import SourceLine

BATCH_TARGET = 160
"""Steps of pending operations after which a batch ends where a loop begins its next iteration.

The iterations have the same operations: they are one program.
"""
BATCH_LIMIT = 256
"""Pending operations after which a batch ends anyway: bounds memory and compile time."""
ROLLED = 192
"""The same where they are turns of a loop that a kernel has as one."""
_ROLLED = ("elementwise", "create")
"""Kinds of rows whose turns a kernel may have as a loop."""


def _is_back(place: tuple[Any, int], before: tuple[Any, int]) -> bool:
    """Return True if an instruction stands before another one in the same code."""
    return place[0] == before[0] and place[1] < before[1]


class Left(Protocol):
    """The end of a recording in the middle of its call: the rest is plain Python."""

    rests: list[Iterable[Any]]
    """Rests of loops for their direct forms, which go on with them at once."""

    def real(self, value: Any) -> Any:
        """Return the value with nothing traced in it."""

    def forget(self) -> None:
        """The call is over: let the values go that were made real."""


class Plain(Protocol):
    """Plain execution, on real values."""

    def hooks(self, fn: types.FunctionType) -> Any:
        """Return hooks of a function that is executed on real values."""

    def leave(self, recording: Recording) -> Left:
        """End a recording in the middle of its call: the frames that run get real values."""


def without_hooks(value: types.FunctionType) -> types.FunctionType:
    """A function with the code that was rewritten; itself, if that is not found."""
    names = value.__code__.co_freevars
    cells = dict(zip(names, value.__closure__ or (), strict=True))
    annotate: Any = getattr(value, "__annotate__", None)  # from Python 3.14 on
    if type(annotate) is types.FunctionType:
        value.__annotate__ = without_hooks(annotate)  # type: ignore[attr-defined]  # likewise
    if RUNTIME not in cells:
        return value
    hooks = cells[RUNTIME].cell_contents
    rewritten = hooks.converter.find(hooks.fn)
    code = getattr(rewritten, "inner", {}).get(value.__code__)
    cells.update({name: cell for name, cell in hooks.cells.items() if name not in cells})
    if code is None or any(name not in cells for name in code.co_freevars):
        return value
    closure = tuple([cells[name] for name in code.co_freevars])
    made = types.FunctionType(code, value.__globals__, value.__name__, value.__defaults__, closure)
    made.__kwdefaults__ = value.__kwdefaults__
    copy_annotations(value, made)
    made.__qualname__, made.__module__ = value.__qualname__, value.__module__
    made.__doc__ = value.__doc__
    made.__dict__ = value.__dict__  # shared, as the cells are
    return made


class Recording(Operations):
    """One recording: its tape, its slots, what is pending, and what the program may know.

    Args:
        executor: Compiles graphs.
        states: Tells what NumPy does about floating-point events.
        lines: The user's lines.
        slots: Leaves of the arguments, which have the first slots.
        inline_cache: How calls are deferred, if others may share it.
        batch_cache: Programs of what was pending before, likewise.
        resume: What a replay has done before Python took over.
        whole: The function that is to be captured whole, or else to raise.
        boundary: What ndarrays among the arguments stand for.
        symbols: What the extents of arguments are called, if they have names.
        unspecialized: The names of reads that give data.
        plain: Executes what is not recorded.
        may_leave: Whether the recording may end in the middle of its call.

    """

    _before: Any = None
    """The instruction of the operation before, in a batch that is long enough to end."""

    def __init__(
        self,
        executor: Executor,
        states: ErrorStates,
        lines: Lines,
        slots: int,
        *,
        inline_cache: InlineCache | None = None,
        batch_cache: BatchCache | None = None,
        resume: Resume | None = None,
        whole: types.FunctionType | None = None,
        boundary: Boundary | None = None,
        symbols: Symbols | None = None,
        unspecialized: frozenset[str] = frozenset(),
        plain: Plain | None = None,
        may_leave: bool = False,
    ) -> None:
        self.executor = executor
        if boundary is not None:  # arrays that are read from outside turn up later
            self.executor = executor.resident(boundary.home if boundary.has_arrays else "gpu")
        self.lines, self.boundary, self.whole, self.symbols = lines, boundary, whole, symbols
        self.unspecialized = unspecialized
        self.inline_cache = InlineCache() if inline_cache is None else inline_cache
        self.batch_cache = batch_cache
        self.tape = TapeWriter(resume, measured=symbols is not None)
        self.count = slots
        """Slots in use."""
        self.pending: list[Operation] = []
        """The operations at the end of the tape that nothing has computed yet."""
        self.streams = Streams()
        self._numbers: dict[Any, list[Any]] = {}
        """That operations took in a place, of those that are pending."""
        self.steps = 0.0
        """Their steps of arithmetic."""
        self.writes_pending = self.rolling = self._is_together = False
        """Some of them write memory that exists; they compute elements alone, so that of turns of a
        loop kernels have the code of one."""
        self.moving = Moving()
        self.shadows = ShadowCopies()
        self.balance = Balance()
        self.leaving = ""
        """Reason why the recording is to end as soon as the program's own code runs."""
        self.left: Left | None = None
        """What has ended it."""
        self.plain, self.may_leave = plain, may_leave
        self._cut: Any = None
        self.token: Any = None
        self.first_token: Any = None
        self.state = ErrorState(frozenset(), immediate=False)
        self.immediate = False
        """NumPy runs each operation, for it is to report events where the program is."""
        self.refused: list[str] = []
        self.programs: list[Any] = []
        """Of every batch, for explanations."""
        self.lifted: list[Traced] = []
        """The inputs: each has one traced value to the end."""
        self.escaped = False
        """The program may hold real arrays, and read their memory unseen."""
        self.unseen_code = False
        """Code that no hook sees may run at any time, and write to them, too."""
        self.closed = self.has_constants = False
        self._states, self._thread, self._suspended, self._at_once = states, get_ident(), 0, False
        self._inputs: set[int] = set()
        self._known: dict[int, weakref.ref[Traced]] = {}
        self._owned, self._objects = dict[int, Any](), dict[int, tuple[Any, int]]()
        self._plain, self._watches = dict[int, tuple[Any, Any]](), list[Any]()
        self._resuming = resume is not None

    # -- what runs now -----------------------------------------------------------------------------
    @property
    def passive(self) -> bool:
        """True if code that runs now is not to be recorded: it is unknown, or it came later."""
        return self.closed or bool(self._suspended) or get_ident() != self._thread

    @property
    def publishable(self) -> bool:
        """True if the tape may be repeated without Python."""
        return self.tape.publishable

    def here(self) -> Line | None:
        """The user's line that is running."""
        return self.lines.here()

    def line(self) -> SourceLine | None:
        """The user's line that is running, for messages."""
        line = self.lines.here()
        return None if line is None else line.source

    def begin_boundary(self, make: Callable[[], Boundary]) -> Boundary:
        """The call's boundary, made where arrays of ours turn up first: then nothing is kept."""
        if self.boundary is None:
            self.boundary = make()
            self.executor = self.executor.resident("gpu")
        return self.boundary

    # -- errors of NumPy ---------------------------------------------------------------------------
    def refresh_errstate(self) -> None:
        """Follow ``np.errstate``: operations recorded under another state are computed first."""
        if self._resuming and not self.tape.feeding:
            self._resuming, self.token = False, None
        token = current_errstate()
        if token is not self.token:
            self.flush()
            self.token = token
            state = self.state = self._states.current()
            raising = bool(state.warn) and warnings_raise()
            self.immediate = self._at_once or state.immediate or raising
            self.immediate = self.immediate and not self._resuming  # a replay has reported them
            if self.immediate and self.publishable:
                self.effect("events-raise", "NumPy is to report floating-point events at once")

    @property
    def own_errstate(self) -> Any:
        """The state of errors, where it is not that of the call's beginning."""
        return None if self.token is self.first_token else self.token

    def begin(self) -> None:
        """Remember how errors are reported where the call begins."""
        self.refresh_errstate()
        self.first_token = self.token

    def report_at_once(self) -> None:
        """From here on to the end of the call NumPy warns where the program is."""
        self._at_once = True

    # -- code that no hook sees --------------------------------------------------------------------
    def distrust(self, *, unseen_code: bool) -> None:
        """The program may hold real arrays (``escaped``), or run code unseen (``unseen_code``)."""
        self.unseen_code = self.unseen_code or unseen_code
        self.escaped = self.escaped or not unseen_code

    def suspend(self) -> None:
        """Unknown code begins to run: nothing is recorded."""
        self.escaped = True
        self._suspended += 1

    def resume_after(self, *, inert: bool) -> None:
        """Unknown code has ended; it may have changed how NumPy reports events."""
        self._suspended -= 1
        self.token = None
        self.unseen_code = self.unseen_code or not inert

    # -- slots and traced values -------------------------------------------------------------------
    def slot(self) -> int:
        """A new slot."""
        self.count += 1
        return self.count - 1

    def materialize(self, traced: Traced) -> Any:
        """The value of a traced array or NumPy scalar that has just been computed."""
        if traced._rm_origin is not None:
            parent, fn, args, kwargs = traced._rm_origin
            return fn(self.value(parent), *args, **kwargs)
        assert traced._rm_geometry is not None, "a traced value has a value or a place"
        memory, hollow = traced._rm_geometry.storage.memory, traced._rm_geometry.storage.hollow
        assert self.tape.feeding or not hollow, "a value that a replay had freed is asked for"
        assert memory is not None, "flush() computes every live storage"
        return memory[()] if traced._rm_kind == GENERIC else memory

    def remember(self, array: np.ndarray, traced: Traced) -> None:
        """Keep the traced value of a real array, while the program holds it."""
        self._known[id(array)] = weakref.ref(traced)

    def adopt(self, array: np.ndarray) -> Traced | None:
        """The traced value of a real array that turned up in the program, if there is one."""
        reference = self._known.get(id(array))
        found = None if reference is None else reference()
        return found if found is not None and found._rm_held is array else None

    def mark_input(self, value: Traced) -> None:
        """An array that a replay finds in a slot before anything runs."""
        self._inputs.add(value._rm_slot)
        self.lifted.append(value)

    def is_input(self, value: Traced) -> bool:
        """True if the array is an argument or was read from outside."""
        return value._rm_slot in self._inputs

    def is_pending(self, value: Traced) -> bool:
        """True if the value of a traced one is not computed yet."""
        at = value._rm_geometry
        return at is not None and at.storage.memory is None

    def new_storage(self, storage: Storage, kind: str) -> Traced:
        """The traced value of a storage whose contents are pending."""
        made = Traced(self, storage.slot, kind, geometry=storage.geometry())
        storage.scalar = kind == GENERIC
        storage.owned_by(made, self.tape.dead, is_freed=storage.is_freed)
        return made

    def watch(self, value: Traced) -> None:
        """Have a replay forget a view when the program does."""
        self._watches.append(watch(value, value._rm_slot, self.tape.dead))

    def single(self) -> None:
        """Count an operation on single numbers; after many, a recording without gain ends."""
        if self.balance.ends(self.pending):
            self.run_away(f"{ELEMENTS_LIMIT} operations on single numbers, and few on whole arrays")

    def turn(self) -> None:
        """Count an iteration of a loop, likewise."""
        if self.balance.turns_in_vain(self.pending):
            self.run_away(f"{self.balance.turns} turns of loops, and little work on whole arrays")

    def run_away(self, detail: str) -> None:
        """The recording costs more than it can gain: it is to end, where that may be done."""
        if self.may_leave and not self.tape.feeding:
            self.leaving = detail

    def leave(self) -> Left:
        """End the recording: the rest of the call is plain Python."""
        assert self.plain is not None, "only then it may be left"
        detail, self.leaving, self.may_leave = self.leaving, "", False
        self.effect("trace-too-long", detail)
        self.left = self.plain.leave(self)
        self.suspend()
        return self.left

    # -- objects -----------------------------------------------------------------------------------
    def own(self, made: Any) -> Any:
        """Remember an object that the recording made: stores into it are no effects."""
        self._owned[id(made)] = made
        return made

    def without_hooks(self, value: types.FunctionType) -> types.FunctionType:
        """A function made in the recording as others may have it: with the program's own code.

        The same one each time. Itself, where it has no hooks or its code is not found.
        """
        found = self._plain.get(id(value))
        if found is None:
            found = self._plain[id(value)] = value, without_hooks(value)
        return found[1]

    def as_released(self, value: Any) -> Any:
        """A function as others have it, if it has been released; anything else as it is."""
        found = self._plain.get(id(value))
        return value if found is None else found[1]

    def owns(self, value: Any) -> bool:
        """True if the recording made this object."""
        return self._owned.get(id(value)) is value

    def made(self) -> list[Any]:
        """All objects that the recording made, and nobody else holds."""
        return list(self._owned.values())

    def disown(self, value: Any) -> None:
        """Others may hold an object that the recording made."""
        self._owned.pop(id(value), None)

    def may_change(self, container: Any) -> bool:
        """True if a container is the recording's own.

        Others are copies of what lies outside, or, after an effect, may have come from anywhere.
        """
        if self.owns(container):
            return True
        if self.shadows.of_copy(container) is not None or not self.publishable:
            return False
        self.own(container)  # made by Python, such as the list of a starred target
        return True

    def slot_of(self, value: Any) -> int | None:
        """The slot that holds an outside object, if one does."""
        found = self._objects.get(id(value))
        return found[1] if found is not None and found[0] is value else None

    def hold(self, value: Any, slot: int) -> None:
        """Remember which slot holds an outside object."""
        self._objects.setdefault(id(value), (value, slot))

    # -- what is pending ---------------------------------------------------------------------------
    def defer(self, operation: Operation) -> None:
        """Add a pending operation."""
        self.rolling = self.executor.on_gpu and self._rolls(operation)
        self.pending.append(operation)
        self.steps += 1 + operation.call.pattern.meaning.row.flops
        if operation.out is None and operation.target.storage.memory is not None:
            self.writes_pending = True

    def _rolls(self, operation: Operation) -> bool:
        """True if what is pending may be turns of a loop, with this operation: where the program
        has been before, it computed elements in the same way, with the same numbers.
        """
        if not self.pending:
            self._numbers.clear()
        elif not self.rolling:
            return False
        meaning, place = operation.call.pattern.meaning, self.lines.place()
        numbers = [
            (each.slot, None) if isinstance(each, ScalarOperand) and each.slot != CONSTANT else each
            for each in operation.operands
            if not isinstance(each, Geometry)
        ]
        known = self._numbers.setdefault((place, meaning.row.name), numbers)
        return meaning.row.kind in _ROLLED and (meaning.row.kind == "create" or known == numbers)

    @contextmanager
    def together(self) -> Iterator[None]:
        """The operations that follow are in one batch; one that is to end here does before them."""
        if self.steps >= BATCH_TARGET:
            self.cut()
        self._is_together = True
        try:
            yield
        finally:
            self._is_together = False

    def cut(self) -> None:
        """End a batch that is long enough, before the next operation."""
        if (self.rolling and len(self.pending) < ROLLED) or self._is_together:
            return
        place, before = self.lines.place(), self._before
        self._before = place
        goes_back = before is not None and place is not None and _is_back(place, before)
        if goes_back or place == self._cut or len(self.pending) >= BATCH_LIMIT:
            self.flush()
            self._cut = place
        elif self._cut is None:
            self._cut = place

    def take_pending(self) -> list[Operation]:
        """Operations that are computed now: all that are pending."""
        pending, self.pending, self.writes_pending, self.steps = self.pending, [], False, 0.0
        self._before = None
        return pending

    def keep_pending(self, operations: list[Operation]) -> None:
        """Operations that stay pending."""
        self.pending = operations

    def forget_values(self) -> None:
        """The call is over: let the values go that did not escape."""
        self.shadows, self.streams, self.moving = ShadowCopies(), Streams(), Moving()
        self._owned, self._objects, self._numbers, self._watches = {}, {}, {}, []
        self._plain = {}
        self._inputs = set()
        self.pending = []
        if self.left is not None:
            self.left.forget()

    def end(self) -> None:
        """Values that escaped behave as real ones from now on."""
        self.closed = True
        self._known.clear()
        self.lifted.clear()

    # -- what the tracer does ----------------------------------------------------------------------
    @abstractmethod
    def flush(self) -> None:
        """Compute everything that is pending."""

    @abstractmethod
    def effect(self, reason: str, detail: str, line: SourceLine | None = None) -> None:
        """Something that a replay could not repeat: compute what is pending, publish nothing."""

    @abstractmethod
    def unknown(self, fn: Any, args: Sequence[Any], kwargs: Mapping[str, Any] = NOTHING) -> Any:
        """Let unknown code run: it sees no traced value, and may change what it was given."""

    @abstractmethod
    def value(self, traced: Traced) -> Any:
        """The real value of a traced one, computed if it is pending."""

    @abstractmethod
    def raw(self, value: Any) -> Any:
        """Real values for the traced ones inside ``value``."""

    @abstractmethod
    def release(self, value: Any) -> Any:
        """The real value, for outside code to keep: made real in place where it is mutable."""

    @abstractmethod
    def lift(self, value: Any, slot: int | None = None, roots: frozenset[int] | None = None) -> Any:
        """The traced value of a real array or scalar (the same one for the same array)."""

    @abstractmethod
    def encode(self, value: Any) -> Any:
        """A template: refs for the traced values inside ``value``."""

    @abstractmethod
    def call(self, fn: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        """One operation: defer it, find it to be a view, or run it."""

    @abstractmethod
    def look(self, value: Traced, use: str) -> Any:
        """The real value, because Python decides by it."""
