"""Exceptions: NumPy's own type and message at the user's line; the oracle is plain Python."""

import sys
import threading
import traceback

import numpy as np
import pytest

import runmat_jit as runmat
from runmat_jit.capture.capturer import Capturer
from runmat_jit.capture.known import trees_of
from runmat_jit.capture.replay.bailout import LetThrough, kind_of_call
from runmat_jit.capture.replay.bypass import make_bypass
from runmat_jit.capture.replay.steps import RaiseStep
from runmat_jit.capture.replay.tree import segments_of
from runmat_jit.core.stack_space import frames_left
from runmat_jit.runtime.session import current_session
from tests.capture.behavior import check, check_module, compare, observe

# Where nothing may be raised, Python can but tell of an interrupt or of too deep a recursion.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")

PROGRAMS = []


def program(fn):
    PROGRAMS.append(fn)
    return fn


def matrix(rng):
    return (rng.normal(size=(3, 4)),)


@program
def shapes_do_not_match(a):
    return a + a.T


@program
def an_axis_does_not_exist(a):
    b = a * 2
    return b.sum(axis=2)


@program
def a_shape_has_another_size(a):
    return (a + 1).reshape(5, 5)


@program
def an_index_is_out_of_range(a):
    b = a * 2
    return b[7]


@program
def an_index_of_an_element_is_out_of_range(a):
    b = a * 2
    return b[1, 4]


@program
def too_many_indices(a):
    return a[0, 0, 0]


@program
def an_index_is_no_index(a):
    return a["x"]


@program
def an_item_is_set_out_of_range(a):
    a[0] = 5
    a[3] = 1
    return a


@program
def an_item_is_set_to_another_shape(a):
    a[0] = a[:, 0]


@program
def an_in_place_result_has_another_dtype(a):
    n = np.arange(4)
    n += a[0]


@program
def a_keyword_is_unknown(a):
    return np.sin(a, nonsense=1)


@program
def a_dtype_is_unknown(a):
    return a.astype("nonsense")


@program
def an_attribute_is_missing(a):
    return a.nonsense


@program
def an_attribute_of_a_scalar_is_missing(a):
    return a.sum().nonsense


@program
def a_scalar_takes_no_items(a):
    s = a.sum()
    s[0] = 1


@program
def a_scalar_has_no_length(a):
    return len(a[0, 0])


@program
def a_0d_array_has_no_length(a):
    return len(np.asarray(a[0, 0]))


@program
def the_truth_of_an_array(a):
    if a > 0:
        return 1


@program
def too_many_arguments(a):
    return np.add(a, a, a, a)


@program
def an_operand_of_another_class(a):
    return a + "text"


@program
def an_array_is_no_key(a):
    return {a: 1}


@program
def unpacking_fails(a):
    x, y = a
    return x


@program
def an_assertion_fails(a):
    a += 1
    if not a.sum() > 1e9:
        raise AssertionError(f"the sum is {a.shape}")


@program
def a_name_is_missing(a):
    return a + missing_name


@program
def a_local_is_missing(a):
    if a.shape == ():
        y = 1
    return y


@program
def the_error_is_caught(a):
    try:
        b = a @ a
    except ValueError as error:
        b = str(error)
    finally:
        a[0] = 7
    return b, a * 2


@program
def the_error_is_chained(a):
    try:
        a.reshape(5)
    except ValueError as error:
        raise KeyError("k") from error


@program
def the_error_is_raised_again(a):
    try:
        return a[9]
    except IndexError:
        a[0] = 1
        raise


@program
def raised_after_a_write(a):
    a[0] = 5
    if a[1, 0] > -99:
        raise ValueError(f"no {a.shape}")
    return a


@program
def a_helper_raises(a):
    def inner(b):
        return b.reshape(1, 1)

    return inner(a * 2)


@program
def inside_a_comprehension(a):
    return [row[9] for row in a]


