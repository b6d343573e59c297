"""Calls of every row in every spelling that its reader may meet, as (function, args, kwargs)."""

import itertools
import operator

import numpy as np

from runmat_jit.core.types import COMPILED_DTYPES
from runmat_jit.ops.library import LibraryUfunc
from runmat_jit.ops.table import ROWS, row_of
from tests.ops.operands import array, one_operand, two_operands

COMPLEX = {"conj", "angle"}
"""Rows that cover arrays of complex numbers alone: ``test_parts`` compares them with NumPy."""
CALLED = [
    row
    for row in ROWS.values()
    if (row.spellings or row.library or row.methods) and row.name not in COMPLEX
]


def method(name):
    def call(x, *args, **kwargs):
        return getattr(x, name)(*args, **kwargs)

    call.__name__ = f"method {name}"
    return call


def spellings(row):
    """The callables that mean a row."""
    return row.spellings or (row.library.ufunc(),)


def calls(row):
    """Calls of a row, all spellings."""
    if row.name in _SPECIAL:
        yield from _SPECIAL[row.name]()
    elif row.kind == "reduce":
        yield from _reduction(row)
    elif row.kind == "scan":
        yield from _scan(row)
    elif row.arity == 1:
        yield from ((f, (x,), {}) for f in spellings(row) for x in one_operand())
    else:
        assert row.arity == 2, f"{row.name} needs calls of its own"
        yield from ((f, pair, {}) for f in spellings(row) for pair in two_operands())
    if row.kind == "elementwise" and isinstance(row.numpy, np.ufunc | LibraryUfunc):
        yield from _ufunc_keywords(row)


def _ufunc_keywords(row):
    operands = tuple(array("int32", (3,)) for _ in range(row.arity))
    for kwargs in (
        {"where": True},
        {"casting": "same_kind", "order": "K", "subok": True},
        {"dtype": None},
        {"where": np.array([True, False, True])},
        {"dtype": np.float64},
        {"signature": None},
        {"order": "F"},
        {"casting": "unsafe"},
    ):
        # SciPy's ufuncs write beyond their memory where a mask chooses elements and they are cast.
        if row.library is None or "where" not in kwargs or kwargs["where"] is True:
            yield row.numpy, operands, kwargs


def _powers():
    exponents = (0, 1, 2, 3, 10, -1, -2, 0.5, 2.0, -1.0, 0.0, 1.5, True, False)
    for function in (np.power, operator.pow, pow):
        for base, exponent in itertools.product(one_operand(), exponents):
            yield function, (base, exponent), {}
        for pair in two_operands():
            yield function, pair, {}


def _where():
    for condition in (array("bool", (3,)), array("float64", (2, 1)), array("int32", ())):
        for pair in two_operands():
            yield np.where, (condition, *pair), {}
        yield np.where, (condition, 1, 2.0), {}
    yield np.where, (array("bool", (3,)),), {}
    yield np.where, (True, 1.0, 2), {}


def _clip():
    for x, low, high in itertools.product(
        one_operand(), (None, 0, -0.5, array("float32", ()), array("int64", (3,))), (None, 1, 2.5)
    ):
        yield np.clip, (x, low, high), {}
        yield method("clip"), (x, low, high), {}
        yield method("clip"), (x,), {"min": low, "max": high}
    x = array("float64", (3,))
    yield np.clip, (x,), {"a_min": 0, "a_max": 1}
    yield np.clip, (x,), {"min": 0}
    yield np.clip, (x, 0, 1), {"dtype": np.float32}
    yield np.clip, (x,), {}


def _round():
    for x in one_operand():
        for function in (np.round, np.around, method("round")):
            yield function, (x,), {}
            yield function, (x, 0), {}
            yield function, (x,), {"decimals": 1}


