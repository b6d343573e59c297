"""How fast MATLAB text is read: ``python -m benchmarks.matlab_parse [files or folders]``.

Without arguments a generated text is read, whose share of code, comments and blanks is that of
public programs.
"""

from __future__ import annotations

import random
import sys
from pathlib import Path
from statistics import median
from time import perf_counter

from matlab_frontend.errors import MatlabSyntaxError
from matlab_frontend.parser import parse
from matlab_frontend.source import Source
from matlab_frontend.text import to_text

ROUNDS = 5
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


def given(arguments: list[str]) -> list[Source]:
    """The texts of files, and of all ``.m`` files below folders, that can be parsed."""
    paths = [Path(argument) for argument in arguments]
    files = [file for path in paths for file in ([path] if path.is_file() else path.rglob("*.m"))]
    return [source for file in files if _is_program(source := Source.from_file(file))]


def check(source: Source) -> None:
    """The generated text means what its template says."""
    functions = parse(source).functions
    assert [f.name for f in functions] == [f"solve{i}" for i in range(FUNCTIONS)]
    assert all(to_text(f.body[1]) == "(= n 0);" and len(f.body) == 7 for f in functions)


def seconds(sources: list[Source]) -> float:
    start = perf_counter()
    for source in sources:
        parse(source)
    return perf_counter() - start


def main(arguments: list[str]) -> None:
    sources = given(arguments) if arguments else [generated()]
    if not arguments:
        check(sources[0])
    size = sum(len(source.text) for source in sources) / 1e6
    rounds = [seconds(sources) for _ in range(ROUNDS)]
    rate = size / median(rounds)
    print(f"{len(sources)} files, {size:.2f} MB: {rate:.2f} MB/s (median of {ROUNDS} rounds)")


def _is_program(source: Source) -> bool:
    try:
        parse(source)
    except MatlabSyntaxError:
        return False
    return True


if __name__ == "__main__":
    main(sys.argv[1:])
