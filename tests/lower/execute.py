"""Runs lowered launches through the LLVM backend by ctypes, serially: what tests compare."""

import ctypes
from functools import cache

import numpy as np

from runmat_jit.backends.llvm.backend import LlvmBackend
from runmat_jit.backends.llvm.jit import Jit
from runmat_jit.graph.node import Into
from runmat_jit.kernel.math.tables import table
from runmat_jit.lower.launch import InputScalar, NodeBuffer, Scratch, TableBuffer
from runmat_jit.lower.lower import lower
from runmat_jit.passes.fusion.grower import grow
from runmat_jit.plan.make_plan import make_plan

_FUNCTION = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)


@cache
def backend():
    return LlvmBackend(Jit())


def execute(graph, inputs, disabled=frozenset(), chunks=1):
    """Outputs of the graph and whether the event word was set."""
    plan = make_plan(graph, grow(graph, frozenset(disabled)))
    memory = {node: np.asarray(inputs[i], node.type.dtype) for i, node in enumerate(graph.inputs)}
    events = False
    for region in plan.regions:
        for node in region.outputs:
            memory[node] = empty(node.type, plan.orders[node])
        launches = lower(region, plan)
        scratch = {}
        for launch in launches:
            events |= run(launch, memory, scratch, chunks)
    return [result(output, memory) for output in graph.outputs], events


def empty(kind, order):
    """Memory whose axes lie in ``order``, filled with something no kernel should leave."""
    array = np.empty([kind.shape[axis] for axis in order], kind.dtype)
    array.reshape(-1).view(np.uint8)[...] = 0xA5 if kind.dtype != bool else 1
    return array.transpose(np.argsort(order))


def result(output, memory):
    assert not isinstance(output.target, Into), "this executor commits no writes"
    return memory[output.node]


def run(launch, memory, scratch, chunks=1):
    """Run one launch; whether its event word was set."""
    compiled = backend().compile(launch.kernel)
    word = ctypes.c_int64(0)
    keep = []
    block = [_bind(argument, memory, scratch, keep) for argument in launch.arguments]
    block.append(ctypes.addressof(word))
    args = (ctypes.c_int64 * len(block))(*block)
    call = _FUNCTION(compiled.address)
    step = -(-launch.total // chunks) if chunks > 1 else launch.total
    step = max(launch.grain, step - step % launch.grain)
    for lo in range(0, launch.total, step):
        call(ctypes.addressof(args), lo, min(lo + step, launch.total))
    return bool(word.value & 1)


def _bind(argument, memory, scratch, keep):
    if isinstance(argument, int):
        return argument
    if isinstance(argument, NodeBuffer):
        array = memory[argument.node]
        return array.ctypes.data + argument.offset * array.itemsize
    if isinstance(argument, Scratch):
        if argument not in scratch:
            scratch[argument] = np.full(argument.size, 77, argument.dtype)
        return scratch[argument].ctypes.data
    if isinstance(argument, InputScalar):
        cell = np.zeros(8, np.uint8)
        value = memory[argument.node].reshape(1).view(np.uint8)
        cell[: value.size] = value
        return int(cell.view(np.int64)[0])
    assert isinstance(argument, TableBuffer)
    contents = np.ascontiguousarray(table(argument.name))
    keep.append(contents)
    return contents.ctypes.data
