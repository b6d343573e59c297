"""Where ``auto`` runs a graph: the CPU's program is priced, and a GPU's where one might win."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from runmat_jit.compiler.calibration import Calibration
from runmat_jit.compiler.host_step import HostArray, HostStep
from runmat_jit.compiler.native_code import Bound, NativeCode
from runmat_jit.compiler.native_program import NativeProgram
from runmat_jit.core.extent import plain
from runmat_jit.graph.node import Graph
from runmat_jit.kernel.work import count_work
from runmat_jit.ops.product import Product, product_in
from runmat_jit.plan.argument import NodeBuffer
from runmat_jit.plan.place import (
    ASKED_FOR,
    CALLS_TO_COME,
    Candidate,
    Decision,
    place,
    worth_opening,
)
from runmat_jit.plan.price import HostTask, Price, Task, price
from runmat_jit.plan.profile import GPU, LARGE_GPU, Profile

if TYPE_CHECKING:
    from runmat_jit.compiler.compile_graph import CompiledGraph
    from runmat_jit.lower.launch import Launch
    from runmat_jit.runtime.gpu import Gpu
    from runmat_jit.runtime.session import Session

_UNSURE = 4.0
"""Factor by which the CPU may exceed its least time."""
Moved = tuple[list[int], list[int]]
"""Bytes of arrays that go to a device, and of those that come back."""


def placed(
    session: Session, graph: Graph, on_cpu: CompiledGraph, make: Callable[[], CompiledGraph]
) -> tuple[CompiledGraph, Decision]:
    """The program that ``auto`` runs, and the decision.

    Args:
        session: Its profiles price; its GPU is opened only where that may be regained.
        graph: The captured graph.
        on_cpu: Its program on the CPU.
        make: Makes its program for the GPU; one that cannot run there is the CPU's, with a reason.

    """
    cost = cpu_price(session.profile, graph, on_cpu)
    here = Candidate("cpu", cost)
    refused = _refused(session, cost, transfers(graph))
    if refused is not None:
        return on_cpu, Decision("cpu", (here,), refused)
    on_gpu = make()
    if on_gpu.device != "gpu":
        return on_cpu, Decision("cpu", (here,), on_gpu.device_reason)
    launches = [launch for group in on_gpu.lowered.launches for launch in group]
    there = Candidate("gpu", gpu_price(session.gpu_profile, transfers(graph), launches))
    found = place([here, there])
    return (on_gpu if found.device == "gpu" else on_cpu), found


def decision_about(session: Session, compiled: CompiledGraph) -> Decision:
    """Where a program runs: as was decided, or asked for, with what that is predicted to take."""
    if compiled.decision is not None:
        return compiled.measured.told(compiled.decision)
    graph, profile = compiled.captured, profile_of(session, compiled)
    if profile is not session.profile:
        from runmat_jit.compiler.resident_gpu import ResidentGpuProgram  # noqa: PLC0415  (loaded)

        launches = [launch for group in compiled.lowered.launches for launch in group]
        stays = isinstance(compiled.program, ResidentGpuProgram)
        moved: Moved = ([], []) if stays else transfers(graph)
        cost = gpu_price(profile, moved, launches)
    else:
        cost = cpu_price(profile, graph, compiled)
    found = Decision(compiled.device, (Candidate(compiled.device, cost),), ASKED_FOR)
    return compiled.measured.told(found)


def _refused(session: Session, on_cpu: Price, moved: Moved) -> str | None:
    """Reason why the GPU need not be asked; None where it may win."""
    opened, calibration = session.opened_gpu, session.service(Calibration, Calibration)
    if opened is None:
        expected = worth_opening(on_cpu, moved, GPU)
        if expected is not None:
            if worth_opening(on_cpu, moved, LARGE_GPU) is None:
                calibration.begin(on_cpu, moved)
            return expected
        opened = session.hardware_gpu()
    unusable = _unusable(opened)
    if unusable is None and not session.gpu_profile.measured:
        calibration.begin(on_cpu, moved)
    return unusable


def _unusable(gpu: Gpu | None) -> str | None:
    if gpu is None:
        return "this machine has no GPU that works"
    if gpu.info.software:
        return f"{gpu.info} is a CPU in disguise"
    return f"{gpu.info} was lost" if gpu.backend.device.lost else None


def may_win(session: Session, graph: Graph) -> bool:
    """True if a graph of whatever extents might be better on a GPU when they are large.

    Then its bytes take longer to compute than to move there, by what its operations cost at least.
    """
    link = (GPU if session.opened_gpu is None else session.gpu_profile).link
    assert link is not None, "of a device with memory of its own"
    up, down = map(sum, transfers(graph))
    moving = up / link.upload + down / link.download
    return least_us(session, graph) > moving or products_us(session, graph) > 0.0


def stays_small(session: Session, graph: Graph) -> bool:
    """True if the CPU computes a graph in less time than a GPU needs to begin, or to be opened.

    With symbolic extents this adds conditions: each array has at most a certain number of elements.
    """
    is_open = session.opened_gpu is not None
    link = (session.gpu_profile if is_open and session.gpu_profile.measured else LARGE_GPU).link
    assert link is not None, "of a device with memory of its own"
    begins = link.submission_us + link.waiting_us
    begins += link.transfers_us(*([0] * len(moved) for moved in transfers(graph)))
    begins += 0.0 if is_open else link.opening_us / CALLS_TO_COME
    products = products_us(session, graph)
    times = begins / _UNSURE / max(least_us(session, graph) + products, 1e-3)
    if products:  # of matrices with n times the elements they take n ** 1.5 times as long
        times **= 2 / 3
    sizes = [node.type.size for node in (*graph.inputs, *graph.nodes)]
    return times >= 1 and all(size <= int(plain(size) * times) for size in sizes)


def least_us(session: Session, graph: Graph) -> float:
    """Least time of a graph on the CPU, without matrix products."""
    flops = sum(node.op.flops * plain(node.type.size) for node in graph.nodes)
    rate = session.profile.rates["arithmetic8"] / session.profile.threads
    moved = 2 * sum(map(sum, transfers(graph)))
    return flops * rate + session.profile.memory_us(moved, working_set=math.inf)


def products_us(session: Session, graph: Graph) -> float:
    """Time of the matrix products of a graph on the CPU."""
    total = 0.0
    for node in graph.nodes:
        if product_in(node.params) is not None:
            terms = plain(node.args[0].type.shape[-1])
            flops, double = 2.0 * plain(node.type.size) * terms, node.type.dtype != np.float32
            total += session.profile.products_us(flops, double=double)
    return total


# -- prices ----------------------------------------------------------------------------------------
def cpu_price(profile: Profile, graph: Graph, compiled: CompiledGraph) -> Price:
    """The price of a program of the host's memory."""
    program: Any = compiled.program
    while not isinstance(program, NativeProgram) and hasattr(program, "program"):
        program = program.program  # what checks it, or brings its operands to the host
    if not isinstance(program, NativeProgram):
        return Price(0.0)  # a machine that runs no kernels has no choice either
    return price_of_code(profile, graph, program.code)