@program
def a_linear_system_is_singular(a):
    a[0] = 2
    return np.linalg.inv(np.zeros((2, 2)) + a[0, 0] * 0)


@program
def an_empty_maximum(a):
    return a[:0].max()


@program
def a_negative_integer_power(a):
    return np.arange(3) ** -1


@program
def a_cast_that_is_not_safe(a):
    return np.add(a, 1, dtype=np.int64, casting="safe")


@program
def an_output_of_another_shape(a):
    np.add(a, 1, out=np.empty(3))


@program
def concatenation_of_other_ranks(a):
    return np.concatenate([a, a[0]])


@program
def stacking_of_other_shapes(a):
    return np.stack([a, a.T])


@program
def a_shape_is_set_wrongly(a):
    a.shape = (5,)


@program
def deleting_an_item_of_an_array(a):
    del a[0]


@program
def calling_an_array(a):
    return a(1)


@program
def iterating_over_a_number(a):
    return list(a.sum())


@program
def an_int_from_nan(a):
    return int((a * np.nan).sum())


@program
def division_of_python_numbers_by_zero(a):
    n = a.shape[0] - 3
    a[0] = 1
    return 1 / n


@program
def an_index_of_a_list(a):
    rows = [a[0], a[1]]
    return rows[5]


@program
def a_key_of_a_dict(a):
    return {"x": a}["y"]


@program
def a_keyword_of_a_helper(a):
    def inner(b, *, c):
        return b

    return inner(a)


@program
def a_number_is_iterated_in_a_comprehension(a):
    b = np.array(a.size) + 1
    c = b.reshape(())
    return [item for item in c]


@program
def there_is_no_memory_for_zeros(a):
    a[0] = 1
    return np.zeros((10**7, 10**7)) + a


@program
def there_is_no_memory_for_a_result_that_nobody_needs(a):
    a[0] = 1
    try:
        np.add.outer(np.broadcast_to(a[0], (2**30, 4)), np.ones((2**10, 2**10)))
    except MemoryError as error:
        return type(error).__name__, str(error), a * 2


@program
def an_array_has_more_elements_than_there_are_addresses(a):
    a[0] = 1
    return np.zeros((2**40, 2**40)) + a


@pytest.mark.parametrize("fn", PROGRAMS, ids=lambda fn: fn.__name__)
def test_errors_are_numpys(fn):
    check(fn, matrix)


@pytest.mark.parametrize("fn", PROGRAMS, ids=lambda fn: fn.__name__)
def test_errors_are_numpys_on_integers(fn):
    check(fn, lambda rng: (rng.integers(0, 9, (3, 4)),), seeds=(0, 0))


READ_ONLY = []


def on_read_only(fn):
    READ_ONLY.append(fn)
    return fn


@on_read_only
def a_read_only_item(a):
    a[0] = 1


@on_read_only
def a_read_only_in_place(a):
    a += 1


@on_read_only
def a_read_only_out(a):
    np.add(a, 1, out=a)


@on_read_only
def a_read_only_view(a):
    b = a.T[1:]
    b *= 2


@on_read_only
def a_read_only_fill(a):
    a.fill(0)


@on_read_only
def a_read_only_copyto(a):
    np.copyto(a, 1)


@on_read_only
def a_read_only_broadcast(a):
    b = np.broadcast_to(a + 1, (2, 3, 4))
    b[0] = 1


@on_read_only
def a_read_only_diagonal(a):
    d = (a + 1).diagonal()
    d[0] = 1


@on_read_only
def read_only_in_a_try(a):
    try:
        a[0] = 1
    except ValueError as error:
        return str(error), a + 1


@pytest.mark.parametrize("fn", READ_ONLY, ids=lambda fn: fn.__name__)
def test_read_only_arrays(fn):
    def make(rng):
        a = rng.normal(size=(3, 4))
        a.flags.writeable = False
        return (a,)

    check(fn, make)


