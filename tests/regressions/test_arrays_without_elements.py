"""Arrays of size 0. Oracle: NumPy, values, shapes and dtypes."""

import numpy as np
import pytest

import runmat_jit as runmat


def differences_beside_their_operand(a):
    d = np.diff(a)
    v = np.fmax(np.rint(a), 0.5)
    return v, np.sign(v), np.logical_and(np.abs(d), np.rint(a)), np.any(d, axis=1)


def statistics_and_elements(a):
    return np.sum(a * 2, axis=-1), np.abs(a), np.any(a, axis=0), np.negative(a) + 1


@pytest.mark.parametrize("disabled", ["", "reduction", "all"])
@pytest.mark.parametrize(
    ("function", "shape"),
    [
        (differences_beside_their_operand, (9, 1)),
        (statistics_and_elements, (9, 0)),
        (statistics_and_elements, (0, 9)),
        (statistics_and_elements, (9, 0, 20)),
        (statistics_and_elements, (20, 0, 3)),
    ],
)
def test_a_region_without_elements_is_lowered(function, shape, disabled):
    a = np.ones(shape, np.float32)
    before = runmat.config().disable_fusion
    runmat.config(disable_fusion=disabled)
    try:
        compiled = runmat.jit(function)
        results = [compiled(a) for _ in range(3)]
    finally:
        runmat.config(disable_fusion=before)
    for result in results:
        for found, expected in zip(result, function(a), strict=True):
            assert found.dtype == expected.dtype
            np.testing.assert_array_equal(found, expected, strict=True)
