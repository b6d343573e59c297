"""Oracle: the function itself. With hooks that do what Python does, rewriting must change nothing:
results, exceptions, order of evaluation, lines and columns of tracebacks."""

import ast
import contextlib
import importlib.util
import inspect
import sys
import types
from collections import Counter
from pathlib import Path

import pytest

from runmat_jit.capture.source.hook_base import HookBase
from runmat_jit.capture.source.locate import locate
from runmat_jit.capture.source.rewrite import Refused, bind, rewrite
from runmat_jit.capture.source.source_text import nested_codes
from tests.capture.plain_hooks import CACHE, PlainHooks, behavior, function_from, plain, rewritten

CASES = Path(__file__).parent / "source_cases"


def load_cases(name):
    path = CASES / f"{name}.py"
    spec = importlib.util.spec_from_file_location(f"source_cases_{name}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def functions_of(module):
    return [
        fn
        for fn in vars(module).values()
        if isinstance(fn, types.FunctionType) and fn.__module__ == module.__name__
    ]


MODULES = {name: load_cases(name) for name in ("evaluation_order", "scoping", "tracebacks")}
FUNCTIONS = [
    pytest.param(fn, id=f"{name}.{fn.__name__}")
    for name, module in MODULES.items()
    for fn in functions_of(module)
    if fn.__code__.co_varnames[:1] == ("p",)
]


DIRECT = pytest.mark.parametrize("direct", [False, True], ids=["hooks", "direct"])


@DIRECT
@pytest.mark.parametrize("fn", FUNCTIONS)
def test_a_rewritten_function_does_what_the_function_does(fn, direct):
    filename = fn.__code__.co_filename
    assert behavior(plain(fn, direct=direct), filename) == behavior(fn, filename)


@DIRECT
@pytest.mark.parametrize("name", ["Widget.method", "Widget.inner_functions", "Gadget.method"])
def test_a_rewritten_method_does_what_the_method_does(name, direct):
    class_name, method_name = name.split(".")
    module = MODULES["scoping"]
    fn = vars(getattr(module, class_name))[method_name]
    results = [
        behavior(f, module.__file__, module.Gadget()) for f in (plain(fn, direct=direct), fn)
    ]
    assert results[0] == results[1]
    assert results[0][0].startswith("(")


def failing_assertion(p):
    x = {"a": [p("x", 1), 2]}
    assert x["a"][p("i", 0)] == p("y", 3), p("message", "text")


def test_a_failing_assertion_says_what_pytest_says():
    outcome, log = behavior(failing_assertion, __file__)
    assert "assert 1 == 3" in outcome[0][0]
    assert behavior(plain(failing_assertion), __file__) == (outcome, log)


def identity(code):
    """What introspection shows of a code object."""
    flags = code.co_flags & ~(inspect.CO_NESTED | 0x40)  # 0x40: had no free variables (3.11)
    parameters = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    return code.co_qualname, code.co_filename, code.co_firstlineno, flags, parameters


@pytest.mark.parametrize("fn", FUNCTIONS)
def test_code_objects_keep_their_names_files_lines_and_parameters(fn):
    result = rewritten(fn)
    assert result.codes == set(nested_codes(result.code))
    kept = Counter(identity(code) for code in nested_codes(fn.__code__))
    assert Counter(identity(code) for code in result.codes) == kept


def make(scale):
    def fn(p, a: int = 1, /, *args, b: str = 2, **kwargs) -> float:
        """Documented."""
        return scale, a, args, b, kwargs

    return fn


def test_a_bound_function_looks_like_the_original_and_shares_its_state():
    fn = make(3)
    fn.note = "kept"
    bound = plain(fn)
    for name in ("__name__", "__qualname__", "__module__", "__doc__", "__defaults__", "__dict__"):
        assert getattr(bound, name) == getattr(fn, name)
    assert bound.__kwdefaults__ == {"b": 2}
    assert bound.__annotations__ == {"a": int, "b": str, "return": float}
    assert inspect.signature(bound) == inspect.signature(fn)
    assert bound.__globals__ is fn.__globals__
    assert bound(0, 5, 6, c=7) == (3, 5, (6,), 2, {"c": 7})
    fn.__closure__[0].cell_contents = 4
    assert bound(0)[0] == 4
    assert inspect.getsource(bound) == inspect.getsource(fn)


def test_a_tree_is_shared_and_left_as_it_is():
    for parameter in FUNCTIONS:
        [fn] = parameter.values
        located = locate(fn, CACHE)
        before = ast.dump(located.node, include_attributes=True)
        rewrite(fn, located)
        assert ast.dump(located.node, include_attributes=True) == before


def test_annotations_stay_text_under_the_future_import():
    fn = function_from(
        "from __future__ import annotations\n"
        "def f():\n"
        "    def g(x: np.array[0]) -> y: pass\n"
        "    class A: z: [1] = 2\n"
        "    return g.__annotations__, A.__annotations__\n"
    )
    assert plain(fn)() == fn() == ({"x": "np.array[0]", "return": "y"}, {"z": "[1]"})


class Recorder(PlainHooks):
    """Notes which hooks are called, and with what."""

    def __init__(self, fn):
        super().__init__(fn)
        self.calls = []


def recording(name):
    def method(self, *args, **kwargs):
        shown = [getattr(arg, "__name__", repr(arg)) for arg in args]
        self.calls.append(f"{name}({', '.join(shown)})")
        return getattr(PlainHooks, name)(self, *args, **kwargs)

    return method


for _name in HookBase.__abstractmethods__:
    setattr(Recorder, _name, recording(_name))

RECORDED = {
    "x + x if x else -x": [],
    "len(x)": ["glob('len')", "call(len, [3])"],
    "x.append(4)": ["attr([3], 'append')", "call(append, 4)"],
    "x[0]": ["item([3], 0)"],
    "x[1:]": ["item([3], slice(1, None, None))"],
    "x is None": ["is_([3], None)"],
    "x is not True": ["is_not([3], True)"],
    "x < x is x": [],
    "x <= x is x": ["is_([3], [3])"],
    "[1, 2], (3,)": ["fresh([1, 2])"],
    "[i for i in x]": ["iter_([3])", "fresh([3])"],
    "FREE": ["free('FREE')"],
    "GLOBAL": ["glob('GLOBAL')"],
    "x[0] = 5": ["setitem(5, [3], 0)"],
    "box.a = 5": ["free('box')", "setattr_(5, <lambda>, 'a')"],
    "x[0] += 5": ["item([3], 0)", "iop('add', 3, 5)", "setitem(8, [3], 0)"],
    "x += [5]": ["fresh([5])", "iop('add', [3], [5])"],
    "x[0], y = 1, 2": ["setitem(1, [3], 0)"],
    "del x[0]": ["delitem([3], 0)"],
    "del box.a": ["free('box')", "delattr_(<lambda>, 'a')"],
    "for i in x: pass": ["loop([3], 1, 1)"],
    "from math import pi": ["importing('math')", "attr(math, 'pi')"],
    "def g(**k): pass\n  g(a=1)": ["call(g)", "fresh({'a': 1})"],
    "@str\n  class A: pass": ["glob('str')", "decorate(str, A)"],
    "class A:\n   @str\n   def g(): pass": ["glob('str')", "decorate(str, g)"],
    "match x:\n   case GLOBAL.a: pass": ["glob('GLOBAL')", "attr(7, 'a')"],
}


@pytest.mark.parametrize("code", RECORDED)
def test_hooks_see_what_the_code_does_with_values(code):
    fn = function_from(
        f"def outer(box):\n box.a, FREE = 1, 2\n def f(x):\n  {code}\n  0, FREE, box\n"
        " return f\nf = outer(lambda: 0)\n",
        GLOBAL=7,
    )
    hooks = Recorder(fn)
    with contextlib.suppress(AttributeError):  # 7 has no attribute `a`
        bind(rewritten(fn), fn, hooks)([3])
    assert hooks.calls[: len(RECORDED[code])] == RECORDED[code]


REFUSED = {
    "global G; G = 1": ("stores-global", 2),
    "global G; G += 1": ("stores-global", 2),
    "global G\n  del G": ("stores-global", 3),
    "global G\n  import G": ("stores-global", 3),
    "def g():\n   global G\n   for G in x: pass": ("stores-global", 4),
    "nonlocal n; n = 1": ("stores-nonlocal", 2),
    "def g():\n   nonlocal n\n   [n := i for i in x]": ("stores-nonlocal", 4),
    "class A:\n   nonlocal n\n   def n(): pass": ("stores-nonlocal", 4),
    "locals()": ("uses-locals", 2),
    "[eval(x)]": ("uses-locals", 2),
    "exec('1')": ("uses-locals", 2),
    "globals()['x']": ("uses-locals", 2),
    "vars()": ("uses-locals", 2),
    "dir()": ("uses-locals", 2),
    "g = dir": ("uses-locals", 2),
    "breakpoint()": ("uses-breakpoint", 2),
    "__rt__ = 1": ("reserved-name", 2),
    "return __rt__": ("reserved-name", 2),
    "lambda __rt__: 1": ("reserved-name", 2),
    "class A:\n   x = x": ("class-body-name", 3),
    "class A:\n   if x: y = 1\n   z = y": ("class-body-name", 4),
    "class A:\n   y = 1\n   del y\n   z = y": ("class-body-name", 5),
    "class A:\n   y = x is x() is x": ("chained-is", 3),
    "match x:\n   case True: pass": ("match-singleton", 3),
    "match x:\n   case x.y: pass": ("match-attribute", 3),
    "match x:\n   case [Point(y=1)]: pass": ("match-attribute", 3),
    "match x:\n   case Point(1): pass": ("match-attribute", 3),
    "yield 1": ("generator-function", 1),
    "x" + ".a()" * 450: ("nested-too-deeply", 1),
}
if sys.version_info >= (3, 12):
    REFUSED["def g[T](): pass"] = ("type-parameters", 2)
    REFUSED["class G[T]: pass"] = ("type-parameters", 2)
    REFUSED["type T = int"] = ("unknown-syntax", 2)


@pytest.mark.parametrize("code", REFUSED, ids=lambda code: repr(code[:40]))
def test_what_cannot_be_rewritten_exactly_is_refused(code):
    text = f"def f(x):\n  {code}\n"
    if "nonlocal" in code:
        text = "def outer(n):\n " + text.replace("\n", "\n ") + "return f\nf = outer(1)\n"
    fn = function_from(text)
    reason, line = REFUSED[code]
    refused = rewrite(fn, locate(fn, CACHE))
    assert refused == Refused(reason, line + ("nonlocal" in code))


def test_coroutines_are_refused():
    for text in ("async def f(): pass\n", "async def f():\n  yield 1\n"):
        fn = function_from(text)
        assert rewrite(fn, locate(fn, CACHE)) == Refused("coroutine-function", 1)


def test_a_sum_of_500_terms_is_rewritten_and_one_of_1500_hurts_no_other_function():
    sums = [" + ".join(["x.real"] * terms) for terms in (500, 1500)]
    text = f"def f(x):\n  return {sums[0]}\ndef g(x):\n  return {sums[1]}\n"
    fn = function_from(text)
    assert plain(fn)(2) == 1000
    longer = function_from(text, "g")
    result = rewrite(longer, locate(longer, CACHE))
    assert result == Refused("nested-too-deeply", 3) or sys.version_info >= (3, 12)


def test_a_chain_of_200_alternatives_is_rewritten():
    branches = "".join(f" elif x == {number}:\n  return len('{number}')\n" for number in range(200))
    fn = function_from(f"def f(x):\n if x is None: return 'none'\n{branches} else:\n  return 0\n")
    for x in (None, 0, 10, 199, 200):
        assert plain(fn)(x) == fn(x)


def test_private_names_of_a_class_that_the_qualified_name_does_not_show_are_refused():
    text = "class C:\n def m(self):\n  global f\n  def f(x): return x.__y\nC().m()\n"
    fn = function_from(text)
    assert rewrite(fn, locate(fn, CACHE)) == Refused("private-names", 4)


def test_a_name_of_a_frame_reader_may_be_the_users_own():
    fn = function_from("def f(x, dir=len):\n  return vars(x), dir(x)\ndef vars(x): return x\n")
    assert plain(fn)([1]) == ([1], 1)
