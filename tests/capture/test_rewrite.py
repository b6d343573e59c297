"""Oracle: the function itself. With hooks that do what Python does, rewriting must change nothing:
results, exceptions, order of evaluation, lines and columns of tracebacks."""

import ast
import builtins
import contextlib
import importlib.util
import inspect
import io
import itertools
import linecache
import operator
import sys
import traceback
import types
import unittest.mock
import warnings
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import assume, given, reject
from hypothesis import strategies as st

from runmat_jit.capture.hook_base import HookBase
from runmat_jit.capture.locate import SourceCache, locate
from runmat_jit.capture.rewrite import Refused, Rewritten, bind, rewrite
from runmat_jit.capture.source_text import nested_codes

CASES = Path(__file__).parent / "source_cases"
CACHE = SourceCache()


class PlainHooks(HookBase):
    """Does what Python does."""

    def __init__(self, fn):
        self.globals = fn.__globals__
        self.cells = dict(zip(fn.__code__.co_freevars, fn.__closure__ or (), strict=True))

    def call(self, function, /, *args, **kwargs):
        return function(*args, **kwargs)

    def attr(self, obj, name):
        return getattr(obj, name)

    def item(self, obj, key):
        return obj[key]

    def glob(self, name):
        if name in self.globals:
            return self.globals[name]
        if hasattr(builtins, name):
            return getattr(builtins, name)
        raise NameError(f"name {name!r} is not defined")

    def free(self, name):
        cell = self.cells[name]
        if cell == types.CellType():
            raise NameError(
                f"cannot access free variable {name!r} where it is not associated with a value"
                " in enclosing scope"
            )
        return cell.cell_contents

    def setitem(self, value, obj, key):
        obj[key] = value

    def setattr_(self, value, obj, name):
        setattr(obj, name, value)

    def delitem(self, obj, key):
        del obj[key]

    def delattr_(self, obj, name):
        delattr(obj, name)

    def iop(self, op, lhs, rhs):
        return getattr(operator, "i" + op)(lhs, rhs)

    def fresh(self, container):
        return container

    def iter_(self, obj):
        return obj

    def loop(self, obj, line):
        return obj

    def is_(self, lhs, rhs):
        return lhs is rhs

    def is_not(self, lhs, rhs):
        return lhs is not rhs

    def decorate(self, decorator, definition):
        return decorator(definition)


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


def rewritten(fn):
    located = locate(fn, CACHE)
    assert located, f"no source for {fn.__qualname__}"
    result = rewrite(fn, located)
    assert isinstance(result, Rewritten), result
    return result


def plain(fn):
    """The rewritten function, with hooks that do what Python does."""
    return bind(rewritten(fn), fn, PlainHooks(fn))


def frames(error, filename):
    """What a traceback shows of the user's file."""
    return [
        (frame.name, frame.lineno, frame.end_lineno, frame.colno, frame.end_colno)
        for frame in traceback.extract_tb(error.__traceback__)
        if frame.filename == filename
    ]


class Probe:
    def __init__(self):
        self.log = []

    def __repr__(self):
        return "probe"

    def __call__(self, tag, value=None):
        self.log.append(repr(tag))  # as it is now
        return value


def behavior(fn, filename, *args):
    """Result or exception, and the log of the probe."""
    probe = Probe()
    try:
        outcome = repr(fn(*args, probe))
    except Exception as error:  # noqa: BLE001, whatever the function raises is compared
        links = [error, error.__cause__, error.__context__]
        outcome = [(repr(link), link and frames(link, filename)) for link in links]
    return outcome, probe.log


MODULES = {name: load_cases(name) for name in ("evaluation_order", "scoping", "tracebacks")}
FUNCTIONS = [
    pytest.param(fn, id=f"{name}.{fn.__name__}")
    for name, module in MODULES.items()
    for fn in functions_of(module)
    if fn.__code__.co_varnames[:1] == ("p",)
]


@pytest.mark.parametrize("fn", FUNCTIONS)
def test_a_rewritten_function_does_what_the_function_does(fn):
    filename = fn.__code__.co_filename
    assert behavior(plain(fn), filename) == behavior(fn, filename)


