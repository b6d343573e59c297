"""One-operation kernels of the table's rows, on the interpreter and in native code."""

import ctypes
from functools import cache

import numpy as np

from runmat_jit.backends.llvm.backend import LlvmBackend
from runmat_jit.backends.llvm.jit import Jit
from runmat_jit.core.types import KERNEL_ELEMENTS
from runmat_jit.kernel.build import Builder
from runmat_jit.kernel.interpret import interpret
from runmat_jit.kernel.ir import Buffer, Scalar, Table
from runmat_jit.kernel.math.tables import table

_FUNCTION = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)


@cache
def _backend():
    return LlvmBackend(Jit())


def element_kernel(row, dtypes, result_dtype, params, *, literals=()):
    """``out[i] = row(x0[i], x1[i], ...)``; ``literals`` gives operands that are constants.

    Another output tells where the row's own event test holds.
    """
    k = Builder()
    names = [f"x{i}" for i in range(len(dtypes))]
    constants = dict(literals)
    buffers = {
        i: k.buffer(name, KERNEL_ELEMENTS[dtype])
        for i, (name, dtype) in enumerate(zip(names, dtypes, strict=True))
        if i not in constants
    }
    out = k.buffer("out", KERNEL_ELEMENTS[result_dtype], written=True)
    fired = k.buffer("fired", "bool", written=True)
    n = k.scalar("n", "index")
    with k.lanes(0, n) as lanes:
        operands = tuple(
            k.load(buffers[i], lanes.i)
            if i in buffers
            else k.const(constants[i], _value_type(dtype))
            for i, dtype in enumerate(dtypes)
        )
        value = row.expand(k, *operands, **params)
        k.store(out, lanes.i, value)
        test = None if row.event_test is None else row.event_test(k, operands, value)
        k.store(fired, lanes.i, k.const(False, "i1") if test is None else test)
    return k.finish()


def _value_type(dtype):
    return {"bool": "i1"}.get(KERNEL_ELEMENTS[dtype], KERNEL_ELEMENTS[dtype])


def by_interpreter(kernel, operands, result_dtype):
    """(result, fired) by the kernel's definition."""
    arguments, out, fired = arguments_of(kernel, operands, result_dtype)
    with np.errstate(all="ignore"):
        interpret(kernel, arguments)
    return out, fired


def by_machine(kernel, operands, result_dtype):
    """(result, fired) by native code."""
    arguments, out, fired = arguments_of(kernel, operands, result_dtype)
    compiled = _backend().compile(kernel)
    block = []
    for parameter in compiled.parameters:
        argument = arguments[parameter.name]
        block.append(argument if isinstance(parameter, Scalar) else argument.ctypes.data)
    word = ctypes.c_int64(0)
    block.insert(compiled.events_slot, ctypes.addressof(word))
    args = (ctypes.c_int64 * len(block))(*block)
    _FUNCTION(compiled.address)(ctypes.addressof(args), 0, arguments["n"])
    return out, fired


def arguments_of(kernel, operands, result_dtype):
    """(arguments by parameter, result, fired), the latter two not filled yet."""
    size = len(operands[0])
    out, fired = np.empty(size, result_dtype), np.empty(size, np.bool_)
    arguments = {"out": out, "fired": fired, "n": size}
    arguments |= {f"x{i}": np.ascontiguousarray(x) for i, x in enumerate(operands)}
    for parameter in kernel.parameters:
        if isinstance(parameter, Table):
            arguments[parameter.name] = np.ascontiguousarray(table(parameter.name))
        assert isinstance(parameter, Buffer | Scalar | Table)
    return arguments, out, fired
