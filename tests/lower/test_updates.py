"""Values that kernels store over parts of arrays. Oracle: the reference interpreter's bits."""

import numpy as np
import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from runmat_jit.backends.reference.interpret import run
from runmat_jit.core.types import TensorType, c_strides
from runmat_jit.graph.apply import make_node
from runmat_jit.graph.node import Fresh, GraphBuilder, Output
from runmat_jit.graph.text import to_text
from runmat_jit.kernel.text import to_text as kernel_text
from runmat_jit.lower import bands
from runmat_jit.lower.lower import lower_plan
from runmat_jit.ops.table import ROWS
from runmat_jit.passes.pipeline import optimize
from runmat_jit.passes.read_late import read_late
from runmat_jit.plan.device import CPU, Device
from runmat_jit.plan.make_plan import make_plan
from tests.graph.random_graphs import EXACT_ROWS, SUMS, arrays, bits_equal, graphs
from tests.graph.written import written
from tests.lower.execute import execute, launches, prepared, regions

GPU = Device("gpu")
INPUTS = ["float32[8, 9]", "float32[6, 7]"]
INSIDE = "offset=10, shape=(6, 7), strides=(9, 1))"
CENTER = "slice({}, starts=(1, 1), steps=(1, 1), shape=(6, 7))"
ABOVE = "slice({}, starts=(0, 1), steps=(1, 1), shape=(6, 7))"
GAPS = "offset=10, shape=(3, 7), strides=(18, 1))"
EVEN = "slice($1, starts=(0, 0), steps=(2, 1), shape=(3, 7))"
FIRST = "slice($1, starts=(0, 0), steps=(1, 1), shape=(1, 7))"
TOTAL = "sum(V, axis=(0, 1), dtype='float32', keepdims=False)"
SUM = "sum(broadcast_to($1, shape=(3, 6, 7)), axis=(0,), dtype='float32', keepdims=False)"
TURNED = "offset=10, shape=(7, 6), strides=(1, 9))"
LEFT = "slice({}, starts=(0, 0), steps=(1, 1), shape=(8, 2))"
RIGHT = "offset=4, shape=(8, 2), strides=(9, 1))"
SHIFTED = "offset=1, shape=(8, 2), strides=(9, 1))"
MEAN = f"multiply(add({ABOVE}, {CENTER}), 0.5)"


def inside(base, value):
    return f"update({base}, {value}, {INSIDE}"


def steps_of(count, step, first="$0"):
    text = first
    for _ in range(count):
        text = inside(first, step.replace("{}", text))
    return text


# -- which are ------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("text", "kernels", "in_place"),
    [
        (inside("$0", "floor($1)"), 2, 0),  # and a copy of all
        (inside("floor($0)", "floor($1)"), 2, 1),  # which waits for the base
        # over what it reads, if that is all
        (inside("floor($0)", f"negative({CENTER.format('floor($0)')})"), 2, 1),
        (inside("floor($0)", CENTER.format("floor($0)")), 3, 0),
        # over a part that it does not read; a small one by way of memory of its own
        (f"update(floor($0), negative({LEFT.format('floor($0)')}), {RIGHT}", 2, 1),
        (f"update(floor($0), negative({LEFT.format('floor($0)')}), {SHIFTED}", 3, 1),
        (inside("floor($0)", MEAN.replace("{}", "floor($0)")), 3, 0),
        # two arrays in turns: the first is copied once to each
        (steps_of(1, MEAN), 2, 0),
        (steps_of(2, MEAN), 4, 0),
        (steps_of(5, MEAN), 7, 3),
        (f"update($0, floor({EVEN}), {GAPS}", 2, 0),
    ],
)
def test_what_is_computed_is_stored_where_it_belongs(text, kernels, in_place):
    graph = optimize(written(INPUTS, text))
    plan = make_plan(graph, regions(graph))
    assert (len(launches(graph)), len(plan.in_place)) == (kernels, in_place)
    assert all(map(bits_equal, run(graph, arrays(graph)), execute(graph, arrays(graph))[0]))


def test_of_large_arrays_only_what_lies_around_is_copied():
    part = "offset=131, shape=(128, 128), strides=(130, 1)"
    graph = written(["float32[130, 130]", "float32[128, 128]"], f"update($0, floor($1), {part})")
    *copies, _ = found = launches(graph)
    assert sum(launch.nbytes for launch in copies) == 2 * 4 * (130**2 - 128**2)
    assert len(found) == 5
    assert all(map(bits_equal, run(graph, arrays(graph)), execute(graph, arrays(graph))[0]))


