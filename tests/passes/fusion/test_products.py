"""Diagonals of products and steps of power iterations. Oracles: undecorated Python, on whole
numbers, whose sums are exact; sums in float64, with the bound of the product.
"""

import numpy as np
import pytest

import runmat_jit as runmat


def whole(shape, dtype, seed):
    return np.random.default_rng(seed).integers(-4, 5, shape).astype(dtype)


def kinds_of(fn, *arguments):
    decorated = runmat.jit(fn)
    for _ in range(3):
        found = decorated(*arguments)
    expected = fn(*arguments)
    assert (np.shape(found), np.asarray(found).dtype) == (np.shape(expected), expected.dtype)
    assert np.allclose(found, expected, rtol=1e-5)
    return decorated.explain(*arguments).kinds


DIAGONALS = {
    "np.diag": lambda a, b: np.diag(a @ b) + 1,
    "diagonal": lambda a, b: (a @ b).diagonal() * 2,
    "np.trace": lambda a, b: np.trace(a @ b),
    "trace": lambda a, b: (a @ b).trace() * 2,
    "transposed": lambda a, b: np.trace(b.T @ a.T),
    "sliced": lambda a, b: np.diag(a[::-1, 1:] @ b[1:, ::2]) + 1,
    "computed": lambda a, b: np.diag((a + 1) @ (b * 2)) - 1,
    "dot": lambda a, b: np.dot(a, b).trace(),
}


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", [(30, 40, 30), (50, 9, 20), (7, 60, 33), (3, 5, 4)])
@pytest.mark.parametrize("name", DIAGONALS)
def test_a_diagonal_takes_no_product(name, shape, dtype):
    rows, terms, columns = shape
    a, b = whole((rows, terms), dtype, 1), whole((terms, columns), dtype, 2)
    fn = DIAGONALS[name]
    assert np.array_equal(runmat.jit(fn)(a, b), fn(a, b))
    kinds = kinds_of(fn, a, b)
    assert not {"host", "product", "matmul_epilogue"} & set(kinds)


def test_diagonals_that_cancel_stay_within_the_bound_of_any_order():
    rng = np.random.default_rng(3)
    a = (rng.standard_normal((40, 300)) * 10.0 ** rng.integers(-6, 6, (40, 300))).astype(np.float32)
    b = rng.standard_normal((300, 40)).astype(np.float32)
    a[:, 150:], b[150:] = a[:, :150], -b[:150]
    found = runmat.jit(lambda a, b: np.diag(a @ b) * 1)(a, b)
    wide = a.astype(np.float64), b.astype(np.float64)
    exact, scale = np.diag(wide[0] @ wide[1]), np.diag(abs(wide[0]) @ abs(wide[1]))
    assert (abs(found - exact) <= 300 * np.finfo(np.float32).eps * scale).all()


OTHERS = {
    "beside": lambda a, b: np.diag(a @ b, 1) * 2,
    "rows": lambda a, b: (a @ b)[0] * 2,
    "a stack": lambda a, b: np.trace(np.stack([a, a]) @ b, axis1=1, axis2=2),
    "not a product": lambda a, b: np.diag(a + b) * 2,
    "every second": lambda a, b: np.diag((a @ b)[::2, ::2]) * 2,
}


@pytest.mark.parametrize("name", OTHERS)
def test_other_elements_of_products_are_numpys(name):
    a, b = (whole((30, 30), np.float64, seed) for seed in (1, 2))
    fn = OTHERS[name]
    assert np.array_equal(runmat.jit(fn)(a, b), fn(a, b))
    assert "explained_variance" not in kinds_of(fn, a, b)


def test_a_diagonal_that_is_returned_is_a_view_of_the_product():
    a, b = (whole((30, 30), np.float64, seed) for seed in (1, 2))
    found = runmat.jit(lambda a, b: np.diag(a @ b))(a, b)
    assert found.base is not None
    assert not found.flags.writeable


VARIANCES = {
    "diag": lambda q, g: np.diag(q.T @ (g @ q)) * 2,
    "sum": lambda q, g: np.sum(q * (g @ q), axis=0),
    "turned": lambda q, g: (q.T * (g @ q).T).sum(axis=1),
    "einsum": lambda q, g: np.einsum("ij,ij->j", q, g @ q),
}


@pytest.mark.parametrize("name", VARIANCES)
def test_explained_variances_have_their_name(name):
    q, g = whole((60, 50), np.float64, 1), whole((60, 60), np.float64, 2)
    assert kinds_of(VARIANCES[name], q, g)[-1] == "explained_variance"


STEPS = {
    "norm": lambda q: q / np.linalg.norm(q, axis=0),
    "root of squares": lambda q: q / np.sqrt((q * q).sum(axis=0)),
    "largest": lambda q: q / np.abs(q).max(),
    "kept": lambda q: q / np.sqrt(np.sum(q**2, axis=0, keepdims=True) + 1e-9),
}
NO_STEPS = {
    "of another": lambda q, g: q / np.linalg.norm(g, axis=0)[: q.shape[1]],
    "subtracted": lambda q, _g: q - q.max(axis=0),
    "scaled": lambda q, g: q / (np.linalg.norm(q, axis=0) * (np.abs(g[0, : q.shape[1]]) + 1)),
}


@pytest.mark.parametrize("columns", [1, 8])
@pytest.mark.parametrize("name", STEPS)
def test_steps_of_a_power_iteration_have_their_name(name, columns):
    g, q = whole((60, 60), np.float64, 1), whole((60, columns), np.float64, 2)
    step = STEPS[name]
    assert kinds_of(lambda g, q: step(g @ q), g, q)[-1] == "power_step_normalize"
    assert "power_step_normalize" not in kinds_of(lambda g, q: step(g[:, :40] @ q[:40]), g, q)
    assert "power_step_normalize" not in kinds_of(lambda _g, q: step(q + 1), g, q)


@pytest.mark.parametrize("name", NO_STEPS)
def test_what_only_looks_like_a_step_has_another_name(name):
    g, q = whole((60, 60), np.float64, 1), whole((60, 8), np.float64, 2)
    other = NO_STEPS[name]
    assert "power_step_normalize" not in kinds_of(lambda g, q: other(g @ q, g), g, q)
