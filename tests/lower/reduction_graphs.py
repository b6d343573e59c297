"""Random graphs of the shapes that statistics have: elements, results, and results among elements.
Limits of lowering can be made small, so that small arrays meet every kind of kernel."""

from contextlib import ExitStack, contextmanager
from unittest.mock import patch

import numpy as np
from hypothesis import strategies as st

from runmat_jit.core.types import TensorType, c_strides
from runmat_jit.graph.apply import make_node
from runmat_jit.graph.node import Fresh, GraphBuilder, Output
from runmat_jit.lower import bands, elementwise, lane_reduction, nest, reduction_problem, row_kernel
from runmat_jit.ops.reduce import reduced_shape
from runmat_jit.ops.table import ROWS
from runmat_jit.passes.fusion import reduction_shape

UNARY = ("exp", "square", "negative", "sqrt", "tanh")
BINARY = ("add", "subtract", "multiply", "maximum", "divide")
EXTENTS = (1, 2, 3, 5, 9, 20)
DTYPE = np.dtype("float32")
SMALL_LIMITS = {
    reduction_shape: {
        "_ROW_GROUP": 4,
        "TOTAL_BLOCKS": 1,
        "TOTAL_STEPS": 1,
        "logical_lanes": lambda _: 6,
        "_SHORT": 3,
        "_COLUMN_GROUP": 3,
        "COLUMN_CELL": 5,
    },
    lane_reduction: {"_COLUMNS": 4, "_FEW_COLUMNS": 2, "_FEW_ROWS": 1, "CELL": 4},
    row_kernel: {"CELL": 4},
    elementwise: {"CELL": 5, "TILE": 2, "NEAR": 1},
    nest: {"FEW_LANES": 2},
    bands: {"L3": 1, "BAND": 60},
    reduction_problem: {"NEAR": 1, "FEW_LANES": 2, "_FEW_ELEMENTS": 4, "_MANY_RESULTS": 2},
}


@contextmanager
def small_limits(limits=SMALL_LIMITS):
    """Cells of a few elements: the orders of reductions stay valid, they are only shorter."""
    with ExitStack() as stack:
        for module, values in limits.items():
            stack.enter_context(patch.multiple(module, **values))
        yield


@st.composite
def reduction_graphs(draw, max_nodes=12):
    builder = GraphBuilder()
    shape = tuple(draw(st.lists(st.sampled_from(EXTENTS), min_size=1, max_size=3)))
    pool = [_input(draw, builder, shape)]
    pool += [_input(draw, builder, _broadcastable(draw, shape)) for _ in range(2)]
    made = []
    for _ in range(draw(st.integers(2, max_nodes))):
        node = draw(st.sampled_from(_MAKERS))(draw, shape, pool)
        if node is not None:
            made.append(builder.adopt(node))
            pool.append(made[-1])
    roots = [*draw(st.lists(st.sampled_from(pool[3:] or pool), max_size=3)), pool[-1]]
    order = draw(st.permutations(range(pool[-1].type.ndim)))
    outputs = [Output(root, Fresh(tuple(range(root.type.ndim)))) for root in roots[:-1]]
    return builder.finish([*outputs, Output(pool[-1], Fresh(tuple(order)))])


def _input(draw, builder, shape):
    order = tuple(draw(st.permutations(range(len(shape)))))
    strides = c_strides(shape, order)
    return builder.input(ROWS["input"], TensorType(DTYPE, shape), strides, None)


def _broadcastable(draw, shape):
    kept = tuple(n if draw(st.booleans()) else 1 for n in shape)
    return kept[draw(st.integers(0, len(kept))) :]


def _unary(draw, _shape, pool):
    x = draw(st.sampled_from(pool))
    return make_node(draw(st.sampled_from(UNARY)), (x,), {}, x.type)


def _binary(draw, shape, pool):
    x, y = draw(st.sampled_from(pool[-4:])), draw(st.sampled_from(pool))
    try:
        result = np.broadcast_shapes(x.type.shape, y.type.shape)
        fits = np.broadcast_shapes(result, shape) == shape
    except ValueError:
        return None
    if not fits:
        return None
    return make_node(draw(st.sampled_from(BINARY)), (x, y), {}, TensorType(DTYPE, result))


def _reduction(draw, _shape, pool):
    x = draw(st.sampled_from([pool[0], *pool[-3:]]))
    axes = tuple(sorted(draw(st.sets(st.integers(0, max(x.type.ndim - 1, 0)), min_size=1))))
    if x.type.ndim == 0:
        return None
    name, keepdims = draw(st.sampled_from(("sum", "max"))), draw(st.integers(0, 3)) > 0
    params = {"axis": axes, "keepdims": keepdims}
    params |= {"dtype": "float32"} if name == "sum" else {}
    kind = TensorType(DTYPE, reduced_shape(x.type.shape, axes, keepdims=keepdims))
    return make_node(name, (x,), params, kind)


def _expanded(draw, shape, pool):
    """A result with its unit axes back, where it has lost them."""
    x = draw(st.sampled_from(pool[-3:]))
    missing = len(shape) - x.type.ndim
    if missing <= 0:
        return None
    at = draw(st.integers(0, x.type.ndim))
    wider = (*x.type.shape[:at], *(1,) * missing, *x.type.shape[at:])
    return make_node("reshape", (x,), {"shape": wider}, TensorType(DTYPE, wider))


_MAKERS = (_unary, _binary, _binary, _binary, _reduction, _reduction, _expanded)
