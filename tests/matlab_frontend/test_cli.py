"""Oracle: exit codes and texts that a user expects of a command line."""

import pytest

from matlab_frontend.cli import main


def test_a_text_is_run(capsys):
    assert main(["-e", "x = 2; fprintf('%d\\n', x + 1)"]) == 0
    assert capsys.readouterr().out == "3\n"


def test_a_file_finds_the_functions_beside_it(tmp_path, capsys):
    (tmp_path / "double_it.m").write_text("function y = double_it(x)\ny = 2 * x;\n")
    (tmp_path / "script.m").write_text("disp(double_it(4))\n")
    assert main([str(tmp_path / "script.m")]) == 0
    assert capsys.readouterr().out == "     8\n"


def test_an_error_shows_its_place_and_no_traceback(tmp_path, capsys):
    script = tmp_path / "bad.m"
    script.write_text("x = 1;\ny = x + missing_name;\n")
    assert main([str(script)]) == 1
    assert capsys.readouterr().err == (
        "Error (MATLAB:UndefinedFunction): Unrecognized function or variable 'missing_name'.\n"
        f"{script}:2:9\n"
        "  y = x + missing_name;\n"
        "          ^^^^^^^^^^^^\n"
    )


def test_an_error_in_a_function_names_it(tmp_path, capsys):
    script = tmp_path / "bad.m"
    script.write_text("f(1)\nfunction f(x)\nerror('my:id', 'value %d', x)\nend\n")
    assert main([str(script)]) == 1
    shown = capsys.readouterr().err
    assert shown.startswith("Error (my:id): value 1\n")
    assert f"{script}:3:1 in f\n" in shown


def test_a_text_that_is_no_program_is_shown_with_a_caret(capsys):
    assert main(["-e", "x = (1 + 2"]) == 1
    shown = capsys.readouterr().err
    assert "<text>:1:5" in shown
    assert "^" in shown


def test_a_file_that_is_not_there_is_no_crash(capsys):
    assert main(["nothing_here.m"]) == 1
    assert capsys.readouterr().err == (
        "Error (MATLAB:run:FileNotFound): nothing_here.m: No such file or directory.\n"
    )


def test_a_folder_is_no_program(tmp_path, capsys):
    assert main([str(tmp_path)]) == 1
    assert "Is a directory" in capsys.readouterr().err


def test_an_empty_text_does_nothing(capsys):
    assert main(["-e", ""]) == 0
    assert capsys.readouterr() == ("", "")


def test_something_to_run_is_required():
    with pytest.raises(SystemExit):
        main([])


def test_explain_says_what_computed(capsys):
    assert main(["-e", "x = 1;", "--explain"]) == 0
    assert "NumPy computed each operation" in capsys.readouterr().err


def test_every_device_gives_the_same_text(capsys):
    for device in ("auto", "cpu", "gpu"):  # without an adapter the CPU computes
        assert main(["-e", "x = linspace(0, 1, 5000); disp(sum(x))", "--device", device]) == 0
        assert capsys.readouterr().out.strip() == "2500"


@pytest.mark.parametrize(
    "call",
    [
        "cell2mat(5)",
        "fieldnames(5)",
        "structfun(@(x) x, 5)",
        "diag({})",
        "throw(5)",
        "keys(5)",
        "reshape(1:6, 4, 2)",
        "str2func(5)",
        "strsplit(5)",
        "ones('x')",
        "zeros(1.5)",
        "cat(0, 1)",
    ],
)
def test_a_builtin_given_the_wrong_class_raises_an_error_of_the_language(call, capsys):
    assert main(["-e", f"{call};"]) == 1
    shown = capsys.readouterr().err
    assert shown.startswith("Error (MATLAB:")
    assert "Traceback" not in shown
