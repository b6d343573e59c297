"""Oracle: for each rule, the shortest kernel that breaks it and the sentence that says so."""

import dataclasses
import math

import pytest

from runmat_jit.kernel.build import Builder, Matrix
from runmat_jit.kernel.ir import Block, Buffer, Instruction, Kernel
from runmat_jit.kernel.verify_kernel import verify_kernel
from runmat_jit.kernel.verify_types import KernelError


class Parts:
    """A builder with a few parameters."""

    def __init__(self):
        self.b = Builder()
        self.x = self.b.buffer("x", "f32")
        self.out = self.b.buffer("out", "f32", written=True)
        self.n, self.step = self.b.scalar("n", "index"), self.b.scalar("step", "index")
        self.flag, self.scale = self.b.scalar("flag", "i1"), self.b.scalar("scale", "f32")
        self.table = self.b.table("table", "f32")

    def lanes(self):
        return self.b.lanes(0, self.n)

    def load(self, block):
        return self.b.load(self.x, block.i)


def refused(parts, sentence):
    with pytest.raises(KernelError, match=sentence):
        verify_kernel(parts.b.finish())


# -- what is valid ---------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "index_and_stride",
    [
        lambda _, i: (i + 5, 1),
        lambda p, i: (p.n - i, -1),
        lambda p, i: (i * p.step + p.n * 7, p.step),
        lambda p, i: ((i + p.n) * p.step, p.step),
        lambda p, i: (i * (p.step * 3) - i * p.step, p.step * 2),
        lambda _, i: (i * 4 - i - i, 2),
        lambda p, i: (-(i * p.step), -p.step),
    ],
)
def test_an_index_may_be_any_polynomial_that_grows_by_the_stride(index_and_stride):
    p = Parts()
    with p.lanes() as lanes:
        index, stride = index_and_stride(p, lanes.i)
        p.b.store(p.out, lanes.i, p.b.load(p.x, index, stride))
    verify_kernel(p.b.finish())


def test_a_kernel_of_every_block_is_valid():
    p = Parts()
    with p.b.grid(p.n) as cell:
        with p.b.loop(0, p.n), p.b.if_(p.flag):
            with p.b.total(0, p.n, [("add", "f32")]) as total:
                total.yield_(p.load(total))
            with p.lanes() as lanes, p.b.loop(0, p.n, [p.b.splat(0.0, "f32")]) as inner:
                inner.yield_(inner.carry[0] + p.load(lanes) * total.out[0])
        p.b.store(p.out, cell.i, p.scale, 0)
    verify_kernel(p.b.finish())


# -- the parallel axis -----------------------------------------------------------------------------
def test_a_kernel_has_one_parallel_axis():
    p = Parts()
    refused(p, "one top-level grid or lanes")
    for _ in range(2):
        with p.lanes() as lanes:
            p.b.store(p.out, lanes.i, p.load(lanes))
    refused(p, "one top-level grid or lanes")


def test_nothing_follows_the_parallel_axis():
    p = Parts()
    with p.lanes() as lanes:
        p.b.store(p.out, lanes.i, p.load(lanes))
    assert p.n + 1 is not None
    refused(p, "nothing follows")


def test_stores_are_part_of_the_parallel_axis():
    p = Parts()
    p.b.store(p.out, 0, p.scale, 0)
    with p.lanes() as lanes:
        p.b.store(p.out, lanes.i, p.load(lanes))
    refused(p, "stores are part of the parallel axis")


@pytest.mark.parametrize("inner", ["lanes", "total", "grid"])
def test_lanes_hold_no_other_parallel_block(inner):
    p = Parts()
    with p.b.grid(p.n), p.lanes():
        args = {"grid": (p.n,), "lanes": (0, p.n), "total": (0, p.n, [("add", "f32")])}[inner]
        with getattr(p.b, inner)(*args) as block:
            if inner == "total":
                block.yield_(p.load(block))
    refused(p, "cannot stand inside of lanes|a grid stands at the top level")


def test_a_total_stands_in_a_grid():
    p = Parts()
    with p.b.total(0, p.n, [("add", "f32")]) as total:
        total.yield_(p.load(total))
    with p.lanes() as lanes:
        p.b.store(p.out, lanes.i, p.load(lanes) * total.out[0])
    refused(p, "a total stands inside of a grid")


