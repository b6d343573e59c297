"""Byte strides of new arrays, those of axes with one element or none included. Oracle: NumPy's."""

import linecache
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import runmat_jit as runmat
from tests.ops.calls import CALLED

OPERATORS = "x + y, x - 1, 2 * x, x / z, x // y, x % 3, x ** 2, x ** y, -x, abs(x), x < y, x == 0"
UFUNCS = {ufunc for row in CALLED for ufunc in row.spellings if isinstance(ufunc, np.ufunc)}
EXPRESSIONS = {
    "operators": OPERATORS.split(", "),
    "functions of one array": [
        f"np.{u.__name__}({x})"
        for u in sorted(UFUNCS, key=lambda u: u.__name__)
        if u.nin == 1
        for x in (
            "i" if u.types == ["?->?"] or "d->d" not in u.types and "d->?" not in u.types else "x",
        )
    ],
    "functions of two arrays": [
        f"np.{u.__name__}({operands})"
        for u in sorted(UFUNCS, key=lambda u: u.__name__)
        if u.nin == 2
        for operands in (
            ["x, y", "x, 2.0"] if "dd->d" in u.types or "dd->?" in u.types else ["i, i", "i, 3"]
        )
    ],
    "choices": [
        "np.clip(x, 1, 3)",
        "np.clip(x, y, 3)",
        "np.clip(x, 1, y)",
        "np.clip(x, y, z)",
        "np.clip(z, z * 0, 3)",
        "np.clip(i, 1, 3.5)",
        "x.clip(x * 0, 3)",
        "x.clip(min=y)",
        "x.clip(max=2)",
        "np.where(x > 1, x, 0)",
        "np.where(x > y, x, y)",
        "np.where(m, z, x)",
        "np.where(m, 1, 2.0)",
        "np.minimum(np.maximum(x, y), z)",
    ],
    "conversions": [
        "x.astype('f4')",
        "x.astype('i8')",
        "x.astype(bool)",
        "x.astype('f4', 'C')",
        "x.copy()",
        "x.copy('K')",
        "np.copy(x)",
        "np.array(x)",
        "np.ascontiguousarray(x)",
        "np.nan_to_num(x)",
        "np.round(x, 1)",
        "x.round()",
        "np.zeros_like(x)",
        "np.ones_like(x, dtype='f4')",
        "np.full_like(x, 2)",
        "np.real(x) + 0",
        "np.negative(x, dtype='f4', casting='unsafe')",
    ],
    "reductions": [
        f"x.{name}({arguments})"
        for name in ("sum", "max", "mean", "argmin", "any", "cumsum", "std")
        for arguments in ("axis=0", "axis=-1", "axis=1", "axis=0, keepdims=True")
        if name != "cumsum" or "keepdims" not in arguments
    ],
    "orders that are asked for": [
        f"{call}, order={order!r})"
        for call in (
            "np.add(x, y",
            "np.sin(x",
            "np.copy(x",
            "(x * 2).astype('f4'",
            "np.array(x * 2",
        )
        for order in "CFAK"
    ]
    + [f"(x + 1).copy({order!r})" for order in "CFAK"]
    + [
        "np.zeros_like(x, order='F')",
        "np.ones(x.shape, order='F')",
        "np.asfortranarray(x * 2)",
        "np.require(x * 2, requirements='F')",
        "(x * 2).flatten('F')",
        "(x * 2).ravel('F')",
        "(x * 2).reshape((1, -1), order='F')",
        "np.full((2, 3), 1.5, order='F')",
    ],
    "host calls": [
        "np.sort(x, axis=0)",
        "np.argsort(x, axis=0)",
        "np.partition(x, 0, axis=0)",
        "np.fft.fft(x, axis=0)",
        "np.fft.rfft(x, axis=1)",
        "np.median(x, axis=0)",
        "np.percentile(x, 50, axis=0)",
        "np.tile(x, 2)",
        "np.repeat(x, 2, axis=0)",
        "np.rot90(x)",
        "np.tril(x)",
        "np.pad(x, 1)",
        "np.gradient(x, axis=0)",
        "np.outer(x, x)",
        "np.kron(x, x)",
        "np.tensordot(x, x, axes=0)",
        "x @ np.swapaxes(x, -1, -2)",
        "np.swapaxes(x, -1, -2) @ x",
        "np.einsum('...ij,...kj->...ki', x, x)",
        "np.apply_along_axis(np.sort, 0, x)",
        "np.unwrap(x, axis=0)",
        "np.cross(x[..., :1], x[..., :1])",
        "np.linalg.inv(x @ np.swapaxes(x, -1, -2) + 9 * np.eye(x.shape[-2]))",
        "np.meshgrid(x.ravel(), x.ravel())[0]",
        "np.interp(x, [0, 1], [2, 3])",
        "np.digitize(x, [0.5, 1])",
        "np.take_along_axis(x, np.zeros_like(i), axis=0)",
        "x[m]",
        "np.isclose(x, y)",
        "np.moveaxis(x, 0, -1) * 1",
        "np.vstack([x, y])",
        "np.dstack([x, y])",
        "np.array([x, y])",
        "np.einsum('...->...', x) * 2",
        "x[..., [0, 0]]",
        "x[[0, 0]]",
        "np.linalg.norm(x, axis=0)",
        "np.angle(x)",
        "(x + 1j * y)",
        "np.conj(x) + 0",
        "x.astype('c16') * 2",
        "np.select([x > 1, x > 2], [x, y])",
        "np.mod(x, 2.5).astype('f2')",
    ],
    "several steps": [
        "x.T + 1",
        "np.sqrt(abs(x.T)) * y.T",
        "(x * 2)[::-1] + 1",
        "(x + 1)[..., None] * 2",
        "(x * 2).swapaxes(0, -1) * 2",
        "(x - y).reshape(-1) * 2",
        "(x * 2).sum(axis=0) + 1",
        "x - x.mean(axis=-1, keepdims=True)",
        "np.concatenate([x, y * 2])",
        "np.stack([x, x * 2], axis=-1)",
        "np.diff(x, axis=0)",
        "np.squeeze(x * 2)",
        "np.sort(x * 2, axis=0)",
        "np.take(x, [0, 0], axis=-1)",
        "np.flip(x, 0) * 2",
        "np.roll(x, 1, axis=0)",
        "(x + y).copy()",
        "np.add(x, y, order='F')",
    ],
}


