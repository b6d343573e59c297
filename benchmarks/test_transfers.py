"""Numbers from arrays of a GPU, copies to it and from it, beside torch where it has CUDA.

Oracle: NumPy. Throughput is bytes (``extra_info``) over seconds.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import runmat_jit as runmat

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # a peer's own
LENGTHS = (1_000, 100_000, 1_000_000)
NBYTES = (4_000_000, 40_000_000, 400_000_000)


@pytest.fixture(autouse=True)
def gpu():
    if not any(device.kind == "gpu" for device in runmat.devices()):
        pytest.skip("there is no GPU adapter here")


@pytest.fixture
def cuda():
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("torch has no GPU here")
    return torch


def huber(x: Any) -> Any:
    d = np.abs(x)
    return np.where(d < 1, 0.5 * d * d, d - 0.5).mean()


def numbers(length: int, benchmark: Any, fn: Callable[[Any], object], x: Any) -> None:
    benchmark.group = f"a number from {length} elements"
    benchmark(fn, x)


def vector(count: int) -> np.ndarray:
    return np.random.default_rng(0).standard_normal(count, dtype=np.float32)


@pytest.mark.parametrize("length", LENGTHS)
def test_number(length, benchmark):
    host, fast = vector(length), runmat.jit(huber, device="gpu")
    x = runmat.asarray(host, device="gpu")
    for _ in range(4):
        np.testing.assert_allclose(fast(x), huber(host.astype(np.float64)), rtol=1e-5)
    numbers(length, benchmark, fast, x)


@pytest.mark.parametrize("length", LENGTHS)
def test_number_of_torch(length, benchmark, cuda):
    compiled = cuda.compile(lambda x: cuda.nn.functional.huber_loss(x, cuda.zeros_like(x)))
    x = cuda.from_numpy(vector(length)).cuda()
    numbers(length, benchmark, lambda x: compiled(x).item(), x)


@pytest.mark.parametrize("nbytes", NBYTES)
def test_download(nbytes, benchmark):
    host, more = vector(nbytes // 4), runmat.jit(lambda x: x + 1, device="gpu")
    x = runmat.asarray(host, device="gpu")
    np.testing.assert_array_equal(np.asarray(more(x)), host + 1)

    def fresh():
        found = more(x)
        runmat.synchronize()
        return (found,), {}

    benchmark.group, benchmark.extra_info["bytes"] = f"download {nbytes}", nbytes
    benchmark.pedantic(np.asarray, setup=fresh, rounds=10, warmup_rounds=2)


@pytest.mark.parametrize("nbytes", NBYTES)
def test_download_of_torch(nbytes, benchmark, cuda):
    x = cuda.from_numpy(vector(nbytes // 4)).cuda()
    benchmark.group, benchmark.extra_info["bytes"] = f"download {nbytes}", nbytes
    benchmark.pedantic(lambda: x.cpu().numpy(), rounds=10, warmup_rounds=2)


@pytest.mark.parametrize("nbytes", NBYTES)
def test_upload(nbytes, benchmark):
    host = vector(nbytes // 4)

    def copy():
        runmat.asarray(host, device="gpu")
        runmat.synchronize()

    np.testing.assert_array_equal(np.asarray(runmat.asarray(host, device="gpu")), host)
    benchmark.group, benchmark.extra_info["bytes"] = f"upload {nbytes}", nbytes
    benchmark.pedantic(copy, rounds=10, warmup_rounds=2)


@pytest.mark.parametrize("nbytes", NBYTES)
def test_upload_of_torch(nbytes, benchmark, cuda):
    host = vector(nbytes // 4)

    def copy():
        cuda.from_numpy(host).cuda()
        cuda.cuda.synchronize()

    benchmark.group, benchmark.extra_info["bytes"] = f"upload {nbytes}", nbytes
    benchmark.pedantic(copy, rounds=10, warmup_rounds=2)
