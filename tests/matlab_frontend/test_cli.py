"""Oracle: exit codes and texts that a user expects of a command line."""

import os
import signal
import subprocess
import sys
import time

import pytest

from matlab_frontend.cli import main
from matlab_frontend.interpreter.evaluate import BINARY
from matlab_frontend.interpreter.native import run as native_run
from runmat_jit.core.errors import BackendError


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


@pytest.mark.parametrize("code", ["x = 1" + "+1" * 20_000, "x" + ".a" * 12_000 + " = 1;"])
def test_what_is_nested_too_deeply_is_an_error_of_the_program(code, capsys):
    assert main(["-e", code]) == 1
    assert "MATLAB:recursionLimit" in capsys.readouterr().err


def test_line_ends_marks_and_code_pages_of_other_systems_are_read(tmp_path, capsys):
    program = tmp_path / "windows.m"
    program.write_bytes(b"\xef\xbb\xbfx = [1 2\r\n3 4];\r\ndisp(x(2, 1))\r\n")
    assert main([str(program)]) == 0
    program.write_bytes(b"s = 'caf\xe9'; disp(double(s(4)))\r")
    assert main([str(program)]) == 0
    assert capsys.readouterr().out == "     3\n   233\n"


def test_a_folder_is_no_program(tmp_path, capsys):
    assert main([str(tmp_path)]) == 1
    assert "Is a directory" in capsys.readouterr().err


def test_an_empty_text_does_nothing(capsys):
    assert main(["-e", ""]) == 0
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--check"], "argument --check: expected files and folders"),
        (["a.m", "--check", "b.m"], "--check runs nothing, and stands alone before the paths"),
        (["a.m", "b.m"], "one script or one -e code is run, not several"),
        (["-e", "x = 1", "a.m"], "one script or one -e code is run, not several"),
        (["-e"], "argument -e: expected one argument"),
        (["a.m", "--device", "tpu"], "argument --device: 'tpu': there are auto, cpu, gpu"),
        (["a.m", "--device="], "argument --device: '': there are auto, cpu, gpu"),
        (["a.m", "--verbose"], "unrecognized arguments: --verbose"),
    ],
)
def test_options_that_make_no_sense_are_told_beside_the_usage(capsys, arguments, complaint):
    assert main(arguments) == 2
    usage, told = capsys.readouterr().err.splitlines()
    assert usage.startswith("usage: python -m runmat_jit.matlab ")
    assert told == f"error: {complaint}"


def test_help_names_every_option(capsys):
    assert main(["--help"]) == 0
    shown = capsys.readouterr().out
    options = ("script", "-e code", "--check", "--explain", "--time", "--device", "--help")
    assert all(name in shown for name in options)


@pytest.mark.parametrize("arguments", [[], ["-"]])
def test_a_text_that_is_piped_in_is_run(arguments):
    command = [sys.executable, "-m", "runmat_jit.matlab", *arguments]
    made = subprocess.run(
        command, input="x = 3;\ndisp(x)\nexit(4)", capture_output=True, text=True, check=False
    )
    assert (made.returncode, made.stdout, made.stderr) == (4, "     3\n", "")


def test_exit_ends_the_program_through_try_and_functions(tmp_path, capsys):
    script = tmp_path / "leaves.m"
    script.write_text(
        "c = onCleanup(@() disp('clean'));\ntry\nf(2)\ncatch\nend\ndisp('not here')\n"
        "function f(x)\nexit(x)\nend\n"
    )
    assert main([str(script)]) == 2
    assert capsys.readouterr() == ("clean\n", "")


def test_an_endless_loop_of_turns_that_do_nothing_is_interrupted():
    command = [sys.executable, "-m", "runmat_jit.matlab", "-e", "disp(1), while true, end"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout.readline().strip() == b"1"
    time.sleep(2)  # it has run natively for some slices
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=60)[1] == b"Interrupted.\n"
    assert process.returncode == 130


