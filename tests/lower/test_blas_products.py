"""Products by NumPy's inner loop. Oracle: NumPy, to the bit, and whether it reports an event."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from runmat_jit.core.inner_loops import inner_loop, product_loop
from runmat_jit.graph.parse import parse
from runmat_jit.ops.host_call import HostCall
from runmat_jit.ops.product import Product
from runmat_jit.passes.fusion.blas_products import MOST_WORK
from runmat_jit.passes.fusion.region import BLAS
from tests.lower.execute import compiled, execute, interpreted, launches, regions

EXTENTS = st.sampled_from((0, 1, 1, 2, 3, 5, 8, 17, 40))
FORMS = [(left, right) for left in (1, 2, 3) for right in (1, 2, 3)]
LIES = ("rows", "columns", "apart", "backwards", "of one")


MATMUL = Product(np.matmul)


def lying(array, how):
    """The same elements in other memory."""
    if how == "columns" and array.ndim > 1:
        return array.swapaxes(-1, -2).copy().swapaxes(-1, -2)
    if how in ("apart", "backwards"):
        step = 3 if how == "apart" else -1
        wide = np.zeros([abs(step) * n for n in array.shape], array.dtype)
        made = wide[(slice(None, None, step),) * array.ndim]
        made[...] = array
        return made
    if how == "wide" and array.ndim > 1:
        rows = np.zeros((*array.shape[:-1], array.shape[-1] + 3), array.dtype)[..., :-3]
        rows[...] = array
        return rows
    if how == "of one" and array.size:
        return np.broadcast_to(array.reshape(-1)[:1], array.shape)
    return array


def graph_of(a, b, product=MATMUL, *, same=False):
    shape = np.matmul(a, b).shape
    kinds = [f"{x.dtype}{list(x.shape)}" for x in (a, b)]
    texts = [
        f"${n} : {kind} strides {tuple(s // x.itemsize for s in x.strides)}\n"
        for n, (kind, x) in enumerate(zip(kinds, (a, b), strict=True))
    ]
    right = "$0" if same else "$1"
    order = tuple(range(len(shape)))
    return parse(
        "".join(texts[: 1 if same else 2])
        + f"%0 = product($0, {right}, call='matmul()') : {a.dtype}{list(shape)}\n"
        f"return %0 -> fresh {order}\n",
        calls={"matmul()": HostCall(product, "matmul()")},
    )


@given(
    st.sampled_from(FORMS),
    st.tuples(*[EXTENTS] * 4),
    st.tuples(*[st.sampled_from(LIES)] * 2),
    st.sampled_from(("float32", "float64")),
    st.tuples(st.sampled_from((None, 0.0, -0.0, np.nan, np.inf, 3e38, 1e308)), st.integers(0, 9)),
)
def test_bits_and_events_are_numpys(form, extents, lies, dtype, data):
    special, seed = data
    rng = np.random.default_rng(seed)
    rows, terms, columns, count = extents
    shapes = (count, rows, terms)[3 - form[0] :], (count, terms, columns)[3 - form[1] :]
    shapes = shapes[0], (terms,) if form[1] == 1 else shapes[1]
    a, b = (lying(rng.normal(size=s).astype(dtype), lies[n]) for n, s in enumerate(shapes))
    with np.errstate(all="ignore"):
        if special is not None:
            for x in (a, b):
                if x.size and x.flags.writeable:
                    x[(rng.integers(0, 2, x.shape) == 1) & (rng.random(x.shape) < 0.3)] = special
        expected = np.matmul(a, b)
    graph = graph_of(a, b)
    if regions(graph)[0].kind != BLAS:
        assert expected.size * terms > MOST_WORK
        return
    try:
        with np.errstate(all="raise", under="ignore"):
            np.matmul(a, b)
        happened = False
    except FloatingPointError:
        happened = True
    for run in (compiled, interpreted):
        (found,), events = execute(graph, [a, b], run=run)
        assert found.tobytes() == expected.tobytes()
        assert bool(events) == happened


@given(
    st.tuples(*[st.sampled_from((1, 2))] * 2),
    st.tuples(*[EXTENTS] * 3),
    st.tuples(*[st.sampled_from((*LIES, "wide"))] * 2),
    st.sampled_from(("float32", "float64")),
    st.integers(0, 99),
)
def test_bits_of_dot_are_those_of_numpys_dot(ranks, extents, lies, dtype, seed):
    """It copies operands with gaps, and multiplies by single numbers: such ones are NumPy's."""
    rng = np.random.default_rng(seed)
    rows, terms, columns = extents
    shapes = (rows, terms)[2 - ranks[0] :], (terms, columns)[: ranks[1]]
    a, b = (
        lying((rng.integers(-3, 4, s) * rng.random(s)).astype(dtype), lies[n])
        for n, s in enumerate(shapes)
    )
    graph = graph_of(a, b, Product(np.dot))
    if regions(graph)[0].kind == BLAS:
        (found,), _ = execute(graph, [a, b], run=compiled)
        assert found.tobytes() == np.dot(a, b).tobytes()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_matrix_and_its_transpose_are_one_array(dtype):
    """NumPy has half of it computed, then: the bits differ from those of two arrays."""
    x = np.random.default_rng(0).normal(size=(30, 30)).astype(dtype)
    graph = parse(
        f"$0 : {dtype}[30, 30] strides (30, 1)\n%0 = transpose($0, axes=(1, 0)) : {dtype}[30, 30]\n"
        f"%1 = product(%0, $0, call='matmul()') : {dtype}[30, 30]\nreturn %1 -> fresh (0, 1)\n",
        calls={"matmul()": HostCall(Product(np.matmul, ("columns", "rows")), "matmul()")},
    )
    assert len(launches(graph)) == 1
    (found,), _ = execute(graph, [x], run=compiled)
    assert found.tobytes() == (x.T @ x).tobytes()


X, WIDE = np.ones((4, 4)), np.ones((300, 300))


@pytest.mark.parametrize(
    ("a", "b", "product", "same"),
    [
        (WIDE, WIDE, Product(np.matmul), False),
        (X, X, Product(np.matmul, ("rows", "columns")), False),
        (X, X, Product(np.matmul, ("rows", "rows"), apart=True), True),
        (X, X, Product(np.vdot), False),
        (X[::2], X[:, ::2], Product(np.dot), False),
        (X.astype(int), X.astype(int), Product(np.matmul), False),
    ],
    ids=["long", "lies otherwise", "two arrays", "another function", "gaps", "integers"],
)
def test_these_are_calls_of_numpy(a, b, product, same):
    graph = graph_of(a, b, product, same=same)
    assert [region.kind for region in regions(graph)] == ["host"]


def test_loops_that_are_not_there_have_no_address():
    assert product_loop("d")
    assert product_loop("M") is None
    assert inner_loop(np.matmul, "dd->f") is None
