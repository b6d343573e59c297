"""``--check``; oracles: mistakes written into programs, and programs that run and have none."""

from pathlib import Path

import pytest

from matlab_frontend.check.syntax import read
from matlab_frontend.cli import main
from matlab_frontend.source import Source

ROOT = Path(__file__).parents[3]


def checked(folder, capsys, **files):
    """The exit status and the lines printed for files, the folder's name left out."""
    for name, text in files.items():
        path = folder / f"{name.replace('__', '/')}.m"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    status = main(["--check", str(folder)])
    shown = capsys.readouterr()
    return status, [line.replace(f"{folder}/", "") for line in shown.out.splitlines()]


def test_a_program_without_mistakes_says_nothing(tmp_path, capsys):
    assert checked(
        tmp_path, capsys, a="x = 1;\ny = sin(x) + b(x);", b="function y = b(x)\ny = x;"
    ) == (
        0,
        [],
    )


def test_every_syntax_error_of_every_file_is_printed(tmp_path, capsys):
    one = "function one\nx = (1 + 2;\nfor k = 1:3)\n  y = [1 2\n       3 4];\n  z = !3;\nend\n"
    two = "if x == , disp(1), end\nx = 'open\n"
    assert checked(tmp_path, capsys, one=one, folder__two=two) == (
        1,
        [
            "folder/two.m:1:9: expected a value, found ','",
            "folder/two.m:2:5: ' is not closed on its line",
            "one.m:2:5: '(' of line 2 is not closed: expected ')' before ';' is found",
            "one.m:3:12: ')' closes no bracket",
            "one.m:6:7: '!' is no operator: write '~'",
        ],
    )


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("x = [1 2\n3 4)\ny = );\n", [1]),  # what follows an open bracket belongs to it
        ("x = 1 + ...\n  );\ny = );\n", [2]),
        ("%{\nopen\nx = );\n", [1]),
        ("if x\ny = 1;\n", [1]),
        ("while )\nend\nend\ny = 1;", [1, 3]),
        ("switch )\ncase 1\nx\nend\nz = );", [1, 5]),
    ],
)
def test_no_error_is_made_up_by_the_one_before_it(text, lines):
    assert [found.line for found in read(Source(text))[1]] == lines


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x = 1 + undefined_thing;", "1:9: unrecognized function or variable 'undefined_thing'"),
        ("undefined_thing on", "1:1: unrecognized function or variable 'undefined_thing'"),
        ("x = {1, @(t) t + u};", "1:18: unrecognized function or variable 'u'"),
        ("q(1).f = p;", "1:10: unrecognized function or variable 'p'"),
        ("q(r) = 1;", "1:3: unrecognized function or variable 'r'"),
        ("x = eigs(eye(3));", "1:5: 'eigs' is a function of MATLAB's that is not supported yet"),
        ("x = twice(1, 2);", "1:5: 'twice' takes 1 argument at most, and is given 2"),
        ("x = local(1, 2, 3);", "1:5: 'local' takes 2 arguments at most, and is given 3"),
        ("x = sin(1, 2);", "1:5: 'sin' takes 1 argument at most, and is given 2"),
        ("x = sin;", "1:5: 'sin' takes 1 argument at least, and is given 0"),
        ("[x, y] = twice(1);", "1:1: 'twice' gives 1 output, and 2 asked for"),
        ("x = say(1);", "1:1: 'say' gives no output, and one is asked for"),
        ("x = local(1, undefined(2));", "1:14: unrecognized function or variable 'undefined'"),
    ],
)
def test_what_cannot_work_is_an_error(tmp_path, capsys, text, message):
    status, lines = checked(
        tmp_path,
        capsys,
        a=f"{text}\nfunction y = local(p, q)\ny = p + q;\nend\n",
        twice="function y = twice(x)\ny = 2 * x;\n",
        say="function say(x)\ndisp(x)\n",
    )
    assert (status, lines) == (1, [f"a.m:{message}"])


