"""Runs lowered launches one after the other: by the kernel interpreter, or compiled by LLVM."""

import ctypes
from dataclasses import replace
from functools import cache

import numpy as np
from numpy.lib.stride_tricks import as_strided

from runmat_jit.backends.llvm.backend import LlvmBackend
from runmat_jit.backends.llvm.jit import Jit
from runmat_jit.core.inner_loops import product_loop
from runmat_jit.graph.node import Into
from runmat_jit.kernel.interpret import Memory, interpret
from runmat_jit.kernel.math.tables import table
from runmat_jit.kernel.verify_kernel import verify_kernel
from runmat_jit.lower.blas_product import ADDRESS
from runmat_jit.lower.lower import lower, lower_plan
from runmat_jit.passes.expand import expand
from runmat_jit.passes.fusion.blas_products import with_blas_products
from runmat_jit.passes.fusion.grower import grow
from runmat_jit.passes.fusion.own_products import with_own_products
from runmat_jit.plan.argument import InputScalar, NodeBuffer, Scratch
from runmat_jit.plan.device import CPU
from runmat_jit.plan.make_plan import make_plan
from runmat_jit.plan.notes import RESULTS, RISES, notes_of_each

_FUNCTION = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)


@cache
def contents(name):
    if name.startswith(ADDRESS):
        return np.array([product_loop(name.removeprefix(ADDRESS))], np.int64)
    return table(name)


@cache
def backend():
    return LlvmBackend(Jit())


def prepared(graph):
    """The graph as the grower gets it: rows without kernel code are decomposed."""
    return expand(graph)


def regions(graph, disabled=(), device=CPU):
    found = grow(graph, frozenset(disabled), device=device.kind)
    found = with_own_products(graph, found, frozenset(disabled), device=device.kind)
    return with_blas_products(graph, found) if device.kind == "cpu" else found


def launches(graph, disabled=(), device=CPU):
    plan = make_plan(graph, regions(graph, disabled, device), device)
    found = [launch for region in plan.regions for launch in lower(region, plan)]
    for launch in found:
        verify_kernel(launch.kernel)
    return found


def execute(graph, inputs, disabled=(), run=None, *, mode="results", names=None, device=CPU):
    """Outputs of the graph and the event word. Inputs may be written.

    ``run`` takes a launch and its bound arguments: ``interpreted`` (the default) or ``compiled``.
    ``mode`` is how kernels note events, ``names`` what they tell apart; ``device``: whose kernels.
    """
    run = run or interpreted
    plan = make_plan(graph, regions(graph, disabled, device), device)
    nodes = (node for region in plan.regions for node in region.nodes)
    notes = {
        "results": lambda _: RESULTS,
        "rises": lambda _: RISES,
        "each": lambda all_: notes_of_each(all_, names),
    }[mode]
    plan = replace(plan, notes=notes(nodes))
    memory = {node: np.asarray(inputs[i], node.type.dtype) for i, node in enumerate(graph.inputs)}
    events = 0
    for node in (node for region in plan.regions for node in region.outputs):
        taken = plan.in_place.get(node) or plan.direct.get(node)
        memory[node] = empty(node.type, plan.orders[node]) if taken is None else memory[taken]
    for launches_of_one in lower_plan(plan):
        scratch = {}
        for launch in launches_of_one:
            verify_kernel(launch.kernel)
            events |= run(launch, bound(launch, memory, scratch))
    values = [(output, memory[output.node].copy()) for output in graph.outputs]
    return [written(graph, output, value, memory) for output, value in values], events


def empty(kind, order):
    """Memory whose axes lie in ``order``, filled with something no kernel should leave."""
    array = np.empty([kind.shape[axis] for axis in order], kind.dtype)
    array.reshape(-1).view(np.uint8)[...] = 0xA5 if kind.dtype != bool else 1
    return array.transpose(np.argsort(order))


def written(graph, output, value, memory):
    """The value as it leaves: a write into an input is committed, and read back."""
    into = output.target
    if not isinstance(into, Into) or value.size == 0:
        return value
    target = flat(memory[graph.inputs[into.input]], into.offset)
    strides = [stride * value.itemsize for stride in into.strides]
    low = sum(s * (n - 1) for s, n in zip(into.strides, value.shape, strict=True) if s < 0)
    line = target.elements[target.origin + low :]
    part = np.ndarray(value.shape, value.dtype, line, -low * value.itemsize, strides)
    part[...] = value
    return part


def flat(array, offset=0):
    """All memory between the first and the last element of an array."""
    if array.size == 0:
        return Memory(np.empty(0, array.dtype), offset)
    shape, strides = array.shape, array.strides
    reaches = [s // array.itemsize * (n - 1) for s, n in zip(strides, shape, strict=True)]
    low, high = sum(r for r in reaches if r < 0), sum(r for r in reaches if r > 0)
    first = array[(*(slice(None, None, -1 if r < 0 else 1) for r in reaches), ...)]
    return Memory(as_strided(first, (high - low + 1,), (array.itemsize,)), offset - low)


def parts(memory):
    """Complex numbers as kernels know them: real and imaginary parts, side by side."""
    if memory.elements.dtype.kind != "c":
        return memory
    return Memory(memory.elements.view(memory.elements.real.dtype), 2 * memory.origin)


def bound(launch, memory, scratch):
    """The arguments of a launch by parameter name: memory, numbers, tables."""
    values = {}
    for parameter, argument in zip(launch.kernel.parameters, launch.arguments, strict=True):
        if isinstance(argument, NodeBuffer):
            values[parameter.name] = parts(flat(memory[argument.node], argument.offset))
        elif isinstance(argument, Scratch):
            fresh = np.full(argument.size, 77, argument.dtype)
            values[parameter.name] = parts(Memory(scratch.setdefault(argument, fresh)))
        elif isinstance(argument, InputScalar):
            values[parameter.name] = memory[argument.node].reshape(1)[0]
        elif isinstance(argument, int):
            values[parameter.name] = argument
        else:
            values[parameter.name] = Memory(contents(argument.name).reshape(-1))
    return values


def interpreted(launch, values):
    """Run a launch by the kernel interpreter, which checks all bounds."""
    return interpret(launch.kernel, values)


def compiled(launch, values, chunks=1):
    """Run a launch as native code, in a number of chunks."""
    code = backend().compile(launch.kernel)
    word = ctypes.c_int64(0)
    block = [_word(value) for value in values.values()] + [ctypes.addressof(word)]
    args = (ctypes.c_int64 * len(block))(*block)
    step = max(launch.grain, -(-launch.total // chunks) // launch.grain * launch.grain)
    for lo in range(0, launch.total, step):
        _FUNCTION(code.address)(ctypes.addressof(args), lo, min(lo + step, launch.total))
    return word.value


def _word(value):
    if isinstance(value, Memory):
        return value.elements.ctypes.data + value.origin * value.elements.itemsize
    if isinstance(value, int):
        return value
    cell = np.zeros(8, np.uint8)
    cell[: value.itemsize] = np.frombuffer(value.tobytes(), np.uint8)
    return int(cell.view(np.int64)[0])
