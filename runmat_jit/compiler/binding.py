"""Binds a launch to the memory of a program: which array each parameter is, and the numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from runmat_jit.compiler.native_code import Bound
from runmat_jit.graph.node import Node
from runmat_jit.kernel.ir import Kernel, Scalar
from runmat_jit.lower.launch import Launch
from runmat_jit.plan.argument import Argument, InputScalar, NodeBuffer, Scratch, TableBuffer
from runmat_jit.plan.place_memory import key_of


def arrays_first(kernel: Kernel, arguments: Sequence[Argument]) -> tuple[Kernel, list[Argument]]:
    """The kernel with its pointer parameters first, as the launcher fills them."""
    pairs = list(zip(kernel.parameters, arguments, strict=True))
    pairs.sort(key=lambda pair: isinstance(pair[0], Scalar))
    ordered = Kernel(
        tuple(parameter for parameter, _ in pairs), kernel.arguments, kernel.functions, kernel.body
    )
    return ordered, [argument for _, argument in pairs]


def bind(
    launch: Launch,
    arguments: Sequence[Argument],
    places: Mapping[Node | Scratch | str, int],
    compiled: Any,
    iteration_us: float,
) -> Bound:
    """Bind one launch whose pointer arguments come first.

    Args:
        launch: What lowering gave.
        arguments: Its arguments, reordered.
        places: The number in the program's memory of nodes, scratch and tables (by name).
        compiled: The kernel's native code: ``address`` and ``key``.
        iteration_us: What one thread computes for an iteration takes.

    """
    numbers: list[int] = []
    offsets: list[int] = []
    block: list[int] = []
    scalars: list[tuple[int, int]] = []
    for argument in arguments:
        if isinstance(argument, InputScalar):
            scalars.append((len(numbers) + len(block), places[argument.node]))
            block.append(0)
        elif isinstance(argument, NodeBuffer):
            numbers.append(places[argument.node])
            offsets.append(argument.offset * argument.node.type.dtype.itemsize)
        elif isinstance(argument, Scratch | TableBuffer):
            numbers.append(places[key_of(argument)])
            offsets.append(0)
        else:
            block.append(argument)
    return Bound(
        compiled.address,
        tuple(numbers),
        tuple(offsets),
        tuple(block),
        tuple(scalars),
        launch.total,
        launch.grain,
        launch.nbytes,
        iteration_us,
        compiled.key,
    )
