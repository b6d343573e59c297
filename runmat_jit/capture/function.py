"""A decorated function: finds the trace of a call and repeats it, or records one."""

from __future__ import annotations

import types
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from runmat_jit.capture.capturer import Capturer
from runmat_jit.capture.record import caller_frames
from runmat_jit.capture.record.calls import call as captured_call
from runmat_jit.capture.record.fullgraph import not_whole
from runmat_jit.capture.record.hooks import Hooks
from runmat_jit.capture.record.plain_execution import DirectForm, Plain
from runmat_jit.capture.record.record_call import record
from runmat_jit.capture.record.records import Counts, Record, price_of, reasons_of, require_whole
from runmat_jit.capture.record.tracer import Tracer
from runmat_jit.capture.replay.bailout import EVERY, Bailout, Kind, LetThrough, Tally, size_of
from runmat_jit.capture.replay.gatekeeper import Gatekeeper
from runmat_jit.capture.replay.key import Given, HoldsArrays, Key, call_key, refusal_of
from runmat_jit.capture.replay.tree import (
    Departure,
    Fork,
    Middle,
    Segment,
    copied,
    prune,
    replay,
    split,
)
from runmat_jit.capture.replay.unspecialized import UnspecializedScalars
from runmat_jit.capture.shapes.families import Families, Family, Intent, Site, Symbols
from runmat_jit.capture.shapes.paths import Path, path_of
from runmat_jit.capture.source.rewrite import Refused, bind
from runmat_jit.capture.tape.lines import is_boundary
from runmat_jit.core.epoch import exception
from runmat_jit.core.evidence import Evidence
from runmat_jit.core.frames import uncounted
from runmat_jit.core.gates import Gate
from runmat_jit.core.locks import new_lock
from runmat_jit.core.log import LOG
from runmat_jit.core.prices import REPLAY
from runmat_jit.core.protocols import Boundary
from runmat_jit.core.reasons import Reason
from runmat_jit.core.signal_handlers import called_by_handler, raised_by_handler
from runmat_jit.core.slotted import slotted
from runmat_jit.core.source import SourceLine, calls_itself

KEY_LIMIT = 256
MISSES_LIMIT = 32
"""Calls in a row that no replay finishes, after which Python drives all of them."""


@slotted
class Recorded:
    """One call that is recorded: the kind of its arguments before it, and how it has ended.

    ``size``: elements of the largest array among them; ``repeats``: a replay may repeat it;
    ``alone``: no arrays of ours are concerned.
    """

    kind: Kind
    size: int
    repeats: bool = False
    raised: bool = False
    alone: bool = False


