"""Trials: warm calls are made both ways and timed, and what takes less without us is let through.

What a replay gains is reckoned in counts: operations of kernels, in calls of NumPy. Where that is
wrong for a program or a machine, the clock tells. A trial is of calls of one kind, no larger than
some size; neither way changes a result, so that a wrong finding costs time alone.
"""

from __future__ import annotations

from collections.abc import Callable
from statistics import median
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from runmat_jit.capture.replay.bailout import Kind, below, size_of
from runmat_jit.capture.replay.key import HoldsArrays, call_key
from runmat_jit.capture.tape.lines import hide_our_frames
from runmat_jit.core.frames import uncounted
from runmat_jit.core.locks import new_lock

if TYPE_CHECKING:
    from runmat_jit.capture.function import CapturedFunction

WARM: Final = 24
"""Calls before a trial: by then gates have been made."""
FIRST: Final = 5
"""Calls of ours that are timed first: whether there is a doubt."""
COLD: Final = 8
"""Calls without us that do not count: they may compile, and look at loops."""
PAIRS: Final = 6
"""Of calls, with and without us, that are compared."""
CALLS: Final = WARM + FIRST + COLD + 2 * PAIRS
"""Alike ones, after which there is a finding."""
MOST: Final = 400
"""Calls after which a trial ends that has not come to a finding."""
TRIALS: Final = 8
"""Of a function."""
CALL_S: Final = 15e-8
"""Seconds that a call of NumPy takes at least: what does so much work is beyond doubt."""
SHORT_S: Final = 1e-4
"""So short a call may be made in plain Python for once, whatever that takes."""
BEYOND: Final = 3.0
"""Times as long as ours: one such call without us ends a trial."""
LONG_S: Final = 0.01
"""What compiling a kernel takes, about."""
BETTER: Final = 0.95
"""Times as long as ours: what calls without us have to stay below."""


class Case(NamedTuple):
    """What a trial is of: calls of a kind, with less elements than some number."""

    kind: Kind
    below: int


class Trial:
    """The trials of one function.

    Args:
        captured: What is known of the function.
        applies: Whether decorated functions are more than plain Python, here and now.
        ended: Is called when there is no trial any more.
        clock: Seconds.

    """

    def __init__(
        self,
        captured: CapturedFunction,
        applies: Callable[[], bool],
        ended: Callable[[], None],
        clock: Callable[[], float] = perf_counter,
    ) -> None:
        self.captured, self.applies, self.ended, self.clock = captured, applies, ended, clock
        self.way: Callable[..., Any] = captured.fn
        """What makes calls now: a gate, or what replays and records."""
        self.active, self.trials, self.recorded = True, 1, 0
        self.judged: set[Case] = set()
        self._lock = new_lock()
        """Held in calls of a trial: those of other threads, or within one, go their way."""
        self.restart()

    def restart(self) -> None:
        """Begin a trial."""
        self.calls = 0
        self.case: Case | None = None
        self.without: Callable[..., Any] | None = None
        self.cold = COLD
        self.ours: list[float] = []
        self.others: list[float] = []

    def again(self) -> None:
        """Something has been recorded: others may be worth another trial."""
        recorded = self.captured.counts.recorded
        if self.active or self.trials >= TRIALS or recorded == self.recorded:
            return
        self.trials += 1
        self.restart()
        self.active = True

    def stop(self) -> None:
        """Try no more calls, until something is recorded."""
        self.active, self.recorded = False, self.captured.counts.recorded

    def end(self) -> None:
        """Let calls go their way."""
        self.stop()
        self.ended()

    @uncounted
    def call(self, /, *args: Any, **kwargs: Any) -> Any:
        """One call: most go their way."""
        self.calls += 1
        try:
            if self.calls <= WARM or not self._lock.acquire(blocking=False):
                return self.way(*args, **kwargs)
            try:
                return self.tried(args, kwargs)
            finally:
                self._lock.release()
        except BaseException as error:
            hide_our_frames(error)
            raise

    @uncounted
    def tried(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A call of the trial, if it is of its kind and size."""
        if self.active and self.calls > WARM + MOST:
            self.end()
        elif self.active and self.is_of_trial(args, kwargs):
            if len(self.ours) < FIRST:
                return self.timed(self.way, self.ours, args, kwargs)
            without = self.without or self.begun(args, kwargs)
            if without is not None:
                ours = not self.cold and len(self.ours) - FIRST <= len(self.others)
                if ours:
                    return self.timed(self.way, self.ours, args, kwargs)
                return self.timed(without, self.others, args, kwargs)
        return self.way(*args, **kwargs)

    def is_of_trial(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
        """Whether a call has the kind and size of the trial; the first one decides on them."""
        captured = self.captured
        if captured.capturer.active.tracer is not None or captured.reads_arrays:
            return False
        if not self.applies():
            return False
        try:
            call_key(None, args, kwargs)
        except (HoldsArrays, TypeError):
            return False
        case = Case(captured.bailout.kind(args, kwargs), below(size_of(args, kwargs)))
        if case in self.judged:
            return False
        self.case = self.case or case
        return case == self.case

    def begun(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Callable[..., Any] | None:
        """What makes calls without us; None where there is no doubt that it takes longer."""
        assert self.case is not None, "calls have been timed"
        work = self.captured.work_of(args, kwargs)
        without = self.captured.way_aside(self.case.kind)
        took = median(self.ours)
        compiles = without is not self.captured.fn or took > SHORT_S
        if without is None or (compiles and took < CALL_S * work):
            self.judge(aside=False)
            return None
        self.without = without
        return without

    @uncounted
    def timed(
        self,
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
            if counts:
                self.count(took, times)

    def count(self, took: float, times: list[float]) -> None:
        """Take the time of a call into account."""
        ours = median(self.ours or [took])
        if times is self.others and self.cold:
            self.cold -= 1
            again = self.cold < COLD - 1  # a matter of milliseconds is to compile, at first
            if took > BEYOND * ours and (ours > LONG_S or (again and took > LONG_S)):
                self.judge(aside=False)
            return
        times.append(took)
        if len(self.others) > 1 and min(self.others) > BEYOND * ours:
            self.judge(aside=False)
        elif len(self.others) == PAIRS and len(self.ours) >= FIRST + PAIRS:
            self.judge(aside=median(self.others) < BETTER * median(self.ours[FIRST:]))

    def judge(self, *, aside: bool) -> None:
        """End the trial with a finding."""
        assert self.case is not None, "calls have been timed"
        self.judged.add(self.case)
        case = self.case
        self.end()
        if aside:
            self.captured.step_aside(case.kind, case.below)
