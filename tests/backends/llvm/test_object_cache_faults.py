"""Caches x faults, read and written. Oracle: undecorated Python, and how much is to be compiled."""

import ctypes
import hashlib
import os
import shutil
import signal
import socket
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import runmat_jit as runmat
from runmat_jit.backends.llvm import host
from runmat_jit.backends.llvm.host import ask_llvm
from runmat_jit.backends.llvm.jit import Jit
from runmat_jit.backends.llvm.object_cache import ObjectCache
from runmat_jit.backends.llvm.object_loader import IS_KNOWN_SYSTEM
from runmat_jit.compiler import lower_program
from runmat_jit.core import private_files
from runmat_jit.runtime.session import Session, current_session, use_session

pytestmark = [
    pytest.mark.skipif(
        not sys.platform.startswith("linux"), reason="owners, devices and FIFOs as on Linux"
    ),
    pytest.mark.sampled(2),
]
LIMIT_S = 60
IS_ROOT = os.geteuid() == 0
OTHER = 12345


def program(x, y):
    total = (np.sqrt(x * 2) + y).sum()
    return np.tanh(x) - y if total > 0 else x, x.cumsum() * 3


ARGUMENTS = np.linspace(0, 1, 1000), np.linspace(2, 3, 1000)


@pytest.fixture(autouse=True)
def no_hang():
    """Opening a FIFO waits for a writer: then the test fails, instead of waiting as well."""

    def stop(number, frame):
        raise TimeoutError(f"nothing for {LIMIT_S} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(LIMIT_S)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


def two_programs(x, y):
    total = (np.sqrt(x * 2) + y).sum()
    return (np.tanh(x) - y, x * y) if total > 0 else (x, y)


def compiles(directory, function=program):
    """How many texts are compiled by a process whose cache lies in a directory."""
    config = replace(current_session().config, cache_dir=str(directory), num_threads=1)
    session = Session(config)
    before = use_session(session)
    try:
        compare(runmat.jit(function)(*ARGUMENTS), function(*ARGUMENTS))
    finally:
        use_session(before)
    return session.jit.statistics.compiled


def compare(results, expected):
    for result, right in zip(results, expected, strict=True):
        assert result.dtype == right.dtype
        np.testing.assert_allclose(result, right, rtol=1e-12)


ANSWER = "define i64 @answer() { ret i64 42 }"


def compiles_one(directory):
    """The same of a single text."""
    jit = Jit(ObjectCache(directory / "objects"))
    address = jit.functions(ANSWER, ["answer"])["answer"]
    assert ctypes.CFUNCTYPE(ctypes.c_int64)(address)() == 42
    return jit.statistics.compiled


@pytest.fixture(scope="module")
def warm(tmp_path_factory):
    """A cache that holds all that the program needs."""
    directory = tmp_path_factory.mktemp("warm")
    number = compiles(directory)
    assert number == len(names(directory)) > 2
    return directory


@pytest.fixture(scope="module")
def warm_with_one(tmp_path_factory):
    directory = tmp_path_factory.mktemp("one")
    assert compiles_one(directory) == len(names(directory)) == 1
    return directory


def names(directory):
    return sorted(path.name for path in (directory / "objects").glob("*.o"))


# -- faults of an entry ----------------------------------------------------------------------------
def flipped(path):
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def another_key(path):
    entries = sorted(path.parent.glob(f"*{path.suffix}"))
    shutil.copyfile(entries[(entries.index(path) + 1) % len(entries)], path)


def rubbish(path):
    """With the digest that belongs to it."""
    contents = b"no object code \xff" * 9
    path.write_bytes(hashlib.sha256(path.stem.encode() + contents).digest() + contents)


def an_older_format(path):
    contents = path.read_bytes()[32:]
    path.write_bytes(hashlib.sha256(contents).digest() + contents)


def huge(path):
    with path.open("r+b") as file:
        file.truncate(1 << 42)


def instead(make):
    """Something else in the place of the file."""

    def fault(path):
        kept = path.read_bytes()
        path.unlink()
        make(path, kept)

    return fault


def link_to_the_entry(path, kept):
    (path.parent / "kept").write_bytes(kept)
    path.symlink_to(path.parent / "kept")


def a_socket(path, kept):
    here = os.open(".", os.O_RDONLY)
    os.chdir(path.parent)  # the names of sockets are short
    try:
        with socket.socket(socket.AF_UNIX) as made:
            made.bind("s")
        Path("s").rename(path.name)
    finally:
        os.fchdir(here)
        os.close(here)


ENTRY_FAULTS = {  # each is a miss, and can be replaced
    "missing": lambda path: path.unlink(),
    "empty": lambda path: path.write_bytes(b""),
    "cut within its digest": lambda path: path.write_bytes(path.read_bytes()[:20]),
    "cut": lambda path: path.write_bytes(path.read_bytes()[:-1]),
    "longer": lambda path: path.write_bytes(path.read_bytes() + b"x"),
    "flipped": flipped,
    "another key's": another_key,
    "rubbish": rubbish,
    "of an older format": an_older_format,
    "huge": huge,
    "a symbolic link": instead(link_to_the_entry),
    "a dangling link": instead(lambda path, _: path.symlink_to("nowhere")),
    "a link to itself": instead(lambda path, _: path.symlink_to(path.name)),
    "a link to a device": instead(lambda path, _: path.symlink_to("/dev/zero")),
    "a FIFO": instead(lambda path, _: os.mkfifo(path)),
    "a socket": instead(a_socket),
    "writable for the group": lambda path: path.chmod(0o620),
    "writable for all": lambda path: path.chmod(0o602),
}
if IS_ROOT:
    ENTRY_FAULTS |= {
        "another user's": lambda path: os.chown(path, OTHER, OTHER),
        "a device": instead(lambda path, _: os.mknod(path, 0o600 | 0o020000, os.makedev(1, 5))),
    }
UNTOLD = {"missing"}
IRREPLACEABLE = {"a directory": instead(lambda path, _: path.mkdir())}
FEW_OR_MANY = (
    pytest.param(slice(1), id="one", marks=pytest.mark.slow),
    pytest.param(slice(None), id="all"),
)


@pytest.mark.parametrize("fault", [*ENTRY_FAULTS, *IRREPLACEABLE])
@pytest.mark.parametrize("some", FEW_OR_MANY)
def test_a_faulty_entry_is_compiled_anew_and_replaced(warm, tmp_path, caplog, fault, some):
    directory = tmp_path / "cache"
    shutil.copytree(warm, directory)
    faulty = names(directory)[some]
    for name in faulty:
        (ENTRY_FAULTS | IRREPLACEABLE)[fault](directory / "objects" / name)
    assert compiles(directory) == len(faulty)
    assert len(caplog.records) == (fault not in UNTOLD), caplog.text
    caplog.clear()
    assert compiles(directory) == (len(faulty) if fault in IRREPLACEABLE else 0)
    assert len(caplog.records) == (fault in IRREPLACEABLE)


def asks(directory):
    """How often a process asks LLVM what machine this is."""
    times = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(host, "ask_llvm", lambda: times.append(1) or ask_llvm())
        assert host.find_host(ObjectCache(directory / "objects")) == ask_llvm()
    return len(times)


@pytest.mark.skipif(not IS_KNOWN_SYSTEM, reason="nothing is kept of other machines")
@pytest.mark.parametrize("fault", [*ENTRY_FAULTS, *IRREPLACEABLE])
def test_what_is_kept_of_the_machine_is_trusted_as_object_code_is(tmp_path, caplog, fault):
    assert [asks(tmp_path), asks(tmp_path)] == [1, 0]
    (path,) = (tmp_path / "objects").glob("*.host")
    if fault == "another key's":
        kept = path.read_bytes()
        path.write_bytes(hashlib.sha256(b"0" * 64 + kept[32:]).digest() + kept[32:])
    else:
        (ENTRY_FAULTS | IRREPLACEABLE)[fault](path)
    assert asks(tmp_path) == 1
    assert len(caplog.records) == (fault not in UNTOLD), caplog.text
    assert asks(tmp_path) == (fault in IRREPLACEABLE)


@pytest.mark.parametrize(
    "fault",  # but for one that makes the cache too large, so that object code goes as well
    [fault for fault in (*ENTRY_FAULTS, *IRREPLACEABLE) if fault != "huge"],
)
def test_kept_programs_are_trusted_as_object_code_is(tmp_path, caplog, monkeypatch, fault):
    made = []
    through = lower_program.lower_program

    def counted(*args, **named):
        made.append(args)
        return through(*args, **named)

    def stages():
        made.clear()
        assert compiles(tmp_path, two_programs) == 0  # the object code is there
        return len(made)

    monkeypatch.setattr(lower_program, "lower_program", counted)
    compiles(tmp_path, two_programs)
    assert (len(made), stages()) == (2, 0)
    for path in sorted((tmp_path / "objects").glob("*.program")):
        (ENTRY_FAULTS | IRREPLACEABLE)[fault](path)
    assert stages() >= (1 if fault == "another key's" else 2)  # of two, one gets its own again
    assert len(caplog.records) == (fault not in UNTOLD), caplog.text
    assert stages() == (2 if fault in IRREPLACEABLE else 0)


# -- faults of directories -------------------------------------------------------------------------
def moved(target_mode, *, links):
    def fault(path, monkeypatch):
        elsewhere = path.with_name("elsewhere")
        path.rename(elsewhere)
        elsewhere.chmod(target_mode)
        path.symlink_to(elsewhere if links else path)

    return fault


def replaced(make):
    def fault(path, monkeypatch):
        shutil.rmtree(path)
        make(path)

    return fault


def mode(bits):
    return lambda path, _: path.chmod(bits)


def refusing(*calls):
    """The system refuses some calls, as it does to a user in a read-only directory."""

    def fault(path, monkeypatch):
        def refuse(*args, **kwargs):
            raise PermissionError(30, "Read-only file system")

        path.chmod(0o555)
        for name in calls:
            monkeypatch.setattr(name, refuse)
        if "os.mkdir" in calls:
            monkeypatch.setattr(private_files, "new_file", refuse)

    return fault


WRITES = "os.utime", "os.mkdir", "os.replace", "os.rename", "os.unlink"
GOOD = {
    "as made": mode(0o700),
    "readable for all": mode(0o755),
    "a link to a good one": moved(0o700, links=True),
    "read-only": refusing(*WRITES),
    "times cannot be set": refusing("os.utime"),
}
BAD = {
    "writable for the group": mode(0o770),
    "writable for all": mode(0o777),
    "writable for all, sticky": mode(0o1777),
    "a link to a bad one": moved(0o777, links=True),
    "a link to itself": moved(0o700, links=False),
    "a file": replaced(lambda path: path.write_text("no directory")),
    "a FIFO": replaced(os.mkfifo),
}
if IS_ROOT:
    BAD["another user's"] = lambda path, _: os.chown(path, OTHER, OTHER)
LEVELS = ("above", "cache", "cache/objects")
USES = (compiles_one, pytest.param(compiles, marks=pytest.mark.slow))


@pytest.mark.parametrize("level", range(3), ids=LEVELS)
@pytest.mark.parametrize("fault", [*GOOD, *BAD])
@pytest.mark.parametrize("is_warm", [True, False], ids=["read", "write"])
@pytest.mark.parametrize("compiles", USES)
def test_a_directory_is_used_if_nobody_else_can_write_to_it_or_replace_it(  # noqa: PLR0917  (fixtures)
    warm, warm_with_one, tmp_path, caplog, monkeypatch, level, fault, is_warm, compiles
):
    """Entries are looked for in it; or, where it holds none, put into it and looked for."""
    directory = tmp_path / "above" / "cache"
    shutil.copytree(warm_with_one if compiles is compiles_one else warm, directory)
    number = len(names(directory))
    if not is_warm:
        shutil.rmtree(directory / "objects")
        (directory / "objects").mkdir(mode=0o700)
    at = (directory.parent, directory, directory / "objects")[level]
    with monkeypatch.context() as patch:
        (GOOD | BAD)[fault](at, patch)
        sticky = fault == "writable for all, sticky" and level < 2
        good = fault in GOOD or sticky  # as in /tmp, entries of ours stay ours
        assert compiles(directory) == (0 if good and is_warm else number)
        assert len(caplog.records) == (not good), caplog.text
        caplog.clear()
        keeps = good and (is_warm or fault != "read-only")
        assert compiles(directory) == (0 if keeps else number)
        assert len(caplog.records) == (not good), caplog.text


def test_directories_that_are_missing_are_made_for_this_user_alone(tmp_path):
    before = os.umask(0)
    try:
        directory = tmp_path / "a" / "b"
        assert compiles(directory) > 0
        assert compiles(directory) == 0
    finally:
        os.umask(before)
    made = (tmp_path / "a", directory, directory / "objects")
    assert [path.stat().st_mode & 0o777 for path in made] == [0o700] * 3
    assert {path.stat().st_mode & 0o777 for path in (directory / "objects").iterdir()} == {0o600}


# -- several processes -----------------------------------------------------------------------------
def test_readers_beside_writers_see_whole_entries(tmp_path):
    whole = [bytes([number]) * (1 << 20) for number in range(3)]
    writers = []
    for contents in whole:
        child = os.fork()
        if not child:
            cache = ObjectCache(tmp_path)
            for _ in range(40):
                cache.put("key", contents)
            os._exit(0)
        writers.append(child)
    cache = ObjectCache(tmp_path)
    seen = set()
    while writers:
        seen.add(cache.get("key"))
        writers = [child for child in writers if os.waitpid(child, os.WNOHANG) == (0, 0)]
    assert seen <= {None, *whole}
    assert cache.get("key") in whole
    assert not cache._told
    assert sorted(path.name for path in tmp_path.iterdir()) == ["key.o", "looked"]


def test_what_stopped_writers_left_behind_counts_and_goes(tmp_path):
    cache = ObjectCache(tmp_path, limit_bytes=1000)
    for number in range(4):
        (tmp_path / f"{number}.part").write_bytes(bytes(500))
        os.utime(tmp_path / f"{number}.part", (number, number))
    (tmp_path / "link.o").symlink_to("nowhere")
    cache.put("key", b"contents")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["key.o", "link.o", "looked"]