@pytest.mark.parametrize(
    "text",
    [
        "load data\nx = loaded;",
        "eval('made = 1;'); x = made;",
        "other\nx = of_the_script;",
        "if exist('maybe', 'var'), x = maybe; end",
        "c = {1, 2, 3}; x = twice(c{:});",
        "s.a = {1, 2}; x = twice(s.a{:}, s.a);",
        "x = many(1, 2, 3); [a, b] = many(1);",
        "x = named(1, Scale=3);",
        "f = @(varargin) numel(varargin); x = f(1, 2);",
        "x = pkg.inner(3);",
        "m = containers.Map(); g = gpuArray.rand(3);",
        "[~, k] = max([1 2]); global shared; x = shared;",
        "for k = 1:3, end, x = k;",
        "q(3).name = 1; x = q(end).name;",
        "x = 3; x(2) = []; ans",
        "hold on; format long; close all",
        "o = Thing(1); x = move(o, 1, 2, 3); y = o.place;",
        "x = beside(1);",
        "twice = @(a, b) a + b; x = twice(1, 2);",
    ],
)
def test_what_may_work_is_no_error(tmp_path, capsys, text):
    assert checked(
        tmp_path,
        capsys,
        a=text,
        other="of_the_script = 1;",
        twice="function y = twice(x)\ny = 2 * x;\n",
        many="function varargout = many(varargin)\nvarargout = varargin;\n",
        named="function y = named(x, o)\narguments\nx\no.Scale = 1\nend\ny = x * o.Scale;\nend\n",
        Thing=(
            "classdef Thing\nproperties\nplace\nend\nmethods\nfunction o = Thing(p)\no.place = p;\n"
            "end\nfunction y = move(o, varargin)\ny = o;\nend\nend\nend\n"
        ),
        private__beside="function y = beside(x)\ny = x;\n",
        **{"+pkg__inner": "function y = inner(x)\ny = x;\n"},
    ) == (0, [])


def test_scripts_that_another_one_calls_may_find_its_variables(tmp_path, capsys):
    assert checked(tmp_path, capsys, main="n = 3;\nstep", step="x = n + 1;") == (0, [])


def test_functions_that_call_what_changes_its_caller_may_have_other_variables(tmp_path, capsys):
    status, lines = checked(
        tmp_path,
        capsys,
        changes="function changes\nassignin('caller', 'made', 1);\n",
        uses="function y = uses\nchanges\ny = made;\n",
        other="function y = other\ny = made;\n",
    )
    assert (status, lines) == (1, ["other.m:2:5: unrecognized function or variable 'made'"])


def test_nested_functions_share_variables(tmp_path, capsys):
    text = "function y = f\nx = 1;\ninner\ny = z;\nfunction inner\nz = x;\nend\nend\n"
    assert checked(tmp_path, capsys, f=text) == (0, [])


def test_what_would_be_caught_or_need_not_be_called_is_a_warning_and_no_failure(tmp_path, capsys):
    text = "try, x = nowhere(1); catch, end\nh = @not_there;\n"
    function = "function [p, q] = g(x)\np = x;\n"
    assert checked(tmp_path, capsys, a=text, g=function) == (
        0,
        [
            "a.m:1:10: warning: unrecognized function or variable 'nowhere'",
            "a.m:2:5: warning: unrecognized function or variable 'not_there'",
            "g.m:1:1: warning: the output 'q' of 'g' is assigned nowhere",
        ],
    )


def test_warnings_come_after_the_errors_and_the_counts_last(tmp_path, capsys):
    (tmp_path / "a.m").write_text("h = @not_there;\nx = nowhere;\n")
    assert main(["--check", str(tmp_path / "a.m")]) == 1
    shown = capsys.readouterr()
    assert [line.split(": ")[1] for line in shown.out.splitlines()] == [
        "unrecognized function or variable 'nowhere'",
        "warning",
    ]
    assert shown.err == "1 error, 1 warning in 1 file\n"


def test_files_that_cannot_be_read_are_told(tmp_path, capsys):
    assert main(["--check", str(tmp_path / "nothing")]) == 1
    assert capsys.readouterr().err == f"Error: {tmp_path / 'nothing'}: No such file or directory.\n"


def test_programs_that_run_have_no_mistakes(capsys):
    folders = [str(ROOT / name) for name in ("examples", "benchmarks", "tests")]
    assert main(["--check", *folders]) == 0
    shown = capsys.readouterr()
    (warning,) = shown.out.splitlines()  # the program asks for the error that comes of it
    assert warning.endswith(
        "errors_calls.m:19:1: warning: the output 'y' of 'nothing' is assigned nowhere"
    )
    assert int(shown.err.split()[-2]) > 100