def price_of_code(profile: Profile, graph: Graph, code: NativeCode) -> Price:
    """The price of machine code, whose working set is its operands and all that it stores."""
    sizes = {number: int(node.type.nbytes) for number, node in enumerate(graph.inputs)}
    sizes |= {buffer.place: buffer.nbytes for buffer in code.layout.buffers}
    tasks = [Task(b.total, _distinct(b, sizes), b.iteration_us) for b in code.launches]
    calls = [_host_task(step) for step in code.calls]
    return price(tasks, profile, calls=calls, working_set=float(sum(sizes.values())))


def _distinct(bound: Bound, sizes: Mapping[int, int]) -> int:
    """Bytes that a launch moves, if views of one array that overlap come from a cache."""
    arrays = sum(sizes.get(place, 0) for place in set(bound.places))
    return min(bound.nbytes, arrays) if arrays else bound.nbytes


def gpu_price(profile: Profile, moved: Moved, launches: Iterable[Launch]) -> Price:
    """The price of a program on a GPU, to which some arrays go and from which others come."""
    up, down = moved
    return price(_tasks(profile, launches), profile, uploaded=up, downloaded=down)


def profile_of(session: Session, compiled: CompiledGraph) -> Profile:
    """Return the profile of the device that a program runs on."""
    return session.gpu_profile if compiled.device == "gpu" else session.profile


def price_of_launches(profile: Profile, launches: Iterable[Launch]) -> Price:
    """Return the price of some launches, whose operands and results stay where they are."""
    return price(_tasks(profile, launches), profile)


def _tasks(profile: Profile, launches: Iterable[Launch]) -> list[Task]:
    return [
        Task(
            launch.total,
            _distinct_nodes(launch),
            profile.iteration_us(count_work(launch.kernel, launch.arguments)),
        )
        for launch in launches
    ]


def _distinct_nodes(launch: Launch) -> int:
    """The same of a launch that is not bound."""
    nodes = {each.node for each in launch.arguments if isinstance(each, NodeBuffer)}
    return min(launch.nbytes, sum(int(node.type.nbytes) for node in nodes) or launch.nbytes)


def transfers(graph: Graph) -> Moved:
    """Bytes of the arrays that a graph reads, and of those that it gives or writes."""
    read = [plain(node.type.nbytes) for node in graph.inputs if node.type.shape]
    outputs = dict.fromkeys(output.node for output in graph.outputs)
    return read, [plain(node.type.nbytes) for node in outputs]


def _host_task(step: HostStep) -> HostTask:
    """What a call reads and writes; of a product of matrices, how much it multiplies."""
    arrays = [each for each in step.operands if isinstance(each, HostArray)]
    moved = sum(math.prod(each.shape) * each.dtype.itemsize for each in arrays)
    moved += math.prod(step.shape) * step.dtype.itemsize
    if not isinstance(step.call.fn, Product) or not arrays or not arrays[0].shape:
        return HostTask(int(moved))
    flops = 2.0 * math.prod(step.shape) * arrays[0].shape[-1]
    return HostTask(int(moved), flops, double=step.dtype != np.float32)
