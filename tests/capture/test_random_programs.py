"""Random programs. Oracles: undecorated Python for everything a caller sees; the interpreter of
tapes for what a compiled replay does to memory, bit for bit.
"""

import os
import warnings

import numpy as np
import pytest
from hypothesis import given, settings

import runmat_jit as runmat
from runmat_jit.capture.replay.interpret import interpret
from runmat_jit.capture.replay.key import call_key
from tests.capture.behavior import bits_of, compare, compare_values, module, observe, sharing
from tests.capture.random_programs import programs

EXAMPLES = 15 if os.environ.get("RUNMAT_TEST_PROFILE", "default") == "default" else 1000
CALLS = (0, 0, 1, 0)


def call_all(program, exact):
    """Compare calls of both functions; the decorated one is given back."""
    fn = module(program.text, "random")["f"]
    decorated = runmat.jit(fn)
    bits = {}
    for change in CALLS:
        expected = observe(fn, program.inputs(change), {})
        found = observe(decorated, program.inputs(change), {})
        compare(expected, found, exact=exact)
        again = bits_of((found.result, found.args))
        assert bits.setdefault(change, again) == again, "the bits depend on the call"
    return decorated


@settings(max_examples=EXAMPLES)
@given(program=programs("exact"))
def test_programs_of_exact_operations_give_numpys_bits(program):
    call_all(program, exact=True)


@settings(max_examples=EXAMPLES)
@given(program=programs("smooth"))
def test_programs_of_smooth_operations_give_numpys_values(program):
    call_all(program, exact=False)


@settings(max_examples=EXAMPLES)
@given(program=programs("complex"))
def test_programs_of_complex_numbers_give_numpys_bits(program):
    call_all(program, exact=True)


@settings(max_examples=EXAMPLES)
@given(program=programs("exact"))
def test_replays_do_what_the_tape_says(program):
    decorated = runmat.jit(module(program.text, "random")["f"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            decorated(*program.inputs())
        except Exception:
            return
        roots = [record.root for record in decorated._captured[1].records.values()]
        if not any(root.outcomes for root in roots):
            return
        replayed, interpreted = program.inputs(1), program.inputs(1)
        before = decorated.cache_info().hits
        result = decorated(*replayed)
        if decorated.cache_info().hits == before:
            return
        _, leaves, _ = call_key(None, interpreted, {})
        expected = interpret(roots[0], leaves)
    compare_values((expected, interpreted), (result, replayed), "", exact=True)
    assert sharing((result, replayed)) == sharing((expected, interpreted))


@pytest.mark.parametrize("overlap", ["a", "a[::-1]", "a[1:]", "a[:-1]", "a[::2]", "a.copy()"])
def test_overlapping_writes_are_interpreted_and_replayed_alike(overlap):
    def fn(a, b):
        c = a[: b.shape[0]] + b
        b[1:] += a[: b.shape[0] - 1]
        a[: b.shape[0]] -= b[::-1] * 2
        return c, b[:2], a.T

    decorated = runmat.jit(fn)
    inputs = []
    for _ in range(4):
        a = np.arange(8.0)
        inputs.append((a, eval(overlap, {"a": a})))
    decorated(*inputs[0])
    root = next(iter(decorated._captured[1].records.values())).root
    replayed = decorated(*inputs[1])
    interpreted = interpret(root, call_key(None, inputs[2], {})[1])
    plain = fn(*inputs[3])
    assert bits_of((replayed, inputs[1])) == bits_of((interpreted, inputs[2]))
    assert bits_of((replayed, inputs[1])) == bits_of((plain, inputs[3]))
    assert sharing((replayed, inputs[1])) == sharing((plain, inputs[3]))
