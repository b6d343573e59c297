"""Oracle: the same programs under the NumPy engine.

The engine here hides every array that it makes: only dtype and shape can be seen, as of an array
that is not computed yet. Looks are counted.
"""

from pathlib import Path

import numpy as np
import pytest

from matlab_frontend.engine import ALWAYS_KNOWN, NumpyEngine
from matlab_frontend.run import run_source
from matlab_frontend.session import Session
from matlab_frontend.source import Source

PROGRAMS = sorted((Path(__file__).parent / "programs").glob("*.m"))


class Hidden:
    """An array whose values nobody may see."""

    def __init__(self, array):
        self.array = array
        self.dtype, self.shape = array.dtype, array.shape
        self.ndim, self.size = array.ndim, array.size

    def __array__(self, *_args, **_kwargs):
        raise AssertionError("an array was read without asking the engine")


class HidingEngine(NumpyEngine):
    """Hides what it computes; ``looks`` counts the arrays that had to be shown."""

    def __init__(self):
        self.looks = 0

    def look(self, data):
        if isinstance(data, Hidden):
            self.looks += 1
            return data.array
        return super().look(data)

    def host(self, function, *operands):
        return function(*(self.look(x) if isinstance(x, Hidden) else x for x in operands))

    def owns_memory(self, data):
        return super().owns_memory(shown(data))

    def is_nonnegative(self, data):
        return super().is_nonnegative(shown(data))

    def has_nan(self, data):
        return super().has_nan(shown(data))


def shown(value):
    if isinstance(value, Hidden):
        return value.array
    if isinstance(value, (list, tuple)):
        return type(value)(shown(item) for item in value)
    return value


def hiding(name):
    plain = getattr(NumpyEngine, name)

    def method(self, *args, **kwargs):
        made = plain(self, *(shown(arg) for arg in args), **kwargs)
        hide = isinstance(made, (np.ndarray, np.generic)) and made.dtype not in ALWAYS_KNOWN
        return Hidden(np.asarray(made)) if hide else made

    return method


for _name in (
    *("apply", "reduce", "accumulate", "cast", "reshape", "permute", "broadcast"),
    *("concatenate", "full", "arange", "take", "put", "matmul"),
):
    setattr(HidingEngine, _name, hiding(_name))


def run(code, engine):
    printed = []
    source = code if isinstance(code, Source) else Source(code)
    run_source(source, {}, Session(engine, write=printed.append))
    return "".join(printed)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.stem)
def test_a_program_prints_the_same_when_arrays_are_not_computed(program):
    printed = run(Source.from_file(program), HidingEngine())
    assert printed == program.with_suffix(".txt").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "code",
    [
        "x = zeros(1, 100) + 2; y = exp(-x) .* sin(x) + x .^ 2; z = y(2:end) - y(1:end-1);",
        "A = ones(4, 5); m = mean(A); B = (A - m) ./ 2; C = B * B'; s = sum(C(:));",
        "X = ones(2, 4, 4, 'single'); mu = mean(X, [2 3], 'native'); Y = (X - mu) .* 2;",
        "x = zeros(3, 3); x(2, :) = 1; x(:, 3) = 5; y = [x; x]; z = repmat(y, 2, 2)'; w = max(z);",
        "x = 1:10; y = cumsum(x); z = reshape(y, 2, 5); q = round(z / 3); r = mod(q, 4);",
        "x = single(1:8); y = x > 3; z = min(x, 4); n = numel(z); v = var(x); k = class(v);",
        "x = int32(1:4); y = x * 3 - 200; z = abs(y);",
        "x = ones(2, 2); if numel(x) == 4 && isa(x, 'double'), y = tanh(x); end",
    ],
)
def test_arithmetic_looks_at_no_value(code):
    engine = HidingEngine()
    run(code, engine)
    assert engine.looks == 0


@pytest.mark.parametrize(
    "code", ["x = zeros(1, 3) + 1; if x, end", "x = zeros(1, 3) + 1; disp(x)", "x = sum(1:3); x"]
)
def test_branches_and_output_look(code):
    engine = HidingEngine()
    run(code, engine)
    assert engine.looks > 0
