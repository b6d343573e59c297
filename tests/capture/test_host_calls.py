"""NumPy and library functions that no row covers, and special spellings; oracle: plain Python."""

import numpy as np
import pytest
import scipy.interpolate
import scipy.linalg
import scipy.signal
import scipy.special

import runmat_jit as runmat
from tests.capture.behavior import check

PROGRAMS = []


def program(fn):
    PROGRAMS.append(fn)
    return fn


def square(rng):
    return (rng.normal(size=(4, 4)) + 4 * np.eye(4),)


@program
def matrix_products(a):
    return (
        a @ a,
        a @ a[0],
        a.dot(a),
        np.dot(a[0], a[1]),
        np.matmul(a, a.T),
        np.vdot(a, a),
        a[0] @ a[1],
    )


@program
def products_after_writes(a):
    a[0] = 1
    b = a @ a
    b += a
    a[1:] = b[1:]
    return a @ b, np.outer(a[0], b[0])


@program
def linear_algebra(a):
    q, r = np.linalg.qr(a)
    u, s, vt = np.linalg.svd(a)
    return (
        np.linalg.inv(a),
        np.linalg.solve(a, a[0]),
        np.linalg.det(a),
        np.abs(q @ r - a).max() < 1e-9,
        s * 2,
        np.linalg.norm(a),
        np.linalg.eigvalsh(a + a.T),
        np.linalg.matrix_rank(a),
        np.linalg.cholesky(a @ a.T),
    )


@program
def transforms(a):
    f = np.fft.fft(a[0])
    return (
        np.abs(f),
        f.real * 2,
        np.fft.ifft(f).real,
        np.fft.rfft(a, axis=0).shape,
        np.fft.fftshift(a),
    )


@program
def library_functions(a):
    return (
        scipy.signal.lfilter([0.2, 0.3], [1, -0.5], a[0]),
        scipy.linalg.norm(a),
        scipy.special.erf(a),
        scipy.linalg.lu(a)[2] * 2,
    )


@program
def methods_of_ufuncs(a):
    b = a.copy()
    np.add.at(b, ([0, 0], [1, 1]), 1)
    return (
        np.add.reduce(a),
        np.add.reduce(a, axis=1, keepdims=True),
        np.add.accumulate(a, axis=1),
        np.multiply.outer(a[0], a[1]),
        np.maximum.reduce(a),
        np.add.reduceat(a[0], [0, 2]),
        np.logical_and.reduce(a > 0),
        b,
        np.subtract.reduce(a[0]),
    )


@program
def out_keywords(a):
    out = np.empty_like(a)
    b = np.add(a, 1, out=out)
    c = np.sqrt(np.abs(a), out)
    d = a.sum(axis=0, out=out[0])
    e = np.matmul(a, a, out=out)
    f = np.clip(a, -1, 1, out=a)
    return b is out, c is out, d.base is out, e is out, f is a, out


@program
def where_keywords(a):
    return (
        np.add(a, 1, where=a > 0, out=a.copy()),
        a.sum(where=a > 0),
        a.mean(where=a > 0),
        np.max(a, initial=-100, where=a < 0),
    )


@program
def dtype_keywords(a):
    return (
        a.sum(dtype=np.float32),
        np.add(a, 1, dtype=np.float32),
        a.mean(dtype="f4"),
        np.zeros(2, int),
    )


@program
def cumulative(a):
    return (
        a.cumsum(),
        a.cumsum(axis=0),
        np.cumprod(a, 1),
        np.diff(a),
        np.diff(a, axis=0),
        np.ediff1d(a),
    )


@program
def sorting_and_searching(a):
    b = a.copy()
    b.sort(axis=0)
    return (
        np.sort(a, axis=1),
        np.argsort(a[0]),
        b,
        np.unique(np.round(a)),
        np.searchsorted(np.sort(a[0]), a[1]),
        a.argmax(axis=1),
        np.partition(a[0], 2)[2],
        np.median(a),
        np.percentile(a, 30),
        np.bincount(np.arange(5) % 2),
        np.histogram(a, 3)[0],
    )


@program
def joining_and_splitting(a):
    return (
        np.concatenate([a, a], axis=1),
        np.stack([a[0], a[1]]),
        np.hstack([a, a]),
        np.vstack([a[0], a[1]]),
        np.split(a, 2)[1] * 2,
        np.tile(a[0], 2),
        np.repeat(a[0], 2),
        np.pad(a, 1),
        np.roll(a, 1, axis=0),
        np.append(a[0], 1.0),
        np.insert(a[0], 1, 5.0),
        np.delete(a[0], 1),
        np.meshgrid(a[0], a[1])[0] + 1,
    )


