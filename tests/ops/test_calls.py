"""Laws of readers and result rules over all rows. Oracle: NumPy, called as the user would."""

import warnings

import numpy as np
import pytest

from runmat_jit.core.types import COMPILED_DTYPES
from runmat_jit.ops.assemble import MOST_NUMBERS
from runmat_jit.ops.promotion import fits
from runmat_jit.ops.spec import Weak, canonical_params
from runmat_jit.ops.table import ROWS, row_of, row_of_method
from tests.ops.calls import CALLED, CONTRACTIONS, PRODUCTS, calls
from tests.ops.operands import describe, same_bits

pytestmark = pytest.mark.sampled(3)

NUMPY_ERRORS = (TypeError, ValueError, OverflowError, IndexError, ZeroDivisionError)
UNFILLED = ("empty", "empty_like")


def ask_numpy(function, args, kwargs):
    """NumPy's answer, or None where it refuses the call."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return function(*args, **kwargs)
        except NUMPY_ERRORS:
            return None


def covered(row, bound):
    """The rule's result, or None; numbers that do not fit are refused as capture does."""
    if bound is None:
        return None
    operands = tuple(map(describe, bound.operands))
    result = row.result(operands, bound.params)
    if result is None:
        return None
    for value, dtype in zip(bound.operands, result.operand_dtypes, strict=True):
        if isinstance(describe(value), Weak) and not fits(value, dtype):
            return None
    return result


@pytest.mark.parametrize("row", CALLED, ids=lambda row: row.name)
def test_a_rule_gives_what_numpy_gives_or_leaves_the_call_to_numpy(row):
    seen = 0
    for function, args, kwargs in calls(row):
        bound = row.bind(args, kwargs)
        result = covered(row, bound)
        if result is None:
            continue
        seen += 1
        call = f"{function.__name__}{args}{kwargs}"
        expected = ask_numpy(function, args, kwargs)
        assert expected is not None, f"NumPy refuses {call}"
        assert (expected.dtype, expected.shape) == (result.type.dtype, result.type.shape), call
        assert len(result.operand_dtypes) == len(bound.operands), call
        if result.type.shape == ():
            scalars = not any(isinstance(value, np.ndarray) for value in bound.operands)
            scalar = row.zero_d == "scalar" or (row.zero_d == "same" and scalars)
            assert isinstance(expected, np.generic) == scalar, call
    assert seen > 0


@pytest.mark.parametrize("row", CALLED, ids=lambda row: row.name)
def test_a_bound_call_is_the_original_call(row):
    for function, args, kwargs in calls(row):
        bound = row.bind(args, kwargs)
        result = covered(row, bound)
        if result is None:
            continue
        call = f"{function.__name__}{args}{kwargs}"
        expected = ask_numpy(function, args, kwargs)
        meant = ask_numpy(row.numpy, bound.operands, bound.params)
        cast = [
            np.asarray(value).astype(dtype)
            for value, dtype in zip(bound.operands, result.operand_dtypes, strict=True)
        ]
        operands = tuple(map(describe, bound.operands))
        canonical = canonical_params(row, bound.params, operands)
        in_graph = np.asarray(ask_numpy(row.numpy, cast, canonical))
        assert (in_graph.dtype, in_graph.shape) == (result.type.dtype, result.type.shape), call
        if row.name not in UNFILLED:
            assert same(row, meant, expected), call
            assert same(row, in_graph, expected), call


def same(row, found, expected):
    """Equal bits; of an *ours* row NumPy itself gives others for scalars than for arrays."""
    if row.exactness == "ours":
        return np.allclose(found, expected, rtol=1e-6, atol=0, equal_nan=True)
    return same_bits(found, expected)


@pytest.mark.parametrize("row", CALLED, ids=lambda row: row.name)
def test_what_numpy_accepts_is_covered_or_a_listed_exception(row):
    missed = []
    for function, args, kwargs in calls(row):
        bound = row.bind(args, kwargs)
        if covered(row, bound) is not None:
            continue
        expected = ask_numpy(function, args, kwargs)
        if expected is None or not understood(row, args, kwargs, expected):
            continue
        if not any(exception(row, function, args, kwargs) for exception in EXCEPTIONS):
            missed.append(f"{function.__name__}{args}{kwargs}")
    assert missed == []


def understood(row, args, kwargs, expected):
    """Whether only covered dtypes and Python numbers with an array are involved."""
    tensors = [v for v in (*args, *kwargs.values()) if isinstance(v, (np.ndarray, np.generic))]
    dtypes = [value.dtype for value in (*tensors, np.asarray(expected))]
    creates = row.kind == "create"
    return all(d in COMPILED_DTYPES for d in dtypes) and (bool(tensors) or creates)


def _is_0d(value):
    return np.ndim(value) == 0


