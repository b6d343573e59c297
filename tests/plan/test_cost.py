"""What regions move. Oracle: bytes counted by hand."""

from hypothesis import given
from hypothesis import strategies as st

from runmat_jit.passes.fusion.grower import grow
from runmat_jit.plan.cost import (
    BYTES_BESIDE_BLAS,
    Cost,
    cost_of,
    share_beside_blas,
)
from runmat_jit.plan.make_plan import make_plan
from tests.graph.written import written


def test_an_array_that_is_read_twice_counts_once():
    (region,) = grow(written(["float32[4, 6]"], "add(multiply($0, 2.0), $0)"))
    assert cost_of(region, {}) == Cost(96, 96, 48.0)


def test_an_update_in_place_costs_what_it_writes():
    text = "update(negative($0), $1, offset=5, shape=(5,), strides=(1,))"
    graph = written(["float32[4, 5]", "float32[5]"], text)
    plan = make_plan(graph, grow(graph))
    costs = [cost_of(region, plan.in_place) for region in plan.regions]
    assert [(cost.bytes_read, cost.bytes_written) for cost in costs] == [(80, 80), (20, 20)]


@given(st.integers(10**3, 10**7), st.integers(1, 10**3))
def test_a_share_beside_blas_is_at_least_as_many_bytes(total, width):
    share = share_beside_blas(total, total * width)
    assert share * width > 0.99 * BYTES_BESIDE_BLAS
    assert (share - 1) * width <= BYTES_BESIDE_BLAS
