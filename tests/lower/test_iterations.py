"""Turns of loops as loops of kernels. Oracle: the reference interpreter of the graph; kernels of
the CPU, which have none, to the bit."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runmat_jit.backends.reference.interpret import run
from runmat_jit.core.types import TensorType
from runmat_jit.graph.apply import apply
from runmat_jit.graph.constant import constant
from runmat_jit.graph.node import Fresh, GraphBuilder, Output
from runmat_jit.graph.text import to_text
from runmat_jit.kernel.walk import every_instruction
from runmat_jit.lower.lower import lower
from runmat_jit.ops.table import ROWS
from runmat_jit.plan.device import Device
from runmat_jit.plan.make_plan import make_plan
from tests.graph.random_graphs import bits_equal
from tests.lower.execute import compiled, execute, regions

GPU = Device("gpu")
F32, I64 = np.dtype(np.float32), np.dtype(np.int64)
BINARY = ("add", "subtract", "multiply", "minimum", "maximum")
DRAWS = ("random_uniform", "random_normal")
MANY = settings(max_examples=max(60, settings.default.max_examples), deadline=None)


class Program:
    """A graph that is made turn by turn: what a recording of a loop notes."""

    def __init__(self, extent, turns):
        self.builder, self.extent = GraphBuilder(), extent
        self.kind = TensorType(F32, (extent,))
        self.given = [self.input(self.kind, (1,)) for _ in range(2)]
        self.long = self.input(TensorType(F32, (3 * extent * (turns + 1),)), (1,))
        self.stream = [self.input(TensorType(I64, ()), None) for _ in range(2)]
        self.drawn = 0

    def input(self, kind, strides):
        return self.builder.input(ROWS["input"], kind, strides, None)

    def make(self, name, *args, **params):
        made = apply(name, *args, **params)
        return self.builder.make(made.op, made.args, made.params, made.type)

    def part(self, of, begin):
        return self.make("slice", of, starts=(begin,), steps=(1,), shape=(self.extent,))

    def draw(self, row):
        blocks = -(-self.extent // 4)
        begin = 4 * self.drawn
        self.drawn += blocks
        kind = TensorType(np.dtype(np.int32), (begin + self.extent,))
        count = self.builder.make(ROWS["iota"], (), {"start": 0, "step": 1}, kind)
        return self.make(row, self.part(count, begin), *self.stream, dtype="float32")

    def operand(self, what, number, known, turn):
        """What an operation takes: of this turn, of earlier ones, or from outside."""
        if what == "this":
            return known["this"][number % len(known["this"])]
        if what in ("last", "older"):
            return known[what][number % 2]
        if what == "given":
            return self.given[number % 2]
        if what == "constant":
            value = constant(np.float32(0.5 + number), F32)
            return self.builder.make(value.op, (), value.params, value.type)
        if what == "moving":
            return self.part(self.long, number + turn * self.extent)
        return self.draw(DRAWS[number % 2])

    def run(self, steps, turns, kept):
        """The graph of so many turns; ``kept``: turns of which values are asked for."""
        known = {"last": self.given, "older": self.given[::-1]}
        wanted = []
        for turn in range(turns):
            known["this"] = list(known["last"])
            for name, *operands in steps:
                args = [self.operand(*each, known, turn) for each in operands]
                known["this"].append(self.make(name, *args))
            known |= {"older": known["last"], "last": known["this"][-2:]}
            wanted += [known["last"][0]] if turn in kept else []
        outputs = [
            Output(each, Fresh(tuple(range(each.type.ndim)))) for each in (*wanted, *known["last"])
        ]
        return self.builder.finish(outputs)


operands = st.tuples(
    st.sampled_from(("this", "last", "last", "older", "given", "constant", "moving", "drawn")),
    st.integers(0, 3),
)
steps_of_a_turn = st.lists(
    st.tuples(st.sampled_from(BINARY), operands, operands), min_size=2, max_size=5
)


def arrays_for(graph, seed):
    rng = np.random.default_rng(seed)
    return [
        np.array(rng.integers(0, 2**40))
        if node.type.dtype == I64
        else rng.normal(size=node.type.shape).astype(F32)
        for node in graph.inputs
    ]


def loops_of(graph):
    """How many of its kernels have loops."""
    plan = make_plan(graph, regions(graph, device=GPU), GPU)
    kernels = [launch.kernel for region in plan.regions for launch in lower(region, plan)]
    return sum(any(i.op == "loop" for i in every_instruction(k.body)) for k in kernels)


@MANY
@given(
    steps_of_a_turn,
    st.sampled_from((7, 8, 12, 1)),
    st.integers(1, 9),
    st.sets(st.integers(0, 8), max_size=1),
    st.integers(0, 999),
)
def test_turns_are_computed_as_they_were_recorded(steps, extent, turns, kept, seed):
    graph = Program(extent, turns).run(steps, turns, kept)
    inputs = arrays_for(graph, seed)
    with np.errstate(all="ignore"):
        expected = run(graph, [each.copy() for each in inputs])
        unrolled, _ = execute(graph, [each.copy() for each in inputs])
        found, _ = execute(graph, [each.copy() for each in inputs], device=GPU)
    assert all(map(bits_equal, unrolled, found)), to_text(graph)
    if not any(what == "drawn" for _, *each in steps for what, _ in each):
        assert all(map(bits_equal, expected, found)), to_text(graph)


@settings(max_examples=8, deadline=None)
@given(steps_of_a_turn, st.sampled_from((7, 64)), st.integers(0, 999))
def test_native_code_of_them_gives_the_bits_of_the_interpreter(steps, extent, seed):
    graph = Program(extent, 6).run(steps, 6, ())
    inputs = arrays_for(graph, seed)
    found, _ = execute(graph, [each.copy() for each in inputs], device=GPU)
    native, _ = execute(graph, inputs, run=compiled, device=GPU)
    assert all(map(bits_equal, found, native)), to_text(graph)


LAST, THIS = ("last", 0), ("this", 2)


@pytest.mark.parametrize(
    ("steps", "kept", "loops"),
    [
        ([("multiply", LAST, ("given", 0)), ("add", ("last", 1), THIS)], (), 1),
        ([("add", ("last", 1), ("drawn", 0)), ("multiply", THIS, ("drawn", 1))], (), 1),
        ([("add", ("last", 1), ("moving", 0)), ("subtract", THIS, ("older", 0))], (), 1),
        ([("multiply", LAST, LAST), ("add", THIS, ("constant", 1))], (7,), 1),  # the last but one
        ([("multiply", LAST, LAST), ("add", THIS, ("constant", 1))], (2, 5), 0),  # ones within
    ],
)
def test_kernels_have_the_code_of_one_turn(steps, kept, loops):
    graph = Program(64, 9).run(steps, 9, kept)
    assert loops_of(graph) == loops


def test_truth_values_are_carried():
    program = Program(8, 7)
    x, y = program.given
    known = program.make("less", x, y)
    for _ in range(7):
        x = program.make("multiply", x, y)
        known = program.make("logical_or", known, program.make("less", x, y))
    outputs = [Output(each, Fresh((0,))) for each in (known, program.make("less", y, x))]
    graph = program.builder.finish(outputs)
    assert loops_of(graph) == 1
    inputs = arrays_for(graph, 3)
    expected = run(graph, [each.copy() for each in inputs])
    assert all(map(bits_equal, expected, execute(graph, inputs, device=GPU)[0]))


def test_a_value_of_before_that_all_turns_read_is_no_value_that_changes():
    """The first state is read by every turn, and is the state before the first one, too."""
    program = Program(8, 6)
    first = state = program.make("add", *program.given)
    for _ in range(6):
        state = program.make("multiply", state, first)
        state = program.make("add", state, first)
    graph = program.builder.finish([Output(state, Fresh((0,)))])
    inputs = arrays_for(graph, 1)
    (expected,) = run(graph, [each.copy() for each in inputs])
    (found,) = execute(graph, inputs, device=GPU)[0]
    assert bits_equal(expected, found)
