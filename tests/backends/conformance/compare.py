"""What a run of a kernel leaves behind, beside what the interpreter of kernels leaves."""

import numpy as np

from runmat_jit.kernel.interpret import Memory, interpret


def check(kernel, run, arguments, lo, hi):
    """``run`` and the interpreter leave the same memory and see the same events; the memory."""
    found, expected = ({k: copied(v) for k, v in arguments.items()} for _ in range(2))
    event = run(found, lo, hi)
    wanted = interpret(kernel, expected, (lo, hi))
    for name, argument in expected.items():
        if isinstance(argument, np.ndarray | Memory):
            got, want = elements(found[name]), elements(argument)
            assert same(got, want), message(name, got, want)
    assert event == wanted
    return expected


def message(name, got, want):
    places = np.flatnonzero(~equal(got, want))
    rows = [(int(i), got[i], want[i]) for i in places[:6]]
    return f"{name} differs in {places.size} of {got.size}: {rows}"


def equal(a, b):
    """Which elements have equal bits, all NaN taken as one (their signs and payloads are open)."""
    kind = f"u{a.itemsize}"
    bits = a.view(kind) == b.view(kind)
    return bits | (np.isnan(a) & np.isnan(b)) if a.dtype.kind == "f" else bits


def same(a, b):
    return bool(equal(a, b).all())


def copied(argument):
    if isinstance(argument, Memory):
        return Memory(argument.elements.copy(), argument.origin)
    return argument.copy() if isinstance(argument, np.ndarray) else argument


def elements(argument):
    return argument.elements if isinstance(argument, Memory) else argument
