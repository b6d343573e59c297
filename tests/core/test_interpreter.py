"""Where decorated functions are plain Python: oracle: a list of interpreters and versions."""

import re
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

import runmat_jit as runmat
from runmat_jit import dispatcher
from runmat_jit.core import interpreter
from runmat_jit.runtime.session import CURRENT


def test_this_interpreter_is_supported():
    assert interpreter.unsupported_interpreter() is None
    assert interpreter.interpreter_number() == 0


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("PYTHONS", ((3, 5), (3, 6)), r"Python 3\.1\d is not known: 3\.5 to 3\.6 are"),
        ("NUMPYS", ((1, 0), (1, 26)), r"NumPy 2\.\d is not known: 1\.0 to 1\.26 are"),
    ],
)
def test_what_no_test_has_run_on_is_unsupported(monkeypatch, name, value, reason):
    monkeypatch.setattr(interpreter, name, value)
    assert re.fullmatch(reason, interpreter.unsupported_interpreter())


def test_python_without_its_lock_and_other_implementations_are_unsupported(monkeypatch):
    monkeypatch.setattr(sys, "_is_gil_enabled", lambda: False, raising=False)
    assert "global lock" in interpreter.unsupported_interpreter()
    monkeypatch.setattr(sys.implementation, "name", "pypy")
    assert "pypy" in interpreter.unsupported_interpreter()


def test_versions_are_read_as_numpy_writes_them():
    found = [interpreter.numpy_version(text) for text in ("2.5.0", "2.3.0rc1", "3.0.0.dev0", "x")]
    assert found == [(2, 5), (2, 3), (3, 0), (0, 0)]


def test_an_unsupported_interpreter_warns_once_and_runs_plain(monkeypatch):
    monkeypatch.setattr(dispatcher, "UNSUPPORTED", "it is a test")
    monkeypatch.setattr(CURRENT, "has_warned", False)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        double, half = runmat.jit(lambda x: x * 2), runmat.jit(lambda x: x / 2)
    assert [str(each.message) for each in caught] == [
        "decorated functions run as plain Python: it is a test"
    ]
    assert caught[0].filename == __file__
    assert half(double(np.ones(2))).tolist() == [1.0, 1.0]
    assert [str(each) for each in double.explain(np.ones(2)).reasons] == [
        "switched-off: it is a test"
    ]


def test_the_supported_versions_are_those_that_the_project_names():
    root = Path(__file__).parents[2]
    project = (root / "pyproject.toml").read_text(encoding="utf-8")
    named = re.findall(r'"Programming Language :: Python :: (\d)\.(\d+)"', project)
    versions = [(int(major), int(minor)) for major, minor in named]
    assert (versions[0], versions[-1]) == interpreter.PYTHONS
    assert f'"numpy>={interpreter.shown(interpreter.NUMPYS[0])}"' in project


SMOKE = """
import numpy as np, runmat_jit
f = runmat_jit.jit(lambda x: np.tanh(x) * 2 + 1)
for _ in range(3):
    f(np.ones(1000, np.float32))
assert f.explain(np.ones(1000, np.float32)).kinds == ["elementwise"]
"""


def test_a_program_is_compiled_in_a_process_of_its_own(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(SMOKE, encoding="utf-8")
    subprocess.run([sys.executable, program], check=True)
