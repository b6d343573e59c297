"""The text of short shaders, as snapshots; oracle of names: the list of WGSL's keywords."""

import re

import pytest

from runmat_jit.backends.wgpu.arithmetic import Arithmetic
from runmat_jit.backends.wgpu.facts import Facts
from runmat_jit.backends.wgpu.print_shader import bindings_of, print_shader
from runmat_jit.backends.wgpu.printer import Printer
from runmat_jit.backends.wgpu.schedule import Schedule
from runmat_jit.backends.wgpu.uniforms import END, FIRST, origin_of, uniform_block
from runmat_jit.backends.wgpu.uses import uses_of
from runmat_jit.kernel.build import Builder
from tests.backends.wgpu.test_run import row_sums


def scaled():
    """``out[i] = x[i] * factor + 1``, in place of a user's ``var`` and ``fn``."""
    b = Builder()
    x, out = b.buffer("var", "f32"), b.buffer("fn", "f32", written=True)
    factor, n = b.scalar("let", "f32"), b.scalar("struct", "index")
    with b.lanes(0, n) as lanes:
        b.store(out, lanes.i, b.load(x, lanes.i) * factor + 1.0)
    return b.finish()


@pytest.mark.parametrize("guard", ["none", "fma", "sums", "or"])
def test_a_flat_kernel(guard, snapshot):
    assert print_shader(scaled(), Schedule(4, 64, 64), Arithmetic(guard)) == snapshot


def test_a_sum_of_rows(snapshot):
    schedule = Schedule(4, 64, 16)
    facts = Facts(multiples=frozenset({"step"}))
    assert print_shader(row_sums(), schedule, Arithmetic("none"), facts) == snapshot


def test_no_name_of_a_user_reaches_a_shader():
    text = print_shader(scaled(), Schedule(), Arithmetic())
    body = text[text.index("@compute") :]
    declared = re.findall(r"\b(?:let|var) (\w+)", body)
    assert all(re.fullmatch(r"[a-z]\d+", name) for name in declared)
    assert not re.search(r"\b(?:let|var|fn|struct)\s*[\[.]", body)


def test_equal_kernels_have_equal_text():
    first, second = (print_shader(row_sums(), Schedule(), Arithmetic()) for _ in range(2))
    assert first == second


def test_buffers_in_shared_memory_are_bound_alike():
    modes = [b.writable for b in bindings_of(scaled())]
    assert modes == [False, True]
    shared = Facts(shared=frozenset({"var", "fn"}))
    assert [b.writable for b in bindings_of(scaled(), shared)] == [True, True]


def test_the_uniform_block_has_wide_fields_first():
    b = Builder()
    b.buffer("x", "f32")
    b.scalar("flag", "i1")
    b.scalar("big", "i64")
    b.scalar("n", "index")
    b.scalar("y", "f64")
    block = uniform_block(b.finish(), Facts(shifted=frozenset({"x"})))
    assert [f.type for f in block.fields][:2] == ["i64", "f64"]
    numbers = {"flag": True, "big": 2**40, "n": -7, "y": 0.5, FIRST: 3, END: 9, origin_of("x"): 2}
    packed = block.pack(numbers)
    assert len(packed) == block.nbytes == 48
    assert packed[:8] == (2**40).to_bytes(8, "little")
    with pytest.raises(OverflowError, match="do not fit"):
        block.pack(numbers | {"n": 2**31})


def test_no_name_is_a_type_whatever_its_count():
    printer = Printer(Schedule(), Arithmetic(), uses_of(scaled()), {})
    names = {printer.fresh(letter) for letter in "iuf" for _ in range(70)}
    assert len(names) == 210
    assert not names & {"i32", "u32", "f32", "f16", "i64", "u64", "f64"}
