"""What ``jit`` gives, as an object. Oracle: the undecorated function, as Python treats it."""

import asyncio
import contextvars
import copy
import doctest
import functools
import inspect
import linecache
import logging
import os
import pickle
import subprocess
import sys
import textwrap
import threading
import traceback
import types
import weakref
import zipfile
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

import cloudpickle
import numpy as np
import pytest

import runmat_jit as runmat

ROOT = Path(__file__).parents[1]
X = np.arange(3.0)


def half(x, k=0.5):
    """Half of it.

    >>> half(np.ones(1)).item()
    0.5
    """
    return x * k


decorated_half = runmat.jit(half)


@runmat.jit
def double(x):
    """Twice as much.

    >>> double(np.ones(1)).item()
    2.0
    """
    return x * 2


def twice(function, *args):
    """Two calls, of which the second is repeated."""
    return function(*args), function(*args)


# -- what may be decorated -------------------------------------------------------------------------
class Scale:
    """Has every kind of attribute that is called."""

    def __init__(self, k):
        self.k = k

    def run(self, x):
        return x * self.k

    def __call__(self, x):
        return x + self.k

    @runmat.jit
    @property
    def doubled(self):
        return self.k * 2

    @property
    @runmat.jit
    def tripled(self):
        return self.k * 3


CALLABLES = {
    "partial": lambda: functools.partial(half, k=3.0),
    "partial of a partial": lambda: functools.partial(functools.partial(half), k=4.0),
    "partial of a decorated function": lambda: functools.partial(decorated_half, k=5.0),
    "bound method": lambda: Scale(2.0).run,
    "object with __call__": lambda: Scale(7.0),
    "ufunc": lambda: np.negative,
    "method of a ufunc": lambda: np.add.reduce,
    "NumPy function": lambda: np.cumsum,
    "lambda": lambda: lambda x: x - 1,
    "builtin": lambda: len,
    "class method": lambda: dict.fromkeys,
}


@pytest.mark.parametrize("name", CALLABLES)
def test_what_is_called_like_a_function(name):
    expected = CALLABLES[name]()(X)
    decorated = runmat.jit(CALLABLES[name]())
    for found in twice(decorated, X):
        np.testing.assert_equal(found, expected)
    assert decorated.__name__
    assert decorated.__qualname__ in str(decorated.explain(X))


def test_partials_and_methods_are_repeated_and_see_changes():
    scale = Scale(2.0)
    partial = functools.partial(half, k=2.0)
    method, bound = runmat.jit(scale.run), runmat.jit(partial)
    inside = runmat.jit(lambda x: bound(x) + method(x))
    for factor in (2.0, 2.0, 3.0, 3.0, 3.0):
        scale.k = partial.keywords["k"] = factor
        for call in (method, bound):
            assert call(X).tolist() == (X * factor).tolist()
        assert inside(X).tolist() == (X * 2 * factor).tolist()
    assert min(f.cache_info().hits for f in (method, bound, inside)) >= 2


def test_a_cached_function():
    @runmat.jit
    @functools.cache
    def slow(n):
        return np.ones(n)

    first, second = twice(slow, 3)
    assert first is second
    assert slow.__name__ == "slow"


def test_properties():
    scale = Scale(np.ones(2))
    for _ in range(2):
        assert scale.doubled.tolist() == [2, 2]
        assert scale.tripled.tolist() == [3, 3]


@pytest.mark.parametrize("what", [3, None, "text", np.ones(2), functools.cached_property(half)])
def test_what_cannot_be_called_is_refused(what):
    with pytest.raises(TypeError):
        runmat.jit(what)(np.ones(2))


def test_a_class_is_refused_with_its_methods():
    with pytest.raises(runmat.ArgumentError, match=r"decorate its methods.*run, __call__"):
        runmat.jit(Scale)


def test_decorating_twice_keeps_the_options_asked_for_last():
    assert runmat.jit(decorated_half) is decorated_half
    other = runmat.jit(decorated_half, fullgraph=True)
    assert other is not decorated_half
    assert runmat.jit(other) is other
    assert other.__wrapped__ is half


# -- it looks like the function --------------------------------------------------------------------
def test_it_tells_what_the_function_would():
    assert inspect.signature(decorated_half) == inspect.signature(half)
    assert inspect.getsource(decorated_half) == inspect.getsource(half)
    assert inspect.getdoc(decorated_half) == inspect.getdoc(half)
    assert inspect.unwrap(decorated_half) is half
    assert decorated_half.__code__ is half.__code__
    assert decorated_half.__annotations__ == half.__annotations__
    assert weakref.ref(decorated_half)() is decorated_half
    assert {decorated_half: 1}[decorated_half] == 1
    assert functools.wraps(decorated_half)(lambda: 0).__name__ == "half"


