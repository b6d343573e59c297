"""The row of sums of products over named axes: ``np.einsum``.

What it is made of is seen by fusion: products of elements that are summed at once, and products of
matrices, to which NumPy gives BLAS; NumPy's own ``einsum`` of two operands is one loop over all
axes. More than two operands are taken in pairs, in the order that ``np.einsum_path`` finds; results
that are not finite are left to NumPy's loop.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from string import ascii_letters
from typing import Any

import numpy as np

from runmat_jit.core.frozen import frozen
from runmat_jit.core.types import TensorType
from runmat_jit.ops.host_call import HostCall
from runmat_jit.ops.product import Product
from runmat_jit.ops.promotion import is_compiled
from runmat_jit.ops.readers import (
    Arguments,
    Keywords,
    NotCovered,
    destination,
    operand,
    reader,
    require_defaults,
)
from runmat_jit.ops.spec import VARIADIC, Bound, Make, Op, Operand, Params, Result
from runmat_jit.ops.structure import constant_params

_DEFAULTS = {"dtype": None, "order": "K", "casting": "safe", "optimize": False}
_MOST = 6
"""Operands of one call."""


@frozen
class Subscripts:
    """Letters of the axes of each operand, and of the result."""

    operands: tuple[str, ...]
    result: str

    @property
    def text(self) -> str:
        """Operands in the form that ``np.einsum`` takes."""
        return f"{','.join(self.operands)}->{self.result}"


@frozen
class Term:
    """A value with letters for its axes."""

    value: Any
    letters: str

    @property
    def extents(self) -> dict[str, int]:
        """The extent of each axis."""
        return dict(zip(self.letters, self.value.type.shape, strict=True))


@reader
def _read(args: Arguments, kwargs: Keywords) -> Bound:
    if len(args) < 2 or type(args[0]) is not str or len(args) > _MOST + 1:
        raise NotCovered
    if any(name not in _DEFAULTS and name != "out" for name in kwargs):
        raise NotCovered
    require_defaults({n: v for n, v in kwargs.items() if n in _DEFAULTS}, _DEFAULTS)
    params: dict[str, Hashable] = {"subscripts": args[0].replace(" ", "")}
    return Bound(tuple(map(operand, args[1:])), params, destination(kwargs.get("out")))


def parsed(subscripts: str, ranks: Sequence[int]) -> Subscripts | None:
    """The letters of all axes, those of an ellipsis too; None where something is amiss or rare.

    Rare: an axis twice in one operand, and axes of the result in another order than in the operands
    (those of NumPy's lie otherwise in memory).
    """
    left, arrow, right = subscripts.partition("->")
    sources = left.split(",")
    if len(sources) != len(ranks):
        return None
    spare = "".join(letter for letter in ascii_letters if letter not in subscripts)
    wide = [rank - len(each.replace("...", "")) for each, rank in zip(sources, ranks, strict=True)]
    if any(extra != 0 and "..." not in each for each, extra in zip(sources, wide, strict=True)):
        return None
    most = max(wide)
    if min(wide) < 0 or most > len(spare):
        return None
    shared = spare[:most]
    sources = [
        each.replace("...", shared[most - extra :])
        for each, extra in zip(sources, wide, strict=True)
    ]
    joined = "".join(sources)
    if not arrow:
        once = sorted(letter for letter in set(joined) - set(shared) if joined.count(letter) == 1)
        right = "..." + "".join(once)
    right = right.replace("...", shared, 1)
    plain = all(each.isalpha() or not each for each in (*sources, right))
    doubled = any(len(set(each)) < len(each) for each in (*sources, right))
    order = "".join(letter for letter in dict.fromkeys(joined) if letter in right)
    if not plain or doubled or order != right:
        return None
    return Subscripts(tuple(sources), right)


def _result(operands: tuple[Operand, ...], params: Params) -> Result | None:
    """Of equal extents under each letter; something is summed, or there are several operands."""
    if not all(isinstance(each, TensorType) and is_compiled(each.dtype) for each in operands):
        return None
    types = [each for each in operands if isinstance(each, TensorType)]
    found = parsed(str(params["subscripts"]), [each.ndim for each in types])
    if found is None:
        return None
    extents: dict[str, int] = {}
    for letters, each in zip(found.operands, types, strict=True):
        for letter, extent in zip(letters, each.shape, strict=True):
            if extents.setdefault(letter, extent) != extent:
                return None
    dtype = np.result_type(*(each.dtype for each in types))
    view = len(types) == 1 and len(found.result) == types[0].ndim
    if view or dtype.kind == "b" or not is_compiled(dtype):
        return None
    shape = tuple(extents[letter] for letter in found.result)
    return Result(TensorType(dtype, shape), (dtype,) * len(types))


def _canonical(params: Params, operands: tuple[Operand, ...]) -> dict[str, Hashable]:
    ranks = [each.ndim for each in operands if isinstance(each, TensorType)]
    found = parsed(str(params["subscripts"]), ranks)
    assert found is not None, "the rule covers the call"
    letters = dict.fromkeys("".join(found.operands))
    names = str.maketrans(dict(zip(letters, ascii_letters, strict=False)))
    return {"subscripts": found.text.translate(names)}


# -- what it is made of ----------------------------------------------------------------------------
def _decompose(make: Make, args: tuple[Any, ...], params: Params, kind: TensorType) -> Any:
    """Pairs of terms, each pair as elements that are summed or as matrices."""
    found = parsed(str(params["subscripts"]), [arg.type.ndim for arg in args])
    assert found is not None, "the rule covers the call"
    maker = _Maker(make, kind.dtype)
    terms = [Term(a, letters) for a, letters in zip(args, found.operands, strict=True)]
    while len(terms) > 1:
        first, second = _next_pair(found, terms)
        pair = terms[first], terms[second]
        rest = [term for n, term in enumerate(terms) if n not in (first, second)]
        kept = {*found.result, *(letter for term in rest for letter in term.letters)}
        terms = [*rest, maker.pair(*pair, kept)]
        found = Subscripts(tuple([term.letters for term in terms]), found.result)
    last = maker.ordered(maker.without(terms[0], set(found.result)), found.result).value
    if len(args) < 3 or kind.dtype.kind != "f":
        return last
    call = HostCall(Repaired(str(params["subscripts"])), "einsum()")
    return make("host_call", (last, *args), {"call": call}, kind)


@frozen
class Repaired:
    """Host call that replaces a contraction by pairs with NumPy's own where it is not finite.

    ``(a + b) * c`` is infinite where ``a * c + b * c`` may be a NaN. If the result is finite, no
    operand of a term was infinite, so both are sums of the same terms.
    """

    subscripts: str

    def __call__(self, result: Any, *operands: Any) -> Any:
        """A new array of the result, or what NumPy's own loop gives."""
        if np.isfinite(result).all():
            return np.array(result)
        return np.einsum(self.subscripts, *operands)


def _next_pair(subscripts: Subscripts, terms: Sequence[Term]) -> tuple[int, int]:
    """The pair with which to begin, by NumPy's own search."""
    if len(terms) == 2:
        return 0, 1
    shown = [np.broadcast_to(np.float64(0), term.value.type.shape) for term in terms]
    path = np.einsum_path(subscripts.text, *shown, optimize="greedy")[0]
    first, second = sorted(path[1])[:2]
    return first, second


@frozen
class _Maker:
    """Makes values of one dtype."""

    make: Make
    dtype: np.dtype

    def row(self, name: str, args: tuple[Any, ...], to: tuple[int, ...], **params: Any) -> Any:
        return self.make(name, args, params, TensorType(self.dtype, to))

    def without(self, term: Term, kept: set[str]) -> Term:
        """The sum over the axes that nobody else has."""
        axes = tuple(n for n, letter in enumerate(term.letters) if letter not in kept)
        if not axes:
            return term
        letters = "".join(letter for letter in term.letters if letter in kept)
        shape = tuple(term.extents[letter] for letter in letters)
        name = self.dtype.name
        made = self.row("sum", (term.value,), shape, axis=axes, keepdims=False, dtype=name)
        return Term(made, letters)

    def ordered(self, term: Term, letters: str) -> Term:
        """The axes in this order."""
        axes = tuple(map(term.letters.index, letters))
        if axes == tuple(range(len(axes))):
            return term
        shape = tuple(term.extents[letter] for letter in letters)
        return Term(self.row("transpose", (term.value,), shape, axes=axes), letters)

    def reshaped(self, term: Term, letters: str, shape: tuple[int, ...]) -> Any:
        """The value with axes in this order, some of them joined or of extent 1."""
        value = self.ordered(term, letters).value
        if value.type.shape == shape:
            return value
        return self.row("reshape", (value,), shape, shape=shape)

    def pair(self, a: Term, b: Term, kept: set[str]) -> Term:
        """The product of two terms, summed over the axes that nobody else has."""
        a, b = self.without(a, kept | set(b.letters)), self.without(b, kept | set(a.letters))
        both = [letter for letter in a.letters if letter in b.letters]
        summed = "".join(letter for letter in both if letter not in kept)
        batch = "".join(letter for letter in both if letter in kept)
        rows = "".join(letter for letter in a.letters if letter not in b.letters)
        columns = "".join(letter for letter in b.letters if letter not in a.letters)
        if summed and rows and columns and self.dtype.kind == "f":
            return self.matrices(a, b, (batch, rows, summed, columns))
        large = max(a.letters, b.letters, key=len) if summed else a.letters  # as it lies in memory
        others = "".join(letter for letter in rows + columns if letter not in large)
        made = self.without(self.elements(a, b, large + others), kept)
        return made if self.dtype.kind != "f" else Term(self.from_zero(made.value), made.letters)

    def from_zero(self, value: Any) -> Any:
        """The value as what is added to zero, where NumPy begins: no zero is negative."""
        zero = constant_params(0.0, self.dtype)
        return self.row("add", (value, self.row("constant", (), (), **zero)), value.type.shape)

    def elements(self, a: Term, b: Term, letters: str) -> Term:
        """The products of all elements."""
        extents: Mapping[str, int] = {**a.extents, **b.extents}
        spread = []
        for term in (a, b):
            own = "".join(letter for letter in letters if letter in term.letters)
            shape = tuple(extents[n] if n in term.letters else 1 for n in letters)
            spread.append(self.reshaped(term, own, shape))
        shape = tuple(extents[letter] for letter in letters)
        return Term(self.row("multiply", tuple(spread), shape), letters)

    def matrices(self, a: Term, b: Term, parts: tuple[str, str, str, str]) -> Term:
        """The product of matrices: axes of rows, of terms and of columns are joined."""
        batch, rows, summed, columns = parts
        extents: Mapping[str, int] = {**a.extents, **b.extents}
        of_batch = tuple(extents[letter] for letter in batch)
        m, k, n = (math.prod(extents[x] for x in part) for part in (rows, summed, columns))
        left = self.reshaped(a, batch + rows + summed, (*of_batch, m, k))
        right = self.reshaped(b, batch + summed + columns, (*of_batch, k, n))
        call = HostCall(Product(np.matmul, ours=True), "matmul()")
        made = self.row("product", (left, right), (*of_batch, m, n), call=call)
        letters = batch + rows + columns
        shape = tuple(extents[letter] for letter in letters)
        if made.type.shape != shape:
            made = self.row("reshape", (made,), shape, shape=shape)
        return Term(made, letters)


def _contract(*operands: Any, subscripts: str) -> Any:
    return np.einsum(subscripts, *operands)


ROWS = (
    Op(
        name="contract",
        doc="Sums of products over axes with letters, ``np.einsum``.",
        kind="move",
        arity=VARIADIC,
        numpy=_contract,
        spellings=(np.einsum,),
        bind=_read,
        result=_result,
        canonical=_canonical,
        layout="C",
        is_plain=True,
        decompose=_decompose,
        exactness="ours",
        zero_d="scalar",
        flops=2.0,
    ),
)
