"""Rows that stay in registers. Oracle: the interpreter, to the bit."""

import numpy as np
import pytest

from runmat_jit.backends.wgpu.rows import steps_of, walks_of
from runmat_jit.kernel.build import Builder
from runmat_jit.kernel.interpret import interpret
from tests.backends.wgpu.shaders import hardware_runner, run

pytestmark = pytest.mark.usefixtures("adapter")

LENGTHS = (1, 3, 27, 31, 32, 33, 60, 64, 65, 1000, 1001, 1024, 2052, 5000, 16_384)


def spread(element, *, in_place=False, gap=0):
    """``y = x - max``, then ``y * sum(y) + bias``: three walks; one stores for the next."""
    b = Builder()
    x, bias = b.buffer("x", element, written=in_place), b.buffer("bias", element)
    out = x if in_place else b.buffer("out", element, written=True)
    rows, n, step = (b.scalar(name, "index") for name in ("rows", "n", "step"))
    with b.grid(rows) as cell:
        begin = cell.i * step + gap
        with b.total(0, n, [("max", element)]) as largest:
            largest.yield_(b.load(x, begin + largest.i))
        with b.total(0, n, [("add", element), ("min", element)]) as sums:
            value = b.load(x, begin + sums.i) - largest.out[0]
            b.store(out, begin + sums.i, value)
            sums.yield_(value, value)
        with b.lanes(0, n) as lanes:
            value = b.load(out, begin + lanes.i) * sums.out[0] + b.load(bias, lanes.i)
            b.store(out, begin + lanes.i, value - sums.out[1])
    return b.finish()


def spread_along_columns(element):
    """The same of the columns of an array: neighboring threads have neighboring columns."""
    b = Builder()
    x, bias = b.buffer("x", element), b.buffer("bias", element)
    out = b.buffer("out", element, written=True)
    rows, n, step = (b.scalar(name, "index") for name in ("rows", "n", "step"))
    with b.grid(rows) as cell:
        with b.total(0, n, [("max", element)], lanes=1) as largest:
            largest.yield_(b.load(x, cell.i + largest.i * step, step))
        with b.total(0, n, [("add", element), ("min", element)], lanes=1) as sums:
            value = b.load(x, cell.i + sums.i * step, step) - largest.out[0]
            b.store(out, cell.i + sums.i * step, value, step)
            sums.yield_(value, value)
        with b.lanes(0, n) as lanes:
            value = b.load(out, cell.i + lanes.i * step, step) * sums.out[0] + b.load(bias, lanes.i)
            b.store(out, cell.i + lanes.i * step, value - sums.out[1], step)
    return b.finish()


@pytest.mark.parametrize("element", ["f32", "f64"])
@pytest.mark.parametrize("n", [2, 16, 17, 100, 256])
def test_walks_over_one_column_have_the_interpreters_bits(element, n):
    dtype, kernel = {"f32": np.float32, "f64": np.float64}[element], spread_along_columns(element)
    for rows in (1, 35):
        rng = np.random.default_rng(n)
        data, found = rng.standard_normal(rows * n).astype(dtype), []
        for computed in (True, False):
            arguments = {"x": data, "bias": np.arange(n).astype(dtype), "out": np.zeros_like(data)}
            arguments |= {"rows": rows, "n": n, "step": rows}
            if computed:
                run(kernel, arguments, (0, rows), using=hardware_runner())
            else:
                interpret(kernel, arguments)
            found.append(arguments["out"].view(np.uint8))
        assert np.array_equal(*found), (rows, n)


def test_a_column_is_read_once_by_neighboring_threads():
    kernel = spread_along_columns("f32")
    schedule = hardware_runner().backend.schedule(kernel, _longest(kernel, 128), 300)
    text = hardware_runner().backend.source(kernel, schedule)
    assert (schedule.team, schedule.threads, schedule.across) == (8, 256, True)
    assert text.count("p0[") == 16
    assert text.count("p2[") == 16  # what the second walk stores, the third has in registers


def walked(kernel, dtype, *, rows, n, gap, in_place):
    """What the interpreter and the shader make of the same memory."""
    rng = np.random.default_rng(n)
    step = n + gap
    data = rng.integers(-8, 9, rows * step + gap + 4).astype(dtype)
    found = []
    for computed in (True, False):
        arguments = {
            "x": data.copy(),
            "bias": np.arange(n + 4).astype(dtype) % 7,
            "rows": rows,
            "n": n,
            "step": step,
        }
        if not in_place:
            arguments["out"] = np.zeros_like(data)
        arguments = {p.name: arguments[p.name] for p in kernel.parameters}
        if computed:
            run(kernel, arguments, (0, rows), using=hardware_runner())
        else:
            interpret(kernel, arguments)
        found.append(arguments["x" if in_place else "out"])
    return found


