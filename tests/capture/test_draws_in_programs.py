"""Draws from our own generators as operations. Oracle: undecorated Python with a like generator:
what the numbers are, where the generators are afterwards, and how the call ends.
"""

import os
import random
import threading

import numpy as np
import pytest

import runmat_jit as runmat
from runmat_jit.compiler.compiler import DeviceExecutor
from runmat_jit.compiler.resident_gpu import ResidentGpuProgram
from runmat_jit.random import default_rng
from tests.capture.behavior import module

FULL = os.environ.get("RUNMAT_TEST_PROFILE", "default") != "default"
SHAPES = ("7", "x.shape", "(3, 4)", "len(x)", "(2, 3, 5)", "x.size", "4096")
DRAWS = (
    "{g}.random({s})",
    "{g}.random({s}, dtype=np.float32)",
    "{g}.standard_normal({s})",
    "{g}.standard_normal(size={s}, dtype=np.float32)",
    "{g}.normal(0.5, 2.0, {s})",
    "{g}.uniform(-1.0, 3.0, size={s})",
)
STATEMENTS = (
    "x = x + {d}.sum()",
    "x = x * 0.5 + {d}.mean()",
    "out.append({d} * 2)",
    "{d}",
    "for _ in range(3): x = x + {d}.max() * w",
    "out.append(rng.integers(0, 9, 3))",
    "out.append(rng.random())",
    "out.append(rng.permutation(4))",
    "out.append(rng.state['state']['counter'])",
    "out.append(rng.normal(w, 1.0, 3))",
    "rng.random(out=np.empty(3))",
    "out.append(rng.random(0)); out.append(rng.random((2, 0)))",
    "if x.sum() > c: x = x - {d}.sum()",
    "x = -x if {d}.sum() > w else x",
    "out.append(float({d}.sum()))",
    "x[1:] += {d}.min()",
    "with np.errstate(all='raise'): x = x + np.log({d} + 9)",
    "if x.sum() > 30 + c: raise ValueError('far')",
    "x = x + np.log({d} - {d}).sum() * 0",
)


def program(seed):
    """The text of a random program."""
    choose = random.Random(seed)

    def draw():
        one = choose.choice(DRAWS)
        return one.format(g=choose.choice(("rng", "rng", "other")), s=choose.choice(SHAPES))

    lines = [choose.choice(STATEMENTS) for _ in range(choose.randint(2, 7))]
    lines = [line.replace("{d}", "{}").format(*(draw() for _ in range(9))) for line in lines]
    body = "\n    ".join(["out = []", *lines, "return x, out"])
    return f"import numpy as np\ndef f(x, w, c, rng, other):\n    {body}\n"


def observed(fn, arguments):
    """How a call ends, and with what."""
    with np.errstate(all="ignore"):
        try:
            x, out = fn(*arguments)
        except (ValueError, FloatingPointError) as error:
            return type(error), str(error)
    return [np.asarray(x), *map(np.asarray, out)]


def require_same(fn, ways, seed):
    """Calls with other numbers each: the same values, and generators in the same places."""
    rngs = [[default_rng(seed), default_rng(seed + 1)] for _ in range(2)]
    for number in range(6):
        values = np.linspace(-1, 2, 6 + number % 2), 0.25 * number, float(number % 3)
        given = ways(values[0].copy())
        wanted = observed(fn[0], (*values, *rngs[0]))
        found = observed(fn[1], (given, *values[1:], *rngs[1]))
        states = [[rng.state for rng in pair] for pair in rngs]
        assert states[0] == states[1], number
        if isinstance(wanted, tuple):
            assert found == wanted
            continue
        assert len(found) == len(wanted), found
        for one, other in zip(found, wanted, strict=True):
            assert one.dtype == other.dtype
            np.testing.assert_allclose(one, other, rtol=2e-5, atol=2e-5)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("seed", range(400 if FULL else 24))
def test_programs_that_draw_give_the_numbers_of_their_calls(seed, monkeypatch):
    monkeypatch.setattr(DeviceExecutor, "makes_draws", property(lambda _: True))
    fn = module(program(seed), "drawing")["f"]
    require_same((fn, runmat.jit(fn)), lambda x: x, seed)


@pytest.mark.parametrize("seed", range(1000, 1060 if FULL else 1004))
def test_they_do_on_a_gpu(seed, gpu):
    fn = module(program(seed), "drawing")["f"]
    fast = runmat.jit(fn, device="gpu")
    require_same((fn, fast), lambda x: runmat.asarray(x, device="gpu"), seed)


