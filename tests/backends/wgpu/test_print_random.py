"""Random straight-line kernels, those of the LLVM backend; oracle: the interpreter of kernels."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runmat_jit.backends.wgpu.schedule import Schedule
from runmat_jit.kernel.evaluate import DTYPES
from tests.backends.llvm.test_lower_random import KINDS, build, finite_or_not, programs
from tests.backends.wgpu.shaders import check

pytestmark = pytest.mark.usefixtures("adapter")


@given(
    program=programs(),
    constants=st.fixed_dictionaries({k: finite_or_not(k) for k in KINDS}),
    seed=st.integers(0, 1000),
)
@settings(max_examples=max(settings.default.max_examples * 3 // 5, 1))
def test_random_kernels_mean_what_they_say(program, constants, seed):
    kernel = build(program, constants)
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 90))
    memory = {"n": n}
    for kind in KINDS:
        dtype = DTYPES[kind]
        size = n + 4
        raw = rng.integers(0, 256, size * 8, dtype=np.uint8).view(np.uint64)[:size]
        numbers = raw.astype(np.uint8) > 127 if kind == "i1" else raw.view(dtype)[:size]
        memory[f"in_{kind}"] = np.ascontiguousarray(numbers)
        memory[f"out_{kind}"] = np.zeros(size, dtype)
        memory[f"scalar_{kind}"] = numbers[0].item()
    check(kernel, memory, (0, n), Schedule((1, 2, 4)[seed % 3], 64, 64))
    check(kernel, memory, (n // 3, n), Schedule(4, 64, 64))