# -- what may depend on how many lanes run together ------------------------------------------------
def test_an_index_that_does_not_grow_by_the_stride_is_refused():
    p = Parts()
    with p.lanes() as lanes:
        p.b.store(p.out, lanes.i, p.b.load(p.x, lanes.i * 2, 1))
    refused(p, "grows by its stride")


def test_an_index_that_is_no_polynomial_is_refused():
    p = Parts()
    with p.lanes() as lanes:
        p.b.store(p.out, lanes.i, p.b.load(p.x, p.b.prim("sdiv", lanes.i, 2) + lanes.i, 1))
    refused(p, "grows by its stride")


def test_one_element_at_the_lanes_index_is_refused():
    p = Parts()
    with p.lanes() as lanes:
        p.b.store(p.out, lanes.i, p.b.load(p.x, lanes.i, 0) + p.load(lanes))
    refused(p, "the index of one element depends on how many lanes")


def test_a_branch_on_the_lanes_index_is_refused():
    p = Parts()
    with p.lanes() as lanes, p.b.if_(lanes.i > 5):
        p.b.store(p.out, lanes.i, p.load(lanes))
    refused(p, "the condition of if depends on how many lanes")


def test_loop_bounds_that_depend_on_the_lanes_index_are_refused():
    p = Parts()
    with p.lanes() as lanes, p.b.loop(0, lanes.i + 1):
        p.b.store(p.out, lanes.i, p.load(lanes))
    refused(p, "a bound of loop depends on how many lanes")


@pytest.mark.parametrize("enter", ["splat", "add", "mul", "store", "note", "carry"])
def test_the_lanes_index_enters_lanes_by_its_sum_with_lane_id_only(enter):
    p = Parts()
    with p.lanes() as lanes:
        value = p.load(lanes)
        number = p.b.convert("sitofp", lanes.i, "f32")
        if enter == "splat":
            p.b.splat(number, "f32")
        elif enter == "add":
            value = value + number
        elif enter == "mul":
            assert p.b.lane_id("index") * lanes.i is not None
        elif enter == "note":
            p.b.note(number)
        elif enter == "carry":
            with p.b.loop(0, 2, [number]) as loop:
                loop.yield_(loop.carry[0])
        p.b.store(p.out, lanes.i, number if enter == "store" else value)
    refused(p, "lane_id|a splat is of|what is stored|a note is of|what loop carries")


@pytest.mark.parametrize("kind", ["i32", "i64", "index"])
def test_multiples_of_the_lanes_index_and_of_lane_id_go_together(kind):
    p = Parts()
    with p.lanes() as lanes:
        narrow = {"i32": "trunc", "i64": "sext"}
        first, step = lanes.i * p.step + 7, p.step
        if kind in narrow:
            first, step = (p.b.convert(narrow[kind], v, kind) for v in (first, step))
        count = first + p.b.lane_id(kind) * step
        p.b.store(p.out, lanes.i, p.b.convert("sitofp", count, "f32"))
    verify_kernel(p.b.finish())


def test_different_multiples_of_them_do_not():
    p = Parts()
    with p.lanes() as lanes:
        count = lanes.i * p.step + p.b.lane_id("index")
        p.b.store(p.out, lanes.i, p.b.convert("sitofp", count, "f32"))
    refused(p, "an index enters lanes by its sum with lane_id")


# -- lanes and values ------------------------------------------------------------------------------
def test_lanes_exist_inside_of_lanes_only():
    p = Parts()
    with p.b.grid(p.n) as cell:
        assert p.b.splat(1.0, "f32") is not None
        p.b.store(p.out, cell.i, p.scale, 0)
    refused(p, "lanes outside of lanes and total")


def test_a_load_of_lanes_stands_in_lanes():
    p = Parts()
    with p.b.grid(p.n) as cell:
        assert p.load(cell) is not None
        p.b.store(p.out, cell.i, p.scale, 0)
    refused(p, "load of lanes outside")


def test_many_lanes_do_not_store_one_element():
    p = Parts()
    with p.lanes():
        p.b.store(p.out, 0, p.scale, 0)
    refused(p, "many lanes would store one element")


def test_lanes_are_not_stored_as_one_element():
    p = Parts()
    with p.lanes() as lanes:
        p.b.store(p.out, 0, p.load(lanes), 0)
    refused(p, "a store of one element is of a uniform value")


