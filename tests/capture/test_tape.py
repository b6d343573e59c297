"""The tape: its text, its verifier, and what segments make of it.

Oracles: the verifier for every tape that random programs record; the interpreter of tapes, NumPy
entry by entry, for what replays compute.
"""

import gc
import weakref
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given, settings

import runmat_jit as runmat
from runmat_jit.capture.record import tape_writer
from runmat_jit.capture.replay.segment import segment
from runmat_jit.capture.replay.steps import BatchStep, CallStep, FreeStep
from runmat_jit.capture.tape.entries import (
    AbstractValue,
    Call,
    Compute,
    CoveredCall,
    Flush,
    Free,
    Operation,
    Pattern,
    Ref,
    Return,
    View,
)
from runmat_jit.capture.tape.storage import Storage
from runmat_jit.capture.tape.text import to_text
from runmat_jit.capture.tape.verify_tape import TapeError, slots_of, verify_tape
from runmat_jit.ops.table import ROWS
from tests.capture.behavior import module
from tests.capture.random_programs import programs


@pytest.fixture
def tapes(monkeypatch):
    """The tapes that recordings finish, with the entries before each and its slots in use."""
    finished = []
    finish = tape_writer.TapeWriter.finish

    def kept(self, leave, size):
        made = finish(self, leave, size)
        finished.append((list(self.items), 0 if self.resume is None else self.resume.end))
        return made

    monkeypatch.setattr(tape_writer.TapeWriter, "finish", kept)
    return finished


def recorded(tapes, fn, *args):
    runmat.jit(fn)(*args)
    ((tape, _),) = tapes
    return tape


def test_a_tape_lists_operations_views_calls_and_marks_in_program_order(tapes):
    def sample(x):
        y = x * 2
        z = y[1:]
        z += 1
        return np.sort(z), y.sum()

    text = to_text(recorded(tapes, sample, np.arange(4.0)))
    assert text == (
        "%1 = mul(%0, 2)\n"
        "%2 = getitem(%1, slice(1, None, None)) (view)\n"
        "None = iadd(%2, 1)\n"
        "%3 = read global np\n"
        "name sort\n"
        "%4 = sort(%2)\n"
        "%5 = sum(%1)\n"
        "flush [(0, None)] -> [(4, False), (5, True)]\n"
        "free %2\n"
        "return tuple(%4, %5)\n"
    )


def test_every_tape_of_random_programs_is_valid(monkeypatch):
    finish, checked = tape_writer.TapeWriter.finish, []

    def verified(self, leave, size):
        start = 0 if self.resume is None else self.resume.end
        made = finish(self, leave, size)
        if self.resume is None:
            verify_tape(self.items, inputs_of(self.items, size), start)
            checked.append(1)
        return made

    monkeypatch.setattr(tape_writer.TapeWriter, "finish", verified)

    @settings(max_examples=max(15, settings.default.max_examples))
    @given(program=programs("exact"))
    def every_one(program):
        fn = runmat.jit(module(program.text, "random")["f"])
        with np.errstate(all="ignore"), suppress(Exception):  # as the program raises
            fn(*program.inputs())

    every_one()
    assert checked


def inputs_of(tape, size):
    """Slots of leaves: those below the first that an entry gives."""
    return min([size, *[slot for item in tape for slot in slots_of(item)[1]]])


def operation(number, out):
    """An operation of no operands."""
    meaning = Compute(ROWS["full"], (), {"shape": (3,)}, np.dtype(float), (3,))
    pattern = Pattern(meaning, AbstractValue(np.dtype(float), (3,), (8,), "array"))
    target = Storage(out, np.dtype(float), (3,), (8,)).geometry()
    return Operation(CoveredCall(pattern, np.zeros, (3,), {}), None, out, None, number, (), target)


FLUSH = Flush(None, ((0, None),), ((1, False),), frozenset(), writes=False, upto=1)


@pytest.mark.parametrize(
    ("tape", "message"),
    [
        ([], "ends with what is returned"),
        ([Call(np.sort, (Ref(3),), {}, Ref(1), None), Return(Ref(1))], "%3 is read before"),
        ([FLUSH, Return(Ref(1))], "computes what has been noted"),
        ([Return(Ref(0)), Return(Ref(0))], "nothing comes after"),
        ([Return(Ref(1))], "%1 is read before"),
    ],
    ids=["empty", "unknown slot", "early flush", "two ends", "unknown result"],
)
def test_a_tape_that_no_recording_writes_is_refused(tape, message):
    with pytest.raises(TapeError, match=message):
        verify_tape(tape, 1)


def test_operations_that_nothing_computes_are_refused():
    tape = [operation(0, 1), Return(Ref(0))]
    with pytest.raises(TapeError, match="computed by no flush"):
        verify_tape(tape, 1)
    with pytest.raises(TapeError, match="has the number"):
        verify_tape([operation(4, 1), FLUSH, Return(Ref(0))], 1)


def test_a_view_is_a_step_only_where_a_step_needs_it():
    view = View(np.transpose, (Ref(0),), {}, 1, None)
    alone = segment([view, Return(Ref(0))], 2)
    assert not alone.steps
    needed = segment([view, Return(Ref(1))], 2)
    (step,) = needed.steps
    assert type(step) is CallStep
    assert step.out == Ref(1)


def test_what_no_step_has_filled_is_not_freed():
    freed = segment([Free((5,)), Return(Ref(0))], 6)
    assert not freed.steps
    flush = Flush(None, (), ((5, False),), frozenset(), writes=False, upto=0, large=(5,))
    filled = segment([flush, Free((5,)), Return(Ref(0))], 6)
    assert [type(step) for step in filled.steps] == [BatchStep, FreeStep]


def test_tapes_hold_no_memory_of_the_recording(tapes):
    def sample(x):
        return np.exp(x) - x

    x = np.ones(10_000)
    decorated = runmat.jit(sample)
    decorated(x)
    gone = weakref.ref(x)
    del x
    gc.collect()
    assert gone() is None
