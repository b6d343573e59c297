"""Choice of a device. Oracle: the rules, written out."""

import pytest

from runmat_jit.plan.device import CPU, Device, choose_device
from tests.graph.host_calls import parsed

GPU = Device("gpu", frozenset({"exp"}))
NEGATIVE = parsed("$0 : float64[4] strides (1,)\n%0 = negative($0)\nreturn %0 -> fresh (0,)\n")
NONE_THERE = Device("cpu", reason="no adapter was found")


def unasked():
    raise AssertionError("nobody needs a GPU")


def test_without_need_no_gpu_is_opened():
    assert choose_device("cpu", NEGATIVE, unasked) == CPU


def test_a_program_with_a_host_call_stays_where_the_call_is():
    text = "$0 : float64[4] strides (1,)\n%0 = negative($0)\n"
    text += "%1 = host_call(%0, call='sort()') : float64[4]\nreturn %1 -> fresh (0,)\n"
    chosen = choose_device("gpu", parsed(text), unasked)
    assert chosen == Device("cpu", reason="sort() is computed by NumPy, in the host's memory")


@pytest.mark.parametrize("found", [GPU, NONE_THERE])
def test_the_gpu_decides_whether_it_can_be_used(found):
    assert choose_device("gpu", NEGATIVE, lambda: found) == found
