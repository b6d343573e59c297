"""Oracle: NumPy's products of whole numbers, which are exact in any order of the terms."""

import numpy as np
import pytest

from runmat_jit.backends.wgpu.memory import DeviceArray
from runmat_jit.backends.wgpu.run import KernelRun
from runmat_jit.backends.wgpu.schedule import (
    TILES,
    WIDE_TILES,
    Limits,
    Schedule,
    contract_of,
    schedule_for,
    tiles_of_a_cell,
)
from runmat_jit.kernel.build import Builder, Matrix
from runmat_jit.kernel.interpret import Memory, interpret
from runmat_jit.kernel.verify_kernel import verify_kernel
from runmat_jit.plan.profile import TUNING
from tests.backends.wgpu.shaders import runner

pytestmark = pytest.mark.usefixtures("adapter")

EXTENTS = (
    *((1, 1, 1), (3, 5, 0), (8, 8, 8), (33, 65, 17), (64, 260, 31), (150, 70, 40)),
    *((256, 256, 16), (256, 70, 32), (150, 256, 48), (256, 256, 0)),  # some fill tiles
)


def product_kernel(element, layouts, *, clamped=True):
    """``out = relu(a @ b + bias)`` of matrices whose neighbors are terms, or not, or nothing."""
    b = Builder()
    left, right, bias = (b.buffer(name, element) for name in ("a", "b", "bias"))
    out = b.buffer("out", element, written=True)
    count, rows, columns, terms = (
        b.scalar(n, "index") for n in ("count", "rows", "columns", "terms")
    )
    one, two = b.const(1, "index"), b.const(2, "index")
    steps = {"rows": lambda _, inner: (inner, one), "columns": lambda outer, _: (one, outer)}
    steps["apart"] = lambda _, inner: (inner * two, two)
    with b.grid(count) as cell:
        matrices = []
        for buffer, layout, (outer, inner) in zip(
            (left, right), layouts, ((rows, terms), (terms, columns)), strict=True
        ):
            size = outer * inner * (2 if layout == "apart" else 1)
            matrices.append(Matrix(buffer, cell.i * size, steps[layout](outer, inner)))
        with b.contract(rows, columns, terms, *matrices) as each:
            row, total = each.carry
            value = total + b.load(bias, each.i, stride=1)
            value = b.select(value < 0.0, 0.0, value) if clamped else value
            b.store(out, (cell.i * rows + row) * columns + each.i, value, stride=1)
    kernel = b.finish()
    verify_kernel(kernel)
    return kernel


def in_memory(matrices, layout):
    """The elements of matrices in memory."""
    if layout == "apart":
        return np.repeat(matrices, 2, axis=-1).reshape(-1)
    return (matrices if layout == "rows" else matrices.swapaxes(-1, -2)).reshape(-1)


def operands(dtype, extents, layouts, count, seed=0):
    rows, columns, terms = extents
    rng = np.random.default_rng(seed)
    a = rng.integers(-4, 5, (count, rows, terms)).astype(dtype)
    b = rng.integers(-4, 5, (count, terms, columns)).astype(dtype)
    bias = rng.integers(-4, 5, columns).astype(dtype)
    arguments = {
        "a": in_memory(a, layouts[0]).copy(),
        "b": in_memory(b, layouts[1]).copy(),
        "bias": bias,
        "out": np.full(count * rows * columns, 77, dtype),
        "count": count,
        "rows": rows,
        "columns": columns,
        "terms": terms,
    }
    return arguments, np.maximum(a @ b + bias, 0).reshape(-1)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("layouts", [("rows", "columns"), ("columns", "rows"), ("apart", "apart")])
@pytest.mark.parametrize(
    ("dtype", "tile"),
    [(np.float32, tile) for tile in TILES] + [(np.float64, tile) for tile in WIDE_TILES],
)
def test_products_are_exact_for_all_tiles_layouts_and_extents(dtype, tile, layouts):
    element = {np.float32: "f32", np.float64: "f64"}[dtype]
    kernel = product_kernel(element, layouts)
    lanes = 4 if dtype is np.float32 else 2
    schedule = Schedule(lanes, tile.threads, tile.threads, tile=tile)
    for extents in EXTENTS:
        arguments, wanted = operands(dtype, extents, layouts, 3)
        computed(kernel, arguments, schedule)
        assert np.array_equal(arguments["out"], wanted), extents


@pytest.mark.parametrize(("lanes", "tiles"), [(4, TILES), (2, WIDE_TILES)])
def test_all_threads_of_a_tile_read_as_much(lanes, tiles):
    for tile in tiles:
        for side in (tile.rows, tile.columns):
            assert side * tile.terms % (lanes * tile.threads) == 0, tile