def test_time_says_how_long_each_line_took(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    script = tmp_path / "timed.m"
    script.write_text(
        "s = 0;\nfor k = 1:10\n  if k > 5, s = s + f(k); end\nend\ndisp(s)\n"
        "function y = f(x)\n  y = g(x) + 1;\nend\nfunction y = g(x)\n  y = 2 * x;\nend\n"
    )
    assert main([str(script), "--time"]) == 0
    told = capsys.readouterr()
    assert told.out.split() == ["85"]
    rows = [line.split(maxsplit=4) for line in told.err.splitlines() if line.strip()[:1].isdigit()]
    counted = {int(row[0]): (int(row[1]), row[4].strip()) for row in rows[1:]}
    assert counted == {
        1: (1, "s = 0;"),
        2: (1, "for k = 1:10"),
        3: (10, "if k > 5, s = s + f(k); end"),
        5: (1, "disp(s)"),
        7: (5, "y = g(x) + 1;"),
        10: (5, "y = 2 * x;"),
    }
    assert sum(float(row[3]) for row in rows[1:]) == pytest.approx(100, abs=0.5)
    assert "computed where the program looks" in " ".join(told.err.split())


def test_explain_says_what_computed(capsys):
    assert main(["--explain", "-e", "x = 1;", "--device=cpu"]) == 0
    assert "NumPy computed each operation" in capsys.readouterr().err


def test_explain_says_which_loops_ran_natively(capsys, monkeypatch):
    monkeypatch.setattr(native_run, "COMPILES", -1.0)
    monkeypatch.setattr(native_run, "STARTS", -1.0)
    text = "s = 0;\nfor k = 1:99\ns = s + k;\nend\nfor k = 1:99\nc = {k};\nend\ndisp(s)"
    assert main(["-e", text, "--explain"]) == 0
    told = capsys.readouterr()
    assert told.out.split() == ["4950"]
    assert "- line 2: natively, 97 turns in the last run" in told.err
    assert "- line 5: interpreted: an expression of another kind" in told.err


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


def breaking(error):
    def add(*_):
        raise error

    return add


def test_a_mistake_of_ours_is_one_line_and_the_programs_place(tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(BINARY, "+", breaking(KeyError("no such\nentry")))
    script = tmp_path / "fine.m"
    script.write_text("disp('before')\ntry, y = f('a'); catch, disp('caught'), end\n")
    (tmp_path / "f.m").write_text("function y = f(x)\ny = x + 1;\n")
    assert main([str(script)]) == 1
    shown = capsys.readouterr()
    assert shown.out == "before\n"
    assert shown.err == (
        "Internal error: KeyError: 'no such\\nentry'; please report it\n"
        f"{tmp_path / 'f.m'}:2:5 in f\n"
        "  y = x + 1;\n"
        "      ^^^^^\n"
        f"{script}:2:10\n"
    )


def test_the_traceback_of_a_mistake_of_ours_is_in_the_log(monkeypatch, caplog):
    monkeypatch.setitem(BINARY, "+", breaking(AttributeError("nothing here")))
    with caplog.at_level("DEBUG", "runmat_jit"):
        assert main(["-e", "'a' + 1"]) == 1
    (record,) = [record for record in caplog.records if record.exc_info]
    assert record.levelname == "DEBUG"
    assert record.exc_info[0] is AttributeError


def test_the_log_is_shown_where_it_is_asked_for():
    broken = (
        "import sys; from matlab_frontend.interpreter.evaluate import BINARY;"
        "from matlab_frontend.cli import main;"
        "BINARY['+'] = None; sys.exit(main(['-e', '[1 2] + 1']))"
    )
    shown = {}
    for level in ("", "debug"):
        found = subprocess.run(
            [sys.executable, "-c", broken],
            env={**os.environ, "RUNMAT_LOG": level},
            capture_output=True,
            text=True,
            check=False,
        )
        assert found.returncode == 1
        assert "Internal error: TypeError" in found.stderr
        shown[level] = "Traceback" in found.stderr
    assert shown == {"": False, "debug": True}


def test_an_error_of_the_library_is_no_mistake_of_ours(capsys, monkeypatch):
    monkeypatch.setitem(BINARY, "+", breaking(BackendError("the device is lost")))
    assert main(["-e", "x = 'a' + 1;"]) == 1
    assert capsys.readouterr().err.startswith("Error: the device is lost\n<text>:1:5\n")


def test_an_interrupted_program_says_so(capsys, monkeypatch):
    monkeypatch.setitem(BINARY, "+", breaking(KeyboardInterrupt()))
    assert main(["-e", "disp(1), 'a' + 1"]) == 130
    assert capsys.readouterr() == ("     1\n", "Interrupted.\n")


def test_a_program_ends_quietly_when_nobody_reads_its_output():
    process = subprocess.Popen(
        [sys.executable, "-m", "runmat_jit.matlab", "-e", "while true, disp(7), end"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout.readline().strip() == b"7"
    process.stdout.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait() == 141


def test_an_array_that_is_too_large_is_an_error_of_the_program(capsys):
    code = "try, x = eye(1e7); catch e, disp(e.identifier), end, x = eye(1e7);"
    assert main(["-e", code]) == 1
    shown = capsys.readouterr()
    assert shown.out == "MATLAB:nomem\n"
    assert shown.err.startswith("Error (MATLAB:nomem): Out of memory.")


def test_a_short_script_loads_only_what_it_uses():
    code = (
        "import __future__, pathlib, sys, numpy\n"  # the first two are NumPy's, on some versions
        "before = {*sys.modules}\n"
        "from matlab_frontend.cli import main\n"
        "main(['-e', 'disp(1)'])\n"
        "print(*sorted({*sys.modules} - before))"
    )
    made = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    loaded = set(made.stdout.split()[1:])
    ours = {name for name in loaded if name.startswith(("matlab_frontend", "runmat_jit"))}
    small = {"_weakrefset", "copy", "dataclasses", "gc", "threading", "unicodedata"}
    assert loaded - ours <= small | {"ctypes._layout"}  # of which NumPy has loaded the rest
    assert {name for name in ours if name.startswith("matlab_frontend.builtins.")} == {
        f"matlab_frontend.builtins.{name}"
        for name in ("names", "number_text", "output", "registry", "scalars", "sizes")
    }
    assert len(ours) <= 117


def test_what_a_short_script_loads_makes_no_dataclasses_and_compiles_few_patterns():
    code = (
        "import dataclasses, re, numpy\n"
        "counts = [0, 0]\n"
        "def counting(index, function):\n"
        "  def count(*args, **kwargs):\n"
        "    counts[index] += 1\n"
        "    return function(*args, **kwargs)\n"
        "  return count\n"
        "dataclasses._process_class = counting(0, dataclasses._process_class)\n"
        "re._compiler.compile = counting(1, re._compiler.compile)\n"
        "from matlab_frontend.cli import main\n"
        "main(['-e', 'disp(1)'])\n"
        "print(*counts)"
    )
    made = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    dataclasses, patterns = map(int, made.stdout.split()[1:])
    assert dataclasses == 0
    assert patterns <= 8
