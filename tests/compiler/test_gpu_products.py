"""Products on a GPU. Oracle: undecorated Python, on whole numbers, whose sums are exact."""

import itertools

import numpy as np
import pytest

import runmat_jit as runmat

pytestmark = pytest.mark.usefixtures("gpu")

DTYPES = (np.float32, np.float64)


def whole(shape, dtype, seed):
    return np.random.default_rng(seed).integers(-4, 5, shape).astype(dtype)


def lain(array, layout):
    """The same matrices, lying otherwise in memory."""
    if layout == "columns":
        return np.ascontiguousarray(array.swapaxes(-1, -2)).swapaxes(-1, -2)
    if layout == "sliced":
        wide = np.zeros((*array.shape[:-1], 2 * array.shape[-1] + 3), array.dtype)
        wide[..., 2:-1:2] = array
        return wide[..., 2:-1:2]
    if layout == "reversed":
        return array[::-1].copy()[::-1]
    return array


def compare(fn, *arguments, resident=False):
    """Three calls on arguments of NumPy, or one of arrays on the device, against plain Python."""
    on_gpu, expected = runmat.jit(fn, device="gpu"), fn(*arguments)
    if resident:
        found = on_gpu(*[runmat.asarray(each, device="gpu") for each in arguments])
    else:
        for _ in range(3):
            found = on_gpu(*arguments)
    pairs = zip(found, expected, strict=True) if type(expected) is tuple else [(found, expected)]
    for ours, numpys in pairs:
        assert np.asarray(ours).dtype == numpys.dtype
        assert np.array_equal(np.asarray(ours), numpys), np.abs(np.asarray(ours) - numpys).max()
    return on_gpu.explain(*arguments).to_dict()


def kinds(report):
    return [(region["kind"], region["device"]) for region in report["regions"]]


def relu_of_product(a, b, c):
    return np.maximum(a @ b + c, 0)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        ((1, 1), (1, 1), ["map_reduce_broadcast"]),
        ((33, 17), (17, 70), ["matmul_epilogue"]),
        ((130, 64), (64, 260), ["matmul_epilogue"]),
        ((5, 7, 9), (5, 9, 6), ["matmul_epilogue"]),
        ((5, 7, 9), (9, 6), ["matmul_epilogue"]),
        ((300, 7, 9), (300, 9, 6), ["matmul_epilogue"]),
        ((2, 150, 9, 17), (17, 33), ["matmul_epilogue"]),
        ((17,), (17, 9), ["reduction"]),
        ((9, 17), (17,), ["reduction"]),
        ((40, 1), (1, 3), ["matmul_epilogue"]),
        ((3, 200), (200, 1), ["reduction"]),
        ((4, 3, 20), (20,), ["reduction"]),
        ((4, 1, 20), (4, 20, 6), ["reduction"]),
        ((70, 1028), (1028, 40), ["product", "reduction"]),
        ((70, 1031), (1031, 40), ["product", "product", "reduction"]),
        ((2, 9, 600), (600, 40), ["product", "reduction"]),
        ((40, 600), (2, 600, 9), ["product", "reduction"]),
        ((0, 4), (4, 3), ["product", "elementwise", "elementwise"]),
        ((3, 4), (4, 0), ["product", "elementwise", "elementwise"]),
        ((3, 0), (0, 2), ["matmul_epilogue"]),
        ((1, 0), (0, 2), ["reduction"]),
    ],
)
def test_products_of_all_shapes_are_kernels_with_their_epilogue(left, right, expected, dtype):
    a, b = whole(left, dtype, 1), whole(right, dtype, 2)
    c = whole((a @ b).shape[-1:] or (1,), dtype, 3)
    report = compare(relu_of_product, a, b, c)
    assert kinds(report) == [(kind, "gpu") for kind in expected]
    compare(relu_of_product, a, b, c, resident=True)


LAYOUTS = ("rows", "columns", "sliced", "reversed")


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("left", "right"), list(itertools.product(LAYOUTS, LAYOUTS)))
@pytest.mark.parametrize(("count", "size"), [(2, (19, 24, 36)), (300, (9, 7, 5))])
def test_operands_lie_as_they_like(count, size, left, right):
    rows, terms, columns = size
    a = lain(whole((count, rows, terms), np.float32, 4), left)
    b = lain(whole((count, terms, columns), np.float32, 5), right)
    c = whole(columns, np.float32, 6)
    compare(relu_of_product, a, b, c)
    compare(relu_of_product, a[0], b[1], c, resident=True)
    compare(np.matmul, a, b, resident=True)


def beside(a, b, c):
    return c - a @ b


