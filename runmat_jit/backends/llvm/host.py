"""The machine of this process, and the LLVM that compiles for it.

LLVM is asked, which takes long to load; what it says is kept beside the object code, under a key of
all that it looks at: its library, and what the processor says of itself.
"""

from __future__ import annotations

import ctypes
import functools
import sys
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Final

from runmat_jit.backends.llvm.object_cache import HOST, ObjectCache
from runmat_jit.backends.llvm.object_loader import IS_KNOWN_SYSTEM, place_code
from runmat_jit.backends.llvm.target import FULL_WIDTH, Target
from runmat_jit.core.frozen import frozen
from runmat_jit.core.loading import LLVM, LOADER
from runmat_jit.core.uninterrupted import with_llvm


@frozen
class Host:
    """A machine, and the version of LLVM; together with a text they decide object code."""

    target: Target
    llvm_version: tuple[int, ...]


def find_host(cache: ObjectCache | None) -> Host:
    """What is kept of this machine, or else what LLVM says of it, which is then kept."""
    seen = None if cache is None else evidence()
    if cache is None or seen is None:
        return ask_llvm()
    key = ObjectCache.key("host", *seen)
    kept = cache.get(key, HOST)
    if kept is not None:
        try:
            return _from_text(kept)
        except ValueError as error:
            cache.tell(error)
    found = ask_llvm()
    cache.put(key, _to_text(found), HOST)
    return found


def ask_llvm() -> Host:
    """What LLVM says, with 512-bit vectors kept whole."""
    LOADER.load(LLVM)
    return with_llvm(_ask)


def _ask() -> Host:
    import llvmlite.binding as llvm  # noqa: PLC0415  (loaded here)

    triple = llvm.get_process_triple()
    if sys.platform == "win32":
        # LLVM's in-memory loader for Windows reads ELF objects; the calling convention stays.
        triple += "-elf"
    found = llvm.get_host_cpu_features().flatten()
    if triple.startswith("x86_64"):
        found = f"{found},{FULL_WIDTH}" if found else FULL_WIDTH
    return Host(Target(triple, llvm.get_host_cpu_name(), found), tuple(llvm.llvm_version_info))


def _to_text(host: Host) -> bytes:
    target = host.target
    version = ".".join(map(str, host.llvm_version))
    return f"{target.triple}\n{target.cpu}\n{target.features}\n{version}".encode()


def _from_text(text: bytes) -> Host:
    triple, cpu, features, version = text.decode().split("\n")
    return Host(Target(triple, cpu, features), tuple(map(int, version.split("."))))


# -- what LLVM looks at ----------------------------------------------------------------------------
def evidence() -> tuple[object, ...] | None:
    """What decides LLVM's answer: its library, and the processor; None where nobody knows."""
    library = _library_facts() if IS_KNOWN_SYSTEM else None
    return None if library is None else (*library, *_processor_words())


def _library_facts() -> tuple[object, ...] | None:
    """Path, size and time of the library that LLVM is in."""
    package = PathFinder.find_spec("llvmlite")
    if package is None or package.origin is None:
        return None
    library = Path(package.origin).parent / "binding" / "libllvmlite.so"
    try:
        facts = library.stat()
    except OSError:
        return None
    return str(library), facts.st_size, facts.st_mtime_ns, facts.st_ino


_CPUID: Final = bytes.fromhex(
    "53"  # push rbx
    "89f8"  # mov eax, edi: the leaf
    "89f1"  # mov ecx, esi: of which this part
    "4989d0"  # mov r8, rdx: the answer's address
    "0fa2"  # cpuid
    "418900"  # mov [r8], eax
    "41895804"  # mov [r8 + 4], ebx
    "41894808"  # mov [r8 + 8], ecx
    "4189500c"  # mov [r8 + 12], edx
    "5b"  # pop rbx
    "c3"  # ret
)
_XGETBV: Final = bytes.fromhex("31c90f01d0c3")  # xor ecx, ecx; xgetbv; ret: what the system saves
_LEAVES: Final = (
    (0x0, 0, "abcd"),
    (0x1, 0, "acd"),  # `ebx` says on which core this runs
    (0x7, 0, "abcd"),
    (0x7, 1, "abcd"),
    (0xD, 1, "a"),  # the others say how much room the state of this thread takes
    (0x14, 0, "abcd"),
    (0x19, 0, "abcd"),
    (0x1E, 1, "abcd"),
    (0x24, 0, "abcd"),
    (0x80000000, 0, "abcd"),
    (0x80000001, 0, "abcd"),
    (0x80000008, 0, "abcd"),
)
"""What LLVM's detection reads, and more: leaf, part, and the registers that count."""
_OSXSAVE: Final = 1 << 27
"""In ``ecx`` of leaf 1: there is ``xgetbv``."""


@functools.cache
def _processor_words() -> tuple[int, ...]:
    """What the processor says of itself, on whichever core."""
    address = place_code(_CPUID + _XGETBV)
    ask = ctypes.PYFUNCTYPE(None, ctypes.c_uint32, ctypes.c_uint32, ctypes.c_void_p)(address)
    words = (ctypes.c_uint32 * 4)()

    def answer(leaf: int, part: int) -> dict[str, int]:
        ask(leaf, part, words)
        return dict(zip("abcd", words, strict=True))

    found: list[int] = []
    for leaf, part, registers in _LEAVES:
        last = answer(leaf & 0x80000000, 0)["a"]  # above, some processors say anything
        said = answer(leaf, part) if leaf <= last else {}
        found += [said.get(register, 0) for register in registers]
    saves = ctypes.PYFUNCTYPE(ctypes.c_uint32)(address + len(_CPUID))
    return (*found, saves() if answer(1, 0)["c"] & _OSXSAVE else 0)
