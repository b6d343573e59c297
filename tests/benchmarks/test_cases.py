"""The measured programs and their checks; oracles: float64 arithmetic, errors put in by hand."""

import numpy as np
import pytest

from benchmarks.cases import CASES
from benchmarks.cases.case import uniform

SHAPES = {"elementwise": (4097,), "image_4k": (2, 20, 30)}


def first_of(result):
    return result[0] if isinstance(result, tuple) else result


@pytest.fixture(params=CASES)
def case(request):
    return CASES[request.param]


def test_uniform_numbers_are_the_congruential_step_of_their_index():
    expected = [(1664525 * i + 1013904223) % 2**32 / 2**32 for i in range(5, 9)]
    np.testing.assert_array_equal(uniform(4, 5), np.float32(expected))


def test_inputs_are_reproducible_and_differ_between_steps(case):
    shape = SHAPES[case.name]
    (first,), (again,), (other,) = (case.make_inputs(shape, step) for step in (0, 0, 1))
    assert first.dtype == np.float32
    assert first.shape == shape
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


@pytest.mark.parametrize("step", [0, 1])
def test_numpy_passes_with_room_to_spare(case, step):
    inputs = case.make_inputs(SHAPES[case.name], step)
    parity = case.check(inputs, case.function(*inputs))
    assert parity.ok
    assert parity.worst < 0.5


@pytest.mark.parametrize("wrong", [0.01, np.nan])
def test_one_wrong_element_fails(case, wrong):
    inputs = case.make_inputs(SHAPES[case.name], 0)
    result = case.function(*inputs)
    first_of(result).flat[17] += wrong
    assert not case.check(inputs, result).ok


def test_the_answer_of_the_other_input_fails(case):
    inputs, other = (case.make_inputs(SHAPES[case.name], step) for step in (0, 1))
    assert not case.check(inputs, case.function(*other)).ok


def test_double_precision_is_refused(case):
    inputs = case.make_inputs(SHAPES[case.name], 0)
    result = case.function(*(array.astype(np.float64) for array in inputs))
    assert not case.check(inputs, result).ok


def test_a_wrong_metric_fails_though_every_pixel_is_right():
    case = CASES["image_4k"]
    inputs = case.make_inputs(SHAPES[case.name], 0)
    out, mse = case.function(*inputs)
    assert not case.check(inputs, (out, mse * np.float32(1.0001))).ok


def test_a_result_of_another_shape_fails(case):
    inputs = case.make_inputs(SHAPES[case.name], 0)
    result = case.function(*(array[:1] for array in inputs))
    assert not case.check(inputs, result).ok
