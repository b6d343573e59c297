"""Oracle: ``ctypes.data``, ``id`` and ``len`` of live objects."""

import ctypes
import platform

import numpy as np
import pytest

from runmat_jit.backends.llvm import object_layout as module
from runmat_jit.backends.llvm.object_layout import object_layout


@pytest.mark.skipif(platform.python_implementation() != "CPython", reason="CPython's layout")
def test_native_code_finds_the_data_of_an_array_in_a_tuple():
    layout = object_layout()
    arrays = (np.zeros(3), np.ones((4, 5))[::-1], np.array(7, np.int8))
    for index, array in enumerate(arrays):
        address = ctypes.c_uint64.from_address(id(arrays) + layout.tuple_items + 8 * index).value
        data = ctypes.c_uint64.from_address(address + layout.array_data).value
        assert data == array.ctypes.data
    assert ctypes.c_int64.from_address(id(arrays) + layout.tuple_size).value == len(arrays)


def test_another_layout_is_noticed(monkeypatch):
    monkeypatch.setattr(module, "_word", lambda *_: 0)
    assert object_layout.__wrapped__() is None
