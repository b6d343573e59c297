"""Oracles: LLVM's own loader, on the same object code; the kernel's list of mappings."""

import ctypes
import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import runmat_jit as runmat
from runmat_jit.backends.llvm import object_loader
from runmat_jit.backends.llvm.jit import Jit
from runmat_jit.backends.llvm.object_loader import UnknownObjectError, load_object
from runmat_jit.runtime.session import Session, current_session, use_session

pytestmark = pytest.mark.skipif(
    not object_loader.IS_KNOWN_SYSTEM, reason="loads object files of x86-64 Linux"
)

CONSTANTS = """
@table = private constant [4 x i64] [i64 11, i64 -22, i64 33, i64 44]
define i64 @f(i64 %x) {
  %place = getelementptr [4 x i64], ptr @table, i64 0, i64 %x
  %y = load i64, ptr %place
  ret i64 %y
}
"""
JUMPS = """
define i64 @f(i64 %x) {
  switch i64 %x, label %other [
    i64 0, label %a
    i64 1, label %b
    i64 2, label %c
    i64 3, label %d
    i64 4, label %e
  ]
a:
  ret i64 10
b:
  %p = mul i64 %x, %x
  ret i64 %p
c:
  ret i64 -7
d:
  %q = shl i64 %x, 20
  ret i64 %q
e:
  ret i64 4611686018427387904
other:
  ret i64 0
}
"""
CALLS = """
declare i64 @labs(i64)
declare i64 @llabs(i64)
define internal i64 @twice(i64 %x) noinline {
  %y = call i64 @labs(i64 %x)
  %z = add i64 %y, %y
  ret i64 %z
}
define i64 @f(i64 %x) {
  %m = sub i64 0, %x
  %y = call i64 @twice(i64 %m)
  %z = call i64 @llabs(i64 %m)
  %s = add i64 %y, %z
  ret i64 %s
}
"""
VECTORS = """
define i64 @f(i64 %x) {
  %a = insertelement <4 x i64> undef, i64 %x, i32 0
  %b = shufflevector <4 x i64> %a, <4 x i64> undef, <4 x i32> zeroinitializer
  %c = mul <4 x i64> %b, <i64 3, i64 5, i64 7, i64 11>
  %d = xor <4 x i64> %c, <i64 1, i64 2, i64 4, i64 8>
  %s = call i64 @llvm.vector.reduce.add.v4i64(<4 x i64> %d)
  ret i64 %s
}
declare i64 @llvm.vector.reduce.add.v4i64(<4 x i64>)
"""
MODULES = {"constants": CONSTANTS, "jumps": JUMPS, "calls": CALLS, "vectors": VECTORS}
UNKNOWN = {
    "a variable": "@g = global i64 5\ndefine i64 @f(i64 %x) { %y = load i64, ptr @g ret i64 %y }",
    "a pointer": "@g = constant ptr @f\ndefine ptr @f() { %y = load ptr, ptr @g ret ptr %y }",
    "data of the process": (
        "@environ = external global ptr\ndefine ptr @f() { %y = load ptr, ptr @environ ret ptr %y }"
    ),
    "an unknown function": "declare i64 @nobody_has_it()\n"
    "define i64 @f() { %y = call i64 @nobody_has_it() ret i64 %y }",
}


@pytest.fixture(scope="module")
def jit():
    return Jit()


def callable_at(address):
    return ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)(address)


@pytest.mark.parametrize("name", MODULES)
@pytest.mark.parametrize("level", [0, 2])
def test_functions_give_what_they_give_where_llvm_loads_them(jit, name, level):
    code = jit.compile_object(MODULES[name], codegen_level=level)
    ours = callable_at(load_object(code, ["f"])["f"])
    theirs = callable_at(jit._load_by_llvm(code, ["f"], {})["f"])
    assert [ours(x) for x in range(4)] == [theirs(x) for x in range(4)]


