"""Functions of numbers that are compiled. Oracle: the interpreter, on the same script.

Every variable, the text, the error, its line and the calls that led there are the same, to the bit.
"""

import random
import sys

import numpy as np
import pytest

from matlab_frontend.builtins.scalars import SCALARS
from matlab_frontend.interpreter.evaluate import SCALAR
from matlab_frontend.interpreter.native import function_code, functions, plain, scalar_functions
from matlab_frontend.interpreter.native.functions import FUNCTIONS
from matlab_frontend.interpreter.native.run import NativeLoop
from matlab_frontend.interpreter.native.scalar_functions import ScalarFunctions
from matlab_frontend.parser import parse
from matlab_frontend.run import engine_for, run_source
from matlab_frontend.session import Session
from matlab_frontend.source import Source
from runmat_jit import matlab
from runmat_jit.loops.demands import NotMetError
from tests.matlab_frontend.interpreter.test_native_loops import NUMBERS, PROGRAMS, seen

pytestmark = pytest.mark.sampled(3)


@pytest.fixture(autouse=True)
def at_once(monkeypatch):
    """Functions are compiled when they are called first, and loops are interpreted."""
    monkeypatch.setattr(scalar_functions, "CALLS", 0)
    monkeypatch.setattr(NativeLoop, "takes_over", lambda *_: 0)
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(20_000)
    yield
    sys.setrecursionlimit(before)


@pytest.fixture
def interpreted(monkeypatch):
    """Runs something without compiled functions."""

    def run(what):
        with monkeypatch.context() as patched:
            patched.setattr(ScalarFunctions, "call", lambda *_: None)
            return what()

    return run


def said(text):
    """What is to be said of the functions of a script, by their names."""
    session = Session(engine_for("cpu"), write=lambda _: None)
    try:
        run_source(Source(text, "script.m"), {}, session)
    except matlab.MatlabError:
        pass
    return dict(line.split(", ", 1) for line in session.functions.values())


def check(interpreted, text):
    """Compare a script with itself, interpreted: to the bit."""
    expected, found = interpreted(lambda: seen(text)), seen(text)
    assert found[:2] == expected[:2]
    assert found[2].keys() == expected[2].keys()
    for name, (kind, shape, data) in expected[2].items():
        assert found[2][name][:2] == (kind, shape), name
        assert str(found[2][name][2].tolist()) == str(data.tolist()), name  # with signs of zeros


