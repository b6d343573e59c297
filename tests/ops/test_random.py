"""Rows of random numbers.

Oracle: Philox by Python's integers, and the layout of the stream as the module documents it;
mpmath-tested expansions are compared with NumPy's meaning by tolerance.
"""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from runmat_jit.core.types import TensorType
from runmat_jit.graph.parse import parse
from runmat_jit.kernel.philox import MULTIPLIERS, WEYL
from runmat_jit.ops.table import ROWS
from tests.kernel.test_philox import VECTORS, words
from tests.lower.execute import compiled, execute, prepared
from tests.ops.kernels import by_interpreter, by_machine, element_kernel
from tests.ops.operands import same_bits

INT32, INT64 = np.dtype("int32"), np.dtype("int64")
ROWS_AND_DTYPES = [
    ("random_bits", "int64"),
    ("random_uniform", "float32"),
    ("random_uniform", "float64"),
    ("random_normal", "float32"),
    ("random_normal", "float64"),
]
UNSIGNED = st.integers(0, 2**64 - 1)
INDICES = np.arange(37)


def philox(counter, key):
    """Philox4x32-10 as the paper writes it."""
    a, b, c, d = counter
    for number in range(10):
        first, second = ((k + number * w) % 2**32 for k, w in zip(key, WEYL, strict=True))
        one, other = a * MULTIPLIERS[0], c * MULTIPLIERS[1]
        a, b = (other >> 32) ^ b ^ first, other % 2**32
        c, d = (one >> 32) ^ d ^ second, one % 2**32
    return a, b, c, d


