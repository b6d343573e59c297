"""The cache's command line. Oracle: the files that are there."""

import json
import os

import pytest

from runmat_jit import __main__ as cli
from runmat_jit.core.config import Config
from runmat_jit.runtime.session import Session, use_session


@pytest.fixture
def cache(tmp_path):
    """A cache with three objects of a megabyte, used one after the other, and a profile."""
    directory = tmp_path / "cache"
    for part in ("objects", "profiles", "mine"):
        (directory / part).mkdir(parents=True)
    for number in range(3):
        path = directory / "objects" / f"{number}.o"
        path.write_bytes(bytes(1 << 20))
        os.utime(path, (number, number))
    (directory / "profiles" / "a.profile").write_bytes(b"abc")
    (directory / "mine" / "thesis.txt").write_text("not ours")
    (directory / "objects" / "link.o").symlink_to(directory / "mine" / "thesis.txt")
    before = use_session(Session(Config(cache_dir=str(directory))))
    yield directory
    use_session(before)


def told(capsys, *arguments):
    assert cli.main(["cache", *arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_info_tells_what_is_kept(cache, capsys):
    found = told(capsys, "info")
    assert found["directory"] == str(cache)
    assert found["parts"] == {
        "objects": {"files": 3, "bytes": 3 << 20},
        "adapters": {"files": 0, "bytes": 0},
        "profiles": {"files": 1, "bytes": 3},
    }
    assert cli.main(["cache", "info"]) == 0
    assert "3 files, 3.1 MB" in capsys.readouterr().out


def test_prune_leaves_what_was_used_last(cache, capsys):
    assert told(capsys, "prune", "--keep", "2")["deleted"] == 1
    assert sorted(path.name for path in (cache / "objects").glob("[0-9].o")) == ["1.o", "2.o"]
    assert (cache / "profiles" / "a.profile").exists()
    assert told(capsys, "prune", "--keep", "2")["deleted"] == 0


def test_clear_deletes_what_is_ours_alone(cache, capsys):
    found = told(capsys, "clear")
    assert found["deleted"] == 4
    assert all(part["files"] == 0 for part in found["parts"].values())
    assert (cache / "mine" / "thesis.txt").read_text() == "not ours"


def test_without_a_cache_there_is_nothing(capsys):
    before = use_session(Session(Config(cache_dir="none")))
    try:
        assert told(capsys, "clear") is None
        assert cli.main(["cache", "info"]) == 0
    finally:
        use_session(before)
    assert "nothing is kept" in capsys.readouterr().out
