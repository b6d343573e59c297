"""Views as strides. Oracle: NumPy's own views of an array in C order."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from runmat_jit.core.types import c_strides
from runmat_jit.graph.node import Fresh, Output
from runmat_jit.passes.fusion.access import is_copied, memory_orders, view_of
from runmat_jit.passes.fusion.geometry import reshaped
from tests.graph.random_graphs import VIEWS, arrays, graphs
from tests.graph.written import written


@given(graphs(VIEWS, max_nodes=6, into=False), st.integers(0, 9))
def test_strides_show_the_elements_that_numpy_shows(graph, seed):
    orders = memory_orders(graph)
    inputs = dict(zip(graph.inputs, arrays(graph, seed), strict=True))
    values = {}
    for node in graph.nodes:
        if node.op.name == "input":
            values[node] = np.asarray(inputs[node])
        elif node.op.kind == "move":
            values[node] = np.asarray(node.op.numpy(values[node.args[0]], **node.params))
            view = view_of(node, orders)
            base = values[view.base]
            if view.base.op.name == "input" and base.ndim and node.type.size:
                assert np.array_equal(shown(base, view, node), values[node])


def shown(base, view, node):
    """The elements at the view's strides, taken one by one from the base's address."""
    found = np.empty(node.type.shape, base.dtype)
    size, address = base.itemsize, base.__array_interface__["data"][0]
    lowest = base[tuple(slice(None, None, -1 if s < 0 else 1) for s in base.strides)]
    start = lowest.__array_interface__["data"][0]
    span = sum(s * (n - 1) for s, n in zip(lowest.strides, base.shape, strict=True)) // size + 1
    line = np.lib.stride_tricks.as_strided(lowest, (span,), (size,))
    for index in np.ndindex(*found.shape):
        at = view.offset + sum(i * s for i, s in zip(index, view.strides, strict=True))
        found[index] = line[(address - start) // size + at]
    return found


def test_a_reshape_across_gaps_has_no_strides():
    assert reshaped((4, 3), (6, 1), (12,)) is None
    assert reshaped((4, 3), (3, 1), (2, 6)) == (6, 1)
    assert reshaped((4, 3), (1, 4), (12,)) is None
    assert reshaped((4, 1, 3), (3, 99, 1), (12, 1)) == (1, 0)


def test_a_view_of_a_copy_is_read_from_the_copy():
    graph = written(
        ["float32[4, 3]"],
        "slice(reshape(transpose($0, axes=(1, 0)), shape=(12,)), "
        "starts=(2,), steps=(3,), shape=(3,))",
    )
    orders = memory_orders(graph)
    view = view_of(graph.outputs[0].node, orders)
    assert view.base.op.name == "reshape"
    assert is_copied(view.base, orders)
    assert (view.offset, view.strides) == (2, (3,))


def test_an_output_decides_its_own_memory():
    graph = written(["float32[4, 3]"], "add($0, 1.0)")
    output = Output(graph.outputs[0].node, Fresh((1, 0)))
    orders = memory_orders(type(graph)(graph.inputs, graph.nodes, (output,)))
    assert view_of(output.node, orders).strides == c_strides((4, 3), (1, 0))
