"""Random graphs through lowering, on an adapter. Oracle: the same launches as native code."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runmat_jit.backends.wgpu.memory import DeviceArray
from runmat_jit.backends.wgpu.program import ProgramMemory, WgpuProgramRunner
from runmat_jit.core.types import c_strides
from runmat_jit.graph.node import Into
from runmat_jit.graph.text import to_text
from runmat_jit.lower.launch import InputScalar
from runmat_jit.lower.lower import lower
from runmat_jit.plan.make_plan import make_plan
from tests.backends.wgpu.shaders import runner
from tests.graph.random_graphs import EXACT_ROWS, OURS, SUMS, arrays, bits_equal, graphs
from tests.lower.execute import compiled, execute, prepared, regions

pytestmark = pytest.mark.usefixtures("adapter")


def on_the_adapter(graph, inputs):
    """The graph's outputs that are stored nodes, by node, and whether an event was noted."""
    plan = make_plan(graph, regions(graph))
    launches = [launch for region in plan.regions for launch in lower(region, plan)]
    memory = runner().backend.memory
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
        held |= {n: memory.empty(n.type.size, n.type.dtype) for n in region.outputs}
    program = WgpuProgramRunner(runner().backend, launches)
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
    memory.free(held.values())
    return found, event


@given(graphs((*EXACT_ROWS, *OURS, *SUMS), into=False), st.integers(0, 99))
@settings(max_examples=settings.default.max_examples * 2)
def test_a_graph_has_the_bits_and_events_of_native_code(graph, seed):
    graph = prepared(graph)
    inputs = arrays(graph, seed)
    found, event = on_the_adapter(graph, inputs)
    expected, native_event = execute(graph, inputs, run=compiled)
    assert event == native_event
    for output, want in zip(graph.outputs, expected, strict=True):
        if output.node in found:
            have = found[output.node]
            assert bits_equal(want, have), f"{to_text(graph)}\n{want}\n{have}"


def reduced(shape, axis):
    builder = GraphBuilder()
    x = builder.input(TensorType(np.dtype("float32"), shape), strides=c_strides(shape))
    total = builder.intern(make_node("sum", (x,), {"axis": axis, "keepdims": True}))
    return builder.finish([Output(total, Fresh())])
