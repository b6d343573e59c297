"""Oracle: what Python says of the host, and what LLVM says when it is asked anew."""

import ctypes
import platform

import llvmlite.binding as llvm
import pytest

from runmat_jit.backends.llvm import host
from runmat_jit.backends.llvm.host import ask_llvm, evidence, find_host
from runmat_jit.backends.llvm.jit import Jit
from runmat_jit.backends.llvm.object_cache import HOST, ObjectCache
from runmat_jit.backends.llvm.object_loader import IS_KNOWN_SYSTEM

needs_evidence = pytest.mark.skipif(not IS_KNOWN_SYSTEM, reason="processors are asked on x86-64")


def test_the_host_is_named_as_python_names_it():
    target = ask_llvm().target
    assert target.architecture == {"AMD64": "x86_64", "arm64": "aarch64"}.get(
        platform.machine(), platform.machine()
    )
    assert target.system == platform.system().lower()
    assert target == ask_llvm().target


def test_the_host_keeps_its_vectors_whole():
    target = ask_llvm().target
    if target.architecture == "x86_64":
        assert target.features.endswith(",-prefer-256-bit")
        assert not target.has("prefer-256-bit")


def asked(cache):
    """How often LLVM is asked, and what is found."""
    times = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(host, "ask_llvm", lambda: times.append(1) or ask_llvm())
        assert find_host(cache) == ask_llvm()
    return len(times)


@needs_evidence
def test_llvm_is_asked_once_for_all_processes(tmp_path):
    assert [asked(ObjectCache(tmp_path)) for _ in range(3)] == [1, 0, 0]
    assert asked(None) == 1


@needs_evidence
@pytest.mark.parametrize("part", range(5))
def test_another_library_or_processor_is_asked_for_anew(tmp_path, monkeypatch, part):
    assert asked(ObjectCache(tmp_path)) == 1
    seen = [*evidence()]
    seen[part] = "other"
    monkeypatch.setattr(host, "evidence", lambda: tuple(seen))
    assert [asked(ObjectCache(tmp_path)) for _ in range(2)] == [1, 0]


@needs_evidence
def test_where_nobody_knows_what_decides_llvm_is_asked(tmp_path, monkeypatch):
    monkeypatch.setattr(host, "evidence", lambda: None)
    assert [asked(ObjectCache(tmp_path)) for _ in range(2)] == [1, 1]
    assert list(tmp_path.iterdir()) == []


@needs_evidence
@pytest.mark.parametrize("text", [b"", b"a\nb\nc", b"a\nb\nc\nd", b"\xff\n\n\n1"])
def test_rubbish_of_our_own_is_replaced(tmp_path, text):
    ObjectCache(tmp_path).put(ObjectCache.key("host", *evidence()), text, HOST)
    assert [asked(ObjectCache(tmp_path)) for _ in range(2)] == [1, 0]


INSTRUCTIONS = """
define void @ask(i32 %leaf, i32 %part, ptr %words) {
  %r = call {i32, i32, i32, i32} asm sideeffect "cpuid", "={ax},={bx},={cx},={dx},0,2"(
    i32 %leaf, i32 %part)
  %a = extractvalue {i32, i32, i32, i32} %r, 0
  %b = extractvalue {i32, i32, i32, i32} %r, 1
  %c = extractvalue {i32, i32, i32, i32} %r, 2
  %d = extractvalue {i32, i32, i32, i32} %r, 3
  %p_b = getelementptr i32, ptr %words, i64 1
  %p_c = getelementptr i32, ptr %words, i64 2
  %p_d = getelementptr i32, ptr %words, i64 3
  store i32 %a, ptr %words
  store i32 %b, ptr %p_b
  store i32 %c, ptr %p_c
  store i32 %d, ptr %p_d
  ret void
}
"""


@needs_evidence
def test_the_processor_is_asked_as_llvm_would_ask_it():
    llvm.initialize_native_asmparser()
    jit = Jit()
    address = jit.load(jit.compile_object(INSTRUCTIONS), ["ask"])["ask"]
    ask = ctypes.CFUNCTYPE(None, ctypes.c_uint32, ctypes.c_uint32, ctypes.c_void_p)(address)
    words = (ctypes.c_uint32 * 4)()
    most = {}
    for first in (0, 0x80000000):
        ask(first, 0, words)
        most[first] = words[0]
    expected = []
    for leaf, part, registers in host._LEAVES:
        ask(leaf, part, words)
        known = leaf <= most[leaf & 0x80000000]
        expected += [words["abcd".index(each)] if known else 0 for each in registers]
    assert host._processor_words()[:-1] == tuple(expected)