def test_values_beside_each_other_are_all_of_the_buffers_type():
    p = Parts()
    with p.b.lanes(0, p.n) as lanes:
        value = p.b.load(p.x, lanes.i)
        p.b.store_beside(p.out, lanes.i * 2, [value, p.b.convert("bitcast", value, "i32")])
    refused(p, "holds another type")


def test_values_beside_each_other_fill_a_stride():
    p = Parts()
    with p.b.lanes(0, p.n) as lanes:
        p.b.store_beside(p.out, lanes.i * 3, [p.b.load(p.x, lanes.i)] * 3)
    *_, store = p.b.finish().body[-1].block.body
    fewer = (*store.args[:-2], store.args[-1])
    with pytest.raises(KernelError, match="fill a stride"):
        verify_kernel(changed(p, -1, args=fewer))


def test_values_of_a_block_end_with_it():
    p = Parts()
    with p.b.grid(p.n) as cell:
        with p.b.loop(0, p.n) as loop:
            inner = loop.i + 1
        p.b.store(p.out, inner, p.scale, 0)
        p.b.store(p.out, cell.i, p.scale, 0)
    refused(p, "used where it is not defined")


def test_lanes_are_not_carried_as_one_value():
    p = Parts()
    with p.lanes() as lanes:
        with p.b.loop(0, p.n, [p.b.const(0.0, "f32")]) as loop:
            loop.yield_(loop.carry[0] + p.load(lanes))
        p.b.store(p.out, lanes.i, p.load(lanes) + loop.out[0])
    refused(p, "loop carries lanes as one uniform value")


def test_a_step_is_a_positive_constant():
    p = Parts()
    with p.lanes() as lanes, p.b.loop(0, p.n, step=-1):
        p.b.store(p.out, lanes.i, p.load(lanes))
    refused(p, "a loop's step is a positive constant")


# -- types, buffers, functions: instructions that the builder would not make -----------------------
def changed(parts, position, **fields):
    """The kernel with one instruction of its lanes replaced."""
    kernel = parts.b.finish()
    outer = kernel.body[-1]
    body = list(outer.block.body)
    body[position] = dataclasses.replace(body[position], **fields)
    block = dataclasses.replace(outer.block, body=tuple(body))
    return dataclasses.replace(
        kernel, body=(*kernel.body[:-1], dataclasses.replace(outer, block=block))
    )


@pytest.fixture
def parts():
    """Lanes of: load, mul, store."""
    p = Parts()
    with p.lanes() as lanes:
        p.b.store(p.out, lanes.i, p.load(lanes) * p.scale)
    return p


@pytest.mark.parametrize(
    ("position", "fields", "sentence"),
    [
        (1, {"op": "and"}, "and does not take f32"),
        (1, {"op": "fma"}, "fma takes 3 operands"),
        (1, {"op": "lt"}, "lt of f32 is no f32"),
        (1, {"op": "teleport"}, "teleport is no instruction"),
        (1, {"op": "call", "attrs": {"function": "f"}}, "there is no function f"),
        (0, {"attrs": {"buffer": Buffer("z", "f32"), "stride": 1}}, "z is no parameter"),
        (0, {"attrs": {"buffer": Buffer("x", "f32"), "stride": 3}}, "3 is no stride"),
        (2, {"attrs": {"buffer": Buffer("x", "f32"), "stride": 1}}, "x is read-only"),
    ],
)
def test_an_instruction_of_wrong_form_is_refused(parts, position, fields, sentence):
    with pytest.raises(KernelError, match=sentence):
        verify_kernel(changed(parts, position, **fields))


@pytest.mark.parametrize(
    ("op", "before", "after"),
    [
        ("trunc", "i32", "i64"),
        ("fpext", "f64", "f32"),
        ("bitcast", "f32", "i64"),
        ("sext", "i64", "i32"),
        ("sitofp", "i32", "i64"),
        ("zext", "i1", "f32"),
    ],
)
def test_a_conversion_between_wrong_types_is_refused(op, before, after):
    b = Builder()
    x = b.scalar("x", before)
    b.convert(op, x, after)
    with b.grid(1):
        pass
    with pytest.raises(KernelError, match=op):
        verify_kernel(b.finish())


