"""Decorated functions as objects: kinds, metadata, threads, processes; oracle: plain Python."""

import asyncio
import copy
import functools
import inspect
import multiprocessing
import os
import pickle
import subprocess
import sys
import textwrap
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import runmat_jit as runmat
from tests.capture.behavior import check, compare, module, observe


def half(x, k=0.5):
    """Half of it."""
    return x * k


def test_a_decorated_function_keeps_its_metadata():
    decorated = runmat.jit(half)
    assert decorated.__name__ == "half"
    assert decorated.__qualname__ == half.__qualname__
    assert decorated.__doc__ == half.__doc__
    assert decorated.__module__ == half.__module__
    assert decorated.__wrapped__ is half
    assert inspect.signature(decorated) == inspect.signature(half)
    assert callable(decorated)


class Model:
    def __init__(self, w):
        self.w = w

    @runmat.jit
    def run(self, x):
        return x * self.w

    @runmat.jit
    @staticmethod
    def still(x):
        return x + 1

    @staticmethod
    @runmat.jit
    def other(x):
        return x + 2

    @classmethod
    @runmat.jit
    def made(cls, x):
        return cls(x * 2).w

    @property
    @runmat.jit
    def twice(self):
        return self.w * 2

    def __eq__(self, other):
        return self is other

    __hash__ = None


class Small:
    def __init__(self, w):
        self.w = w

    @runmat.jit
    def run(self, x):
        return x * self.w

    @functools.cached_property
    def total(self):
        return self.w.sum()


class Child(Small):
    @runmat.jit
    def run(self, x):
        return super().run(x) + 1


def test_methods():
    x = np.arange(3.0)
    for w in (np.ones(3), np.arange(3.0), np.float64(2), 3):
        for kind in (Model, Small):
            for _ in range(2):
                assert kind(w).run(x).tolist() == (x * w).tolist()
        assert Child(w).run(x).tolist() == (x * w + 1).tolist()
        model = Model(w)
        assert Model.run(model, x).tolist() == (x * w).tolist()
        assert np.all(model.twice == w * 2)
        assert model.run.__self__ is model
    for _ in range(2):
        assert Model.still(x).tolist() == [1, 2, 3]
        assert Model(1).other(x).tolist() == [2, 3, 4]
        assert Model.made(x).tolist() == [0, 2, 4]


def test_methods_of_plain_objects_are_replayed():
    decorated = Small.__dict__["run"]
    before = decorated.cache_info().hits
    for k in range(4):
        Small(np.ones(3) * k).run(np.ones(3))
    assert decorated.cache_info().hits >= before + 3


@runmat.jit
def factorial_like(x, n):
    return x if n == 0 else factorial_like(x * n, n - 1)


@runmat.jit
def outer(x):
    return inner(x) + inner(x * 2)


@runmat.jit
def inner(x):
    x += 1
    return x * 3


def test_recursion_and_calls_of_decorated_functions():
    for _ in range(3):
        assert factorial_like(np.ones(2), 4).tolist() == [24, 24]
        x = np.ones(2)
        assert outer(x).tolist() == [6 + 15, 6 + 15]
        assert x.tolist() == [2, 2]


def test_a_decorated_function_within_another_is_part_of_its_trace():
    before = inner.cache_info()
    decorated = runmat.jit(lambda x: inner(x) * 2)
    for _ in range(3):
        decorated(np.ones(2))
    assert inner.cache_info() == before
    assert decorated.cache_info().hits == 2


def test_lambdas_partials_and_wrapped_functions():
    scale = 3.0
    scaled = runmat.jit(lambda x: x * scale)
    part = functools.partial(runmat.jit(half), k=2.0)

    def doubled(f):
        @functools.wraps(f)
        def wrapper(*args, **kwargs):
            return f(*args, **kwargs) * 2

        return wrapper

    for _ in range(3):
        assert scaled(np.ones(2)).tolist() == [3, 3]
        assert part(np.ones(2)).tolist() == [2, 2]
        assert runmat.jit(doubled(half))(np.ones(2)).tolist() == [1, 1]
        assert doubled(runmat.jit(half))(np.ones(2)).tolist() == [1, 1]


def test_functions_without_source():
    text = """
scale = 2.0
def f(x):
    y = np.sin(x) * scale
    y[0] = 5
    return y, x.sum()
"""
    namespace = {"np": np}
    exec(text, namespace)
    fn = namespace["f"]
    decorated = runmat.jit(fn)
    for number in range(4):
        namespace["scale"] = float(number)
        x = np.arange(3.0)
        compare(observe(fn, (x.copy(),), {}), observe(decorated, (x.copy(),), {}))
    assert decorated.cache_info().hits == 0


def test_classes_are_refused_with_their_methods():
    with pytest.raises(TypeError, match="is a class; decorate its methods"):
        runmat.jit(Small)


def test_generators_and_coroutines_run_as_they_are():
    @runmat.jit
    def counting(x):
        got = yield x.sum()
        yield x * got

    @runmat.jit
    async def waiting(x):
        await asyncio.sleep(0)
        return x * 2

    @runmat.jit
    async def streaming(x):
        yield x

    for _ in range(2):
        g = counting(np.ones(2))
        assert next(g) == 2.0
        assert g.send(3).tolist() == [3, 3]
        assert asyncio.run(waiting(np.ones(2))).tolist() == [2, 2]
        assert inspect.isasyncgen(streaming(np.ones(2)))


def test_decorated_functions_are_pickled_by_name():
    for made in (pickle.loads(pickle.dumps(outer)), copy.copy(outer), copy.deepcopy(outer)):
        assert made(np.ones(2)).tolist() == outer(np.ones(2)).tolist()


