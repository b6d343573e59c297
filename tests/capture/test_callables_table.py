"""Laws of the table of callables, over all rows that arguments can be made for; oracle: NumPy."""

import functools
import importlib
import itertools
import operator
import sys
import warnings

import numpy as np
import pytest

from runmat_jit.capture import callables
from runmat_jit.capture.callables import FUNCTIONS, METHODS
from runmat_jit.capture.record.calls import HANDLERS
from runmat_jit.capture.record.result_shape import shape_of
from runmat_jit.capture.tape.call_forms import attribute_of, bound_method, method_of

pytestmark = pytest.mark.sampled(3)

SHAPES = ((), (0,), (3,), (2, 3), (3, 0), (2, 3, 4), (1, 3))
DTYPES = ("f8", "f4", "i4", "u1", "?", "c16")
SPECIAL = {"f": (np.nan, np.inf, -np.inf, -0.0, 5e-324), "i": (0, -1, 1), "u": (0, 255), "b": (0,)}
NUMERIC = ("numpy", "operator")
LIMIT = 0.7


def all_callables():
    """Name, callable and row of every function and method that computes with arrays."""
    found = {}
    for where in dict.fromkeys(row.where for row in FUNCTIONS):
        if where.partition(".")[0] in NUMERIC and where != "numpy.random":
            for value, callee in callables.members(where, importlib.import_module(where)):
                found.setdefault(f"{where}.{value.__name__}", (value, callee))
    for row in METHODS:
        make = {"ndarray": method_of, "ndarray attributes": attribute_of}.get(row.where)
        if row.where == "ufunc":
            make = functools.partial(bound_method, np.add)
            found["ufunc add"], found["ufunc exp"] = ((u, row.callee) for u in (np.add, np.exp))
        for name in row.names.split() if make else ():
            if name != "__call__":
                found[f"{row.where}.{name}"] = make(name), row.callee
    return found


ALL = all_callables()


def array(shape, dtype, order="C", seed=0):
    values = np.random.default_rng(seed).integers(1, 4, size=shape)
    return np.asarray(values, dtype=dtype, order=order)


def arguments():
    """Arguments that most functions take some of."""
    v, m, i = array(3, "f8"), array((3, 3), "f8") + 5 * np.eye(3), array(3, "i8")
    b, f = v > 1, np.asfortranarray(m)
    yield from ((v,), (m,), (i,), (f,), (b,), (v, v), (m, m), (m, v), (i, i), (b, b), (v, 1))
    yield from ((2,), (2, 2), (v, i), (m, i), (v, v, v), (b, v, v), (v, b), (v, v, 2), (v, b, v))
    yield from (("i,i", v, v), (v, i, v), (m, (3, 3)), (v, (1, 3)), (m, 0, 1), ([v, v],), (m, 1))
    yield from (("i4",), ("i4", "f8"), (v, 1, 1), (m, i[:, None] % 3, 1, 0), (v, "f4"), (1, 2, 3))
    yield from ((v, i % 2, v), (m, i % 2, 0), (m, i[:, None] % 2, 2.0, 0), (0, 2, 3), (3, v, v, 1))
    yield ((2, 3),)


def run(fn, args):
    """The result on copies, and the copies; None where the arguments do not fit."""
    args = copies(args)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            result = fn(*args)
        except Exception:
            return None
    made = result if isinstance(result, tuple) else (result,)
    told_where = any(each is a for each in made for a in args[1:] if isinstance(a, np.ndarray))
    return None if told_where else (result, args)


def copies(args):
    """Copies of the arrays, in their layout."""
    return tuple(
        a.copy(order="K") if isinstance(a, np.ndarray) else list(a) if type(a) is list else a
        for a in args
    )


def fingerprint(value):
    """All bits of arrays and numbers at every depth."""
    if isinstance(value, (tuple, list)):
        return tuple(map(fingerprint, value))
    if isinstance(value, (np.ndarray, np.generic)):
        return value.dtype.str, value.shape, repr(value.tolist())
    return repr(value)


def structure(value):
    """Dtypes, shapes and strides at every depth."""
    if isinstance(value, (tuple, list)):
        return type(value), tuple(map(structure, value))
    if isinstance(value, np.ndarray):
        return value.dtype, value.shape, value.strides
    return type(value)


@functools.cache
def calls_of(name):
    """The arguments that a callable takes."""
    fn, _ = ALL[name]
    return [args for args in arguments() if run(fn, args) is not None]


def test_most_rows_are_tested():
    tested = [name for name, (_, row) in ALL.items() if row != callables.EFFECT and calls_of(name)]
    assert len(tested) > LIMIT * len(ALL), sorted(set(ALL) - set(tested))


