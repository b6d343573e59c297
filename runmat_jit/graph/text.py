"""A graph as text, one line a value; ``parse`` reads it back.

::

    $0 : float32[4, 5] strides (5, 1)
    $1 : float32[] by value
    %0 = multiply($0, 0.5) : float32[4, 5]
    %1 = sum(%0, axis=(0,), keepdims=False) : float32[5]
    %2 = host_call(%1, call='sort(axis=-1)') : float32[5]
    return %2 -> fresh (0,)
    return %0 -> into $0 offset 0 strides (5, 1)

Constants are written where they are read. A plain literal has the dtype of the first operand that
is no constant; any other is written ``float64(0.5)``. Floats are written with the fewest digits
that give them back, NaNs other than NumPy's by their bits. Host calls have their names alone.
Users' lines are no part of the text.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping

import numpy as np

from runmat_jit.core.types import TensorType
from runmat_jit.graph.constant import constant_array, is_constant
from runmat_jit.graph.node import Graph, Into, Node, Output
from runmat_jit.ops.host_call import HostCall


def to_text(graph: Graph) -> str:
    """The graph's text: the same for every graph of the same structure."""
    names = {node: f"${number}" for number, node in enumerate(graph.inputs)}
    kinds: dict[TensorType, str] = {}
    lines = [_input_line(node, name) for node, name in names.items()]
    count = 0
    for node in graph.nodes:
        if node in names or _is_inline(node):
            continue
        lines.append(f"%{count} = {_call(node, names)} : {_kind(node.type, kinds)}")
        names[node] = f"%{count}"
        count += 1
    lines.extend(_return_line(output, names) for output in graph.outputs)
    return "".join(f"{line}\n" for line in lines)


def operation_name(node: Node) -> str:
    """What people call a node's operation: its row's name, or a host call's own."""
    call = node.params.get("call")
    return call.name if isinstance(call, HostCall) else node.op.name


def node_text(node: Node) -> str:
    """One node by itself, for messages: its operands are shown by their types."""
    args = [str(arg.type) for arg in node.args]
    return f"{node.op.name}({', '.join(args + _params(node.params))}) : {node.type}"


def literal_text(value: np.ndarray) -> str:
    """A 0-d value in the fewest characters that give its bits back."""
    kind = value.dtype.kind
    if kind == "b":
        return str(bool(value))
    if kind in "iu":
        return str(int(value))
    bits = value.view(f"u{value.dtype.itemsize}") if value.dtype.itemsize <= 8 else None
    assert bits is not None, f"{value.dtype} has no literal"
    if kind == "f":
        text = str(value[()])
        if value.dtype.type(float(text)).view(bits.dtype) == bits:
            return text
    return f"{int(bits):#x}"


def _is_inline(node: Node) -> bool:
    return is_constant(node) and node.type.shape == ()


def _kind(kind: TensorType, known: dict[TensorType, str]) -> str:
    text = known.get(kind)
    if text is None:
        text = known[kind] = str(kind)
    return text


def _input_line(node: Node, name: str) -> str:
    strides = node.params["strides"]
    where = "by value" if strides is None else f"strides {value_text(strides)}"
    return f"{name} : {node.type} {where}"


def _call(node: Node, names: Mapping[Node, str]) -> str:
    plain = next((arg.type.dtype for arg in node.args if not _is_inline(arg)), None)
    args = [names[arg] if arg in names else _constant(arg, plain) for arg in node.args]
    return f"{node.op.name}({', '.join(args + _params(node.params))})"


def _constant(node: Node, plain: np.dtype | None) -> str:
    text = literal_text(constant_array(node))
    return text if plain is not None and node.type.dtype == plain else f"{node.type.dtype}({text})"


def _params(params: Mapping[str, Hashable]) -> list[str]:
    return [f"{name}={value_text(value)}" for name, value in sorted(params.items())]


def value_text(value: Hashable) -> str:
    """A parameter: Python's literal, a dtype by its name, anything else in angle brackets."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return repr(value)
    if isinstance(value, np.dtype):
        return str(value)
    if isinstance(value, HostCall):
        return repr(value.name)
    if isinstance(value, tuple):
        items = ", ".join(map(value_text, value))
        return f"({items},)" if len(value) == 1 else f"({items})"
    return f"<{getattr(value, '__qualname__', value)}>"


def _return_line(output: Output, names: Mapping[Node, str]) -> str:
    name = names.get(output.node) or _constant(output.node, None)
    if isinstance(output.target, Into):
        into = output.target
        strides = value_text(into.strides)
        return f"return {name} -> into ${into.input} offset {into.offset} strides {strides}"
    return f"return {name} -> fresh {value_text(output.target.order)}"
