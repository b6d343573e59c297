"""Oracle: a mark in each function (a string it returns) that must stand in the source found."""

import __future__

import ast
import doctest
import functools
import importlib
import importlib.util
import linecache
import subprocess
import sys
import textwrap
import threading
import time
import types
import warnings
import zipfile

import pytest

from runmat_jit.capture.source import source_cache, source_text
from runmat_jit.capture.source.locate import SourceCache, locate
from runmat_jit.capture.source.source_text import parse_text

MODULE = """
import functools
import math

if math.pi > 3:
    def conditional(): return "mark conditional, taken"
else:
    def conditional(): return "mark conditional, not taken"

def same_name(): return "mark first"
first = same_name

def same_name(): return "mark second"

def decorator(f):
    @functools.wraps(f)
    def wrapper(): return f() + ", mark wrapper"
    return wrapper

@decorator
@functools.lru_cache(
    maxsize=None
)
def decorated():
    return "mark decorated"

class Outer:
    class Inner:
        def method(self): return "mark method"
    @property
    def prop(self): return "mark property"
    @staticmethod
    def static(x=(lambda: "mark in a default")): return "mark static"

def factory(n):
    if n:
        def made(): return "mark made, true", n
    else:
        def made(): return "mark made, false", n
    return made

def uses_imported(x): return "mark imported", math.sqrt(x), functools.partial(int)

lambdas = [lambda: "mark a", lambda: "mark b", (lambda x: lambda: "mark c")(0), lambda: (
    "mark d"), lambda: [f() for f in [lambda: "mark e"]]]; same = [lambda x: x, lambda x: x]

async def coroutine(): return "mark coroutine"
def generator(): yield "mark generator"
"""


def load(path, name="located_case"):
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def module(tmp_path):
    path = tmp_path / "located_case.py"
    path.write_text(MODULE)
    return load(path)


def mark_of(fn):
    """The mark in a function's own code, not in those of functions inside it."""
    consts = [
        c for const in fn.__code__.co_consts for c in (const if type(const) is tuple else [const])
    ]
    [mark] = [const for const in consts if isinstance(const, str) and "mark" in const]
    return mark


def found_mark(fn, **options):
    located = locate(fn, SourceCache(), **options)
    assert located, f"no source for {fn.__qualname__}"
    assert located.filename == fn.__code__.co_filename
    assert located.first_line == fn.__code__.co_firstlineno
    assert mark_of(fn) in ast.unparse(located.node)
    return located


FUNCTIONS = {
    "conditional": lambda m: m.conditional,
    "the first of one name": lambda m: m.first,
    "the second of one name": lambda m: m.same_name,
    "decorated": lambda m: m.decorated.__wrapped__.__wrapped__,
    "a wrapper": lambda m: m.decorated,
    "a method of an inner class": lambda m: m.Outer.Inner.method,
    "a property": lambda m: m.Outer.prop.fget,
    "a static method": lambda m: m.Outer.static,
    "a lambda in a default": lambda m: m.Outer.static.__defaults__[0],
    "made in one branch": lambda m: m.factory(1),
    "made in the other branch": lambda m: m.factory(0),
    "a user of imported modules": lambda m: m.uses_imported,
    "a coroutine": lambda m: m.coroutine,
    "a generator": lambda m: m.generator,
    "lambda a": lambda m: m.lambdas[0],
    "lambda b": lambda m: m.lambdas[1],
    "lambda d": lambda m: m.lambdas[3],
}


@pytest.mark.parametrize("which", FUNCTIONS)
def test_a_function_of_a_module_is_found(module, which):
    found_mark(FUNCTIONS[which](module))


def test_a_lambda_inside_a_lambda_is_found(module):
    inner = found_mark(module.lambdas[2])
    assert ast.unparse(inner.node) == "lambda: 'mark c'"
    outer = module.lambdas[4]
    located = locate(outer, SourceCache())
    assert ast.unparse(located.node) == "lambda: [f() for f in [lambda: 'mark e']]"


def test_two_equal_lambdas_on_a_line_are_told_apart_by_their_columns(module):
    columns = [locate(fn, SourceCache()).node.col_offset for fn in module.same]
    assert columns[0] < columns[1]


def test_the_class_around_a_function_is_known_for_its_private_names(module):
    cache = SourceCache()
    assert locate(module.Outer.Inner.method, cache).class_name == "Inner"
    assert locate(module.Outer.static, cache).class_name == "Outer"
    assert locate(module.factory(1), cache).class_name is None


