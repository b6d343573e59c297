"""Formulas of rows for complex numbers. Oracle: the row's NumPy meaning; mpmath for functions."""

import itertools

import mpmath
import numpy as np
import pytest

from runmat_jit.core.types import COMPLEX_DTYPES, TensorType, part_dtype
from runmat_jit.ops.parts import Real, joined, parts_of
from runmat_jit.ops.spec import Weak, canonical_params
from runmat_jit.ops.table import ROWS
from tests.ops.calls import CALLED, calls
from tests.ops.operands import describe, same_bits, specials
from tests.ops.test_decompositions import Computed, make

WITH_PARTS = [row for row in ROWS.values() if row.parts is not None and row.kind == "elementwise"]
EXACT = [row for row in WITH_PARTS if row.complex_exactness == "bit-defined"]
PARAMS = {
    "cast": [{"dtype": "complex64"}, {"dtype": "complex128"}],
    "pow": [{"exponent": exponent} for exponent in range(2, 9)],
}


def computed(value):
    value = np.asarray(value)
    return Computed(TensorType(value.dtype, value.shape), value)


def by_formula(row, operands, params):
    with np.errstate(all="ignore"):
        numbers = [parts_of(make, computed(operand)) for operand in operands]
        made = row.parts(*numbers, **params)
        kind = made.node.type if isinstance(made, Real) else None
        if kind is None:
            shape = np.broadcast_shapes(np.shape(made.re.node.value), np.shape(made.im.node.value))
            kind = TensorType(np.result_type(made.re.dtype, np.complex64), shape)
        return joined(make, made, kind).value


def combined(dtype, arity, count=1500):
    """Combinations of special parts, and usual numbers, of which each is another one."""
    rng = np.random.default_rng(arity)
    special = specials(part_dtype(dtype))
    pairs = np.array(list(itertools.product(special, special)))
    found = []
    for _ in range(arity):
        values = np.empty(2 * count, dtype)
        chosen = pairs[rng.integers(0, len(pairs), count)]
        values.real[:count], values.imag[:count] = chosen.T
        usual = rng.standard_normal((count, 2)) * 10.0 ** rng.integers(-3, 4, (count, 1))
        values.real[count:], values.imag[count:] = usual.T
        found.append(values)
    return found


def loops_of(row, dtype):
    """Operands and parameters of a row, of complex numbers where it takes them."""
    chooses = row.name == "where"
    for params in PARAMS.get(row.name, [{}]):
        operands = combined(dtype, row.arity - chooses)
        if chooses:
            operands = [operands[0].real > 0, *operands]
        if row.name == "putmask":
            operands[1] = operands[1].real > 0
        if row.name == "pow":
            operands[1] = np.asarray(params["exponent"]).astype(dtype)
        yield operands, params


@pytest.mark.parametrize("dtype", COMPLEX_DTYPES, ids=str)
@pytest.mark.parametrize("row", EXACT, ids=lambda row: row.name)
def test_arithmetic_has_the_bits_of_numpy(row, dtype):
    for operands, params in loops_of(row, dtype):
        with np.errstate(all="ignore"):
            expected = row.numpy(*operands, **params)
        found = by_formula(row, operands, params)
        assert found.dtype == expected.dtype
        for part in ("real", "imag"):
            left, right = getattr(found, part), getattr(expected, part)
            assert same_bits(left.copy(), right.copy()), (row.name, params, part)