@pytest.mark.parametrize(
    "text",
    [
        inside("$0", "$1"),  # nothing is computed
        inside("$0", f"floor({FIRST})"),  # repeated
        inside("$0", SUM),
        f"update($0, transpose(floor($1), axes=(1, 0)), {TURNED}",
    ],
)
def test_other_values_are_stored_first(text):
    graph = prepared(written(INPUTS, text))
    (last,) = (region for region in regions(graph) if region.updates)
    assert len(last.nodes) == 1
    assert all(map(bits_equal, run(graph, arrays(graph)), execute(graph, arrays(graph))[0]))


# -- reads of what is stored ----------------------------------------------------------------------
@pytest.mark.parametrize(
    ("text", "late"),
    [
        # one reads the updated array anyway
        (f"add({ABOVE}, floor(V))", f"add({ABOVE}, floor({CENTER}))"),
        # it is wanted, or nothing waits for it
        ("floor(V)", "floor(V)"),
        (TOTAL, TOTAL),
    ],
)
def test_what_runs_later_reads_the_updated_array(text, late):
    def filled(text):
        return text.replace("{}", inside("$0", "V")).replace("V", "sqrt($1)")

    graph = written(INPUTS, filled("{}"), filled(text))
    found = read_late(graph)
    assert to_text(found) == to_text(written(INPUTS, filled("{}"), filled(late)))
    assert to_text(read_late(found)) == to_text(found)


# -- any ------------------------------------------------------------------------------------------
SHAPE = (5, 6)