def test_shipped_paces_are_those_of_the_tiles():
    assert set(TUNING.tiles) == {tile.name for tile in TILES}


def computed(kernel, arguments, schedule=None, using=None, origin=0):
    using = using or runner()
    memory = using.backend.memory
    bound = dict(arguments)
    for name in ("a", "b", "bias", "out"):
        shifted = np.concatenate([np.zeros(origin, arguments[name].dtype), arguments[name]])
        array = memory.upload(shifted)
        bound[name] = DeviceArray(array.buffer, array.dtype, array.size, origin)
    using.run([KernelRun(kernel, bound, (0, arguments["count"]), schedule)])
    whole = memory.download(
        DeviceArray(bound["out"].buffer, bound["out"].dtype, origin + arguments["out"].size, 0)
    )
    arguments["out"][...] = whole[origin:]
    memory.free(a for a in bound.values() if isinstance(a, DeviceArray))


@pytest.mark.parametrize("origin", [3, 64])
def test_matrices_may_begin_anywhere_in_their_memory(origin):
    kernel = product_kernel("f32", ("rows", "rows"))
    arguments, wanted = operands(np.float32, (40, 72, 24), ("rows", "rows"), 2)
    computed(kernel, arguments, origin=origin)
    assert np.array_equal(arguments["out"], wanted)


def test_shaders_with_bounds_checks_give_the_same():
    kernel = product_kernel("f32", ("rows", "rows"))
    arguments, wanted = operands(np.float32, (70, 130, 33), ("rows", "rows"), 1)
    computed(kernel, arguments, using=runner(trusted=False))
    assert np.array_equal(arguments["out"], wanted)


def test_infinities_and_nans_travel_as_in_numpy():
    kernel = product_kernel("f32", ("rows", "rows"), clamped=False)
    arguments, _ = operands(np.float32, (9, 6, 5), ("rows", "rows"), 1)
    arguments["a"][[2, 11]] = np.inf, np.nan
    arguments["b"][7] = np.inf
    a, b = arguments["a"].reshape(9, 5), arguments["b"].reshape(5, 6)
    with np.errstate(all="ignore"):
        wanted = (a @ b + arguments["bias"]).reshape(-1)
    computed(kernel, arguments)
    assert np.array_equal(arguments["out"], wanted, equal_nan=True)


def test_the_interpreter_gives_the_same():
    for layouts in (("rows", "rows"), ("columns", "apart")):
        arguments, wanted = operands(np.float64, (7, 9, 5), layouts, 2)
        memory = {n: Memory(v) if isinstance(v, np.ndarray) else v for n, v in arguments.items()}
        interpret(product_kernel("f64", layouts), memory)
        assert np.array_equal(arguments["out"], wanted)


@pytest.mark.parametrize("kibibytes", [16, 32, 64])
@pytest.mark.parametrize("extents", [(1, 1), (500, 500), (1024, 1024), (8192, 8192)])
def test_tiles_fit_the_device_and_keep_it_busy(kibibytes, extents):
    for element, lanes in (("f32", 4), ("f64", 2)):
        kernel = product_kernel(element, ("rows", "rows"))
        contract = contract_of(kernel.body[-1])
        lengths = (contract.block.carried[0].number, contract.block.index.number)
        longest = dict(zip(lengths, extents, strict=True))
        limits = Limits(256, kibibytes << 10)
        schedule = schedule_for(kernel, limits, longest, 1)
        tile = schedule.tile
        assert tile.shared_bytes({"f32": 4, "f64": 8}[element], lanes) <= kibibytes << 10
        assert schedule.threads == tile.threads <= limits.threads
        groups = tiles_of_a_cell(kernel, schedule, longest)
        assert groups == -(-extents[0] // tile.rows) * -(-extents[1] // tile.columns)


@pytest.mark.parametrize(
    ("extents", "cells", "side"),
    [
        ((4096, 4096), 1, (128, 256)),
        ((512, 64), 512, (128, 64)),
        ((64, 512), 512, (64, 64)),
        ((1024, 1024), 1, (64, 64)),
        ((512, 200), 512, (128, 256)),
        ((40, 10), 999, (64, 64)),
        ((200, 300), 1, (32, 64)),
    ],
)
def test_tiles_are_those_that_take_the_least_time(extents, cells, side):
    kernel = product_kernel("f32", ("rows", "rows"))
    contract = contract_of(kernel.body[-1])
    lengths = (contract.block.carried[0].number, contract.block.index.number)
    longest = dict(zip(lengths, extents, strict=True))
    tile = schedule_for(kernel, Limits(256, 48 << 10), longest, cells).tile
    assert (tile.rows, tile.columns) == side
