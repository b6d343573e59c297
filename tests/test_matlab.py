"""Oracle: NumPy, for the values that a program leaves."""

import subprocess
import sys

import numpy as np
import pytest

from runmat_jit import matlab


def test_a_text_is_run_with_variables():
    x = np.arange(6.0).reshape(2, 3)
    workspace = matlab.run("y = sum(x .^ 2, 2);", variables={"x": x})
    assert np.array_equal(workspace["y"], (x**2).sum(1, keepdims=True))


def test_arguments_are_not_changed():
    x = np.zeros((1, 3))
    matlab.run("x(2) = 5;", variables={"x": x})
    assert not x.any()


def test_a_file_is_run(tmp_path, capsys):
    script = tmp_path / "script.m"
    script.write_text("z = magic(4); disp(z(1, 1))\n")
    workspace = matlab.run(script)
    assert workspace["z"].sum() == 136
    assert capsys.readouterr().out == "    16\n"


def test_an_error_keeps_its_identifier_and_place():
    with pytest.raises(matlab.MatlabError) as caught:
        matlab.run("x = [1 2 3];\ny = x(7);")
    assert caught.value.identifier == "MATLAB:badsubscript"
    assert "<text>:2:5" in caught.value.__notes__[0]


def test_a_syntax_error_is_pythons_too():
    with pytest.raises(SyntaxError):
        matlab.run("x = (1")


def test_the_module_is_a_command_line():
    made = subprocess.run(
        [sys.executable, "-m", "runmat_jit.matlab", "-e", "disp(1)"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert made.stdout == "     1\n"