def test_whether_an_array_is_writeable_is_part_of_the_key():
    def fn(a):
        a[0] = 1
        return a * 2

    decorated = runmat.jit(fn)
    for writeable in (True, False, True, False):
        pair = []
        for f in (fn, decorated):
            a = np.ones((3, 4))
            a.flags.writeable = writeable
            pair.append(observe(f, (a,), {}))
        compare(*pair)


def test_an_argument_error_is_pythons():
    def fn(a, b=1, *, c=2):
        return a

    x = np.ones(3)
    decorated = runmat.jit(fn)
    for args, kwargs in (((), {}), ((x, 2, 3), {}), ((x,), {"d": 1}), ((x,), {"a": 2})):
        said = []
        for call in (fn, decorated):
            with pytest.raises(TypeError) as caught:
                call(*args, **kwargs)
            said.append(str(caught.value))
        assert said[0] == said[1]


def test_an_index_that_goes_out_of_range_in_a_later_call():
    def fn(x, i):
        x[0] = 3
        y = x * 2
        return y[i]

    values = iter([2, 2, 2, 2, 9, 9, -1, -1, 2, 2])
    check(fn, lambda rng: (rng.normal(size=3), next(values)), seeds=(0, 1, 2, 3, 4))


def test_a_matrix_that_becomes_singular_in_a_later_call():
    def fn(a):
        return np.linalg.inv(a) + 1

    check(fn, lambda rng: (np.diag(rng.permutation([0.0, 1.0, 2.0])[:2]),), seeds=range(12))


def test_a_matrix_that_is_singular_after_a_write():
    def fn(a):
        a += 1
        return np.linalg.inv(a)

    check(fn, lambda rng: (np.diag(rng.permutation([0.0, 1.0, 2.0])[:2]) - 1,), seeds=range(12))


def test_division_by_a_number_that_becomes_zero():
    def fn(x, t):
        x[0] += 1
        return x * (1 / t)

    values = {0: 2.0, 1: 0.0, 2: 4.0}
    order = {np.random.default_rng(seed).normal(): seed for seed in values}
    check(fn, lambda rng: (np.zeros(2), values[order[rng.normal()]]), seeds=(0, 0, 1, 1, 2))


def test_an_index_array_that_goes_out_of_range_in_a_later_call():
    def fn(x, i):
        return x[i] * 2

    check(fn, lambda rng: (rng.normal(size=4), rng.integers(0, 6, 2)), seeds=range(8))


def test_a_keyboard_interrupt_goes_through_and_leaves_no_recording():
    def fn(x):
        y = x + 1
        raise KeyboardInterrupt

    decorated = runmat.jit(fn)
    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            decorated(np.ones(3))
    assert no_recording_is_active(decorated)


def test_an_exception_leaves_no_recording():
    def fn(x):
        return x.reshape(99)

    decorated = runmat.jit(fn)
    with pytest.raises(ValueError):
        decorated(np.ones(3))
    assert no_recording_is_active(decorated)
    assert isinstance(decorated._captured[1].capturer, Capturer)


def no_recording_is_active(decorated):
    return decorated._captured[1].capturer.active.tracer is None


def test_an_exceptions_values_are_real():
    class Told(Exception):
        pass

    def fn(x):
        error = Told(x.sum(), [x])
        error.extra = {"x": x * 2}
        raise error

    decorated = runmat.jit(fn)
    for _ in range(2):
        with pytest.raises(Told) as caught:
            decorated(np.ones(3))
        assert type(caught.value.args[0]) is np.float64
        assert type(caught.value.args[1][0]) is np.ndarray
        assert type(caught.value.extra["x"]) is np.ndarray


def test_the_traceback_shows_each_user_line_once():
    def helper(x):
        return x.reshape(99)

    def fn(x):
        return helper(x + 1)

    decorated = runmat.jit(fn)
    for _ in range(2):
        try:
            decorated(np.ones(3))
        except ValueError as error:
            frames = traceback.extract_tb(error.__traceback__)
        names = [frame.name for frame in frames if frame.filename == __file__]
        assert names == [sys._getframe().f_code.co_name, "fn", "helper"]