FIBONACCI = "function r = fib(n), if n < 2, r = n; else, r = fib(n-1) + fib(n-2); end, end\n"
COMPILED = {
    "fib": FIBONACCI + "x = fib(15); y = fib(1); z = fib(true);",
    "ackermann": """
        function r = ackermann(m, n)
          if m == 0, r = n + 1;
          elseif n == 0, r = ackermann(m - 1, 1);
          else, r = ackermann(m - 1, ackermann(m, n - 1)); end
        end
        x = ackermann(2, 9);""",
    "divisor": """
        function g = divisor(a, b)
          if b == 0, g = a; return, end
          g = divisor(b, mod(a, b));
        end
        x = divisor(1071, 462); y = divisor(-12, 18);""",
    "power_of": """
        function r = power_of(x, n)
          if n == 0, r = 1;
          elseif mod(n, 2) == 0, h = power_of(x, n/2); r = h*h;
          else, r = x*power_of(x, n - 1); end
        end
        x = power_of(1.01, 700); y = power_of(-2, 11); z = power_of(1e200, 9);""",
    "odd": """
        function r = odd(n), if n == 0, r = false; else, r = even(n - 1); end, end
        function r = even(n), if n == 0, r = true; else, r = odd(n - 1); end, end
        x = odd(7); y = even(7); z = ~odd(4) && even(4);""",
    "has_divisor": """
        function r = has_divisor(n)
          r = false;
          for d = 2:floor(sqrt(n)), if mod(n, d) == 0, r = true; return, end, end
        end
        x = 0; for k = 2:60, if ~has_divisor(k), x = x*3 + k; end, end""",
    "steps": """
        function c = steps(n)
          c = 0;
          while n ~= 1
            if rem(n, 2), n = 3*n + 1; else, n = n/2; end
            c = c + 1;
            if c > 500, break, end
          end
        end
        x = steps(27); y = steps(1);""",
    "descend": """
        function r = descend(x, k)
          switch k
            case {0, 1}, r = x;
            case 2, r = 1/x;
            otherwise, r = descend(round(x*k)/7 - fix(x) + atan2(x, k)^2, k - 1);
          end
        end
        x = descend(2.5, 9); y = descend(0, 2); z = descend(-0.5, 4);""",
    "unused": """
        function r = unused(~, x, ~), r = x + constant()*2; end
        function r = constant(), r = pi; end
        x = unused(1, 2, 3);""",
    "handed": """
        f = @handed; x = f(3); y = arrayfun(@handed, 1:9);
        function r = handed(x), if x < 2, r = x^.5; else, r = handed(x/2) + max(x, 3); end, end""",
    "clipped": """
        function r = clipped(x), r = double(uint8(x*3)) + double(single(x)/3); end
        x = clipped(0.5); y = clipped(-4); z = clipped(1e9); w = clipped(NaN);""",
    "infinite": """
        function r = infinite(x), r = -1/x + x/0 - log(abs(x)*Inf); end
        x = infinite(0); y = infinite(-0.0); z = infinite(2);""",
}
LEFT = {
    "an error": FIBONACCI
    + """
        function r = f(n)
          if n > 5, error('my:id', 'too much: %g', n); end
          r = f(n + 1) + fib(n);
        end
        x = fib(7); y = f(1);""",
    "a text that is shown": """
        function r = f(n)
          if mod(n, 5) == 0, disp(n), end
          r = 0; if n > 0, r = n + f(n - 1); end
        end
        x = f(12);""",
    "too many calls": "function r = f(n), r = f(n + 1); end\nx = 3; y = f(0);",
    "as many calls as there may be": """
        function r = f(n), if n == 0, r = 0; else, r = 1 + f(n - 1); end, end
        function r = g(n), r = f(n); end
        x = f(499); y = g(498); try, f(500), catch e, z = e.identifier; end, g(499)""",
    "a root that becomes complex": """
        function r = f(n), r = sqrt(n); if n > -3, r = r + f(n - 1); end, end
        x = f(3);""",
    "a power that becomes complex": """
        function r = f(n), r = n^0.5; if n > -3, r = r + f(n - 1); end, end
        x = f(3);""",
    "a power that is too large": "function r = f(n), r = 10^n; end\nx = f(300); y = f(400);",
    "NaN as a condition": """
        function r = f(n), r = 1; if n/n, r = f(n - 1) + 1; end, end
        x = f(4);""",
    "many turns": """
        function r = f(n), r = 0; k = 0; while k < n, k = k + 1; r = r + k; end, end
        function r = g(n), r = 0; for k = 1:n, r = r + k; end, end
        x = f(30); y = f(2000); z = f(5000); u = g(30); v = g(5000);""",
    "a remainder by zero": "function r = f(n), r = mod(n, n - 3); end\nx = f(2); y = f(3);",
    "an output that is not assigned": """
        function r = f(n), if n > 3, r = 1; end, end
        x = f(4); y = f(2);""",
    "a variable that has no value": """
        function r = f(n), if n > 3, s = 1; end, r = s; end
        x = f(4); y = f(2);""",
}
INTERPRETED = {
    "f of arrays": "function r = f(n), r = n(1) + 1; end\nx = f([1 2]); y = f(int8(3)); z = f(2);",
    "f shows its value": "function r = f(n), r = n, end\nx = f(2);",
    "f gives text": "function r = f(n), r = 'text'; end\nx = f(2);",
    "f gives an integer": "function r = f(n), r = int32(n); end\nx = f(2.5);",
    "f draws": "function r = f(n), r = rand*n; end\nx = f(2); y = rand;",
    "f counts its calls": """
        function r = f(n), persistent c; if isempty(c), c = 0; end, c = c + n; r = c; end
        x = f(2); y = f(2);""",
    "f has a global": """
        function r = f(n), global G; G = n; r = n; end
        global G; x = f(2); y = G;""",
    "f has other arguments": """
        function r = f(a, b), if nargin < 2, b = 7; end, r = a + b; end
        x = f(2); y = f(2, 3);""",
    "f has lists of arguments": "function r = f(varargin), r = varargin; end\nx = f(2);",
    "f has several outputs": """
        function [r, s] = f(n), r = n; s = 2*n; end
        [x, y] = f(2); z = f(3);""",
    "f has other classes by turns": """
        function r = f(n), r = n; r = r > 2; end
        x = f(2); y = f(3);""",
    "f has a loop in a loop": """
        function r = f(n), r = 0; for i = 1:n, for j = 1:n, r = r + i*j; end, end, end
        x = f(9);""",
    "f has a nested function": """
        function r = f(n)
          r = g(n) + n;
          function s = g(k), n = n + 1; s = k; end
        end
        x = f(2);""",
    "f declares its arguments": """
        function r = f(n)
          arguments
            n (1,1) double {mustBePositive}
          end
          r = n;
        end
        x = f(2); f(-1)""",
    "f has a variable with the name of a function": """
        function r = f(n), sin = 3; r = sin(1) + n; end
        x = f(2);""",
    "f looks at its caller": """
        function r = f(n), r = n + evalin('caller', 'k'); end
        k = 3; x = f(2);""",
}


