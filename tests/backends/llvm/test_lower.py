"""Oracle: for code of other machines, that LLVM accepts it; for text, the committed snapshots."""

import numpy as np
import pytest

from runmat_jit.backends.llvm.lower import lower
from runmat_jit.backends.llvm.schedule import Schedule, schedule_for
from runmat_jit.backends.llvm.target import CROSS_TARGETS, X86_64_V3_LINUX
from runmat_jit.kernel.build import Builder
from runmat_jit.kernel.interpret import Memory
from runmat_jit.kernel.text import to_text
from runmat_jit.kernel.verify_kernel import verify_kernel
from tests.backends.conformance.compare import elements
from tests.backends.llvm.native import Native, check, jit, without_avx512


def triad():
    b = Builder()
    x, y = b.buffer("x", "f32"), b.buffer("y", "f32")
    out, n = b.buffer("out", "f32", written=True), b.scalar("n", "index")
    with b.lanes(0, n) as lanes:
        value = b.load(x, lanes.i) * 3.0 + b.load(y, lanes.i)
        b.store(out, lanes.i, value)
    return b.finish()


def row_sums():
    b = Builder()
    x, out = b.buffer("x", "f64"), b.buffer("out", "f64", written=True)
    rows, n = b.scalar("rows", "index"), b.scalar("n", "index", multiple_of=4)
    with b.grid(rows) as cell:
        with b.total(0, n, [("add", "f64")]) as total:
            total.yield_(b.load(x, cell.i * n + total.i))
        b.note(total.out[0])
        b.store(out, cell.i, total.out[0] + 0.0, stride=0)
    return b.finish()


def everything():
    """Each kind of instruction that a target may select differently, on each type."""
    b = Builder()
    table, n = b.table("table", "f64"), b.scalar("n", "index")
    x = {k: b.buffer(f"x_{k}", k) for k in ("f32", "f64", "i32", "i64", "bool")}
    out = {k: b.buffer(f"out_{k}", k, written=True) for k in x}
    step = b.scalar("step", "index")

    def cold(k, args):
        index = k.prim("and", k.convert("bitcast", args[0], "i64"), 7)
        return (k.gather(table, index),)

    with b.grid(n) as cell:
        with b.total(0, n, [("add", "f64"), ("max", "f32"), ("min", "i32")]) as total:
            value = b.load(x["f32"], total.i)
            wide = b.convert("fpext", value, "f64")
            total.yield_(wide, value, b.load(x["i32"], total.i))
        with b.lanes(cell.i, n) as lanes:
            f, d = b.load(x["f32"], lanes.i), b.load(x["f64"], lanes.i * step, step)
            i, j = b.load(x["i32"], -lanes.i, -1), b.load(x["i64"], lanes.i * 2, 2)
            for op in ("sqrt", "rint", "floor", "ceil", "trunc_float", "abs", "neg"):
                f, d = b.prim(op, f), b.prim(op, d)
            f, d = b.fma(f, f, total.out[1]), b.fma(d, d, total.out[0])
            f, d = b.prim("scale2", f, b.prim("rint", f)), b.prim("scale2", d, b.prim("rint", d))
            with b.if_any(d > 1e5, [d]) as rare:
                rare.yield_(*b.call("cold", [d], ["f64"], cold, [table]))
            b.note(rare.out[0])
            b.note(f)
            i = b.prim("mulhi", i, i) + b.convert("fptosi", b.select(f < 1e9, f, 0.0), "i32")
            j = b.prim("sdiv", j, b.prim("or", j, 1)) + b.convert("sext", i, "i64")
            b.store(out["f32"], lanes.i, f + b.convert("uitofp", i, "f32"))
            b.store(out["f64"], -lanes.i, rare.out[0] + b.convert("sitofp", j, "f64"), -1)
            b.store(out["i32"], lanes.i * step, i, step)
            b.store(out["i64"], lanes.i, b.prim("lshr", j, 3))
            b.store(out["bool"], lanes.i, b.load(x["bool"], lanes.i) & b.prim("isnan", f))
    return b.finish()


KERNELS = {"triad": triad, "row sums": row_sums, "everything": everything}


@pytest.mark.parametrize("target", CROSS_TARGETS, ids=lambda t: f"{t.triple} {t.cpu}")
@pytest.mark.parametrize("name", KERNELS)
def test_every_platform_has_code_for_every_instruction(name, target):
    kernel = KERNELS[name]()
    verify_kernel(kernel)
    text = lower(kernel, schedule_for(kernel, target), target)
    code = jit().compile_object(text, target)
    for function in (b"fma", b"floor", b"ceil", b"roundeven", b"trunc"):
        assert function not in code, f"{function} is a call of the C library"


@pytest.mark.parametrize("name", ["triad", "row sums"])
def test_text_of_a_kernel(name, snapshot):
    assert to_text(KERNELS[name]()) == snapshot


@pytest.mark.parametrize("name", ["triad", "row sums"])
def test_llvm_text_of_a_kernel(name, snapshot):
    """For 256-bit vectors and two of them in flight, to be short."""
    kernel = KERNELS[name]()
    width = {"triad": 8, "row sums": 4}[name]
    assert lower(kernel, Schedule(width, 2, 1), X86_64_V3_LINUX) == snapshot


def test_wide_and_narrow_vectors_give_the_same_bits():
    """Own vectors and 256-bit ones, without AVX-512's instructions."""
    memories = []
    for target in (None, without_avx512()):
        native = Native(everything(), target=target)
        memories.append(run_everything(native))
    for name, array in memories[0].items():
        assert array.tobytes() == memories[1][name].tobytes(), name


def run_everything(native):
    rng = np.random.default_rng(0)
    n = 90
    memory = {
        "x_f32": rng.standard_normal(n).astype(np.float32),
        "x_f64": 1e3 * rng.standard_normal(2 * n),
        "x_i32": Memory(rng.integers(-9, 9, 2 * n).astype(np.int32), n),
        "x_i64": rng.integers(-9, 9, 2 * n),
        "x_bool": rng.random(n) < 0.5,
        "out_f32": np.zeros(n, np.float32),
        "out_f64": Memory(np.zeros(n), n - 1),
        "out_i32": np.zeros(2 * n, np.int32),
        "out_i64": np.zeros(n, np.int64),
        "out_bool": np.zeros(n, np.bool_),
        "table": rng.standard_normal(8),
    }
    check(native, memory | {"n": n, "step": 2}, 0, 3)
    native(memory | {"n": n, "step": 2}, 0, 3)
    return {k: elements(v) for k, v in memory.items() if k.startswith("out")}
