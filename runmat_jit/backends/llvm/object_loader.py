"""Loads object code into this process without LLVM, which takes longer to load than all the rest.

Of the object files of x86-64 Linux it knows what kernels have: constants, and code that reaches
these and C functions by 32-bit distances. Whatever else a file has is left to LLVM's loader.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import struct
import sys
from collections.abc import Mapping, Sequence
from typing import Any, Final

from runmat_jit.backends.llvm.symbols import process_symbols
from runmat_jit.core.frozen import frozen

IS_KNOWN_SYSTEM: Final = (
    sys.platform == "linux" and os.uname().machine == "x86_64" and sys.maxsize == 2**63 - 1
)

# As <elf.h> names them.
_HEADER: Final = struct.Struct("<7s9xHHIQQQIHHHHHH")
_RELOCATABLE_X86_64: Final = (b"\x7fELF\x02\x01\x01", 1, 62)  # 64 bits, low bytes first
_SECTION: Final = struct.Struct("<IIQQQQIIQQ")
_SYMBOL: Final = struct.Struct("<IBBHQQ")
_RELOCATION: Final = struct.Struct("<QIIq")
_SHT_PROGBITS, _SHT_SYMTAB, _SHT_RELA, _SHT_X86_64_UNWIND = 1, 2, 4, 0x70000001
_SHF_ALLOC, _SHF_EXECINSTR, _SHF_MERGE, _SHF_STRINGS = 0x2, 0x4, 0x10, 0x20
_KNOWN_FLAGS: Final = _SHF_ALLOC | _SHF_EXECINSTR | _SHF_MERGE | _SHF_STRINGS  # and not writable
_SHN_UNDEF: Final = 0
_R_X86_64_PC32, _R_X86_64_PLT32 = 2, 4

_STUB: Final = struct.Struct("<6sQ2x")
_JUMP: Final = bytes.fromhex("ff2500000000")  # jmp [rip]: to the address that follows


class UnknownObjectError(Exception):
    """An object file has or lacks something that LLVM's loader may know, or tells of."""


@frozen
class _Section:
    kind: int
    flags: int
    offset: int
    size: int
    link: int
    info: int
    alignment: int


@frozen
class _Symbol:
    name: str
    section: int
    value: int


@frozen
class _ObjectFile:
    """``relocations``: for each section, the place, the symbol's number, the type, the addend."""

    code: bytes
    sections: list[_Section]
    symbols: list[_Symbol]
    relocations: dict[int, list[tuple[int, int, int, int]]]


@frozen
class _Layout:
    """Offsets in the memory of a file: code of its own, stubs for C functions, then constants."""

    sections: dict[int, int]
    stubs: dict[str, int]
    code_bytes: int
    total_bytes: int


def load_object(
    code: bytes, names: Sequence[str], symbols: Mapping[str, int] | None = None
) -> dict[str, int]:
    """Addresses of functions of an object file, which stays loaded until the process ends.

    No page of it is ever writable and executable at once.

    Args:
        code: The file.
        names: Functions whose addresses are wanted.
        symbols: Addresses of functions that the file declares; others are those of the process.

    Raises:
        UnknownObjectError: nothing has been loaded.

    """
    if not IS_KNOWN_SYSTEM:
        raise UnknownObjectError("another system")
    try:
        file = _read(code)
        layout = _lay_out(file)
        functions = process_symbols(layout.stubs.keys() - (symbols or {}).keys())
        offsets = _offsets(file, layout)
        found = {name: offsets[name] for name in names}
        content = _link(file, layout, functions | dict(symbols or {}))
        address = _place(content, layout.code_bytes)
    except (struct.error, ValueError, LookupError, AttributeError, OSError) as error:
        raise UnknownObjectError(str(error)) from error
    return {name: address + offset for name, offset in found.items()}


def _read(code: bytes) -> _ObjectFile:
    """What a file has."""
    header = _HEADER.unpack_from(code)
    if header[:3] != _RELOCATABLE_X86_64:
        raise UnknownObjectError("no object file of x86-64")
    view, begin, count = memoryview(code), header[6], header[12]
    table = view[begin : begin + count * _SECTION.size]
    sections = [
        _Section(kind, flags, offset, size, link, info, alignment)
        for _, kind, flags, _, offset, size, link, info, alignment, _ in _SECTION.iter_unpack(table)
    ]
    relocations = {}
    symbols: list[_Symbol] = []
    for each in sections:
        content = view[each.offset : each.offset + each.size]
        if each.kind == _SHT_SYMTAB:
            strings = sections[each.link].offset
            symbols = [
                _Symbol(code[strings + name : code.index(0, strings + name)].decode(), place, value)
                for name, _, _, place, value, _ in _SYMBOL.iter_unpack(content)
            ]
        elif each.kind == _SHT_RELA:
            relocations[each.info] = [
                (place, symbol, kind, addend)
                for place, kind, symbol, addend in _RELOCATION.iter_unpack(content)
            ]
    return _ObjectFile(code, sections, symbols, relocations)