def test_draws_are_made_in_the_kernels_that_use_their_numbers(gpu):
    def paths(price, rng):
        for _ in range(4):
            price = price * np.exp(0.01 * rng.standard_normal(len(price)))
        return price

    fast = runmat.jit(paths, device="gpu")
    price, rng = runmat.asarray(np.ones(500), device="gpu"), default_rng(1)
    for _ in range(3):
        fast(price, rng)
    report = fast.explain(price, rng).to_dict()
    assert {region["device"] for region in report["regions"]} == {"gpu"}
    assert not report["host_calls"], "NumPy has no part in it"


@pytest.mark.usefixtures("gpu")
@pytest.mark.parametrize("shape", [(20, 40, 3), (20, 41), (20, 44)])
def test_numbers_beside_what_rows_have_in_common(shape):
    def noisy(x, gain, rng):
        return x * gain + rng.random(x.shape, dtype=np.float32)

    x, gain = np.ones(shape, np.float32), np.arange(shape[-1], dtype=np.float32)
    found = runmat.jit(noisy, device="gpu")(runmat.asarray(x, "gpu"), gain, default_rng(1))
    np.testing.assert_array_equal(np.asarray(found), noisy(x, gain, default_rng(1)))


def test_adapters_without_words_of_64_bits_get_numbers_from_the_host(gpu, monkeypatch):
    def noisy(x, rng):
        return x + rng.random(len(x), dtype=np.float32)

    kinds = gpu.info.kinds - {"i64"}
    monkeypatch.setattr(type(gpu.info), "kinds", property(lambda _: kinds))
    fast, x = runmat.jit(noisy, device="gpu"), np.zeros(9, np.float32)
    given = runmat.asarray(x, device="gpu")
    found = fast(given, default_rng(1))
    np.testing.assert_array_equal(np.asarray(found), noisy(x, default_rng(1)))
    report = fast.explain(given, default_rng(1)).to_dict()
    assert [region["device"] for region in report["regions"]] == ["gpu"]
    assert len(report["host_calls"]) == 1


def test_a_generator_that_threads_share_gives_each_number_once(gpu):
    def drawn(x, rng):
        return x + rng.random(len(x)), x - rng.random(len(x))

    fast, rng, count = runmat.jit(drawn, device="gpu"), default_rng(3), 20
    zeros, found, lock = np.zeros(64), list[np.ndarray](), threading.Lock()

    def call():
        x = runmat.asarray(zeros, device="gpu")
        for _ in range(count):
            one, other = map(np.asarray, fast(x, rng))
            with lock:
                found.extend((one, -other))

    threads = [threading.Thread(target=call) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    every = np.sort(np.concatenate(found))
    whole = np.sort(default_rng(3).random(every.size))
    np.testing.assert_allclose(every, whole, atol=1e-12)


def filtered(w, rng):
    for _ in range(12):
        x = rng.random(w.shape)
        w = w - 0.1 * x * (x * w).sum(axis=0)
    return w


@pytest.mark.parametrize("way", ["gives nothing", "raises"])
@pytest.mark.parametrize("failing", [0, 2])
def test_a_gate_that_python_takes_over_from_draws_nothing_twice(gpu, failing, way, monkeypatch):
    """A program of a gate may leave the call to Python, after others have drawn."""
    fast, rngs = runmat.jit(filtered, device="gpu"), [default_rng(5), default_rng(5)]
    host = np.linspace(0, 1, 40).reshape(8, 5)
    runs, run_there = [], ResidentGpuProgram.run_there

    def run(program, inputs, warn):
        runs.append(program)
        if len(runs) == stop and way == "raises":
            raise MemoryError
        return None if len(runs) == stop else run_there(program, inputs, warn)

    stop = 0
    monkeypatch.setattr(ResidentGpuProgram, "run_there", run)
    for number in range(6):
        stop = failing if number == 5 else 0
        runs.clear()
        found = fast(runmat.asarray(host, device="gpu"), rngs[0])
        np.testing.assert_allclose(np.asarray(found), filtered(host, rngs[1]), rtol=1e-12)
        assert rngs[0].state == rngs[1].state
    assert len(runs) >= (failing or 3), "gates make such calls, by some programs"
