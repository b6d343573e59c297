"""Loops that run natively. Oracle: the interpreter, on the same script.

Every variable, its class and its size, the text, the error and the next random number are the same;
numbers are equal but for the rounding of functions such as ``exp``.
"""

import signal
import warnings
from pathlib import Path

import numpy as np
import pytest

from matlab_frontend.builtins.scalars import SCALARS
from matlab_frontend.errors import MatlabError
from matlab_frontend.interpreter.interpreter import Interpreter
from matlab_frontend.interpreter.native import run as native_run
from matlab_frontend.interpreter.native.functions import FUNCTIONS
from matlab_frontend.interpreter.native.run import NativeLoop
from matlab_frontend.parser import parse
from matlab_frontend.run import engine_for, run_source
from matlab_frontend.session import Session
from matlab_frontend.source import Source
from matlab_frontend.values.array import Array
from runmat_jit.loops.demands import NotMetError
from runmat_jit.runtime.session import current_session
from tests.matlab_frontend.interpreter.random_scripts import (
    script,
    script_of_matrices,
    script_of_vectors,
)

pytestmark = [
    pytest.mark.sampled(5),
    # Where nothing may be raised, Python can but tell of an interrupt or of too deep a recursion.
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

PROGRAMS = sorted((Path(__file__).parent.parent / "programs").glob("*.m"))


@pytest.fixture(autouse=True)
def any_loop(monkeypatch):
    """However little a loop does, it is taken over after its first turn."""
    for name in ("COMPILES", "STARTS", "KNOWN"):
        monkeypatch.setattr(native_run, name, -1.0)
    monkeypatch.setattr(native_run, "FIRST_LOOK", 1)


@pytest.fixture(autouse=True)
def no_mistakes(caplog):
    """What is not known runs interpreted, and is no mistake that people are to report."""
    yield
    assert not [record for record in caplog.records if "please report" in record.getMessage()]


@pytest.fixture
def interpreted(monkeypatch):
    """Runs something without native loops."""

    def run(what):
        with monkeypatch.context() as patched:
            patched.setattr(NativeLoop, "takes_over", lambda *_: 0)
            return what()

    return run


def seen(text):
    """What a script leaves: the error, the text, and every variable."""
    printed, variables, error = [], {}, None
    session = Session(engine_for("cpu"), write=printed.append, write_error=printed.append)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            Interpreter(session).run(parse(Source(text, "script.m")), variables)
        except MatlabError as raised:
            error = raised.identifier, str(raised), raised.__notes__
    found = {name: plain(session.engine, value) for name, value in variables.items()}
    return error, "".join(printed), found


def plain(engine, value):
    if type(value) is Array:
        data = np.asarray(engine.look(value.data))
        return value.kind, data.shape, data
    return type(value).__name__, (), np.asarray(value if isinstance(value, (bool, float)) else 0.0)


def compare(expected, found):
    assert found[:2] == expected[:2]
    assert found[2].keys() == expected[2].keys()
    for name, (kind, shape, data) in expected[2].items():
        assert found[2][name][:2] == (kind, shape), name
        ours = found[2][name][2]
        if data.dtype.kind == "f":
            bound = 1e-9 if data.dtype == np.float64 else 1e-5
            np.testing.assert_allclose(ours, data, rtol=bound, atol=1e-3 * bound, err_msg=name)
        else:
            np.testing.assert_array_equal(ours, data, err_msg=name)


def loops_run(what):
    """What something gives, and how many loops ran natively in it."""
    count = current_session().telemetry.snapshot
    before = count()["loops_run"]
    return what(), count()["loops_run"] - before


def check(interpreted, text, *, natively=True):
    """Compare a script with itself, interpreted."""
    expected = interpreted(lambda: seen(text))
    found, count = loops_run(lambda: seen(text))
    compare(expected, found)
    if natively is not None:
        assert bool(count) is natively, count


NATIVE = {
    "a sum": "s = 0; for i = 1:50, s = s + mod(i, 7)*0.5; end",
    "fractions": "s = 0; for x = 0:0.1:3, s = s + x*x; end",
    "a list of numbers": "s = 1; for x = [3 1 4 1 5 9], s = s*2 - x; end",
    "downwards": "s = 0; for i = 10:-3:-7, s = s*2 + i; end",
    "a while": "x = 1; k = 0; while x < 1e6, x = x*1.7 + 1; k = k + 1; end",
    "a break": "for k = 1:100, if k*k > 50, break, end, end",
    "signs of zero remainders": """
        s = 0;
        for k = 0:50, s = s + 1/(1 + 1/mod(k, -5)) + (1/mod(-k, 5) > 0) + 2*(1/rem(-k, 5) < 0); end
        for k = 0:50, if 1/mod(-k, -5) == -Inf, s = s + 10; end, end""",
    "parts with steps": """
        x = zeros(1, 20); s = 0;
        for k = 1:30
          d = mod(k, 5) + 1; x(d:d:20) = x(d:d:20) + 1; x(1:3:end) = k; x(7:2:3) = 5;
          s = s + sum(x(1:d:20)) - sum(x(2:d+1:end))*0.5;
        end""",
    "rows and columns of numbers": """
        x = [1 1 1]; X = zeros(30, 3); c = [0; 0]; f = 0;
        for k = 1:30
          d = [10*(x(2)-x(1)), x(1)*(28-x(3))-x(2), x(1)*x(2)-8/3*x(3)];
          x = x + 0.001*d; X(k, :) = x; c = c + [k; x(1)]; f = f + [k 1]*[2; k];
        end""",
    "arrays of sizes that stay": """
        n = 3; P = eye(2); H = P/3; s = 0; F = zeros(3, 2); o = 1:3;
        for k = 1:30
          F = zeros(n, 2); F(2, 1) = k; o = ones(1, n); s = s + sum(F(:, 1)) + sum(o);
          P = H*P*0.5 + eye(2);
        end""",
    "products of transposed matrices": """
        A = reshape(1:6, 2, 3)/9; F = [1 0.1; 0 1]; P = eye(2); t = 0;
        for k = 1:30, B = A'*A; C = A*A'; t = t + B(1, 3) + C(2, 1); P = F*P*F'*0.5; end""",
    "a number that is not computed yet": """
        r = (1:500)'/9; n = r'*r; s = 0; more = n > 2;
        for k = 1:30, s = s + n; if more, s = s*0.5; end, end""",
    "a continue": "s = 0; for k = 1:30, if mod(k, 3) == 0, continue, end, s = s + k; end",
    "stores": "x = zeros(1, 9); x(1) = .3; for k = 2:9, x(k) = 3.7*x(k-1)*(1-x(k-1)); end",
    "a stencil": """
        u = zeros(7); u(1,:) = 1; v = u;
        for i = 2:6, for j = 2:6
          v(i,j) = 0.25*(u(i-1,j) + u(i+1,j) + u(i,j-1) + u(i,j+1));
        end, end""",
    "copies of arrays": """
        u = zeros(9, 1); u(1) = 1; v = u; w = u';
        for t = 1:7
          for i = 2:8, v(i) = (u(i-1) + u(i+1))/2; end
          u = v; w(t) = u(3);
        end""",
    "arrays that change places": """
        u = zeros(5); u(3,3) = 1; v = u; t = u;
        for k = 1:4
          for i = 2:4, for j = 2:4, v(i,j) = u(i-1,j) + u(i,j+1); end, end
          t = u; u = v; v = t;
        end""",
    "pages": """
        A = reshape(1:24, 2, 3, 4); s = 0;
        for k = 1:4, for j = 1:3, for i = 1:2
          s = s*1.01 + A(i,j,k); A(i,j,k) = s;
        end, end, end""",
    "one subscript and two": """
        A = magic(4); s = 0; for k = 1:4, A(k) = A(k,2) + A(2*k); s = s + A(end) + A(end,k); end""",
    "a triangle": "n = 8; s = 0; for i = 1:n, for j = i+1:n, s = s + i*j; end, end",
    "truth values": """
        n = 60; p = true(1, n); p(1) = false;
        for i = 2:7, if p(i), for j = i*i:i:n, p(j) = false; end, end, end""",
    "a step that is computed": "s = 0; for i = 1:4, for j = 9:-i:-3, s = s*1.1 + j; end, end",
    "a swap": """
        v = [5 3 9 1 7 2];
        for i = 1:5, for j = 1:6-i
          if v(j) > v(j+1), t = v(j); v(j) = v(j+1); v(j+1) = t; end
        end, end""",
    "a switch": """
        s = 0;
        for k = 1:20
          switch mod(k, 5)
            case 0, s = s + 1;
            case {1, 2}, s = s + 10;
            otherwise, s = s - 3;
          end
        end""",
    "a handle": "a = 3; f = @(x, y) a*x^2 - y; s = 0; for k = 1:9, s = f(s/10, k) + f(k, s); end",
    "handles of functions with names": """
        f = @sin; g = @half; h = @max; s = 0;
        for k = 1:9, s = f(s) + g(k) + h(s, k); end
        function y = half(x)
          y = x/2;
        end""",
    "a handle that another one captured": """
        f = @cos; g = @(x) f(x)*2; s = 0; for k = 1:9, s = g(s) + k; end""",
    "a handle that becomes another one": """
        f = @sin; s = 0;
        for r = {1, 2, 3}, for k = 1:9, s = f(s) + k; end, f = @cos; end""",
    "a function": """
        function r = g(x)
          r = 0;
          while x > 1, x = x/2; r = r + 1; end
          if r > 3, r = -r; return, end
          r = r + 1;
        end
        s = 0; for k = 1:30, s = s + g(k); end""",
    "a function that may raise an error": """
        s = 0; for k = 1:40, s = s + g(k) + h(k); end
        function y = g(x)
          if x < 0, error('my:id', 'negative: %d', x); end
          y = sqrt(x);
        end
        function y = h(x)
          if x > 1e6, disp('large'), elseif mod(x, 2), y = x > 3; return, end
          y = x > 7;
        end""",
    "bits": """
        c = 0;
        for k = 1:40
          c = bitxor(bitshift(c, 1), bitand(k*37, 255)); c = bitor(mod(c, 997), 1);
        end""",
    "random numbers": """
        rng(4); x = 0; y = zeros(1, 6);
        for k = 1:300
          x = x + randn; if rand() < .3, x = x - 1; end
          d = randi(6); y(d) = y(d) + 1;
        end
        z = rand;""",
    "random numbers while": """
        rng(1); p = 0; k = 0; while p < 50, p = p + rand; k = k + 1; end, z = randn;""",
    "random numbers within": """
        rng(2); s = 0; for i = 1:9, for j = 1:i, s = s + rand; end, end, z = rand;""",
    "growth": """
        v = [1 2]; w = [3 4]; z = [5; 6];
        for k = 1:40, v(end+1) = k*v(end); w = [w, k]; z = [z; numel(v)]; end, n = length(v);""",
    "growth by a number": "q = [1 2]; for k = 3:50, q(k) = q(k-1) + q(k-2); end",
    "growth while": """
        u = [1 1]; k = 0;
        while numel(u) < 9000, k = k + 1; if mod(k, 3), u(end+1) = k; end, end""",
    "a break where there is no more room": """
        u = [1 1];
        while true, u(end+1) = numel(u); if numel(u) >= 8195, break, end, end""",
    "random numbers as a condition": "rng(5); k = 0; while rand < .99, k = k + 1; end, z = rand;",
    "growth from nothing": """
        v = zeros(1, 0); w = zeros(0, 1); n = 0;
        for k = 1:3, n = n + numel(v); if k > 2, v(end+1) = k; w = [w; k]; end, end""",
    "growth within": "v = [0 0]; for i = 1:9, for j = 1:i, v(end+1) = i*j; end, end",
    "growth of truth values": "m = [true false]; for k = 1:9, m(end+1) = mod(k, 2) == 0; end",
    "a variable that is new": "for k = 1:9, if k > 4, t = k*2; end, end",
    "a variable of an inner loop that is empty": "for i = 1:4, for j = i+1:4, s = j; end, end",
    "division by zero": "s = 0; for k = -3:3, s = 1/k; end, t = -1/s;",
    "infinities": "x = 1; for k = 1:2000, x = x*3; end",
    "NaN": "x = 0; for k = 1:5, x = x/0 + k; end",
    "logarithms and powers": """
        s = 0; for k = 1:20, s = s + log(k)^2 + k^0.5 + 2^-k + exp(-k) + atan2(k, s); end""",
    "columns of a matrix": """
        X = reshape(mod((1:60)*7, 11), 5, 12); Y = zeros(5, 12); y = zeros(5, 1);
        for t = 1:12, y = 0.9*y + 0.1*X(:, t); Y(:, t) = y; end""",
    "rows of a matrix": """
        X = reshape(mod((1:60)*7, 11), 12, 5); y = zeros(1, 5); s = 0;
        for t = 2:12, X(t, :) = max(X(t, :), X(t-1, :)) - 1; y = X(t, :)./(1 + abs(y)); end""",
    "singles": """
        x = single(1:6)'/3; y = x; b = single(0.1); c = 0.3;
        for t = 1:9, y = b*y + c.*x; x = exp(-y) + single(t)*1e-3; z = x*2; end""",
    "columns of random numbers": """
        rng(3); n = 7; S = 100*ones(n, 1, 'single'); r = zeros(1, n);
        for t = 1:9
          Z = randn(n, 1, 'single'); S = S.*exp(single(1e-4) + single(0.01)*Z); r = r + rand(1, n);
        end
        z = rand;""",
    "as many random numbers as there are elements": """
        rng(3); S = ones(9, 1);
        for t = 1:9, S = S + randn(size(S)); S = S - rand(numel(S), 1); end
        z = rand;""",
    "parts of a row": """
        u = zeros(1, 9); u(5) = 1; v = u;
        for t = 1:7
          v(2:end-1) = 0.5*(u(1:end-2) + u(3:end));
          u(:) = v; u(1) = t;
        end""",
    "parts of a column": """
        u = zeros(9, 1); u(5) = 1; A = magic(9); k = 3;
        for t = 1:7, u = u + A(:, t); A(2:8, t) = u(k-1:k+5) - A(t, 1:7)'; end""",
    "rows that change places": """
        u = 1:5; v = u*2; w = u;
        for t = 1:4, w = u; u = v + w; v = w; x = u(2); end""",
    "a row that is kept as it was": """
        u = 1:5; w = u; for t = 1:4, w = u; u = w*2; s = w(3) + numel(w); end""",
    "a part that is stored to later": """
        A = magic(4); y = zeros(4, 1); z = y;
        for t = 1:4, y = A(:, t); A(:, t) = t; z = z + y; end""",
    "masks": """
        x = linspace(-1, 1, 8)'; c = zeros(8, 1); m = false(8, 1);
        for t = 1:6
          m = x > 0.1 | ~(x.^2 < 0.5) & isnan(x) == false; c = c + m; x = x.*0.9 - 0.1*m;
        end""",
    "roots of columns": """
        v = (1:5)'; for t = 1:6, v = sqrt(v) + log(v + 1) + mod(v, 3) - rem(-v, 2); end""",
    "a column in a branch": """
        x = (1:5)'; y = x;
        for t = 1:9, if mod(t, 3) == 0, y = x/t; else, t2 = x*2; x = t2 - y; end, end""",
    "columns that are turned": """
        c = zeros(1, 9); c(3) = 1; d = c';
        for t = 1:7
          l = [c(end) c(1:end-1)]; r = [c(2:end), c(1)]; c = mod(l + r, 2);
          d = [d(2:end); d(1)] + circshift(d, t) + circshift(d, -2) + [d(end); d(1:end-1)];
        end""",
    "chosen elements": """
        v = linspace(0, 1, 9)'; c = v; w = v; s = single(v);
        for t = 1:9
          v = v + 0.05*(1.5 - v); f = v > 1; c = c + f; v(f) = 0; c(f) = -c(f)/2 + v(f)*2;
          w(2) = t; w(w < 0.3) = NaN; w(isnan(w)) = 1; s(~f) = t/3; s(s > 2) = s(s > 2) - 1;
        end""",
    "numbers of columns": """
        A = reshape(mod((1:25)*7, 11), 5, 5); x = ones(5, 1); k = 0; d = 1; b = true;
        while d > 1e-9 && b
          y = A*x; y = y/norm(y); d = max(abs(x - y)); x = y; k = k + 1; b = any(x > 0.5);
          l = x'*A*x + dot(x, y); z = sum(x) - min(x)*mean(y) + all(x > 2)*numel(x);
          q = x'*A'; r = A'*q';
        end""",
    "borders of what is bound anew": """
        u = linspace(0, 1, 9); v = u'; w = v; A = magic(4);
        for t = 1:5
          u = u + 0.1*(circshift(u, 1) - u); u(1) = 0; u(end) = t; v = v*2 - w; v(2:3) = 1;
          A = A/2 + 1; A(:, 1) = 0; A(end, end) = t;
        end""",
    "elements of what is bound anew": """
        u = (1:5)'; A = magic(3);
        for t = 1:5
          q = u*2; q(1) = t; q(end) = q(2); u = q/2; B = A + t; B(2, 2) = 0; A = B;
        end""",
    "elements of what passes": """
        [u, A] = f();
        function [u, A] = f()
          u = (1:5)'; A = magic(3);
          for t = 1:5
            q = u*2; q(1) = t; q(q > 7) = 1; u = q/2; B = A + t; B(2, 2) = B(1, 3); A = B*0.5;
            r = B(1, :); r(2) = 0; A(3, :) = r;
          end
        end""",
    "a row and a column": """
        x = 1:3; y = (1:4)'; z = 0; A = y*x; B = A;
        for k = 1:3, A = x - y*k; z = x*(x'*k); B = y*x + max(x, y) + B.*(x < y); y = y/2; end""",
    "heat in a plate": """
        n = 7; u = zeros(n); u(3, 4) = 1; v = u; w = u;
        for t = 1:6
          v(2:end-1, 2:end-1) = u(2:end-1, 2:end-1) ...
              + 0.1*(u(1:end-2, 2:end-1) + u(3:end, 2:end-1) ...
              + u(2:end-1, 1:end-2) + u(2:end-1, 3:end) - 4*u(2:end-1, 2:end-1));
          u = v; w(1:3, :) = u(5:7, :) - t; w(4, 2) = t; w(:, 3) = 0;
        end""",
    "waves": """
        n = 6; u = zeros(n, 8); u(3, 3) = 1; p = u;
        for t = 1:6
          q = 2*u - p;
          q(2:end-1, 2:end-1) = q(2:end-1, 2:end-1) + 0.2*(u(1:end-2, 2:end-1) + u(3:end, 2:end-1));
          p = u; u = q;
        end""",
    "life": """
        g = double(mod(reshape(1:30, 5, 6)*7, 5) < 2);
        for t = 1:5
          k = circshift(g, [1 0]) + circshift(g, -1, 1) + circshift(g, [0 1]) + circshift(g, -1, 2);
          k = k + circshift(g, [1 1]) + circshift(g, [-1 t]);
          g = double(k == 3 | (g == 1 & k == 2));
        end""",
    "rows and columns beside matrices": """
        A = reshape(mod((1:15)*7, 11), 3, 5); c = (1:3)'; r = 1:5; W = zeros(3, 5); B = A > 4;
        for t = 1:4
          d = sum(A.*A, 1); s = sum(W, 2); m = mean(A); B = A > m;
          W = W + 0.1*(A.*repmat(d./(m + 1), 3, 1)) - max(c, s)/9 + r.^2; A(B) = A(B) - 1;
          A = A + W.*repmat(c, 1, 5) - 1;
        end""",
    "extremes of columns and rows": """
        Z = reshape(mod((1:20)*7, 11), 4, 5)/9; S = Z; x = single(Z); w = zeros(1, 5);
        for t = 1:6
          E = exp(Z*t - max(Z*t, [], 2)); S = E./sum(E, 2); w = w + max(S) - min(Z, [], 1);
          x = x - min(x, [], 2)/2; k = max(max(S)) - min(Z(:));
        end""",
    "extremes of what is drawn once": """
        A = magic(3); g = zeros(3, 1); w = zeros(1, 3); v = 1:3; h = 0;
        for k = 1:9
          g = g + max(A*rand(), [], 2); w = w - min(A - rand(), [], 1);
          h = h + max(A(:)*rand()) - min(max(A*rand())) + max(v*rand()) - min(v/rand());
          A(2, 2) = rand();
        end""",
    "the first of equal zeros": """
        z = [0 -0 -1]; y = [-0 0]'; q = single([-0 0 -3]);
        for t = 1:4
          a = 1/max(z*t); b = 1/min(abs(z)); c = 1/max(y); d = 1/min(y/t); e = 1/max(q);
        end""",
    "products of matrices": """
        A = reshape(mod((1:9)*7, 11), 3, 3)/9; B = eye(3); b = single(B); x = single(1:3)'; n = 0;
        for t = 1:5
          B = A*B; B = B/norm(B, 'fro'); n = norm(B(:) - A(:)) + sum(A(:)) + max(abs(B(:)));
          x = b*x; z = (x'*b)'; A(:) = A(:)*0.9; n = n + numel(A);
        end""",
    "single matrices": """
        S = single(magic(4)); M = S > 3;
        for t = 1:5
          S = S/2 + single(t); M = S > 3 & ~M; S(M) = 0; S(2, :) = S(1, :); k = S(3, 4);
        end""",
    "a new column in each turn": """
        A = magic(5); s = zeros(5, 1); for t = 1:5, d = A(:, t); e = d - s; s = s + e/2; end""",
    "rounding": """
        s = 0; for x = [-2.5 -1.5 -.5 -.49999999999999994 0 .49999999999999994 .5 1.5 2.5]
          s = s*3 + round(x) + fix(x) - floor(x) + ceil(x) + sign(x); end""",
}
ENDED_BY_THE_INTERPRETER = {
    "text now and then": """
        s = 0;
        for k = 1:90
          s = s + mod(k, 7)*0.5;
          if mod(k, 30) == 0, fprintf('%d: %g\\n', k, s); s = s + 1; end
          s = s*1.01;
        end""",
    "cells and fields": """
        log = {}; st.n = 0; x = zeros(1, 60);
        for k = 1:60
          x(k) = k*k;
          if mod(k, 20) == 1, log{end+1} = x(k); else, if k == 40, st.n = st.n + k; end, end
          x(k) = x(k) + 1;
        end""",
    "an error": """
        s = 0; for k = 1:50, s = s + k; if s > 600, error('my:id', 'too much: %g', s); end, end""",
    "a while": """
        n = 27; k = 0;
        while n ~= 1
          if mod(n, 2), n = 3*n + 1; else, n = n/2; end
          k = k + 1;
          if n > 3000, disp(n), end
        end""",
    "a return": """
        s = f(40);
        function s = f(n)
          s = 0;
          for k = 1:n, s = s + k; if s > 300, s = -s; return, end, end
        end""",
    "a break and a continue behind it": """
        s = 0;
        for k = 1:70
          if mod(k, 11) == 0
            x = sprintf('%d', k);
            if k == 55, break, end
            continue
          end
          s = s + k;
        end""",
    "a class that another branch changes": """
        y = 0; for k = 1:60, if k == 20, y = 'text'; elseif k == 40, y = 2; end, s = k*2; end""",
    "an array that another branch replaces": """
        v = zeros(1, 50); w = v;
        for k = 1:50, v(k) = k; if mod(k, 20) == 0, v = cumsum(v); w = v; end, end""",
    "random numbers and growth": """
        rng(3); v = [0 0]; t = {};
        for k = 1:200
          x = rand;
          if x < .03, t{end+1} = x; elseif x > .5, v(end+1) = x + randn; end
        end
        z = rand;""",
    "a switch": """
        s = 0;
        for k = 1:60
          switch mod(k, 25), case 0, disp(k), case {1, 2}, s = s + 1; otherwise, s = s - k; end
        end""",
    "a loop within that is not known": """
        c = {}; s = 0;
        for k = 1:40, if mod(k, 13) == 0, for j = 1:3, c{j} = s; end, end, s = s + k; end""",
    "a list of numbers": "s = 0; for x = [5 3 9 9 1 4], if x > 8, disp(x), end, s = s*2 + x; end",
    "the last turn": "for k = 1:30, s = k; if k == 30, disp('end'), end, end",
}
INTERPRETED = {
    "a function that raises an error": """
        s = 0; for k = 9:-1:-9, s = s + g(k); end
        function y = g(x)
          if x < 0, error('my:id', 'negative: %d', x); end
          y = sqrt(x);
        end""",
    "a function that shows text": """
        s = 0; for k = 1:9, s = s + g(k); end
        function y = g(x)
          if mod(x, 2) == 0, disp(x), end
          y = x/2;
        end""",
    "a text that is shown": "for k = 1:3, k, end",
    "an array of pages": "u = zeros(3, 3, 2); for k = 1:3, u = u + k; end",
    "a cell": "c = {}; for k = 1:3, c{k} = k; end",
    "a number that becomes a matrix": "x = 1:3; y = x'; z = 0; for k = 1:3, z = x + y; end",
    "a column that becomes a matrix": "x = (1:3)'; for k = 1:4, x = [x, x]; end",
    "a column that becomes shorter": "x = (1:9)'; for k = 1:4, x = x(2:end) + 1; end",
    "a column that becomes a number": "x = (1:4)'; for k = 1:4, x = x(2:end) + 1; end",
    "columns of other lengths": """
        x = (1:3)'; y = (1:4)'; for k = 1:4, if k > 2, x = x + y; end, end""",
    "a column that becomes complex": "x = (1:4)'; for k = 1:5, x = sqrt(x - 1); end",
    "a logarithm that becomes complex": """
        x = (1:4)'; y = x; for k = 1:5, x = x - 1; y = log(x); end""",
    "a part beyond the end": "x = 1:5; s = 0; for k = 1:5, s = x(k:k+2); end",
    "a row in the place of a column": "A = magic(3); for k = 1:3, A(:, k) = 1:3; end",
    "a column that does not fit": "A = magic(3); for k = 1:3, A(:, k) = (1:4)'; end",
    "a column beyond the last": "A = magic(3); for k = 1:5, A(:, k) = [1; 2; 3]; end",
    "one element beside a column": "A = magic(3); for k = 1:3, A(:, k) = A(2, 2)*ones(1, 1); end",
    "a class of columns that changes": "x = (1:3)'; for k = 1:4, x = single(x); end",
    "a column of integers": "x = int8(1:3)'; for k = 1:4, x = x + 1; end",
    "a column that is shown": "x = (1:3)'; for k = 1:3, x = x + k, end",
    "the greatest of no numbers": "x = [1; NaN]; s = 0; for k = 1:4, x = x/0*0; s = max(x); end",
    "a norm of zeros": "x = (4:-1:1)'; s = 0; for k = 1:4, x = 0*x; s = norm(x); end",
    "a mask that is too short": """
        x = (1:5)'; f = x > 2; for k = 1:4, f = x(1:3) > 2; x(f) = 9; end""",
    "elements that are chosen elsewhere": "x = (1:5)'; for k = 1:4, f = x > 2; x(f) = x(~f); end",
    "a matrix that does not fit": "A = magic(4); x = ones(3, 1); for k = 1:3, y = A*x; end",
    "a row that is repeated in a part": """
        u = magic(4); v = zeros(5, 4); for k = 1:3, v(1:3, :) = u(k:k, :); end""",
    "a row that is repeated in a matrix": """
        u = magic(4); r = 1:4; for k = 1:3, u(1:3, :) = r; end""",
    "parts of other sizes": """
        u = magic(3); v = magic(5); for k = 1:3, v(2:end-1, 2:end-1) = u(2:end-1, 2:end-1); end""",
    "repeated so often that it does not fit": """
        A = magic(3); r = 1:3; for k = 1:3, A = A + repmat(r, k, 1); end""",
    "a matrix that becomes a row": "A = magic(3); for k = 1:3, A = A(2:end, :); end",
    "a matrix that becomes smaller": """
        A = magic(5); B = A; for k = 1:3, A = A(2:end, :); B(1:3, :) = A(1:3, :)*2; end""",
    "a matrix that becomes a column": "A = magic(3); for k = 1:3, A = A(:); end",
    "a matrix transposed": "A = magic(3); for k = 1:3, A = A' + k; end",
    "a sum of a matrix that has a row": "A = ones(1, 4); s = 0; for k = 1:3, s = sum(A, 1); end",
    "all elements in another shape": """
        A = magic(4); B = reshape(1:16, 2, 8); for k = 1:3, A(:) = B(:)*k; end""",
    "an empty column": "x = zeros(0, 1); for k = 1:4, x = x*2; end",
    "powers of columns": "x = (-2:2)'; y = x; for k = 1:4, y = x.^(k/2); end",
    "sums of squares that are too large": "x = (1:3)'*1e200; s = 0; for k = 1:3, s = norm(x); end",
    "random numbers in columns and alone": """
        rng(1); x = zeros(4, 1); s = 0; for k = 1:4, x = x + rand(4, 1); s = s + rand; end
        z = rand;""",
    "as many random numbers as no array has": """
        rng(1); x = zeros(4, 1); for k = 1:4, y = rand(9, 1); x = x + y(1:4); end, z = rand;""",
    "a complex root": "x = 4; for k = 1:6, x = x - 2; y = sqrt(x); end",
    "a class that changes": "x = 1; for k = 1:4, y = x; x = k > 2; x = x + 1; x = x > 0; end",
    "64 bits": "s = int64(0); for k = 1:4, s = s + k; end",
    "a try": "for k = 1:4, try, x = k; catch, end, end",
    "an evaluation": "for k = 1:4, eval('x = k;'); end",
    "a global": "global G; G = 0; for k = 1:4, G = G + k; end",
    "a subscript that is no whole number": """
        v = 1:9; s = 0; for k = 1:4, s = v(k + .5*(k > 3)); end""",
    "a subscript that is zero": "v = 1:9; for k = 1:4, v(3-k) = 0; end",
    "a subscript beyond the end": "v = 1:3; s = 0; for k = 1:5, s = s + v(k); end",
    "copies of other sizes": "v = 1:3; u = 1:4; for k = 1:4, u = v; u(k) = k; end",
    "names of functions that are variables": """
        abs = {3, 4}; s = 0; for k = 1:4, c = abs(mod(k, 2) + 1); s = s + c{1}; end""",
    "names of functions that a handle captured": """
        abs = @(x) x + 10; f = @(x) abs(x) + 1; s = 0; for k = 1:4, s = s + f(-k); end""",
    "a matrix that grows": "A = zeros(2); for k = 1:4, A(k, 2) = k; end",
    "NaN as a condition": "x = 0; for k = 1:4, if x/0, x = 1; end, end",
    "growth with a gap": "v = [1 2]; for k = 1:4, v(3*k) = k; end",
}


@pytest.mark.parametrize("name", NATIVE)
def test_loops_run_natively_and_do_what_the_interpreter_does(interpreted, name):
    check(interpreted, NATIVE[name])


@pytest.mark.parametrize("name", ENDED_BY_THE_INTERPRETER)
def test_turns_end_in_the_interpreter_where_a_branch_is_not_known(interpreted, name):
    check(interpreted, ENDED_BY_THE_INTERPRETER[name])


def test_a_loop_that_always_comes_to_what_is_not_known_is_left_to_the_interpreter():
    text = "for k = 1:20000, if k > 0, c{k} = k; end, end"
    _, ran = loops_run(lambda: seen(text))
    assert ran < 1000  # some, as it learns how long a turn takes


def test_a_loop_that_was_left_after_native_turns_goes_on_where_it_was(interpreted, monkeypatch):
    monkeypatch.setattr(native_run, "FEW", 16)
    monkeypatch.setattr(native_run, "MOST", 16)
    text = """
        v = [0 0]; s = 0;
        for k = 1:90
          v(end+1) = k; s = s*1.01 + k;
          if k == 41 || k > 70, y = sqrt(40 - k); end
        end"""
    check(interpreted, text)


NEVER = (
    *("a text that is shown", "an array of pages", "a cell", "64 bits", "a try"),
    *("an evaluation", "a global", "names of functions that are variables"),
)
"""Of those: what no turn of is native; others leave when they come to it."""


@pytest.mark.parametrize("name", INTERPRETED)
def test_what_is_not_known_does_what_the_interpreter_does(interpreted, name):
    check(interpreted, INTERPRETED[name], natively=False if name in NEVER else None)


@pytest.mark.parametrize("first", range(0, 60, 10))
def test_random_scripts(interpreted, first):
    for seed in range(first, first + 10):
        check(interpreted, script(seed), natively=None)


@pytest.mark.parametrize("make", [script_of_vectors, script_of_matrices])
@pytest.mark.parametrize("first", range(0, 60, 10))
def test_random_scripts_of_arrays(interpreted, first, make):
    for seed in range(first, first + 10):
        check(interpreted, make(seed), natively=None)


@pytest.mark.slow
@pytest.mark.parametrize("make", [script, script_of_vectors, script_of_matrices])
@pytest.mark.parametrize("first", range(1000, 1600, 50))
def test_many_random_scripts(interpreted, first, make):
    for seed in range(first, first + 50):
        check(interpreted, make(seed), natively=None)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.stem)