@pytest.mark.sampled(3)
@pytest.mark.parametrize("gap", [0, 3, 4])
@pytest.mark.parametrize("in_place", [False, True])
@pytest.mark.parametrize("element", ["f32", "f64"])
@pytest.mark.parametrize("n", LENGTHS)
def test_walks_over_one_row_have_the_interpreters_bits(element, n, in_place, gap):
    dtype = {"f32": np.float32, "f64": np.float64}[element]
    n = min(n, 8_192) if element == "f64" else n  # no total is longer
    kernel = spread(element, in_place=in_place, gap=gap)
    for rows in (1, 5):
        ours, expected = walked(kernel, dtype, rows=rows, n=n, gap=gap, in_place=in_place)
        assert np.array_equal(ours.view(np.uint8), expected.view(np.uint8)), (rows, n)


def test_a_row_is_read_once():
    kernel = spread("f32")
    schedule = hardware_runner().backend.schedule(kernel, _longest(kernel, 1024), 8)
    text = hardware_runner().backend.source(kernel, schedule)
    assert schedule.steps == 16
    assert text.count("p0[") == 16 * schedule.lanes


@pytest.mark.parametrize(("n", "lanes"), [(1001, 1), (4096, 1), (5000, 2), (16_384, 4)])
def test_rows_between_vectors_have_an_element_a_thread_where_they_fit_so(n, lanes):
    kernel = spread("f32")
    schedule = hardware_runner().backend.schedule(kernel, _longest(kernel, n), 8)
    assert (schedule.lanes, schedule.steps) == (lanes, 16)


def _longest(kernel, n):
    return {walk.block.index.number: n for walk in walks_of(kernel)}


def test_rows_that_are_too_long_or_walked_otherwise_stay_in_memory():
    kernel = spread("f32")
    assert steps_of(kernel, 1) == 1
    assert steps_of(kernel, 65) == 2
    assert steps_of(kernel, 16_384) == 16
    backend = hardware_runner().backend
    assert backend.schedule(kernel, _longest(kernel, 16_384), 8).steps == 16
    assert backend.schedule(kernel, _longest(kernel, 40_000), 8).steps == 0
    assert backend.schedule(kernel, {}, 8).steps == 0
    b = Builder()
    x, out = b.buffer("x", "f32"), b.buffer("out", "f32", written=True)
    rows, n = (b.scalar(name, "index") for name in ("rows", "n"))
    with b.grid(rows) as cell:
        with b.total(0, n, [("add", "f32")]) as total:
            total.yield_(b.load(x, cell.i * n + total.i))
        with b.lanes(1, n) as lanes:
            b.store(out, cell.i * n + lanes.i, b.load(x, cell.i * n + lanes.i) * total.out[0])
    assert walks_of(b.finish()) == ()


def touched_twice(form):
    """Walks that store what they read again, or elsewhere, or for some lanes alone."""
    b = Builder()
    x, out = b.buffer("x", "f32"), b.buffer("out", "f32", written=True)
    rows, n, step = (b.scalar(name, "index") for name in ("rows", "n", "step"))
    with b.grid(rows) as cell:
        begin = cell.i * step
        with b.total(0, n, [("add", "f32")]) as total:
            value = b.load(x, begin + total.i) + b.load(out, begin + total.i)
            b.store(out, begin + total.i, value)
            if form == "read again":
                value = b.load(out, begin + total.i) * 3.0
            total.yield_(value)
        with b.lanes(0, n) as lanes:
            place = begin + lanes.i
            value = b.load(out, place) + total.out[0]
            if form == "some lanes":
                with b.if_any(value > 4.0, ()):
                    b.store(out, place, value)
            elif form == "beside":
                b.store(out, place + rows * step, value)
            else:
                b.store(out, place, value)
                b.store(out, place, b.load(out, place) - 1.0)
        with b.lanes(0, n) as lanes:
            place = begin + lanes.i
            b.store(out, place, b.load(out, place) * 2.0)
    return b.finish()


@pytest.mark.parametrize("form", ["read again", "some lanes", "beside", "stored twice"])
@pytest.mark.parametrize("n", [5, 64, 1000])
def test_what_is_stored_is_known_or_read_again(form, n):
    kernel = touched_twice(form)
    found = []
    for compute in (
        interpret,
        lambda k, a: run(k, a, (0, 3), using=hardware_runner()),
    ):
        rng = np.random.default_rng(n)
        x, out = (rng.integers(-8, 9, 6 * n + 8).astype(np.float32) for _ in range(2))
        compute(kernel, {"x": x, "out": out, "rows": 3, "n": n, "step": n})
        found.append(out)
    assert np.array_equal(*found)
