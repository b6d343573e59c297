"""Rows of random numbers: pure functions of an index, a key and a counter.

The stream. A key (64 bits) and a block number (64 bits) give four words of 32 bits: Philox4x32-10
of the counter words (block's low word, its high word, 0, 0) under the key words (low, high). A draw
that begins at block ``counter`` reads the words in order: word ``j`` is word ``j % 4`` of block
``counter + j // 4``, block numbers modulo 2**64.

- An element of 4 bytes owns one word: element ``i`` owns word ``i``. An element of 8 bytes, and a
  bounded whole number of either size, owns two: element ``i`` owns the 64 bits of words ``2 i``
  (low) and ``2 i + 1`` (high).
- ``random_bits`` and ``random_uniform`` take what the element owns, the uniform its upper bits.
- ``random_normal`` makes elements ``2 p`` (cosine) and ``2 p + 1`` (sine) of what these two own:
  the first's bits are the radius, the second's the angle.

So an element depends on its index alone, not on the device, the threads or the parts of a draw, and
code that makes all elements of a block in one place can compute the block once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from runmat_jit.core.types import TensorType
from runmat_jit.kernel.build import Builder
from runmat_jit.kernel.ir import Value
from runmat_jit.kernel.math.deferred import deferred
from runmat_jit.kernel.philox import Counter, philox4x32
from runmat_jit.ops import philox, sign
from runmat_jit.ops.promotion import Rule, broadcast
from runmat_jit.ops.spec import Op, Operand, Params, Result

ELEMENTS_PER_BLOCK = {4: 4, 8: 2}
"""Elements that a block is shared by, for elements that own so many bytes of it."""

_INT64 = np.dtype(np.int64)
_INDICES = (np.dtype(np.int32), _INT64)
_FLOATS = (np.dtype(np.float32), np.dtype(np.float64))


def _float_result(operands: tuple[Operand, ...], params: Params) -> Result | None:
    dtype = np.dtype(str(params["dtype"]))
    return _result(operands, dtype) if dtype in _FLOATS else None


def _bits_result(operands: tuple[Operand, ...], _params: Params) -> Result | None:
    return _result(operands, _INT64)


def _bounded_result(operands: tuple[Operand, ...], _params: Params) -> Result | None:
    whole = all(isinstance(o, TensorType) and o.dtype == _INT64 for o in operands)
    return _result(operands, _INT64) if whole else None


def _result(operands: tuple[Operand, ...], dtype: np.dtype) -> Result | None:
    """The first operand is of int32 or int64, all others of int64; their shapes broadcast."""
    given = tuple(o.dtype for o in operands if isinstance(o, TensorType))
    if len(given) < len(operands) or given[0] not in _INDICES or {*given[1:]} != {_INT64}:
        return None
    shape = broadcast(operands)
    return None if shape is None else Result(TensorType(dtype, shape), given)


def _bits(k: Builder, index: Value, key: Value, counter: Value) -> Value:
    one, other = _halves(k, _block(k, index, key, counter, 1))
    return k.select(_bit(k, index, 0), other, one)


_of_bits = deferred("draws", "uniform")
_of_two = deferred("draws", "normal")
_pair: Callable[..., Any] = deferred("draws", "normals")


def _uniform(k: Builder, index: Value, key: Value, counter: Value, *, dtype: str) -> Value:
    if dtype == "float64":
        return _of_bits(k, _bits(k, index, key, counter))
    a, b, c, d = _block(k, index, key, counter, 2)
    odd = _bit(k, index, 0)
    return _of_bits(k, k.select(_bit(k, index, 1), k.select(odd, d, c), k.select(odd, b, a)))


def _normal(k: Builder, index: Value, key: Value, counter: Value, *, dtype: str) -> Value:
    if dtype == "float64":
        radius, angle = _halves(k, _block(k, index, key, counter, 1))
    else:
        a, b, c, d = _block(k, index, key, counter, 2)
        later = _bit(k, index, 1)
        radius, angle = k.select(later, c, a), k.select(later, d, b)
    quarter = 1 << (62 if dtype == "float64" else 30)
    return _of_two(k, radius, k.select(_bit(k, index, 0), angle, angle + quarter))


def numbers_of_block(
    k: Builder, row: str, dtype: str, block: Value, stream: tuple[Value, Value]
) -> tuple[Value, ...]:
    """The elements of a block of a draw, all of them: ``random_uniform`` or ``random_normal``.

    ``block``: its number in the draw, an i32; ``stream``: the key, and where the draw begins.
    """
    key, counter = stream
    words = _words_of_block(k, block, key, counter)
    units = words if dtype == "float32" else _halves(k, words)
    if row == "random_uniform":
        return tuple([_of_bits(k, unit) for unit in units])
    pairs = zip(units[::2], units[1::2], strict=True)
    found: list[Value] = []
    for radius, angle in pairs:
        found += _pair(k, radius, angle)
    return tuple(found)


def _block(k: Builder, index: Value, key: Value, counter: Value, shift: int) -> Counter:
    """The words of the block that element ``index`` is in, ``2**shift`` elements a block."""
    return _words_of_block(k, index >> shift, key, counter)


def _words_of_block(k: Builder, steps: Value, key: Value, counter: Value) -> Counter:
    """The words of the block so many after ``counter``."""
    zero = k.const(0, "i32")
    if steps.type == "i64":
        low, high = _words(k, counter + steps)
    else:  # by words: a type of 8 bytes would halve the lanes of all that follows
        start, upper = _words(k, counter)
        low = start + steps
        carry = k.convert("zext", k.prim("ult", low, start), "i32")
        high = upper + (steps >> 31) + carry
    return philox4x32(k, (low, high, zero, zero), _words(k, key))


def _words(k: Builder, number: Value) -> tuple[Value, Value]:
    upper = k.prim("lshr", number, 32)
    return k.convert("trunc", number, "i32"), k.convert("trunc", upper, "i32")


def _halves(k: Builder, words: Counter) -> tuple[Value, Value]:
    a, b, c, d = (k.convert("zext", word, "i64") for word in words)
    return a | (b << 32), c | (d << 32)


def _bit(k: Builder, index: Value, position: int) -> Value:
    word = index if index.type == "i32" else k.convert("trunc", index, "i32")
    return k.ne(word & (1 << position), 0)


def _row(
    name: str, doc: str, numpy: Callable[..., Any], expand: Any, result: Rule, **fields: Any
) -> Op:
    arity = fields.pop("arity", 3)
    return Op(
        name=name,
        doc=doc,
        kind="elementwise",
        arity=arity,
        numpy=numpy,
        result=result,
        expand=expand,
        absorbs=(False,) * arity,  # whole numbers are finite
        **fields,
    )


ROWS = (
    _row(
        "random_bits",
        "64 random bits, of an index under a key from a block number on.",
        philox.random_bits,
        _bits,
        _bits_result,
        flops=100,
    ),
    _row(
        "random_uniform",
        "Numbers of [0, 1), of an index, a key and a block number.",
        philox.random_uniform,
        _uniform,
        _float_result,
        sign=sign.clear,
        top=sign.one,
        flops=40,  # of a block that elements share
    ),
    _row(
        "random_normal",
        "Normal numbers, of an index, a key and a block number.",
        philox.random_normal,
        _normal,
        _float_result,
        exactness="ours",
        ulp={"float32": 1.5, "float64": 1.5},
        gpu_ulp={"float32": 4.0, "float64": 4.0},
        flops=80,
    ),
    _row(
        "random_bounded",
        "A whole number of [0, last] from 64 random bits; both are taken as unsigned.",
        philox.random_bounded,
        deferred("draws", "bounded"),
        _bounded_result,
        arity=2,
        flops=16,
    ),
)