def _cast():
    names = ("float32", np.float64, int, bool, np.dtype("int32"), "float16", "complex64", "S3")
    for x, dtype in itertools.product(one_operand(), names):
        yield method("astype"), (x, dtype), {}
        if isinstance(x, np.ndarray):
            yield np.astype, (x, np.dtype(dtype)), {"copy": True}
    x = array("float64", (3,))
    yield method("astype"), (x, "float32", "C"), {}
    yield method("astype"), (x, "float64"), {"copy": False}
    yield method("astype"), (x, "int32"), {"casting": "safe"}
    yield method("astype"), (x, "int32", "K", "unsafe", True, True), {}


def _copy():
    for x in one_operand():
        yield np.copy, (x,), {}
        yield np.copy, (x, "C"), {}
        yield np.copy, (x,), {"order": "F"}


def _contiguous_copy():
    for x in one_operand():
        yield method("copy"), (x,), {}
        yield method("copy"), (x, "K"), {}
        yield method("copy"), (x,), {"order": "A"}


def _reduction(row):
    function, names = row.spellings[0], row.methods
    shapes = ((3,), (), (0,), (2, 3), (2, 0, 3), (2, 3, 4))
    axes = (None, 0, -1, 1, (0, 1), (-1, 0), (), (0, 0), 5, True)
    for dtype, shape, axis in itertools.product(COMPILED_DTYPES, shapes, axes):
        x = array(dtype, shape)
        yield function, (x,), {"axis": axis}
        yield function, (x, axis), {"keepdims": True}
        yield from ((method(name), (x, axis), {"keepdims": True}) for name in names)
    x = array("int32", (2, 3))
    yield from ((f, (x,), {}) for f in row.spellings)
    yield function, (x,), {"axis": np.int64(1), "keepdims": np._NoValue}
    yield function, (x,), {"where": True}
    yield function, (x,), {"unknown": 1}
    if "dtype" in row.bind((x,), {}).params:
        for x, dtype in itertools.product(one_operand(), (*COMPILED_DTYPES, "float16", complex)):
            yield function, (x, 0, dtype), {}
            yield from ((method(name), (x,), {"dtype": dtype}) for name in names)
    yield from _FURTHER.get(row.name, tuple)()


def _scan(row):
    shapes = ((3,), (), (0,), (1,), (2, 3), (2, 0, 3), (3, 2, 2))
    functions = (*row.spellings, *map(method, row.methods))
    axes = (None, 0, -1, 1, 2, -4, (0,), True)
    for function, dtype, shape in itertools.product(functions, COMPILED_DTYPES, shapes):
        x = array(dtype, shape)
        yield from ((function, (x,), {"axis": axis}) for axis in axes)
        yield function, (x,), {}
        yield function, (x, 0), {"dtype": dtype}
    for function in functions:
        for x, dtype in itertools.product(one_operand(), (*COMPILED_DTYPES, "float16", complex)):
            yield function, (x, 0, dtype), {}
        x = array("int32", (2, 3))
        yield function, (x, np.int64(1)), {}
        yield function, (x,), {"axis": 0.5}
        yield function, (x, 0, None, None, None), {}


def _variances(function):
    (name,) = row_of(function).methods
    for x, ddof in itertools.product(
        (array("float32", (3,)), array("int64", (4, 5))), range(-1, 6)
    ):
        yield function, (x,), {"ddof": ddof}
        yield function, (x, 0, None, None, ddof, True), {}
        yield function, (x,), {"axis": -1, "correction": ddof}
        yield method(name), (x, 0), {"ddof": ddof}
    x = array("float64", (3, 4))
    yield function, (x,), {"ddof": 0.5}
    yield function, (x,), {"ddof": 0, "correction": 1}
    yield function, (x,), {"mean": np.float64(0.5)}
    yield method(name), (x,), {"dtype": None}


def _averages():
    x = array("float64", (3, 4))
    yield np.average, (x, 0, None, False), {}
    yield np.average, (x,), {"weights": np.ones((3, 4)), "returned": False}
    yield np.average, (x, 0, None, False, True), {}