def test_an_edited_file_is_no_source(tmp_path):
    path = tmp_path / "located_case.py"
    path.write_text("def f():\n    return 'mark 1'\n")
    before = load(path)
    found_mark(before.f)
    path.write_text("def f():\n    return 'mark 22'\n")
    assert locate(before.f, SourceCache()) is None
    found_mark(before.f, carried="def f():\n    return 'mark 1'\n")
    importlib.invalidate_caches()
    found_mark(load(path).f)


def test_a_file_in_which_only_lines_have_moved_is_no_source(tmp_path):
    path = tmp_path / "located_case.py"
    path.write_text("def f():\n    return 'mark'\n")
    module = load(path)
    path.write_text("\n\ndef f():\n    return 'mark'\n")
    assert locate(module.f, SourceCache()) is None


def test_a_deleted_file_is_no_source_but_a_carried_text_is(tmp_path):
    path = tmp_path / "located_case.py"
    path.write_text(MODULE)
    module = load(path)
    path.unlink()
    assert locate(module.first, SourceCache()) is None
    assert locate(module.first, SourceCache(), carried="def f(): pass") is None
    assert locate(module.first, SourceCache(), carried="def f(:") is None
    found_mark(module.first, carried=MODULE)


def test_generated_and_patched_code_has_no_source(module):
    namespace = {}
    exec("def f():\n    return 'mark'", namespace)
    assert locate(namespace["f"], SourceCache()) is None
    fn = module.first
    consts = tuple("other" if const == "mark first" else const for const in fn.__code__.co_consts)
    patched = types.FunctionType(fn.__code__.replace(co_consts=consts), fn.__globals__)
    assert locate(patched, SourceCache()) is None


def test_executed_text_that_linecache_knows_is_source():
    text = "f = lambda x: ('mark', x)\ndef g():\n    return 'mark g'\n"
    name = "<generated 1>"
    linecache.cache[name] = len(text), 1.0, text.splitlines(keepends=True), name
    namespace = {}
    exec(compile(text, name, "exec"), namespace)
    found_mark(namespace["f"])
    found_mark(namespace["g"])
    del linecache.cache[name]


def run_cell(text, namespace, number, flags=0):
    """As IPython does: text in linecache, each statement compiled by itself."""
    name = f"<ipython-input-{number}>"
    linecache.cache[name] = len(text), None, text.splitlines(keepends=True), name
    for statement in ast.parse(text).body:
        if isinstance(statement, ast.Expr):
            tree, mode = ast.Interactive([statement]), "single"
        else:
            tree, mode = ast.Module([statement], []), "exec"
        exec(compile(tree, name, mode, flags, dont_inherit=True), namespace)


def test_functions_of_notebook_cells_are_found_with_and_without_imports():
    namespace = {}
    run_cell(MODULE, namespace, 1)
    run_cell("def plain(x):\n    return 'mark plain', math.sqrt(x)\n\nplain(1);\n", namespace, 2)
    for get in FUNCTIONS.values():
        found_mark(get(types.SimpleNamespace(**namespace)))
    found_mark(namespace["plain"])


def test_a_cell_under_an_earlier_future_import_is_found():
    namespace = {}
    flags = __future__.annotations.compiler_flag
    run_cell("import math\ndef f(x: math.nan):\n    return 'mark', math.pi\n", namespace, 3, flags)
    assert namespace["f"].__annotations__ == {"x": "math.nan"}
    found_mark(namespace["f"])


def test_a_module_with_a_future_import_is_found(tmp_path):
    path = tmp_path / "located_case.py"
    path.write_text("from __future__ import annotations\ndef f(x: int): return 'mark'\n")
    found_mark(load(path).f)


def test_a_function_of_a_doctest_is_found():
    text = """
    >>> import math
    >>> def f(x):
    ...     return "mark", math.sqrt(x)
    >>> found.append(found_mark(f))
    """
    found = []
    names = {"found": found, "found_mark": found_mark}
    test = doctest.DocTestParser().get_doctest(text, names, "example", "example.py", 0)
    result = doctest.DocTestRunner(verbose=False).run(test)
    assert result.failed == 0
    assert len(found) == 1


def rewritten_by_pytest(x):
    assert x > 0, "positive"
    assert (x, [x]) == (x, [x])
    return "mark", x


