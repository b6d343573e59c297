"""Signal handlers at every point of a call: what they call, raise and fork leaves all as it was.

Signals are raised at chosen events of Python's profiler: these are the points at which the
interpreter looks for signals, and their numbers do not depend on how fast the machine is.
Oracle: the undecorated function, in the call, in the handler, in the child and afterwards.
"""

import itertools
import linecache
import os
import random
import signal
import sys

import numpy as np
import pytest

import runmat_jit as runmat
from tests.conftest import PROFILE

pytestmark = [
    pytest.mark.skipif(
        not sys.platform.startswith("linux"), reason="signals and children as on Linux"
    ),
    # Where a generator is being closed, Python can but tell of what a handler raises.
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
POINTS = 25 if PROFILE == "full" else 4
"""At which a call is interrupted, for each phase and each kind of handler."""
LIMIT_S = 60
SIGNAL = signal.SIGUSR1

TEXT = """
def helper(z):
    return {{"z": z * {c}, "list": [z - 1]}}

def f(x, y):
    z = np.sqrt(x * x + {c}) + y
    x[:2] += 1
    parts = helper(z)
    x *= 2
    if y.sum() > 0:
        return parts, np.cumsum(x)
    x -= {c}
    return np.tanh(parts["z"]) + x, "other"
"""
number = itertools.count()


def fresh():
    """A function that nobody has called, and its text nobody compiled."""
    n = next(number)
    text, name = TEXT.format(c=n + 0.5), f"<interrupted {n}>"
    linecache.cache[name] = len(text), None, text.splitlines(True), name
    namespace = {"np": np}
    exec(compile(text, name, "exec"), namespace)
    return runmat.jit(namespace["f"])


def arguments(sign):
    return np.linspace(1, 2, 5), sign * np.linspace(3, 4, 5)


def expected_of(function, sign):
    args = arguments(sign)
    return function.__wrapped__(*args), args


def same(a, b):
    if isinstance(a, dict):
        return type(b) is dict and list(a) == list(b) and all(same(a[k], b[k]) for k in a)
    if isinstance(a, list | tuple):
        return type(a) is type(b) and len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, np.ndarray):
        return type(b) is np.ndarray and a.dtype == b.dtype and np.allclose(a, b, rtol=1e-13)
    return type(a) is type(b) and a == b


def is_right(function, sign):
    args = arguments(sign)
    return same((function(*args), args), expected_of(function, sign))


def states(function, sign):
    """Contents that the first argument may have where a call is interrupted."""
    x, _ = arguments(sign)
    found = [x.copy()]
    x[:2] += 1
    found.append(x.copy())
    x *= 2
    found.append(x.copy())
    if sign < 0:
        found.append(expected_of(function, sign)[1][0])
    return found


class Interrupt(BaseException):
    pass


class Trial:
    """A call that is interrupted at one point."""

    def __init__(self, kind):
        self.kind, self.function, self.other = kind, fresh(), WARM[0]
        self.faults, self.child, self.inside = [], None, False
        self.reached = 0

    def handler(self, number, frame):
        if self.kind == "same":
            self.note(is_right(self.function, 1) and is_right(self.function, -1))
        elif self.kind == "other":
            self.note(is_right(self.other, 1))
        elif self.kind == "fresh":
            self.note(is_right(fresh(), 1))
        elif self.kind == "fork":
            self.child = os.fork()
            if not self.child:
                signal.alarm(LIMIT_S)
            self.note(is_right(self.other, 1))
        else:
            raise Interrupt

    def note(self, good):
        if not good:
            self.faults.append("wrong in the handler")

    def run(self, phase, point):
        before = signal.signal(SIGNAL, self.handler)
        try:
            for sign in PHASES[phase][:-1]:
                assert is_right(self.function, sign)
            self.interrupted(PHASES[phase][-1], point)
            for sign in (1, -1, 1, -1):
                if not is_right(self.function, sign):
                    self.faults.append("wrong afterwards")
        except BaseException as error:
            if self.child != 0:
                raise
            self.faults.append(repr(error))
        finally:
            if self.child == 0:
                os.write(2, f"{self.faults}\n".encode() if self.faults else b"")
                os._exit(bool(self.faults))
            signal.signal(SIGNAL, before)
        if self.child is not None:
            status = os.waitpid(self.child, 0)[1]
            if status:
                self.faults.append(f"the child ended with {status}")

    def interrupted(self, sign, point):
        """One call, with a signal at its n-th event; ``reached``: how many there were."""

        def look(frame, event, argument):
            self.reached += 1
            if self.reached == point:
                signal.raise_signal(SIGNAL)

        args = arguments(sign)
        sys.setprofile(look)
        try:
            result = self.function(*args)
        except Interrupt:
            result = Interrupt
        finally:
            sys.setprofile(None)
        if result is not Interrupt:
            if not same((result, args), expected_of(self.function, sign)):
                self.faults.append("wrong in the call")
            return
        if not any(same(args[0], state) for state in states(self.function, sign)):
            self.faults.append(f"half written: {args[0]}")


PHASES = {"recorded": (1,), "replayed": (1, 1), "another branch": (1, 1, -1)}
"""Signs of the calls; the last one is interrupted."""
WARM = []


@pytest.fixture(autouse=True)
def no_hang():
    def stop(number, frame):
        raise TimeoutError(f"nothing for {LIMIT_S} s")

    WARM[:] = [fresh()]
    assert is_right(WARM[0], 1)
    before = signal.signal(signal.SIGALRM, stop)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


def points(phase):
    """Points in a call, spread over all of it."""
    trials = [Trial("none") for _ in range(4)]
    for trial in trials:
        trial.run(phase, 0)
    fewest = min(trial.reached for trial in trials)  # the others did what a process does but once
    rng = random.Random(phase)  # noqa: S311  (no secret)
    step = max(1, fewest // POINTS)
    return [low + rng.randrange(step) for low in range(1, fewest, step)]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("phase", PHASES)
@pytest.mark.parametrize("kind", ["same", "other", "fresh", "raise", "fork"])
def test_a_call_is_interrupted_at_any_point(phase, kind):
    faults, reached = [], 0
    chosen = points(phase)
    for point in chosen:
        signal.alarm(LIMIT_S)
        trial = Trial(kind)
        trial.run(phase, point)
        reached += trial.reached >= point
        faults += [(point, fault) for fault in trial.faults]
    assert faults == []
    assert reached > len(chosen) // 2