def stream(key, counter, count):
    """The first words of a draw, by the documentation of the stream."""
    found = []
    for number in range(-(-count // 4)):
        block = (counter + number) % 2**64
        found += philox((block % 2**32, block >> 32, 0, 0), (key % 2**32, key >> 32))
    return found[:count]


def pairs_of(found):
    return [low | high << 32 for low, high in zip(found[::2], found[1::2], strict=True)]


def signed(number):
    return np.array(number, np.uint64).view(np.int64)


def params(name, dtype):
    return {} if name == "random_bits" else {"dtype": dtype}


def by_numpy(name, dtype, key, counter, index=INDICES):
    return ROWS[name].numpy(index, signed(key), signed(counter), **params(name, dtype))


def by_kernel(run, name, dtype, at, index=INDICES):
    types = (index.dtype, INT64, INT64)
    kernel = element_kernel(ROWS[name], types, np.dtype(dtype), params(name, dtype))
    operands = (index, *(np.full(index.shape, signed(number)) for number in at))
    return run(kernel, operands, np.dtype(dtype))[0]


def test_the_oracle_gives_the_published_vectors():
    for counter, key, expected in VECTORS:
        given = ([int(word) for word in words(text)] for text in (counter, key))
        assert list(philox(*given)) == words(expected)


@given(UNSIGNED, UNSIGNED)
def test_bits_and_uniforms_lie_in_the_stream_as_documented(key, counter):
    single = stream(key, counter, 37)
    double = pairs_of(stream(key, counter, 74))
    bits = by_numpy("random_bits", "int64", key, counter)
    assert bits.view(np.uint64).tolist() == double
    assert by_numpy("random_uniform", "float32", key, counter).tolist() == [
        (word >> 8) * 2.0**-24 for word in single
    ]
    assert by_numpy("random_uniform", "float64", key, counter).tolist() == [
        (word >> 11) * 2.0**-53 for word in double
    ]


@given(UNSIGNED, UNSIGNED)
def test_normals_are_made_of_the_pairs_that_are_documented(key, counter):
    for dtype, owned in (
        ("float32", stream(key, counter, 38)),
        ("float64", pairs_of(stream(key, counter, 76))),
    ):
        turn = 2.0 ** (32 if dtype == "float32" else 64)
        expected = []
        for radius, angle in zip(owned[::2], owned[1::2], strict=True):
            size = np.sqrt(-2 * np.log(((radius >> 1) + 0.5) * 2 / turn))
            expected += [f(2 * np.pi * (angle / turn)) * size for f in (np.cos, np.sin)]
        found = by_numpy("random_normal", dtype, key, counter)
        np.testing.assert_allclose(found, expected[:37], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(("name", "dtype"), ROWS_AND_DTYPES)
@given(key=UNSIGNED, counter=UNSIGNED)
def test_kernels_give_the_bits_of_the_meaning(name, dtype, key, counter):
    expected = by_numpy(name, dtype, key, counter)
    native = by_kernel(by_machine, name, dtype, (key, counter))
    assert same_bits(native, by_kernel(by_interpreter, name, dtype, (key, counter)))
    if name == "random_normal":
        units = np.spacing(np.abs(expected)).astype(np.float64)
        assert (np.abs(native.astype(np.float64) - expected) <= 5 * units).all()
    else:
        assert same_bits(native, expected)


@pytest.mark.parametrize(("name", "dtype"), ROWS_AND_DTYPES)
@given(key=UNSIGNED, counter=st.sampled_from([0, 2**32 - 2, 2**63 - 1, 2**64 - 3]))
def test_narrow_and_wide_indices_give_equal_bits(name, dtype, key, counter):
    wide = by_kernel(by_machine, name, dtype, (key, counter))
    assert same_bits(
        by_kernel(by_machine, name, dtype, (key, counter), INDICES.astype(INT32)), wide
    )


def test_an_index_beyond_32_bits_reaches_other_blocks():
    far = INDICES + 2**34
    bits = by_numpy("random_bits", "int64", 5, 7, far)
    assert same_bits(bits, by_numpy("random_bits", "int64", 5, 7 + 2**33))
    assert same_bits(bits, by_kernel(by_machine, "random_bits", "int64", (5, 7), far))


@pytest.mark.parametrize(
    "operands",
    [
        (TensorType(np.dtype("float64"), (3,)), TensorType(INT64, ()), TensorType(INT64, ())),
        (TensorType(INT64, (3,)), TensorType(INT32, ()), TensorType(INT64, ())),
        (TensorType(INT64, (3,)), TensorType(INT64, (2,)), TensorType(INT64, ())),
    ],
)
def test_other_operands_are_not_covered(operands):
    assert ROWS["random_bits"].result(operands, {}) is None
    assert ROWS["random_uniform"].result(operands, {"dtype": "float64"}) is None


def test_other_dtypes_are_not_covered():
    operands = (TensorType(INT64, (3,)), TensorType(INT64, ()), TensorType(INT64, ()))
    assert ROWS["random_normal"].result(operands, {"dtype": "int64"}) is None


FUSED = """\
$0 : int64[] by value
$1 : int64[] by value
$2 : float32[50001] strides (1,)
%0 = iota(start=0, step=1) : int32[50001]
%1 = random_normal(%0, $0, $1, dtype='float32') : float32[50001]
%2 = multiply(%1, $2) : float32[50001]
%3 = random_uniform(%0, $0, $1, dtype='float32') : float32[50001]
%4 = add(%2, %3) : float32[50001]
return %4 -> fresh (0,)
"""


def test_numbers_fuse_with_what_uses_them_and_do_not_depend_on_chunks():
    graph = prepared(parse(FUSED))
    scale = np.linspace(-1, 1, 50001, dtype=np.float32)
    inputs = [signed(11), signed(2**64 - 100), scale]
    whole, parts = (
        execute(graph, inputs, run=lambda launch, values, n=n: compiled(launch, values, n))[0][0]
        for n in (1, 3)
    )
    assert same_bits(whole, parts)
    index = np.arange(50001)
    normal = by_kernel(by_machine, "random_normal", "float32", (11, 2**64 - 100), index)
    shift = by_numpy("random_uniform", "float32", 11, 2**64 - 100, index)
    assert same_bits(whole, normal * scale + shift)
