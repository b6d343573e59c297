"""Programs of one effect and one ending each, and what a caller sees of a row of their calls.

A program has its effect before the ending and after it, so that each may happen once, twice or
never. ``WAYS`` are calls before the one that ends otherwise: with them a function is recorded,
replayed, replayed by native code, bypassed.
"""

import collections
import io
import itertools
import linecache
import signal
import types
import warnings
import zlib
from contextlib import redirect_stdout

import numpy as np

import runmat_jit as runmat

EFFECTS = {
    "print": "print('seen', s.n)",
    "append": "s.items.append(len(s.items))",
    "pop": "s.items.pop()",
    "attribute": "s.n += 1",
    "dict": "s.counts['k'] = s.counts.get('k', 0) + 1",
    "counter": "s.counter['k'] += 1",
    "global": "TOTAL[0] += 1",
    "rebound": "NUMBER += 1",
    "array": "s.b += 1",
    "argument": "x += 1",
    "element": "s.b[2] = s.b[2] + 1",
    "draw": "s.drawn = s.rng.standard_normal()",
    "draws": "s.drawn = s.rng.random(3)",
    "own draws": "s.drawn = s.own.random(3)",
    "legacy": "s.drawn = np.random.random()",
    "next": "s.last = next(s.turns)",
    "write": "s.file.write('line\\n')",
    "warn": "warnings.warn('told')",
    "method": "s.tell()",
    "closure": "s.told()",
    "numpy warning": "s.last = np.log(s.b[0] - s.b[0])",
    "sort": "s.b[::-1].sort()",
    "set": "s.seen.add(len(s.seen))",
    "deque": "s.queue.append(s.queue.popleft() + 1)",
    "format": "s.items.append(f'{s.n}: {len(s.items)}')",
}
"""Statements with an effect that lasts."""

ENDINGS = {
    "user": "raise ValueError(7)",
    "bare": "raise UnusualError(x.shape)",
    "base": "raise Final(1)",
    "interrupt": "raise KeyboardInterrupt",
    "signal": "signal.raise_signal(signal.SIGINT)",
    "exit": "raise SystemExit(3)",
    "assertion": "assert x is None, 'no'",
    "division": "1 // (s.n - s.n)",
    "index": "x[len(x) + 3]",
    "key": "s.counts['absent']",
    "attribute": "s.absent",
    "type": "x + s",
    "shape": "x.reshape(7, -1)",
    "broadcast": "x + np.ones(len(x) + 2)",
    "library": "np.linalg.inv(np.zeros((2, 2)))",
    "stop": "next(iter(()))",
    "floating": "with np.errstate(all='raise'): np.log(x * 0 - 1)",
    "callback": "s.fail()",
    "name": "undefined_name",
    "recursion": "s.deep(s)",
    "caught": "try:\n    s.fail()\nexcept ValueError as e:\n    s.n += 1",
}
"""Statements that end a call, but for the last."""

BODIES = {
    "small": "y = x * 2.0 + 1.0",
    "ours": "y = np.exp(x * 0.01) + np.sin(x)",
    "host": "y = np.sort(x * 2.0)",
    "scalar": "y = float(x[0]) * 2.0",
    "guard": "y = x + 1.0 if x[0] > -1e9 else x",
    "loop": "y = x\n    for k in range(3): y = y * 0.5 + k",
}
"""What is computed before."""

SIZES = {"few": 5, "many": 40_000}
WAYS = (0, 1, 2, 4, 30, 70)
"""Calls before the one that ends otherwise."""

TEXT = """
def program(x, s, ends):
    {declared}
    {body}
    {effect}
    if ends:
        {ending}
    z = y * 3.0
    {effect}
    return z
"""
LOOP = """
def program(x, s, ends):
    {declared}
    total = 0.0
    y = x * 1.0
    for k in range(400):
        total += x[k % 4] * 0.5
        if k % 200 == 150:
            {effect}
        if ends and k == 300:
            {ending}
    return total, y
"""
NATIVE = """
def program(x, s, ends):
    {declared}
    {effect}
    total = 0.0
    for k in range(4000):
        total += x[k % 4] * 0.5
        if ends and k == 3000:
            {ending}
    {effect}
    return total
"""
"""The loop runs natively where its ending is one that native loops know; else as it stands."""
TEXTS = {"straight": TEXT, "loop": LOOP, "native": NATIVE}


class UnusualError(Exception):
    """Of a class that Python does not know."""


