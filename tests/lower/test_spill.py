"""Values kept between the phases of a kernel. Oracle: the same graph with every operation in a
kernel of its own, bit for bit."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runmat_jit.graph.parse import parse
from runmat_jit.graph.text import to_text
from runmat_jit.kernel.text import to_text as to_kernel_text
from runmat_jit.plan.device import CPU, Device
from tests.graph.random_graphs import arrays, bits_equal
from tests.lower.execute import execute, launches

GPU = Device("gpu")
MANY = settings(max_examples=max(60, settings.default.max_examples))


def graph_of(shape, axis, steps, outputs):
    """A graph of ``(operation, operands)``, which are numbers of earlier values; ``r`` reduces."""
    lines = [f"${n} : float32{list(shape)} strides ({shape[1]}, 1)" for n in range(2)]
    names = ["$0", "$1"]
    for operation, *operands in steps:
        given = ", ".join([names[number % len(names)] for number in operands])
        params = {
            "sum": f", axis=({axis},), dtype='float32', keepdims=True",
            "max": f", axis=({axis},), keepdims=True",
        }.get(operation, "")
        names.append(f"%{len(lines)}")
        lines.append(f"{names[-1]} = {operation}({given}{params})")
    return parse("\n".join([*lines, *(f"return {names[n]} -> fresh (0, 1)" for n in outputs)]))


def check(graph, device):
    """Values, and what kernels note of events, whichever of these they tell apart."""
    for special in (0.0, 0.05):
        for mode in ("results", "rises", "each"):
            inputs = arrays(graph, special=special)
            with np.errstate(all="ignore"):
                found, events = execute(graph, inputs, device=device, mode=mode)
                expected, others = execute(graph, inputs, ("elementwise",), mode=mode)
            assert all(map(bits_equal, expected, found)), (to_text(graph), mode)
            assert mode == "results" or bool(events) == bool(others), (to_text(graph), mode)


TWICE = [
    ("tanh", 1),  # 2, which is needed in two later phases, after 4 is stored
    ("sum", 2),
    ("divide", 1, 3),  # 4, an output
    ("multiply", 4, 0),
    ("sum", 5),
    ("multiply", 2, 6),  # 7, an output
]


@pytest.mark.parametrize(("device", "axis"), [(CPU, 1), (GPU, 1), (GPU, 0)])
def test_a_value_is_not_kept_where_an_output_is_stored_before_its_last_use(device, axis):
    graph = graph_of((20, 8), axis, TWICE, (4, 7))
    assert len(launches(graph, device=device)) == 1
    check(graph, device)


def iterations(count):
    """Steps of a filter: ``w += x * sum(x * w)``; the number of its last state."""
    steps, w = [], 1
    for _ in range(count):
        first = len(steps) + 2
        steps += [("multiply", 0, w), ("sum", first), ("multiply", 0, first + 1)]
        steps += [("add", w, first + 2)]
        w = first + 3
    return steps, w


@pytest.mark.parametrize("shape", [(17, 3), (40, 2)])
def test_the_states_of_iterations_follow_one_another_in_one_place(shape):
    steps, last = iterations(5)
    graph = graph_of(shape, 0, steps, (last,))
    (launch,) = launches(graph, device=GPU)
    text = to_kernel_text(launch.kernel)
    counts = [text.count(f"<f32> = {op} ") for op in ("mul", "add")]
    assert counts == [10, 5], "no phase computes states of earlier ones again"
    assert text.count("store ") == 5
    check(graph, GPU)


def test_states_that_no_output_has_room_for_are_kept_in_temporary_memory():
    steps, last = iterations(6)
    graph = graph_of((17, 3), 0, [*steps, ("sum", last)], (last + 1,))
    (launch,) = launches(graph, device=GPU)
    text = to_kernel_text(launch.kernel)
    assert [text.count(f"<f32> = {op} ") for op in ("mul", "add")] == [12, 6]
    check(graph, GPU)


@st.composite
def programs(draw):
    """Elements, reductions of elements, and elements of those, in any order."""
    elements, results, steps = [0, 1], [], []
    for _ in range(draw(st.integers(3, 14))):
        kind = draw(st.sampled_from(["tanh", "two", "reduce", "use"]))
        number, some = len(steps) + 2, st.sampled_from(elements)
        if kind == "reduce":
            steps.append((draw(st.sampled_from(["sum", "max"])), draw(some)))
            results.append(number)
            continue
        if kind == "tanh":
            steps.append(("tanh", draw(some)))
        elif kind == "use" and results:
            steps.append(("divide", draw(some), draw(st.sampled_from(results))))
        else:
            steps.append((draw(st.sampled_from(["add", "multiply"])), draw(some), draw(some)))
        elements.append(number)
    made = [*elements[2:], *results] or [1]
    outputs = draw(st.lists(st.sampled_from(made), min_size=1, max_size=3, unique=True))
    return steps, outputs


@given(programs(), st.sampled_from([(20, 3), (3, 20), (18, 9)]), st.integers(0, 1), st.booleans())
@MANY
def test_no_bit_depends_on_what_is_kept(program, shape, axis, on_gpu):
    steps, outputs = program
    if outputs != [1]:
        check(graph_of(shape, axis, steps, outputs), GPU if on_gpu else CPU)