@st.composite
def stepping(draw):
    """Some turns: each stores what it computes of parts of arrays over a part of one of them."""
    builder = GraphBuilder()
    kind = TensorType(np.dtype("float32"), SHAPE)
    inputs = [builder.input(ROWS["input"], kind, c_strides(SHAPE), None) for _ in range(2)]
    written_before = []
    pool = [*inputs, builder.adopt(make_node("negative", (inputs[0],), {}, kind))]
    for _ in range(draw(st.integers(1, 5))):
        shape = tuple(draw(st.integers(1, extent)) for extent in SHAPE)
        part = TensorType(kind.dtype, shape)

        def place(shape):
            steps = tuple(
                draw(st.integers(1, (extent - 1) // max(1, count - 1)) | st.just(1))
                if count > 1
                else 1
                for extent, count in zip(SHAPE, shape, strict=True)
            )
            room = zip(SHAPE, shape, steps, strict=True)
            return tuple(draw(st.integers(0, e - (n - 1) * s - 1)) for e, n, s in room), steps

        def read(part=part, shape=shape, place=place):
            starts, steps = place(shape)
            params = {"starts": starts, "steps": steps, "shape": shape}
            source = draw(st.sampled_from(pool[-3:]))
            return builder.adopt(make_node("slice", (source,), params, part))

        value = builder.adopt(
            make_node(draw(st.sampled_from(["add", "minimum"])), (read(), read()), {}, part)
        )
        if draw(st.booleans()):
            value = builder.adopt(make_node("negative", (value,), {}, part))
        if written_before and draw(st.integers(0, 2)) == 0:  # the same in two arrays
            value = draw(st.sampled_from(written_before))
            shape = value.type.shape
        written_before.append(value)
        starts, steps = place(shape)
        along = c_strides(SHAPE)
        params = {
            "offset": sum(a * b for a, b in zip(starts, along, strict=True)),
            "shape": shape,
            "strides": tuple(a * b for a, b in zip(steps, along, strict=True)),
        }
        base = draw(st.sampled_from(pool[-3:]))
        pool.append(builder.adopt(make_node("update", (base, value), params, kind)))
        if draw(st.integers(0, 3)) == 0:
            pool.append(builder.adopt(make_node("add", (pool[-1], pool[-2]), {}, kind)))
    wanted = dict.fromkeys([pool[-1], *draw(st.lists(st.sampled_from(pool[2:]), max_size=1))])
    return builder.finish([Output(node, Fresh((0, 1))) for node in wanted])


@pytest.mark.parametrize("value", ["add($1, $1)", "floor(multiply($1, $1))", "sqrt($1)"])
def test_events_of_values_that_are_stored_over_a_part_are_noted(value):
    graph = optimize(written(INPUTS, inside("$0", value)))
    x, y = np.zeros((8, 9), np.float32), np.full((6, 7), 2, np.float32)
    assert not execute(graph, [x, y])[1]
    y[3, 4] = -3e38
    assert execute(graph, [x, y])[1]


@given(stepping(), st.integers(0, 99), st.sampled_from([CPU, GPU]))
def test_steps_keep_every_bit(graph, seed, device):
    expected = run(graph, arrays(graph, seed))
    for ready in (prepared(graph), optimize(graph)):
        event(f"fused {any(len(r.nodes) > 1 and r.updates for r in regions(ready))}")
        event(f"in place {bool(make_plan(ready, regions(ready)).in_place)}")
        event(f"over all of an array {any(map(is_whole, launches(ready, device=device)))}")
        found, _ = execute(ready, arrays(graph, seed), device=device)
        assert all(map(bits_equal, expected, found)), to_text(ready)


# -- over all of an array -------------------------------------------------------------------------
FULL = "full(float32(2.0), shape=(8, 9), dtype='float32')"
ROW = "broadcast_to($1, shape=(6, 7))"


def is_whole(launch):
    """True if the kernel runs along an array and stores what is outside of a part, too."""
    return "window open" in kernel_text(launch.kernel)


def kernels_on_a_gpu(text, *inputs):
    graph = prepared(written(["float32[8, 9]", *inputs], text.replace("{}", "$0")))
    found, _ = execute(graph, arrays(graph), device=GPU)
    assert all(map(bits_equal, run(graph, arrays(graph)), found))
    return [is_whole(launch) for launch in launches(graph, device=GPU)]


@pytest.mark.parametrize(
    ("text", "inputs", "kernels"),
    [
        (inside("$0", f"add({CENTER}, {ABOVE})"), (), [True]),
        (inside("$0", f"add({CENTER.replace('{}', '$1')}, 1.0)"), ("float32[8, 9]",), [True]),
        (inside(FULL, f"sqrt({CENTER})"), (), [True]),
        # an operand that does not lie as the result does
        (inside("$0", "floor($1)"), ("float32[6, 7]",), [False, False]),
        (inside("$0", f"add({CENTER}, {ROW})"), ("float32[7]",), [False, False]),
        # the lesser half, and a part with gaps
        (f"update($0, negative({LEFT}), {SHIFTED}", (), [False, False]),
        (f"update($0, floor({EVEN.replace('$1', '$0')}), {GAPS}", (), [False, False]),
    ],
)
def test_one_kernel_stores_a_part_and_the_rest(text, inputs, kernels):
    assert kernels_on_a_gpu(text, *inputs) == kernels


@pytest.mark.parametrize("device", [CPU, GPU])
def test_events_are_those_of_the_part(device):
    quotient = f"divide({CENTER}, {ABOVE})".replace("{}", "$0")
    graph = optimize(written(INPUTS[:1], inside("$0", quotient)))
    for row, column, expected in ((7, 3, False), (3, 0, False), (3, 8, False), (4, 4, True)):
        x = np.ones((8, 9), np.float32)
        x[row, column] = 0
        assert bool(execute(graph, [x], device=device)[1]) == expected


# -- bands of rows --------------------------------------------------------------------------------
def launches_in_bands(texts, monkeypatch, nbytes=60):
    """How many launches there are of each region, where a few rows are a band."""
    monkeypatch.setattr(bands, "L3", 1)
    monkeypatch.setattr(bands, "BAND", nbytes)
    graph = optimize(written(INPUTS, *texts))
    plan = make_plan(graph, regions(graph))
    found, _ = execute(graph, arrays(graph))
    assert all(map(bits_equal, run(graph, arrays(graph)), found))
    return [len(each) for each in lower_plan(plan)]


FLOOR = "floor($0)"


@pytest.mark.parametrize(
    ("texts", "counts"),
    [
        # two arrays in turns, whose first two are copied: one row behind the one before
        ([steps_of(4, MEAN)], [2, 2, 5, 0]),
        # what lies in memory of its own would be needed all at once
        ([f"multiply({ABOVE.format(FLOOR)}, 0.5)", FLOOR], [1, 1]),
    ],
)
def test_steps_of_large_arrays_run_in_bands(texts, counts, monkeypatch):
    assert launches_in_bands(texts, monkeypatch) == counts


@given(
    st.one_of(stepping(), graphs((*EXACT_ROWS, *SUMS), max_nodes=8)),
    st.integers(0, 99),
    st.sampled_from([1, 24, 40, 60]),
)
def test_bands_keep_every_bit(graph, seed, nbytes):
    expected = run(graph, arrays(graph, seed))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bands, "L3", 1)
        patch.setattr(bands, "BAND", nbytes)
        ready = optimize(graph)
        plan = make_plan(ready, regions(ready))
        event(f"in bands {any(not each for each in lower_plan(plan))}")
        found, _ = execute(ready, arrays(graph, seed))
    assert all(map(bits_equal, expected, found)), to_text(ready)