@pytest.mark.parametrize("name", ["Widget.method", "Widget.inner_functions", "Gadget.method"])
def test_a_rewritten_method_does_what_the_method_does(name):
    class_name, method_name = name.split(".")
    module = MODULES["scoping"]
    fn = vars(getattr(module, class_name))[method_name]
    results = [behavior(f, module.__file__, module.Gadget()) for f in (plain(fn), fn)]
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


NUMBER = itertools.count()


def function_from(text, name="f", flags=0, **namespace):
    """The function that a text defines, with the text as its source."""
    filename = f"<text {next(NUMBER)}>"
    linecache.cache[filename] = len(text), None, text.splitlines(keepends=True), filename
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)  # `1 is x` is on purpose
        exec(compile(text, filename, "exec", flags, dont_inherit=True), namespace)
    return namespace[name]


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
    "for i in x: pass": ["loop([3], 4)"],
    "from math import pi": ["attr(math, 'pi')"],
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
        assert rewrite(fn, locate(fn, CACHE)) == Refused("coroutine", 1)


def test_a_sum_of_500_terms_is_rewritten_and_one_of_1500_hurts_no_other_function():
    sums = [" + ".join(["x.real"] * terms) for terms in (500, 1500)]
    text = f"def f(x):\n  return {sums[0]}\ndef g(x):\n  return {sums[1]}\n"
    fn = function_from(text)
    assert plain(fn)(2) == 1000
    longer = function_from(text, "g")
    result = rewrite(longer, locate(longer, CACHE))
    assert result == Refused("nested-too-deeply", 3) or sys.version_info >= (3, 13)


TEXT = "The quick brown fox jumps over the lazy dog; then it rests.\nAnd  more\ttext follows."


def read_configuration(module):
    parser = module.ConfigParser()
    parser.read_string("[a]\nx = 1\ny = %(x)s2\n[b]\nz: ${no}\n")
    written = io.StringIO()
    parser.write(written)
    return parser.getint("a", "y"), parser.sections(), written.getvalue()


def parse_arguments(module):
    parser = module.ArgumentParser(prog="p", description=TEXT)
    parser.add_argument("-n", "--number", type=int, default=3, help="a number (%(default)s)")
    parser.add_argument("names", nargs="*", choices=["a", "b"])
    group = parser.add_mutually_exclusive_group()
    group.add_argument("--one", action="store_true")
    group.add_argument("--two", action="append")
    return parser.format_help(), vars(parser.parse_args(["a", "b", "-n4", "--two", "x"]))