def _counts():
    yield np.count_nonzero, (np.array([np.nan, 0.0, -0.0]), 0), {}


_FURTHER = {
    "var": lambda: _variances(np.var),
    "std": lambda: _variances(np.std),
    "average": _averages,
    "count_nonzero": _counts,
}


def _differences():
    for dtype, shape in itertools.product(COMPILED_DTYPES, ((3,), (), (0,), (2, 3), (4, 0, 5))):
        for n, axis in itertools.product((1, 2, 3, 4), (-1, 0, 1, 3)):
            yield np.diff, (array(dtype, shape),), {"n": n, "axis": axis}
    x = array("float64", (3, 4))
    yield np.diff, (x,), {}
    yield np.diff, (x, 1, 0), {}
    yield np.diff, (x, 0), {}
    yield np.diff, (x, -1), {}
    yield np.diff, (x,), {"prepend": 1.0}


def _replacements():
    for x in one_operand():
        yield np.nan_to_num, (x,), {}
        yield np.nan_to_num, (x, True, 1, 2.5, -3), {}
        yield np.nan_to_num, (x,), {"nan": -1.5, "posinf": 7}
    x = array("float64", (3,))
    yield np.nan_to_num, (x,), {"copy": False}
    yield np.nan_to_num, (x,), {"nan": np.nan}
    yield np.nan_to_num, (array("float32", (3,)),), {"posinf": 1e300}
    yield np.nan_to_num, (np.array([np.nan, np.inf, -np.inf, -0.0]),), {"nan": np.inf}


def _create(function, *fill):
    shapes = (3, (2, 3), (), [2, 2], (0,), -1, (2, -1), 2.5)
    for shape, dtype in itertools.product(
        shapes, (None, *COMPILED_DTYPES, int, "f4", "f2", object)
    ):
        yield function, (shape, *fill), {"dtype": dtype}
    yield function, (2, *fill, np.float32, "C"), {}
    yield function, (2, *fill), {"order": "F"}


def _full():
    for fill in (3, 2.5, True, np.float32(1.5), array("int32", ()), array("int32", (3,)), None):
        yield from _create(np.full, fill)


def _like(function, *fill):
    for x in one_operand():
        for dtype in (None, *COMPILED_DTYPES, "f2"):
            yield function, (x, *fill), {"dtype": dtype}
        yield function, (x, *fill, None, "C"), {}
        yield function, (x, *fill), {"shape": (4,)}


def _full_like():
    for fill in (3, 2.5, True, np.float32(1.5), array("int32", ()), array("int32", (3,))):
        yield from _like(np.full_like, fill)


def _arange():
    numbers = ((5,), (0,), (-3,), (1, 7), (7, 1, -2), (0.0, 1.0, 0.1), (2.5,), (1, 2, 0.3), (True,))
    for args in (*numbers, (10.0, 0.0, -3.0), (0, 10, 3), (5, 0), (0, 1, 0), (2**62, 2**62 + 4)):
        for dtype in (None, "int32", "float32", "float64", bool):
            yield np.arange, args, {"dtype": dtype}
    yield np.arange, (), {"stop": 4}
    yield np.arange, (4,), {"step": 2}
    yield np.arange, (array("int64", ()),), {}


def _joins(function):
    def generate():
        for left, right in itertools.product(COMPILED_DTYPES, COMPILED_DTYPES):
            for axis in (0, -1, 1, 2, -3, None):
                pair = (array(left, (2, 3)), array(right, (2, 3), 1))
                yield function, (pair,), {"axis": axis}
        x = array("float32", (2, 3))
        yield function, ([x, array("float32", (2, 4))],), {"axis": 1}
        yield function, ([x, array("float32", (3,))],), {}
        yield function, ([x],), {"dtype": "float64"}
        yield function, ([x, 1.0],), {}
        yield function, ([np.float32(1), np.float32(2)],), {}
        yield function, ([],), {}
        yield function, (x,), {}

    return generate


