"""Host calls and the region grower. Oracle: the regions of the same program whose calls' results
are inputs."""

import pytest

from runmat_jit.passes.eliminate_dead import eliminate_dead
from runmat_jit.passes.fusion.grower import grow
from runmat_jit.passes.pipeline import optimize
from tests.graph.host_calls import parsed

X = "$0 : float64[6, 9] strides (9, 1)\n$1 : float64[6, 9] strides (9, 1)\n"
SORT = "host_call({}, call='sort()') : float64[6, 9]"
SUM = "sum({}, axis=(1,), dtype='float64', keepdims=True)"


def text_of(lines, outputs):
    body = "".join(f"%{number} = {line}\n" for number, line in enumerate(lines))
    rank_2 = "".join(f"return {name} -> fresh (0, 1)\n" for name in outputs)
    return f"{X}{body}{rank_2}"


def kernels(text):
    """The kinds and operations of regions that are no host calls."""
    graph = parsed(text)
    regions = [region for region in grow(graph) if region.kind != "host"]
    return [(region.kind, [node.op.name for node in region.nodes]) for region in regions]


def hosts(text):
    return [region for region in grow(parsed(text)) if region.kind == "host"]


def test_calls_whose_results_leave_change_no_kernel():
    chains = ["multiply($0, 2.0)", "tanh(%0)", "add(%1, 1.0)", "exp($1)", "subtract(%3, 1.0)"]
    calls = [SORT.format("$0"), "host_call($1, call='cumsum()') : float64[6, 9]"]
    without = text_of(chains, ["%2", "%4"])
    text = text_of([*chains, *calls], ["%2", "%4", "%5", "%6"])
    assert kernels(text) == kernels(without)
    assert [len(region.nodes) for region in hosts(text)] == [1, 1]


@pytest.mark.parametrize("chain", ["exp($0)", SUM.format("$0"), "divide($0, $1)"])
def test_a_call_on_inputs_is_as_good_as_an_input(chain):
    with_call = [SORT.format("$1"), chain, "add(%1, %0)", "multiply(%2, 3.0)"]
    text = text_of(with_call, ["%3"])
    (found,) = kernels(text)
    plain = text_of([chain, "add(%0, $1)", "multiply(%1, 3.0)"], ["%2"])
    assert [found] == kernels(plain)


def test_what_a_call_parts_is_two_kernels_and_others_join_either():
    lines = ["exp($0)", SORT.format("%0"), "add(%1, 1.0)", "log($0)", "multiply(%3, %2)"]
    text = text_of(lines, ["%4"])
    assert [names for _, names in kernels(text)] == [["exp"], ["log", "add", "multiply"]]
    (call,) = hosts(text)
    assert [node.op.name for node in call.inputs] == ["exp"]


def test_chains_of_calls_keep_no_kernels_apart():
    """What waits for one call and what waits for three may be one kernel."""
    lines = [
        *("exp($0)", SORT.format("%0"), SORT.format("%1"), SORT.format("%2")),
        *("add(%1, 1.0)", "subtract(%3, %4)"),
    ]
    assert [names for _, names in kernels(text_of(lines, ["%5"]))] == [["exp"], ["add", "subtract"]]


def test_a_value_that_a_call_reads_is_stored_and_the_reason_told():
    text = text_of(["exp($0)", SORT.format("%0"), "add(%1, %0)"], ["%2"])
    first, _, last = grow(parsed(text))
    assert [node.op.name for node in first.outputs] == ["exp"]
    assert any("sort() is stored for add: NumPy computes it" in str(r) for r in last.reasons)


@pytest.mark.parametrize(
    ("operand", "stored"),
    [
        ("transpose($0, axes=(1, 0))", 0),  # shown
        ("slice($0, starts=(0, 8), steps=(1, -1), shape=(6, 9))", 0),
        ("reshape($0, shape=(54,))", 0),
        ("broadcast_to($2, shape=(3, 2))", 1),  # of a number: there is no memory to show
        ("iota(start=0, step=1) : float64[5]", 1),
    ],
)
def test_operands_without_memory_are_stored_for_a_call(operand, stored):
    text = f"{X}$2 : float64[] by value\n%0 = {operand}\n"
    text += "%1 = host_call(%0, call='count_nonzero()') : int64[]\nreturn %1 -> fresh ()\n"
    found = grow(parsed(text))
    assert len(found) == 1 + stored
    assert found[-1].kind == "host"


def test_numbers_are_no_inputs_to_be_stored():
    text = f"{X}$2 : float64[] by value\n"
    text += "%0 = host_call($0, $2, float64(2.0), call='roll()') : float64[6, 9]\n"
    (region,) = grow(parsed(f"{text}return %0 -> fresh (0, 1)\n"))
    assert [node.params["index"] for node in region.inputs] == [0, 2]


def test_calls_that_nobody_asks_for_are_dropped():
    text = text_of([SORT.format("$0"), "exp($0)"], ["%1"])
    assert len(eliminate_dead(parsed(text)).nodes) == 2


def test_equal_calls_of_equal_operands_are_made_once():
    lines = [
        "divide($0, 2.0)",
        "multiply($0, 0.5)",
        SORT.format("%0"),
        SORT.format("%1"),
        "divide(%2, %3)",
    ]
    found = optimize(parsed(text_of(lines, ["%4"])), verify=True)
    assert sum(node.op.kind == "host" for node in found.nodes) == 1
