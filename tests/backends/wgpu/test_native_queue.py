"""Oracle: NumPy, on kernels whose result tells how often, and in which order, they have run."""

import gc
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest

from runmat_jit.backends.wgpu.adapter import Device, adapters
from runmat_jit.backends.wgpu.backend import WgpuBackend
from runmat_jit.backends.wgpu.native_queue_text import ITEMS
from runmat_jit.backends.wgpu.run import KernelRun, WgpuRunner
from runmat_jit.core.errors import BackendError
from runmat_jit.kernel.build import Builder
from runmat_jit.runtime.session import current_session
from tests.backends.wgpu.shaders import EMULATED

pytestmark = pytest.mark.usefixtures("adapter")
SIZE = 300


def opened(cores):
    """A runner on a device of its own, which a test may break."""
    found = sorted(adapters(), key=lambda adapter: not adapter.info.software)
    device = Device(found[0])
    device.submit_by(current_session().jit.functions, cores)
    assert device.native is not None, "the parts of this wgpu-py are known"
    return WgpuRunner(WgpuBackend(device, EMULATED))


@pytest.fixture(params=[1, 2, 4], ids=["no thread", "hasty", "patient"])
def runner(request):
    made = opened(request.param)
    yield made
    made.device.close()


def affine():
    """``x[i] = a * x[i] + c``: no two orders of such steps give the same."""
    b = Builder()
    x, n = b.buffer("x", "i32", written=True), b.scalar("n", "index")
    a, c = b.scalar("a", "i32"), b.scalar("c", "i32")
    with b.lanes(0, n) as lanes:
        b.store(x, lanes.i, b.load(x, lanes.i) * a + c)
    return b.finish()


def steps(runner, array, count):
    """Batches of such steps, each with numbers of its own, and what they do to a number."""
    kernel, numbers = affine(), [(3 + k % 5, k) for k in range(count)]
    batches = [
        runner.prepare(
            [
                KernelRun(
                    *(kernel, {"x": array, "n": SIZE, "a": a, "c": c}, (0, SIZE)),
                    given={"c": "c"},
                )
            ]
        )
        for a, c in numbers
    ]
    return batches, numbers


def applied(value, numbers):
    for a, c in numbers:
        value = np.int32((int(value) * a + c + (1 << 31)) % (1 << 32) - (1 << 31))
    return value


def test_what_is_put_runs_once_and_in_order_however_much_it_is(runner):
    memory = runner.backend.memory
    array = memory.upload(np.arange(SIZE, dtype=np.int32))
    batches, numbers = steps(runner, array, 24)
    expected = np.arange(SIZE, dtype=np.int32)
    for rounds in (1, 2, 5, 2 * ITEMS // 24 + 3):
        for _ in range(rounds):
            for batch in batches:
                runner.submit(batch)
        expected = np.array([applied(value, numbers * rounds) for value in expected], np.int32)
        np.testing.assert_array_equal(memory.download(array), expected)


def test_copies_writes_and_other_numbers_keep_their_place_in_the_order(runner):
    memory = runner.backend.memory
    array = memory.upload(np.zeros(SIZE, np.int32))
    (first, second, third), numbers = steps(runner, array, 3)
    for k in range(20):
        memory.write(array, np.full(SIZE, k, np.int32))
        runner.submit(first)
        runner.submit(second)
        kept = memory.duplicate(array)
        runner.submit(third)
        first = runner.renumber(first, {"c": k})
        runner.submit(first)
        two = applied(k, [(numbers[0][0], max(k - 1, 0)), numbers[1]])
        all_of_them = applied(two, [numbers[2], (numbers[0][0], k)])
        assert set(memory.download(kept)) == {two}
        assert set(memory.download(array)) == {all_of_them}
        memory.free([kept])
    memory.clear()
    runner.submit(second)
    assert set(memory.download(array)) == {applied(all_of_them, [numbers[1]])}


def test_a_thread_that_sleeps_is_woken(runner):
    memory = runner.backend.memory
    array = memory.upload(np.zeros(SIZE, np.int32))
    batches, numbers = steps(runner, array, 3)
    for pause in (0.0, 0.02, 0.0, 0.02):  # longer than it spins
        for batch in batches:
            runner.submit(batch)
            time.sleep(pause)
    assert set(memory.download(array)) == {applied(0, numbers * 4)}


def test_batches_that_nobody_holds_run(runner):
    memory = runner.backend.memory
    array = memory.upload(np.zeros(SIZE, np.int32))
    for _ in range(10):
        batches, numbers = steps(runner, array, 3)
        for batch in batches:
            runner.submit(batch)
        del batches, batch
        gc.collect()
    assert set(memory.download(array)) == {applied(0, numbers * 10)}


def test_waiting_is_for_all_that_was_put(runner):
    memory = runner.backend.memory
    array = memory.upload(np.zeros(SIZE, np.int32))
    batches, _ = steps(runner, array, 40)
    for batch in batches:
        runner.submit(batch)
    runner.device.wait()
    native = runner.device.native
    assert native._done.value == native._head.value


def test_a_device_that_is_gone_refuses_and_ends_no_process(runner):
    memory = runner.backend.memory
    array = memory.upload(np.zeros(SIZE, np.int32))
    batches, _ = steps(runner, array, 3)
    for batch in batches:
        runner.submit(batch)
    runner.device.wait()
    runner.device.handle.destroy()
    with pytest.raises(BackendError, match=r"(?i)lost|destroyed"):
        for _ in range(3):
            for batch in batches:
                runner.submit(batch)
        runner.device.wait()
    with pytest.raises(BackendError):
        runner.submit(batches[0])
    with pytest.raises(BackendError):
        memory.download(array)


def test_several_python_threads_take_turns(runner):
    memory, lock = runner.backend.memory, threading.Lock()
    array = memory.upload(np.zeros(SIZE, np.int32))
    kernel = affine()
    batch = runner.prepare([KernelRun(kernel, {"x": array, "n": SIZE, "a": 1, "c": 1}, (0, SIZE))])

    def many():
        for _ in range(200):
            with lock:
                runner.submit(batch)

    threads = [threading.Thread(target=many) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(memory.download(array)) == {800}


PROGRAM = """
import gc, os, sys
import numpy as np
import runmat_jit as runmat

f = runmat.jit(lambda x: x * 2 + 1, device="gpu")
x = runmat.asarray(np.arange(1000, dtype=np.float32), "gpu")
for _ in range(500):
    y = f(x)
assert runmat.telemetry.snapshot()["gpu_submits"] == 500
{end}
"""
ENDS = {
    "exit": "",
    "error": "raise SystemExit(3)",
    "child": """
if not os.fork():
    try:
        np.asarray(y)
    except runmat.BackendError:
        os._exit(0)
    os._exit(1)
assert os.wait()[1] == 0
np.testing.assert_array_equal(y, np.arange(1000) * 2 + 1)
""",
    "session": """
from runmat_jit.runtime.session import Session, use_session
use_session(Session())
del f, x, y
gc.collect()
""",
}


@pytest.mark.parametrize("end", ENDS)
def test_a_process_may_end_whatever_waits(end, tmp_path):
    if end == "child" and not sys.platform.startswith("linux"):
        pytest.skip("children are forked on Linux alone")
    program = tmp_path / "program.py"
    program.write_text(textwrap.dedent(PROGRAM).format(end=ENDS[end]))
    command = [sys.executable, str(program)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == (3 if end == "error" else 0), done.stderr
    assert "Traceback" not in done.stderr
