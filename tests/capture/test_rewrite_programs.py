"""Oracle: Python itself, on modules of the standard library and on random programs.

With hooks that do what Python does, rewriting must change nothing.
"""

import contextlib
import importlib.util
import io
import sys
import types
import unittest.mock

import pytest
from hypothesis import assume, given, reject
from hypothesis import strategies as st

from runmat_jit.capture.source.locate import locate
from runmat_jit.capture.source.rewrite import Refused, bind, rewrite
from tests.capture.plain_hooks import CACHE, PlainHooks, behavior, function_from, plain

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


def rewrite_in_place(namespace, module, *, direct):
    """Replace all functions of a module or class; returns those that were, and refusals."""
    done, refused = [], []
    for name, value in list(vars(namespace).items()):
        if isinstance(value, type) and value.__module__ == module.__name__:
            inside = rewrite_in_place(value, module, direct=direct)
            done, refused = done + inside[0], refused + inside[1]
        kind = type(value)
        fn = value.__func__ if kind in (staticmethod, classmethod) else value
        if not isinstance(fn, types.FunctionType) or fn.__globals__ is not vars(module):
            continue
        located = locate(fn, CACHE)
        if located is None:  # made by dataclass or namedtuple, or annotations, which are deferred
            assert fn.__code__.co_filename == "<string>" or fn.__name__ == "__annotate__"
            continue
        result = rewrite(fn, located, direct=direct)
        if isinstance(result, Refused):
            refused.append(result.reason)
            continue
        bound = bind(result, fn, PlainHooks(fn))
        done.append(fn.__qualname__)
        setattr(namespace, name, kind(bound) if kind in (staticmethod, classmethod) else bound)
    return done, refused


@pytest.mark.parametrize("direct", [False, True], ids=["hooks", "direct"])
@pytest.mark.parametrize("name", STDLIB)
def test_a_rewritten_module_of_the_standard_library_gives_equal_results(name, direct):
    module = independent(name)
    expected = repr(STDLIB[name](module))
    done, refused = rewrite_in_place(module, module, direct=direct)
    assert len(done) >= 4
    assert set(refused) <= {"generator-function", "stores-global", "uses-locals"}
    assert repr(STDLIB[name](module)) == expected


def combined(expressions):
    """Expressions made of others; each part logs when it is evaluated."""
    templates = [
        "({0} + {1})",
        "({0} ** {1})",
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
        "items[{1}] **= {2}",
        "x **= {1}",
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
    assert behavior(plain(fn, direct=True), filename) == expected
