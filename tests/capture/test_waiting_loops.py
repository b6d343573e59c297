"""Loops that wait for the world end as in plain Python, whoever changes it.

The oracle is that they end: in plain Python each of these loops ends soon after the change. Each is
called several times, so that first calls, repeated ones and those after are among them.
"""

import collections
import queue
import signal
import threading
import time
from functools import partial

import numpy as np
import pytest

import runmat_jit as runmat
from tests.capture.behavior import module
from tests.conftest import PROFILE

pytestmark = pytest.mark.sampled(4)

FULL = PROFILE == "full"
TIMEOUT = 20

KINDS = {
    "a global": ("RUN", "globals()['RUN'] = False"),
    "a closure cell": ("cell", "stop()"),
    "an attribute": ("HOLDER.run", "HOLDER.run = False"),
    "an attribute of an argument": ("holder.run", "holder.run = False"),
    "a class attribute": ("Holder.go", "Holder.go = False"),
    "a property": ("holder.going", "holder.run = False"),
    "a method": ("holder.goes()", "holder.run = False"),
    "an element": ("STOP[0] == 0", "STOP[0] = 1"),
    "an item": ("FLAGS['run']", "FLAGS['run'] = False"),
    "an item of an argument": ("holder.flags['run']", "holder.flags['run'] = False"),
    "a length": ("len(ITEMS)", "ITEMS.clear()"),
    "a truth": ("ITEMS", "ITEMS.clear()"),
    "a truth of an attribute": ("holder.items", "holder.items.pop()"),
    "membership": ("'a' in ITEMS", "ITEMS.remove('a')"),
    "an iteration": ("[i for i in ITEMS]", "ITEMS.clear()"),
    "a set": ("SET", "SET.clear()"),
    "a deque": ("DEQUE", "DEQUE.clear()"),
    "an event": ("not EVENT.is_set()", "EVENT.set()"),
    "a queue": ("QUEUE.empty()", "QUEUE.put(1)"),
    "a lock": ("LOCK.locked()", "LOCK.release()"),
    "a clock": ("time.time() < UNTIL", "pass"),
    "a draw about an attribute": ("RNG.normal(HOLDER.run * 99.0) > 50", "HOLDER.run = False"),
    "a draw beside an attribute": ("RNG.random() < holder.run", "holder.run = False"),
    "a function that is called as a draw": ("np.power(HOLDER.run, 1.0) > 0", "HOLDER.run = False"),
    "getattr": ("getattr(HOLDER, 'run')", "HOLDER.run = False"),
}
WAYS = {
    "a bare spin": "pass",
    "operations": "x = x * 0.5 + 1",
    "a pause": "time.sleep(0.0005)",
    "a lock": "with MUTEX:\n                x = x + 1",
    "output": "print(end='')",
    "a call": "exec('0')",
    "a function of the user's": "x = half(x)",
}
CHANGERS = ("a thread", "a signal", "a callback", "a method")
PROGRAM = """
import time
class Holder:
    go = True
    def __init__(self):
        self.run, self.flags, self.items = True, {{"run": True}}, ["a"]
    @property
    def going(self):
        return self.run
    def goes(self):
        return self.run
def half(x):
    return x * 0.5
def make():
    cell = True
    def stop():
        nonlocal cell
        cell = False
    def {name}(x, holder):
        turns = 0
        while {test}:
            {wait}
            turns += 1
            {own}
        return x * 2 + 1
    def change(holder):
        {act}
    return {name}, change
"""
FOR = "for turns in range(10**12):\n            if not ({test}):\n                break"
CASES = [(kind, way, changer) for kind in KINDS for way in WAYS for changer in CHANGERS]
NATIVE = [(kind, "operations", "a thread") for kind in KINDS]
"""What would run natively, if nobody were waited for."""


def is_case(kind, changer):
    """Not a handler that uses the queue it interrupts: Python, too, would wait for its lock."""
    if kind == "a queue" and changer == "a signal":
        return False
    return not (kind == "a clock" and changer != "a thread")