def decorated(name):
    """A function of ``x, y, z, m, i`` with the results of all expressions of a kind, or why not."""
    lines = ["def f(x, y, z, m, i):", "    results = []"]
    for text in EXPRESSIONS[name]:
        lines += ["    try:", f"        results.append({text})"]
        lines += ["    except (ValueError, IndexError, TypeError) as error:"]
        lines += ["        results.append(type(error).__name__)"]
    text, file = "\n".join([*lines, "    return results", ""]), f"<layouts of {name}>"
    linecache.cache[file] = len(text), None, text.splitlines(keepends=True), file
    namespace = {"np": np}
    exec(compile(text, file, "exec"), namespace)
    return runmat.jit(namespace["f"])


@st.composite
def operands(draw):
    """Arrays of one shape, each laid out in its own way: any order of axes, gaps, views of one."""
    shape = draw(st.lists(st.sampled_from([1, 1, 2, 3, 4, 0]), min_size=2, max_size=4))
    same = draw(st.booleans())
    how = draw(ways(len(shape)))
    arrays = []
    for dtype in ("f8", "f8", "f4", "?", "i8"):
        arrays.append(laid_out(shape, dtype, how if same else draw(ways(len(shape)))))
    return tuple(arrays)


def ways(rank):
    return st.tuples(
        st.permutations(range(rank)),
        st.lists(st.sampled_from([1, 1, 1, 2, -1]), min_size=rank, max_size=rank),
        st.lists(st.sampled_from([0, 0, 0, 1]), min_size=rank, max_size=rank),
    )


def laid_out(shape, dtype, how):
    """An array whose axes lie in an order, with steps, of memory that is larger by some."""
    order, steps, larger = how
    extents = [shape[axis] * abs(steps[axis]) + larger[axis] for axis in order]
    values = np.random.default_rng(0).integers(0, 5, extents).astype(dtype)
    array = values.transpose(np.argsort(order))
    return array[tuple(slice(None, None, step) for step in steps)][tuple(map(slice, shape))]


def seen(results):
    return [
        (each.dtype, each.shape, each.strides) if isinstance(each, np.ndarray) else type(each)
        for each in results
    ]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", EXPRESSIONS)
@settings(max_examples=-(-settings.default.max_examples // 3))
@given(arguments=operands())
def test_new_arrays_lie_as_numpys_do(name, arguments):
    function = decorated(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = seen(function.__wrapped__(*arguments))
        for _ in range(2):
            for text, ours, numpys in zip(
                EXPRESSIONS[name], seen(function(*arguments)), expected, strict=True
            ):
                assert ours == numpys, text