def under(a, b, c):
    return c / np.where(a @ b > 0, np.float32(2), np.float32(4))


def down(a, b, c):
    return a @ b + c[0][:, None]


def twice(a, b, c):
    p = a @ b
    return (p + 2) * 3, p, p.sum(0)


def transposed_after(a, b, c):
    return (a @ b).T + c


def written_into(a, b, c):
    p = a @ b
    q = p + c
    p[1:3] = 7
    return p, q


def chained(a, b, c):
    return np.where((a @ b) @ c > 0, 1, np.float32(2))


def gram(a, b, c):
    return a.T @ a, a @ a.T, (b - c).T @ (b - c)


def operand_computed(a, b, c):
    return (a + 1) @ (b * c)[:, ::-1]


def in_a_branch(a, b, c):
    p = a @ b
    return p * 2 if p.max() > 3 else p + c


FORMS = (
    *(beside, under, down, twice, transposed_after, written_into, chained, gram),
    *(operand_computed, in_a_branch),
)


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.__name__)
@pytest.mark.parametrize("resident", [False, True])
def test_programs_around_products_are_pythons(form, resident):
    a, b, c = (whole((24, 24), np.float32, seed) for seed in (7, 8, 9))
    compare(form, a, b, c, resident=resident)


def test_a_mismatch_is_numpys_error():
    a, b, c = whole((3, 4), np.float32, 1), whole((5, 6), np.float32, 2), whole(6, np.float32, 3)
    with pytest.raises(ValueError, match="matmul") as plain:
        relu_of_product(a, b, c)
    with pytest.raises(ValueError, match="matmul") as ours:
        runmat.jit(relu_of_product, device="gpu")(a, b, c)
    assert str(ours.value) == str(plain.value)


def test_products_of_integers_stay_with_numpy():
    a, b, c = (whole((6, 6), np.int64, seed) for seed in (1, 2, 3))
    report = compare(relu_of_product, a, b, c)
    assert ("matmul_epilogue", "gpu") not in kinds(report)


def test_without_the_epilogue_products_are_kernels_alone():
    a, b, c = (whole((24, 24), np.float32, seed) for seed in (7, 8, 9))
    before = runmat.config().disable_fusion
    runmat.config(disable_fusion=frozenset({"matmul_epilogue"}))
    try:
        report = compare(relu_of_product, a, b, c)
    finally:
        runmat.config(disable_fusion=before)
    assert kinds(report) == [("product", "gpu"), ("elementwise", "gpu")]


@pytest.mark.parametrize("dtype", DTYPES)
def test_sums_that_cancel_stay_within_the_bound_of_any_order(dtype):
    rng = np.random.default_rng(3)
    a = (rng.standard_normal((40, 300)) * 10.0 ** rng.integers(-6, 6, (40, 300))).astype(dtype)
    b = rng.standard_normal((300, 50)).astype(dtype)
    a[:, 150:], b[150:] = a[:, :150], -b[:150]
    found = runmat.jit(lambda a, b: (a @ b) * 1, device="gpu")(a, b)
    wider = np.float64 if dtype is np.float32 else np.longdouble
    exact, scale = a.astype(wider) @ b.astype(wider), abs(a.astype(wider)) @ abs(b.astype(wider))
    assert (abs(found - exact) <= 300 * np.finfo(dtype).eps * scale).all()


def test_results_that_are_not_finite_warn_as_numpy_does():
    a, b, c = (whole((8, 8), np.float32, seed) for seed in (7, 8, 9))
    a[2, 3] = np.float32(3e38)
    with pytest.warns(RuntimeWarning, match="overflow encountered in matmul"):
        expected = relu_of_product(a, b * 100, c)
    with pytest.warns(RuntimeWarning, match="overflow encountered in matmul"):
        found = runmat.jit(relu_of_product, device="gpu")(a, b * 100, c)
    assert np.array_equal(found, expected, equal_nan=True)


@pytest.mark.parametrize("columns", [1, 2, 5])
@pytest.mark.parametrize("terms", [1, 3])
@pytest.mark.parametrize("ranks", list(itertools.product((1, 2, 3), repeat=2)), ids=str)
def test_vectors_matrices_and_stacks_have_numpys_shapes(ranks, terms, columns):
    """Also of one row, of one term, of one column."""
    for rows in (1, 4):
        left = whole((2, rows, terms)[3 - ranks[0] :], np.float32, 1)
        right = whole((2, terms, columns)[3 - ranks[1] :], np.float32, 2)
        if ranks[1] == 1:
            right = whole((terms,), np.float32, 2)
        compare(lambda a, b: a @ b + 1, left, right)
