"""A decorated function: finds the trace of a call and repeats it, or records one."""

from __future__ import annotations

import logging
import types
from collections import OrderedDict
from dataclasses import replace
from typing import Any

from runmat_jit.capture.array import Boundary
from runmat_jit.capture.capturer import Capturer
from runmat_jit.capture.record.calls import call as captured_call
from runmat_jit.capture.record.fullgraph import not_whole
from runmat_jit.capture.record.hooks import Hooks
from runmat_jit.capture.record.protocols_alone import is_followed
from runmat_jit.capture.record.record_call import record
from runmat_jit.capture.record.records import Counts, Record, reasons_of, require_whole
from runmat_jit.capture.record.tracer import Tracer
from runmat_jit.capture.replay.bailout import Bailout, Kind
from runmat_jit.capture.replay.key import (
    HoldsArrays,
    Key,
    call_key,
    refusal_of,
)
from runmat_jit.capture.replay.tree import Departure, Fork, Segment, copied, prune, replay, split
from runmat_jit.capture.replay.unspecialized import UnspecializedScalars
from runmat_jit.capture.shapes.families import Families, Family, Intent, Site, Symbols
from runmat_jit.capture.shapes.paths import path_of, programs_of
from runmat_jit.capture.source.rewrite import Refused, bind
from runmat_jit.core.frames import uncounted
from runmat_jit.core.locks import new_lock
from runmat_jit.core.reasons import Reason
from runmat_jit.core.source import SourceLine

LOG = logging.getLogger("runmat_jit")
HOT_CALLS = 100
"""Calls after which a function that never got faster is worth a line in the log."""
KEY_LIMIT = 256
MISSES_LIMIT = 32
"""Calls in a row that no replay finishes, after which Python drives all of them."""


