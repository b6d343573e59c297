"""The command line; oracles: exit statuses, and the values that the report must repeat."""

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
