"""Draws of random numbers in an iteration, from NumPy's own generators, by NumPy's own C functions.

They draw from a copy of the generator's state, one number after the other in the order of the
program, whatever decides how many: the generator goes on from there where the loop has ended.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from runmat_jit.core.frozen import frozen, frozen_object
from runmat_jit.core.types import is_complex
from runmat_jit.kernel.ir import Value
from runmat_jit.loops import creation, draws, elements, indexing, sizes
from runmat_jit.loops.emitter import Emitter
from runmat_jit.loops.numpy_functions import function, parameter
from runmat_jit.loops.signatures import VECTOR, Signature, Table, apply, is_integer
from runmat_jit.loops.values import (
    FLOAT,
    FLOAT32,
    FLOAT64,
    INT,
    INT64,
    MOST,
    Array,
    Item,
    Items,
    Kind,
    Lazy,
    NumpyStream,
    Object,
    Scalar,
    Unknown,
    literal,
    numpy_kind,
    scalar,
)
from runmat_jit.loops.whole_arrays import plain_of


@frozen
class Distribution:
    """A method of NumPy's generators.

    ``function``: the C function that draws a number, from the generator and these ``parameters``,
    each with what it is if it is not given (None: it must be), and the greatest number that it may
    be, where it is to be positive (None: it may be any). ``kind``: of what it draws. ``spans``: it
    takes two ends, and the function one and how far it is to the other.
    """

    function: str
    parameters: tuple[tuple[str, float | None, float | None], ...] = ()
    kind: Kind = FLOAT
    spans: bool = False


@frozen_object
class Call:
    """A call of a C function that draws a number, and one that draws some with these arguments."""

    function: str
    args: tuple[Value, ...]
    fills: str | None = None


_MOST: Final = sys.float_info.max
_LOC: Final = ("loc", 0.0, None)
_SCALE: Final = ("scale", 1.0, _MOST)
DISTRIBUTIONS: Final[Mapping[str, Distribution]] = {
    "random": Distribution("random_standard_uniform"),
    "standard_normal": Distribution("random_standard_normal"),
    "standard_exponential": Distribution("random_standard_exponential"),
    "standard_cauchy": Distribution("random_standard_cauchy"),
    "standard_gamma": Distribution("random_standard_gamma", (("shape", None, _MOST),)),
    "standard_t": Distribution("random_standard_t", (("df", None, _MOST),)),
    "normal": Distribution("random_normal", (_LOC, _SCALE)),
    "uniform": Distribution(
        "random_uniform", (("low", 0.0, None), ("high", 1.0, None)), spans=True
    ),
    "exponential": Distribution("random_exponential", (_SCALE,)),
    "laplace": Distribution("random_laplace", (_LOC, _SCALE)),
    "logistic": Distribution("random_logistic", (_LOC, _SCALE)),
    "gumbel": Distribution("random_gumbel", (_LOC, _SCALE)),
    "lognormal": Distribution("random_lognormal", (("mean", 0.0, None), ("sigma", 1.0, _MOST))),
    "rayleigh": Distribution("random_rayleigh", (_SCALE,)),
    "gamma": Distribution("random_gamma", (("shape", None, _MOST), _SCALE)),
    "beta": Distribution("random_beta", (("a", None, _MOST), ("b", None, _MOST))),
    "chisquare": Distribution("random_chisquare", (("df", None, _MOST),)),
    "pareto": Distribution("random_pareto", (("a", None, _MOST),)),
    "weibull": Distribution("random_weibull", (("a", None, _MOST),)),
    "power": Distribution("random_power", (("a", None, _MOST),)),
    "poisson": Distribution("random_poisson", (("lam", 1.0, float(1 << 40)),), INT),
    "geometric": Distribution("random_geometric", (("p", None, 1.0),), INT),
}
"""Names and order of parameters, and what they may be, are those of the documentation of
``numpy.random.Generator``; what NumPy refuses is left to it, and so is what is no number."""
_STANDARD: Final = ("random", "standard_normal")
"""Methods that take a size first, and a dtype."""
_WHOLE: Final = ("low", "high", "size", "dtype", "endpoint")


def draw(
    e: Emitter,
    stream: NumpyStream,
    method: str,
    args: Sequence[ast.expr],
    named: Sequence[ast.keyword],
) -> Item:
    """A call of a generator's method."""
    _note_draw(e)
    if method == "permutation":
        return _permutation(e, stream, draws.arguments(("x",), args, named))
    if method == "integers":
        return _integers(e, stream, draws.arguments(_WHOLE, args, named))
    if method == "choice":
        return _choice(e, stream, draws.arguments(("a",), args, named))
    distribution = DISTRIBUTIONS.get(method)
    if distribution is None:
        raise Unknown(f"the method {method} of a generator")
    names = [name for name, *_ in distribution.parameters]
    names += ["size", "dtype"] if method in _STANDARD else ["size"]
    given = draws.arguments(names, args, named)
    name, dtype = distribution.function, distribution.kind.dtype
    fills = f"{name}_fill" if method in _STANDARD else None
    if not draws.is_none(given.get("dtype")):
        dtype = draws.dtype_of(e, given["dtype"])
        if dtype == FLOAT32:
            name, fills = f"{name}_f", f"{fills}_f"
    call = Call(name, (stream.bits, *_parameters(e, distribution, given)), fills)
    return _drawn(e, call, distribution.kind, dtype, given.get("size"))


