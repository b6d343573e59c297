"""Short functions as shaders. Oracle: the interpreter of kernels, whose `exp2` is NumPy's.

Software adapters are not given these functions by themselves: here they are, so that what is
printed for them runs wherever the tests do.
"""

from dataclasses import replace

import numpy as np
import pytest

from runmat_jit.backends.wgpu.findings import Findings
from runmat_jit.backends.wgpu.run import KernelRun
from runmat_jit.kernel.ir import Table
from runmat_jit.kernel.math.tables import table
from runmat_jit.runtime.gpu import Gpu
from tests.backends.wgpu.shaders import hardware_runner
from tests.backends.wgpu.test_findings import GOOD
from tests.kernel.math.test_for_adapters import FUNCTIONS, computed, kernel_of, operands

UNITS = 6
"""Of both ``exp2`` together, with the steps around them."""


@pytest.mark.usefixtures("adapter")
@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_short_function_is_near_the_interpreters(name):
    memory, x = hardware_runner().backend.memory, operands(name)[::7].copy()
    kernel = kernel_of(FUNCTIONS[name][0])
    tables = {p.name: table(p.name) for p in kernel.parameters if isinstance(p, Table)}
    arrays = {n: memory.upload(a) for n, a in {"x": x, "out": np.zeros_like(x), **tables}.items()}
    hardware_runner().run([KernelRun(kernel, {**arrays, "n": x.size}, (0, x.size))])
    found, expected = memory.download(arrays["out"]), computed(name, x)
    memory.free(arrays.values())
    units = np.abs(found.astype(np.float64) - expected) / np.spacing(np.abs(expected))
    assert units.max() <= UNITS, x[np.argmax(units)]


class Adapter:
    software = False


@pytest.mark.parametrize(
    ("units", "fused", "software", "reproducible", "expected"),
    [
        (1.5, True, False, False, frozenset({"exp2"})),
        (2.5, True, False, False, frozenset()),
        (1.5, False, False, False, None),
        (1.5, True, True, False, None),
        (1.5, True, False, True, None),
    ],
)
def test_what_kernels_of_an_adapter_may_use(units, fused, software, reproducible, expected):
    info = Adapter()
    info.software = software
    found = Findings({"f32": replace(GOOD, fused_fma=fused)}, {"exp2": units})
    assert Gpu(None, info, None, found, reproducible).builtins == expected