def _lay_out(file: _ObjectFile) -> _Layout:
    """Where the sections go that are needed at run time; tables for unwinding are not."""
    needed = {
        number: each
        for number, each in enumerate(file.sections)
        if each.flags & _SHF_ALLOC and each.size and each.kind != _SHT_X86_64_UNWIND
    }
    for each in needed.values():
        if each.kind != _SHT_PROGBITS or each.flags & ~_KNOWN_FLAGS:
            raise UnknownObjectError(f"a section of type {each.kind} with flags {each.flags:#x}")
        if each.offset + each.size > len(file.code):
            raise UnknownObjectError("a section that is not all there")
    places: dict[int, int] = {}
    end = _put(places, needed, _SHF_EXECINSTR, 0)
    end = _aligned(end, _STUB.size)
    undefined = dict.fromkeys(
        file.symbols[symbol].name
        for number in needed
        for _, symbol, _, _ in file.relocations.get(number, ())
        if file.symbols[symbol].section == _SHN_UNDEF
    )
    stubs = {name: end + _STUB.size * number for number, name in enumerate(undefined)}
    code_bytes = _aligned(end + _STUB.size * len(stubs), mmap.PAGESIZE)
    total = _put(places, needed, 0, code_bytes)
    return _Layout(places, stubs, code_bytes, _aligned(total, mmap.PAGESIZE))


def _put(places: dict[int, int], sections: dict[int, _Section], executable: int, end: int) -> int:
    """Place the sections with or without code one behind the other; where the last one ends."""
    for number, each in sections.items():
        if each.flags & _SHF_EXECINSTR == executable:
            if each.alignment > mmap.PAGESIZE:
                raise UnknownObjectError(f"a section that is aligned to {each.alignment}")
            places[number] = end = _aligned(end, max(each.alignment, 1))
            end += each.size
    return end


def _aligned(offset: int, alignment: int) -> int:
    return offset + -offset % alignment


def _offsets(file: _ObjectFile, layout: _Layout) -> dict[str, int]:
    """Where what the file defines is."""
    return {
        each.name: layout.sections[each.section] + each.value
        for each in file.symbols
        if each.section in layout.sections
    }


def _link(file: _ObjectFile, layout: _Layout, functions: Mapping[str, int]) -> bytearray:
    """The memory's content, which may lie at any address."""
    memory = bytearray(layout.total_bytes)
    for name, stub in layout.stubs.items():
        _STUB.pack_into(memory, stub, _JUMP, functions[name])
    for number, begin in layout.sections.items():
        section = file.sections[number]
        content = file.code[section.offset : section.offset + section.size]
        memory[begin : begin + section.size] = content
    for number, begin in layout.sections.items():
        size = file.sections[number].size
        for place, symbol, kind, addend in file.relocations.get(number, ()):
            if kind not in {_R_X86_64_PC32, _R_X86_64_PLT32} or place + 4 > size:
                raise UnknownObjectError(f"a relocation of type {kind} at {place}")
            target = _target(file.symbols[symbol], layout, is_call=kind == _R_X86_64_PLT32)
            distance = target + addend - (begin + place)
            memory[begin + place : begin + place + 4] = distance.to_bytes(4, "little", signed=True)
    return memory


def _target(symbol: _Symbol, layout: _Layout, *, is_call: bool) -> int:
    """What a relocation refers to: something in the file, or the stub of a C function."""
    if symbol.section != _SHN_UNDEF:
        return layout.sections[symbol.section] + symbol.value
    if not is_call:
        raise UnknownObjectError(f"data of the process ({symbol.name})")
    return layout.stubs[symbol.name]


def place_code(code: bytes) -> int:
    """Address of these instructions, which may lie at any; they stay until the process ends.

    Raises:
        OSError: the system refuses.

    """
    nbytes = _aligned(len(code), mmap.PAGESIZE)
    return _place(code.ljust(nbytes, b"\0"), nbytes)


def _place(content: bytes | bytearray, code_bytes: int) -> int:
    """Address of new memory that holds this, of which the first bytes can be executed."""
    nbytes = len(content)
    address = _libc("mmap", ctypes.c_void_p)(
        *(None, ctypes.c_size_t(nbytes), mmap.PROT_READ | mmap.PROT_WRITE),
        *(mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, -1, ctypes.c_long(0)),
    )
    if address in {None, _MAP_FAILED}:
        raise OSError("no memory for code")
    ctypes.memmove(address, bytes(content), nbytes)
    protect = _libc("mprotect", ctypes.c_int)
    code, constants = ctypes.c_void_p(address), ctypes.c_void_p(address + code_bytes)
    refused = protect(code, ctypes.c_size_t(code_bytes), mmap.PROT_READ | mmap.PROT_EXEC)
    refused |= nbytes > code_bytes and protect(
        constants, ctypes.c_size_t(nbytes - code_bytes), mmap.PROT_READ
    )
    if refused:
        _libc("munmap", ctypes.c_int)(code, ctypes.c_size_t(nbytes))
        raise OSError("this process may not make memory executable")
    return int(address)


_MAP_FAILED: Final = ctypes.c_void_p(-1).value


def _libc(name: str, result: Any) -> Any:
    function = ctypes.CDLL(None)[name]
    function.restype = result
    return function
