"""Random graphs through lowering, on an adapter. Oracle: the same launches as native code."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runmat_jit.backends.wgpu.program import ProgramMemory, WgpuProgramRunner
from runmat_jit.core.types import TensorType, c_strides
from runmat_jit.graph.apply import apply
from runmat_jit.graph.node import Fresh, GraphBuilder, Output
from runmat_jit.graph.parse import parse
from runmat_jit.graph.text import to_text
from runmat_jit.lower.lower import lower
from runmat_jit.ops.table import ROWS
from runmat_jit.plan.argument import InputScalar
from runmat_jit.plan.make_plan import make_plan
from runmat_jit.plan.notes import RESULTS, RISES
from tests.backends.wgpu.shaders import findings, hardware_runner, need_the_cpus_bits, runner
from tests.graph.random_graphs import EXACT_ROWS, OURS, SUMS, arrays, bits_equal, graphs
from tests.lower.execute import compiled, execute, prepared, regions

pytestmark = pytest.mark.usefixtures("adapter")


def on_the_adapter(graph, inputs, using=None, notes=RESULTS):
    """The graph's outputs that are stored nodes, by node, and the word of events."""
    using = using or runner()
    plan = replace(make_plan(graph, regions(graph)), notes=notes)
    launches = [launch for region in plan.regions for launch in lower(region, plan)]
    memory = using.backend.memory
    given_by_value = {
        a.node for launch in launches for a in launch.arguments if isinstance(a, InputScalar)
    }
    held, scalars = {}, {}
    for number, node in enumerate(graph.inputs):
        value = np.asarray(inputs[number], node.type.dtype)
        if node in given_by_value:
            scalars[node] = value
        held[node] = memory.upload(value)
    for region in plan.regions:
        for n in region.outputs:
            taken = plan.in_place.get(n)
            held[n] = memory.empty(n.type.size, n.type.dtype) if taken is None else held[taken]
    program = WgpuProgramRunner(using.backend, launches)
    event = program.run(ProgramMemory(held, scalars))
    found = {}
    for output in graph.outputs:
        node = output.node
        if node not in graph.inputs:
            order = plan.orders[node]
            strides = [s * node.type.dtype.itemsize for s in c_strides(node.type.shape, order)]
            flat = memory.download(held[node])
            found[node] = np.ndarray(node.type.shape, node.type.dtype, flat, 0, strides)
    program.close()
    memory.free({id(array): array for array in held.values()}.values())
    return found, event


@given(graphs((*EXACT_ROWS, *OURS, *SUMS), into=False), st.integers(0, 99), st.booleans())
def test_a_graph_has_the_bits_and_events_of_native_code(graph, seed, exact):
    graph = prepared(graph)
    inputs = arrays(graph, seed)
    found, event = on_the_adapter(graph, inputs, notes=RISES if exact else RESULTS)
    mode = "rises" if exact else "results"
    expected, native_event = execute(graph, inputs, run=compiled, mode=mode)
    assert event == native_event
    for output, want in zip(graph.outputs, expected, strict=True):
        if output.node in found:
            have = found[output.node]
            assert bits_equal(want, have), f"{to_text(graph)}\n{want}\n{have}"


@settings(max_examples=15)
@given(graphs((*EXACT_ROWS, *SUMS), into=False), st.integers(0, 99), st.booleans())
def test_shaders_for_real_gpus_and_with_bounds_checks_have_the_same_bits(graph, seed, checked):
    """A bounds check that had something to do would change a result."""
    if not all(each.keeps_subnormals for each in findings().floats.values()):
        pytest.skip("the adapter flushes subnormal numbers, and folds constants without")
    graph = prepared(graph)
    inputs = arrays(graph, seed)
    using = runner(trusted=False) if checked else hardware_runner()
    found, _ = on_the_adapter(graph, inputs, using)
    expected, _ = execute(graph, inputs, run=compiled)
    for output, want in zip(graph.outputs, expected, strict=True):
        if output.node in found:
            assert bits_equal(want, found[output.node]), to_text(graph)


