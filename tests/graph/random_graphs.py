"""Random valid graphs, and arrays to run them on: for every test that compares two ways to run one.

``graphs()`` draws a graph over rows that NumPy and kernels compute to the same bits; give other
row names for more. Casts are inserted where a row computes with another dtype than it is given.
"""

import numpy as np
from hypothesis import strategies as st

from runmat_jit.core.types import COMPILED_DTYPES, TensorType, c_strides
from runmat_jit.graph.apply import make_node
from runmat_jit.graph.constant import constant
from runmat_jit.graph.node import Fresh, Graph, GraphBuilder, Into, Output
from runmat_jit.graph.text import to_text
from runmat_jit.ops.spec import VARIADIC, canonical_params
from runmat_jit.ops.table import ROWS
from tests.graph.host_calls import ALIKE, CALLS
from tests.ops.operands import specials

_SPECIAL = ("fmax", "fmin")  # which zero NumPy takes depends on lengths: tests/ops
_PLAIN = [
    row
    for row in ROWS.values()
    if row.kind == "elementwise"
    and row.name not in _SPECIAL
    and not row.name.startswith("random_")  # these take counters, see tests/ops/test_random.py
]
ELEMENTWISE = tuple(row.name for row in _PLAIN if row.exactness == "bit-defined")
OURS = tuple(row.name for row in _PLAIN if row.exactness == "ours")
REDUCTIONS = ("any", "all", "max", "min", "count_nonzero", "argmax", "argmin")
SUMS = ("sum", "prod", "mean")
VIEWS = ("transpose", "reshape", "slice", "broadcast_to")
WRITES = ("update",)
DIFFERENCES = ("diff",)
SCANS = ("cumsum", "cumprod", "maximum_accumulate", "minimum_accumulate")
JOINS = ("concatenate", "stack")
HOST = ("host_call",)
EXACT_ROWS = (*ELEMENTWISE, *REDUCTIONS, *VIEWS, *WRITES, *DIFFERENCES, *SCANS, *JOINS)
LARGEST = 400
"""Elements of the largest value."""

Graph._repr_pretty_ = lambda graph, printer, _: printer.text(to_text(graph))  # in reports


@st.composite
def graphs(draw, rows=EXACT_ROWS, dtypes=COMPILED_DTYPES, max_nodes=10, *, into=True, empty=False):
    """A valid graph of up to ``max_nodes`` values over ``rows``, all of its last values outputs.

    Inputs lie in any layout; ``into``: some outputs may be written into inputs; ``empty``: inputs
    with axes often have no elements.
    """
    builder = GraphBuilder()
    shape = draw(st.lists(st.integers(1, 5), min_size=0, max_size=3))
    if shape and (empty or draw(st.integers(0, 9)) == 9):
        shape[draw(st.integers(0, len(shape) - 1))] = 0
    pool = [_input(draw, builder, tuple(shape), dtypes) for _ in range(draw(st.integers(1, 3)))]
    groups = [[name for name in rows if _MAKE.get(name, _elementwise) is make] for make in _MAKERS]
    groups = [group for group in groups if group]
    for _ in range(draw(st.integers(min(3, max_nodes), max_nodes))):
        name = draw(st.sampled_from(draw(st.sampled_from(groups))))
        made = _MAKE.get(name, _elementwise)(draw, name, pool)
        if made is not None:
            pool.append(_interned(builder, made))
    roots = draw(st.lists(st.sampled_from(pool), max_size=2)) + pool[-1:]
    outputs = [Output(root, _fresh(draw, root)) for root in roots]
    if into and draw(st.booleans()):
        outputs.extend(_writes(draw, builder._inputs, pool))
    return builder.finish(outputs)


def arrays(graph, seed=0, special=0.2):
    """Arrays (scalars for inputs by value) in the inputs' layouts: small numbers, some special."""
    rng = np.random.default_rng(seed)
    return [_array(node, rng, special) for node in graph.inputs]


def bits_equal(left, right):
    """Equal dtypes, shapes and bits, signs of zeros too; any NaN equals any NaN."""
    left, right = np.asarray(left), np.asarray(right)
    if (left.dtype, left.shape) != (right.dtype, right.shape):
        return False
    if left.dtype.kind != "f":
        return bool((left == right).all())
    nans = np.isnan(left) & np.isnan(right)
    return bool((nans | ((left == right) & (np.signbit(left) == np.signbit(right)))).all())


def _array(node, rng, special):
    kind, strides = node.type, node.params["strides"]
    reaches = [s * max(n - 1, 0) for s, n in zip(strides or (), kind.shape, strict=True)]
    low, high = -sum(r for r in reaches if r < 0), sum(r for r in reaches if r > 0)
    memory = (rng.integers(-12, 13, low + high + 1) / 4).astype(kind.dtype)
    odd = rng.random(memory.size) < special
    memory[odd] = rng.choice(specials(kind.dtype), int(odd.sum()))
    if strides is None:
        return memory[0]
    step = memory.itemsize
    return np.ndarray(kind.shape, kind.dtype, memory, low * step, [s * step for s in strides])


