"""Functions and classes that decorated calls make. Oracle: undecorated Python."""

import pickle
import subprocess
import sys
import threading

import cloudpickle
import numpy as np
import pytest

import runmat_jit as runmat

CALLS = 9
"""Recorded, replayed, left to Python."""


def closure(s):
    def add(y):
        return np.sin(y) + s

    return add


def several(s):
    a = lambda y: y + s
    b = lambda y: y * s
    return [a, b, {"c": lambda y, k=s: y - k}]


def recursive(s):
    def down(n):
        return s if n == 0 else down(n - 1) + 1

    return down


def of_a_variable_around(s):
    return lambda y: y * FACTOR + s


FACTOR = 3.0


def with_attributes(s, *, k=2.0):
    def scaled(y: float, *, by: "float" = 2.0) -> float:
        """Scale it."""
        return y * by * k + s

    scaled.note = "kept"
    return scaled


def methods(s):
    class Model:
        factor = s

        def __init__(self, y):
            self.y = y

        def run(self):
            return self.y * self.factor + s

        @staticmethod
        def twice(y):
            return 2 * y + s

        @property
        def half(self):
            return self.y / 2 + s

    return Model(4.0)


def eager(s):
    y = np.tanh(np.ones(3) * s)
    print(end="")
    return lambda z: z**2 + y.sum()


def called_with(made, y):
    if isinstance(made, list):
        return [made[0](y), made[1](y), made[2]["c"](y)]
    if hasattr(made, "run"):
        return [made.run(), made.twice(y), made.half]
    return made(int(y)) if made.__name__ == "down" else made(y)


@pytest.mark.parametrize(
    "make",
    [closure, several, recursive, of_a_variable_around, with_attributes, methods, eager],
)
def test_they_can_be_pickled_and_do_the_same(make):
    decorated = runmat.jit(make)
    for _ in range(CALLS):
        made, plain = decorated(2.0), make(2.0)
        copied = pickle.loads(cloudpickle.dumps(made))
        for each in (made, copied):
            np.testing.assert_allclose(called_with(each, 3.0), called_with(plain, 3.0), rtol=1e-14)


@pytest.mark.parametrize("make", [closure, recursive, of_a_variable_around, with_attributes])
def test_they_look_as_the_program_wrote_them(make):
    decorated = runmat.jit(make)
    for _ in range(CALLS):
        made, plain = decorated(2.0), make(2.0)
        for name in (
            *("__name__", "__qualname__", "__doc__", "__module__", "__defaults__"),
            *("__kwdefaults__", "__annotations__", "__dict__"),
        ):
            assert getattr(made, name) == getattr(plain, name), name
        assert made.__code__.co_freevars == plain.__code__.co_freevars
        assert made.__code__ == plain.__code__


def test_a_function_that_others_have_been_given_is_the_same_one():
    registered = []

    def program(x):
        def callback(y):
            return y + x

        registered.append(callback)
        first = callback in registered, callback is registered[-1], callback == registered[-1]
        registered.remove(callback)
        registered.append(callback)
        registered.append(callback)
        return first, registered[-1] is registered[-2], callback not in registered

    decorated = runmat.jit(program)
    for call in range(CALLS):
        found, expected = decorated(np.ones(2)), program(np.ones(2))
        assert found == expected == ((True, True, True), True, False), call
        assert registered[0](1.0).tolist() == [2.0, 2.0]
        registered.clear()


def test_a_thread_runs_one():
    @runmat.jit
    def program(x):
        found = []

        def work():
            found.append(x.sum())

        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        return found

    for _ in range(CALLS):
        assert program(np.ones(4)) == [4.0]


def test_another_process_needs_nothing_of_ours(tmp_path):
    path = tmp_path / "closure.pickle"
    path.write_bytes(cloudpickle.dumps(runmat.jit(lambda s: lambda y: y + s)(2.0)))
    code = (
        "import pickle, sys; made = pickle.loads(open(sys.argv[1], 'rb').read());"
        "assert made(1.0) == 3.0; assert 'runmat_jit' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code, path], check=True)