@pytest.mark.parametrize("name", COMPILED)
def test_functions_of_numbers_are_compiled_and_do_what_the_interpreter_does(interpreted, name):
    check(interpreted, COMPILED[name])
    assert said(COMPILED[name])[name] == "compiled"


@pytest.mark.parametrize("name", LEFT)
def test_functions_are_left_where_only_the_interpreter_goes_on(interpreted, name):
    check(interpreted, LEFT[name])
    assert said(LEFT[name])


@pytest.mark.parametrize("name", INTERPRETED)
def test_what_is_no_function_of_numbers_is_not_compiled(interpreted, name):
    check(interpreted, INTERPRETED[name])
    assert said(INTERPRETED[name]).get("f", "interpreted").startswith("interpreted")


def test_a_function_that_always_leaves_is_not_tried_for_ever():
    text = "function r = f(n), r = sqrt(-n); end\nfor k = 1:9, x = f(k); end"
    assert said(text) == {"f": "interpreted: it left for what only the interpreter does"}


def test_functions_are_interpreted_until_they_have_been_called_often(monkeypatch):
    monkeypatch.setattr(scalar_functions, "CALLS", 50)
    assert said(FIBONACCI + "x = fib(3);") == {}
    assert said(FIBONACCI + "x = fib(12);") == {"fib": "compiled"}


def test_names_that_mean_something_else_later_are_looked_up_again(tmp_path):
    (tmp_path / "other").mkdir()
    for folder, value in ((tmp_path, 1), (tmp_path / "other", 2)):
        (folder / "g.m").write_text(f"function r = g(n), r = n*{value}; end\n")
    text = f"""
        cd('{tmp_path}'); x = f(5); cd('other'); y = f(5);
        function r = f(n), r = g(n) + 1; end"""
    found = matlab.run(text)
    assert (found["x"], found["y"]) == (6.0, 11.0)


def test_explain_names_the_functions(capsys):
    session = Session(engine_for("cpu"))
    run_source(Source("\n" + FIBONACCI + "x = fib(9);", "script.m"), {}, session)
    assert "  functions:\n  - line 2: fib, compiled\n" in session.explain()


OPERATORS = {functions.divide: SCALAR["/"], functions.power: SCALAR["^"]}
BUILTINS = {known.function: SCALARS[key] for key, known in FUNCTIONS.items() if key in SCALARS}


@pytest.mark.parametrize("function", plain.PLAIN, ids=lambda each: each.__name__)
def test_plain_functions_give_what_those_of_the_interpreter_give_to_the_bit(function):
    theirs = {**OPERATORS, **BUILTINS}.get(function)
    if theirs is None:
        pytest.skip("the interpreter has no function of floats for it")
    ours, count = plain.PLAIN[function], function.__code__.co_argcount
    pairs = [(x,) for x in NUMBERS] if count == 1 else [(x, y) for x in NUMBERS for y in NUMBERS]
    compared = 0
    for arguments in pairs:
        with np.errstate(all="ignore"):
            try:
                found = ours(*arguments)
            except (NotMetError, ValueError, OverflowError, ZeroDivisionError):
                continue  # it is interpreted
            expected = theirs(*arguments)
        if expected is None:  # only arrays tell: a quotient by zero
            assert function is functions.divide
            continue
        compared += 1
        assert type(found) is float
        assert (found == expected and np.signbit(found) == np.signbit(expected)) or (
            found != found and expected != expected  # noqa: PLR0124  (NaN)
        ), arguments
    assert compared > 5


def test_truth_values_of_numbers_are_pythons_but_for_nan():
    assert plain.is_true(-0.0) is False
    assert plain.is_true(1e-300) is True
    with pytest.raises(NotMetError):
        plain.is_true(np.nan)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.stem)
def test_programs_print_the_same(program):
    printed = []
    run_source(Source.from_file(program), {}, Session(engine_for("cpu"), write=printed.append))
    assert "".join(printed) == program.with_suffix(".txt").read_text(encoding="utf-8")