def world(namespace):
    """What the loops wait for, before anybody has changed it."""
    holder = namespace["Holder"]()
    namespace["Holder"].go = True
    lock = threading.Lock()
    lock.acquire()
    namespace.update(
        RUN=True,
        HOLDER=namespace["Holder"](),
        FLAGS={"run": True},
        ITEMS=["a"],
        SET={1},
        DEQUE=collections.deque([1]),
        EVENT=threading.Event(),
        QUEUE=queue.Queue(),
        LOCK=lock,
        RNG=np.random.default_rng(1),
        MUTEX=threading.Lock(),
        STOP=np.zeros(1, "i8"),
        UNTIL=time.time() + 0.02,
    )
    return holder


class StillWaitingError(BaseException):
    """The loop has not ended."""


def alarmed(_number, _frame):
    raise StillWaitingError


@pytest.mark.parametrize("shape", ["while", "for"])
@pytest.mark.parametrize(
    ("kind", "way", "changer"),
    [
        *NATIVE,
        *[c for c in CASES if is_case(c[0], c[2]) and c not in NATIVE][:: 5 if FULL else 9],
    ],
)
def test_a_loop_that_waits_ends(kind, way, changer, shape):
    test, act = KINDS[kind]
    calling = "exec('C(h)', {'C': CHANGE, 'h': holder})"
    calling = calling if changer == "a callback" else "CHANGE(holder)"
    calls = changer in ("a callback", "a method")
    own = f"if turns == 3:\n                {calling}" if calls else "pass"
    text = PROGRAM.format(name="f", test=test, wait=WAYS[way], own=own, act=act)
    if shape == "for":
        text = text.replace(f"while {test}:", FOR.format(test=test)).replace("turns += 1", "pass")
    namespace = module(text)
    decorated = None
    before = signal.signal(signal.SIGALRM, alarmed)
    try:
        for number in range(3):
            holder = world(namespace)
            fn, namespace["CHANGE"] = namespace["make"]()
            decorated = runmat.jit(fn) if decorated is None or "cell" in test else decorated
            change = namespace["CHANGE"]
            if number == 1 and kind != "a clock":  # nothing to wait for
                change(holder)
                namespace["CHANGE"] = lambda _holder: None
                call(decorated, holder)
                continue
            if changer == "a thread":
                threading.Timer(0.02, change, (holder,)).start()
            elif changer == "a signal":
                signal.signal(signal.SIGUSR1, lambda *_, h=holder, c=change: c(h))
                ident = threading.get_ident()
                threading.Timer(0.02, signal.pthread_kill, (ident, signal.SIGUSR1)).start()
            call(decorated, holder)
    finally:
        signal.signal(signal.SIGALRM, before)


def call(decorated, holder):
    signal.alarm(TIMEOUT)
    try:
        result = decorated(np.ones(3), holder)
    finally:
        signal.alarm(0)
    assert result.shape == (3,)


def test_what_a_repeated_call_waits_for_is_looked_at_again(monkeypatch):
    """The pause is repeated without Python; what is read after it decides what comes next."""
    flags, changes = {"run": False}, []

    class Holder:
        scale = 1.0

    holder = Holder()

    def pause(_seconds):
        for change in changes:
            change()

    def fn(x, flags):
        first = holder.scale
        time.sleep(0.03)
        return x * holder.scale + first, flags["run"]

    monkeypatch.setattr(time, "sleep", pause)
    decorated = runmat.jit(fn)
    for number in range(6):
        flags["run"], holder.scale, changes[:] = False, 1.0, []
        if number % 2:
            changes.append(partial(setattr, holder, "scale", float(number)))
            changes.append(partial(flags.update, run=True))
        scaled, run = decorated(np.ones(2), flags)
        assert scaled.tolist() == [number + 1.0 if number % 2 else 2.0] * 2
        assert run is bool(number % 2)
    assert decorated.cache_info().hits


def test_what_was_changed_before_a_pause_is_seen_by_others():
    def fn(x, asked, done):
        asked.append(x * 2)
        while not done:
            time.sleep(0.001)
        return done[0] + x

    decorated = runmat.jit(fn)
    for _ in range(3):
        asked, done = [], []

        def answer(asked=asked, done=done):
            while not asked:
                time.sleep(0.001)
            done.append(asked[0] * 2)

        other = threading.Thread(target=answer)
        other.start()
        assert decorated(np.ones(2), asked, done).tolist() == [5.0, 5.0]
        other.join(TIMEOUT)