def integer_scalars(row, function, args, kwargs):
    """NumPy's operators on integer scalars warn of overflow: its own business."""
    warns = (*"add subtract multiply negative absolute floor_divide remainder pow".split(),)
    return row.name in warns and all(map(_is_0d, args)) and _kinds(args) <= set("ib")


def _kinds(args):
    return {np.asarray(value).dtype.kind for value in args}


def products_of_floats(row, function, args, kwargs):
    """NumPy's order of multiplication decides between 0, infinity and NaN."""
    if row.name != "prod":
        return False
    wanted = kwargs.get("dtype", args[2] if len(args) > 2 else None)
    return (np.asarray(args[0]).dtype if wanted is None else np.dtype(wanted)).kind == "f"


def unusual_keywords(row, function, args, kwargs):
    """Keywords with which a row is never compiled."""
    unusual = {"where", "order", "casting", "dtype", "decimals", "shape", "copy"}
    named = {"sum", "nansum", "prod", "mean", "cast", "zeros", "ones", "empty", "full", "arange"}
    like = row.name.endswith("_like")
    if row.name in named or like:
        unusual -= {"dtype"}
    return any(name in kwargs for name in unusual) or (row.name == "cast" and len(args) > 2)


def integer_powers(row, function, args, kwargs):
    """An integer to a negative power raises, so only known exponents are covered."""
    return row.name in ("power", "pow") and _kinds(args) <= set("ib")


def quick_powers(row, function, args, kwargs):
    """``**`` takes square, reciprocal and sqrt, which differ for bools and for scalars."""
    return row.name == "pow" and all(map(_is_0d, args)) and args[1] in (2, -1, 0.5)


def nothing_reduced(row, function, args, kwargs):
    """Reductions over no axis, or of 0-d values."""
    axes = [kwargs.get("axis"), *args[1:2]]
    none = any(isinstance(axis, tuple) and not axis for axis in axes)
    return row.kind == "reduce" and (_is_0d(args[0]) or none)


def empty_extremes(row, function, args, kwargs):
    """No elements: an extreme raises, a mean warns, unless the result is empty too."""
    named = ("max", "min", "argmax", "argmin", "mean", "average", "var", "std", "ptp")
    return row.name in named and args[0].size == 0


def narrowing_accumulators(row, function, args, kwargs):
    """Casts inside a reduction that lose values, or sum bools as bools."""
    dtype = kwargs.get("dtype", args[2] if len(args) > 2 else None)
    if row.kind not in ("reduce", "scan") or dtype is None:
        return False
    to_bool, from_float = np.dtype(dtype) == bool, args[0].dtype.kind == "f"
    integer_mean = row.name == "mean" and np.dtype(dtype).kind == "i"
    return to_bool or integer_mean or (from_float and not np.can_cast(args[0].dtype, dtype))


def filled_by_arrays(row, function, args, kwargs):
    """``np.full`` with an array of values, or with None."""
    return row.name in ("full", "full_like") and (args[1] is None or not _is_0d(args[1]))


def unusual_intervals(row, function, args, kwargs):
    """``arange`` of bools, of arrays, to integers from floats, and beyond 2**53."""
    exact = all(type(a) is int and abs(a) < 2**53 for a in args)
    if kwargs.get("dtype") is bool:
        return row.name == "arange"
    floats = any(type(a) is float for a in args) and "int" not in str(kwargs.get("dtype"))
    return row.name == "arange" and not exact and not floats


def unusual_joins(row, function, args, kwargs):
    """``axis=None``, and the layers of one array."""
    joins = row.name in ("concatenate", "stack")
    return joins and (kwargs.get("axis", 0) is None or isinstance(args[0], np.ndarray))


def unusual_lists(row, function, args, kwargs):
    """``np.array`` of what is no list, of many numbers, or with keywords."""
    if row.name != "array":
        return False
    is_list = isinstance(args[0], (list, tuple))
    return not is_list or bool(kwargs) or len(args[0]) > MOST_NUMBERS


def no_limits(row, function, args, kwargs):
    """``np.clip`` without limits is a copy."""
    return row.name == "clip" and all(a is None for a in (*args[1:], *kwargs.values()))


def positions_of_true(row, function, args, kwargs):
    """``np.where`` of a condition alone."""
    return row.name == "where" and len(args) == 1


def half_precision(row, function, args, kwargs):
    """NumPy computes these of bools in float16."""
    return row.name in ("signbit", "isposinf", "isneginf") and _kinds(args) == {"b"}