def _input(draw, builder, shape, dtypes):
    dtype = np.dtype(draw(st.sampled_from(dtypes)))
    if draw(st.integers(0, 5)) == 0:
        return builder.input(ROWS["input"], TensorType(dtype, ()), None, None)
    shape = shape[draw(st.integers(0, len(shape))) if draw(st.booleans()) else 0 :]
    shape = tuple(1 if draw(st.integers(0, 4)) == 0 else extent for extent in shape)
    order = draw(st.permutations(range(len(shape))))
    spread = draw(st.sampled_from((1, 1, 1, 2)))
    signs = [draw(st.sampled_from((1, 1, 1, -1))) for _ in shape]
    strides = [s * n * spread for s, n in zip(c_strides(shape, tuple(order)), signs, strict=True)]
    if shape and draw(st.integers(0, 7)) == 0:
        strides[draw(st.integers(0, len(shape) - 1))] = 0
    return builder.input(ROWS["input"], TensorType(dtype, shape), tuple(strides), None)


def _elementwise(draw, name, pool):
    op = ROWS[name]
    arity = draw(st.integers(2, 3)) if op.arity == VARIADIC else op.arity
    args = [_operand(draw, pool) for _ in range(arity)]
    return _called(name, args, _call_params(draw, name, arity))


def _call_params(draw, name, arity):
    if name == "clip":
        return {
            "limits": ("min", "max") if arity == 3 else (draw(st.sampled_from(("min", "max"))),)
        }
    if name == "cast":
        return {"dtype": draw(st.sampled_from(COMPILED_DTYPES)).name}
    if name == "nan_to_num":
        numbers = st.sampled_from((None, -1.5, 2))
        return {which: draw(numbers) for which in ("nan", "posinf", "neginf")}
    return {"exponent": None} if name in ("power", "pow") else {}


def _operand(draw, pool):
    if draw(st.integers(0, 4)) == 0:
        dtype = draw(st.sampled_from(COMPILED_DTYPES))
        return constant(draw(st.sampled_from(specials(dtype).tolist())), dtype)
    return _drawn(draw, pool)


def _drawn(draw, pool):
    """A value so far, the last one as often as all others."""
    return pool[-1] if draw(st.booleans()) else draw(st.sampled_from(pool))


def _called(name, args, params):
    """The call as capture would record it: operands cast to what the row computes with."""
    op = ROWS[name]
    types = tuple(arg.type for arg in args)
    found = op.result(types, params)
    if found is None or found.type.size > LARGEST:
        return None
    cast = tuple(map(_cast, args, found.operand_dtypes))
    params = canonical_params(op, params, types)
    covered = op.result(tuple(arg.type for arg in cast), params)
    return make_node(name, cast, params, found.type) if covered == found else None


def _cast(node, dtype):
    if node.type.dtype == dtype:
        return node
    kind = TensorType(dtype, node.type.shape)
    return make_node("cast", (node,), {"dtype": dtype.name}, kind)


def _reduction(draw, name, pool):
    x = _drawn(draw, pool)
    axes = draw(st.sets(st.integers(0, max(x.type.ndim - 1, 0)), min_size=1))
    params = {"axis": tuple(sorted(axes)), "keepdims": draw(st.booleans())}
    if "dtype" not in params and name in SUMS:
        params["dtype"] = None
    return _called(name, [x], params)


def _difference(draw, name, pool):
    x = _drawn(draw, pool)
    params = {"n": draw(st.integers(1, 2)), "axis": draw(st.integers(-1, max(x.type.ndim - 1, 0)))}
    return _called(name, [x], params)


def _scan(draw, name, pool):
    x = _drawn(draw, pool)
    axes = st.integers(0, max(x.type.ndim - 1, 0))
    axis = draw(axes if name.endswith("accumulate") else st.none() | axes)
    return _called(name, [x], {"axis": axis, "dtype": None})


def _transpose(draw, _name, pool):
    x = _drawn(draw, pool)
    axes = tuple(draw(st.permutations(range(x.type.ndim))))
    return _view("transpose", x, tuple(x.type.shape[a] for a in axes), {"axes": axes})


def _reshape(draw, _name, pool):
    x = _drawn(draw, pool)
    size, shape = x.type.size, []
    while size > 1 and len(shape) < 3:
        factor = draw(st.sampled_from([n for n in range(1, size + 1) if size % n == 0]))
        shape.append(factor)
        size //= factor
    shape = tuple([*shape, size] if size != 1 else shape)
    return _view("reshape", x, shape, {"shape": shape})