def _lists():
    for left, right in itertools.product(COMPILED_DTYPES, COMPILED_DTYPES):
        x, y = array(left, ()), array(right, (), 1)[()]
        yield np.array, ([x, y],), {}
        yield np.asarray, ([[x, 1.5], (y, True)],), {}
        yield np.array, (((x, 2), (3, y), (x, -4)),), {}
        yield np.array, ([array(left, (3,)), array(right, (3,), 1)],), {}
    x, y = np.float32(1.5), np.int64(7)
    turned = np.asfortranarray(array("float64", (2, 3)))
    yield np.array, ([[turned, turned], [turned, turned]],), {}
    yield np.array, ([[[x, y], [y, x]]],), {}
    for kwargs in ({"dtype": None}, {"dtype": np.float64}, {"dtype": "complex64"}, {"dtype": int}):
        yield np.array, ([x, y],), kwargs
    for kwargs in ({"ndmin": 2}, {"copy": True}, {"order": "F"}, {"subok": True}):
        yield np.array, ([x, y],), kwargs
    for items in ([x], [[x, y], [x]], [x, [y]], [x, 2**63], [x, -(2**70)], [], [[]], x, [x, "a"]):
        yield np.array, (items,), {}
    yield np.array, ([x, array("float32", (2,))],), {}
    yield np.asarray, (array("float32", (2,)),), {}
    yield np.array, ([x] * 40,), {}


def _linspace():
    for start, stop in (
        (0, 1),
        (0.0, -2.5),
        (1, 4),
        (-1e30, 1e-30),
        (0.1, 0.7),
        (np.float64(2), 3),
    ):
        for num in (0, 1, 2, 3, 7, 50, 1000):
            for kwargs in ({}, {"endpoint": False}, {"dtype": np.float64}):
                yield np.linspace, (start, stop, num), kwargs
    yield np.linspace, (0, 1), {}
    for kwargs in ({"retstep": True}, {"axis": -1}, {"dtype": int}, {"dtype": "float32"}):
        yield np.linspace, (0, 3, 5), kwargs
    for start, stop in ((1, 1), (-0.0, 1), (0, np.inf), (np.float32(1), 2), (True, 2), ([0, 1], 2)):
        yield np.linspace, (start, stop, 5), {}
    yield np.linspace, (0, 1, -1), {}
    yield np.linspace, (0, 2**70, 5), {}
    yield np.linspace, (0.0, 1.7e308, 7), {}


def _matrices(function):
    def generate():
        for rows, columns in itertools.product((0, 1, 2, 5), (None, 0, 1, 4)):
            for k in (0, 1, -1, 3, -7):
                for dtype in (None, *COMPILED_DTYPES):
                    kwargs = {} if dtype is None else {"dtype": dtype}
                    yield function, (rows, columns, k), kwargs
        yield function, (3,), {"dtype": "complex128"}
        if function is np.eye:
            yield function, (-1,), {}
            yield function, (3,), {"order": "F"}

    return generate


def _identities():
    for dtype in (None, *COMPILED_DTYPES, "complex64"):
        yield np.identity, (4,), {"dtype": dtype}
    yield np.identity, (0,), {}


