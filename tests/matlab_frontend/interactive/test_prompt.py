"""A conversation with the prompt; oracle: what MATLAB's command window shows, written by hand."""

import pytest

from matlab_frontend.interactive import prompt as prompt_module
from matlab_frontend.interactive.base_workspace import BaseWorkspace
from matlab_frontend.interactive.prompt import Prompt
from matlab_frontend.interpreter.evaluate import BINARY


class Transcript:
    """What a terminal would show, and the exit status."""

    def __init__(self, *typed):
        self.lines, self.shown = list(typed), []
        self.workspace = BaseWorkspace(write=self.shown.append, write_error=self.shown.append)
        self.status = Prompt(self.workspace, self.read, self.shown.append).run()

    def read(self, prompt):
        if not self.lines:
            raise EOFError
        line = self.lines.pop(0)
        if isinstance(line, BaseException):
            raise line
        self.shown.append(f"{prompt}{line}\n")
        return line

    def __str__(self):
        return "".join(self.shown)


def transcript(*typed):
    return str(Transcript(*typed))


def test_variables_last_and_ans_is_the_last_value():
    shown = transcript("x = 3;", "x + 1", "ans * 2")
    assert shown == (
        ">> x = 3;\n>> x + 1\n\nans =\n\n     4\n\n>> ans * 2\n\nans =\n\n     8\n\n\n"
    )


def test_lines_that_open_something_are_gone_on_with():
    shown = transcript("for k = 1:2", "disp(k)", "end", "a = [1 2", "3 4];", "disp(a(2, 1))")
    assert shown == (
        ">> for k = 1:2\n   disp(k)\n   end\n     1\n     2\n"
        ">> a = [1 2\n   3 4];\n>> disp(a(2, 1))\n     3\n\n"
    )


@pytest.mark.parametrize("last", ["end", ""])
def test_a_function_is_typed_over_lines(last):
    shown = transcript("function y = twice(x)", "y = 2 * x;", last, "disp(twice(4))")
    assert shown.endswith(">> disp(twice(4))\n     8\n\n")


def test_typed_functions_call_one_another_and_are_replaced():
    shown = transcript(
        *("function y = f(x)", "y = g(x) + 1;", "end", "function y = g(x)", "y = 10 * x;", "end"),
        *("disp(f(2))", "function y = g(x)", "y = -x;", "end", "disp(f(2))", "h = @g; disp(h(1))"),
    )
    assert [line.strip() for line in shown.splitlines() if line[:2] == "  " and "=" not in line][
        -3:
    ] == ["end", "-1", "-1"]
    assert "    21\n" in shown


def test_an_error_is_shown_and_the_next_line_is_read():
    assert transcript("y = z;", "disp(1)") == (
        ">> y = z;\nUnrecognized function or variable 'z'.\n\n>> disp(1)\n     1\n\n"
    )


def test_what_is_wrong_is_shown_at_once_with_a_caret():
    assert transcript("y = )", "end", "x = 1 +", "x = 'abc") == (
        ">> y = )\n  y = )\n      ^\nError: ')' closes no bracket.\n\n"
        ">> end\n  end\n  ^^^\nError: 'end' belongs to no block that is open here.\n\n"
        ">> x = 1 +\n  x = 1 +\n         ^\nError: Expected a value, found the end of the text.\n\n"
        ">> x = 'abc\n  x = 'abc\n      ^\nError: ' is not closed on its line.\n\n\n"
    )


def test_nothing_of_a_text_that_is_wrong_is_run():
    assert "1" not in transcript("disp(2 - 1), y = )").replace("disp(2 - 1)", "")


def test_an_error_of_a_function_names_its_line():
    shown = transcript(
        *("function f(x)", "if x > 1", "error('my:id', 'value %d', x)", "end"),
        *("missing + 1", "end"),
        *("f(7)", "f(0)"),
    )
    assert ">> f(7)\nError using f (line 3)\nvalue 7\n\n" in shown
    assert (
        ">> f(0)\nUnrecognized function or variable 'missing'.\n\nError in f (line 5)\n"
        "    missing + 1\n\n"
    ) in shown


