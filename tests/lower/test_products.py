"""Small products with their epilogue. Oracles: the kernel interpreter for native code, to the bit;
for the sums, products of a wider dtype and the bound of a sum in any order.
"""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from runmat_jit.graph.parse import parse
from runmat_jit.ops.host_call import HostCall
from runmat_jit.ops.product import Product
from tests.lower.execute import compiled, execute, interpreted, launches

CALLS = {"matmul()": HostCall(Product(np.matmul), "matmul()")}
WIDER = {"float32": np.float64, "float64": np.longdouble}
EPILOGUES = {
    "a bias of columns": ("%1 = add(%0, $2)\n", lambda p, bias, _: p + bias),
    "another matrix": ("%1 = subtract($3, %0)\n", lambda p, _, c: c - p),
    "read twice": ("%9 = multiply(%0, %0)\n%1 = add(%9, %0)\n", lambda p, *_: p * p + p),
}


def graph_of(dtype, size, strides, epilogue):
    m, k, n = size
    left, right = strides
    return parse(
        f"$0 : {dtype}[{m}, {k}] strides {left}\n$1 : {dtype}[{k}, {n}] strides {right}\n"
        f"$2 : {dtype}[{n}] strides (1,)\n$3 : {dtype}[{m}, {n}] strides ({n}, 1)\n"
        f"%0 = product($0, $1, call='matmul()') : {dtype}[{m}, {n}]\n"
        f"{epilogue}return %1 -> fresh (0, 1)\n",
        calls=CALLS,
    )


def lying(array, how):
    """The same elements in rows, in columns, or apart and backwards."""
    if how == "rows":
        return array
    if how == "columns":
        return np.asfortranarray(array)
    wide = np.zeros((2 * array.shape[0], 3 * array.shape[1]), array.dtype)
    made = wide[::-2, ::-3]
    made[...] = array
    return made


@given(
    st.sampled_from(sorted(WIDER)),
    st.tuples(st.integers(1, 17), st.integers(1, 9), st.integers(1, 37)),
    st.tuples(*[st.sampled_from(("rows", "columns", "apart"))] * 2),
    st.sampled_from(sorted(EPILOGUES)),
    st.integers(0, 99),
)
def test_native_code_gives_the_bits_of_the_interpreter_within_the_bound(
    dtype, size, lies, epilogue, seed
):
    rng = np.random.default_rng(seed)
    m, k, n = size
    shapes = ((m, k), (k, n), (n,), (m, n))
    a, b, bias, c = (rng.normal(size=shape).astype(dtype) for shape in shapes)
    a, b = lying(a, lies[0]), lying(b, lies[1])
    strides = [tuple(s // x.itemsize for s in x.strides) for x in (a, b)]
    text, oracle = EPILOGUES[epilogue]
    graph = graph_of(dtype, size, strides, text)
    ways = (interpreted, compiled, lambda *launch: compiled(*launch, chunks=3))
    results = [execute(graph, [a, b, bias, c], run=way) for way in ways]
    (found,), _ = results[0]
    for (other,), events in results[1:]:
        np.testing.assert_array_equal(other, found)
        assert events == results[0][1] == 0
    wide = WIDER[dtype]
    exact = oracle(a.astype(wide) @ b.astype(wide), bias.astype(wide), c.astype(wide))
    sizes = np.abs(a) @ np.abs(b)
    bound = (k + 4) * np.finfo(dtype).eps * (1 + 2 * sizes) * (sizes + np.abs(c) + np.abs(bias) + 1)
    assert np.all(np.abs(found - exact) <= bound)


@pytest.mark.parametrize(
    ("strides", "kernels"), [(((3, 1), (5, 1)), 1), (((1, 4), (5, 1)), 1), (((3, 1), (1, 3)), 2)]
)
def test_only_a_second_operand_that_lies_in_columns_is_copied(strides, kernels):
    graph = graph_of("float32", (4, 3, 5), strides, EPILOGUES["read twice"][0])
    assert len(launches(graph)) == kernels


SIGNALS = np.array(0x7F80_0001, np.uint32).view(np.float32)


@pytest.mark.parametrize("run", [compiled, interpreted])
@pytest.mark.parametrize(
    ("values", "rises"),
    [
        ((1, 1, 1), False),
        ((1, np.nan, 1), False),
        ((1, SIGNALS, 1), True),
        ((np.nan, np.inf, 1), True),
        ((np.nan, 3e38, 1), True),
        ((1, 3e38, 3e38), True),
        ((1, np.inf, -np.inf), True),
    ],
)
def test_sums_that_are_not_finite_are_noted_but_those_of_quiet_nans(run, values, rises):
    """Oracle: whether a product of such numbers may report an event, in some order."""
    graph = graph_of("float32", (9, 3, 5), ((3, 1), (5, 1)), EPILOGUES["another matrix"][0])
    for operand in range(2):
        given_ = [np.ones(shape, np.float32) for shape in ((9, 3), (3, 5), (5,), (9, 5))]
        given_[operand].swapaxes(0, operand)[1] = np.array(values, np.float32)
        for mode, noted in (("rises", rises), ("results", values != (1, 1, 1))):
            _, events = execute(graph, given_, run=run, mode=mode)
            assert bool(events) == noted
