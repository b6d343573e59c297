"""Reductions along the rows of products. Oracles, to the bit: the kernel interpreter for native
code, and the same graph with the product stored by a kernel of its own.
"""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from runmat_jit.graph.parse import parse
from runmat_jit.passes.fusion import own_products
from runmat_jit.plan.argument import Scratch
from tests.lower.execute import compiled, execute, interpreted, launches, prepared, regions
from tests.lower.test_products import CALLS, lying

REDUCTIONS = {
    "the largest": "%2 = max(%1, axis=(A,), keepdims=False)\nreturn %2 -> fresh ORDER\n",
    "a sum": "%2 = sum(%1, axis=(A,), keepdims=False, dtype='D')\nreturn %2 -> fresh ORDER\n",
    "two": "%2 = sum(%1, axis=(A,), keepdims=False, dtype='D')\n"
    "%3 = min(%0, axis=(A,), keepdims=False)\n%4 = add(%2, %3)\nreturn %4 -> fresh ORDER\n",
    "the place of the least": "%2 = argmin(%1, axis=(A,), keepdims=False)\n"
    "return %2 -> fresh ORDER\n",
    "back into the rows": "%2 = max(%1, axis=(A,), keepdims=True)\n%3 = subtract(%1, %2)\n"
    "%4 = exp(%3)\n%5 = sum(%4, axis=(A,), keepdims=True, dtype='D')\n%6 = divide(%4, %5)\n"
    "return %6 -> fresh WHOLE\n",
    "all": "%2 = sum(%1, axis=AXES, keepdims=False, dtype='D')\nreturn %2 -> fresh ()\n",
}
OTHERS = {
    "columns": "%2 = max(%1, axis=(0,), keepdims=False)\nreturn %2 -> fresh ORDER\n",
    "the product too": "%2 = max(%1, axis=(A,), keepdims=False)\nreturn %2 -> fresh ORDER\n"
    "return %0 -> fresh WHOLE\n",
    "a view of it": "%7 = transpose(%0, axes=(1, 0))\n%2 = max(%7, axis=(1,), keepdims=False)\n"
    "return %2 -> fresh (0,)\n",
}


@pytest.fixture(autouse=True)
def of_any_size(monkeypatch):
    """Products as small as tests can do with; whether that is worth while is another question."""
    monkeypatch.setattr(own_products, "LEAST_BYTES", 0)