def test_a_constant_that_passes_two_guards_stays_unknown():
    text = """
        $0 : int32[4] strides (1,)
        %0 = cast(int32(2), dtype='float64') : float64[]
        %1 = less($0, $0) : bool[4]
        %2 = cast(%1, dtype='float64') : float64[4]
        %3 = divide(%0, %2) : float64[4]
        return %3 -> fresh (0,)
    """
    found, event = on_the_adapter(prepared(parse(text)), [np.arange(4, dtype=np.int32)])
    (quotients,) = found.values()
    assert event
    assert np.isposinf(quotients).all()


def test_a_constant_less_itself_is_not_folded_where_it_makes_a_nan():
    """``remainder`` makes its NaN as ``(x - x) * inf`` of an ``x`` that must stay unknown."""
    text = """
        $0 : bool[1] strides (1,)
        %0 = cast(bool(False), dtype='float32') : float32[]
        %1 = remainder(%0, 0.0) : float32[]
        return %1 -> fresh ()
    """
    found, event = on_the_adapter(prepared(parse(text)), [np.zeros(1, bool)])
    (remainder,) = found.values()
    assert event
    assert np.isnan(remainder)


def test_a_product_is_no_part_of_the_sum_that_takes_it():
    """On an adapter that splits ``fma``, it was one with the -0.0 that protects the product."""
    text = """
        $0 : float32[1] strides (0,)
        %0 = cast(float32(0.0), dtype='float64') : float64[]
        %1 = cast(int32(-1), dtype='float64') : float64[]
        %2 = multiply(%1, %0) : float64[]
        %3 = add(%0, %2) : float64[]
        return %3 -> fresh ()
    """
    found, _ = on_the_adapter(prepared(parse(text)), [np.zeros(1, np.float32)])
    (total,) = found.values()
    assert bits_equal(total, np.zeros(()))


def softmax(shape):
    """Along the last axis: two reductions, with elements in between and after."""
    builder = GraphBuilder()
    kind = TensorType(np.dtype("float32"), shape)

    def made(name, *args, **params):
        node = apply(name, *args, **params)
        return builder.make(node.op, args, node.params, node.type)

    x = builder.input(ROWS["input"], kind, c_strides(shape), None)
    largest = made("max", x, axis=(1,), keepdims=True)
    exponential = made("exp", made("subtract", x, largest))
    total = made("sum", exponential, axis=(1,), keepdims=True, dtype=None)
    return builder.finish([Output(made("divide", exponential, total), Fresh((0, 1)))])


@pytest.mark.parametrize("real", [False, True])
@pytest.mark.parametrize("shape", [(3, 10), (5, 700), (2, 20_000), (70, 64), (3, 1084), (2, 3841)])
def test_rows_reduced_twice_have_the_bits_of_native_code(shape, real):
    need_the_cpus_bits("f32")
    graph = prepared(softmax(shape))
    inputs = [np.random.default_rng(1).normal(0, 3, shape).astype(np.float32)]
    found, _ = on_the_adapter(graph, inputs, hardware_runner() if real else runner())
    (want,), _ = execute(graph, inputs, run=compiled)
    (have,) = found.values()
    assert bits_equal(want, have)
    assert np.allclose(have.sum(axis=1), 1.0, atol=1e-5)


def test_a_program_that_is_gone_gives_its_memory_back():
    """Its scratch memory, and the tables of its functions."""
    memory = runner().backend.memory
    memory.collect()
    before = memory.used_nbytes
    builder = GraphBuilder()
    x = builder.input(ROWS["input"], TensorType(np.dtype("float32"), (100_000,)), (1,), None)
    total = apply("sum", x, axis=(0,), keepdims=False, dtype=None)
    node = builder.make(total.op, (x,), total.params, total.type)
    graph = prepared(builder.finish([Output(node, Fresh(()))]))
    plan = make_plan(graph, regions(graph))
    launches = [launch for region in plan.regions for launch in lower(region, plan)]
    held = {n: memory.empty(n.type.size, n.type.dtype) for n in (*graph.inputs, *plan.orders)}
    used = memory.used_nbytes
    program = WgpuProgramRunner(runner().backend, launches)
    program.run(ProgramMemory(held, {}))
    assert memory.used_nbytes > used  # partial sums
    del program
    memory.collect()
    assert memory.used_nbytes == used
    memory.free(held.values())
    assert memory.used_nbytes == before
