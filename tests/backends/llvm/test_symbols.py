"""Oracle: what the C functions themselves return."""

import ctypes

import pytest

from runmat_jit.backends.llvm.symbols import process_symbols


def test_functions_of_python_and_of_the_c_library_are_found():
    found = process_symbols(["PyLong_AsLong", "labs"])
    as_long = ctypes.PYFUNCTYPE(ctypes.c_long, ctypes.py_object)(found["PyLong_AsLong"])
    labs = ctypes.CFUNCTYPE(ctypes.c_long, ctypes.c_long)(found["labs"])
    assert (as_long(12), labs(-12)) == (12, 12)


def test_an_unknown_function_is_an_error():
    with pytest.raises(AttributeError, match="no_such_function"):
        process_symbols(["no_such_function"])