def test_programs_print_the_same(program):
    printed = []
    run_source(Source.from_file(program), {}, Session(engine_for("cpu"), write=printed.append))
    assert "".join(printed) == program.with_suffix(".txt").read_text(encoding="utf-8")


NUMBERS = (
    *(0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 0.49999999999999994, 2.5, -2.5, 3.7, -7.0, 1e-300, 1e300),
    *(4503599627370495.5, 4503599627370496.0, -9007199254740993.0, np.inf, -np.inf, np.nan),
)


ROUNDED = ("sin", "cos", "tan", "atan", "atan2", "exp", "log", "log10", "tanh")


@pytest.mark.parametrize(("name", "count"), [key for key in FUNCTIONS if key in SCALARS])
def test_functions_give_what_those_of_the_interpreter_give(name, count):
    ours, theirs = FUNCTIONS[name, count].function, SCALARS[name, count]
    pairs = [(x,) for x in NUMBERS] if count == 1 else [(x, y) for x in NUMBERS for y in NUMBERS]
    compared = 0
    for arguments in pairs:
        with np.errstate(all="ignore"):
            try:
                expected = theirs(*arguments)
            except (ValueError, OverflowError, ZeroDivisionError):
                expected = None
            try:
                found = ours(*arguments)
            except (NotMetError, ValueError, OverflowError, ZeroDivisionError):
                continue  # it is interpreted
        if expected is not None:
            compared += 1
            assert type(found) is type(expected), arguments
            rounding = 4 * np.finfo(float).eps if name in ROUNDED else 0
            np.testing.assert_allclose(found, expected, rounding, err_msg=f"{name}{arguments}")
            assert np.signbit(found) == np.signbit(expected), f"{name}{arguments}"
    assert compared > 3