@pytest.mark.parametrize(("combine", "kind"), [("and", "f32"), ("add", "i1")])
def test_a_total_combines_what_its_operation_takes(combine, kind):
    p = Parts()
    with p.b.grid(1), p.b.total(0, p.n, [(combine, kind)]) as total:
        value = p.load(total)
        total.yield_(value if kind == "f32" else value > 0.0)
    refused(p, f"{combine} does not combine {kind}")


def test_a_value_is_defined_once(parts):
    kernel = parts.b.finish()
    block = kernel.body[-1].block
    twice = dataclasses.replace(block, body=(block.body[0], *block.body))
    outer = dataclasses.replace(kernel.body[-1], block=twice)
    with pytest.raises(KernelError, match="defined twice"):
        verify_kernel(dataclasses.replace(kernel, body=(outer,)))


def test_yields_match_what_is_carried():
    p = Parts()
    with p.lanes() as lanes:
        with p.b.loop(0, p.n, [p.load(lanes)]) as loop:
            loop.yield_(loop.carry[0])
        p.b.store(p.out, lanes.i, loop.out[0])
    kernel = p.b.finish()
    lanes = kernel.body[-1]
    body = list(lanes.block.body)
    inner = dataclasses.replace(body[1].block, yields=())
    body[1] = dataclasses.replace(body[1], block=inner)
    block = Block(lanes.block.index, (), tuple(body), ())
    broken = Instruction("lanes", lanes.args, block=block)
    with pytest.raises(KernelError, match="loop yields what it carries"):
        verify_kernel(Kernel(kernel.parameters, kernel.arguments, (), (broken,)))


def test_a_cold_function_is_straight_line_code():
    p = Parts()

    def cold(k, args):
        k.note(args[0])
        return (args[0],)

    with p.lanes() as lanes:
        p.b.store(p.out, lanes.i, *p.b.call("cold", [p.load(lanes)], ["f32"], cold))
    refused(p, "note cannot stand in function cold")


def test_a_cold_function_reads_its_own_tables():
    p = Parts()

    def cold(k, args):
        return (k.gather(p.table, k.convert("fptosi", args[0], "i32")),)

    with p.lanes() as lanes:
        p.b.store(p.out, lanes.i, *p.b.call("cold", [p.load(lanes)], ["f32"], cold))
    refused(p, "reads a table that it does not list")


@pytest.mark.parametrize("number", [math.nan, math.inf, 2.5])
def test_a_float_constant_may_become_an_integer(number):
    k = Builder()
    x = k.buffer("x", "i32")
    y = k.buffer("y", "i32", written=True)
    n = k.scalar("n", "index")
    with k.lanes(0, n) as lanes:
        bits = k.convert("bitcast", k.const(number, "f32"), "i32")
        k.store(y, lanes.i, k.load(x, lanes.i) + bits)
    verify_kernel(k.finish())


# -- products --------------------------------------------------------------------------------------
def test_a_product_is_alone_in_its_cell_and_of_extents_that_all_cells_have():
    p = Parts()
    with p.b.grid(p.n) as cell:
        with p.b.contract(
            p.n, p.step, 3, Matrix(p.x, cell.i * 3, (3, 1)), Matrix(p.x, 0, (1, 3))
        ) as each:
            row, total = each.carry
            p.b.store(p.out, (cell.i * p.n + row) * p.step + each.i, total * p.scale)
    verify_kernel(p.b.finish())
    p = Parts()
    with p.b.grid(p.n) as cell:
        with p.b.contract(cell.i, 4, 3, Matrix(p.x, 0, (3, 1)), Matrix(p.x, 0, (4, 1))):
            pass
    refused(p, "the extents of a product are those of all cells")
    p = Parts()
    with p.b.grid(p.n) as cell:
        p.b.store(p.out, cell.i, p.scale, stride=0)
        with p.b.contract(4, 4, 3, Matrix(p.x, 0, (3, 1)), Matrix(p.x, 0, (4, 1))):
            pass
    refused(p, "a product is alone in its cell")
    p = Parts()
    with p.lanes(), p.b.contract(4, 4, 3, Matrix(p.x, 0, (3, 1)), Matrix(p.x, 0, (4, 1))):
        pass
    refused(p, "contract cannot stand inside of lanes or total")
    p = Parts()
    other = p.b.buffer("other", "f64")
    with p.b.grid(1), p.b.contract(4, 4, 3, Matrix(p.x, 0, (3, 1)), Matrix(other, 0, (4, 1))):
        pass
    refused(p, "a row and sums of its elements' type")
