"""Oracle: the printed graph, the number of kernels compiled, and blocks counted by hand."""

import numpy as np
import pytest

from runmat_jit.compiler.draws import PROGRAM_LIMIT, SMALL, Draw, DrawPrograms
from runmat_jit.graph.text import to_text
from runmat_jit.graph.verify_graph import verify_graph
from runmat_jit.runtime.session import Session

KEY, COUNTER = 2**64 - 5, 77


@pytest.fixture(scope="module")
def session():
    return Session()


def test_a_draw_is_a_graph_of_one_row_whose_key_and_position_are_given_by_value():
    draw = Draw("random_normal", "float32", (40, 3))
    assert to_text(draw.graph()) == (
        "$0 : int64[] by value\n"
        "$1 : int64[] by value\n"
        "%0 = iota(start=0, step=1) : int32[120]\n"
        "%1 = reshape(%0, shape=(40, 3)) : int32[40, 3]\n"
        "%2 = random_normal(%1, $0, $1, dtype='float32') : float32[40, 3]\n"
        "return %2 -> fresh (0, 1)\n"
    )


@pytest.mark.parametrize("dtype", ["int32", "int64"])
@pytest.mark.parametrize("shape", [(5,), (0,), (2, 3), (2**31,)])
def test_graphs_are_valid(dtype, shape):
    verify_graph(Draw("random_bounded", dtype, shape).graph())
    verify_graph(Draw("random_uniform", "float64", shape).graph())


@pytest.mark.parametrize(
    ("row", "dtype", "size", "blocks"),
    [
        ("random_uniform", "float32", 4, 1),
        ("random_uniform", "float32", 5, 2),
        ("random_uniform", "float64", 5, 3),
        ("random_normal", "float32", 9, 3),
        ("random_bounded", "int32", 5, 3),
        ("random_bounded", "int64", 0, 0),
    ],
)
def test_blocks_are_those_that_elements_own_words_of(row, dtype, size, blocks):
    assert Draw(row, dtype, (size,)).blocks == blocks


def test_small_draws_of_other_sizes_are_no_other_programs(session):
    programs = DrawPrograms(session)
    whole = programs.run(Draw("random_uniform", "float64", (SMALL,)), (KEY, COUNTER))
    built = session.telemetry.snapshot()["programs_built"]
    for shape in ((SMALL - 1,), (50, 50), (7, 300)):
        found = programs.run(Draw("random_uniform", "float64", shape), (KEY, COUNTER))
        np.testing.assert_array_equal(found, whole[: found.size].reshape(shape))
    assert session.telemetry.snapshot()["programs_built"] == built


def test_large_draws_of_other_shapes_need_no_other_kernels(session):
    programs = DrawPrograms(session)
    programs.run(Draw("random_normal", "float32", (5000,)), (KEY, COUNTER))
    before = session.backend.compiles
    programs.run(Draw("random_normal", "float32", (70, 80, 3)), (1, 2))
    assert session.backend.compiles == before


def test_programs_of_old_draws_are_let_go(session):
    programs = DrawPrograms(session)
    for extra in range(PROGRAM_LIMIT + 1):
        programs._programs[Draw("random_uniform", "float32", (extra,))] = None
    programs.run(Draw("random_uniform", "float32", (SMALL,)), (KEY, COUNTER))
    assert len(programs._programs) == 1
