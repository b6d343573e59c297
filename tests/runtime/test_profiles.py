"""Profiles kept between processes. Oracle: what was kept, or nothing."""

import concurrent.futures
import json
from dataclasses import replace

import pytest

from runmat_jit.backends.llvm.object_cache import PROFILE, ObjectCache
from runmat_jit.plan.profile import CPU, to_dict
from runmat_jit.runtime.profiles import Profiles, _key

FOUND = replace(CPU, name="this one", measured=True)


@pytest.fixture
def directory(tmp_path):
    made = tmp_path / "profiles"
    made.mkdir(mode=0o700)
    return made


def test_a_profile_is_found_by_what_it_is_of(directory):
    assert Profiles(directory).keep(FOUND, "cpu", "zen5", 4)
    assert Profiles(directory).find("cpu", "zen5", 4) == FOUND
    for other in (("cpu", "zen5", 8), ("cpu", "zen4", 4), ("gpu", "zen5", 4), ()):
        assert Profiles(directory).find(*other) is None
    assert Profiles(None).find("cpu", "zen5", 4) is None
    assert not Profiles(None).keep(FOUND, "cpu", "zen5", 4)


@pytest.mark.parametrize(
    "damage",
    [
        lambda _data: b"",
        lambda data: data[:-1],
        lambda data: data[:40] + b"9" + data[41:],
        lambda _data: b"{}",
    ],
    ids=["empty", "cut", "changed", "foreign"],
)
def test_a_damaged_file_is_not_believed(directory, damage):
    Profiles(directory).keep(FOUND, "cpu")
    (path,) = directory.glob(f"*{PROFILE}")
    path.write_bytes(damage(path.read_bytes()))
    assert Profiles(directory).find("cpu") is None
    assert Profiles(directory).keep(FOUND, "cpu")
    assert Profiles(directory).find("cpu") == FOUND


@pytest.mark.parametrize(
    "contents",
    [b"no JSON", b"[]", json.dumps({**to_dict(FOUND), "version": 0}).encode()],
    ids=["text", "list", "version"],
)
def test_what_says_something_else_under_a_right_digest_is_not_believed(directory, contents):
    ObjectCache(directory).put(_key(("cpu",)), contents, PROFILE)
    assert Profiles(directory).find("cpu") is None


def test_a_directory_that_cannot_be_written_keeps_nothing(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"")
    assert not Profiles(path / "below").keep(FOUND, "cpu")


def test_two_that_measure_at_once_leave_one_that_is_whole(directory):
    made = [replace(FOUND, launch_us=float(number)) for number in range(1, 9)]
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda each: Profiles(directory).keep(each, "cpu"), made))
    assert Profiles(directory).find("cpu") in made
