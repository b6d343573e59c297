import pytest

from benchmarks.cases.image_4k import CASE


@pytest.mark.parametrize("shape", [CASE.small_shape, CASE.quick_shape, CASE.default_shape], ids=str)
def test_image_4k(measure, shape):
    measure(CASE, shape)
