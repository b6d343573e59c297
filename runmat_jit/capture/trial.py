"""Trials: warm calls are timed compiled and undecorated, and run undecorated where that takes less.

What a replay gains is reckoned in counts: operations of kernels, in calls of NumPy. Where that is
wrong for a program or a machine, the clock tells. A trial is of calls of one kind, no larger than
some size, whose results have the same bits both ways: a wrong finding costs time alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from statistics import median
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from runmat_jit.capture.replay.bailout import BAILOUT_CALLS, Kind, below, size_of
from runmat_jit.capture.replay.key import HoldsArrays, call_key
from runmat_jit.capture.tape.lines import hide_our_frames
from runmat_jit.core.frames import uncounted
from runmat_jit.core.hotness import AGAIN, ENTRIES, OFTEN
from runmat_jit.core.locks import new_lock
from runmat_jit.core.prices import COMPILING
from runmat_jit.core.slotted import slotted

if TYPE_CHECKING:
    from runmat_jit.capture.function import CapturedFunction

WARM: Final = BAILOUT_CALLS + OFTEN
"""Calls before a trial: by then native entries have been made."""
COLD: Final = OFTEN
"""Calls without us that do not count: they may compile, and look at loops."""
PAIRS: Final = 6
"""Of calls, with and without us, that are compared; as many of ours are timed before, to see
whether there is a doubt.
"""
LONG_CALL_S: Final = 1e-3
"""Seconds from which on a call is long: it is compared at once, with few others."""
LOOKED_AT: Final = (2, 3)
"""Calls whose time shows whether they are long: the first one has been recorded."""
CALLS: Final = WARM + COLD + 3 * PAIRS
"""Alike ones, after which there is a finding."""
MOST: Final = 4 * CALLS
"""Calls for each case, after which a trial ends that has not come to all findings."""
CALL_S: Final = 15e-8
"""Seconds that a call of NumPy takes at least: what does so much work is beyond doubt."""
SHORT_S: Final = 1e-4
"""So short a call may be made in plain Python for once, whatever that takes."""
BEYOND: Final = 3.0
"""Times as long as ours: such a call without us ends a trial, such work by count begins none."""
LONG_S: Final = 2 * COMPILING * CALL_S
"""What compiling a kernel takes, about."""
BETTER: Final = 0.95
"""Times as long as ours: what calls without us have to stay below."""


class Case(NamedTuple):
    """What a trial is of: calls of a kind, with less elements than some number."""

    kind: Kind
    below: int


@slotted
class Comparison:
    """The calls of one case, and their seconds; ``without``: what makes them without us."""

    case: Case
    is_long: bool = False
    without: Callable[..., Any] | None = None
    cold: int = COLD
    ours: list[float] = field(default_factory=list)
    others: list[float] = field(default_factory=list)

    @property
    def is_ours_next(self) -> bool:
        """True if the next call is to be made with us."""
        if self.is_long:
            return len(self.ours) - AGAIN < len(self.others)
        return not self.cold and len(self.ours) - PAIRS <= len(self.others)

    def finding(self, took: float, times: list[float]) -> bool | None:
        """Take the time of a call in: whether calls take less without us, once that is known."""
        ours = median(self.ours or [took])
        if times is self.others and self.cold:
            self.cold -= 1
            again = self.cold < COLD - 1  # a matter of milliseconds is to compile, at first
            far = took > BEYOND * ours and (ours > LONG_S or (again and took > LONG_S))
            return False if far else None
        times.append(took)
        if self.is_long:
            if len(self.others) < AGAIN or len(self.ours) <= AGAIN:
                return None
            return min(self.others) < BETTER * min(self.ours)
        if len(self.others) > 1 and min(self.others) > BEYOND * ours:
            return False
        if len(self.others) == PAIRS and len(self.ours) >= 2 * PAIRS:
            return median(self.others) < BETTER * median(self.ours[PAIRS:])
        return None


class Trial:
    """The trial of one function: calls of several kinds and sizes may alternate.

    Args:
        captured: What is known of the function.
        applies: Whether decorated functions are more than plain Python, here and now.
        changed: Is called when calls are to be made in another way, and at the end of a trial.
        clock: Seconds.

    """

    def __init__(
        self,
        captured: CapturedFunction,
        applies: Callable[[], bool],
        changed: Callable[[], None],
        clock: Callable[[], float] = perf_counter,
    ) -> None:
        self.captured, self.applies, self.changed, self.clock = captured, applies, changed, clock
        self.way: Callable[..., Any] = captured.fn
        """What makes calls now: a gate, or what replays and records."""
        self.active, self.recorded, self.is_long = True, 0, False
        self.first = 0.0
        """Seconds of the call that was looked at."""
        self.calls, self.most = 0, WARM + MOST
        self.open: dict[Case, Comparison] = {}
        self.judged: set[Case] = set()
        self._lock = new_lock()
        """Held in calls of a trial: those of other threads, or within one, go their way."""

    def again(self) -> None:
        """Something has been recorded: other cases may be worth a trial."""
        recorded = self.captured.counts.recorded
        if self.active or len(self.judged) >= ENTRIES or recorded == self.recorded:
            return
        self.active, self.calls, self.most, self.is_long = True, 0, WARM + MOST, False

    def stop(self) -> None:
        """Try no more calls, until something is recorded."""
        self.active, self.recorded = False, self.captured.counts.recorded
        self.open.clear()

    def end(self) -> None:
        """Let calls go their way."""
        self.stop()
        self.changed()

    @uncounted
    def call(self, /, *args: Any, **kwargs: Any) -> Any:
        """One call: most go their way."""
        self.calls += 1
        try:
            if self.calls in LOOKED_AT and not self.is_long:
                return self.looked_at(args, kwargs)
            if (self.calls <= WARM and not self.is_long) or not self._lock.acquire(blocking=False):
                return self.way(*args, **kwargs)
            try:
                return self.tried(args, kwargs)
            finally:
                self._lock.release()
        except BaseException as error:
            hide_our_frames(error)
            raise

    @uncounted
    def looked_at(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Make one of the first calls, and note whether it takes long."""
        start = self.clock()
        try:
            return self.way(*args, **kwargs)
        finally:
            self.first = self.clock() - start
            self.is_long = self.first > LONG_CALL_S

    @uncounted
    def tried(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A call of the trial, if it is of one of its kinds and sizes."""
        if not self.active:
            return self.way(*args, **kwargs)
        if self.calls > self.most:
            self.end()
            return self.way(*args, **kwargs)
        found = self.comparison(args, kwargs)
        if found is None:
            return self.way(*args, **kwargs)
        if len(found.ours) < (AGAIN if found.is_long else PAIRS):
            return self.timed(found, self.way, found.ours, args, kwargs)
        if found.without is None:
            found.without = self.begun(found.case, found.ours, args, kwargs)
        if found.without is None or found.is_ours_next:
            return self.timed(found, self.way, found.ours, args, kwargs)
        return self.timed(found, found.without, found.others, args, kwargs)

    def comparison(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Comparison | None:
        """What a call is part of; None where it is not to be compared, or there is a finding."""
        captured = self.captured
        recording = captured.capturer.active.tracer is not None
        if recording or captured.reads_arrays or not self.applies():
            return None
        try:
            call_key(None, args, kwargs)
        except (HoldsArrays, TypeError):
            return None
        case = Case(captured.bailout.kind(args, kwargs), below(size_of(args, kwargs)))
        known = self.open.get(case)
        if known is not None or case in self.judged:
            return known
        count = len(self.open) + len(self.judged)
        if count >= ENTRIES or captured.bailout.find(args, kwargs) is not None:
            return None
        self.most += MOST
        made = Comparison(case)
        if self.is_long:
            made = Comparison(case, is_long=True, cold=0, ours=[self.first])
        return self.open.setdefault(case, made)

    def begun(
        self, case: Case, ours: list[float], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Callable[..., Any] | None:
        """What makes calls without us; None where there is no doubt that it takes longer."""
        work = self.captured.work_of(args, kwargs)
        without = self.captured.bypass_of(case.kind)
        took = median(ours)
        compiles = without is not self.captured.fn or took > SHORT_S
        if without is None or (compiles and BEYOND * took < CALL_S * work):
            self.judge(case, aside=False)
            return None
        return without

    @uncounted
    def timed(
        self,
        compared: Comparison,
        way: Callable[..., Any],
        times: list[float],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> Any:
        """A call whose time counts; what is recorded again and again, warm, is to lose."""
        clock = self.clock
        start, counts = clock(), True
        try:
            return way(*args, **kwargs)
        except BaseException as error:
            counts = isinstance(error, Exception)
            raise
        finally:
            took = clock() - start
            if counts and compared.case in self.open:
                aside = compared.finding(took, times)
                if aside is not None:
                    self.judge(compared.case, aside=aside)

    def judge(self, case: Case, *, aside: bool) -> None:
        """There is a finding; the last one ends the trial."""
        self.judged.add(case)
        self.open.pop(case, None)
        if aside:
            self.captured.step_aside(case.kind, case.below)
        if not self.open:
            self.end()
        elif aside:
            self.changed()
