"""Integers and singles in native loops. Oracle: the interpreter, on the same script, to the bit.

What the values are is MATLAB's documentation of arithmetic of integers: operations are those of
doubles, rounded to the nearest whole number, halves away from zero, and saturated.
"""

import random

import numpy as np
import pytest

from matlab_frontend.interpreter.native.functions import saturated
from matlab_frontend.interpreter.native.narrow import LIMITS
from tests.matlab_frontend.interpreter import test_native_loops

pytestmark = pytest.mark.sampled(5)

any_loop, no_mistakes, interpreted = (
    test_native_loops.any_loop,
    test_native_loops.no_mistakes,
    test_native_loops.interpreted,
)


def check(interpreted, text, *, natively):
    """Compare a script with itself, interpreted: to the bit."""
    expected = interpreted(lambda: test_native_loops.seen(text))
    found, count = test_native_loops.loops_run(lambda: test_native_loops.seen(text))
    assert found[:2] == expected[:2]
    assert found[2].keys() == expected[2].keys()
    for name, (kind, shape, data) in expected[2].items():
        assert found[2][name][:2] == (kind, shape), name
        assert str(found[2][name][2].tolist()) == str(data.tolist()), name
    if natively is not None:
        assert bool(count) is natively, count


NATIVE = {
    "a sum that saturates": "s = int8(100); for k = 1:40, s = s + 3; end",
    "halves": "s = int32(0); t = s; for k = -9:9, s = s*3 + k/2; t = int32(k)/2; end",
    "unsigned": "s = uint8(7); t = s; for k = 1:30, s = s - 2; t = t + s/3 - k; end",
    "NaN and infinities": """
        s = int16(3); t = s; for k = -2:2, s = int16(k/0); t = t + int16(0/k) - s/2; end""",
    "negative ones": """
        s = int8(-128); t = s; u = uint8(9); for k = 1:5, t = -s; u = -u; s = s + k; end""",
    "a generator": """
        s = uint32(2463534242); n = 0;
        for k = 1:50
          s = bitxor(s, bitshift(s, 13)); s = bitxor(s, bitshift(s, -17));
          s = bitxor(s, bitshift(s, 5)); n = n + double(s)/2^32;
        end""",
    "a checksum": """
        c = uint32(4294967295);
        for k = 1:60
          c = bitxor(c, mod(k*37, 256));
          b = bitand(c, 1); c = bitshift(c, -1);
          if b == 1, c = bitxor(c, 3988292384); end
        end""",
    "counting": """
        n = int32(27); c = int32(0);
        while n ~= 1
          if mod(n, 2) == 0, n = idivide(n, 2); else, n = 3*n + 1; end
          c = c + 1;
        end""",
    "subscripts": "v = (1:9)*1.5; k = int32(1); s = 0; for j = 1:8, k = k + 1; s = s + v(k); end",
    "truth values": """
        s = int8(5); n = 0; for k = 1:9, s = s - 1; if s, n = n + 1; end, b = s & k; end""",
    "a switch": """
        s = uint8(0); n = 0;
        for k = 1:9, s = s + 1; switch s, case {1, 2}, n = n + 1; case 5, n = n*2; end, end""",
    "a handle and a function": """
        a = int16(3); f = @(x) a*x - 1; s = int16(1);
        for k = 1:9, s = f(s) + g(s); end
        function y = g(x), y = x/2; end""",
    "a new variable": "t = int8(1); for k = 1:9, u = t*2; t = u + 1; end",
    "singles": """
        x = single(0.1); s = single(0);
        for k = 1:60, s = s + x*k; x = x*1.01 - s/7; y = sqrt(abs(s)) + 0.1; b = y > 0.7; end""",
    "singles that overflow": """
        x = single(3); for k = 1:200, x = x*3; end
        y = single(1e-30); for k = 1:9, y = y*y; end""",
    "conversions": """
        x = 0.3;
        for k = 1:9, x = x*1.7; a = uint8(x); b = single(x); c = int32(b*3); d = double(c); end""",
    "extremes": """
        s = int32(5); for k = 1:9, s = max(min(s*7 - 3, 1000), int32(-20)); t = abs(-s); end""",
}
INTERPRETED = {
    "two classes": "s = int8(1); t = int16(2); for k = 1:3, s = s + t; end",
    "64 bits": "s = int64(1); for k = 1:9, s = s*3; end",
    "powers": "s = int32(2); for k = 1:5, s = s^2; end",
    "arrays": "v = int32(1:9); s = int32(0); for k = 1:9, s = s + v(k); v(k) = s; end",
    "elements of doubles": "v = 1:9; s = int32(1); for k = 1:9, s = s + 1; v(k) = s; end",
    "a class that changes": "s = 0; for k = 1:9, s = int32(k) + s; end",
    "loops over them": """
        s = 0; n = int32(5); for i = 1:3, for k = 1:n, s = k; end, end""",
    "a subscript that is zero": "v = 1:3; k = uint8(3); for j = 1:5, k = k - 1; s = v(k); end",
    "a division by zero": "s = int32(7); for k = 3:-1:-3, t = idivide(s, int32(k)); end",
    "sines of singles": "s = single(1); for k = 1:9, s = sin(s); end",
    "roots that become complex": "s = single(3); for k = 1:9, s = s - 1; t = sqrt(s); end",
}


