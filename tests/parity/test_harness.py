"""The parity harness finds what it is for; oracle: decorators that are wrong on purpose."""

import contextlib
import functools
import io
import re
import types
import warnings
from dataclasses import replace

import numpy as np
import pytest

from runmat_jit.api import JitFunction
from tests.parity.coverage import (
    Work,
    floor_of,
    measure,
    ratio,
    render,
    rows_of,
    versions,
    worse,
)
from tests.parity.parity import Configuration, DifferenceError, check
from tests.parity.program import programs

PROGRAMS = programs()


def identity(fn):
    return fn


def cached_by_shape(fn):
    results = {}

    @functools.wraps(fn)
    def call(*args):
        key = tuple((a.shape, a.dtype) for a in args)
        if key not in results:
            results[key] = fn(*args)
        return results[key]

    return call


def with_globals_baked(fn):
    return types.FunctionType(
        fn.__code__, dict(fn.__globals__), fn.__name__, fn.__defaults__, fn.__closure__
    )


def without_write_backs(fn):
    return functools.wraps(fn)(lambda *args: fn(*(a.copy() for a in args)))


def with_stale_results(fn):
    """Each call gives the result of the call before, the first its own."""
    before = []

    def call(*args):
        before.append(fn(*args))
        return before[max(0, len(before) - 2)]

    return functools.wraps(fn)(call)


def with_one_result_buffer(fn):
    """Results of later calls are written over those of earlier ones."""
    buffers = {}

    def call(*args):
        result = fn(*args)
        buffer = buffers.setdefault(result.shape, result)
        buffer[...] = result
        return buffer

    return functools.wraps(fn)(call)


def in_float32(fn):
    def call(*args):
        return fn(*(a.astype(np.float32) for a in args)).astype(args[0].dtype)

    return functools.wraps(fn)(call)


def with_draws_of_its_own(fn):
    def call(*args):
        np.random.random()
        return fn(*args)

    return functools.wraps(fn)(call)


def in_memory_order(fn):
    """Reads elements as they lie in memory, whatever the strides."""

    def call(*args):
        return fn(*(np.lib.stride_tricks.as_strided(a, a.shape, (a.itemsize,)) for a in args))

    return functools.wraps(fn)(call)


def silently(fn):
    def call(*args):
        with contextlib.redirect_stdout(io.StringIO()):
            return fn(*args)

    return functools.wraps(fn)(call)


def without_warnings(fn):
    def call(*args):
        with warnings.catch_warnings(action="ignore"):
            return fn(*args)

    return functools.wraps(fn)(call)


def with_errors_of_its_own(fn):
    def call(*args):
        try:
            return fn(*args)
        except ValueError as error:
            raise ValueError("shapes differ") from error

    return functools.wraps(fn)(call)


def with_copied_results(fn):
    return functools.wraps(fn)(lambda *args: tuple(np.copy(part) for part in fn(*args)))


BROKEN = {
    cached_by_shape: "guide_state.amplify",
    with_globals_baked: "guide_state.amplify",
    without_write_backs: "guide_state.swap_in_place",
    with_stale_results: "guide_state.amplify",
    with_one_result_buffer: "guide_state.amplify",
    in_float32: "guide_state.amplify",
    with_draws_of_its_own: "guide_state.amplify",
    in_memory_order: "guide_state.amplify",
    silently: "guide_text.prints_as_it_goes",
    without_warnings: "guide_missing.division_warns",
    with_errors_of_its_own: "guide_broadcasting.raises_for_shapes_that_do_not_match",
    with_copied_results: "guide_views.result_is_an_argument",
}


@pytest.mark.parametrize("decorate", BROKEN, ids=lambda decorate: decorate.__name__)
def test_a_decorator_that_changes_the_program_fails(decorate):
    program = PROGRAMS[BROKEN[decorate]]
    layout = "strided" if decorate is in_memory_order else "as made"
    configuration = Configuration(program.shapes[0], program.dtypes[0], layout)
    where = re.escape(f"{program.name} (data set ")
    with pytest.raises(
        DifferenceError, match=rf"^{where}\d, shape \([\d, ]+\), float64, {layout}\)"
    ):
        check(program, configuration, jit=decorate)


