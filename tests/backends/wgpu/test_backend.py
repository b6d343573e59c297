"""Oracles: the counters of the backend, and adapters that lack something by construction."""

from dataclasses import replace

import numpy as np
import pytest

from runmat_jit.backends.wgpu.backend import unsupported
from runmat_jit.backends.wgpu.facts import Facts
from runmat_jit.core.errors import BackendError
from runmat_jit.kernel.build import Builder
from runmat_jit.kernel.verify_types import KernelError
from tests.backends.wgpu.shaders import EMULATED, check, device, runner
from tests.backends.wgpu.test_run import doubled, row_sums

pytestmark = pytest.mark.usefixtures("adapter")


def copying(kind, buffers=1):
    b = Builder()
    inputs = [b.buffer(f"x{i}", kind) for i in range(buffers)]
    out, n = b.buffer("out", kind, written=True), b.scalar("n", "index")
    with b.lanes(0, n) as lanes:
        for x in inputs:
            b.store(out, lanes.i, b.load(x, lanes.i))
    return b.finish()


def test_equal_kernels_with_equal_facts_are_compiled_once():
    backend = runner().backend
    first = backend.compile(row_sums())
    count = backend.compiles
    assert backend.compile(row_sums()) is first
    assert backend.compiles == count
    aligned = backend.compile(row_sums(), facts=Facts(multiples=frozenset({"step"})))
    assert aligned is not first
    assert backend.compiles == count + 1
    assert "array<vec4<f32>>" in aligned.text
    assert "array<vec4<f32>>" not in first.text.split("var<workgroup>")[0]


def test_the_source_is_what_is_compiled():
    backend = runner().backend
    assert backend.compile(doubled()).text == backend.source(doubled())


def test_a_kernel_that_is_not_valid_is_refused():
    b = Builder()
    b.buffer("x", "f32")
    with pytest.raises(KernelError):
        runner().backend.compile(b.finish())


@pytest.mark.parametrize(("kind", "words"), [("f64", "float64"), ("i64", "64-bit integers")])
def test_types_of_64_bits_need_their_features(kind, words):
    info = device().info
    without = replace(info, features=info.features - {"shader-f64", "shader-int64"})
    assert words in unsupported(copying(kind), without)
    assert unsupported(copying("f32"), without) is None
    assert unsupported(copying(kind), info) is None


def test_buffers_are_limited():
    few = replace(
        device().info, limits={**device().info.limits, "max-storage-buffers-per-shader-stage": 4}
    )
    assert unsupported(copying("f32", 2), few) is None
    assert "4 buffers" in unsupported(copying("f32", 3), few)


def test_a_refusal_says_what_to_do(monkeypatch):
    backend = runner().backend
    monkeypatch.setattr(type(backend), "unsupported", lambda *_: "some GPU has no float64")
    with pytest.raises(BackendError, match=r"no float64; keep the kernel on the CPU"):
        backend.compile(copying("f64"))


def test_without_64_bit_types_products_are_made_of_halves():
    """32-bit halves of unsigned products, against those of the adapter's wide integers."""
    b = Builder()
    x, out = b.buffer("x", "i32"), b.buffer("out", "i32", written=True)
    n = b.scalar("n", "index")
    with b.lanes(0, n) as lanes:
        value = b.load(x, lanes.i)
        b.store(out, lanes.i, b.prim("mulhi", value, b.load(x, n - lanes.i - 1, -1)))
    numbers = np.random.default_rng(0).integers(-(2**31), 2**31, 999).astype(np.int32)
    numbers[:4] = 0, -1, 2**31 - 1, -(2**31)
    results = []
    for wide in (True, False):
        using = runner(replace(EMULATED, wide=wide))
        memory = {"x": numbers, "out": np.zeros_like(numbers), "n": numbers.size}
        results.append(check(b.finish(), memory, (0, numbers.size), using=using)["out"])
    assert np.array_equal(*results)
