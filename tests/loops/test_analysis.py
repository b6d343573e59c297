"""Loops are analyzed, then emitted once. Oracle: kernels of an analysis from no first guess."""

from collections import Counter
from contextlib import suppress

import numpy as np
import pytest

import runmat_jit as runmat
from runmat_jit.kernel.text import to_text
from runmat_jit.loops import emit, nests, program
from runmat_jit.loops.values import Unknown
from tests.capture.behavior import module
from tests.capture.plain_hooks import function_from
from tests.loops import random_arrays, random_lists, random_loops

pytestmark = pytest.mark.sampled(3)

GENERATORS = {"elements": random_loops, "arrays": random_arrays, "lists": random_lists}


def nest(depth, last):
    """Return a function of ``depth`` loops in each other, with ``last`` in the innermost one."""
    lines = ["def fn(x, n):", "    t = 0.0"]
    lines += [4 * (k + 1) * " " + f"for i{k} in range(n):" for k in range(depth)]
    lines += [4 * (depth + 1) * " " + last, "    return t"]
    return module("\n".join([*lines, ""]))["fn"]


@pytest.mark.parametrize("depth", [1, 2, 4, 7])
def test_the_work_of_a_nest_grows_with_its_square(monkeypatch, depth):
    """Each level is analyzed twice at most, and once more where its code is written."""
    counts = Counter()
    for owner, name in ((nests, "turn"), (emit.Emission, "analyze"), (emit.Emission, "emit")):
        found = getattr(owner, name)
        counted = lambda *a, name=name, found=found, **k: (counts.update([name]), found(*a, **k))[1]
        monkeypatch.setattr(owner, name, counted)
    fn, n = nest(depth, "t = t + x[i0] * n"), 400 if depth == 1 else 3
    assert runmat.jit(fn)(np.ones(n), n) == fn(np.ones(n), n)
    assert counts["analyze"] == counts["emit"] == 1
    assert counts["turn"] <= 2 * depth * depth + 4


@pytest.mark.parametrize("which", GENERATORS)
@pytest.mark.parametrize("first", range(0, 40, 10))
def test_first_guesses_change_no_kernel(monkeypatch, which, first):
    """Guesses lie at or below the fixed point: what is found from them is what is found anew."""

    def result(*args, **options):
        try:
            return to_text(emit.emit(*args, **options).kernel)
        except Unknown as refused:
            return refused.why, refused.line

    def both(*args, **options):
        warm = result(*args, **options)
        with monkeypatch.context() as cold:
            cold.setattr(nests, "first_guess", lambda entry, _before: entry)
            compared.append((warm, result(*args, **options)))
        return emit.emit(*args, **options)

    compared = []
    monkeypatch.setattr(program, "emit", both)
    generator = GENERATORS[which]
    for seed in range(first, first + 10):
        text = generator.program(seed)
        fn = function_from(text if isinstance(text, str) else text[0], np=np)
        with suppress(Exception):
            runmat.jit(fn)(*generator.arguments(seed)())
    assert compared
    for warm, cold in compared:
        assert warm == cold