def no_degrees_of_freedom(row, function, args, kwargs):
    """NumPy warns where nothing is left to divide by; fractions of freedom are its own business."""
    if row.name not in ("var", "std"):
        return False
    ddof = kwargs.get("ddof", kwargs.get("correction", args[4] if len(args) > 4 else 0))
    axis = kwargs.get("axis", args[1] if len(args) > 1 else None)
    axes = range(args[0].ndim) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    extents = [args[0].shape[axis] for axis in axes if -args[0].ndim <= axis < args[0].ndim]
    return ddof >= np.prod(extents) or type(ddof) is float


def known_means(row, function, args, kwargs):
    """Deviations from a mean that is given, and two names for one thing."""
    return "mean" in kwargs or kwargs.keys() >= {"ddof", "correction"}


def weighted_means(row, function, args, kwargs):
    """An average with weights."""
    return row.name == "average" and "weights" in kwargs


def truth_values_as_axes(row, function, args, kwargs):
    """``axis=True``, which NumPy takes for 1 where it asks for an index."""
    axes = kwargs.get("axis"), *args[1:2]
    return row.name == "average" and any(axis is True for axis in axes)


def counts_of_all(row, function, args, kwargs):
    """NumPy counts all elements in a number of Python."""
    all_of_them = kwargs.get("axis", args[1] if len(args) > 1 else None) is None
    return row.name == "count_nonzero" and all_of_them


def short_axes(row, function, args, kwargs):
    """Differences of no more elements than are taken off, of many, or of none."""
    if row.name != "diff":
        return False
    n = kwargs.get("n", args[1] if len(args) > 1 else 1)
    return n in (0, 4) or n >= min(args[0].shape, default=0)


def scans_of_numbers(row, function, args, kwargs):
    """NumPy makes arrays of one element of them."""
    return row.kind == "scan" and _is_0d(args[0])


def unusual_axes(row, function, args, kwargs):
    """``accumulate`` takes a tuple of one axis, and none of one axis."""
    return row.name.endswith("_accumulate") and type(kwargs.get("axis", 0)) is not int


def extremes_of_other_dtypes(row, function, args, kwargs):
    """Running extremes of what is cast first."""
    dtype = kwargs.get("dtype", args[2] if len(args) > 2 else None)
    extreme = row.name in ("maximum_accumulate", "minimum_accumulate")
    return extreme and dtype is not None and dtype != args[0].dtype


def ends(row, function, args, kwargs):
    """Differences of what is put before or behind."""
    return row.name == "diff" and "prepend" in kwargs


def copies(row, function, args, kwargs):
    """Integers have nothing to replace."""
    return row.name == "nan_to_num" and np.asarray(args[0]).dtype.kind in "ib"


def unusual_replacements(row, function, args, kwargs):
    """NaN, and numbers that do not fit."""
    if row.name != "nan_to_num":
        return False
    return any(np.isnan(value) or abs(value) > 1e100 for value in kwargs.values())


def lossy_fills(row, function, args, kwargs):
    """Floats cast to fill an array: NumPy reports events of that at a line of its own."""
    if row.name not in ("full", "full_like") or np.asarray(args[1]).dtype.kind != "f":
        return False
    kept = args[0].dtype if row.name == "full_like" else args[1]
    wanted = kwargs["dtype"] if kwargs.get("dtype") is not None else kept
    fills = isinstance(args[1], (np.ndarray, np.generic))
    return fills and wanted is not args[1] and not np.can_cast(args[1].dtype, wanted, "safe")


def rare_contractions(row, function, args, kwargs):
    """Views, axes that are repeated, of extent 1 or in another order, truth values, a path."""
    if row.name != "contract":
        return False
    written = type(args[0]) is str
    covered = written and args[0] in {subscripts for subscripts, *_ in CONTRACTIONS}
    extents = len({*args[1].shape, *args[-1].shape}) if written and args[0] == "ij,ij->i" else 2
    truth = any(np.asarray(arg).dtype == bool for arg in args[1:] if written)
    return not covered or extents == 3 or truth or "optimize" in kwargs


def other_norms(row, function, args, kwargs):
    """Of matrices, by singular values or by sums of columns, of nothing, and with other powers."""
    if row.name != "norm" or not kwargs:
        return False
    (x,), order, axis = args, kwargs["ord"], kwargs["axis"]
    count = x.ndim if axis is None else len(axis) if isinstance(axis, tuple) else 1
    matrix = count > 1 and order not in (None, "fro")
    nothing = x.size == 0 and (order in (np.inf, -np.inf) or axis is not None)
    return matrix or nothing or order in (0, 3) or x.ndim == 0


def other_traces(row, function, args, kwargs):
    """Of another diagonal, in another dtype."""
    return row.name == "trace" and (len(args) == 2 or "dtype" in kwargs)


def other_products(row, function, args, kwargs):
    """Of more axes, along another axis, of truth values."""
    if row.name not in PRODUCTS:
        return False
    rare = tuple(map(np.shape, args)) not in PRODUCTS[row.name]
    truth = all(arg.dtype == bool for arg in args)
    return rare or kwargs.get("axis") == 0 or truth


