"""Oracles: the adapter tested in this process; a stand-in for a driver that crashes."""

import json
import logging
import os
import stat
import sys

import pytest

from runmat_jit.backends.wgpu import probe
from runmat_jit.backends.wgpu.findings import Findings, FloatFindings
from runmat_jit.backends.wgpu.selftest import self_test
from runmat_jit.runtime.session import current_session
from tests.backends.wgpu.shaders import device

LOG = logging.getLogger("runmat_jit.tests.probe")


@pytest.fixture
def crashing(tmp_path, monkeypatch):
    """A Python whose process dies as drivers do."""
    script = tmp_path / "python"
    script.write_text("#!/bin/sh\nkill -SEGV $$\n")
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setattr(probe.sys, "executable", str(script))


@pytest.mark.usefixtures("adapter")
def test_another_process_finds_what_this_one_finds(monkeypatch):
    info, directory = device().info, current_session().findings_directory()
    found = probe.findings_of(info, directory, LOG)
    assert found == self_test(device())
    monkeypatch.setattr(probe.sys, "executable", "/nonexistent")  # the answer is kept
    assert probe.findings_of(info, directory, LOG) == found


@pytest.mark.usefixtures("adapter")
def test_adapters_are_listed_after_another_process_could(tmp_path):
    keys = [a.info.key for a in probe.usable_adapters(tmp_path, LOG)]
    assert device().info.key in keys
    (file,) = (tmp_path / "adapters").iterdir()
    assert json.loads(file.read_text())["adapters"] == keys


@pytest.mark.usefixtures("adapter", "crashing")
@pytest.mark.skipif(sys.platform == "win32", reason="the stand-in is a shell script")
def test_a_crashing_driver_costs_a_line_in_the_log(tmp_path, caplog):
    with caplog.at_level(logging.WARNING, LOG.name):
        assert probe.usable_adapters(tmp_path, LOG) == ()
        assert probe.findings_of(device().info, tmp_path, LOG) is None
    assert len(caplog.records) == 2
    assert "status -11" in caplog.text
    caplog.clear()
    assert probe.findings_of(device().info, tmp_path, LOG) is None  # and is not tried again
    assert not caplog.records


def test_records_of_another_version_do_not_count(tmp_path, monkeypatch):
    probe._write(tmp_path, "some driver", {"adapters": []})
    assert probe._read(tmp_path, "some driver")["adapters"] == []
    assert probe._read(tmp_path, "another driver") is None
    monkeypatch.setattr(probe, "_VERSION", probe._VERSION + 1)
    assert probe._read(tmp_path, "some driver") is None


def test_findings_survive_a_file():
    floats = {"f32": FloatFindings("fma", "none", True, False, True, False, True)}
    found = Findings(floats, {"exp2": 1.5})
    assert Findings.from_json(json.loads(json.dumps(found.to_json()))) == found


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no FIFOs")
def test_what_is_no_record_of_this_users_is_none(tmp_path):
    probe._write(tmp_path, "a driver", {"adapters": []})
    path = probe._path(tmp_path, "a driver")
    path.chmod(0o666)
    assert probe._read(tmp_path, "a driver") is None
    path.unlink()
    os.mkfifo(path)
    assert probe._read(tmp_path, "a driver") is None
    path.unlink()
    path.write_text("[" * 100_000)
    assert probe._read(tmp_path, "a driver") is None