class CapturedFunction:
    """The traces of one function; ``whole``: calls of which a part is not captured raise.

    ``evidence``: work of the plain calls, which recordings have to be earned by; None: every call
    may be recorded. ``keeps_bits``: calls whose compiled results may differ from NumPy's stay
    compiled. ``go_back``: reopens the plain tier, until another recording is earned.
    """

    def __init__(
        self,
        fn: types.FunctionType,
        capturer: Capturer,
        carried: str | None,
        *,
        whole: bool = False,
        keeps_bits: bool = False,
        evidence: Evidence | None = None,
        go_back: Callable[[], None] = lambda: None,
        install: Callable[[Gate | None], None] = lambda _gate: None,
    ) -> None:
        self.fn, self.capturer, self.whole = fn, capturer, whole
        self.evidence, self.keeps_bits, self.go_back = evidence, keeps_bits, go_back
        self.code = fn.__code__  # which may be replaced
        self.recurs = calls_itself(fn.__code__, fn.__name__)
        capturer.lines.namespaces.note(fn)
        self.records: OrderedDict[Key, Record] = OrderedDict()
        self.families = Families(2 if evidence else 1)
        self.counts = Counts()
        self.bailout = Bailout(fn)
        self.unspecialized = UnspecializedScalars()
        self.calls = 0
        self.plain: Reason | None = None  # why the last plain call was
        self.last_failed = ""
        self.carried = carried
        self.reads_arrays: Callable[..., Boundary] | None = None
        """Where it reads arrays of ours from outside, what makes the boundary of its calls."""
        self._direct: DirectForm | None = None
        self._plain = Plain(capturer.executor, capturer.lines, capturer.rewriter, evidence)
        self._lock = new_lock()
        self.gatekeeper = Gatekeeper(fn, capturer.executor.gates, install)

    # -- one call ----------------------------------------------------------------------------------
    @uncounted
    def call(
        self,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        boundary: Boundary | None = None,
    ) -> Any:
        """The result of one call, as plain Python would give it.

        ``boundary`` is what ndarrays among the arguments stand for, if they stand for arrays of
        ours.
        """
        capturer = self.capturer
        tracer = capturer.active.tracer
        if tracer is not None and not tracer.passive:
            if called_by_handler(is_boundary):
                with capturer.active.interrupted():
                    return self.call(args, kwargs, boundary)
            hooks = Hooks(tracer, capturer.rewriter, self.fn)
            return captured_call(hooks, self.fn, args, kwargs)
        if tracer is not None and tracer.left is not None and capturer.active.recorded is self:
            return self.direct_form()(*args, **kwargs)  # a recursion: the recording was in vain
        if self.fn.__code__ is not self.code:
            self.clear()
        state = capturer.states.current()
        if self.reads_arrays and boundary is None:
            return self.call_with_arrays(args, kwargs, self.reads_arrays)
        token = state.warn if boundary is None else (state.warn, boundary.home)
        try:
            key, slots, contents = call_key(token, args, kwargs)
        except HoldsArrays as found_some:
            return self.call_with_arrays(args, kwargs, found_some.boundary)
        try:
            found = self.records.get(key)
        except TypeError as reason:
            detail = f"an argument has no hash: {reason}"
            return self.run_plain(args, kwargs, Reason("unhashable-argument", detail), boundary)
        departure, leaves = None, len(slots)
        known = self.families.of(key) if found is None else found
        if known is not None and known.root.outcomes and not state.immediate:
            self.calls += 1
            departure, result = replay(known.root, slots, self.calls)
            if departure is None:
                self.count_replayed(known, args, kwargs, boundary)
                if boundary is not None and boundary.given is not None:
                    self.offer(key, known, (*boundary.given, contents), slots)
                elif boundary is None and self.may_pass(known):
                    self.offer(key, known, (args, kwargs, contents), slots)
                return result
        given = args, kwargs, contents
        return self.go_on(
            key, given, slots, leaves=leaves, known=known, departure=departure, boundary=boundary
        )

    def may_pass(self, known: Record | Family) -> bool:
        """True if replays are to go through the gate: they gain by it, or cannot be given up."""
        return known.gains_at_gate or not self.may_step_aside(known.tally)

    def offer(self, key: Key, known: Record | Family, given: Given, slots: list[Any]) -> None:
        """Have such calls go through the gate, if they may: one has been replayed."""
        self.gatekeeper.offer(
            key,
            known.root,
            given,
            slots,
            count=partial(self.count_at_gate, known),
            rest=partial(self.rest, key, known),
            of_family=isinstance(known, Family),
        )

    @uncounted
    def go_on(
        self,
        key: Key,
        given: Given,
        slots: list[Any],
        *,
        leaves: int,
        known: Record | Family | None,
        departure: Departure | None,
        boundary: Boundary | None,
    ) -> Any:
        """A call that no replay has finished: Python runs, and is recorded where that may pay.

        ``leaves``: how many of the slots the arguments have.
        """
        args, kwargs, contents = given
        site = None
        if departure is not None and known is not None:
            departure, site = self.departed(key, known, departure)
        begun = departure is not None and departure.done
        found = known.left if isinstance(known, Family) else known
        stays = found is not None and self.keeps_bits and found.ours
        ended = None if begun or self.whole or stays else found
        if ended is not None and ended.given_up:
            slots.clear()  # else objects that the program lets go would live on
            contents.clear()
            return self.run_unrecorded(args, kwargs, ended, boundary)
        if self.evidence is not None and boundary is None and not begun:
            self.evidence.add(self.fn, 1, args, kwargs)
            if not self.evidence.pays:
                self.counts.plain += 1
                slots.clear()
                contents.clear()
                self.gatekeeper.flush()
                if self.evidence.is_idle(self.counts.replayed):
                    self.go_back()
                return self.direct_form()(*args, **kwargs)
            self.evidence.calls -= 1
        refused = refusal_of(slots[:leaves])
        if refused is not None:
            slots.clear()
            contents.clear()
            return self.run_plain(args, kwargs, refused, boundary)
        if departure is None and site is None and boundary is None:
            site = self.families.site(key, None)
        return self.record(
            key, given, slots[:leaves], departure=departure, boundary=boundary, site=site
        )

    @uncounted
    def rest(
        self,
        key: Key,
        known: Record | Family,
        given: tuple[tuple[Any, ...], dict[str, Any]],
        middle: Middle,
        slots: list[Any],
    ) -> Any:
        """The rest of a call that a gate has begun, and must not begin again."""
        args, kwargs = given
        self.calls += 1
        leaves = len(call_key(None, args, kwargs)[1])
        departure, result = replay(known.root, slots, self.calls, middle)
        if departure is None:
            self.count_replayed(known, args, kwargs, None)
            if self.bailout.find(args, kwargs) is not None:
                self.gatekeeper.close()  # else such calls would never come to be let through
            return result
        whole = args, kwargs, dict[int, Any]()
        return self.go_on(
            key, whole, slots, leaves=leaves, known=known, departure=departure, boundary=None
        )

    def count_at_gate(self, known: Record | Family, calls: int) -> None:
        """Count calls that needed no Python, not even to find their trace."""
        known.misses = 0
        known.fruitless = max(0, known.fruitless - calls)
        known.tally.replayed(calls * known.work)
        self.calls += calls
        self.counts.replayed += calls

    def count_replayed(
        self, known: Record | Family, args: Any, kwargs: Any, boundary: Boundary | None
    ) -> None:
        """Count a call that needed no Python; after some that gained nothing, step aside."""
        known.misses = 0
        self.counts.replayed += 1
        self.capturer.executor.count("calls_replayed")
        if known.fruitless:
            known.fruitless -= 1
        if not known.poor_below:
            known.tally.replayed(known.work)
        elif boundary is None:
            self.count_poor(known, args, kwargs)

    def count_poor(self, known: Record | Family, args: Any, kwargs: Any) -> None:
        """Count a replay that has gained nothing, if its arrays were as small as it takes.

        Calls that went through a gate in between have gained something.
        """
        if known.poor_below < EVERY and size_of(args, kwargs) >= known.poor_below:
            known.tally.gained()
            return
        why = reasons_of(known) if isinstance(known, Record) else ()
        kind = self.bailout.kind(args, kwargs)
        self.count_unprofitable(kind, why, REPLAY, below=known.poor_below)

    def departed(
        self, key: Key, known: Record | Family, departure: Departure
    ) -> tuple[Departure | None, Site | None]:
        """Where Python goes on after a replay has left a tree, and where others learn from it."""
        self.last_failed = departure.reason
        if departure.stale is not None:
            self.unspecialized.miss(departure.stale)
        if isinstance(known, Family):
            return self.depart(key, known.root, departure)
        if known.misses >= MISSES_LIMIT and not self.whole:
            known.driven, known.root = True, Fork()
            self.gatekeeper.close()
        elif departure.raised is not None:
            with self._lock:
                departure = split(departure)
        return departure, None

    def depart(
        self, key: Key, root: Fork, departure: Departure
    ) -> tuple[Departure | None, Site | None]:
        """The departure from a family's tree as one from a tree of this shape's own.

        None where nothing has been done. With it comes the place in the family's tree.
        """
        if not departure.path:
            return None, None
        with self._lock:
            site = self.families.site(key, departure)
            own, forks = copied(root)
            self.records[key] = Record(root=own)
        return replace(departure, fork=forks[departure.fork]), site

    @uncounted
    def call_with_arrays(
        self, args: tuple[Any, ...], kwargs: dict[str, Any], make: Callable[..., Boundary]
    ) -> Any:
        """A call whose arguments hold arrays of ours: so does its result."""
        active = self.capturer.active
        boundary = make(lend_now=active.lend)
        boundary.given = args, kwargs
        lent = boundary.lower(args), {name: boundary.lower(v) for name, v in kwargs.items()}
        around, active.boundary = active.boundary, boundary
        try:
            result = self.call(*lent, boundary)
        finally:
            active.boundary, boundary.given = around, None
            boundary.close()
        return boundary.finish(result)

    def key_of(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Key:
        """Key of calls like this one."""
        warn = self.capturer.states.current().warn
        try:
            token = (warn, "cpu") if self.reads_arrays else warn
            key = call_key(token, args, kwargs)[0]
        except HoldsArrays as found:
            boundary = found.boundary()
            named = {name: boundary.lower(value) for name, value in kwargs.items()}
            lent = boundary.lower(args)
            key = call_key((warn, boundary.home), lent, named)[0]
            boundary.finish(None)  # else what was lent counts as seen by somebody
        return key

    @uncounted
    def run_plain(
        self,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        reason: Reason,
        boundary: Boundary | None = None,
        *,
        below: int = EVERY,
        raises: bool = False,
    ) -> Any:
        """Call the function undecorated: known before its first operation.

        ``below``: the elements below which that is so; ``raises``: it is because such calls raise.
        """
        self.plain = reason
        if self.whole:
            raise not_whole(self.fn, reason, None)
        if boundary is not None:
            boundary.settle(writes=True)
        self.counts.plain += 1
        if boundary is None and not raises:
            kind = self.bailout.kind(args, kwargs)
            self.count_unprofitable(kind, (reason,), below=below)
        self.capturer.executor.count("calls_plain")
        return self.call_plainly(*args, **kwargs)

    @uncounted
    def call_plainly(self, /, *args: Any, **kwargs: Any) -> Any:
        """Call the function undecorated, from a frame that looks like its caller's.

        What it calls may ask who called it. A recursion has no room for such frames.
        """
        if self.recurs:
            return self.fn(*args, **kwargs)
        lines = self.capturer.lines
        return caller_frames.call(lines, None, self.direct_form(), args, kwargs, counted=False)

    @uncounted
    def call_from_frames(self, /, *args: Any, **kwargs: Any) -> Any:
        """Call the function undecorated; code that looks at frames finds those of its callers."""
        return caller_frames.call(self.capturer.lines, None, self.fn, args, kwargs)

    @uncounted
    def run_unrecorded(
        self,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        found: Record,
        boundary: Boundary | None,
    ) -> Any:
        """A call of which recordings are known to be fruitless."""
        below, raises = found.below, found.patience is not None
        result = self.run_plain(args, kwargs, found.reason, boundary, below=below, raises=raises)
        found.count_returned()
        return result

    @uncounted
    def call_direct(self, /, *args: Any, **kwargs: Any) -> Any:
        """Call the function as it is, with hooks for its loops."""
        return self.direct_form()(*args, **kwargs)

    def direct_form(self) -> types.FunctionType:
        """Return the function with hooks for its loops; itself, if none may run natively."""
        found = self._direct
        if found is None or found.code is not self.fn.__code__:
            found = self._direct = DirectForm(self.fn, self._plain, self.carried)
        return found.bound()

    @property
    def has_direct_form(self) -> bool:
        """True if some of the function's loops may run natively."""
        self.direct_form()
        return self._direct is not None and self._direct.rewritten is not None

    def count_unprofitable(
        self, kind: Kind, reasons: tuple[Reason, ...], price: int = 0, *, below: int = EVERY
    ) -> None:
        """Step aside after some calls from which nothing is gained.

        ``price``: of what was done for one, in calls of NumPy; ``below``: what is known of such
        calls holds where no array has as many elements.
        """
        self.gatekeeper.flush()
        tally = self.bailout.tally(kind)
        if self.may_step_aside(tally) and self.bailout.unprofitable(kind, price, below=below):
            self.tell_aside(reasons)

    def may_step_aside(self, tally: Tally) -> bool:
        """Return True if calls of a kind may be bypassed."""
        return not (self.whole or (self.keeps_bits and tally.ours))

    def work_of(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> int:
        """What kernels do in a replay of such a call, in calls of NumPy; 0 where there is none."""
        key = self.key_of(args, kwargs)
        known = self.records.get(key) or self.families.of(key)
        return 0 if known is None or not known.root.outcomes else known.work

    def bypass_of(self, kind: Kind) -> Callable[..., Any] | None:
        """Return the function that bypassed calls of a kind run; None if results may change."""
        tally = self.bailout.tally(kind)
        return None if tally.ours or not self.may_step_aside(tally) else self.direct_form()

    def step_aside(self, kind: Kind, below: int) -> None:
        """Bypass calls of a kind with fewer elements than ``below``: undecorated is faster."""
        self.bailout.let_through(LetThrough(kind, below, None))
        self.gatekeeper.close()
        self.tell_aside(())

    def tell_aside(self, reasons: tuple[Reason, ...]) -> None:
        """Write one line to the log, for the first kind of arguments."""
        if self.bailout.told:
            return
        self.bailout.told = True
        why = reasons[0] if reasons else "there is nothing to compile, or too little to gain"
        LOG.debug("%s is plain Python from now on: %s", self.fn.__qualname__, why)

    # -- recording ---------------------------------------------------------------------------------
    @uncounted
    def record(
        self,
        key: Key,
        given: Given,
        slots: list[Any],
        *,
        departure: Departure | None,
        boundary: Boundary | None = None,
        site: Site | None = None,
    ) -> Any:
        """Run Python under a tracer, from where a replay left; publish what may be repeated.

        ``site``: where other shapes may learn from it.
        """
        capturer, (args, kwargs, _) = self.capturer, given
        before = slots if departure is None else departure.slots
        intent = Intent() if site is None else site.intent(slots, before)
        symbols = intent.symbols
        if departure is not None and departure.measured and symbols is None:
            symbols = Symbols(slots)  # the replay that goes on here had slots for lengths
        tracer = self.tracer(key, len(slots), departure, boundary, symbols)
        body = self.body(tracer)
        if isinstance(body, Reason):
            return self.run_plain(args, kwargs, body, boundary)
        active = capturer.active
        around = active.tracer, active.recorded
        # Before they change:
        call = Recorded(self.bailout.kind(args, kwargs), size_of(args, kwargs))
        try:
            try:
                active.tracer, active.recorded = tracer, self
                with exception(), capturer.room:
                    result, segment = record(tracer, self.fn, body, given)
            except Exception as error:
                call.raised = not raised_by_handler(error)
                raise
            finally:
                active.tracer, active.recorded = around
                found = self.keep(key, tracer, call.size)
                late = tracer.boundary if boundary is None else None
                if late is not None:
                    self.reads_arrays = type(late)
                    late.close()
                call.alone = boundary is None and late is None
                if call.raised:
                    self.count_recorded(tracer, found, call)
            if self.whole:
                require_whole(self.fn, found)
            call.repeats = segment is not None
            self.count_recorded(tracer, found, call)
            if late is not None:
                late.know((args, tuple(kwargs.values())))
                return late.finish(result)
            if segment is not None and not found.driven:
                path = path_of(segment)
                self.publish(key, segment, departure)
                self.learn(key, path, found, intent, site)
                self.gatekeeper.close()
            return result
        finally:
            tracer.forget()

    def count_recorded(self, tracer: Tracer, found: Record, call: Recorded) -> None:
        """Count a recording, which may have been in vain."""
        if self.evidence is not None:
            price = price_of(tracer.tape.count) + tracer.balance.built
            self.evidence.spend(price, repeats=call.repeats)
        tally = found.tally = self.bailout.tally(call.kind)
        found.ours = tally.ours = tally.ours or found.ours
        if found.repays(tracer.tape.count, tracer.balance.programs, repeats=call.repeats):
            tally.gained()
        elif self.steps_aside(tracer, found, call):
            self.tell_aside(reasons_of(found))

    def steps_aside(self, tracer: Tracer, found: Record, call: Recorded) -> bool:
        """Count a recording that has not paid yet: whether it was the last of its kind."""
        if not (call.alone and self.may_step_aside(found.tally)):
            return False
        kind, bailout = call.kind, self.bailout
        below, price = found.gains_from(call.size), price_of(tracer.tape.count)
        if call.repeats and found.poor_below:
            return bailout.unprofitable(kind, price, below=found.poor_below)
        if call.repeats:
            return bailout.unrepeated(kind, below, price)
        begun = tracer.tape.resume is not None
        found.count_fruitless(below, raised=call.raised, begun=begun)
        return bailout.fruitless(kind, below, found.work, raised=call.raised)

    def learn(self, key: Key, path: Path, found: Record, intent: Intent, site: Site | None) -> None:
        """Have other shapes learn from what was recorded for one."""
        family = None if site is None else self.families.of(key)
        if site is None or family is None:
            return
        with self._lock:
            family.tally, family.poor_below = found.tally, found.poor_below
            family.work, family.gains_at_gate = found.work, found.gains_at_gate
            executor = self.capturer.executor
            family.learn(site, key[1], path, intent=intent, executor=executor)

    def tracer(
        self,
        key: Key,
        leaves: int,
        departure: Departure | None,
        boundary: Boundary | None,
        symbols: Symbols | None,
    ) -> Tracer:
        """The tracer of a recording, which is counted."""
        capturer = self.capturer
        self.counts.recorded += 1
        capturer.executor.count("calls_recorded")
        if departure is not None:
            self.counts.retraced += 1
            capturer.executor.count("calls_retraced")
        made = Tracer(
            capturer.executor,
            capturer.states,
            capturer.lines.recorded(),
            leaves,
            inline_cache=capturer.inline_cache if symbols is None else None,
            batch_cache=capturer.batch_cache if symbols is None else None,
            resume=None if departure is None else departure.resume(),
            symbols=symbols,
            unspecialized=self.unspecialized.sources,
            whole=self.fn if self.whole else None,
            boundary=boundary,
            plain=self._plain,
            may_leave=not self.whole and boundary is None,
        )
        known = self.records.get(key)
        is_whole = self.whole or boundary is not None or departure is not None
        if known is not None and not is_whole and not (self.keeps_bits and known.ours):
            known.prepare(made)
        return made

    def body(self, tracer: Tracer) -> types.FunctionType | Reason:
        """The rewritten function, or why it is plain Python."""
        rewritten = self.capturer.rewriter.find(self.fn, self.carried)
        if not isinstance(rewritten, Refused):
            hooks = Hooks(tracer, self.capturer.rewriter, self.fn)
            return bind(rewritten, self.fn, hooks)
        return self.reason_of(rewritten)

    def refusal(self) -> Reason | None:
        """Reason why the function's source is not captured; None where it is."""
        rewritten = self.capturer.rewriter.find(self.fn, self.carried)
        return self.reason_of(rewritten) if isinstance(rewritten, Refused) else None

    def reason_of(self, refused: Refused) -> Reason:
        """The same, with the line that is at fault."""
        code = self.fn.__code__
        line = SourceLine(code.co_filename, refused.line, code.co_name)
        return Reason(refused.reason, "the function is plain Python", line.short())

    def keep(self, key: Key, tracer: Tracer, size: int) -> Record:
        """Remember what a recording found out; ``size``: of the largest array it was given."""
        with self._lock:
            record = self.records.setdefault(key, Record())
            record.learn(tracer, size)
            if tracer.left is not None:
                self.families.leave(key, record)
            self.records.move_to_end(key)
            if len(self.records) > KEY_LIMIT:
                self.records.popitem(last=False)
            return record

    def publish(self, key: Key, segment: Segment, departure: Departure | None) -> Record:
        """Put a finished segment, and what hangs on it, where the replay left its tree."""
        with self._lock:
            record = self.records.setdefault(key, Record())
            segment.used = self.calls
            fork, outcome = record.root, None
            if departure is not None:
                fork, outcome = departure.fork, departure.outcome
            fork.add(outcome, segment)
            prune(record.root)
            if len(self.records) > KEY_LIMIT:
                self.records.popitem(last=False)
        self.capturer.executor.count("traces_published")
        return record

    def clear(self) -> None:
        """Forget all traces and counts."""
        self.gatekeeper.close()
        with self._lock:
            self.records.clear()
            self.counts, self.bailout, self.unspecialized = (
                Counts(),
                Bailout(self.fn),
                UnspecializedScalars(),
            )
            self.families = Families(self.families.patience)
            self.code, self._direct = self.fn.__code__, None