class Final(BaseException):
    """What ``except Exception`` lets pass."""


def state(rng_seed=3):
    """What the effects change."""
    s = types.SimpleNamespace()
    s.n, s.items, s.counts, s.counter = 0, list(range(2000)), {}, collections.Counter()
    s.b, s.drawn, s.last = np.arange(6.0) + 1, None, None
    s.rng, s.own = np.random.default_rng(rng_seed), runmat.random.default_rng(rng_seed)
    s.turns, s.file, s.seen = itertools.count(), io.StringIO(), set()
    s.queue, s.calls = collections.deque([1, 2, 3]), []
    np.random.seed(rng_seed)

    def told():
        s.calls.append("told")

    def fail():
        s.calls.append("fail")
        raise ValueError("callback")

    def deep(s):
        s.calls.append("deep")
        raise RecursionError("deep")

    s.tell = types.MethodType(lambda s: s.calls.append("m"), s)
    s.told, s.fail, s.deep = told, fail, deep
    return s


def program(text, *, body, effect, ending):
    """Two equal functions of a program, each with globals of its own."""
    statement = EFFECTS[effect]
    declared = "global NUMBER" if effect == "rebound" else "pass"
    deeper = "\n" + (8 if text == "straight" else 12) * " "
    ends = ENDINGS[ending].replace("\n", deeper)
    source = TEXTS[text].format(declared=declared, body=BODIES[body], effect=statement, ending=ends)
    name = f"<program {zlib.crc32(source.encode())}>"
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    made = []
    for _ in range(2):
        namespace = {
            "np": np,
            "warnings": warnings,
            "signal": signal,
            "TOTAL": [0],
            "NUMBER": 0,
            "UnusualError": UnusualError,
            "Final": Final,
            "__name__": "programs",
        }
        exec(compile(source, name, "exec"), namespace)
        made.append(namespace["program"])
    return made


def seen_of(fn, namespace, calls, size):
    """Everything that a row of calls does, call by call."""
    s, x = state(), np.linspace(0.5, 2.0, size)
    found = []
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        for ends in calls:
            out = io.StringIO()
            with warnings.catch_warnings(record=True) as caught, redirect_stdout(out):
                warnings.simplefilter("always")
                try:
                    result = digest(fn(x, s, ends))
                except BaseException as error:  # noqa: BLE001  (whatever it is, both must raise it)
                    line = error.__traceback__.tb_next.tb_lineno
                    result = f"{type(error).__name__}: {error}", line
            warned = [(w.category.__name__, str(w.message), w.lineno) for w in caught]
            found.append(
                (
                    result,
                    out.getvalue(),
                    warned,
                    digest_of_state(s),
                    digest(x),
                    namespace["TOTAL"][0],
                    namespace["NUMBER"],
                )
            )
    finally:
        signal.signal(signal.SIGINT, handler)
    return found


def digest_of_state(s):
    """The state as text."""
    return (
        s.n,
        len(s.items),
        s.items[-1],
        dict(s.counts),
        dict(s.counter),
        digest(s.b),
        digest(s.drawn),
        digest(s.last),
        repr(s.turns),
        s.file.tell(),
        len(s.seen),
        list(s.queue),
        len(s.calls),
        s.rng.bit_generator.state["state"]["state"],
        digest(np.random.get_state()[1][:3]),
        np.random.get_state()[2],
    )


def digest(value):
    """A value as text: arrays rounded, since rows of ours need not have NumPy's bits."""
    if isinstance(value, tuple):
        return tuple(map(digest, value))
    if isinstance(value, (np.ndarray, float, np.floating)):
        array = np.asarray(value, float)
        return type(value).__name__, array.shape, np.round(array.ravel()[:5], 9).tolist()
    return repr(value)


def first_difference(text, *, body, effect, ending, size, way):
    """The first call that does something else than undecorated, and what; or None."""
    calls = [*[False] * way, True, False, True, True, False]
    plain, other = program(text, body=body, effect=effect, ending=ending)
    decorated = runmat.jit(other)
    expected = seen_of(plain, plain.__globals__, calls, SIZES[size])
    found = seen_of(decorated, other.__globals__, calls, SIZES[size])
    names = ("result", "printed", "warned", "state", "x", "total", "number")
    for number, (a, b) in enumerate(zip(expected, found, strict=True)):
        for name, one, two in zip(names, a, b, strict=True):
            if one != two:
                return f"call {number}: {name}: {two}, not {one}"
    return None
