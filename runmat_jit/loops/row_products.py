"""Products of one row an iteration and a matrix that the loop does not change, in blocks of rows.

``x[i] @ w`` reads all of ``w`` for one row. At every 64th iteration one call of BLAS multiplies the
next 64 rows, of which each iteration takes its own: a quarter of the time or less. Terms may be
added in another order than NumPy's product of one row does.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from runmat_jit.core.frozen import frozen_object
from runmat_jit.kernel.ir import Value
from runmat_jit.loops import elements, indexing, products, slices
from runmat_jit.loops.emitter import Emitter, Iteration
from runmat_jit.loops.extents import Dim
from runmat_jit.loops.source import bound_by, chain_of
from runmat_jit.loops.values import FLOAT32, FLOAT64, Array, Axis, Item, Object, Scalar

ROWS: Final = 64
"""Rows of a block, a power of two."""
LEAST: Final = 1024
"""Elements of a matrix from which a product with one row takes longer than its part of a block."""
_PRODUCTS: Final = (np.dot, np.matmul)
_CONDITIONAL: Final = (
    ast.IfExp,
    ast.BoolOp,
    ast.Compare,
    ast.Lambda,
    ast.ListComp,
    ast.GeneratorExp,
)
_SIMPLE: Final = (
    ast.Name,
    ast.Constant,
    ast.BinOp,
    ast.UnaryOp,
    ast.operator,
    ast.unaryop,
    ast.expr_context,
)


Operands = tuple[ast.expr, ast.expr]


@frozen_object
class RowBlock:
    """Memory of a block, and what is multiplied.

    ``rows`` and ``matrix``: the operands, as they are multiplied. ``index``: the expression of the
    row's index, None where the loop iterates the rows. ``columns``: the slice that the program
    takes of the matrix.
    """

    rows: Array
    matrix: Array
    made: Array
    operands: Operands
    index: ast.expr | None
    columns: ast.Slice | None


def reserve(e: Emitter, node: ast.stmt, written: frozenset[int] | None) -> dict[ast.expr, RowBlock]:
    """Reserve memory for the blocks of a loop; return them by their products.

    None is returned before it is known which operands are ``written``.
    """
    if not isinstance(node, ast.For) or any(map(_ends_early, ast.walk(node))):
        return {}
    found: dict[ast.expr, RowBlock] = {}
    for statement in node.body:
        if isinstance(statement, ast.Assign | ast.AnnAssign | ast.AugAssign | ast.Expr):
            for product, operands in _products_in(e, statement):
                block = _reserved(e, node, operands)
                if block is not None:
                    found[product] = block
    if written is None:
        return {}
    return {p: b for p, b in found.items() if not {b.rows.operand, b.matrix.operand} & written}


def product(e: Emitter, block: RowBlock) -> Item:
    """Emit a product of which a block is reserved."""
    a, b = (indexing.settled_array(e, e.item(node)) for node in block.operands)
    at = _index(e, block)
    if at is None or 1 not in (len(a.axes), len(b.axes)):
        return products.product(e, a, b)

    def invoke(inner_loop: Value, arrays: Sequence[Array], plain: products.Invoke) -> None:
        k, (terms, columns) = e.k, block.matrix.axes
        is_large = terms.extent * columns.extent >= LEAST
        small = k.if_(k.prim("xor", is_large, True))
        with small:
            plain()
            small.yield_()
        large = k.if_(is_large)
        with large:
            row = _row(e, block, inner_loop, at)
            if block.columns is not None:
                row = slices.part_of(e, row, block.columns)
            indexing.fill_new(e, arrays[2], replace(row, axes=arrays[2].axes[:1]))
            large.yield_()

    e.arithmetic.mark_ours()
    return products.product(e, a, b, by=invoke)


# -- which products --------------------------------------------------------------------------------
def _ends_early(node: ast.AST) -> bool:
    """Return True for a statement after which others of an iteration may not run."""
    return isinstance(node, ast.Break | ast.Continue | ast.Return)


def _products_in(e: Emitter, statement: ast.stmt) -> Iterator[tuple[ast.expr, Operands]]:
    """Find the products that each run of a statement computes."""
    pending: list[ast.AST] = [statement]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
            yield node, (node.left, node.right)
        elif isinstance(node, ast.Call) and len(node.args) == 2 and not node.keywords:
            chain = chain_of(node.func)
            known = None if chain is None else e.chains.get(chain)
            if isinstance(known, Object) and any(known.value is each for each in _PRODUCTS):
                yield node, (node.args[0], node.args[1])
        if not isinstance(node, _CONDITIONAL):
            pending.extend(ast.iter_child_nodes(node))


def _reserved(e: Emitter, node: ast.For, operands: Operands) -> RowBlock | None:
    """Reserve the block of a product, if one operand is a row and the other a matrix."""
    bound = bound_by(node)
    for vector, matrix, terms in ((*operands, 0), (*operands[::-1], 1)):
        rows, index = _rows(e, node, vector, bound)
        whole, columns = _matrix(e, matrix, terms, bound)
        if rows is None or whole is None or rows.dtype != whole.dtype:
            continue
        dim = whole.axes[1].dim
        if dim is None or rows.dtype not in (FLOAT32, FLOAT64):
            continue
        made = e.memory.new(rows.dtype, (Dim("literal", ROWS), dim), ())
        e.memory.copies.append(made)  # nothing else comes there
        return RowBlock(rows, whole, made, operands, index, columns)
    return None


def _rows(
    e: Emitter, loop: ast.For, node: ast.expr, bound: frozenset[str]
) -> tuple[Array | None, ast.expr | None]:
    """Find the matrix of which a vector is one row or column, and the index of that."""
    if isinstance(node, ast.Name):
        return _iterated(e, loop, node.id, bound), None
    if not isinstance(node, ast.Subscript):
        return None, None
    base, index = _outer(e, node.value, bound), node.slice
    if base is None:
        return None, None
    match index:
        case ast.Tuple(elts=[row, ast.Slice() as rest]) if _is_full(rest):
            axes = base.axes
        case ast.Tuple(elts=[ast.Slice() as rest, row]) if _is_full(rest):
            axes = base.axes[::-1]
        case ast.Tuple() | ast.Slice():
            return None, None
        case row:
            axes = base.axes
    names = bound_by(loop.target)
    own = {each.id for each in ast.walk(row) if isinstance(each, ast.Name)} & bound
    if not _is_simple(row) or not own or not own <= names:
        return None, None
    return replace(base, axes=axes), row


def _iterated(e: Emitter, loop: ast.For, name: str, bound: frozenset[str]) -> Array | None:
    """Return the matrix whose rows a loop iterates under a name."""
    stored = [each for each in ast.walk(loop) if isinstance(each, ast.Name) and each.id == name]
    if sum(isinstance(each.ctx, ast.Store) for each in stored) != 1:
        return None
    match loop:
        case ast.For(target=ast.Name(id=target), iter=iterated) if target == name:
            return _outer(e, iterated, bound)
        case ast.For(
            target=ast.Tuple(elts=[_, ast.Name(id=target)]),
            iter=ast.Call(func=ast.Name(id="enumerate"), args=[iterated], keywords=[]),
        ) if target == name:
            return _outer(e, iterated, bound)
    return None


def _matrix(
    e: Emitter, node: ast.expr, terms: int, bound: frozenset[str]
) -> tuple[Array | None, ast.Slice | None]:
    """Find a matrix, with the axis of terms first, and the slice of its columns that is multiplied.

    ``terms``: the axis of terms, 0 in a right operand and 1 in a left one.
    """
    columns: ast.Slice | None = None
    if isinstance(node, ast.Subscript):
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        parts = [*parts, ast.Slice()] if len(parts) == 1 else parts
        summed, results = parts if terms == 0 else parts[::-1]
        if not (isinstance(summed, ast.Slice) and _is_full(summed)):
            return None, None
        if not isinstance(results, ast.Slice) or not all(map(_is_simple, _bounds(results))):
            return None, None
        node, columns = node.value, results
    base = _outer(e, node, bound)
    if base is None:
        return None, None
    return replace(base, axes=base.axes[:: 1 if terms == 0 else -1]), columns


def _outer(e: Emitter, node: ast.expr, bound: frozenset[str]) -> Array | None:
    """Return an operand of the loop that is a matrix, or its transpose."""
    if isinstance(node, ast.Attribute) and node.attr == "T":
        found = _outer(e, node.value, bound)
        return None if found is None else replace(found, axes=found.axes[::-1])
    chain = chain_of(node)
    if chain is None or chain.name in bound:
        return None
    item = e.chains.get(chain)
    is_operand = isinstance(item, Array) and item.operand >= 0 and item.offset is None
    return item if is_operand and isinstance(item, Array) and len(item.axes) == 2 else None


def _is_full(part: ast.Slice) -> bool:
    return not any(True for _ in _bounds(part))


def _bounds(part: ast.Slice) -> Iterator[ast.expr]:
    return (each for each in (part.lower, part.upper, part.step) if each is not None)


def _is_simple(node: ast.expr) -> bool:
    """Return True for an expression that may be computed twice."""
    return all(isinstance(each, _SIMPLE) for each in ast.walk(node))


# -- code ------------------------------------------------------------------------------------------
def _index(e: Emitter, block: RowBlock) -> Value | None:
    """Emit the index of the row; None if it is not the next one in each iteration."""
    k = e.k
    if block.index is None:
        return k.convert("sext", _iteration(e).number, "index")
    index = e.item(block.index)
    line = e.arithmetic.line_of(index) if isinstance(index, Scalar) else None
    if line is None or line.step != 1:
        return None
    at = e.arithmetic.index(index)  # type: ignore[arg-type]  # it has a line
    k.leave_if(at < 0)
    return at


def _iteration(e: Emitter) -> Iteration:
    assert e.counted is not None, "blocks are those of a loop that counts"
    return e.counted


def _row(e: Emitter, block: RowBlock, inner_loop: Value, at: Value) -> Array:
    """Emit the products of the next rows, if they are not there yet; return that of this one."""
    k, (rows, terms), columns = e.k, block.rows.axes, block.matrix.axes[1]
    now = _iteration(e)
    place = k.convert("sext", now.number & (ROWS - 1), "index")
    begins = k.eq(place, 0) | k.eq(now.number, now.first)
    first = k.if_(begins)
    with first:
        count = _least(e, k.const(ROWS, "index") - place, rows.extent - at)
        count = _least(e, count, k.convert("sext", now.count - now.number, "index"))
        number = elements.unknown_number(e)
        some = Axis(number, count, rows.stride)
        to = elements.moved(e, block.made, block.made.axes, place, block.made.axes[0])
        own = elements.moved(e, block.rows, (some, terms), at, rows)
        one = k.const(1, "index")
        extents = [one, count, terms.extent, columns.extent]
        steps: list[Value | int] = [0, 0, 0]
        steps += [each.stride for x in (own, block.matrix, to) for each in x.axes]
        products.call_loop(e, inner_loop, (own, block.matrix, to), extents, steps)
        first.yield_()
    return elements.moved(e, block.made, block.made.axes[1:], place, block.made.axes[0])


def _least(e: Emitter, a: Value, b: Value) -> Value:
    return e.k.select(a < b, a, b)
