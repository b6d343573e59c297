"""Kernels for callers who do not ask for floating-point events. Oracle: the kernel with notes."""

import numpy as np
import pytest

from runmat_jit.backends.wgpu.notes import has_notes, without_notes
from runmat_jit.backends.wgpu.run import KernelRun
from runmat_jit.kernel.build import Builder
from runmat_jit.kernel.verify_kernel import verify_kernel
from tests.backends.wgpu.shaders import runner


def quotient(*, cells):
    """Rows of x / 0 noted by lanes, in cells or not."""
    b = Builder()
    x, out = b.buffer("x", "f32"), b.buffer("out", "f32", written=True)
    n = b.scalar("n", "index")

    def rows():
        with b.lanes(0, n) as lanes:
            value = b.load(x, lanes.i) / 0.0
            b.note(value)
            b.store(out, lanes.i, value)

    if cells:
        with b.grid(1):
            rows()
    else:
        rows()
    return b.finish()


@pytest.mark.usefixtures("adapter")
@pytest.mark.parametrize("cells", [False, True])
def test_a_silent_kernel_computes_the_same_and_tells_nothing(cells):
    memory, x = runner().backend.memory, np.arange(1, 10, dtype=np.float32)
    found = []
    for kernel in (quotient(cells=cells), without_notes(quotient(cells=cells))):
        verify_kernel(kernel)
        arrays = {"x": memory.upload(x), "out": memory.empty(9, x.dtype)}
        part = (0, 1) if cells else (0, 9)
        event = runner().run([KernelRun(kernel, {**arrays, "n": 9}, part)])
        found.append((event, memory.download(arrays["out"]).tolist()))
        memory.free(arrays.values())
    assert found == [(True, [np.inf] * 9), (False, [np.inf] * 9)]
    assert has_notes(quotient(cells=cells))
    assert not has_notes(without_notes(quotient(cells=cells)))
