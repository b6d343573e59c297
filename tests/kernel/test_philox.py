"""Oracle: the vectors that the authors publish with Random123 (kat_vectors, philox4x32 10)."""

import numpy as np
import pytest

from runmat_jit.kernel.build import Builder
from runmat_jit.kernel.interpret import interpret
from runmat_jit.kernel.philox import philox4x32
from runmat_jit.kernel.verify_kernel import verify_kernel
from tests.backends.llvm.native import Native

VECTORS = (
    (
        "00000000 00000000 00000000 00000000",
        "00000000 00000000",
        "6627e8d5 e169c58d bc57ac4c 9b00dbd8",
    ),
    (
        "ffffffff ffffffff ffffffff ffffffff",
        "ffffffff ffffffff",
        "408f276d 41c83b0e a20bc7c6 6d5451fd",
    ),
    (
        "243f6a88 85a308d3 13198a2e 03707344",
        "a4093822 299f31d0",
        "d16cfe09 94fdcceb 5001e420 24126ea1",
    ),
)


def words(text):
    return [np.uint32(int(word, 16)) for word in text.split()]


def kernel():
    """Four words of each counter in memory, under the key of its own."""
    k = Builder()
    inputs = [k.buffer(f"c{j}", "i32") for j in range(4)] + [
        k.buffer(f"k{j}", "i32") for j in range(2)
    ]
    outputs = [k.buffer(f"w{j}", "i32", written=True) for j in range(4)]
    with k.lanes(0, k.scalar("n", "index")) as lanes:
        values = [k.load(buffer, lanes.i) for buffer in inputs]
        for out, word in zip(outputs, philox4x32(k, values[:4], values[4:]), strict=True):
            k.store(out, lanes.i, word)
    return k.finish()


def arguments():
    rows = [words(counter) + words(key) for counter, key, _ in VECTORS]
    columns = np.array(rows, np.uint32).T.copy().view(np.int32)
    names = [f"c{j}" for j in range(4)] + [f"k{j}" for j in range(2)]
    given = dict(zip(names, columns, strict=True)) | {"n": len(VECTORS)}
    return given | {f"w{j}": np.zeros(len(VECTORS), np.int32) for j in range(4)}


def by_interpreter(given):
    interpret(kernel(), given)


def by_machine(given):
    Native(kernel())(given, 0, given["n"])


def test_the_kernel_is_valid():
    verify_kernel(kernel())


@pytest.mark.parametrize("run", [by_interpreter, by_machine])
def test_the_published_vectors_come_out(run):
    given = arguments()
    run(given)
    found = np.array([given[f"w{j}"] for j in range(4)]).T.view(np.uint32)
    assert found.tolist() == [words(expected) for _, _, expected in VECTORS]