def _note_draw(e: Emitter) -> None:
    """Take note that the order of draws counts."""
    e.asks_numpy = e.ordered = True
    e.drawn = max(e.drawn, 1)


def shuffle(e: Emitter, stream: NumpyStream, x: Array) -> Item:
    """``rng.shuffle(x)`` of a vector: from the last element on, each with one before it."""
    k, (axis,), drawn = e.k, x.axes, function(e, "random_interval")
    _note_draw(e)
    indexing.note_store(e, x)
    e.fix(axis.number)
    e.arithmetic.mark_ours(bits=False)
    with k.loop(1, axis.extent) as loop:
        last = axis.extent - loop.i
        other = k.invoked("i64", drawn, stream.bits, k.convert("sext", last, "i64"))
        places = [
            elements.start_of(e, elements.moved(e, x, (), at, axis))
            for at in (last, k.convert("sext", other, "index"))
        ]
        values = [k.load(x.buffer, place, 0) for place in places]
        for place, value in zip(places, reversed(values), strict=True):
            k.store(x.buffer, place, value, 0)
        loop.yield_()
    e.stores += 1
    return Object(None)


def _is_place(x: Item) -> bool:
    """Return True for a vector of real numbers in memory."""
    return isinstance(x, Array) and VECTOR(x) and not is_complex(x.dtype)


SHUFFLING: Final[Table] = {
    "shuffle": [Signature((lambda x: isinstance(x, NumpyStream), _is_place), shuffle)]
}


def _permutation(e: Emitter, stream: NumpyStream, given: Mapping[str, ast.expr]) -> Item:
    """``rng.permutation(n)``, or of a vector: a copy, shuffled."""
    item = e.item(given["x"]) if "x" in given else Object(None)
    x = indexing.settled(e, item)
    if isinstance(x, Array):
        made = indexing.materialized(e, x)
    else:
        made = creation.counted(e, sizes.dims_of(e, given["x"]))
    apply(e, SHUFFLING, "shuffle", [stream, made])
    return made


def _parameters(
    e: Emitter, distribution: Distribution, given: Mapping[str, ast.expr]
) -> list[Value]:
    """What the C function is given beside the generator."""
    k, found = e.k, list[Value]()
    for name, default, most in distribution.parameters:
        node = given.get(name)
        if node is None and default is None:
            raise Unknown("a draw with other arguments")
        number = literal(k, default or 0.0) if node is None else scalar(e.item(node))
        if number.type == "i1":
            raise Unknown("a distribution of truth values")
        value = e.arithmetic.cast(number, FLOAT64)
        if most is not None and node is not None:
            _demand(e, value, most)
        found.append(value)
    if distribution.spans:
        found[1] = found[1] - found[0]
        _demand(e, found[1], _MOST)
    return found


def _demand(e: Emitter, value: Value, most: float) -> None:
    """Leave unless a number is positive, and no greater."""
    e.k.leave_if(e.k.prim("xor", (value > 0) & (value <= most), True))