OF_PYTHON_3_13 = {("dataclasses", "_replace"), ("copy", "replace")}


def test_a_name_stands_in_one_row_and_means_something():
    for rows in (FUNCTIONS, METHODS):
        named = [(row.where, name) for row in rows for name in row.names.split()]
        assert len(named) == len(set(named))
    for row in FUNCTIONS:
        module = sys.modules.get(row.where)
        for name in row.names.split() if module is not None else ():
            later = sys.version_info < (3, 13) and (row.where, name) in OF_PYTHON_3_13
            assert later or "*" in name or hasattr(module, name), (row.where, name)


def test_every_row_has_a_handler_and_every_handler_a_row():
    rows = [*FUNCTIONS, *METHODS, *callables.LIBRARIES]
    assert {row.callee.follow for row in rows} == set(HANDLERS)


@pytest.mark.parametrize("name", [name for name, (_, row) in ALL.items() if row.pure])
def test_pure_callables_write_nothing_and_give_the_same_again(name):
    fn, _ = ALL[name]
    for args in calls_of(name):
        (first, seen), (second, _) = run(fn, args), run(fn, args)
        assert fingerprint(seen) == fingerprint(args)
        if not any(word in name for word in ("empty", "as_strided")):  # memory of anything
            assert fingerprint(first) == fingerprint(second)


@pytest.mark.parametrize("name", [name for name, (_, row) in ALL.items() if row.writes is not None])
def test_writers_write_the_argument_that_their_row_names_and_no_other(name):
    fn, row = ALL[name]
    written = set()
    for args in calls_of(name):
        _, after = run(fn, args)
        changed = zip(args, after, strict=True)
        written |= {n for n, (a, b) in enumerate(changed) if fingerprint(a) != fingerprint(b)}
    assert written <= {row.writes}


def special(args):
    """The same arguments with special values in the arrays."""
    kinds = [SPECIAL.get(a.dtype.kind) for a in args if isinstance(a, np.ndarray)]
    for values in itertools.islice(itertools.zip_longest(*map(itertools.cycle, kinds)), 5):
        each, made = iter(values), copies(args)
        for a in made:
            if isinstance(a, np.ndarray):
                a[...] = next(each)
        yield made


@pytest.mark.parametrize("name", [name for name, (_, row) in ALL.items() if row.cannot_raise])
def test_callables_that_cannot_raise_give_the_same_structure_for_special_values(name):
    fn, _ = ALL[name]
    for args in calls_of(name):
        if callables.cannot_raise(fn, args) and any(isinstance(a, np.ndarray) for a in args):
            wanted = structure(run(fn, args)[0])
            for others in special(args):
                found = run(fn, others)
                assert found is not None, others
                assert structure(found[0]) == wanted


def operands():
    """Operands of all shapes, dtypes and orders: one, two that broadcast, and matrices."""
    for shape, dtype, order in itertools.product(SHAPES, DTYPES, "CF"):
        x = array(shape, dtype, order)
        yield from (((x,), {}), ((x, x), {}), ((x, 1), {}), ((x, np.True_), {}), ((x, 0, x), {}))
        yield from (((x,), {"axis": axis}) for axis in (None, 0, -1))
        yield from (((x, axis), {}) for axis in (None, 0, -1))
        yield from (((x, array((3,), dtype)), {}), ((x, array((3, 2), dtype, order)), {}))
        yield from (((x, None, 2), {}), ((x > 1, x, 0), {}), ((x,), {"ndmin": 2}))


@pytest.mark.parametrize("name", [name for name, (_, row) in ALL.items() if row.result])
def test_laws_of_shapes_say_what_numpy_does(name):
    fn, row = ALL[name]
    told = 0
    for args, kwargs in operands():
        found = run(functools.partial(fn, **kwargs), args)
        if found is None:
            continue
        law = law_of(row, args, kwargs)
        assert law is None or law == np.shape(found[0]), (args, kwargs)
        told += law is not None
    assert told


def law_of(row, args, kwargs):
    shapes = [a.shape if isinstance(a, np.ndarray) else shape_of(a) for a in args]
    return row.result(shapes, kwargs)


def test_operators_that_write_are_those_with_an_equals_sign():
    assert callables.of(operator.iadd).writes == 0
    assert callables.of(operator.add).writes is None
    assert callables.of(operator.iconcat) is callables.EFFECT


def test_what_is_not_in_the_table_is_an_effect():
    for fn in (open, eval, np.save, np.frompyfunc, lambda x: x, print_like := object()):
        assert callables.of(fn) in (callables.EFFECT,), print_like