def test_defaults_changed_later_hold_at_once():
    def scaled(x, k=2.0, *, shift=0.0):
        return x * k + shift

    decorated = runmat.jit(scaled)
    assert twice(decorated, X)[1].tolist() == [0, 2, 4]
    scaled.__defaults__ = (3.0,)
    assert twice(decorated, X)[1].tolist() == [0, 3, 6]
    decorated.__defaults__ = (4.0,)
    decorated.__kwdefaults__ = {"shift": 1.0}
    assert twice(decorated, X)[1].tolist() == [1, 5, 9]
    assert scaled.__defaults__ == (4.0,)


def test_generators_and_coroutines_are_known_as_such():
    async def wait():
        return 1

    def count():
        yield 1

    assert inspect.iscoroutinefunction(runmat.jit(wait))
    assert inspect.isgeneratorfunction(runmat.jit(count))
    assert asyncio.run(runmat.jit(wait)()) == 1
    assert list(runmat.jit(count)()) == [1]
    assert runmat.jit(count).explain().reasons[0].id == "generator-function"


def test_a_method_asked_without_its_object_says_how_to_ask():
    class Model:
        @runmat.jit
        def run(self, x):
            return x * 2

    with pytest.raises(runmat.ArgumentError, match="of a method with the object first"):
        Model().run.explain(X)
    assert Model.run.explain(Model(), X).kinds == ["elementwise"]


def test_methods_of_dataclasses_bases_and_super():
    @dataclass
    class Base:
        k: float

        @runmat.jit
        def run(self, x):
            return x * self.k

    class Child(Base):
        @runmat.jit
        def run(self, x):
            return super().run(x) + self.offset()

        def offset(self):
            return 1

    class Grandchild(Child):
        def offset(self):
            return 2

    for _ in range(2):
        assert Base(3.0).run(X).tolist() == [0, 3, 6]
        assert Child(3.0).run(X).tolist() == [1, 4, 7]
        assert Grandchild(3.0).run(X).tolist() == [2, 5, 8]


# -- copies and processes --------------------------------------------------------------------------
def test_copies_are_the_object_itself_as_those_of_functions_are():
    local = runmat.jit(lambda x: x + 1)
    for each in (double, local):
        assert copy.copy(each) is each
        assert copy.deepcopy([each])[0] is each
    assert pickle.loads(pickle.dumps(double)) is double


def test_what_pickle_cannot_carry_is_refused_as_for_functions():
    with pytest.raises((pickle.PicklingError, AttributeError)):
        pickle.dumps(runmat.jit(lambda x: x + 1))


def test_cloudpickle_carries_source_and_options_and_no_traces(tmp_path):
    path = tmp_path / "program.py"
    path.write_text("import runmat_jit as runmat\nk = 3.0\ndef scaled(x):\n    return x * k\n")
    namespace = {"__name__": "__main__"}
    exec(compile(path.read_text(), str(path), "exec"), namespace)
    decorated = runmat.jit(namespace["scaled"], fullgraph=True)
    small = len(cloudpickle.dumps(decorated))
    decorated(np.ones(3))
    data = cloudpickle.dumps(decorated)
    assert len(data) == small
    path.unlink()
    linecache.checkcache(str(path))
    loaded = pickle.loads(data)
    assert loaded._options == decorated._options
    for found in twice(loaded, X):  # without its source fullgraph=True would raise
        assert found.tolist() == [0, 3, 6]
    assert loaded.cache_info().hits == 1
    assert pickle.loads(cloudpickle.dumps(loaded))(X).tolist() == [0, 3, 6]


def test_cloudpickle_carries_what_a_script_defines(tmp_path):
    script, out = tmp_path / "script.py", tmp_path / "f.pickle"
    script.write_text(
        textwrap.dedent(f"""
        import cloudpickle, pickle, pathlib
        import runmat_jit as runmat

        @runmat.jit
        def power(x, n):
            return x if n == 1 else x * power(x, n - 1)

        assert pickle.dumps(power) != cloudpickle.dumps(power)
        pathlib.Path({str(out)!r}).write_bytes(cloudpickle.dumps(power))
        """)
    )
    python(script)
    assert pickle.loads(out.read_bytes())(X + 1, 3).tolist() == [1, 8, 27]


