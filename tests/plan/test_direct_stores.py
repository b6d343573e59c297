"""Stores that kernels make in the memory of inputs. Oracle: rules by hand, one graph each."""

import pytest

from runmat_jit.graph.parse import parse
from runmat_jit.passes.fusion.grower import grow
from runmat_jit.plan.device import Device
from runmat_jit.plan.make_plan import make_plan

INPUTS = """$0 : float64[4, 3] strides (3, 1)
$1 : bool[4, 3] strides (3, 1)
$2 : float64[] by value
"""
STORE = "%0 = putmask($0, $1, $2) : float64[4, 3]\n"
INTO = "return %0 -> into $0 offset 0 strides (3, 1)\n"


def direct(text, device=None):
    graph = parse(text)
    plan = make_plan(graph, grow(graph), *([] if device is None else [device]))
    return {node.op.name: base.params["index"] for node, base in plan.direct.items()}


@pytest.mark.parametrize(
    "text",
    [
        INPUTS + STORE + INTO,
        INPUTS + "%9 = less($0, $2)\n%0 = putmask($0, %9, $2) : float64[4, 3]\n" + INTO,
        INPUTS + STORE + "%1 = negative(%0)\nreturn %1 -> fresh (0, 1)\n" + INTO,
        INPUTS + "%9 = negative($0)\n%0 = putmask(%9, $1, $2) : float64[4, 3]\n" + INTO,
        INPUTS.replace("[4, 3] strides (3, 1)", "[4, 1] strides (1, 1)")
        + "%0 = putmask($0, $1, $2) : float64[4, 1]\n"
        + "return %0 -> into $0 offset 0 strides (1, 1)\n",
    ],
)
def test_a_masked_store_into_a_whole_array_is_made_in_its_memory(text):
    assert direct(text) == {"putmask": 0}


@pytest.mark.parametrize(
    "text",
    [
        # an event may be reported, for which NumPy computes from the inputs
        INPUTS + STORE + "%1 = multiply(%0, $2)\nreturn %1 -> fresh (0, 1)\n" + INTO,
        # another store
        INPUTS + "%0 = negative($0)\n" + INTO,
        # not whole, or in another order
        INPUTS + STORE + INTO.replace("(3, 1)", "(-3, 1)").replace("offset 0", "offset 9"),
        INPUTS.replace("float64[4, 3] strides (3, 1)", "float64[4, 3] strides (6, 2)")
        + STORE
        + INTO.replace("(3, 1)", "(6, 2)"),
        # the input is read elsewhere: by a later region, through a view, as a result
        INPUTS
        + STORE
        + "%1 = sum(%0, axis=(0, 1), keepdims=False, dtype=None) : float64[]\n"
        + "return %1 -> fresh ()\n"
        + INTO,
        INPUTS
        + STORE
        + "%1 = slice($0, starts=(3, 0), steps=(-1, 1), shape=(4, 3)) : float64[4, 3]\n"
        + "%2 = maximum(%0, %1)\nreturn %2 -> fresh (0, 1)\n"
        + INTO,
        INPUTS
        + STORE
        + "%1 = broadcast_to(%0, shape=(2, 4, 3)) : float64[2, 4, 3]\n"
        + "%2 = negative(%1)\nreturn %2 -> fresh (0, 1, 2)\n"
        + INTO,
        INPUTS + STORE + "return $0 -> fresh (0, 1)\n" + INTO,
        # the value is a result, too, or goes to the input twice
        INPUTS + STORE + "return %0 -> fresh (0, 1)\n" + INTO,
        INPUTS + STORE + INTO + INTO,
    ],
)
def test_others_are_committed_when_everything_has_been_computed(text):
    assert direct(text) == {}


def test_devices_have_memory_of_their_own():
    assert direct(INPUTS + STORE + INTO, Device("gpu", frozenset())) == {}
