"""Oracle: what was put in, and the code that compiling anew gives."""

import os
import time

import pytest

from runmat_jit.backends.llvm.jit import Jit
from runmat_jit.backends.llvm.object_cache import ObjectCache

TEXT = "define i64 @answer() { ret i64 42 }"


@pytest.fixture
def cache(tmp_path):
    return ObjectCache(tmp_path / "objects")


def test_what_was_put_in_comes_out(cache):
    assert cache.get("a") is None
    cache.put("a", b"contents")
    assert cache.get("a") == b"contents"
    assert (cache.hits, cache.misses) == (1, 1)


def test_a_damaged_file_is_a_miss(cache):
    cache.put("a", b"contents")
    path = cache.directory / "a.o"
    path.write_bytes(path.read_bytes()[:-1] + b"X")
    assert cache.get("a") is None
    path.write_bytes(b"")
    assert cache.get("a") is None


def test_a_directory_that_cannot_be_written_costs_nothing_but_speed(tmp_path):
    blocker = tmp_path / "file"
    blocker.write_text("no directory")
    cache = ObjectCache(blocker / "objects")
    cache.put("a", b"contents")
    assert cache.get("a") is None


def test_keys_tell_where_one_part_ends():
    assert ObjectCache.key("ab", "c") != ObjectCache.key("a", "bc")


def test_the_entries_used_least_recently_go_first(tmp_path):
    cache = ObjectCache(tmp_path, limit_bytes=64 * 100)
    for number in range(64):
        cache.put(f"{number:02}", bytes(100))
        os.utime(tmp_path / f"{number:02}.o", (number, number))
    cache.put("64", bytes(100))  # no pruning yet: every 64th entry looks
    for number in range(65, 128):
        cache.put(str(number), bytes(100))
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) <= 64 * 132
    assert cache.get("00") is None
    assert cache.get("127") is not None


def test_the_directory_is_not_listed_at_every_put(cache, monkeypatch):
    listed = []
    entries = cache._entries
    monkeypatch.setattr(cache, "_entries", lambda: listed.append(1) or entries())
    for number in range(128):
        cache.put(str(number), b"contents")
    assert len(listed) == 3  # at the first, the 64th and the 128th


def test_the_directory_is_listed_by_the_first_process_of_an_hour(tmp_path, monkeypatch):
    listed = []
    entries = ObjectCache._entries
    monkeypatch.setattr(ObjectCache, "_entries", lambda cache: listed.append(1) or entries(cache))
    for number in range(3):
        ObjectCache(tmp_path).put(str(number), b"contents")
    assert len(listed) == 1
    for moment in (time.time() - 4000, time.time() + 4000):  # another clock may have been ahead
        os.utime(tmp_path / "looked", (moment, moment))
        ObjectCache(tmp_path).put("key", b"contents")
        ObjectCache(tmp_path).put("key", b"contents")
    assert len(listed) == 3


def test_a_second_process_compiles_nothing(cache):
    first, second = Jit(cache), Jit(cache)
    code = first.compile_object(TEXT)
    assert second.compile_object(TEXT) == code
    assert (first.statistics.compiled, second.statistics.compiled) == (1, 0)
    assert second.compile_object(TEXT, codegen_level=1) is not None
    assert second.statistics.compiled == 1
