"""What programs tell and ask: streams, loggers, warnings, clocks, the environment.

The oracle is plain Python.
"""

import io
import logging
import os
import random
import sys
import time
import warnings

import numpy as np
import pytest

import runmat_jit as runmat
from tests.capture.behavior import check, compare, observe


def vector(rng):
    return (np.round(rng.normal(size=6), 3),)


def to_the_standard_output(x):
    print("first", x[0], file=sys.stdout)
    print(x[1], sep="", file=None, flush=True)
    sys.stdout.write(f"{x[2]:.2f}\n")
    write = sys.stdout.write
    count = write("text\n")
    sys.stdout.flush()
    return x * 2, count


def with_a_default(x):
    def report(text, file=sys.stdout):
        print(text, file=file)

    report(f"{x[0]:.1f}")
    return x + 1


@pytest.mark.parametrize("program", [to_the_standard_output])
def test_streams_get_the_text_of_each_call(program):
    check(program, vector, seeds=(0, 1, 2, 0))


def test_a_stream_that_is_a_default():
    check(with_a_default, vector, seeds=(0, 1, 2, 0))


def test_errors_go_to_where_they_went(capsys):
    def program(x):
        print("careful", x[0], file=sys.stderr)
        return x * 2

    decorated = runmat.jit(program)
    for seed in range(4):
        x = np.round(np.random.default_rng(seed).normal(size=4), 3)
        program(x)
        expected = capsys.readouterr()
        decorated(x)
        assert capsys.readouterr() == expected


def test_a_stream_that_becomes_another_one(monkeypatch):
    def program(x):
        sys.stdout.write(f"{x[0]}\n")
        return x * 2

    class Shouting(io.StringIO):
        def write(self, text):
            return super().write(text.upper() + "!")

    decorated, x = runmat.jit(program), np.array([1.5, np.inf])
    for kind in (io.StringIO, io.StringIO, Shouting, io.StringIO, Shouting):
        texts = []
        for fn in (program, decorated):
            stream = kind()
            monkeypatch.setattr(sys, "stdout", stream)
            fn(x)
            texts.append(stream.getvalue())
        assert texts[0] == texts[1], kind


def test_a_stream_that_is_closed_by_the_program_is_closed_in_each_call():
    def program(x, stream):
        with stream:
            print(x[0], file=stream)
        return x * 2

    decorated = runmat.jit(program)
    for _ in range(4):
        stream = io.StringIO()
        decorated(np.ones(3), stream)
        assert stream.closed


def mapped(x):
    list(map(print, [x[0], "a"]))
    list(map(sys.stdout.write, ["b\n"]))
    for _ in map(warnings.warn, ["c"]):
        pass
    return x * 2


def test_what_builtins_are_given_to_call_is_told_in_each_call():
    check(mapped, vector, seeds=(0, 1, 2, 0))


# -- warnings --------------------------------------------------------------------------------------
def at_the_caller(x):
    warnings.warn("of the caller", stacklevel=2)
    return x * 2


def at_the_caller_of_the_caller(x):
    warnings.warn("of its caller", RuntimeWarning, stacklevel=3)
    return x * 2


def beyond_all_callers(x):
    warnings.warn("of nobody", stacklevel=1000)
    return x * 2


def of_a_helper(x):
    def require(value):
        warnings.warn(f"length {len(value)}", UserWarning, stacklevel=2)
        return value * 2

    def beneath(value):
        warnings.warn("two levels up", DeprecationWarning, 3)
        return require(value)

    return beneath(x)


def where_data_ask_for_it(x):
    if x.sum() > 0:
        warnings.warn(f"positive: {x.sum() > 0}", stacklevel=2)
        return x
    return x * 2


@pytest.mark.parametrize(
    "program",
    [
        at_the_caller,
        beyond_all_callers,
        of_a_helper,
        where_data_ask_for_it,
    ],
)
def test_warnings_belong_to_the_line_that_their_level_means(program):
    check(program, vector, seeds=(0, 1, 2, 3, 0, 1))


def test_a_level_above_the_caller():
    decorated = runmat.jit(at_the_caller_of_the_caller)
    x = np.ones(3)

    def call(fn):
        return fn(x)

    seen = []
    for fn in (at_the_caller_of_the_caller, decorated, decorated, decorated):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            call(fn)
        seen.append([(w.category, str(w.message), w.filename, w.lineno) for w in caught])
    assert seen == [seen[0]] * 4


def quietly(x):
    before = np.log(np.abs(x))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        inside = np.log(x)
    return before, inside, np.sqrt(x)


def quietly_by_name(x):
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="invalid", category=RuntimeWarning)
        warnings.warn("heard", stacklevel=1)
        y = np.sqrt(x)
        if y[0] > 0:
            return y
        y = np.sqrt(x - 1)
    return y + 1


def raising_inside(x):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if x[0] > 0:
            raise ValueError("positive")
        return np.sqrt(x)


def nested(x):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with warnings.catch_warnings():
            warnings.simplefilter("always")
            y = np.sqrt(x)
        return y, np.log(x)


@pytest.mark.parametrize("program", [quietly, quietly_by_name, nested])
def test_filters_hold_where_the_program_sets_them(program):
    check(program, vector, seeds=(0, 1, 2, 3, 0, 1))


@pytest.mark.parametrize("program", [quietly, quietly_by_name, raising_inside, nested])
def test_filters_are_put_back(program):
    decorated = runmat.jit(program)
    before = list(warnings.filters)
    for seed in (0, 1, 2, 3) * 3:
        (x,) = vector(np.random.default_rng(seed))
        compare(observe(program, (x,), {}), observe(decorated, (x,), {}))
        assert warnings.filters == before