# -- threads and processes -------------------------------------------------------------------------
def in_threads(count, work):
    errors = []

    def guarded(number):
        try:
            work(number)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=guarded, args=(n,)) for n in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []


@pytest.fixture
def quick_switches():
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(interval)


@pytest.mark.usefixtures("quick_switches")
@pytest.mark.parametrize("repetition", range(6))
def test_six_threads_that_call_first_at_once(repetition):
    def fn(x, k):
        y = x
        for i in range(20):
            y = y * 0.5 + i
        x[0] = repetition
        if k > 2:
            return y + 1, x
        return y - 1, x

    decorated, barrier = runmat.jit(fn), threading.Barrier(6)

    def work(number):
        barrier.wait()
        for _ in range(6):
            x = np.arange(5.0) + number
            expected = fn(x.copy(), number)
            found = decorated(x, number)
            assert np.array_equal(found[0], expected[0])
            assert found[1] is x
            assert x[0] == repetition

    in_threads(6, work)


@pytest.mark.usefixtures("quick_switches")
def test_concurrent_replays_on_arguments_of_their_own():
    def fn(x, t):
        x += t
        return (x * 2).sum(), np.sin(x) * 0 + x

    decorated = runmat.jit(fn)
    decorated(np.ones(1000), 1.0)

    def work(number):
        for step in range(50):
            x = np.full(1000, float(number))
            total, again = decorated(x, float(step))
            assert total == 2000.0 * (number + step)
            assert again[7] == number + step

    in_threads(6, work)
    info = decorated.cache_info()  # calls that gain nothing are plain Python
    assert (info.misses, info.traces, info.retraces) == (1, 1, 0)
    assert 0 < info.hits <= 300


def test_one_thread_records_while_another_runs_plain_code_with_its_values():
    def fn(x):
        with ThreadPoolExecutor(2) as pool:
            return list(pool.map(lambda a: a + x.sum(), [x, x * 2]))

    check(fn, lambda rng: (rng.normal(size=3),), seeds=(0, 0))


def test_a_thread_started_inside_that_outlives_the_call():
    def fn(x):
        found, done = [], threading.Event()

        def later():
            done.wait()
            found.append(x * 2)

        thread = threading.Thread(target=later)
        thread.start()
        y = x + 1
        return y, found, done, thread

    decorated = runmat.jit(fn)
    for _ in range(2):
        y, found, done, thread = decorated(np.ones(2))
        done.set()
        thread.join()
        assert type(found[0]) is np.ndarray
        assert found[0].tolist() == [2, 2]


def test_a_forked_child_replays_and_records():
    def fn(x):
        return np.sqrt(x) + x.sum()

    decorated = runmat.jit(fn)
    expected = decorated(np.arange(4.0)).tolist()
    read, write = os.pipe()
    child = os.fork()
    if child == 0:  # the child must never come back into the test runner
        status = 1
        try:
            good = decorated(np.arange(4.0)).tolist() == expected
            good = good and decorated(np.arange(9.0).astype("f4")).shape == (9,)
            os.write(write, b"good" if good else b"bad!")
            status = 0
        finally:
            os._exit(status)
    _, status = os.waitpid(child, 0)
    assert (status, os.read(read, 4)) == (0, b"good")


def test_a_spawned_process_gets_a_decorated_function(tmp_path):
    script = tmp_path / "program.py"
    script.write_text(
        textwrap.dedent("""
        import multiprocessing
        import numpy as np
        import runmat_jit as runmat

        @runmat.jit
        def twice(x):
            return x * 2

        if __name__ == "__main__":
            with multiprocessing.get_context("spawn").Pool(1) as pool:
                print(pool.map(twice, [np.ones(2), np.zeros(2)]))
        """)
    )
    root = Path(runmat.__file__).parents[1]
    environment = {**os.environ, "PYTHONPATH": str(root)}
    done = subprocess.run(
        [sys.executable, script], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[array([2., 2.]), array([0., 0.])]"


def test_multiprocessing_by_fork():
    with multiprocessing.get_context("fork").Pool(1) as pool:
        assert pool.map(half_of, [2.0, 4.0]) == [1.0, 2.0]


@runmat.jit
def half_of(x):
    return x * 0.5


# -- caches ----------------------------------------------------------------------------------------
def test_a_loop_over_shapes_keeps_a_bounded_number_of_records():
    decorated = runmat.jit(lambda x: x + 1)
    for n in range(300):
        decorated(np.zeros(n))
    assert decorated.cache_info().keys <= 256


def test_outcomes_of_guards_are_bounded():
    def fn(x, n):
        return x * 2 if n > 5 else x * n

    decorated = runmat.jit(fn)
    for n in range(40):
        assert decorated(np.ones(2), n).tolist() == fn(np.ones(2), n).tolist()
    assert decorated.cache_info().traces <= 16


def test_clearing_the_cache_changes_nothing():
    decorated = runmat.jit(half)
    first = decorated(np.ones(2)).tolist()
    decorated.clear_cache()
    assert decorated.cache_info().keys == 0
    assert decorated(np.ones(2)).tolist() == first


def test_switched_off_functions_run_as_plain_python():
    decorated = runmat.jit(half)
    with runmat.disable():
        decorated(np.ones(2))
    assert decorated.cache_info().misses == 0


def test_functions_of_equal_code_in_two_files_are_two():
    text = """
def f(x):
    return x.reshape(99)
"""
    first, second = module(text, "first"), module(text, "second")
    for namespace in (first, second, first):
        fn = namespace["f"]
        compare(observe(fn, (np.ones(2),), {}), observe(runmat.jit(fn), (np.ones(2),), {}))