class Functions:
    """Random functions that call themselves and one another, at most to some depth."""

    def __init__(self, seed):
        self.rng, self.counters = random.Random(seed), 0  # noqa: S311  (no secret)

    def script(self):
        names = "fgh"[: self.rng.randint(1, 3)]
        functions = [self.function(name, names) for name in names]
        calls = [
            f"try, {chr(97 + k)} = {self.rng.choice(names)}({self.argument()}, {self.argument()}, "
            f"{self.rng.randint(0, 2)}); catch e, m{k} = e.message; end"
            for k in range(6)
        ]
        return "".join(functions) + "\n".join(calls) + "\n"

    def argument(self):
        return self.rng.choice(["0", "1", "-2", "0.5", "7", "true", "1e300", "Inf", "-3.5"])

    def function(self, name, names):
        body = "".join(self.statement(names, 2) for _ in range(self.rng.randint(1, 3)))
        return (
            f"function r = {name}(x, y, k)\nr = {self.rng.choice(['x', '0', 'x > y'])};\n"
            f"if k <= 0, return, end\n{body}end\n"
        )

    def statement(self, names, depth):
        pick, number = self.rng.choice, self.number
        if depth == 0 or self.rng.random() < 0.4:
            return f"{pick(['r', 'r', 't', 'x', 'y'])} = {number(names, 2)};\n"
        self.counters += 1
        w = f"w{self.counters}"
        block = "".join(self.statement(names, depth - 1) for _ in range(self.rng.randint(1, 2)))
        other = self.statement(names, depth - 1)
        condition = f"{number(names, 1)} {pick(['<', '>=', '==', '~='])} {number(names, 1)}"
        return pick(
            [
                f"if {condition}\n{block}else\n{other}end\n",
                f"if {condition} || k > 3\n{block}return\nend\n",
                f"for i = {pick(['1:3', '3:-1:1', '1:k', 'k:2'])}\n{block}end\n",
                f"{w} = 0;\nwhile {w} < 4 && {condition}\n{w} = {w} + 1;\n{block}end\n",
                f"switch {number(names, 0)}\ncase 1\n{block}otherwise\n{other}end\n",
                f"if {condition}\nfprintf('%g\\n', x);\nend\n",
            ]
        )

    def number(self, names, depth):
        pick = self.rng.choice
        if depth <= 0 or self.rng.random() < 0.3:
            return pick(["x", "y", "k", "r", "2", "0.5", "-1", "pi"])
        a, b = self.number(names, depth - 1), self.number(names, depth - 1)
        return pick(
            [
                f"({a} {pick('+-*/^')} {b})",
                f"({a} {pick(['<', '&', '|'])} {b})",
                f"{pick(['abs', 'floor', 'round', 'sqrt', 'sin', 'sign', 'exp'])}({a})",
                f"{pick(['mod', 'rem', 'max', 'min', 'atan2'])}({a}, {b})",
                f"mod({a}, {pick(['2', '3', '-7'])})",
                f"{pick(names)}({a}, {b}, k - 1)",
            ]
        )


@pytest.mark.parametrize(
    "value", ["mod(2 - 2, -7)", "mod(k - 3, 2)", "mod(-k, 3)", "atan2(2, atan2(k, 7))", "-k + 3"]
)
def test_signs_of_zeros_and_last_bits_are_the_interpreters(interpreted, value):
    check(interpreted, f"function r = f(k), r = {value}; end\nx = f(3); y = 1/x; z = f(-3);")


@pytest.mark.parametrize("first", range(0, 200, 40))
def test_random_functions(interpreted, first):
    for seed in range(first, first + 40):
        check(interpreted, Functions(seed).script())


@pytest.mark.slow
@pytest.mark.parametrize("first", range(1000, 4000, 200))
def test_many_random_functions(interpreted, first):
    for seed in range(first, first + 200):
        check(interpreted, Functions(seed).script())


def test_random_functions_are_compiled_mostly():
    found = [how for seed in range(40) for how in said(Functions(seed).script()).values()]
    assert found.count("compiled") > len(found) / 3


def test_what_compiled_functions_call_is_limited():
    lines = [
        f"function r = f{k}(n), r = f{k + 1}(n); end\n" for k in range(function_code.FUNCTIONS)
    ]
    text = "".join(lines) + f"function r = f{len(lines)}(n), r = n; end\nx = f0(1);"
    assert said(text)["f0"].startswith("interpreted: too many")


def test_the_code_of_a_function_is_what_it_says():
    program = parse(Source(FIBONACCI, "script.m"))
    found = function_code.compile_function(
        program.functions[0],
        type("Scope", (), {"enclosing": {}})(),
        ("double",),
        lambda *_: (program.functions[0], type("Scope", (), {"enclosing": {}})()),
    )
    assert found(0, 10.0) == 55.0
    with pytest.raises(NotMetError):
        found(495, 10.0)
