"""``np.einsum`` in traced functions. Oracle: undecorated Python, and exact sums of floats."""

import numpy as np
import pytest

import runmat_jit as runmat
from tests.ops.calls import CONTRACTIONS

FLOATS = (np.float32, np.float64)


def whole(shape, dtype, seed):
    return np.random.default_rng(seed).integers(-3, 5, shape).astype(dtype)


def same(found, expected):
    assert type(found) is type(expected)
    assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
    assert found.strides == expected.strides
    assert np.array_equal(found, expected)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("dtype", [*FLOATS, np.int64])
@pytest.mark.parametrize(("subscripts", "shapes"), [(s, shapes) for s, *shapes in CONTRACTIONS])
def test_sums_of_whole_numbers_are_numpys(subscripts, shapes, dtype):
    def alone(*operands):
        return np.einsum(subscripts, *operands)

    def between(*operands):
        return np.einsum(subscripts, operands[0] + 1, *operands[1:]) * 2 - 1

    operands = [whole(shape, dtype, seed) for seed, shape in enumerate(shapes)]
    for plain in (alone, between):
        fast = runmat.jit(plain)
        for _ in range(3):
            same(fast(*operands), plain(*operands))


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(
    ("subscripts", "shapes"),
    [
        ("ij,jk->ik", ((40, 300), (300, 50))),
        ("bij,bij->b", ((3, 40, 50), (3, 40, 50))),
        ("ij,jk,kl->il", ((9, 200), (200, 100), (100, 7))),
    ],
)
def test_sums_that_cancel_stay_within_the_bound_of_any_order(subscripts, shapes, dtype):
    rng = np.random.default_rng(3)
    operands = [rng.standard_normal(shape) * 10.0 ** rng.integers(-6, 6, shape) for shape in shapes]
    operands = [each.astype(dtype) for each in operands]
    wide = [each.astype(np.longdouble) for each in operands]
    exact, scale = (np.einsum(subscripts, *each) for each in (wide, list(map(abs, wide))))
    found = runmat.jit(lambda *given: np.einsum(subscripts, *given))(*operands)
    terms = sum(map(np.size, operands)) // found.size + 300
    assert (abs(found - exact) <= terms * np.finfo(dtype).eps * scale).all()


def rows_of_products(a, b):
    return np.einsum("ij,ij->i", a, b).max()


def distances(points, centers):
    apart = points[:, None] - centers
    return np.einsum("ijk,ijk->ij", apart, apart).argmin(axis=1)


def chained(a, b):
    return np.einsum("ij,kj->ik", a, np.einsum("ij,jk->ik", a, b.T.copy()) @ b)


def branched(a, b):
    s = np.einsum("ij,ij->", a, b)
    return a * s if s > 0 else b - s


@pytest.mark.parametrize("plain", [rows_of_products, distances, chained, branched])
def test_programs_take_them_in(plain):
    fast = runmat.jit(plain)
    for seed in range(4):
        a, b = whole((6, 5), np.float64, seed), whole((6, 5), np.float64, seed + 9)
        same(fast(a, b), plain(a, b))
    assert fast.explain(a, b).to_dict()["host_calls"] == ()


OTHERS = {
    "views": lambda a: (np.einsum("ij->ji", a), np.einsum("ij->ij", a).base is a),
    "diagonals": lambda a: np.einsum("ii->i", a) * 2,
    "traces": lambda a: np.einsum("ii", a),
    "in columns": lambda a: np.einsum("ij,jk->ik", a.T, a.T).strides,
    "a path": lambda a: np.einsum("ij,jk->ik", a, a, optimize=True).strides,
    "turned": lambda a: np.einsum("ij,jk->ki", a, a).strides,
    "out": lambda a: np.einsum("ij,jk->ik", a, a, out=np.empty((4, 4))),
    "lists": lambda a: np.einsum(a, [0, 1], a, [1, 2]),
    "one and many": lambda a: np.einsum("ij,kj->ik", a, a[:1, :1]),
    "a number": lambda a: np.einsum("ij,->ij", a, 2.0),
    "into an operand": lambda a: (np.einsum("ij,jk->ik", a, a, out=a[:]), a)[1],
}


