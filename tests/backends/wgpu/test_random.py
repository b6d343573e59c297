"""Draws of random numbers on an adapter. Oracle: the same launches as native code."""

import numpy as np
import pytest

from runmat_jit.compiler.draws import Draw
from tests.backends.wgpu.test_program import on_the_adapter
from tests.lower.execute import compiled, execute, prepared
from tests.ops.operands import same_bits

pytestmark = pytest.mark.usefixtures("adapter")


@pytest.mark.parametrize(
    "draw",
    [
        Draw("random_uniform", "float32", (10_001,)),
        Draw("random_uniform", "float64", (70, 33)),
        Draw("random_normal", "float32", (10_001,)),
        Draw("random_normal", "float64", (10_001,)),
        Draw("random_bounded", "int32", (10_001,)),
        Draw("random_bounded", "int64", (3, 5, 7)),
    ],
    ids=str,
)
def test_the_numbers_are_those_of_the_cpu(draw):
    graph = prepared(draw.graph())
    given = [1234567891234, -5, 999, -3][: len(graph.inputs)]
    inputs = [np.array(number, np.int64) for number in given]
    (found,) = on_the_adapter(graph, inputs)[0].values()
    ((expected,), _) = execute(graph, inputs, run=compiled)
    assert same_bits(found, expected)