CONTRACTIONS = (
    ("ij,jk->ik", (3, 4), (4, 5)),
    ("ij,jk", (3, 4), (4, 5)),
    ("ij,kj->ik", (3, 4), (5, 4)),
    ("ji,jk->ik", (4, 3), (4, 5)),
    ("bij,bjk->bik", (2, 3, 4), (2, 4, 5)),
    ("...ij,...jk->...ik", (2, 3, 4), (2, 4, 5)),
    ("...ij,jk", (2, 3, 4), (4, 5)),
    ("ijk,klj->il", (2, 3, 4), (4, 5, 3)),
    ("ij,j->i", (3, 4), (4,)),
    ("i,ij->j", (3,), (3, 4)),
    ("bij,bj->bi", (2, 3, 4), (2, 4)),
    ("ij,ij->i", (3, 4), (3, 4)),
    ("ij,ij->", (3, 4), (3, 4)),
    ("ij,ji->", (3, 4), (4, 3)),
    ("i,i", (5,), (5,)),
    ("i,j->ij", (3,), (4,)),
    ("ij,k->ijk", (2, 3), (4,)),
    ("k,ij->kij", (4,), (2, 3)),
    ("i,ji->j", (3,), (4, 3)),
    ("ij,ik->ijk", (2, 3), (2, 4)),
    ("ij->j", (3, 4)),
    ("ijk->", (2, 3, 4)),
    ("ij,kl->ik", (3, 4), (5, 2)),
    ("ij,jk,kl->il", (3, 4), (4, 5), (5, 2)),
    ("ij,jk,k->i", (3, 4), (4, 5), (5,)),
    ("ai,bj,abk->ijk", (2, 3), (4, 5), (2, 4, 2)),
    ("ab,ab,ab->a", (3, 4), (3, 4), (3, 4)),
    ("ij,jk->ik", (3, 0), (0, 5)),
    ("ij,jk->ik", (0, 4), (4, 5)),
    ("ij,jk->ik", (1, 1), (1, 1)),
)
"""Subscripts of ``np.einsum`` that are covered, with the shapes of operands."""

_RARE_CONTRACTIONS = (
    ("ij->ij", (3, 4)),
    ("ij,jk->ki", (3, 4), (4, 5)),
    ("ii->", (3, 3)),
    ("ii,i->i", (3, 3), (3,)),
    ("ij,ij->i", (3, 1), (3, 4)),
    ("ij,jk->ik", (3, 4), (3, 5)),
    ("ij,jk->ik", (3, 4, 2), (4, 5)),
    ("ij,jk", (3, 4)),
    ("ij,jk->iz", (3, 4), (4, 5)),
    ("", ()),
)


def _contractions():
    for dtype in ("float32", "float64", "int32", "int64", "bool"):
        for subscripts, *shapes in (*CONTRACTIONS, *_RARE_CONTRACTIONS):
            operands = [array(dtype, shape, seed) for seed, shape in enumerate(shapes)]
            yield np.einsum, (subscripts, *operands), {}
    a, b = array("float64", (3, 4)), array("float32", (4, 5), 1)
    for kwargs in (
        {},
        {"optimize": True},
        {"optimize": False},
        {"dtype": "float64"},
        {"order": "F"},
    ):
        yield np.einsum, ("ij,jk->ik", a, b), kwargs
    yield np.einsum, (a, [0, 1], b, [1, 2]), {}


def _norms():
    orders = (None, 1, 2, 2.0, np.inf, -np.inf, "fro", "nuc", 3, 0)
    shapes = ((3,), (), (0,), (2, 3), (2, 0, 3), (2, 3, 4))
    axes = (None, 0, -1, 1, (1,), (0, 1), (-1, 0), (0, 1, 2), 5)
    for dtype, shape, order in itertools.product(COMPILED_DTYPES, shapes, orders):
        for axis, keepdims in itertools.product(axes, (False, True)):
            x = array(dtype, shape)
            yield np.linalg.norm, (x,), {"ord": order, "axis": axis, "keepdims": keepdims}
    yield np.linalg.norm, (array("float32", (2, 3)),), {}


def _traces():
    for dtype, shape in itertools.product(COMPILED_DTYPES, ((3,), (3, 3), (2, 5), (4, 2), (0, 3))):
        x = array(dtype, shape)
        yield np.trace, (x,), {}
        yield method("trace"), (x,), {}
    x = array("float64", (3, 4))
    yield np.trace, (x, 1), {}
    yield np.trace, (x,), {"dtype": "float32"}
    yield np.trace, (x, 0, 0, 1), {}


