"""The command line; oracles: exit statuses, and the values that the report must repeat."""

import json
import os
import platform

import numpy as np
import pytest

import runmat_jit as runmat
from runmat_jit import __main__ as cli
from runmat_jit.core.config import OPTIONS
from runmat_jit.runtime.session import use_session


def test_info_names_versions_options_and_where_they_come_from(capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RUNMAT_NUM_THREADS", "3")
    cache = os.environ["RUNMAT_CACHE_DIR"]  # of all tests: adapters are known there
    before = use_session(None)  # the next one reads the environment anew
    assert cli.main(["info"]) == 0
    use_session(before)
    lines = capsys.readouterr().out.splitlines()
    assert any(line.split()[:2] == ["numpy", np.__version__] for line in lines)
    assert any(line.split()[:2] == ["python", platform.python_version()] for line in lines)
    assert any(line.split() == ["threads", "3"] for line in lines)
    assert any(line.split() == ["cache", cache] for line in lines)
    assert any("num_threads" in line and "3  (RUNMAT_NUM_THREADS)" in line for line in lines)
    shown = {line.split()[0] for line in lines if line}
    assert {option.name for option in OPTIONS} <= shown


def info_lines(capsys):
    before = use_session(None)
    try:
        assert cli.main(["info"]) == 0
    finally:
        use_session(before)
    return capsys.readouterr().out.splitlines()


def test_info_shows_what_was_found_of_each_adapter_in_80_columns(capsys):
    lines = info_lines(capsys)
    adapters = [device for device in runmat.devices() if device.kind == "gpu"]
    titles = [line for line in lines if line.startswith("GPU")]
    assert len(titles) == max(len(adapters), 1)
    if adapters:
        named = {line.split()[0] for line in lines if line.startswith("  ")}
        assert {"driver", "types", "limits", "float32", "built-in", "reproducible"} <= named
        assert adapters[0].name in titles[0]
    assert all(len(line) <= 80 for line in lines if not line.startswith("  cache"))


def test_info_without_an_adapter_says_what_to_install(capsys, monkeypatch):
    monkeypatch.setattr("runmat_jit.info.gpu_reports", lambda *_: [])
    text = " ".join(" ".join(info_lines(capsys)).split())
    assert "GPU adapters none to do install the driver of your GPU" in text
    assert "mesa-vulkan-drivers" in text


@pytest.mark.parametrize("arguments", [[], ["nothing"], ["info", "extra"]])
def test_an_unknown_command_is_refused_with_the_known_ones(arguments, capsys):
    with pytest.raises(SystemExit) as stopped:
        cli.main(arguments)
    assert stopped.value.code == 2
    assert "usage: python -m runmat_jit" in capsys.readouterr().err


def test_a_result_that_differs_makes_the_demo_fail(monkeypatch, tmp_path):
    monkeypatch.setattr("runmat_jit.demo.run_demo", lambda *_, **__: False)
    assert cli.main(["demo", "--output", str(tmp_path / "x.png")]) == 1


PROGRAM = """
import sys
import numpy as np
import runmat_jit as runmat

@runmat.jit
def scaled(x):
    return np.sqrt(x) * 2

class Shape:
    @runmat.jit
    def area(self, x):
        print("asked")
        return x * x

@runmat.jit
def unused(x):
    return x

def plain(x):
    return x

for n in (3, 3):
    scaled(np.ones(n))
    Shape().area(np.ones(n))
print(sys.argv[1:])
"""


@pytest.mark.parametrize(
    ("name", "told", "status"),
    [
        ("scaled", "scaled: replayed; 1 region, 1 kernel", 0),
        ("Shape.area", "Shape.area: ", 0),
        ("unused", "unused: no call of it was seen", 0),
        ("plain", "error: plain is not decorated with @runmat.jit", 2),
        ("absent", "has no absent", 2),
        ("Shape.absent", "has no Shape.absent", 2),
    ],
)
def test_explain_runs_a_program_and_tells_of_a_function(tmp_path, capsys, name, told, status):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    assert cli.main(["explain", f"{program}:{name}", "a", "b"]) == status
    shown = capsys.readouterr()
    assert "['a', 'b']" in shown.out
    assert told in (shown.err if status else shown.out)


def test_explain_tells_programs_the_same(tmp_path, capsys):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    assert cli.main(["explain", "--json", f"{program}:scaled"]) == 0
    text = capsys.readouterr().out
    (found,) = json.loads(text[text.index("[\n") :])
    assert found["kinds"] == ["elementwise"]
    (placement,) = found["placements"]
    assert placement["predicted_us"][placement["device"]] > 0


def test_explain_refuses_what_is_no_file(tmp_path, capsys):
    assert cli.main(["explain", f"{tmp_path}/absent.py:f"]) == 2
    assert cli.main(["explain", "f"]) == 2
    assert capsys.readouterr().err.count("error: there is no file") == 2
