"""MATLAB: the time to parse source, and scripts of loops and functions beside GNU Octave.

Oracle: what the template of the source says; the texts that Octave prints.
"""

from __future__ import annotations

import random
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from matlab_frontend.parser import parse
from matlab_frontend.source import Source
from matlab_frontend.text import to_text

SCRIPTS = [
    script
    for folder in ("loops", "functions")
    for script in sorted((Path(__file__).parent / "matlab" / folder).glob("*.m"))
]
OCTAVE = shutil.which("octave-cli")
FUNCTIONS = 300
TEMPLATE = """function [y, n] = solve{i}(f, x, varargin)
% SOLVE{i}  Roots by Newton's method, from several points at once.
%   Y = SOLVE{i}(F, X) starts at the columns of X.
    if nargin < 3, tolerance = {a}e-8; end
    n = 0;
    y = x(:, 1:{b})';          % one row a point
    while any(abs(f(y)) > tolerance) && n < {a}
        slope = (f(y + h) - f(y)) ./ {c};
        y(end+1, :) = y(end, :) - [1 -{a}, 2.5e3*slope(1)];
        n = n + 1;
    end
    s.name = 'solve{i}';
    s.steps{{n}} = @(t) exp(-t.^2 / {b}) + {c};
    switch s.name
        case {{'a', 'b'}}
            fprintf('%s: %d\\n', s.name, numel(y(:)));
        otherwise
            error('solve:name', 'it''s %s', s.name);
    end
end

"""


def generated() -> Source:
    """A file of functions that differ in their constants; the same one at every call."""
    rng = random.Random(0)  # noqa: S311 - constants of a text, no secrets
    parts = [
        TEMPLATE.format(i=i, a=rng.randint(1, 99), b=rng.randint(1, 9), c=round(rng.random(), 4))
        for i in range(FUNCTIONS)
    ]
    return Source("".join(parts), "<generated>")


def test_parsing(benchmark):
    source = generated()
    functions = parse(source).functions
    assert [f.name for f in functions] == [f"solve{i}" for i in range(FUNCTIONS)]
    assert all(to_text(f.body[1]) == "(= n 0);" and len(f.body) == 7 for f in functions)
    benchmark.extra_info["bytes"] = len(source.text)
    benchmark(parse, source)


def printed(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout.strip()


@pytest.mark.parametrize("engine", ["runmat", "octave"])
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_scripts(script, engine, benchmark):
    """A process each, starts included; the first of ours may compile."""
    if OCTAVE is None:
        pytest.skip("GNU Octave is not installed")
    theirs = [OCTAVE, "--quiet", str(script)]
    ours = [sys.executable, "-m", "runmat_jit.matlab", str(script)]
    if engine == "runmat":
        assert printed(ours) == printed(theirs)
    benchmark.group = script.stem
    benchmark.pedantic(printed, (ours if engine == "runmat" else theirs,), rounds=3)