def test_a_syntax_error_of_a_file_names_the_file(tmp_path, monkeypatch):
    (tmp_path / "broken.m").write_text("function broken\nx = (1\n")
    monkeypatch.chdir(tmp_path)
    shown = transcript("broken")
    assert f"Error: File: {tmp_path / 'broken.m'} Line: 2 Column: 5\n" in shown


def test_what_was_done_before_an_error_is_done():
    assert transcript("a = 5; b = a(7);", "disp(a)").endswith(">> disp(a)\n     5\n\n")


def test_an_error_within_an_index_leaves_nothing_behind():
    shown = transcript("v = 1:3;", "v(end, missing(end))", "disp(v(end))")
    assert shown.endswith("     3\n\n")


@pytest.mark.parametrize(("leaving", "status"), [("exit", 0), ("quit", 0), ("exit(3)", 3)])
def test_exit_leaves_with_its_status(leaving, status):
    assert Transcript("try, " + leaving + ", catch, end", "disp(1)").status == status


def test_the_end_of_the_input_leaves():
    found = Transcript()
    assert (found.status, str(found)) == (0, "\n")


def test_the_end_of_the_input_within_a_statement_leaves():
    assert transcript("for k = 1:3") == ">> for k = 1:3\n\n"


def test_an_interrupted_line_is_dropped():
    shown = transcript("x = [1", KeyboardInterrupt(), "disp(7)")
    assert shown == ">> x = [1\n\n>> disp(7)\n     7\n\n"


def test_an_interrupted_statement_is_left(monkeypatch):
    def add(*_):
        raise KeyboardInterrupt

    monkeypatch.setitem(BINARY, "+", add)
    shown = transcript("x = 'a' + 1;", "disp(7)")
    assert shown == (">> x = 'a' + 1;\n\nOperation terminated by user.\n\n>> disp(7)\n     7\n\n")


def test_a_mistake_of_ours_is_one_line(monkeypatch):
    def add(*_):
        raise KeyError("nothing")

    monkeypatch.setitem(BINARY, "+", add)
    shown = transcript("x = 'a' + 1;", "disp(7)")
    assert "Internal error: KeyError: 'nothing'; please report it\n" in shown
    assert shown.endswith("     7\n\n")


def test_a_name_that_is_a_variable_begins_no_command():
    assert "     2\n" in transcript("x = 3;", "x -1")


def test_cleanups_run_at_the_end():
    assert transcript("c = onCleanup(@() disp('bye'));") == (
        ">> c = onCleanup(@() disp('bye'));\n\nbye\n"
    )


def test_random_numbers_and_large_arrays_go_on_from_text_to_text():
    shown = transcript("rng(1);", "x = rand(1, 5000);", "y = x + 1;", "rng(1);")
    assert shown.count("\n") == 5
    found = Transcript("rng(1); x = rand(1, 5000);", "y = x + 1;", "d = sum(y - x);")
    assert found.workspace.pull(["d"])["d"] == pytest.approx(5000)


def test_a_class_is_not_typed():
    assert "A class is defined in a file" in transcript("classdef C, end")


def test_help_is_the_first_comment_or_what_a_builtin_does(tmp_path, monkeypatch):
    (tmp_path / "half.m").write_text(
        "function y = half(x)\n%HALF  Half of a number.\n%   Exactly.\n\n% not this\ny = x/2;\n"
    )
    (tmp_path / "go.m").write_text("% Goes on.\nx = 1;\n")
    monkeypatch.chdir(tmp_path)
    shown = transcript("help half")
    assert shown == ">> help half\n HALF  Half of a number.\n    Exactly.\n\n"
    assert transcript("help go") == ">> help go\n  Goes on.\n\n"
    shown = transcript("help sin")
    assert " sin  Sine of radians.\n\n Reference: docs/reference/builtins.md#sin\n" in shown
    assert "not supported" in transcript("help butter")
    assert "nix not found.\n" in transcript("help nix")
    assert "x is a variable of type single.\n" in transcript("x = single(1);", "help x")
    assert "exit" in transcript("help")


def test_the_prompts_are_of_one_width():
    assert len(prompt_module.PROMPT) == len(prompt_module.CONTINUATION)
