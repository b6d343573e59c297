"""The order of regions. Oracle: what each region reads."""

from hypothesis import given

from runmat_jit.passes.fusion.grower import grow
from runmat_jit.plan.make_plan import make_plan
from tests.graph.random_graphs import EXACT_ROWS, HOST, graphs
from tests.graph.written import written
from tests.lower.execute import prepared


@given(graph=graphs((*EXACT_ROWS, *HOST), max_nodes=14))
def test_what_a_region_reads_has_been_computed(graph):
    graph = prepared(graph)
    stored = set(graph.inputs)
    for region in make_plan(graph, grow(graph)[::-1]).regions:
        assert set(region.inputs) <= stored
        stored |= set(region.outputs)


def test_updates_come_after_what_reads_their_base():
    update = "update(exp($0), $1, offset=5, shape=(5,), strides=(1,))"
    other = "sum(exp($0), axis=(0, 1), keepdims=False, dtype='float32')"
    graph = written(["float32[4, 5]", "float32[5]"], update, f"transpose({other}, axes=())")
    names = [region.nodes[-1].op.name for region in make_plan(graph, grow(graph)).regions]
    assert names[-1] == "update"