def other_covariances(row, function, args, kwargs):
    """Of one variable, of few observations, of several sets or with weights."""
    if row.name != "cov":
        return False
    (x, *more), ddof = args, kwargs.get("ddof")
    variables, count = x.shape if x.ndim > 1 else (1, 0)
    if not kwargs.get("rowvar", True):
        variables, count = count, variables
    few = count - (1 if ddof is None else ddof) <= 0
    given = bool(more) and more[0] is not None
    return variables < 2 or few or given or not {"rowvar", "ddof"} >= kwargs.keys()


EXCEPTIONS = (
    rare_contractions,
    other_products,
    other_covariances,
    other_norms,
    other_traces,
    no_degrees_of_freedom,
    known_means,
    weighted_means,
    truth_values_as_axes,
    counts_of_all,
    short_axes,
    scans_of_numbers,
    unusual_axes,
    extremes_of_other_dtypes,
    ends,
    copies,
    unusual_replacements,
    lossy_fills,
    positions_of_true,
    half_precision,
    integer_scalars,
    unusual_keywords,
    integer_powers,
    quick_powers,
    nothing_reduced,
    empty_extremes,
    narrowing_accumulators,
    filled_by_arrays,
    unusual_intervals,
    unusual_joins,
    unusual_lists,
    no_limits,
    products_of_floats,
)


def test_every_exception_is_needed():
    """Each alone explains why some call is left to NumPy."""
    needed = set()
    for row in CALLED:
        for function, args, kwargs in calls(row):
            reasons = [each for each in EXCEPTIONS if each(row, function, args, kwargs)]
            if len(reasons) != 1 or reasons[0] in needed:
                continue
            expected = ask_numpy(function, args, kwargs)
            uncovered = covered(row, row.bind(args, kwargs)) is None
            if uncovered and expected is not None and understood(row, args, kwargs, expected):
                needed.add(reasons[0])
    assert needed == set(EXCEPTIONS)


@pytest.mark.parametrize("row", CALLED, ids=lambda row: row.name)
def test_every_spelling_finds_its_row(row):
    assert all(row_of(spelling) is row for spelling in row.spellings)
    assert all(row_of_method(name) is row for name in row.methods)


def test_what_is_no_row_is_not_found():
    assert row_of(np.geomspace) is None
    assert row_of_method("tolist") is None
    assert row_of([].append) is None


class Opaque:
    """A traced value: whoever looks at it is wrong."""

    __hash__ = None

    def _refuse(self, *args):
        raise AssertionError("a reader looked at an operand")

    __eq__ = __ne__ = __lt__ = __bool__ = __len__ = __iter__ = __index__ = __float__ = _refuse
    __array__ = __getitem__ = __add__ = __abs__ = _refuse


@pytest.mark.parametrize("row", [r for r in CALLED if r.arity], ids=lambda row: row.name)
def test_readers_do_not_look_at_operands(row):
    x = Opaque()
    if row.name in ("concatenate", "stack", "array"):
        args = ([x, x],)
    elif row.name == "contract":
        args = ("ij,jk->ik", x, x)
    elif row.kind == "create":
        args = ((2,), x)[: 1 + row.arity] if "like" not in row.name else (x,) * row.arity
    else:
        args = (x,) * abs(row.arity) + (("float32",) if row.name == "cast" else ())
        args += (None, x) if row.name == "clip" else ()
    bound = row.bind(args, {})
    assert bound is not None
    assert all(value is x for value in bound.operands)


@pytest.mark.parametrize("row", [r for r in CALLED if isinstance(r.numpy, np.ufunc)])
def test_a_destination_is_read_from_position_keyword_or_tuple(row):
    operands, out = tuple(Opaque() for _ in range(row.arity)), Opaque()
    deprecated = row.name in ("maximum", "minimum")  # in a position: NumPy warns
    assert (row.bind((*operands, out), {}) is None) == deprecated
    for args, kwargs in (
        *([] if deprecated else [((*operands, out), {}), ((*operands, (out,)), {})]),
        (operands, {"out": out}),
        (operands, {"out": (out,)}),
    ):
        bound = row.bind(args, kwargs)
        assert bound.out is out
        assert bound.operands == operands or all(
            a is b for a, b in zip(bound.operands, operands, strict=True)
        )
    assert row.bind((*operands, out), {"out": out}) is None
    assert row.bind(operands, {"out": ...}) is None
    assert row.bind(operands, {"where": Opaque()}) is None


def test_reductions_read_a_destination():
    out = Opaque()
    assert ROWS["sum"].bind((Opaque(), 0, None, out), {}).out is out
    assert ROWS["max"].bind((Opaque(),), {"out": out}).out is out