def with_a_false_alarm(fn):
    def call(*args):
        warnings.warn("invalid value encountered in matmul", RuntimeWarning, stacklevel=1)
        return fn(*args)

    return functools.wraps(fn)(call)


def test_an_alarm_of_numpys_library_is_no_difference_where_all_is_finite():
    program = PROGRAMS["guide_state.amplify"]
    check(program, Configuration((3,), "float32"), jit=with_a_false_alarm)
    infinite = replace(program, make=lambda *_: (np.array([1, np.inf], np.float32),))
    with pytest.raises(DifferenceError, match="invalid value encountered in matmul"):
        check(infinite, Configuration((2,), "float32"), jit=with_a_false_alarm)


class OneUlpOff(JitFunction):
    def __init__(self, fn):
        super().__init__(fn, {"device": None, "precision": "exact", "fullgraph": False})

    def __call__(self, *args):
        return np.nextafter(super().__call__(*args), np.inf)


def test_where_operations_are_bit_defined_the_last_bit_counts():
    program = PROGRAMS["guide_state.amplify"]
    configuration = Configuration(program.shapes[0], program.dtypes[0])
    with pytest.raises(DifferenceError):
        check(program, configuration, jit=OneUlpOff)


def test_a_difference_is_allowed_where_a_rounding_is_amplified_and_no_further():
    plain = PROGRAMS["guide_state.amplify"]
    amplified = replace(plain, amplified=lambda *_args: 1000.0)

    def off(by):
        return lambda fn: lambda *args: fn(*args) * (1 + by)

    configuration = Configuration(plain.shapes[0], "float64")
    check(amplified, configuration, jit=off(1e-11))
    with pytest.raises(DifferenceError):
        check(plain, configuration, jit=off(1e-11))
    with pytest.raises(DifferenceError):
        check(amplified, configuration, jit=off(1e-8))


def test_a_decorator_that_does_nothing_passes_but_has_no_coverage():
    program = PROGRAMS["guide_state.amplify"]
    coverage = measure(program, identity)
    assert worse(coverage, None).startswith("its Python runs again when warm")
    assert ratio([coverage]) == 0.0


def test_a_program_that_was_replayed_and_is_no_longer_fails_and_the_other_way_round_does_not():
    program = PROGRAMS["guide_state.amplify"]
    recorded, replayed = measure(program, identity), measure(program)
    page = render({program.name: recorded}, 0)
    assert worse(replayed, rows_of(page)[program.name]) == ""
    assert worse(recorded, None)
    page = render({program.name: replayed}, 0)
    assert worse(replayed, rows_of(page)[program.name]) == ""
    assert worse(recorded, rows_of(page)[program.name])


@pytest.mark.parametrize("count", Work._fields)
def test_a_warm_call_that_does_more_than_the_page_says_fails_and_one_that_does_less_does_not(count):
    program = PROGRAMS["guide_state.amplify"]
    found = measure(program)
    known = rows_of(render({program.name: found}, 0))[program.name]
    assert known.work == found.work
    assert found.work.kernels == 1
    more, less = (
        replace(found, work=found.work._replace(**{count: getattr(found.work, count) + by}))
        for by in (1, -1)
    )
    assert worse(more, known).startswith("a warm call does more")
    assert worse(less, known) == ""


def test_counts_of_other_versions_are_not_compared():
    program = PROGRAMS["guide_state.amplify"]
    found = measure(program)
    page = render({program.name: found}, 0).replace(versions(), "Python 2.7 and NumPy 1.0")
    assert rows_of(page)[program.name].work is None


def test_the_page_is_read_as_it_is_written():
    assert floor_of(render({}, 85)) == 85