STDLIB = {
    "textwrap": lambda m: (
        m.wrap(TEXT, 30),
        m.fill(TEXT, 20, initial_indent="* ", subsequent_indent="  ", max_lines=5),
        m.dedent(m.indent(TEXT, "    ")),
        m.shorten(TEXT, 25),
        m.TextWrapper(width=12, break_long_words=True).wrap("a" * 40 + " b"),
    ),
    "fractions": lambda m: (
        [m.Fraction(a, b) for a, b in ((1, 3), (-4, 6), (0, 5))],
        m.Fraction("3.1415926535897932").limit_denominator(1000),
        m.Fraction(1.5) ** 3 + m.Fraction(7, 3) // 2 - m.Fraction(5, 4) % 1 * 2 / 3,
        m.Fraction(1, 3) < 0.5,
        hash(m.Fraction(22, 7)),
        [round(m.Fraction(22, 7), n) for n in (None, 2)],
        m.Fraction.from_float(0.1),
    ),
    "statistics": lambda m: (
        *(f([1.5, 2.5, 2.5, 9.25]) for f in (m.mean, m.median, m.mode, m.variance, m.stdev)),
        m.quantiles(range(20), n=5),
        m.linear_regression([1, 2, 3], [2, 4.5, 6]),
        m.NormalDist(3, 2).cdf(4),
        m.NormalDist(3, 2) + m.NormalDist(1, 1),
        m.geometric_mean([1, 2, 4]),
        m.multimode("aabbc"),
    ),
    "shlex": lambda m: (
        m.split('a \'b c\' "d\\"e" # f', comments=True),
        m.join(["a b", "c'd", ""]),
        list(m.shlex("x = 1; y(2)", punctuation_chars=True)),
    ),
    "heapq": lambda m: (
        m.nlargest(3, [5, 1, 9, 4], key=lambda x: -x),
        m.nsmallest(2, "hello"),
        list(m.merge([1, 4], [2, 3], reverse=False)),
        [m.heappop(heap) for heap in [[1, 3, 2, 7]] for _ in range(4)],
    ),
    "bisect": lambda m: (m.bisect([1, 2, 2, 3], 2), m.bisect_left([(1, 2)], 1, key=lambda x: x[0])),
    "difflib": lambda m: (
        list(m.unified_diff("a b c d".split(), "a x c e".split(), lineterm="")),
        list(m.ndiff(["one\n", "two\n"], ["one\n", "tow\n"])),
        m.SequenceMatcher(None, "abcd", "bcde").ratio(),
        m.get_close_matches("appel", ["ape", "apple", "peach"]),
    ),
    "calendar": lambda m: (
        m.TextCalendar().formatyear(2024),
        m.HTMLCalendar(6).formatmonth(2023, 2),
        m.monthrange(1900, 2),
    ),
    "pprint": lambda m: m.pformat({"a": [1, (2, {3})], "b" * 50: "c" * 60, 1: {}}, width=40),
    "_pydecimal": lambda m: (
        m.Decimal(2).sqrt(),
        m.Decimal("1.5").exp().ln(),
        m.Decimal("1e-5") ** m.Decimal("2.5"),
        format(m.Decimal("1234.567"), "+,.2f"),
        [m.Decimal(7).compare(m.Decimal("nan")), m.Decimal("-7") // 2, divmod(m.Decimal(7), 3)],
    ),
    "colorsys": lambda m: (m.rgb_to_hls(0.2, 0.4, 0.9), m.hsv_to_rgb(0.7, 0.1, 0.3)),
    "configparser": read_configuration,
    "argparse": parse_arguments,
}


def independent(name):
    """A second instance of a module, in pure Python."""
    spec = importlib.util.find_spec(name)
    module = importlib.util.module_from_spec(spec)
    with unittest.mock.patch.dict(sys.modules, {f"_{name}": None, name: module}):
        spec.loader.exec_module(module)
    return module


def rewrite_in_place(namespace, module):
    """Replace all functions of a module or class; returns those that were, and refusals."""
    done, refused = [], []
    for name, value in list(vars(namespace).items()):
        if isinstance(value, type) and value.__module__ == module.__name__:
            inside = rewrite_in_place(value, module)
            done, refused = done + inside[0], refused + inside[1]
        kind = type(value)
        fn = value.__func__ if kind in (staticmethod, classmethod) else value
        if not isinstance(fn, types.FunctionType) or fn.__globals__ is not vars(module):
            continue
        located = locate(fn, CACHE)
        if located is None:  # made by dataclass or namedtuple
            assert fn.__code__.co_filename == "<string>"
            continue
        result = rewrite(fn, located)
        if isinstance(result, Refused):
            refused.append(result.reason)
            continue
        bound = bind(result, fn, PlainHooks(fn))
        done.append(fn.__qualname__)
        setattr(namespace, name, kind(bound) if kind in (staticmethod, classmethod) else bound)
    return done, refused


@pytest.mark.parametrize("name", STDLIB)
def test_a_rewritten_module_of_the_standard_library_gives_equal_results(name):
    module = independent(name)
    expected = repr(STDLIB[name](module))
    done, refused = rewrite_in_place(module, module)
    assert len(done) >= 4
    assert set(refused) <= {"generator-function", "stores-global", "uses-locals"}
    assert repr(STDLIB[name](module)) == expected


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


def combined(expressions):
    """Expressions made of others; each part logs when it is evaluated."""
    templates = [
        "({0} + {1})",
        "p('f', {0})",
        "({0} is {1} is not {2})",
        "({0} < {1} is {2})",
        "({0} == {1})",
        "(not {0})",
        "({0} if {1} else {2})",
        "({0} and {1} or {2})",
        "[{0}, *{1}]",
        "({0}, {1})",
        "{{'k': {0}, **{{{1}: 2}}}}",
        "items[{0}]",
        "items[{0}:{1}]",
        "box.attr",
        "({0}).real",
        "len({0})",
        "max({0}, {1}, key=lambda v: {2})",
        "(lambda a, *b, c={0}, **d: (a, b, c, {1}, d))({2}, 2, e=3)",
        "[({0}, v) for v in items if {1}]",
        "[v for box.attr in items for v in ({0},)]",
        "list({0} for v in {1})",
        "(w := {0})",
        "f'{{{0}!r:>4}}'",
        "OUTSIDE[{0}]",
    ]

    def fill(parts):
        return st.sampled_from(templates).map(lambda template: template.format(*parts))

    return st.tuples(expressions, expressions, expressions).flatmap(fill)


ATOMS = st.sampled_from(["0", "1", "-2", "1.5", "'ab'", "None", "True", "[1, 2]", "items", "box.n"])
PROBED = st.tuples(st.integers(0, 99), ATOMS).map(lambda pair: "p({}, {})".format(*pair))
EXPRESSIONS = st.recursive(PROBED | ATOMS | st.sampled_from(["x", "w", "OUTSIDE"]), combined)
TARGETS = st.recursive(
    st.sampled_from(["x", "w", "box.attr"]) | PROBED.map(lambda key: f"items[{key}]"),
    lambda targets: st.tuples(targets, targets).map(lambda pair: "({}, *{})".format(*pair)),
    max_leaves=4,
)
STATEMENTS = st.sampled_from(
    [
        "{1}",
        "{0} = {1}",
        "{0} = {4} = {1}",
        "x += {1}",
        "items[{1}] *= {2}",
        "box.n -= {1}",
        "del items[{1}], x",
        "for {0} in ({1}, {2}): {3}",
        "while p('while', len(items) < 3): items.append({1})",
        "with p('with', contextlib.nullcontext({1})) as {0}: {2}",
        "assert {1}, {2}",
        "if {1}: {0} = {2}",
        "x: {1} = {2}",
        "def inner(a={1}, *, b: {2} = 3): return {3}\n   x = inner()",
        "class A:\n    y = {1}\n    def m(self): return {2}\n   x = A().m()",
        "class A:\n    __z = {1}\n    def m(self): return self.__z\n   x = A().m()",
    ]
)


@st.composite
def programs(draw):
    """A function of statements, most of which may fail without ending it."""
    lines = ["def f(p):", " x = w = 0; items = [1, 2, 3]; box = Box(5)"]
    for _ in range(draw(st.integers(1, 5))):
        values = [draw(EXPRESSIONS) for _ in range(3)]
        statement = draw(STATEMENTS).format(draw(TARGETS), *values, draw(TARGETS))
        if draw(st.integers(0, 3)):
            lines += [" try:", f"   {statement}", " except Exception as error: p(repr(error))"]
        else:
            lines += [" if True:", f"   {statement}"]
        lines.append(" p((x, w, items, box.n, box.attr))")
    return "\n".join([*lines, " return x, w, items, vars(box)\n"])


class Box:
    def __init__(self, n):
        self.n = n
        self.attr = "a"


def has_no_address(outcome):
    return " at 0x" not in repr(outcome)


@given(text=programs())
def test_a_rewritten_random_program_does_what_the_program_does(text):
    try:
        fn = function_from(text, Box=Box, OUTSIDE=[4, 5, 6], contextlib=contextlib)
    except SyntaxError:  # such as an assignment expression in what a comprehension iterates
        reject()
    located = locate(fn, CACHE)
    assert located
    result = rewrite(fn, located)
    if isinstance(result, Refused):
        assert result.reason in {"chained-is", "unknown-syntax", "class-body-name"}
        return
    filename = fn.__code__.co_filename
    expected = behavior(fn, filename)
    assume(has_no_address(expected))
    assert behavior(plain(fn), filename) == expected
