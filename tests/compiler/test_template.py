"""Templates. Oracle: the program that the compiler makes for the shape itself."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runmat_jit.compiler.compiler import Compiler, build
from runmat_jit.compiler.template import make_template
from runmat_jit.core.extent import Scope
from runmat_jit.core.types import TensorType, c_strides
from runmat_jit.graph.apply import apply
from runmat_jit.graph.node import Fresh, GraphBuilder, Into, Output
from runmat_jit.graph.renumber import concrete
from runmat_jit.graph.text import to_text
from runmat_jit.ops.table import ROWS
from runmat_jit.runtime.session import current_session

NONE = frozenset()
F32 = np.dtype("float32")


class Writer:
    """Builds a graph of one or two float32 matrices in C order, of any kind of extents."""

    def __init__(self, *shapes):
        self.builder = GraphBuilder()
        self.inputs = [
            self.builder.input(ROWS["input"], TensorType(F32, shape), c_strides(shape), None)
            for shape in shapes
        ]

    def __call__(self, name, *args, **params):
        node = apply(name, *args, **params)
        return self.builder.make(node.op, node.args, node.params, node.type)


def total(make, x, axis, *, keepdims=False):
    return make("sum", x, axis=axis, dtype="float32", keepdims=keepdims)


def softmax(make, x, _):
    high = make("max", x, axis=(1,), keepdims=True)
    powers = make("exp", make("subtract", x, high))
    return make("divide", powers, total(make, powers, (1,), keepdims=True))


def mean(make, x, _):
    return make("mean", x, axis=(0,), dtype="float32", keepdims=False)


PROGRAMS = {
    "chain": lambda make, x, y: make("add", make("exp", make("multiply", x, x)), y),
    "broadcast": lambda make, x, y: make("add", x, total(make, y, (0,))),
    "transposed": lambda make, x, _: make("log", make("transpose", x, axes=(1, 0))),
    "rows": lambda make, x, _: total(make, x, (1,)),
    "columns": lambda make, x, _: total(make, x, (0,)),
    "all": lambda make, x, _: total(make, make("square", x), (0, 1)),
    "softmax": softmax,
    "mean": mean,
}


def graph_of(program, shape, scope=None):
    if scope is not None:
        shape = tuple(map(scope.symbol, shape))
    make = Writer(shape, shape)
    result = program(make, *make.inputs)
    return make.builder.finish([Output(result, Fresh(tuple(range(result.type.ndim))))])


def template_of(program, shape):
    scope = Scope()
    made = make_template(Compiler(current_session()), graph_of(program, shape, scope), scope)
    return made, scope.function(made.numbers())


shapes = st.tuples(st.integers(2, 400), st.integers(2, 400))


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
@settings(max_examples=10)
@given(shapes, st.lists(shapes, min_size=1, max_size=4))
def test_a_template_gives_the_program_of_a_shape_or_refuses(program, first, others):
    made, function = template_of(program, first)
    assert function(*first) is not None
    for shape in (first, *others):
        numbers = function(*shape)
        if numbers is None:
            continue
        expected = build(current_session(), graph_of(program, shape), NONE)
        assert made.describes(expected, numbers)
        values = [np.random.default_rng(n).random(shape, F32) for n in range(2)]
        (left,) = made.at(numbers, shape).run(values, NONE)
        (right,) = expected.run(values, NONE)
        np.testing.assert_array_equal(left, right)


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_a_template_holds_for_neighbors_of_its_shape(program):
    _, function = template_of(program, (300, 777))
    assert function(301, 778) is not None


def test_a_template_does_not_describe_another_program():
    made, function = template_of(PROGRAMS["chain"], (30, 40))
    numbers = function(31, 41)
    other = build(current_session(), graph_of(PROGRAMS["transposed"], (31, 41)), NONE)
    assert not made.describes(other, numbers)
    same = build(current_session(), graph_of(PROGRAMS["chain"], (31, 42)), NONE)
    assert not made.describes(same, numbers)


def test_events_are_those_of_the_shape():
    made, function = template_of(PROGRAMS["transposed"], (30, 40))
    program = made.at(function(31, 41), (31, 41))
    x = np.ones((31, 41), F32)
    x[30, 40] = -1
    with pytest.warns(RuntimeWarning, match="invalid value encountered in log"):
        program.run([x, x], frozenset({"invalid"}))


def test_writes_go_to_their_place():
    scope = Scope()
    shape = (scope.symbol(6), scope.symbol(8))
    make = Writer(shape, shape)
    doubled = make("add", make.inputs[0], make.inputs[0])
    graph = make.builder.finish([Output(doubled, Into(1, 0, c_strides(shape)))])
    made = make_template(Compiler(current_session()), graph, scope)
    x, y = np.ones((7, 9), F32), np.zeros((7, 9), F32)
    made.at(scope.function(made.numbers())(7, 9), (7, 9)).run([x, y], NONE)
    np.testing.assert_array_equal(y, 2 * x)


def test_a_graph_of_symbols_is_the_graph_of_their_values():
    scope = Scope()
    graph = graph_of(softmax, (30, 40), scope)
    assert to_text(concrete(graph, scope, (31, 41))) == to_text(graph_of(softmax, (31, 41)))