def test_a_function_with_assertions_in_a_test_module_is_found():
    assert any("@py_assert" in name for name in rewritten_by_pytest.__code__.co_varnames)
    located = found_mark(rewritten_by_pytest)
    assert "@py_assert" in ast.unparse(located.node)  # what runs, not what was written


def test_a_module_in_a_zip_file_is_found(tmp_path, monkeypatch):
    archive = tmp_path / "archive.zip"
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("located_in_zip.py", MODULE)
    monkeypatch.syspath_prepend(str(archive))
    module = importlib.import_module("located_in_zip")
    found_mark(module.conditional)
    del sys.modules["located_in_zip"]


@pytest.mark.parametrize("options", [[], ["-O"], ["-OO"], ["-X", "no_debug_ranges"]])
def test_functions_are_found_under_the_interpreters_options(tmp_path, options):
    path = tmp_path / "script.py"
    path.write_text(
        textwrap.dedent(
            """
            import sys
            from runmat_jit.capture.source.locate import SourceCache, locate

            def f(x):
                "Documented."
                assert x, "text"
                return 1 if __debug__ else 2

            class A:
                "Documented."
                def g(self): return lambda: self

            h = [lambda: 1, lambda: 2][1]
            functions = f, A.g, A().g(), h
            print([locate(fn, SourceCache()) is not None for fn in functions])
            print(locate(h, SourceCache()).node.body.value)
            """
        )
    )
    command = [sys.executable, *options, str(path)]
    environment = {"PYTHONPATH": ":".join(filter(None, sys.path)), "PATH": ""}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    assert done.stdout == "[True, True, True, True]\n2\n"


def test_looking_for_a_source_shows_no_warning_again(tmp_path):
    path = tmp_path / "located_case.py"
    path.write_text("def f(x):\n    return 'mark', x is 1, '\\d'\n")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        module = load(path)
    before = list(warnings.filters)
    with warnings.catch_warnings(record=True) as shown:
        warnings.simplefilter("always")
        found_mark(module.f)
    assert shown == []
    assert list(warnings.filters) == before


def test_a_text_is_parsed_once_and_no_longer_kept_than_needed(module, tmp_path, monkeypatch):
    parsed = []
    parse = source_cache.parse_text
    monkeypatch.setattr(
        source_cache, "parse_text", lambda *args: parsed.append(args[0]) or parse(*args)
    )
    cache = SourceCache(limit=4)
    for get in FUNCTIONS.values():
        assert locate(get(module), cache)
    assert parsed == [module.__file__]
    for number in range(5):
        path = tmp_path / f"other{number}.py"
        path.write_text("def f(): pass\n")
        assert locate(load(path).f, cache)
        assert len(cache) <= 4
    assert locate(module.first, cache)
    assert parsed.count(module.__file__) == 2


def test_one_thread_parses_at_a_time(monkeypatch):
    """Python 3.11 counts the depth of all trees in one place, and raises where two threads do."""
    inside, most = [], []

    def slowly(*args, **kwargs):
        inside.append(args)
        most.append(len(inside))
        time.sleep(0.01)
        inside.pop()
        return compile(*args, **kwargs)

    monkeypatch.setattr(source_text, "compile", slowly, raising=False)
    look = functools.partial(parse_text, "file", "x = 1", 0)
    threads = [threading.Thread(target=look) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == [1] * 4


def test_a_text_is_parsed_again_where_the_users_threads_parse_too(monkeypatch):
    failures = iter([SystemError("AST constructor recursion depth mismatch")] * 3)

    def colliding(*args, **kwargs):
        for error in failures:
            raise error
        return compile(*args, **kwargs)

    monkeypatch.setattr(source_text, "compile", colliding, raising=False)
    assert ast.unparse(parse_text("file", "x = 1", 0)) == "x = 1"


def test_threads_may_share_a_cache(module):
    cache, found = SourceCache(limit=1), []

    def look():
        found.extend(locate(get(module), cache) is not None for get in FUNCTIONS.values())

    threads = [threading.Thread(target=look) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [True] * 4 * len(FUNCTIONS)


def test_all_functions_of_large_modules_are_found():
    cache = SourceCache()
    for module in (textwrap, doctest, ast):
        for fn in vars(module).values():
            if isinstance(fn, types.FunctionType) and fn.__module__ == module.__name__:
                located = locate(fn, cache)
                assert located, fn.__qualname__
                assert located.node.name == fn.__code__.co_name
                assert located.first_line == fn.__code__.co_firstlineno