def test_values_that_two_variables_hold_change_in_one_of_them(interpreted):
    check(interpreted, "v = zeros(1, 9); w = v; c = {v}; for k = 1:9, v(k) = k; end, d = c{1};")


def test_errors_leave_what_was_done_before_them(interpreted):
    check(interpreted, "v = 1:4; s = 0; for k = 1:9, v(k) = -k; s = s + v(2*k); end", natively=None)


def test_loops_stop_where_they_are_interrupted(monkeypatch):
    monkeypatch.setattr(native_run, "FIRST_LOOK", 4)

    def interrupt(*_):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, 0.3, 5)  # again, where nobody may raise
    try:
        with pytest.raises(KeyboardInterrupt):
            seen("s = 0; for i = 1:1e12, s = s + 1/i; end")
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_loops_are_compiled_once(interpreted):
    text = """
        function s = total(n)
          s = 0; for k = 1:n, s = s + k; end
        end
        t = 0; for r = {1, 2, 3, 4}, t = t + total(20 + r{1}); end"""
    count = current_session().telemetry.snapshot
    check(interpreted, text)
    before = count()["kernels_compiled"]
    _, ran = loops_run(lambda: seen(text))
    assert ran == 4
    assert count()["kernels_compiled"] - before == 1


def test_nothing_is_native_where_that_is_disabled(monkeypatch, interpreted):
    monkeypatch.setattr("runmat_jit.api.native_loops", lambda: None)
    check(interpreted, NATIVE["a sum"], natively=False)