def test_the_traceback_has_no_frames_of_hooks():
    def fn(x):
        return (x + 1).reshape(99)

    decorated = runmat.jit(fn)
    try:
        decorated(np.ones(3))
    except ValueError as error:
        frames = traceback.extract_tb(error.__traceback__)
    assert frames[-1].name == "fn"


RECURSIVE = """
def change(number): pass
def f(x, n=700):
    return x if n == 0 else f(x + 1, n - 1)
"""


def test_recursion_is_as_deep_as_in_plain_python():
    check_module(RECURSIVE, lambda rng: (rng.normal(size=2),), replayed=True)


def test_recursion_without_end_is_an_error():
    def fn(x):
        return fn(x + 1)

    decorated = runmat.jit(fn)
    limit = sys.getrecursionlimit()
    for _ in range(2):
        with pytest.raises(RecursionError):
            decorated(np.ones(2))
    assert sys.getrecursionlimit() == limit


def frames_of_python(kind):
    """How deep an undecorated recursion gets, and a decorated one."""

    def down(n=0):
        try:
            return down(n + 1)
        except RecursionError:
            return n

    expected, plain = down(), down
    down = runmat.jit(down)
    if kind == "disabled":
        with runmat.disable():
            return expected, down()
    if kind == "bypass":
        session = current_session()
        kinds = [LetThrough(kind_of_call(plain.__code__, args, {})) for args in ((), (1,))]
        bypass = make_bypass(plain, kinds, session, plain, room=session.room.for_frames(1))
        down._dispatcher.install(bypass)
    return expected, down()