@pytest.mark.parametrize("name", OTHERS)
def test_what_is_not_taken_in_is_numpys(name):
    plain, a = OTHERS[name], whole((4, 4), np.float64, 1)
    fast = runmat.jit(plain)
    for _ in range(3):
        found, expected = fast(a.copy()), plain(a.copy())
        assert type(found) is type(expected)
        assert np.array_equal(
            found[0] if name == "views" else found, expected[0] if name == "views" else expected
        )


@pytest.mark.parametrize(
    "wrong",
    [
        lambda a: np.einsum("ij,jk->iz", a, a),
        lambda a: np.einsum("ij,jk", a),
        lambda a: np.einsum("ij,jk->ik", a, a[:3]),
        lambda a: np.einsum("ij->", a[0]),
    ],
)
def test_errors_are_numpys(wrong):
    a = whole((4, 4), np.float64, 1)
    with pytest.raises(ValueError) as expected:
        wrong(a)
    with pytest.raises(ValueError) as found:
        runmat.jit(wrong)(a)
    assert str(found.value) == str(expected.value)


def test_overflow_is_as_quiet_as_numpys():
    huge = np.full((3, 3), 1e200)
    assert np.isinf(runmat.jit(lambda a: np.einsum("ij,jk->ik", a, a) + 1)(huge)).all()
    assert np.isinf(runmat.jit(lambda a: np.einsum("ij,ij->i", a, a) + 1)(huge)).all()


@pytest.mark.parametrize(
    ("name", "view"),
    [("reversed", lambda a: a[::-1]), ("turned", lambda a: a.T), ("part", lambda a: a[1:, ::2])],
)
def test_traces_of_views_are_numpys_and_copy_nothing(name, view):
    a = whole((6, 6), np.float64, 1)
    fast = runmat.jit(lambda a: np.trace(view(a)) * 2)
    for _ in range(3):
        assert fast(a) == np.trace(view(a)) * 2
    assert len(fast.explain(a).to_dict()["host_calls"]) == 1, name
    taken_in = runmat.jit(lambda a: np.trace(a) * 2)
    taken_in(a)
    assert taken_in.explain(a).to_dict()["host_calls"] == ()


# -- what is not finite ----------------------------------------------------------------------------
def with_rare_values(rng, *shape):
    """Numbers, some of which are NaN, infinite or zero."""
    values, kinds = rng.standard_normal(shape), rng.random(shape)
    for kind, value in enumerate((np.nan, np.inf, -np.inf, 0.0)):
        values[(0.08 * kind < kinds) & (kinds < 0.08 * (kind + 1))] = value
    return values


@pytest.mark.parametrize("dtype", ["f8", "f4"])
@pytest.mark.parametrize(
    "subscripts", ["ij,jk,kl->il", "ij,jk,ik->i", "i,ij,j->", "ij,k->k", "ij,j->i", "ij,jk->ik"]
)
def test_what_is_not_finite_is_where_numpy_has_it(subscripts, dtype):
    """A sum that is multiplied is infinite where the sum of products is no number."""
    decorated = runmat.jit(lambda *arrays: np.einsum(subscripts, *arrays))
    extents = dict(zip("ijkl", (3, 4, 2, 3), strict=True))
    for seed in range(40):
        rng = np.random.default_rng(seed)
        letters = subscripts.partition("->")[0].split(",")
        arrays = [
            with_rare_values(rng, *(extents[x] for x in each)).astype(dtype) for each in letters
        ]
        with np.errstate(all="ignore"):
            found, expected = decorated(*arrays), np.einsum(subscripts, *arrays)
        np.testing.assert_allclose(found, expected, rtol=1e-4)
