"""Keys of graphs. Oracle: their texts, which are read back as the graphs that they were."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given

from runmat_jit.graph.node import Computation
from runmat_jit.graph.parse import parse
from runmat_jit.graph.structure import structure
from runmat_jit.graph.text import to_text
from tests.graph.random_graphs import EXACT_ROWS, OURS, SUMS, graphs
from tests.graph.test_renumber import graph_of, symbolic

ROWS = (*EXACT_ROWS, *OURS, *SUMS)


@given(graph=graphs(rows=ROWS), other=graphs(rows=ROWS, max_nodes=2))
def test_graphs_have_one_structure_exactly_if_they_have_one_text(graph, other):
    assert structure(parse(to_text(graph))) == structure(graph)
    assert (structure(graph) == structure(other)) is (to_text(graph) == to_text(other))


def test_graphs_of_equal_formulas_have_one_structure():
    assert structure(symbolic(6, 7)[0]) == structure(symbolic(30, 40)[0])
    assert structure(symbolic(6, 7)[0]) != structure(graph_of(6, 7))


def test_the_structure_of_a_graph_of_symbols_is_no_condition():
    graph, scope = symbolic(6, 7)
    assert hash(structure(graph)) == hash(structure(graph))
    assert structure(graph) == structure(graph)
    assert not scope.conditions


@pytest.mark.parametrize(
    "other",
    [
        graph_of(6, 8),
        graph_of(6, 7, scale=-0.5),
        graph_of(6, 7, start=2),
        graph_of(6, 7, row="add"),
        graph_of(6, 7, into=1),
        replace(graph_of(6, 7), computations=(Computation((0,), "multiply", np.multiply, None),)),
    ],
)
def test_graphs_that_differ_in_one_fact_have_other_structures(other):
    assert structure(other) != structure(graph_of(6, 7))
    assert structure(graph_of(6, 7)) == structure(graph_of(6, 7))
