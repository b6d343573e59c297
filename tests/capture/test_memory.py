"""Memory of long functions; oracle: the memory of this process, in arrays of 8 MB."""

import subprocess
import sys
import textwrap

import pytest

pytestmark = pytest.mark.sampled(2)

ARRAY = 8_000_000
PROGRAMS = {
    "a chain": """
        y = x
        for i in range(1000):
            y = y * 0.999 + i * 1e-3
        return y
    """,
    "two values that need each other": """
        y, z = x, x
        for i in range(200):
            y = y * 0.5 + z
            z = z * 0.9 - y
        return y, z
    """,
    "sums that the next operation needs": """
        y = x
        for i in range(100):
            y = y - y.sum() * 1e-9
            y = y * 0.99
        return y
    """,
    "host calls": """
        y = x
        for i in range(20):
            y = np.cumsum(y * 0.999 + 1)
        return y
    """,
    "writes to parts": """
        y = x.copy()
        for i in range(60):
            y[1:] += y[:-1] * 0.5
            y *= 0.9
            y[::2] -= 1
        return y
    """,
    "decisions": """
        y = x
        for i in range(100):
            y = y * 0.99
            if y.max() > 0.5:
                y = y - 1e-4
        return y
    """,
    "temporaries of many lengths": """
        y = x
        for i in range(50):
            y = y[1:] - y[:-1] * 0.5
        return y
    """,
}
SCRIPT = """
import sys
import numpy as np
import runmat_jit as runmat

def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096

def peak():
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith("VmHWM"))

def fn(x):
{body}

x = np.random.default_rng(0).random(1_000_000)
runmat.jit(fn)(x[:100].copy())  # compiles, which takes memory of another kind
before = resident()
decorated = runmat.jit(fn)
decorated(x)
decorated(x)
print((peak() - before) / {array})
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads the memory of a process from /proc")
@pytest.mark.parametrize("name", PROGRAMS)
def test_long_functions_run_in_fewer_than_ten_arrays(name, tmp_path):
    body = textwrap.indent(textwrap.dedent(PROGRAMS[name]).strip(), "    ")
    script = tmp_path / "script.py"
    script.write_text(SCRIPT.format(body=body, array=ARRAY))
    done = subprocess.run(
        [sys.executable, script], capture_output=True, text=True, timeout=300, check=True
    )
    assert float(done.stdout) < 10