def chain(x, y):
    z = np.exp(-x * x) + np.sin(y) / 3
    return z, np.where(z > 0.5, z % 0.3, z // 0.1), (z * x).sum(), z.max(axis=0), abs(z) ** 2.5


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_programs_have_the_same_bits_where_llvm_loads_them(dtype, monkeypatch):
    x, y = np.random.default_rng(3).standard_normal((2, 300, 401)).astype(dtype)
    results = []
    for ours in (True, False):
        monkeypatch.setattr(object_loader, "IS_KNOWN_SYSTEM", ours)
        session = Session(current_session().config)
        before = use_session(session)
        try:
            results.append([np.asarray(each).tobytes() for each in runmat.jit(chain)(x, y)])
        finally:
            use_session(before)
        assert (session.jit._linker is None) == ours
    assert results[0] == results[1]


@pytest.mark.parametrize("what", UNKNOWN)
def test_what_is_unknown_is_left_to_llvm(jit, what):
    code = jit.compile_object(UNKNOWN[what])
    with pytest.raises(UnknownObjectError):
        load_object(code, ["f"])
    if what == "an unknown function":
        with pytest.raises(RuntimeError, match="materialize"):
            jit.load(code, ["f"])
    else:
        assert jit.load(code, ["f"])["f"]


def test_other_systems_are_left_to_llvm(jit, monkeypatch):
    code = jit.compile_object(CONSTANTS)
    monkeypatch.setattr(object_loader, "IS_KNOWN_SYSTEM", False)
    with pytest.raises(UnknownObjectError):
        load_object(code, ["f"])
    assert callable_at(jit.load(code, ["f"])["f"])(2) == 33


def test_a_system_that_allows_no_code_is_left_to_llvm(jit, monkeypatch):
    code = jit.compile_object(CONSTANTS)
    libc = object_loader._libc
    refuse = {"mprotect": lambda *_: -1}
    monkeypatch.setattr(
        object_loader, "_libc", lambda name, result: refuse.get(name) or libc(name, result)
    )
    with pytest.raises(UnknownObjectError, match="executable"):
        load_object(code, ["f"])


CODE = {name: Jit().compile_object(text) for name, text in MODULES.items()}


@given(st.sampled_from(sorted(CODE)), st.floats(0, 1, exclude_max=True))
def test_a_file_that_is_cut_is_refused(name, part):
    code = CODE[name]
    with pytest.raises(UnknownObjectError):
        load_object(code[: int(part * len(code))], ["f"])


@given(st.sampled_from(sorted(CODE)), st.data())
def test_a_damaged_table_is_refused_or_read(name, data):
    """Whatever the headers say: no crash and no other error; nothing of it is called."""
    code = bytearray(CODE[name])
    places = [*range(64), *range(int.from_bytes(code[40:48], "little"), len(code))]
    for place in data.draw(st.lists(st.sampled_from(places), min_size=1, max_size=3)):
        code[place] = data.draw(st.integers(0, 255))
    try:
        found = load_object(bytes(code), ["f"])
    except UnknownObjectError:
        return
    assert set(found) == {"f"}


def mappings():
    """Address ranges of this process, and what may be done with each."""
    rows = [line.split()[:2] for line in Path("/proc/self/maps").read_text().splitlines()]
    return {(*(int(end, 16) for end in area.split("-")), rights) for area, rights in rows}


def test_no_page_is_writable_and_executable(jit, monkeypatch):
    code = jit.compile_object(CONSTANTS)
    before, seen = mappings(), set()
    libc = object_loader._libc

    def watched(name, result):
        seen.update(mappings())
        return libc(name, result)

    monkeypatch.setattr(object_loader, "_libc", watched)
    address = load_object(code, ["f"])["f"]
    seen.update(mappings())
    assert seen - before
    assert [each for each in seen - before if "wx" in each[2]] == []
    (rights,) = [rights for begin, end, rights in mappings() if begin <= address < end]
    assert rights == "r-xp"


def test_threads_may_load_at_once_and_children_have_what_their_parent_loaded(jit):
    code = jit.compile_object(CALLS)
    found = []
    threads = [
        threading.Thread(target=lambda: found.append(load_object(code, ["f"])["f"]))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(found)) == 8
    child = os.fork()
    if not child:
        os._exit(0 if all(callable_at(each)(-5) == 15 for each in found) else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


PROGRAM = """
import sys
import numpy as np
import runmat_jit as runmat

@runmat.jit
def f(x):
    return np.sqrt(x * 2) + 1

@runmat.jit
def g(x):
    return (x - x.mean(axis=0)).sum()

small, large = np.ones(10), np.ones((1000, 1000))
for _ in range(20):
    results = f(small), f(large), g(large)
assert all(np.allclose(a, b) for a, b in zip(results, (
    f.__wrapped__(small), f.__wrapped__(large), g.__wrapped__(large))))
print("llvmlite" in sys.modules, runmat.telemetry.snapshot()["kernels_compiled"] > 0)
"""


def test_a_process_that_compiles_nothing_loads_no_llvm(tmp_path):
    """Kernels, launcher, pool, allocator and gates are all kept."""
    environment = {**os.environ, "RUNMAT_CACHE_DIR": str(tmp_path), "RUNMAT_NUM_THREADS": "2"}
    script = tmp_path / "program.py"
    script.write_text(PROGRAM)
    for first in (True, False):
        done = subprocess.run(
            [sys.executable, str(script)],
            capture_output=True,
            text=True,
            check=False,
            env=environment,
        )
        assert done.stdout.split() == [str(first), "True"], done.stderr
