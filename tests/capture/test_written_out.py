"""Functions of NumPy's that compute products of matrices. Oracle: undecorated Python."""

import numpy as np
import pytest

import runmat_jit as runmat
from tests.capture.behavior import check

pytestmark = pytest.mark.sampled(5)

FUNCTIONS = {
    "inner": lambda a, b, x, s: np.inner(a * 2, b) + 1,
    "inner of vectors": lambda a, b, x, s: a * np.inner(x, x + 1),
    "inner of more axes": lambda a, b, x, s: np.inner(s, b) + 1,
    "inner of another's elements": lambda a, b, x, s: np.inner(a, a),
    "vdot": lambda a, b, x, s: np.vdot(a, a - 1) * b,
    "vdot of as many elements": lambda a, b, x, s: np.vdot(a, a.T),
    "vecdot": lambda a, b, x, s: np.vecdot(a, x) - 1,
    "vecdot of rows": lambda a, b, x, s: np.linalg.vecdot(a, a + 1) - 1,
    "vecdot of vectors": lambda a, b, x, s: np.vecdot(x, x) * a,
    "vecdot along an axis": lambda a, b, x, s: np.vecdot(a, a, axis=0) - 1,
    "vecdot of stacks": lambda a, b, x, s: np.vecdot(s, a) - 1,
    "matvec": lambda a, b, x, s: np.matvec(s, x) + 1,
    "matvec of many": lambda a, b, x, s: np.matvec(s, a[:1]) + 1,
    "vecmat": lambda a, b, x, s: np.vecmat(a[:, 0].copy(), s) + 1,
    "tensordot": lambda a, b, x, s: np.tensordot(s, b, axes=([2], [1])) + 1,
    "tensordot of a number": lambda a, b, x, s: np.tensordot(a, b.T, 1) + 1,
    "tensordot of two axes": lambda a, b, x, s: np.linalg.tensordot(s, a, axes=2) + 1,
    "outer by tensordot": lambda a, b, x, s: np.tensordot(x, x, 0) + 1,
    "multi_dot": lambda a, b, x, s: np.linalg.multi_dot([a, b.T, b * 2]) + 1,
    "multi_dot of more": lambda a, b, x, s: np.linalg.multi_dot([a, b.T, b * 2, x]) + 1,
    "matrix_power": lambda a, b, x, s: np.linalg.matrix_power(a.T @ a / 40, 3) + 1,
    "matmul": lambda a, b, x, s: np.linalg.matmul(a, b.T) + 1,
    "outer": lambda a, b, x, s: np.linalg.outer(x, a[0]) + 1,
    "average": lambda a, b, x, s: a - np.average(a, axis=0),
    "weighted": lambda a, b, x, s: a - np.average(a, axis=1, weights=x * x)[:, None],
    "cov": lambda a, b, x, s: np.cov(a) + 1,
    "cov of columns": lambda a, b, x, s: np.cov(a, rowvar=False, bias=True) + 1,
    "cov with a divisor": lambda a, b, x, s: np.cov(a, None, False, ddof=3) + 1,
    "cov of two": lambda a, b, x, s: np.cov(a, a + 1) + 1,
    "cov of weights": lambda a, b, x, s: np.cov(a, aweights=x * x) + 1,
    "cov of one variable": lambda a, b, x, s: np.cov(x) + 1,
    "cov of one row": lambda a, b, x, s: np.cov(a[:1]) + 1,
    "cov of one observation": lambda a, b, x, s: np.cov(a[:, :1]),
    "cov of a dtype": lambda a, b, x, s: np.cov(a, dtype=np.float32) + 1,
    "corrcoef": lambda a, b, x, s: np.corrcoef(a) * 2,
    "corrcoef of columns": lambda a, b, x, s: np.corrcoef(a, rowvar=False) * 2,
    "into given memory": lambda a, b, x, s: np.vecdot(a, x, out=np.empty(len(a), a.dtype)),
}
WRONG = {
    "inner": lambda a, b, x, s: np.inner(a, b.T),
    "inner of vectors": lambda a, b, x, s: np.inner(x, x[1:]),
    "vdot": lambda a, b, x, s: np.vdot(a, a[1:]),
    "vecdot": lambda a, b, x, s: np.vecdot(a, x[1:]),
    "matvec": lambda a, b, x, s: np.matvec(s, x[1:]),
    "vecmat": lambda a, b, x, s: np.vecmat(x, s),
    "tensordot": lambda a, b, x, s: np.tensordot(a, b, 1),
    "multi_dot": lambda a, b, x, s: np.linalg.multi_dot([a, b, a]),
    "cov": lambda a, b, x, s: np.cov(s),
    "cov of a word": lambda a, b, x, s: np.cov(a, rowvars=False),
    "no arguments": lambda a, b, x, s: np.inner(a),
}
LAYOUTS = {
    "rows": lambda x: x,
    "columns": np.asfortranarray,
    "turned": lambda x: x[..., ::-1],
    "gaps": lambda x: np.repeat(x, 2, axis=-1)[..., ::2],
}


def given(dtype, lay):
    def make(seed):
        rng = np.random.default_rng(seed)
        shapes = ((9, 7), (5, 7), (7,), (3, 9, 7))
        return tuple([lay((rng.normal(size=shape) * 9).astype(dtype)) for shape in shapes])

    return make


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, bool, np.complex128])
@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_products_by_other_names_are_numpys(name, dtype, layout):
    check(FUNCTIONS[name], given(dtype, LAYOUTS[layout]))


@pytest.mark.parametrize("name", WRONG)
def test_errors_are_numpys(name):
    check(WRONG[name], given(np.float64, LAYOUTS["rows"]))


@pytest.mark.parametrize(
    "name",
    ["inner", "vdot", "vecdot", "vecdot of rows", "matvec", "vecmat", "tensordot", "multi_dot"]
    + ["matmul", "matrix_power", "outer", "average", "cov", "cov of columns", "corrcoef"],
)
def test_they_end_no_program(name):
    fast, args = runmat.jit(FUNCTIONS[name]), given(np.float64, LAYOUTS["rows"])(0)
    for _ in range(2):
        fast(*args)
    assert fast.explain(*args).to_dict()["host_calls"] == ()
