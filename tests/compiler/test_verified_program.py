"""Oracle: programs that were made wrong on purpose must be refused, right ones pass."""

from dataclasses import replace

import numpy as np
import pytest

from runmat_jit.compiler.compile_graph import CompiledGraph, compile_graph, executable, verified
from runmat_jit.compiler.lower_program import lower_program
from runmat_jit.compiler.verified_program import (
    VerificationError,
    like,
    order_decides,
    same_bits,
    within_bound,
)
from runmat_jit.passes.pipeline import optimize
from runmat_jit.plan.device import CPU
from runmat_jit.runtime.session import Session
from tests.graph.written import written

X = np.linspace(0.25, 3, 101, dtype=np.float32)
NONE = frozenset()


@pytest.fixture(scope="module")
def session():
    return Session()


class Wrong:
    """A program whose results are changed after each run."""

    def __init__(self, program, change):
        self.program, self.change = program, change

    def run(self, inputs, warn):
        results = self.program.run(inputs, warn)
        self.change(results)
        return results


def nudge(results):
    results[0][7] = np.nextafter(results[0][7], np.float32(9))


@pytest.mark.parametrize(
    "expression",
    [
        "add(exp($0), multiply($0, 0.1))",
        "sum(sin($0), axis=(0,), keepdims=False, dtype='float32')",
        "divide($0, sum($0, axis=(0,), keepdims=True, dtype='float32'))",
    ],
)
def test_right_programs_pass(session, expression):
    graph = written(["float32[101]"], expression)
    compiled = verified(session, compile_graph(session, graph))
    (result,) = compiled.run([X], NONE)
    assert np.isfinite(result).all()


def test_a_fused_result_off_by_one_bit_is_refused(session):
    graph = written(["float32[101]"], "add(exp($0), multiply($0, 0.1))")
    compiled = compile_graph(session, graph)
    compiled = verified(session, replace(compiled, program=Wrong(compiled.program, nudge)))
    with pytest.raises(VerificationError, match="fused and unfused differ, first at \\(7,\\)"):
        compiled.run([X], NONE)


def test_an_operation_outside_its_bound_is_refused(session):
    graph = optimize(written(["float32[101]"], "exp($0)"))
    lowered = lower_program(session, graph, passes=())
    program = executable(session, lowered)
    compiled = verified(session, CompiledGraph(program, graph, CPU, lambda: lowered))

    def spoil(results):
        results[0][3] *= np.float32(1.0001)

    program = replace(compiled.program, single=Wrong(compiled.program.single, spoil))
    with pytest.raises(VerificationError, match=r"exp.*NumPy and us differ"):
        program.run([X], NONE)


def test_copies_lie_in_memory_as_the_originals():
    base = np.arange(24.0).reshape(4, 6)
    view = base[::-2, 1::2]
    copy = like(view, view.copy())
    assert copy.strides == view.strides
    assert not np.shares_memory(copy, base)
    np.testing.assert_array_equal(copy, view)


def test_bits_tell_zeros_apart_and_take_any_nan():
    assert not same_bits(np.array([0.0]), np.array([-0.0]))
    assert same_bits(np.array([np.nan, 1]), np.array([-np.nan, 1]))


@pytest.mark.parametrize(
    ("expression", "values"),
    [
        ("sum($0, axis=(0,), keepdims=False, dtype='float64')", [1.5e308, 1.5e308, -1.5e308] * 40),
        ("fmax($0, -0.0)", [0.0]),
    ],
)
def test_what_numpy_itself_decides_by_order_is_not_refused(session, expression, values):
    x = np.array(values)
    graph = written([f"float64[{x.size}]"], expression)
    compiled = verified(session, compile_graph(session, graph))
    assert len(compiled.run([x], NONE)) == 1


def test_a_sum_within_range_is_still_compared(session):
    node = (
        written(["float64[3]"], "sum($0, axis=(0,), keepdims=False, dtype='float64')")
        .outputs[0]
        .node
    )
    values = {node.args[0]: np.array([0.5, 0.0, 1e-300])}
    assert not order_decides(node, values)
    assert not within_bound(node, np.array(0.0), np.array(1e-9), values)
