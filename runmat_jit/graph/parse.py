"""Reads the text that ``to_text`` writes."""

from __future__ import annotations

import ast
from collections.abc import Hashable, Mapping
from dataclasses import field

import numpy as np

from runmat_jit.core.slotted import slotted
from runmat_jit.core.types import TensorType
from runmat_jit.graph.constant import constant, is_constant
from runmat_jit.graph.node import Fresh, Graph, GraphBuilder, Into, Node, Output
from runmat_jit.graph.tokens import GraphSyntaxError, TokenLine
from runmat_jit.ops.host_call import HostCall
from runmat_jit.ops.spec import VARIADIC, Op
from runmat_jit.ops.table import ROWS

_WORDS: Mapping[str, Hashable] = {"None": None, "True": True, "False": False}
_DTYPES = frozenset(np.dtype(code).name for code in "?bhilqBHILQefdFD")


def parse(
    text: str, rows: Mapping[str, Op] = ROWS, calls: Mapping[str, HostCall] | None = None
) -> Graph:
    """The graph that ``text`` says; a value's type may be left out where its row has a rule.

    Args:
        text: What ``to_text`` writes.
        rows: The operations by name.
        calls: The host calls by name, which text alone does not tell.

    Raises:
        GraphSyntaxError: with line and column, for text that is no graph or names unknown rows
            and values. Whether the graph is valid is the verifier's question.

    """
    reader = _Reader(rows, calls or {})
    for number, line in enumerate(text.splitlines(), start=1):
        tokens = TokenLine.of(line, number)
        if tokens.kind == "end":
            continue
        reader.statement(tokens)
        if tokens.kind != "end":
            tokens.fail("expected the end of the line")
    return reader.builder.finish(reader.outputs)


@slotted
class _Reader:
    rows: Mapping[str, Op]
    calls: Mapping[str, HostCall]
    builder: GraphBuilder = field(default_factory=GraphBuilder)
    values: dict[str, Node] = field(default_factory=dict)
    outputs: list[Output] = field(default_factory=list)
    input_count: int = 0

    def statement(self, line: TokenLine) -> None:
        if line.accept("return"):
            self.outputs.append(self.output(line))
            return
        name = line.take("reference")
        if name in self.values:
            line.fail("the value is defined twice", back=1)
        self.values[name] = self.input(line, name) if name[0] == "$" else self.assignment(line)

    def input(self, line: TokenLine, name: str) -> Node:
        if int(name[1:]) != self.input_count:
            line.fail(f"inputs are numbered in order: expected ${self.input_count}", back=1)
        self.input_count += 1
        line.expect(":")
        kind = _kind(line)
        strides = None
        if line.accept("by"):
            line.expect("value")
        else:
            line.expect("strides")
            strides = _integers(line)
        return self.builder.input(self.rows["input"], kind, strides, None)

    def assignment(self, line: TokenLine) -> Node:
        line.expect("=")
        name = line.take("name")
        op = self.rows.get(name)
        if op is None:
            line.fail("there is no such row", back=1)
        args, params = self.call(line)
        if op.kind == "host":
            params["call"] = self.host_call(line, params.get("call"))
        if line.accept(":"):
            return self.builder.make(op, args, params, _kind(line))
        if op.arity not in (VARIADIC, len(args)):
            line.fail(f"{name} has {op.arity} operands: expected ': type' or another call")
        try:
            found = op.result(tuple(arg.type for arg in args), params) if op.result else None
        except KeyError as missing:
            line.fail(f"{name} needs the parameter {missing}")
        if found is None:
            line.fail(f"{name} has no rule for these operands: expected ': type'")
        return self.builder.make(op, args, params, found.type)

    def host_call(self, line: TokenLine, name: Hashable) -> HostCall:
        known = self.calls.get(name) if isinstance(name, str) else None
        if known is None:
            line.fail(f"no host call of the name {name!r} was given to the parser", back=1)
        return known

    def call(self, line: TokenLine) -> tuple[list[Node], dict[str, Hashable]]:
        args: list[Node | tuple[str, int]] = []
        params: dict[str, Hashable] = {}
        line.expect("(")
        while not line.accept(")"):
            if args or params:
                line.expect(",")
            if line.kind == "name" and line.tokens[line.position + 1][1] == "=":
                name = line.take("name")
                line.expect("=")
                params[name] = _value(line)
            else:
                args.append(self.operand(line))
        values = [arg for arg in args if isinstance(arg, Node) and not is_constant(arg)]
        plain = values[0].type.dtype if values else None
        return [
            arg if isinstance(arg, Node) else self.plain_literal(line, arg, plain) for arg in args
        ], params

    def operand(self, line: TokenLine) -> Node | tuple[str, int]:
        """A value; or a plain literal, as text and token position, until its dtype is known."""
        if line.kind == "reference":
            return self.reference(line)
        if line.kind == "name" and line.text in _DTYPES:
            return self.literal(line)
        place = line.position
        return line.take("name" if line.text in ("True", "False") else "number"), place

    def reference(self, line: TokenLine) -> Node:
        node = self.values.get(line.take("reference"))
        if node is None:
            line.fail("the value is not defined", back=1)
        return node

    def plain_literal(
        self, line: TokenLine, written: tuple[str, int], dtype: np.dtype | None
    ) -> Node:
        text, place = written
        if dtype is None:
            line.position = place
            line.fail("a call of constants only needs their dtypes")
        try:
            return self.builder.adopt(_constant(text, dtype))
        except (ValueError, OverflowError):
            line.position = place
            line.fail(f"this is no {dtype}")

    def literal(self, line: TokenLine) -> Node:
        dtype = np.dtype(line.take("name"))
        line.expect("(")
        written = self.operand(line)
        line.expect(")")
        if isinstance(written, Node):
            line.fail("expected a literal", back=2)
        return self.plain_literal(line, written, dtype)

    def output(self, line: TokenLine) -> Output:
        node = self.reference(line) if line.kind == "reference" else self.literal(line)
        line.expect("->")
        if line.accept("fresh"):
            return Output(node, Fresh(_integers(line)))
        line.expect("into")
        number = int(line.take("reference")[1:])
        line.expect("offset")
        offset = line.integer()
        line.expect("strides")
        return Output(node, Into(number, offset, _integers(line)))