def _slice(draw, _name, pool):
    x = _drawn(draw, pool)
    taken = [_progression(draw, extent) for extent in x.type.shape]
    params = {
        "starts": tuple(start for start, _, _ in taken),
        "steps": tuple(step for _, step, _ in taken),
        "shape": tuple(count for _, _, count in taken),
    }
    return _view("slice", x, params["shape"], params)


def _progression(draw, extent):
    """Start, step and count of indices along an axis."""
    if extent == 0:
        return 0, 1, 0
    start, step = draw(st.integers(0, extent - 1)), draw(st.sampled_from((1, 1, 2, -1)))
    room = start // -step if step < 0 else (extent - 1 - start) // step
    return start, step, draw(st.integers(0 if draw(st.integers(0, 9)) == 0 else 1, room + 1))


def _broadcast_to(draw, _name, pool):
    x = _drawn(draw, pool)
    shape = tuple(draw(st.integers(1, 4)) if n == 1 else n for n in x.type.shape)
    shape = (*draw(st.lists(st.integers(1, 3), max_size=max(0, 3 - len(shape)))), *shape)
    return _view("broadcast_to", x, shape, {"shape": shape})


def _update(draw, _name, pool):
    base, value = _drawn(draw, pool), draw(st.sampled_from(pool))
    if base.type.ndim == 0:
        return None
    taken = [_progression(draw, extent) for extent in base.type.shape]
    steps = c_strides(base.type.shape)
    shape = tuple(count for _, _, count in taken)
    if np.broadcast_shapes(shape, (1,)) != shape or not _fits(value.type.shape, shape):
        return None
    params = {
        "offset": sum(start * step for (start, _, _), step in zip(taken, steps, strict=True)),
        "shape": shape,
        "strides": tuple(step * along for (_, along, _), step in zip(taken, steps, strict=True)),
    }
    return make_node("update", (base, _cast(value, base.type.dtype)), params, base.type)


def _fits(shape, target):
    """Does a value of this shape broadcast to the target?"""
    try:
        return np.broadcast_shapes(shape, target) == target
    except ValueError:
        return False


def _join(draw, name, pool):
    first = _drawn(draw, pool)
    same = [node for node in pool if node.type.shape == first.type.shape]
    args = draw(st.lists(st.sampled_from(same), min_size=1, max_size=3))
    axis = draw(st.integers(0, first.type.ndim))
    return _called(name, args, {"axis": axis})


def _view(name, x, shape, params):
    kind = TensorType(x.type.dtype, shape)
    return None if kind.size > LARGEST else make_node(name, (x,), params, kind)


def _host_call(draw, _name, pool):
    """A call of the host, with one operand or with several, or none."""
    x, name = _drawn(draw, pool), draw(st.sampled_from(("first()", "count_nonzero()", "table()")))
    if x.type.ndim and draw(st.integers(0, 3)):
        name = draw(st.sampled_from(ALIKE))
    args, kind = (x,), x.type
    if name == "table()":
        args, kind = (), TensorType(np.dtype("float64"), (2, 3))
    elif name == "count_nonzero()":
        kind = TensorType(np.dtype("int64"), ())
    elif name == "first()":
        args = x, _operand(draw, [node for node in pool if _fits(node.type.shape, kind.shape)])
        if not _fits(args[1].type.shape, kind.shape):
            return None
    return make_node("host_call", args, {"call": CALLS[name]}, kind)


_MAKE = {
    **dict.fromkeys((*REDUCTIONS, *SUMS), _reduction),
    **dict.fromkeys(JOINS, _join),
    **dict.fromkeys(DIFFERENCES, _difference),
    **dict.fromkeys(SCANS, _scan),
    "transpose": _transpose,
    "reshape": _reshape,
    "slice": _slice,
    "broadcast_to": _broadcast_to,
    "update": _update,
    "host_call": _host_call,
}
_MAKERS = (*(_elementwise,) * 6, *dict.fromkeys(_MAKE.values()))
"""Elementwise rows are drawn more often than others."""


def _interned(builder, node):
    """The node, and the few new ones below it, as nodes of the builder."""
    args = [
        arg if arg.op.name == "input" else _interned(builder, arg) if _is_new(arg) else arg
        for arg in node.args
    ]
    return builder.make(node.op, args, node.params, node.type)


def _is_new(node):
    return node.op.name in ("constant", "cast")


def _fresh(draw, node):
    return Fresh(tuple(draw(st.permutations(range(node.type.ndim)))))


def _writes(draw, inputs, pool):
    """Writes of whole values into inputs that no element overlaps."""
    for number, memory in enumerate(inputs):
        strides = memory.params["strides"]
        fitting = [node for node in pool if node.type == memory.type]
        if strides is None or not _is_injective(memory.type.shape, strides):
            continue
        yield Output(draw(st.sampled_from(fitting)), Into(number, 0, strides))


def _is_injective(shape, strides):
    return all(stride or extent == 1 for stride, extent in zip(strides, shape, strict=True))
