"""Oracle: the addresses and contents themselves, read back through ``ctypes``."""

import ctypes

import pytest

from runmat_jit.backends.llvm.permanent_memory import permanent_memory, word_at


@pytest.mark.parametrize("nbytes", [1, 64, 1000])
def test_memory_is_zero_and_begins_a_cache_line(nbytes):
    address = permanent_memory(nbytes)
    assert address % 64 == 0
    assert ctypes.string_at(address, nbytes) == bytes(nbytes)


def test_a_word_is_read_and_written_in_place():
    address = permanent_memory(16)
    word_at(address + 8).value = -5
    assert ctypes.string_at(address, 16) == bytes(8) + (-5).to_bytes(8, "little", signed=True)
    assert word_at(address + 8).value == -5