PRODUCTS = {
    "inner": [((3, 4), (5, 4)), ((4,), (3, 4)), ((3, 4), (4,)), ((3, 0), (2, 0))],
    "vdot": [((3, 4), (3, 4)), ((4,), (4,)), ((3, 4), (2, 6)), ((0, 2), (0,))],
    "matvec": [((3, 4), (4,)), ((2, 3, 4), (4,)), ((3, 0), (0,))],
    "vecmat": [((3,), (3, 4)), ((3,), (2, 3, 4)), ((0,), (0, 4))],
    "vecdot": [((4,), (4,)), ((3, 4), (3, 4)), ((3, 4), (4,)), ((4,), (3, 4)), ((3, 1, 4), (2, 4))],
}
"""Shapes of the operands of rows of products."""
RARE_PRODUCTS = {
    "inner": [((4,), (4,)), ((2, 3, 4), (5, 4)), ((3, 4), (4, 5)), ((), (3,))],
    "vdot": [((3, 4), (3, 5)), ((), (1,))],
    "matvec": [((3, 4), (3, 4)), ((2, 3, 4), (2, 4)), ((4,), (4,))],
    "vecmat": [((2, 3), (2, 3, 4)), ((4,), (4,))],
    "vecdot": [((3, 4), (3, 5)), ((3, 4), ())],
}
"""Those that are NumPy's, or nobody's."""


def _products(name):
    def generate():
        row = ROWS[name]
        for dtype, function in itertools.product(COMPILED_DTYPES, row.spellings):
            for shapes in (*PRODUCTS[name], *RARE_PRODUCTS[name]):
                yield function, tuple([array(dtype, s, n) for n, s in enumerate(shapes)]), {}
        a, b = (array("float32", s, n) for n, s in enumerate(PRODUCTS[name][0]))
        yield row.numpy, (a, b.astype("float64")), {}
        yield row.numpy, (a, b.astype("int32")), {}
        if name == "vecdot":
            yield row.numpy, (a, a), {"axis": -1}
            yield row.numpy, (a, a), {"axis": 0}

    return generate


def _covariances():
    for dtype, shape in itertools.product(COMPILED_DTYPES, ((3, 5), (4,), (1, 3), (3, 1), (2, 2))):
        for rowvar, ddof in itertools.product((True, False), (None, 0, 2)):
            yield np.cov, (array(dtype, shape),), {"rowvar": rowvar, "ddof": ddof}
    x = array("float64", (3, 5))
    yield np.cov, (x, None, False, True), {}
    yield np.cov, (x, x), {}
    yield np.cov, (x,), {"aweights": np.arange(5.0)}
    yield np.cov, (x,), {"dtype": "float32"}


_SPECIAL = {
    **{name: _products(name) for name in PRODUCTS},
    "cov": _covariances,
    "contract": _contractions,
    "norm": _norms,
    "trace": _traces,
    "power": lambda: (c for c in _powers() if c[0] is np.power),
    "pow": lambda: (c for c in _powers() if c[0] is not np.power),
    "where": _where,
    "clip": _clip,
    "round": _round,
    "cast": _cast,
    "copy": _copy,
    "contiguous_copy": _contiguous_copy,
    "zeros": lambda: _create(np.zeros),
    "ones": lambda: _create(np.ones),
    "empty": lambda: _create(np.empty),
    "full": _full,
    "zeros_like": lambda: _like(np.zeros_like),
    "ones_like": lambda: _like(np.ones_like),
    "empty_like": lambda: _like(np.empty_like),
    "full_like": _full_like,
    "arange": _arange,
    "diff": _differences,
    "nan_to_num": _replacements,
    "concatenate": _joins(np.concatenate),
    "stack": _joins(np.stack),
    "array": _lists,
    "linspace": _linspace,
    "eye": _matrices(np.eye),
    "tri": _matrices(np.tri),
    "identity": _identities,
}
