"""MATLAB functions called from Python; oracle: values that they are written to give."""

import os

import numpy as np
import pytest

from runmat_jit import matlab
from runmat_jit.core.errors import ArgumentError


def test_arrays_and_numbers_go_in_and_come_out(tmp_path):
    (tmp_path / "fit.m").write_text(
        "function [slope, offset] = fit(x, y)\n% FIT  A line.\np = polyfit(x, y, 1);\n"
        "slope = p(1); offset = p(2);\n"
    )
    fit = matlab.function(tmp_path / "fit.m")
    x = np.linspace(0, 1, 50)
    assert fit(x, 3 * x + 1) == pytest.approx(3)
    slope, offset = fit(x, 3 * x + 1, nargout=2)
    assert (slope, offset) == (pytest.approx(3), pytest.approx(1))
    assert fit(x, x, nargout=0) is None
    assert (fit.__name__, fit.__doc__, repr(fit)) == (
        "fit",
        "  FIT  A line.\n",
        "<MATLAB function fit>",
    )


@pytest.mark.parametrize(
    "value", ["text", {"a": 1.0, "b": "x"}, ["one", 2.0, [3.0, "four"]], 2.5, True]
)
def test_python_values_come_back(value):
    assert matlab.function("function y = same(x)\ny = x;")(value) == value


def test_helpers_private_folders_and_local_functions_are_found(tmp_path):
    (tmp_path / "private").mkdir()
    (tmp_path / "private" / "inner.m").write_text("function y = inner(x)\ny = x + 1;\n")
    (tmp_path / "outer.m").write_text(
        "function y = outer(x)\ny = beside(local(inner(x)));\nend\n"
        "function y = local(x)\ny = 2*x;\nend\n"
    )
    (tmp_path / "beside.m").write_text("function y = beside(x)\ny = -x;\n")
    assert matlab.function(str(tmp_path / "outer.m"))(4) == -10


def test_persistent_variables_last_from_call_to_call_and_belong_to_one_callable():
    text = "function y = count()\npersistent n\nif isempty(n), n = 0; end\nn = n + 1; y = n;"
    first, second = matlab.function(text), matlab.function(text)
    assert [first(), first(), second(), first()] == [1, 2, 1, 3]


def test_nothing_shares_memory_with_the_caller():
    keep = matlab.function("function y = keep(x)\npersistent p\nif nargin, p = x; end\ny = p;")
    x = np.arange(6.0)
    y = keep(x)
    x[0] = y[0, 1] = 100
    assert keep().tolist() == [[0, 1, 2, 3, 4, 5]]
    matrix = np.asfortranarray(np.ones((200, 30)))
    matlab.function("function y = change(x)\nx(1) = 5; y = x;")(matrix)
    assert (matrix == 1).all()
    cells = [np.zeros(3)]
    given = keep(cells)
    cells[0][0] = given[0][0, 1] = 7
    assert keep()[0].tolist() == [[0, 0, 0]]


def test_large_arrays_are_computed_before_they_are_given():
    x = np.random.default_rng(0).random((300, 40))
    y = matlab.function("function y = f(x)\ny = sin(x) + 1;")(x)
    assert type(y) is np.ndarray
    assert np.allclose(y, np.sin(x) + 1)


def test_named_arguments_go_behind_the_others():
    describe = matlab.function(
        "function y = describe(x, options)\narguments\nx\noptions.Scale = 1\nend\n"
        "y = x * options.Scale;\nend"
    )
    assert (describe(3), describe(3, Scale=4)) == (3, 12)


def test_a_function_without_outputs_gives_none(capsys):
    assert matlab.function("function say(x)\ndisp(x)")("hello") is None
    assert capsys.readouterr().out == "hello\n"


def test_variable_outputs_are_given_as_many_as_asked_for():
    several = matlab.function("function varargout = several(n)\nvarargout = num2cell(1:n);")
    assert several(3, nargout=3) == (1, 2, 3)
    with pytest.raises(matlab.MatlabError) as raised:
        several(1, nargout=3)
    assert raised.value.identifier == "MATLAB:maxlhs"


def test_errors_are_matlabs_and_the_next_call_works():
    divide = matlab.function(
        "function y = divide(a, b)\nif b == 0, error('my:zero', 'b is %d', b), end\ny = a / b;"
    )
    with pytest.raises(matlab.MatlabError, match="b is 0") as raised:
        divide(1, 0)
    assert raised.value.identifier == "my:zero"
    assert [place[1:] for place in raised.value.stack] == [("divide", 2)]
    with pytest.raises(matlab.MatlabError, match="Too many input arguments"):
        divide(1, 2, 3)
    with pytest.raises(matlab.MatlabError, match="Too many output arguments"):
        divide(1, 2, nargout=2)
    with pytest.raises(matlab.MatlabError, match="no MATLAB class"):
        divide(object(), 1)
    assert divide(1, 2) == 0.5


def test_a_function_that_calls_exit_asks_python_for_it():
    with pytest.raises(SystemExit) as raised:
        matlab.function("function f\nexit(3)")()
    assert raised.value.code == 3


def test_a_file_is_read_again_after_it_changed(tmp_path):
    path = tmp_path / "now.m"
    path.write_text("function y = now_\ny = 1;\n")
    now = matlab.function(path)
    assert now() == 1
    path.write_text("function y = now_\ny = 22;\n")
    os.utime(path, ns=(1, 1))
    assert now() == 22


@pytest.mark.parametrize("program", ["x = 1;", "", "x = f(1);\nfunction y = f(x)\ny = x;\nend"])
def test_a_script_is_refused(program):
    with pytest.raises(ArgumentError, match="is no function"):
        matlab.function(program)


def test_options_that_make_no_sense_are_refused():
    with pytest.raises(ArgumentError, match="tpu"):
        matlab.function("function f", device="tpu")
    for wanted in (-1, 1.5):
        with pytest.raises(ArgumentError, match="nargout"):
            matlab.function("function f")(nargout=wanted)
    with pytest.raises(matlab.MatlabSyntaxError):
        matlab.function("function y = f(\n")
    with pytest.raises(FileNotFoundError):
        matlab.function("nowhere.m")