class CapturedFunction:
    """The traces of one function; ``whole``: calls of which a part is not captured raise."""

    def __init__(
        self,
        fn: types.FunctionType,
        capturer: Capturer,
        carried: str | None,
        *,
        whole: bool = False,
    ) -> None:
        self.fn, self.capturer, self.whole = fn, capturer, whole
        self.code = fn.__code__  # which may be replaced
        self.records: OrderedDict[Key, Record] = OrderedDict()
        self.families = Families()
        self.counts = Counts()
        self.bailout = Bailout(fn)
        self.unspecialized = UnspecializedScalars()
        self.calls = 0
        self.plain: Reason | None = None  # why the last plain call was
        self.last_failed = ""
        self.carried = carried
        self.reads_arrays = False  # of ours, from outside: calls have a boundary
        self._lock = new_lock()

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
            hooks = Hooks(tracer, capturer.rewriter, self.fn)
            return captured_call(hooks, self.fn, args, kwargs)
        if self.fn.__code__ is not self.code:
            self.clear()
        state = capturer.states.current()
        if self.reads_arrays and boundary is None:
            return self.call_with_arrays(args, kwargs)
        token = state.warn if boundary is None else (state.warn, "resident")
        try:
            key, slots = call_key(token, args, kwargs)
        except HoldsArrays:
            return self.call_with_arrays(args, kwargs)
        try:
            found = self.records.get(key)
        except TypeError as reason:
            detail = f"an argument has no hash: {reason}"
            return self.run_plain(args, kwargs, Reason("unhashable-argument", detail), boundary)
        departure, site, leaves = None, None, len(slots)
        known = self.families.of(key) if found is None else found
        if known is not None and known.root.outcomes and not state.immediate:
            self.calls += 1
            departure, result = replay(known.root, slots, self.calls)
            if departure is None:
                self.count_replayed(known, args, kwargs, boundary)
                return result
            departure, site = self.departed(key, known, departure)
        begun = departure is not None and departure.done
        given_up = found is not None and found.is_plain and not (begun or self.whole)
        refused = reasons_of(found)[0] if found and given_up else refusal_of(slots[:leaves])
        if refused is not None:
            slots.clear()  # else objects that the program lets go would live on
            return self.run_plain(args, kwargs, refused, boundary)
        if departure is None and site is None and boundary is None:
            site = self.families.site(key, None)
        return self.record(
            key, args, kwargs, slots[:leaves], departure=departure, boundary=boundary, site=site
        )

    def count_replayed(
        self, known: Record | Family, args: Any, kwargs: Any, boundary: Boundary | None
    ) -> None:
        """Count a call that needed no Python; after some that gained nothing, step aside."""
        known.misses = 0
        self.counts.replayed += 1
        self.capturer.executor.count("calls_replayed")
        if not known.single:
            known.tally.count = 0
        elif boundary is None:
            why = reasons_of(known) if isinstance(known, Record) else ()
            self.count_unprofitable(self.bailout.kind(args, kwargs), why)

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
    def call_with_arrays(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A call whose arguments hold arrays of ours: so does its result."""
        active = self.capturer.active
        boundary = Boundary(lend_now=active.lend)
        lent = boundary.lower(args), {name: boundary.lower(v) for name, v in kwargs.items()}
        around, active.boundary = active.boundary, boundary
        try:
            result = self.call(*lent, boundary)
        finally:
            active.boundary = around
            boundary.close()
        return boundary.finish(result)

    def record_of(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Record | None:
        """Record of calls like this one."""
        return self.record_at(self.key_of(args, kwargs))

    def key_of(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Key:
        """Key of calls like this one."""
        warn = self.capturer.states.current().warn
        try:
            key, _ = call_key((warn, "resident") if self.reads_arrays else warn, args, kwargs)
        except HoldsArrays:
            boundary = Boundary()
            named = {name: boundary.lower(value) for name, value in kwargs.items()}
            key, _ = call_key((warn, "resident"), boundary.lower(args), named)
            boundary.finish(None)  # else what was lent counts as seen by somebody
        return key

    def record_at(self, key: Key) -> Record | None:
        """Record of calls with a key."""
        try:
            found = self.records.get(key)
            family = self.families.of(key) if found is None else None
        except TypeError:
            return None
        segments = [] if family is None else family.latest(key[1])
        if family is None or not segments:
            return found
        made = Record(root=family.root, programs=programs_of(segments, key[1]))
        made.look_at([entry for segment in segments for entry in segment.log])
        return made

    def trees(self) -> list[Fork]:
        """The trees of all calls."""
        roots = [record.root for record in list(self.records.values())]
        return roots + [family.root for family in list(self.families.known.values())]

    @uncounted
    def run_plain(
        self,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        reason: Reason,
        boundary: Boundary | None = None,
    ) -> Any:
        """Call the function undecorated: known before its first operation."""
        self.plain = reason
        if self.whole:
            raise not_whole(self.fn, reason, None)
        if boundary is not None:
            boundary.settle(writes=True)
        self.counts.plain += 1
        self.tell_if_slow((reason,))
        if boundary is None:
            self.count_unprofitable(self.bailout.kind(args, kwargs), (reason,))
        self.capturer.executor.count("calls_plain")
        return self.fn(*args, **kwargs)

    def tell_if_slow(self, reasons: tuple[Reason, ...]) -> None:
        """One line in the log, at the hundredth call, if Python has run in each of them."""
        counts = self.counts
        if counts.replayed or counts.recorded + counts.plain != HOT_CALLS:
            return
        name, why = self.fn.__qualname__, reasons[0] if reasons else "no two calls were alike"
        LOG.warning(
            "Python ran in all of the first %d calls of %s: %s; %s.explain(...) tells more",
            HOT_CALLS,
            name,
            why,
            name,
        )

    def count_unprofitable(
        self, kind: Kind, reasons: tuple[Reason, ...], *, calls: int = 1
    ) -> None:
        """Step aside after some calls in which no kernel ran, with one line in the log.

        ``calls``: as how many a call counts.
        """
        if not self.whole and self.bailout.unprofitable(kind, calls):
            why = reasons[0] if reasons else "there is nothing to compile"
            name = self.fn.__qualname__
            LOG.warning("%s is plain Python from now on: %s", name, why)

    # -- recording ---------------------------------------------------------------------------------
    @uncounted
    def record(
        self,
        key: Key,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        slots: list[Any],
        *,
        departure: Departure | None,
        boundary: Boundary | None = None,
        site: Site | None = None,
    ) -> Any:
        """Run Python under a tracer, from where a replay left; publish what may be repeated.

        ``site``: where other shapes may learn from it.
        """
        capturer = self.capturer
        before = slots if departure is None else departure.slots
        intent = Intent() if site is None else site.intent(slots, before)
        symbols = intent.symbols
        if departure is not None and departure.measured and symbols is None:
            symbols = Symbols(slots)  # the replay that goes on here had slots for lengths
        tracer = self.tracer(key, len(slots), departure, boundary, symbols)
        body = self.body(tracer, (*args, *kwargs.values()))
        if isinstance(body, Reason):
            return self.run_plain(args, kwargs, body, boundary)
        active = capturer.active
        around, active.tracer = active.tracer, tracer
        kind = self.bailout.kind(args, kwargs)  # the call may change its arguments
        try:
            with capturer.room:
                result, segment = record(tracer, self.fn, body, args, kwargs)
        finally:
            active.tracer = around
            found = self.keep(key, tracer)
            late = tracer.boundary if boundary is None else None
            if late is not None:
                self.reads_arrays = True
                late.close()
        if self.whole:
            require_whole(self.fn, found)
        self.tell_if_slow(reasons_of(found))
        repeats = tracer.tape.resume is not None or segment is not None
        if tracer.balance.gains or tracer.balance.ours or (repeats and not found.single):
            found.tally = self.bailout.tally(kind)
            found.tally.count = 0
        elif boundary is None and late is None:
            self.count_unprofitable(kind, reasons_of(found), calls=8 if found.native else 1)
        if late is not None:
            late.know((args, tuple(kwargs.values())))
            return late.finish(result)
        if segment is not None and not found.driven:
            path = path_of(segment)
            self.publish(key, segment, departure)
            family = None if site is None else self.families.of(key)
            if site is not None and family is not None:
                with self._lock:
                    family.tally, family.single = found.tally, found.single
                    executor = capturer.executor
                    family.learn(site, key[1], path, intent=intent, executor=executor)
        return result

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
            capturer.lines,
            leaves,
            inline_cache=capturer.inline_cache if symbols is None else None,
            batch_cache=capturer.batch_cache if symbols is None else None,
            resume=None if departure is None else departure.resume(),
            symbols=symbols,
            unspecialized=self.unspecialized.sources,
            whole=self.fn if self.whole else None,
            boundary=boundary,
        )
        made.balance.may_be_native = not self.whole and boundary is None and departure is None
        known = self.records.get(key)
        if known is not None and made.balance.may_be_native:
            known.prepare(made)
        return made

    def body(self, tracer: Tracer, arguments: tuple[Any, ...]) -> types.FunctionType | Reason:
        """The rewritten function; itself, if values cannot leave it; or why it is plain Python."""
        rewritten = self.capturer.rewriter.find(self.fn, self.carried)
        if not isinstance(rewritten, Refused):
            hooks = Hooks(tracer, self.capturer.rewriter, self.fn)
            return bind(rewritten, self.fn, hooks)
        code = self.fn.__code__
        line = SourceLine(code.co_filename, rewritten.line, code.co_name)
        if not self.whole and is_followed(self.fn, arguments):
            detail = "calls are followed through NumPy's protocols alone"
            tracer.effect(rewritten.reason, detail, line)
            tracer.distrust(unseen_code=False)
            return self.fn
        return Reason(rewritten.reason, "the function is plain Python", line.short())

    def keep(self, key: Key, tracer: Tracer) -> Record:
        """Remember what a recording found out, for ``explain()``."""
        with self._lock:
            record = self.records.setdefault(key, Record())
            record.learn(tracer)
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
        with self._lock:
            self.records.clear()
            self.counts, self.bailout, self.unspecialized = (
                Counts(),
                Bailout(self.fn),
                UnspecializedScalars(),
            )
            self.families = Families()
            self.code = self.fn.__code__
