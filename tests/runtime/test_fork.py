"""Children forked at any moment compute. Oracle: the undecorated function, in the child."""

import os
import subprocess
import sys
import textwrap

import pytest

pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="children are forked on Linux alone"
)
LIMIT_S = 60
"""Of a child: many times what it needs, so that one that hangs is told from a slow one."""

PROGRAM = """
import linecache, os, select, sys, threading
import numpy as np
import runmat_jit as runmat

LIMIT_S = float(sys.argv[1])
x = np.linspace(0, 1, 1 << 18)

def fresh(n):
    text = f"def f(x):\\n    return np.sqrt(x * {n}.25 + {n}) - np.tanh(x) * {n}.5\\n"
    name, namespace = f"<fresh {n}>", {"np": np}
    linecache.cache[name] = len(text), None, text.splitlines(True), name
    exec(compile(text, name, "exec"), namespace)
    return runmat.jit(namespace["f"])

def close(function, x):
    return bool(np.allclose(function(x), function.__wrapped__(x), rtol=1e-12))

known = fresh(0)
known(x)

def compile_all(first):
    for n in range(first, first + 100_000):
        if over:
            return
        fresh(n)(x[: 1000 + n % 7])
        known(x)

def in_child(number):
    good = [close(known, x), close(fresh(number), x)]
    other = threading.Thread(target=lambda: good.append(close(fresh(2 * number), x[:999])))
    other.start()
    other.join()
    return len(good) == 3 and all(good)

def forked(number):
    begin, end = os.pipe()
    child = os.fork()
    if not child:
        os.write(end, b"1" if in_child(number) else b"0")
        os._exit(0)
    os.close(end)
    ready = select.select([begin], [], [], LIMIT_S)[0]
    said = os.read(begin, 1) if ready else b"hangs"
    os.close(begin)
    if not ready:
        os.kill(child, 9)
    os.waitpid(child, 0)
    return said
"""


def run(program, **environment):
    """The output of a program in a process of its own."""
    return subprocess.run(
        [sys.executable, "-c", PROGRAM + textwrap.dedent(program), str(LIMIT_S)],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
        env={**os.environ, "RUNMAT_CACHE_DIR": "none", "RUNMAT_NUM_THREADS": "2", **environment},
    )


def test_children_forked_while_threads_compile_compute():
    done = run("""
        over = False
        threads = [threading.Thread(target=compile_all, args=(10**6 * k,)) for k in range(1, 4)]
        for thread in threads:
            thread.start()
        print([forked(10**7 + number).decode() for number in range(12)])
        over = True
        for thread in threads:
            thread.join()
    """)
    assert done.stdout == f"{['1'] * 12}\n", done.stderr


def test_a_child_forked_within_a_decorated_call_computes_in_it_and_after_it():
    done = run("""
        @runmat.jit
        def forks(x):
            y = x * 2
            child = os.fork()
            return y + 1, child

        limit = sys.getrecursionlimit()
        result, child = forks(x)
        good = bool((result == x * 2 + 1).all()) and close(fresh(1), x)
        good = good and sys.getrecursionlimit() == limit
        if child:
            print(good, os.waitpid(child, 0)[1])
        else:
            os._exit(not good)
    """)
    assert done.stdout == "True 0\n", done.stderr


def test_a_child_forked_beside_a_deep_recursion_has_its_own_limit():
    done = run("""
        limit = sys.getrecursionlimit()
        inside, leave = threading.Event(), threading.Event()

        @runmat.jit
        def waits(x):
            inside.set()
            leave.wait()
            return x

        thread = threading.Thread(target=waits, args=(x,))
        thread.start()
        inside.wait()
        child = os.fork()
        if not child:
            os._exit(sys.getrecursionlimit() != limit)
        print(os.waitpid(child, 0)[1])
        leave.set()
        thread.join()
    """)
    assert done.stdout == "0\n", done.stderr


@pytest.mark.usefixtures("gpu")
def test_a_child_leaves_its_parents_gpu_alone():
    done = run(
        """
        on_gpu = runmat.jit(known.__wrapped__, device="gpu")
        y = x.astype(np.float32)
        expected = on_gpu(y)
        array, unread = (runmat.asarray(y, device="gpu") for _ in range(2))
        held = runmat.jit(lambda a: a + 1, device="gpu")(array)
        np.asarray(array)  # what the host has seen is the child's, too
        child = os.fork()
        if not child:
            new = fresh(4).__wrapped__
            good = np.allclose(on_gpu(y), expected, atol=1e-5)
            good = good and np.array_equal(runmat.jit(new, device="gpu")(y), runmat.jit(new)(y))
            good = good and np.array_equal(np.asarray(array), y)
            good = good and "was lost" in str(on_gpu.explain(y[:9]))
            for lost, right in ((held, y + 1), (unread, y)):
                try:
                    good = good and np.array_equal(np.asarray(lost), right)
                except runmat.BackendError as error:
                    good = good and "forked" in str(error)
            os._exit(not good)
        print(os.waitpid(child, 0)[1], np.array_equal(np.asarray(held), y + 1))
        """,
        RUNMAT_CACHE_DIR=os.environ["RUNMAT_CACHE_DIR"],  # where adapters are known already
    )
    assert done.stdout == "0 True\n", done.stderr