def _integers(e: Emitter, stream: NumpyStream, given: Mapping[str, ast.expr]) -> Item:
    """``rng.integers(low, high)``."""
    names = [name for name in ("low", "high") if not draws.is_none(given.get(name))]
    ends = [scalar(e.item(given[name])) for name in names]
    endpoint = plain_of(e.item(given["endpoint"])) if "endpoint" in given else False
    are_integers = all(is_integer(end) for end in ends)
    if "low" not in given or not ends or not are_integers or type(endpoint) is not bool:
        raise Unknown("integers between other ends than integers")
    low, high = [literal(e.k, 0), *ends][-2:]
    kind = numpy_kind(INT64)
    if "dtype" in given:
        dtype = plain_of(e.item(given["dtype"]))
        if dtype not in (int, INT64.type, "int64"):
            raise Unknown("integers that are drawn in another dtype")
        kind = INT if dtype is int and draws.is_none(given.get("size")) else kind
    k, last = e.k, int(not endpoint)
    first, end = e.arithmetic.cast(low, INT64), e.arithmetic.cast(high, INT64)
    k.leave_if(end < first if endpoint else end <= first)
    made = _drawn(e, _bounded(e, stream, first, end - last), kind, INT64, given.get("size"))
    if not isinstance(made, Scalar):
        return made
    top = None if high.top is None else (high.top[0], high.top[1] - last)
    return Scalar(made.kinds, made.value, low.low, min(high.high - last, MOST), top)


def _bounded(e: Emitter, stream: NumpyStream, first: Value, last: Value) -> Call:
    """A call that draws one of these integers and those between them."""
    width = last - first
    e.k.leave_if(width < 0)
    zero = e.k.const(0, "i64")  # no mask of bits is used
    return Call("random_bounded_uint64", (stream.bits, first, width, zero, zero))


def _choice(e: Emitter, stream: NumpyStream, given: Mapping[str, ast.expr]) -> Item:
    """``rng.choice(n)``, or of the elements of a vector."""
    k, item = e.k, e.item(given["a"]) if "a" in given else None
    if isinstance(item, Items):
        item = creation.array_of(e, item)
    x = indexing.settled(e, item) if isinstance(item, Array | Lazy) else item
    if isinstance(x, Array) and len(x.axes) == 1:
        count = k.convert("sext", x.axes[0].extent, "i64")
    elif isinstance(x, Scalar) and not (x.is_float or x.type == "i1"):
        count = e.arithmetic.cast(x, INT64)
    else:
        raise Unknown("a choice of what is no number and no vector")
    k.leave_if(count < 1)
    call = _bounded(e, stream, k.const(0, "i64"), count - 1)
    place = _drawn(e, call, INT, INT64, None)
    if isinstance(x, Scalar):
        return place
    e.fix(x.axes[0].number)
    at = k.convert("sext", scalar(place).value, "index")
    return elements.load(e, elements.moved(e, x, (), at, x.axes[0]))


def _drawn(e: Emitter, call: Call, kind: Kind, dtype: np.dtype, size: ast.expr | None) -> Item:
    """Numbers that a C function draws: one, or an array of a dtype."""
    k, drawn = e.k, function(e, call.function)
    held = {"f": "f64", "i": "i64"}[dtype.kind] if dtype != FLOAT32 else "f32"

    def number() -> Value:
        return k.invoked(held, drawn, *call.args)

    if draws.is_none(size):
        value = number()
        if held == "f32":
            value = k.convert("fpext", value, "f64")
        low = 0 if kind == INT else -MOST - 1
        return Scalar(frozenset((kind,)), value, low, narrow=held == "f32")
    assert size is not None, "it is given"
    dims = sizes.dims_of(e, size)
    made = e.memory.new(dtype, dims, e.held_arrays())
    assert made.offset is not None, "it is in memory of the loop's own"
    e.spans.add(dims)
    e.drawn_arrays.add(dims)
    count = e.extents.product(dims)
    if call.fills is not None:
        where = parameter(e, f"p_{made.buffer.name}")
        where = where + k.convert("sext", made.offset, "i64") * dtype.itemsize
        count = k.convert("sext", count, "i64")
        k.invoke(function(e, call.fills), *call.args, count, where)
        return made
    with k.loop(0, count) as loop:
        k.store(made.buffer, made.offset + loop.i, number(), 0)
        loop.yield_()
    return made