@pytest.mark.parametrize("name", NATIVE)
def test_loops_of_integers_and_singles_run_natively(interpreted, name):
    check(interpreted, NATIVE[name], natively=True)


@pytest.mark.parametrize("name", INTERPRETED)
def test_what_is_not_known_of_them_does_what_the_interpreter_does(interpreted, name):
    check(interpreted, INTERPRETED[name], natively=None)


@pytest.mark.parametrize("kind", LIMITS)
def test_conversions_round_and_saturate_as_matlab_documents(kind):
    low, high = LIMITS[kind]
    cases = {0.5: 1.0, 2.5: 3.0, 3.49: 3.0, high + 0.4: high, 1e300: high, np.inf: high}
    cases |= {low - 1e9: low, -np.inf: low, np.nan: 0.0, -0.2: 0.0}
    cases |= {-0.5: -1.0, -2.5: -3.0} if low else {-0.5: 0.0, -7.0: 0.0}
    for given, expected in cases.items():
        found = saturated(given, low, high)
        assert (found, np.signbit(found)) == (expected, np.signbit(expected)), given


def script(seed):
    """A random loop over numbers of one class that rounds, and doubles."""
    rng = random.Random(seed)  # noqa: S311  (no secret)
    pick, kind = rng.choice, rng.choice([*LIMITS, "single", "single"])
    names = ("abs", "ceil", "sqrt") if kind == "single" else ("abs", "floor", "fix", "sign")

    def narrow(depth):
        if depth == 0:
            return pick(["s", "t", f"{kind}(k)", f"{kind}(x)"])
        a, b = narrow(depth - 1), narrow(depth - 1)
        double = pick(["k", "x", "0.5", "-3", "2", "(k > 2)", "1e3"])
        ways = [
            f"({a} {pick(['+', '-', '.*', '/'])} {b})",
            f"({a} {pick(['+', '-', '*', './'])} {double})",
            f"({double} {pick(['+', '-', '*', '/'])} {b})",
            f"(-{a})",
            f"{pick(names)}({a})",
            f"{pick(['max', 'min'])}({a}, {b})",
        ]
        if kind != "single":
            ways += [f"mod({a}, {b})", f"max({a}, {double})"]
        if kind.startswith("u"):
            ways += [f"bitxor({a}, {b})", f"bitshift({a}, {pick(['1', '-2', '3'])})"]
        return pick(ways)

    def statement():
        compared = f"{narrow(1)} {pick(['<', '>=', '==', '~='])} {pick(['k', 't', '2'])}"
        branch = f"if {compared}, t = {narrow(1)}; else, s = {narrow(1)}; end"
        mixed = f"x = x*0.7 + double({narrow(1)})/3;"
        return pick([f"s = {narrow(2)};", f"t = {narrow(2)};", mixed, branch])

    lines = [statement() for _ in range(rng.randint(1, 4))]
    start = f"s = {kind}({rng.randint(-9, 200)}); t = {kind}({pick(['1', '0.3', '77'])}); x = 1.3;"
    return f"{start}\nfor k = {pick(['1:9', '-4:7'])}\n" + "\n".join(lines) + "\nend\n"


@pytest.mark.parametrize("first", range(0, 60, 10))
def test_random_loops(interpreted, first):
    for seed in range(first, first + 10):
        check(interpreted, script(seed), natively=None)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(1000, 1600, 50))
def test_many_random_loops(interpreted, first):
    for seed in range(first, first + 50):
        check(interpreted, script(seed), natively=None)


def test_random_loops_run_natively_mostly():
    seen, loops_run = test_native_loops.seen, test_native_loops.loops_run
    ran = [loops_run(lambda seed=seed: seen(script(seed)))[1] for seed in range(20)]
    assert sum(map(bool, ran)) > 8