def stored(graph, given_):
    """What a graph gives whose product has a kernel of its own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(own_products, "LEAST_BYTES", 1 << 60)
        assert len(regions(graph)) == 2
        return execute(graph, given_, run=compiled)[0][0]


def graph_of(dtype, batch, size, strides, reduction):
    (m, k, n), last = size, len(batch) + 1
    stack = "".join(f"{extent}, " for extent in batch)
    whole = tuple(range(last + 1))
    counts = [math.prod(batch[axis + 1 :]) for axis in range(len(batch))]
    left = (*[m * k * count for count in counts], *strides[0])
    right = (*[k * n * count for count in counts], *strides[1])
    names = {"A": last, "D": dtype, "ORDER": whole[:-1], "WHOLE": whole, "AXES": whole}
    text = reduction
    for name in sorted(names, key=len, reverse=True):
        text = text.replace(f"axis=({name},)", f"axis=({names[name]},)")
        text = text.replace(f"'{name}'", f"'{names[name]}'").replace(
            f"axis={name},", f"axis={names[name]},"
        )
        text = text.replace(f"fresh {name}\n", f"fresh {names[name]}\n")
    return prepared(
        parse(
            f"$0 : {dtype}[{stack}{m}, {k}] strides {left}\n"
            f"$1 : {dtype}[{stack}{k}, {n}] strides {right}\n$2 : {dtype}[{n}] strides (1,)\n"
            f"%0 = product($0, $1, call='matmul()') : {dtype}[{stack}{m}, {n}]\n"
            f"%1 = subtract($2, %0)\n{text}",
            calls=CALLS,
        )
    )


def operands(dtype, batch, size, lies, seed):
    rng, (m, k, n) = np.random.default_rng(seed), size
    a, b = rng.normal(size=(*batch, m, k)), rng.normal(size=(*batch, k, n))
    a, b, bias = (each.astype(dtype) for each in (a, b, rng.normal(size=n)))
    if not batch:
        a, b = lying(a, lies[0]), lying(b, lies[1])
    strides = [tuple(s // x.itemsize for s in x.strides[-2:]) for x in (a, b)]
    return (a, b, bias), strides


@given(
    st.sampled_from(("float32", "float64")),
    st.sampled_from(((), (1,), (3,), (2, 2))),
    st.tuples(st.sampled_from((1, 2, 7, 8, 9, 31, 150)), st.integers(1, 9), st.integers(8, 70)),
    st.tuples(*[st.sampled_from(("rows", "columns", "apart"))] * 2),
    st.sampled_from(sorted(set(REDUCTIONS) - {"all"})),
)
def test_native_code_gives_the_bits_of_the_interpreter_and_of_a_stored_product(
    dtype, batch, size, lies, reduction
):
    given_, strides = operands(dtype, batch, size, lies, 0)
    graph = graph_of(dtype, batch, size, strides, REDUCTIONS[reduction])
    assert len(regions(graph)) == 1
    ways = (interpreted, compiled, lambda *launch: compiled(*launch, chunks=3))
    results = [execute(graph, given_, run=way) for way in ways]
    (found,), _ = results[0]
    for (other,), events in results[1:]:
        np.testing.assert_array_equal(other, found)
        assert events == results[0][1] == 0
    np.testing.assert_array_equal(found, stored(graph, given_))


@pytest.mark.parametrize("rows", [1, 5, 40])
def test_a_sum_of_all_reads_rows_where_they_are_long(rows):
    """Oracle: the sum of the elements in a wider dtype."""
    size = (rows, 3, 600)
    (a, b, bias), strides = operands("float64", (), size, ("rows", "rows"), 1)
    graph = graph_of("float64", (), size, strides, REDUCTIONS["all"])
    (found,), _ = execute(graph, (a, b, bias), run=compiled)
    exact = (bias.astype("g") - a.astype("g") @ b.astype("g")).sum()
    assert abs(found - exact) <= 1e-12 * (np.abs(a) @ np.abs(b) + np.abs(bias)).sum()


def memory_of(graph):
    """Elements of temporary memory."""
    found = {a for launch in launches(graph) for a in launch.arguments if isinstance(a, Scratch)}
    return sum(each.size for each in found)


@pytest.mark.parametrize("name", sorted(set(REDUCTIONS) - {"back into the rows"}))
def test_the_product_takes_a_sixteenth_of_its_memory(name):
    size = (2048, 8, 1024)
    graph = graph_of("float32", (), size, ((8, 1), (1024, 1)), REDUCTIONS[name])
    assert memory_of(graph) <= 2048 * 1024 // 16 + 2048


@pytest.mark.parametrize("name", sorted(OTHERS))
@pytest.mark.parametrize("size", [(40, 5, 40), (9, 3, 12)])
def test_what_reads_no_rows_gets_a_stored_product(name, size):
    """Oracle: NumPy."""
    given_, strides = operands("float64", (), size, ("rows", "rows"), 2)
    graph = graph_of("float64", (), size, strides, OTHERS[name])
    kinds = {region.kind for region in regions(graph)}
    assert kinds & ({"blas"} if name == "the product too" else {"product"})
    if name == "the product too":
        return
    found = execute(graph, given_, run=compiled)[0][0]
    a, b, bias = given_
    expected = (a @ b if name == "a view of it" else bias - a @ b).max(axis=0)
    np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize("value", [np.nan, np.inf, 1e308])
@pytest.mark.parametrize("mode", ["results", "rises"])
def test_sums_that_are_not_finite_are_noted(value, mode):
    """Oracle: whether NumPy's product of such numbers may report an event, in some order."""
    size = (20, 3, 12)
    (a, b, bias), strides = operands("float64", (), size, ("rows", "rows"), 2)
    a[17, 1], b[1, 4] = value, 10
    graph = graph_of("float64", (), size, strides, REDUCTIONS["the largest"])
    for run in (compiled, interpreted):
        _, events = execute(graph, (a, b, bias), run=run, mode=mode)
        assert bool(events) == (mode == "results" or not np.isnan(value))


@pytest.mark.parametrize("axis", [1, (0, 1)])
@pytest.mark.parametrize("size", [(40, 5, 600), (9, 3, 512)])
def test_a_product_that_is_not_read_as_rows_after_all_is_stored(size, axis):
    """Another operand lies in columns. Oracle: NumPy."""
    m, k, n = size
    axes = axis if axis != 1 else (1,)
    left = "()" if axis != 1 else "(0,)"
    graph = prepared(
        parse(
            f"$0 : float64[{m}, {k}] strides ({k}, 1)\n$1 : float64[{k}, {n}] strides ({n}, 1)\n"
            f"$2 : float64[{m}, {n}] strides (1, {m})\n"
            f"%0 = product($0, $1, call='matmul()') : float64[{m}, {n}]\n%1 = multiply($2, %0)\n"
            f"%2 = sum(%1, axis={axes}, keepdims=False, dtype='float64')\n"
            f"return %2 -> fresh {left}\n",
            calls=CALLS,
        )
    )
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(m, k)), rng.normal(size=(k, n))
    c = np.asfortranarray(rng.normal(size=(m, n)))
    assert len(regions(graph)) == 1
    assert memory_of(graph) >= m * n
    (found,), _ = execute(graph, (a, b, c), run=compiled)
    np.testing.assert_allclose(found, ((a @ b) * c).sum(axis=axis), rtol=1e-9, atol=1e-9)