def _constant(text: str, dtype: np.dtype) -> Node:
    if text.startswith("0x"):
        unsigned = np.array(int(text, 16), dtype=f"u{dtype.itemsize}")
        return constant(unsigned.view(dtype), dtype)
    if dtype.kind == "b":
        if text not in _WORDS:
            raise ValueError(text)
        return constant(text == "True", dtype)
    return constant(np.array(int(text) if dtype.kind in "iu" else float(text), dtype), dtype)


def _kind(line: TokenLine) -> TensorType:
    name = line.take("name")
    if name not in _DTYPES:
        line.fail("there is no such dtype", back=1)
    line.expect("[")
    shape: list[int] = []
    while not line.accept("]"):
        if shape:
            line.expect(",")
        shape.append(line.integer())
    return TensorType(np.dtype(name), tuple(shape))


def _integers(line: TokenLine) -> tuple[int, ...]:
    value = _value(line)
    if not isinstance(value, tuple) or not all(isinstance(item, int) for item in value):
        line.fail("expected a tuple of integers", back=1)
    return value


def _value(line: TokenLine) -> Hashable:
    """A parameter: a literal, a dtype, or a tuple of these."""
    if line.accept("("):
        items: list[Hashable] = []
        while not line.accept(")"):
            if items:
                line.expect(",")
                if line.accept(")"):
                    break
            items.append(_value(line))
        return tuple(items)
    if line.kind == "string":
        return str(ast.literal_eval(line.take("string")))
    if line.kind == "number":
        text = line.take("number")
        return int(text) if text.lstrip("-").isdigit() else float(text)
    name = line.take("name")
    if name in _WORDS:
        return _WORDS[name]
    if name not in _DTYPES:
        line.fail("expected a literal or a dtype", back=1)
    return np.dtype(name)


__all__ = ["GraphSyntaxError", "parse"]
