"""Choice of a device. Oracle: the rules, written out."""

import pytest

from runmat_jit.plan.device import CPU, Device, choose_device

GPU = Device("gpu", frozenset({"exp"}))
NONE_THERE = Device("cpu", reason="no adapter was found")


def unasked():
    raise AssertionError("nobody needs a GPU")


def test_without_need_no_gpu_is_opened():
    assert choose_device("cpu", unasked) == CPU


@pytest.mark.parametrize("found", [GPU, NONE_THERE])
def test_the_gpu_decides_whether_it_can_be_used(found):
    assert choose_device("gpu", lambda: found) == found
