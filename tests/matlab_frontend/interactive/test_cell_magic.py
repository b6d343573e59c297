"""``%%matlab`` cells; oracles: values written by hand, and IPython itself where it is installed."""

import numpy as np
import pytest

from matlab_frontend.errors import MatlabError
from matlab_frontend.interactive.cell_magic import MagicArguments, MatlabMagic, read_arguments
from runmat_jit import matlab


class Notebook:
    """A shell as far as the magic asks for it."""

    def __init__(self, **variables):
        self.user_ns, self.magics = variables, {}

    def push(self, variables):
        self.user_ns |= variables

    def register_magic_function(self, function, magic_kind, magic_name):
        self.magics[magic_name] = magic_kind, function


@pytest.mark.parametrize(
    ("line", "inputs", "outputs", "code"),
    [
        ("", (), (), ""),
        ("x = 3", (), (), "x = 3"),
        ("-i x", ("x",), (), ""),
        ("-i x,y -o z", ("x", "y"), ("z",), ""),
        ("-o a -i b -o c x = {b, -1};", ("b",), ("a", "c"), "x = {b, -1};"),
        ("-x", (), (), "-x"),
        ("-i x y - 1", ("x",), (), "y - 1"),
    ],
)
def test_options_stand_before_the_code(line, inputs, outputs, code):
    assert read_arguments(line) == MagicArguments(inputs, outputs, code)


@pytest.mark.parametrize("line", ["-i x, y", "-q x", "-i x -o"])
def test_options_that_make_no_sense_are_errors(line):
    with pytest.raises(MatlabError, match="-i x,y"):
        read_arguments(line)


def test_variables_last_from_cell_to_cell(capsys):
    run = MatlabMagic(Notebook())
    run("", "x = 3;\nfunction y = twice(x)\ny = 2 * x;\nend\n")
    run("x = twice(x)")
    assert capsys.readouterr().out == "\nx =\n\n     6\n\n"


def test_variables_are_pushed_and_pulled():
    x = np.arange(4.0)
    notebook = Notebook(x=x, y="text")
    run = MatlabMagic(notebook)
    run("-i x,y -o z,w", "z = 2 * x; w = [y '!'];")
    assert notebook.user_ns["z"].tolist() == [[0, 2, 4, 6]]
    assert notebook.user_ns["w"] == "text!"


def test_what_is_pushed_and_pulled_shares_no_memory():
    x = np.arange(3.0)
    notebook = Notebook(x=x)
    run = MatlabMagic(notebook)
    run("-i x -o y", "y = x;")
    x[0] = notebook.user_ns["y"][0, 1] = 100
    run("-o x,y", "")
    assert notebook.user_ns["x"].tolist() == notebook.user_ns["y"].tolist() == [[0, 1, 2]]


def test_an_error_is_shown_as_matlab_shows_it_and_pulls_nothing():
    notebook = Notebook()
    run = MatlabMagic(notebook)
    with pytest.raises(MatlabError) as raised:
        run("-o z", "z = 1;\nfunction f()\nerror('my:id', 'no')\nend\nf()")
    assert raised.value._render_traceback_() == ["Error using f (line 3)", "no"]
    assert "z" not in notebook.user_ns
    run("-o z", "")
    assert notebook.user_ns["z"] == 1


@pytest.mark.parametrize("line", ["-i missing", "-o missing"])
def test_a_variable_that_is_not_there_is_an_error(line):
    with pytest.raises(MatlabError, match="missing"):
        MatlabMagic(Notebook())(line, "x = 1;")


def test_the_extension_adds_both_magics():
    notebook = Notebook()
    matlab.load_ipython_extension(notebook)
    kind, run = notebook.magics["matlab"]
    assert kind == "line_cell"
    assert run._ipython_magic_no_var_expand
    assert "-i x,y -o z" in run.__doc__


@pytest.fixture
def shell():
    pytest.importorskip("IPython", reason="IPython is no dependency")
    from IPython.core.interactiveshell import InteractiveShell  # noqa: PLC0415

    made = InteractiveShell()
    made.run_line_magic("load_ext", "runmat_jit.matlab")
    return made


def test_ipython_runs_cells_and_lines(shell, capsys):
    shell.run_cell("import numpy as np; x = np.arange(3.0)").raise_error()
    shell.run_cell("%%matlab -i x -o y\ny = 2 * x;\nc = {x, 'a'};\ndisp(y)").raise_error()
    assert capsys.readouterr().out.split() == ["0", "2", "4"]
    assert shell.user_ns["y"].tolist() == [[0, 2, 4]]
    shell.run_cell("%matlab -o n n = numel({1, 2, x});").raise_error()
    assert shell.user_ns["n"] == 3
    for code, told in [
        ("missing + 1", "Unrecognized function or variable 'missing'."),
        ("y = )", "Error: ')' closes no bracket."),
    ]:
        failed = shell.run_cell(f"%matlab {code}")
        assert isinstance(failed.error_in_exec, MatlabError)
        shown = capsys.readouterr()
        assert told in shown.out + shown.err
        assert "Traceback" not in shown.out + shown.err
