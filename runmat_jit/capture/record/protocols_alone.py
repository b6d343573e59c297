"""Which functions may be recorded without hooks, through NumPy's protocols alone.

Without its source a function cannot be rewritten. Its operations on traced values still arrive
through ``__array_ufunc__``, ``__array_function__`` and operators, and Python itself drives at every
call. That is right as long as traced values cannot leave unseen: into objects, globals, cells, or
code that knows nothing of them. The byte code tells.
"""

from __future__ import annotations

import builtins
import dis
import inspect
import math
import types
from collections.abc import Iterable
from typing import Any, Final

import numpy as np

from runmat_jit.capture import callables
from runmat_jit.capture.tape.values import is_number

_FLAGS: Final = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
_HARMLESS: Final = frozenset(
    (
        *("RESUME", "NOP", "CACHE", "PRECALL", "CALL", "KW_NAMES", "CALL_KW", "CALL_FUNCTION_KW"),
        *("PUSH_NULL", "POP_TOP", "COPY", "SWAP", "LOAD_CONST", "LOAD_SMALL_INT", "LOAD_FAST"),
        *("LOAD_FAST_LOAD_FAST", "LOAD_FAST_CHECK", "LOAD_FAST_AND_CLEAR", "STORE_FAST"),
        *("LOAD_FAST_BORROW", "LOAD_FAST_BORROW_LOAD_FAST_BORROW", "STORE_FAST_STORE_FAST"),
        *("STORE_FAST_LOAD_FAST", "DELETE_FAST", "LOAD_GLOBAL", "LOAD_ATTR", "LOAD_METHOD"),
        *("BINARY_OP", "BINARY_SUBSCR", "BINARY_SLICE", "COMPARE_OP", "IS_OP", "CONTAINS_OP"),
        *("UNARY_NEGATIVE", "UNARY_POSITIVE", "UNARY_INVERT", "UNARY_NOT", "TO_BOOL"),
        *("BUILD_TUPLE", "BUILD_LIST", "BUILD_SLICE", "BUILD_MAP", "BUILD_CONST_KEY_MAP"),
        *("UNPACK_SEQUENCE", "RETURN_VALUE", "RETURN_CONST", "NOT_TAKEN"),
    )
)
_ATTRIBUTES: Final = ("LOAD_ATTR", "LOAD_METHOD")
"""Instructions that read attributes: those of Python's and NumPy's protocols show real memory."""


def is_followed(fn: types.FunctionType, arguments: Iterable[Any]) -> bool:
    """Whether traced values stay where protocols see them, for these arguments.

    The function uses its arguments (arrays and numbers), locals, NumPy, ``math`` and a few pure
    builtins; it stores nothing but locals and defines no functions.
    """
    code = fn.__code__
    if code.co_flags & _FLAGS or code.co_freevars or code.co_cellvars:
        return False
    if "random" in code.co_names:  # generators read seeds and sizes in compiled code
        return False
    defaults = (*(fn.__defaults__ or ()), *(fn.__kwdefaults__ or {}).values())
    if not all(map(is_data, (*arguments, *defaults))):
        return False
    return all(
        is_harmless(each.opname)
        and (each.opname != "LOAD_GLOBAL" or is_known(global_of(fn, str(each.argval))))
        and not (each.opname in _ATTRIBUTES and str(each.argval).startswith("__"))
        for each in dis.get_instructions(code)
    )


def is_data(value: Any) -> bool:
    """Whether an argument is an array, a number or text, which does nothing by itself."""
    if type(value) is tuple:
        return all(map(is_data, value))
    plain = (np.ndarray, int, float, complex, str, type(None), np.dtype)
    return isinstance(value, plain) or is_number(value)


def is_harmless(opname: str) -> bool:
    """Whether an instruction leaves traced values among the function's locals."""
    return opname in _HARMLESS or opname.startswith(("JUMP_", "POP_JUMP_"))


def global_of(fn: types.FunctionType, name: str) -> Any:
    """The value of a name from outside now; None where it has none."""
    return fn.__globals__.get(name, getattr(builtins, name, None))


def is_known(value: Any) -> bool:
    """Whether a value from outside does nothing with traced values but what NumPy says."""
    if value is np or value is math or isinstance(value, np.ufunc | np.dtype):
        return True
    if callables.of(value).alone:
        return True
    if isinstance(value, type):
        return issubclass(value, np.generic)
    public = getattr(np, str(getattr(value, "__name__", "")), None)
    return isinstance(value, int | float | complex | str) or (callable(value) and value is public)