def python(*arguments, **options):
    """Run Python in a process of its own: what it printed."""
    environment = {**__import__("os").environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, *arguments],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        **options,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_executors():
    with ThreadPoolExecutor(2) as pool:
        assert [y.tolist() for y in pool.map(double, [X, X + 1])] == [[0, 2, 4], [2, 4, 6]]
    with ProcessPoolExecutor(1, mp_context=get_context("fork")) as pool:
        assert pool.submit(double, X).result().tolist() == [0, 2, 4]


# -- switching off ---------------------------------------------------------------------------------
def test_disable_nests_is_of_one_thread_and_decorates():
    decorated = runmat.jit(lambda x: x + 1)
    count = lambda: decorated.cache_info().misses + decorated.cache_info().hits
    with runmat.disable():
        with runmat.disable():
            decorated(X)
        decorated(X)
        assert count() == 0
        thread = threading.Thread(target=decorated, args=(X,))
        thread.start()
        thread.join()
        assert count() == 1

    @runmat.disable()
    def plainly():
        """Keeps its name."""
        return decorated(X)

    for _ in range(2):
        plainly()
    assert plainly.__name__ == "plainly"
    assert count() == 1
    with pytest.raises(ZeroDivisionError), runmat.disable():
        raise ZeroDivisionError
    decorated(X)
    assert count() == 2


def test_what_watches_lines_sees_plain_python():
    lines, values = [], []

    def shifted(x):
        y = x + 1
        return y * 2

    decorated = runmat.jit(shifted)
    decorated(X)

    def watch(frame, event, argument):
        if frame.f_code.co_name == "shifted":
            lines.append(frame.f_lineno - shifted.__code__.co_firstlineno)
            values.append(type(frame.f_locals["x"]))
        return watch

    before = sys.gettrace()
    sys.settrace(watch)
    try:
        decorated(X)
    finally:
        sys.settrace(before)
    assert lines == [0, 1, 2, 2]
    assert set(values) == {np.ndarray}


def test_breakpoints_see_plain_python(monkeypatch):
    seen = []
    monkeypatch.setattr(
        sys, "breakpointhook", lambda: seen.append(type(sys._getframe(1).f_locals["y"]))
    )

    def shifted(x):
        y = x + 1
        breakpoint()  # noqa: T100  (what is tested)
        return y * 2

    twice(runmat.jit(shifted), X)
    assert seen == [np.ndarray] * 2


# -- tracebacks and the log ------------------------------------------------------------------------
def files_of(error):
    return [Path(f.filename).name for f in traceback.extract_tb(error.__traceback__)]


@pytest.mark.parametrize("disabled", [False, True])
def test_tracebacks_show_no_frames_of_ours(disabled):
    def inner(x):
        return x.reshape(99)

    def outer(x):
        try:
            return runmat.jit(inner)(x)
        except ValueError as error:
            raise KeyError("again") from error

    decorated = runmat.jit(outer)
    for _ in range(2):
        with pytest.raises(KeyError) as caught, runmat.disable() if disabled else Nothing():
            decorated(X)
        mine = Path(__file__).name
        assert set(files_of(caught.value)) <= {mine, "contextlib.py"}
        assert set(files_of(caught.value.__cause__)) == {mine}
    with pytest.raises(TypeError, match="missing 1 required") as caught:
        decorated()
    assert set(files_of(caught.value)) == {mine}


class Nothing:
    def __enter__(self):
        return self

    def __exit__(self, *_):
        return None


def test_the_error_of_fullgraph_ends_at_the_users_line():
    @runmat.jit(fullgraph=True)
    def takes_the_time(x):
        y = x * 2
        os.getpid()
        return y

    for _ in range(2):
        with pytest.raises(runmat.CaptureError) as caught:
            takes_the_time(X)
        last = traceback.extract_tb(caught.value.__traceback__)[-1]
        assert last.line.startswith("os.getpid()")
        assert f"{__file__}:{last.lineno}" in str(caught.value)
    assert pickle.loads(pickle.dumps(caught.value)).reason.id == "unknown-call"


@pytest.mark.parametrize(
    ("compute", "size", "message"),
    [
        (lambda x: x * 2, 4, "plain Python from now on"),
        (lambda x: x, 2_000_000, "plain Python from now on"),
    ],
)
def test_a_hot_function_that_needs_python_has_one_line_in_the_log(caplog, compute, size, message):
    @runmat.jit
    def prints(x, out):
        print(x.shape, file=out)
        return compute(x)

    quick, x = runmat.jit(lambda x: x + 1), np.ones(size)
    with caplog.at_level(logging.DEBUG, "runmat_jit"), open("/dev/null", "w") as out:  # noqa: PTH123
        for _ in range(250):
            prints(x, out)
            quick(X)
    (record,) = caplog.records
    assert message in record.getMessage()
    assert "prints" in record.getMessage()
    assert "test_jit_function.py" in record.getMessage()


