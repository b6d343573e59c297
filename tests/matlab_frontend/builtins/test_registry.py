"""Oracle: the op table for names that coincide; MATLAB's texts for wrong numbers of arguments."""

from pathlib import Path

import numpy as np
import pytest

from matlab_frontend.builtins import registry
from matlab_frontend.builtins.elementwise import FUNCTIONS, ROUNDINGS
from matlab_frontend.builtins.names import CATEGORIES, MODULE_OF
from matlab_frontend.builtins.registry import declared_in, find
from matlab_frontend.operators import ARITHMETIC, COMPARISONS
from matlab_frontend.run import run_source
from matlab_frontend.session import Session
from matlab_frontend.source import Source
from runmat_jit.ops.table import ROWS

NAMED = {
    **{op.name: op.row for op in (*ARITHMETIC.values(), *COMPARISONS.values())},
    **{function.name: function.row for function in (*FUNCTIONS, *ROUNDINGS)},
}
BY_MATLAB = {row.matlab: row for row in ROWS.values() if row.matlab is not None}


@pytest.mark.parametrize("name", sorted(NAMED.keys() & BY_MATLAB.keys()))
def test_a_builtin_means_the_row_that_has_its_name(name):
    assert NAMED[name] == BY_MATLAB[name].name


@pytest.mark.parametrize("row", sorted(set(NAMED.values())))
def test_every_row_is_one_that_numpy_has(row):
    assert isinstance(getattr(np, row), np.ufunc)


@pytest.mark.parametrize("category", CATEGORIES)
def test_the_list_of_names_is_what_a_category_declares(category):
    assert sorted(CATEGORIES[category].split()) == sorted(declared_in(category))


def test_no_name_is_declared_twice():
    names = [name for names in CATEGORIES.values() for name in names.split()]
    assert len(names) == len(MODULE_OF) >= 400


def test_every_module_of_the_package_is_listed():
    folder = Path(registry.__file__).parent
    modules = {path.stem for path in folder.glob("*.py")}
    declaring = {m for m in modules if "@builtin(" in (folder / f"{m}.py").read_text("utf-8")}
    assert declaring <= set(CATEGORIES)


def test_every_builtin_says_what_it_does():
    for builtin in map(find, MODULE_OF):
        assert builtin.doc.endswith("."), builtin.name
        assert builtin.most is None or builtin.most >= builtin.least


def test_there_are_the_functions_that_most_programs_use():
    wanted = """nargin size zeros length isempty abs error pi norm max sin sqrt cos exp nargout ones
    sum false eps numel min isa diff feval all inf strcmp true find real any clear diag repmat
    linspace fprintf disp reshape rand imag warning ceil num2str isreal close Inf exist sprintf sort
    eye mod round strcmpi struct cell isequal meshgrid floor bsxfun isnan double isfield sign log
    isinf mean tic toc cellfun NaN eig clc conj inv flipud cumsum ischar dot class log10 prod unique
    fft logical rem svd ifft randn fliplr squeeze permute ndims isfinite qr char cat atan2 nan det
    tan rethrow fieldnames strrep rng log2 str2double triu regexp cumprod islogical format tril
    interp1 std lu fix int32 single uint8 chol conv gather arrayfun filter median var getenv"""
    assert [name for name in wanted.split() if find(name) is None] == []


@pytest.mark.parametrize(
    ("call", "identifier"),
    [("sin()", "MATLAB:minrhs"), ("sin(1, 2)", "MATLAB:maxrhs"), ("numel()", "MATLAB:minrhs")],
)
def test_a_wrong_number_of_arguments_has_matlabs_identifier(call, identifier):
    code = f"try, {call}; catch e, id = e.identifier; end"
    made = run_source(Source(code), {}, Session(write=lambda _: None))
    assert made["id"] == identifier
