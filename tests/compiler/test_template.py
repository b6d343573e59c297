"""Templates. Oracle: the program that the compiler makes for the shape itself."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runmat_jit.compiler.compile_graph import compile_graph
from runmat_jit.compiler.compiler import Compiler
from runmat_jit.compiler.dynamic_program import make_dynamic_program
from runmat_jit.compiler.template import DYNAMIC_LIMIT, STATIC_LIMIT, Template
from runmat_jit.core.extent import Scope
from runmat_jit.core.types import TensorType, c_strides
from runmat_jit.graph.apply import apply
from runmat_jit.graph.node import Fresh, GraphBuilder, Into, Output
from runmat_jit.graph.renumber import concrete
from runmat_jit.graph.text import to_text
from runmat_jit.ops.table import ROWS
from runmat_jit.runtime.session import current_session

pytestmark = pytest.mark.sampled(2)

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
    return Template(Compiler(current_session()), graph_of(program, shape, scope), scope)


def dynamic(template, shape):
    session, report = template.compiler.session, template.report
    return make_dynamic_program(session, template.graph, template.scope, shape, report)


def program_of(program, shape):
    return dynamic(template_of(program, shape), shape)


def operands(shape):
    return [np.random.default_rng(n).random(shape, F32) for n in range(2)]


def compiled(program, shape, values):
    (result,) = compile_graph(current_session(), graph_of(program, shape)).run(values, NONE)
    return result


near = st.sampled_from([n * 16384 + d for n in (1, 2, 5) for d in (-1, 0, 1)])
shapes = st.tuples(st.integers(2, 400), st.integers(2, 400)) | st.tuples(st.integers(2, 9), near)
parametrized = pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)


@parametrized
@settings(max_examples=10)
@given(shapes, st.lists(shapes, min_size=1, max_size=4))
def test_a_dynamic_program_is_that_of_a_shape_or_refuses(program, first, others):
    made = program_of(program, first)
    assert made.holds(first)
    for shape in (first, *others):
        values = operands(shape)
        found = made.run(values, NONE, *shape)
        assert (found is None) is not made.holds(shape)
        if found is not None:
            assert made.describes(compile_graph(current_session(), graph_of(program, shape)), shape)
            np.testing.assert_array_equal(found[0], compiled(program, shape, values))


@parametrized
@settings(max_examples=5)
@given(st.lists(shapes, min_size=4, max_size=10))
def test_a_template_runs_any_shapes_in_any_order(program, found):
    template = template_of(program, (30, 40))
    for shape in filter(template.scope.values, (*found, *reversed(found))):
        values = operands(shape)
        (ours,) = template.run(shape, values, NONE)
        np.testing.assert_array_equal(ours, compiled(program, shape, values))
    assert len(template.dynamic) + len(template._untried) <= DYNAMIC_LIMIT


def test_a_template_keeps_a_bounded_number_of_programs():
    template = template_of(PROGRAMS["all"], (30, 40))
    template._failures = 3  # so that each shape has a program of its own
    for n in range(2, STATIC_LIMIT + 20):
        template.run((n, 3), operands((n, 3)), NONE)
    assert len(template._static) == STATIC_LIMIT
    assert not template.dynamic


def test_the_second_shape_is_compiled_and_the_third_is_not():
    template = template_of(PROGRAMS["softmax"], (300, 777))
    count = current_session().telemetry.snapshot
    before = count()["programs_built"]
    for n in range(300, 310):
        template.run((n, 777), operands((n, 777)), NONE)
    assert count()["programs_built"] == before + 2
    assert len(template.dynamic) == 1


def test_a_dynamic_program_is_tried_by_another_shape_than_its_own():
    template = template_of(PROGRAMS["chain"], (30, 40))
    for _ in range(3):
        template.prepare((30, 40))
    assert not template.dynamic
    template.prepare((31, 41))
    assert len(template.dynamic) == 1


def test_a_dynamic_program_that_is_wrong_is_never_run(monkeypatch):
    template = template_of(PROGRAMS["chain"], (30, 40))
    monkeypatch.setattr(
        "runmat_jit.compiler.dynamic_program.DynamicProgram.describes", lambda *_: False
    )
    for n in range(30, 50):
        values = operands((n, 40))
        (ours,) = template.run((n, 40), values, NONE)
        np.testing.assert_array_equal(ours, compiled(PROGRAMS["chain"], (n, 40), values))
    assert not template.dynamic
    assert not template._untried


@parametrized
def test_a_dynamic_program_holds_for_neighbors_of_its_shape(program):
    assert program_of(program, (300, 777)).holds((301, 778))


def test_a_dynamic_program_does_not_describe_another_program():
    made = program_of(PROGRAMS["chain"], (30, 40))
    other = compile_graph(current_session(), graph_of(PROGRAMS["transposed"], (31, 41)))
    assert not made.describes(other, (31, 41))
    same = compile_graph(current_session(), graph_of(PROGRAMS["chain"], (31, 42)))
    assert not made.describes(same, (31, 41))
    assert made.describes(same, (31, 42))


def test_a_template_describes_graphs_of_its_formulas():
    template = template_of(PROGRAMS["chain"], (30, 40))
    same = compile_graph(current_session(), graph_of(PROGRAMS["chain"], (31, 42)))
    other = compile_graph(current_session(), graph_of(PROGRAMS["softmax"], (31, 42)))
    assert template.describes(same, (31, 42))
    assert not template.describes(same, (31, 41))
    assert not template.describes(other, (31, 42))


def test_graphs_of_equal_formulas_have_one_template():
    compiler = Compiler(current_session())

    def template(name, shape):
        scope = Scope()
        return compiler.template(graph_of(PROGRAMS[name], shape, scope), scope)

    assert template("chain", (30, 40)) is template("chain", (50, 60))
    assert template("chain", (30, 40)) is not template("softmax", (30, 40))


def test_events_are_those_of_the_shape():
    template = template_of(PROGRAMS["transposed"], (30, 40))
    template.prepare((30, 40))
    template.prepare((32, 42))
    x = np.ones((31, 41), F32)
    x[30, 40] = -1
    (made,) = template.dynamic
    with pytest.warns(RuntimeWarning, match="invalid value encountered in log"):
        made.run([x, x], frozenset({"invalid"}), 31, 41)
    x[30, 40] = 1
    made.run([x, x], frozenset({"invalid"}), 31, 41)  # what happened is forgotten


def test_writes_go_to_their_place():
    scope = Scope()
    shape = (scope.symbol(6), scope.symbol(8))
    make = Writer(shape, shape)
    doubled = make("add", make.inputs[0], make.inputs[0])
    graph = make.builder.finish([Output(doubled, Into(1, 0, c_strides(shape)))])
    made = dynamic(Template(Compiler(current_session()), graph, scope), (6, 8))
    x, y = np.ones((7, 9), F32), np.zeros((7, 9), F32)
    made.run([x, y], NONE, 7, 9)
    np.testing.assert_array_equal(y, 2 * x)


def test_large_results_and_temporaries_are_those_of_the_shape():
    made = program_of(PROGRAMS["softmax"], (64, 2000))
    for rows in (64, 3000, 65):  # below, above and below what memory is recycled from
        values = operands((rows, 2000))
        (found,) = made.run(values, NONE, rows, 2000)
        np.testing.assert_array_equal(found, compiled(softmax, (rows, 2000), values))


def test_a_graph_of_symbols_is_the_graph_of_their_values():
    scope = Scope()
    graph = graph_of(softmax, (30, 40), scope)
    assert to_text(concrete(graph, scope, (31, 41))) == to_text(graph_of(softmax, (31, 41)))
