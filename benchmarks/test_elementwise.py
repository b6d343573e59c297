import pytest

from benchmarks.cases.elementwise import CASE


@pytest.mark.parametrize("shape", [CASE.small_shape, CASE.quick_shape, CASE.default_shape], ids=str)
def test_elementwise(measure, shape):
    measure(CASE, shape)