@pytest.mark.parametrize("kind", ["disabled", "bypass", "recorded"])
def test_a_recursion_gets_as_deep_as_undecorated(kind):
    expected, found = frames_of_python(kind)
    assert expected - 10 <= found
    assert found <= expected + (10 if kind != "recorded" else expected // 4)


@pytest.mark.parametrize("limit", [700, 1000, 1500])
def test_the_limit_of_recursion_is_the_users(limit):
    """In every phase of a decorated function, and in other threads meanwhile."""

    def fn(x):
        limits = [sys.getrecursionlimit()]
        other = threading.Thread(target=lambda: limits.append(sys.getrecursionlimit()))
        other.start()
        other.join()
        return x + 1, limits

    before = sys.getrecursionlimit()
    sys.setrecursionlimit(limit)
    try:
        decorated = runmat.jit(fn)
        for _ in range(20):
            assert decorated(np.ones(2))[1] == [limit, limit]
        with runmat.disable():
            assert decorated(np.ones(2))[1] == [limit, limit]
    finally:
        sys.setrecursionlimit(before)


def test_a_limit_that_a_function_sets_stays():
    before = sys.getrecursionlimit()

    def fn(x, limit):
        sys.setrecursionlimit(limit)
        return x + 1

    decorated = runmat.jit(fn)
    try:
        for limit in range(before + 1, before + 20):
            decorated(np.ones(2), limit)
            assert sys.getrecursionlimit() == limit
    finally:
        sys.setrecursionlimit(before)
    room, left = current_session().room, frames_left()
    with room:
        pass
    assert room._own.entered == 0
    assert 0 < left.value < before


def test_an_exception_in_one_thread_does_not_disturb_another():
    def fn(x, n):
        if n % 2:
            raise ValueError(n)
        return x * n

    decorated, wrong = runmat.jit(fn), []

    def work(n):
        for _ in range(20):
            try:
                if decorated(np.ones(2), n)[0] != n:
                    wrong.append(n)
            except ValueError as error:
                if error.args != (n,):
                    wrong.append(error)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


@pytest.mark.parametrize("first", [1.5, np.nan, np.inf, -np.inf, 1e300, -2.0])
@pytest.mark.parametrize("dtype", ["i1", "u2", "i8", "?", "f4"])
def test_a_float_that_becomes_an_element_is_converted_as_numpy_does(first, dtype):
    def fn(n, x):
        n[0] = x[0]
        n[1] = x.sum() * 0 + 1
        return n * 2, x + 1

    values = [1.0, first, first, 1.0]
    plain, decorated = fn, runmat.jit(fn)
    for value in values:
        calls = []
        for function in (plain, decorated):
            args = np.zeros(2, dtype), np.array([value, 1.0])
            calls.append(observe(function, args, {}))
        compare(*calls)


# -- calls that succeed first, and raise later -----------------------------------------------------
def inverse_or_none(a):
    b = a * 2
    try:
        return np.linalg.inv(b) + b
    except np.linalg.LinAlgError as error:
        return b, error.args


def taken_or_what_is_wrong(x, place):
    y = np.sort(x)
    try:
        z = np.take(y, place, mode="raise")
    except IndexError as error:
        return y, error.args
    return z * 2


def several_are_taken(x, place):
    y, found = np.sort(x), []
    for step in range(3):
        try:
            found.append(np.take(y, place + step, mode="raise"))
        except IndexError:
            found.append(None)
    return found, y


def a_quotient_of_whole_numbers(x, _place):
    y = np.cumsum(x)
    try:
        return y / (1 // int(y[-1]))
    except ZeroDivisionError:
        return y


def after_a_write(x, place):
    x[0] = 7
    y = np.sort(x)
    x += 1
    try:
        x += np.take(y, place)
    except IndexError:
        x -= 1
    return x


def an_element_by_a_computed_place(x, place):
    order = np.argsort(x)
    total = 0.0
    try:
        for step in range(3):
            total = total + x[order[place[0] + step]]
    except IndexError:
        return total, "past the end"
    return total


LATER = [
    *(taken_or_what_is_wrong, several_are_taken, a_quotient_of_whole_numbers, after_a_write),
    an_element_by_a_computed_place,
]


@pytest.mark.parametrize("fn", LATER, ids=lambda fn: fn.__name__)
def test_calls_that_raise_later_than_they_succeed_are_repeated(fn):
    def make(rng):
        return rng.normal(size=5) / 2, rng.integers(0, 8, size=1)

    check(fn, make, seeds=(*range(8), *range(8), *range(8)))


def test_both_outcomes_of_a_call_that_may_raise_are_recorded_once():
    regular, singular = np.eye(3) * 2, np.ones((3, 3))
    for order in ((regular, singular), (singular, regular)):
        decorated = runmat.jit(inverse_or_none)
        for each in (*order, *order):
            assert repr(decorated(each)) == repr(inverse_or_none(each))
        misses = decorated.cache_info().misses
        for each in (*order, order[1], *order):
            assert repr(decorated(each)) == repr(inverse_or_none(each))
        assert decorated.cache_info().misses == misses <= 3


def test_a_call_that_succeeds_is_made_once_whatever_it_raised_before():
    decorated = runmat.jit(taken_or_what_is_wrong)
    x, good, bad = np.arange(5.0), np.array([2]), np.array([9])
    for place in (good, bad, good, bad, good):
        decorated(x, place)
    tree = decorated._captured[1]
    kinds = [
        [any(type(step) is RaiseStep for step in each.steps) for each in segments]
        for root in trees_of(tree)
        for fork in [root, *(s.exit for s in segments_of(root) if hasattr(s.exit, "outcomes"))]
        for segments in fork.outcomes.values()
    ]
    assert [False, True] in kinds
    assert [True, False] not in kinds


def test_an_exception_that_leaves_the_call_later_is_pythons():
    def fn(x, place):
        y = np.sort(x)
        return np.take(y, place, mode="raise") * 2

    check(fn, lambda rng: (rng.normal(size=5), rng.integers(0, 8, size=1)), seeds=(*range(8),) * 2)