@program
def selecting(a):
    i = np.array([0, 2])
    return (
        a[i],
        a[i, i],
        a[:, i],
        a[a > 1],
        np.take(a, i, axis=1),
        np.choose([0, 1], [a[0, :2], a[1, :2]]),
        np.compress([True, False], a[0]),
        np.select([a > 1, a < 0], [a, -a]),
        np.take_along_axis(a, np.argsort(a, 1), 1),
        a.take([0, 5]),
        np.nonzero(a > 1),
        a[np.newaxis, i, ::2],
        a[[True, False, True, False]],
        np.tril(a) + np.triu(a),
        np.diag(a),
        np.trace(a),
    )


@program
def selecting_and_writing(a):
    a[a > 4] = 0
    a[[0, 1], [1, 0]] *= 2
    a[:, [0]] += 1
    np.place(a, a < 0, [9, 8])
    np.putmask(a, a > 8, a)
    np.put(a, [0, 1], [5, 6])
    a[np.ix_([0], [1, 2])] = 3
    a[..., 0] = a[0]
    return a


@program
def functions_of_creation(a):
    n = a.shape[0]
    return (
        np.zeros(n) + a[0],
        np.ones_like(a),
        np.full((2, n), a[0, 0]),
        np.eye(n) * a,
        np.linspace(0, 1, n) * a,
        np.arange(n) + a,
        np.empty((0, 3)),
        np.identity(n) @ a,
        np.array([1.0, 2]) * 2,
        np.array(a),
        np.array([a[0], a[1]]),
        np.logspace(0, 1, 3),
        np.tri(n),
        np.vander(a[0]),
        np.geomspace(1, 8, 4),
        np.zeros_like(a, dtype=int),
        np.fromstring("1 2", sep=" "),
        np.frombuffer(b"12345678", np.int64),
    )


@program
def statistics(a):
    return (
        np.var(a),
        a.std(axis=0),
        np.cov(a),
        np.corrcoef(a),
        np.average(a, weights=a[0], axis=1),
        np.ptp(a),
        np.nansum(a),
        np.nanmean(a, axis=0),
        np.quantile(a, [0.1, 0.9]),
        np.interp(0.5, [0, 1], a[0, :2]),
        np.convolve(a[0], a[1]),
        np.polyfit(np.arange(4), a[0], 1),
        np.polyval([1, 2], a),
        np.cross(a[0, :3], a[1, :3]),
        np.einsum("ij,jk->ik", a, a),
        np.tensordot(a, a),
        np.kron(a[:2, :2], a[:2, :2]),
        np.gradient(a)[0],
        np.trapezoid(a[0]),
    )


@program
def facts_of_arrays(a):
    return (
        np.shape(a),
        np.ndim(a),
        np.size(a),
        a.dtype.kind,
        np.iscomplexobj(a),
        np.isscalar(a[0, 0]),
        np.result_type(a, 1),
        np.can_cast(a.dtype, np.float32),
        np.may_share_memory(a, a[1:]),
        np.shares_memory(a, a.copy()),
        np.broadcast_shapes(a.shape, (4,)),
        a.flags.c_contiguous,
        a.itemsize,
        np.array_equal(a, a),
        np.allclose(a, a),
        np.finfo(a.dtype).eps * a,
        a.ctypes.shape[0],
        a.base is None,
        isinstance(a.data, memoryview),
    )


@program
def conversions(a):
    return (
        a.tolist(),
        a.tobytes(),
        a.astype(int),
        np.float32(a),
        a.view(np.int64),
        a.byteswap().dtype,
    )


@program
def complex_arrays(a):
    c = a + 1j * a.T
    c[0] = 1j
    c.real[1] = 2
    c.imag *= 2
    return c, c.conj().T, np.abs(c), c @ c, c.sum(), np.exp(c), c.real, c.imag + 1, c == c


@program
def records_and_dates(a):
    s = np.zeros(2, [("x", "f8"), ("y", "i4")])
    s["x"] = a[0, :2]
    d = np.datetime64("2020-01-01") + np.arange(2)
    return s, s["x"] * 2, d, np.array(["a", "b"]), np.array([a[0, 0], None], dtype=object)