def test_warnings_that_become_exceptions():
    def program(x):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            try:
                return np.sqrt(x)
            except RuntimeWarning as error:
                return str(error)

    check(program, vector, seeds=(0, 1, 2, 0))


# -- loggers ---------------------------------------------------------------------------------------
@pytest.fixture
def logger():
    made = logging.getLogger("runmat_jit_tests.told")
    made.propagate, made.handlers = False, []
    handler = logging.StreamHandler(io.StringIO())
    handler.setFormatter(logging.Formatter("%(levelname)s %(funcName)s %(lineno)d %(message)s"))
    made.addHandler(handler)
    made.setLevel(logging.INFO)
    yield made
    made.handlers = []


def logging_program(x):
    log = logging.getLogger("runmat_jit_tests.told")
    log.info("total %.2f of %s", x.sum(), "x")
    log.debug("not heard")
    y = x * 2
    log.warning(f"first {y[0]:.3f}")  # noqa: G004  (programs do)
    return y


def test_loggers_write_from_the_same_line(logger):
    del logger.handlers[1:]  # some versions of pytest listen to loggers that do not propagate
    decorated = runmat.jit(logging_program)
    stream = logger.handlers[0].stream
    for number in range(6):
        logger.setLevel((logging.INFO, logging.WARNING, logging.ERROR)[number % 3])
        texts = []
        for fn in (logging_program, decorated):
            stream.seek(0)
            stream.truncate()
            fn(np.arange(3.0) + number)
            texts.append(stream.getvalue())
        assert texts[0] == texts[1]


def test_other_handlers_are_called_by_python(logger):
    heard = []

    class Hearing(logging.Handler):
        def emit(self, record):
            heard.append(record.getMessage())

    decorated = runmat.jit(logging_program)
    x = np.arange(3.0)
    decorated(x)
    decorated(x)
    logger.addHandler(Hearing())
    for count in (2, 4):
        decorated(x)
        assert len(heard) == count
    assert heard[:2] == heard[2:] == ["total 3.00 of x", "first 0.000"]


# -- clocks, draws, the environment ----------------------------------------------------------------
def test_clocks_are_asked_in_each_call():
    def program(x):
        begin = time.perf_counter()
        y = np.exp(x)
        seconds = time.perf_counter() - begin
        return y, begin, seconds, f"{seconds:.1f}", time.time_ns()

    decorated, x = runmat.jit(program), np.ones(100)
    results = [decorated(x) for _ in range(6)]
    for _, begin, seconds, text, nanoseconds in results:
        assert (type(begin), type(seconds), type(nanoseconds)) == (float, float, int)
        assert seconds > 0
        assert text == f"{seconds:.1f}"
    assert sorted(r[1] for r in results) == [r[1] for r in results]
    assert len({r[1] for r in results}) == 6
    assert [r[4] for r in results] == sorted(r[4] for r in results)


def test_what_python_decides_by_a_clock(monkeypatch):
    def program(x):
        if time.monotonic() > 5:
            return x * 2
        return x + 1

    decorated, x = runmat.jit(program), np.arange(3.0)
    for now in (1.0, 2.0, 9.0, 3.0, 8.0, 7.0, 1.0):
        monkeypatch.setattr(time, "monotonic", lambda now=now: now)
        np.testing.assert_array_equal(decorated(x), program(x))


def test_the_module_random_draws_in_the_order_of_the_program():
    def program(x):
        y = x * random.random() + random.gauss(0, 1)
        if random.random() > 0.5:
            y += random.randint(1, 6)
        return y, random.uniform(2, 3)

    decorated, x = runmat.jit(program), np.arange(3.0)
    for seed in range(12):
        random.seed(seed)
        expected = observe(program, (x,), {}), random.getstate()
        random.seed(seed)
        found = observe(decorated, (x,), {}), random.getstate()
        compare(expected[0], found[0])
        assert expected[1] == found[1]


def test_a_draw_that_a_builtin_makes_is_another_one_in_each_call():
    def program(x):
        return x * next(iter(random.random, 2.0)) * next(map(random.gauss, [0], [1]))

    decorated, x = runmat.jit(program), np.arange(3.0)
    for seed in range(4):
        random.seed(seed)
        expected = observe(program, (x,), {})
        random.seed(seed)
        compare(expected, observe(decorated, (x,), {}))


def test_variables_of_the_environment_are_outside_state(monkeypatch):
    def program(x):
        scale = float(os.environ.get("RUNMAT_TESTS_SCALE", "2"))
        if "RUNMAT_TESTS_SHIFT" in os.environ:
            x = x + float(os.environ["RUNMAT_TESTS_SHIFT"])
        return x * scale, os.getenv("RUNMAT_TESTS_NAME"), os.path.join("a", "b")  # noqa: PTH118  (programs do)

    decorated, x = runmat.jit(program), np.arange(3.0)
    for scale, shift, name in [(None, None, None), ("3", None, "n"), ("3", "1", None)] * 3:
        for key, value in (("SCALE", scale), ("SHIFT", shift), ("NAME", name)):
            if value is None:
                monkeypatch.delenv(f"RUNMAT_TESTS_{key}", raising=False)
            else:
                monkeypatch.setenv(f"RUNMAT_TESTS_{key}", value)
        compare(observe(program, (x,), {}), observe(decorated, (x,), {}))


def test_a_missing_variable_raises():
    def program(x):
        return x * float(os.environ["RUNMAT_TESTS_NOT_THERE"])

    check(program, vector)


def test_what_the_interpreter_says_of_itself():
    def program(x):
        tiny = sys.float_info.epsilon
        return (x * tiny if sys.version_info >= (3, 8) else x), sys.maxsize

    check(program, vector, replayed=True)