@pytest.mark.parametrize("dtype", COMPLEX_DTYPES, ids=str)
def test_the_exponential_is_within_its_bound_and_has_numpys_special_values(dtype):
    row, (operand,) = ROWS["exp"], combined(dtype, 1)
    found = by_formula(row, [operand], {})
    with np.errstate(all="ignore"):
        expected = np.exp(operand)
    special = ~(np.isfinite(operand) & np.isfinite(expected) & (np.abs(operand) < 1e4))
    for part in ("real", "imag"):
        left, right = getattr(found, part)[special], getattr(expected, part)[special]
        both = np.isnan(left) & np.isnan(right)
        unsigned = np.isinf(operand.real[special]) & ~np.isfinite(operand.imag[special])
        close = (
            np.isclose(left, right, rtol=1e-5, atol=0) | (np.abs(left) == np.abs(right)) & unsigned
        )
        large = np.abs(operand.imag[special]) > 1e4  # NumPy's own angle may be another one
        assert (both | close | large).all()
    info = np.finfo(part_dtype(dtype))
    for x, made in list(zip(operand, found, strict=True))[len(operand) // 2 :: 7]:
        if abs(x.real) > 80:
            continue
        exact = mpmath.exp(mpmath.mpc(complex(x)))
        error = abs(mpmath.mpc(complex(made)) - exact) / abs(exact)
        assert error <= 2 * info.eps, x


def test_magnitudes_are_within_the_bound_of_hypotenuses():
    (operand,) = combined(np.dtype(complex), 1)
    found = by_formula(ROWS["absolute"], [operand], {})
    with np.errstate(all="ignore"):
        assert same_bits(found, np.hypot(operand.real, operand.imag))


def test_angles_are_those_of_the_parts():
    (operand,) = combined(np.dtype(complex), 1)
    found = by_formula(ROWS["angle"], [operand], {})
    with np.errstate(all="ignore"):
        assert same_bits(found, np.angle(operand))
    assert ROWS["angle"].bind((operand,), {"deg": True}) is None


@pytest.mark.parametrize("name", ["sum", "mean"])
@pytest.mark.parametrize("dtype", COMPLEX_DTYPES, ids=str)
def test_reductions_add_up_each_part(name, dtype):
    row, rng = ROWS[name], np.random.default_rng(3)
    x = (rng.standard_normal((4, 5)) + 1j * rng.standard_normal((4, 5))).astype(dtype)
    for axis, keepdims in itertools.product((None, 0, 1, (0, 1)), (False, True)):
        params = {"axis": axis, "keepdims": keepdims, "dtype": None}
        kind = TensorType(x.dtype, x.shape)
        result = row.result((kind,), params)
        canonical = canonical_params(row, params, (kind,))
        more = {}
        if name == "mean":
            count = x.size if axis is None else np.size(x) // np.sum(x, axis=axis).size
            more["count"] = Real(make, computed(np.asarray(count, part_dtype(x.dtype))))
        parts = row.parts(parts_of(make, computed(x)), kind=result.type, **canonical, **more)
        found = joined(make, parts, result.type).value
        np.testing.assert_allclose(found, row.numpy(x, **params), rtol=1e-5)
        assert result.type.dtype == dtype


def as_complex(value):
    """The same of complex numbers: arrays of floats, in containers too."""
    if isinstance(value, np.ndarray | np.generic) and value.dtype == np.float64:
        return value.astype(complex)
    return type(value)(map(as_complex, value)) if type(value) in (list, tuple) else value


MOVES = ("move", "create", "gather", "structure", "host")


@pytest.mark.parametrize("row", CALLED, ids=lambda row: row.name)
def test_a_rule_covers_complex_numbers_only_where_kernels_can(row):
    """By a formula of their parts, or because they are moved as they are."""
    for (_, args, kwargs), change in itertools.product(calls(row), (tuple, as_complex)):
        bound = row.bind(change(args), kwargs)
        kinds = () if bound is None else tuple(map(describe, bound.operands))
        found = None if bound is None else row.result(kinds, bound.params)
        if found is not None and "c" in {d.kind for d in (found.type.dtype, *found.operand_dtypes)}:
            assert row.parts or row.kind in MOVES or "copy" in row.name, (args, kwargs)


def test_what_no_formula_covers_is_left_to_numpy():
    """Orders of complex numbers, a part that is lost, and NumPy's own scalars."""
    z, r = TensorType(np.dtype(complex), (3,)), TensorType(np.dtype(float), (3,))
    single = TensorType(np.dtype(complex), ())
    for name in ("less", "maximum", "floor_divide", "sign", "logical_and", "tan", "rint"):
        row = ROWS[name]
        assert row.result((z,) * row.arity, {}) is None, name
    assert ROWS["cast"].result((z,), {"dtype": "float64"}) is None
    assert ROWS["cast"].result((r,), {"dtype": "complex64"}) is not None
    assert ROWS["add"].result((single, single), {}) is None
    assert ROWS["prod"].result((z,), {"axis": None, "keepdims": False, "dtype": None}) is None
    assert ROWS["pow"].result((z, Weak(int)), {"exponent": 9}) is None
    assert ROWS["pow"].result((z, Weak(float)), {"exponent": 2.0}) is None