# -- where the source is ---------------------------------------------------------------------------
SOURCE = "import runmat_jit as runmat\n\n@runmat.jit\ndef f(x):\n    return x * 2 + 1\n"


def is_repeated(function):
    assert [y.tolist() for y in twice(function, X)] == [[1, 3, 5]] * 2
    return function.cache_info().hits == 1


def test_functions_of_zipped_modules(tmp_path, monkeypatch):
    with zipfile.ZipFile(tmp_path / "modules.zip", "w") as archive:
        archive.writestr("zipped_module.py", SOURCE)
    monkeypatch.syspath_prepend(str(tmp_path / "modules.zip"))
    import zipped_module  # noqa: PLC0415  (made a moment ago)

    assert is_repeated(zipped_module.f)


def test_functions_of_compiled_modules_without_source_are_plain_python_and_explained(
    tmp_path, monkeypatch
):
    import py_compile  # noqa: PLC0415  (only here)

    source = tmp_path / "only_compiled.py"
    source.write_text(SOURCE)
    py_compile.compile(str(source), str(tmp_path / "only_compiled.pyc"))
    source.unlink()
    monkeypatch.syspath_prepend(str(tmp_path))
    import only_compiled  # noqa: PLC0415  (made a moment ago)

    assert not is_repeated(only_compiled.f)
    assert only_compiled.f.explain(X).reasons[0].id == "no-source"
    assert only_compiled.f.explain(X).mode == "plain Python"


@pytest.mark.parametrize("flag", ["-O", "-OO", "-B"])
def test_flags_of_the_interpreter(tmp_path, flag):
    script = tmp_path / "script.py"
    text = '    """Doc."""\n    assert x.ndim, "text"\n    if __debug__:\n        x = x + 0\n'
    source = SOURCE.replace("f(x):\n", f"f(x):\n{text}")
    script.write_text(f"import numpy as np\n{source}\nf(np.ones(2)), f(np.ones(2))\n")
    with script.open("a") as file:
        file.write("print(f.cache_info().hits)\n")
    assert python(flag, str(script)).strip() == "1"


def test_several_lambdas_on_a_line():
    functions = [runmat.jit(f) for f in (lambda x: x * 2 + 1, lambda x: 1 + x * 2)]
    assert all(map(is_repeated, functions))
    pair = lambda k: (runmat.jit(lambda x: x * k + 1), runmat.jit(lambda x: x * k - k + 3))
    assert all(map(is_repeated, pair(2)))


def cell(text, number):
    """What a notebook does: a cell is compiled by itself, its text is in linecache."""
    name = f"<ipython-input-{number}>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    return compile(text, name, "exec")


def test_cells_of_a_notebook_with_and_without_imports():
    namespace = {"__name__": "__main__"}
    exec(cell(SOURCE, 1), namespace)
    assert is_repeated(namespace["f"])
    exec(cell("@runmat.jit\ndef f(x):\n    return 1 + x * 2\n", 2), namespace)
    assert is_repeated(namespace["f"])
    exec(cell("g = runmat.jit(lambda x: f(x) * 1)\n", 3), namespace)
    assert is_repeated(namespace["g"])


def test_doctests_of_decorated_functions_are_found_and_run():
    module = types.ModuleType("documented")
    module.__dict__.update(np=np, double=double, half=half)
    finder = doctest.DocTestFinder()
    (found,) = finder.find(double, "double", module=False, globs=module.__dict__)
    assert doctest.DocTestRunner().run(found).failed == 0
    assert found.examples


def test_contexts_carry_over():
    variable = contextvars.ContextVar("variable", default=1.0)

    @runmat.jit
    def scaled(x):
        return x * variable.get()

    for value in (1.0, 2.0, 2.0):
        variable.set(value)
        assert scaled(X).tolist() == (X * value).tolist()


# -- names that Python knows ---------------------------------------------------------------------
def test_functions_that_python_makes_class_methods_are_such():
    class Base:
        made = ()

        @runmat.jit
        def __class_getitem__(cls, key):
            return cls, key

        @runmat.jit
        def __init_subclass__(cls, scale=1):
            cls.made = (*cls.made, cls.__name__, scale)

    class Derived(Base, scale=3):
        pass

    assert Base[2] == (Base, 2)
    assert Derived["x"] == (Derived, "x")
    assert Derived.made == ("Derived", 3)
    assert Base.made == ()
