"""What an iteration computes. Oracle: counted by hand."""

import pytest

from runmat_jit.kernel.build import Builder
from runmat_jit.kernel.work import count_work


def test_instructions_count_by_class_and_width():
    k = Builder()
    x, y = k.buffer("x", "f32"), k.buffer("y", "f64", written=True)
    with k.lanes(0, k.scalar("n", "index")) as lanes:
        a = k.load(x, lanes.i)
        wide = k.convert("fpext", 1.0 / (a + 1.0), "f64")
        k.store(y, lanes.i, k.prim("sqrt", wide))
    assert count_work(k.finish(), [None, None, 10]) == {
        ("arithmetic", 4): 2.0,  # the load and the sum
        ("division", 4): 1.0,
        ("conversion", 8): 1.0,
        ("division", 8): 1.0,
        ("arithmetic", 8): 1.0,  # the store
    }


@pytest.mark.parametrize(("length", "turns"), [(7, 7), (0, 0), (None, 1)])
def test_rows_count_as_often_as_they_are_long_where_that_is_known(length, turns):
    k = Builder()
    x, y = k.buffer("x", "f64"), k.buffer("y", "f64", written=True)
    n, m = k.scalar("n", "index"), k.scalar("m", "index")
    with k.grid(n) as cell:
        first = k.prim("mul", cell.i, m)
        with k.total(0, m, [("add", "f64")]) as total:
            value = k.load(x, first + total.i)
            total.yield_(value * value)
        k.store(y, cell.i, *total.out, 0)
    work = count_work(k.finish(), [None, None, 3, length])
    assert work["arithmetic", 8] == 2.0 * turns
    assert work["scalar", 8] == 2.0  # where the row begins, and the store of its sum


def test_bounds_follow_from_what_is_given():
    """Cells of at most four columns: ``min(4, m - 4 i)``, of the first cell."""
    k = Builder()
    x = k.buffer("x", "f64", written=True)
    m = k.scalar("m", "index")
    with k.grid(k.scalar("n", "index")) as cell:
        first = k.prim("mul", cell.i, 4)
        left = m - first
        width = k.select(left < 4, left, 4)
        with k.lanes(first, first + width) as lanes:
            k.store(x, lanes.i, k.load(x, lanes.i) + 1.0)
    kernel = k.finish()
    assert count_work(kernel, [None, 100, 25])["arithmetic", 8] == 12.0
    assert count_work(kernel, [None, 3, 1])["arithmetic", 8] == 9.0


def test_rare_paths_do_not_count():
    k = Builder()
    x = k.buffer("x", "f64", written=True)
    with k.lanes(0, k.scalar("n", "index")) as lanes:
        value = k.load(x, lanes.i)
        with k.if_any(value < 0.0, [value]) as rare:
            rare.yield_(k.prim("sqrt", -value))
        k.store(x, lanes.i, *rare.out)
    assert count_work(k.finish(), [None, 5]) == {("arithmetic", 8): 3.0}