@program
def text_of_arrays(a):
    return np.array2string(a, precision=2), np.format_float_positional(a[0, 0]), repr(a[0])


@program
def functional_numpy(a):
    return (
        np.apply_along_axis(np.sum, 0, a),
        np.apply_over_axes(np.sum, a, [0]),
        np.fromfunction(lambda i: i, (2,)),
    )


@program
def polynomial_and_window(a):
    p = np.polynomial.Polynomial([1, 2, 3])
    return p(a), np.hanning(4) * a, np.sinc(a), np.i0(a), np.unwrap(a[0]), np.angle(a)


@program
def host_results_are_written(a):
    s = np.sort(a, axis=1)
    s[0] = 5
    t = s.T
    t[:] = t * 2
    c = np.cumsum(a, axis=0)
    c -= a
    return s, c, a


@program
def views_from_host_calls(a):
    v = np.lib.stride_tricks.sliding_window_view(a[0], 2)
    w = np.lib.stride_tricks.as_strided(a, (2, 2), (8, 8))
    total = v.sum(axis=1)
    a[0, 0] = 50
    return total, v * 1, w + 1, np.atleast_3d(a).shape, np.require(a) is a


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("fn", PROGRAMS, ids=lambda fn: fn.__name__)
def test_programs(fn):
    check(fn, square, seeds=(0, 0, 1, 0))


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("fn", PROGRAMS, ids=lambda fn: fn.__name__)
def test_programs_on_float32(fn):
    if fn is conversions:
        pytest.skip("the size of the elements is part of the program")
    check(fn, lambda rng: (square(rng)[0].astype(np.float32),), seeds=(0, 0))


@pytest.mark.parametrize(
    "fn",
    [matrix_products, linear_algebra, transforms, cumulative, host_results_are_written],
    ids=lambda fn: fn.__name__,
)
def test_host_calls_are_replayed(fn):
    check(fn, square, replayed=True)


def test_products_after_writes_are_replayed():
    check(products_after_writes, square, replayed=True)


def test_results_of_broadcast_arrays_are_looked_at_without_numpys_warning():
    check(lambda x, y: np.broadcast_arrays(x, y), lambda: (np.ones((3, 1)), np.ones(4)))


def test_grids_and_joins_by_index_are_calls_of_numpy():
    def f(x, n):
        rows, columns = np.mgrid[0:3, 0:n]
        a, _ = np.ogrid[-1 : 1 : n * 1j, 0:2]
        return np.r_[x[:2], 0, x[2:]], np.c_[x, x + 1], rows * columns + a[0], np.s_[1:n]

    check(f, lambda rng: (rng.normal(size=4), 3), replayed=True)


def test_sliding_windows_are_views():
    def f(x):
        windows = np.lib.stride_tricks.sliding_window_view(x, 3)
        x[0] = 5.0
        return windows.mean(axis=-1), windows

    check(f, lambda rng: (rng.normal(size=9),), replayed=True)


def test_polynomials_of_the_newer_module_are_calls_of_numpy():
    def f(x):
        c = np.polynomial.polynomial.polyfit(x, x * x, 2)
        return np.polynomial.polynomial.polyval(x, c) + 1

    check(f, lambda rng: (rng.normal(size=9),), replayed=True)


def test_the_dtype_of_a_result_is_asked_for_without_a_look():
    def f(x, n):
        dtype = np.result_type(x, n, np.float32)
        return x.astype(dtype) + n, dtype

    check(f, lambda rng: (rng.normal(size=9), 2), replayed=True)
    check(f, lambda rng: (rng.normal(size=9).astype("f4"), 2), replayed=True)
    check(f, lambda rng: (rng.integers(0, 9, 9), 2.5), replayed=True)


def test_objects_of_libraries_are_called_as_they_are_now():
    made = {"f": scipy.interpolate.interp1d([0.0, 1.0], [0.0, 1.0])}

    def fn(x):
        return x * made["f"](0.5)

    decorated, x = runmat.jit(fn), np.arange(3.0)
    for scale in (1.0, 1.0, 3.0, 5.0):
        made["f"] = scipy.interpolate.interp1d([0.0, 1.0], [0.0, scale])
        np.testing.assert_array_equal(decorated(x), fn(x))


def test_methods_of_arrays_that_may_write_do():
    def fn(x):
        x.byteswap(True)
        return x + 1

    check(fn, lambda: (np.arange(3, dtype=np.int32),))
