"""Loops over single numbers: oracle is the interpreter of kernels, and the C library itself."""

import ctypes
import math

import numpy as np
import pytest

from runmat_jit.core.inner_loops import inner_loop
from runmat_jit.kernel.build import Builder
from runmat_jit.kernel.interpret import interpret
from runmat_jit.kernel.ir import Buffer
from runmat_jit.kernel.primitives import LIBM
from runmat_jit.kernel.text import to_text
from runmat_jit.kernel.verify_kernel import verify_kernel
from runmat_jit.kernel.verify_types import KernelError
from runmat_jit.runtime.session import current_session

ENTRY = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)
WATCHED = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p)


def words_of(arrays, numbers=()):
    words = [array.ctypes.data for array in arrays] + list(numbers)
    event = ctypes.c_int64(0)
    return (ctypes.c_int64 * (len(words) + 1))(*words, ctypes.addressof(event)), event


def run(kernel, memory, cells=(0, 1)):
    """Run a kernel on buffers natively and by the interpreter; what both have written."""
    compiled = current_session().backend.compile(kernel)
    names = [parameter.name for parameter in kernel.parameters]
    ours = {name: value.copy() for name, value in memory.items()}
    words, _ = words_of([ours[name] for name in names])
    ENTRY(compiled.address)(words, *cells)
    theirs = {name: value.copy() for name, value in memory.items()}
    interpret(kernel, theirs, cells)
    for name, value in ours.items():
        np.testing.assert_array_equal(value, theirs[name], err_msg=name)
    return ours


def test_a_while_carries_what_it_yields_until_it_says_no():
    k = Builder()
    x, out = k.buffer("x", "i64"), k.buffer("out", "i64", written=True)
    with k.grid(3) as grid:
        start = k.load(x, grid.i, 0)
        with k.while_([start, k.const(0, "i64")]) as loop:
            value, steps = loop.carry
            even = k.eq(value & 1, 0)
            following = k.select(even, value >> 1, value * 3 + 1)
            loop.yield_(k.ne(following, 1), following, steps + 1)
        k.store(out, grid.i, loop.out[1], 0)
    memory = {"x": np.array([6, 7, 2]), "out": np.zeros(3, np.int64)}
    assert run(k.finish(), memory, (0, 3))["out"].tolist() == [8, 16, 1]


def test_a_cell_that_is_left_does_nothing_more():
    k = Builder()
    x, out = k.buffer("x", "f64"), k.buffer("out", "f64", written=True)
    with k.grid(4) as grid:
        value = k.load(x, grid.i, 0)
        k.store(out, grid.i, 1.0, 0)
        with k.loop(0, 5, [value]) as loop:
            k.leave_if(loop.carry[0] > 3.0)
            loop.yield_(loop.carry[0] + 1.0)
        k.store(out, grid.i, loop.out[0], 0)
    memory = {"x": np.array([-9.0, 0.0, -1.0, -2.0]), "out": np.zeros(4)}
    assert run(k.finish(), memory, (0, 4))["out"].tolist() == [-4, 1, 4, 3]


@pytest.mark.parametrize("name", sorted(LIBM))
def test_functions_of_the_c_library(name):
    k = Builder()
    x, y, out = (k.buffer(n, "f64", written=n == "out") for n in ("x", "y", "out"))
    with k.grid(40) as grid:
        operands = [k.load(x, grid.i, 0), k.load(y, grid.i, 0)][: LIBM[name]]
        k.store(out, grid.i, k.libm(name, *operands), 0)
        k.leave_if(k.eq(k.load(x, grid.i, 0), math.inf))
    rng = np.random.default_rng(0)
    ends = [0.0, -0.0, 1.0, 2.0, math.inf, -math.inf, math.nan, 1e300]
    first = np.concatenate([rng.standard_normal(32), ends])
    second = np.concatenate([np.full(16, 2.0), rng.standard_normal(24)])
    run(k.finish(), {"x": first, "y": second, "out": np.zeros(40)}, (0, 40))


def watched(kernel, *arrays):
    backend = current_session().backend
    words, _ = words_of(arrays)
    return WATCHED(backend.watched_call())(backend.compile(kernel).address, words)


@pytest.mark.parametrize(
    ("values", "seen"),
    [
        ((1.0, 2.0), 0),
        ((1.0, 0.0), 2),
        ((0.0, 0.0), 1),
        ((1e300, 1e-300), 4),
        ((math.nan, 0.0), 0),
        ((math.inf, 0.0), 0),
    ],
)
def test_the_flags_tell_of_results_that_nobody_needs(values, seen):
    k = Builder()
    x = k.buffer("x", "f64")
    with k.grid(1):
        k.keep(k.load(x, 0, 0) / k.load(x, 1, 0))
        k.leave_if(k.eq(k.load(x, 0, 0), 7.0))
    kernel = k.finish()
    for _ in range(2):
        assert watched(kernel, np.array(values)) == seen


def test_who_is_asked_may_do_what_he_likes_with_the_flags():
    asked = []

    def answer():
        with np.errstate(all="ignore"):
            asked.append(np.float64(1e300) * np.float64(1e300))
        return len(asked) > 1

    k = Builder()
    x, who = k.buffer("x", "f64", written=True), k.buffer("who", "i64")
    with k.grid(1):
        address = k.load(who, 0, 0)
        k.store(x, 1, k.load(x, 0, 0) / 0.0, 0)
        k.leave_if(k.ask(address))
        k.store(x, 2, 1.0, 0)
        k.leave_if(k.ask(address))
        k.store(x, 3, 1.0, 0)
    callback = ctypes.CFUNCTYPE(ctypes.c_int64)(answer)
    array = np.array([3.0, 0.0, 0.0, 0.0])
    who = np.array([ctypes.cast(callback, ctypes.c_void_p).value])
    assert watched(k.finish(), array, who) & 2
    assert array.tolist() == [3, math.inf, 1, 0]


# -- inner loops of NumPy's ------------------------------------------------------------------------
INNER_LOOP = ctypes.CFUNCTYPE(None, *(ctypes.c_void_p,) * 4)
WORDS = np.zeros(32, np.int64)


def run_with_addresses(kernel, memory, cells=(0, 1)):
    """Like ``run``; the scalar ``at_x`` is the address of the buffer ``x``."""
    verify_kernel(kernel)
    compiled = current_session().backend.compile(kernel)

    def natively(arguments):
        given = arguments.values()
        words = [x.ctypes.data if isinstance(x, np.ndarray) else x for x in given]
        event = ctypes.c_int64(0)
        block = (ctypes.c_int64 * (len(words) + 1))(*words, ctypes.addressof(event))
        ENTRY(compiled.address)(block, *cells)

    left = []
    for way in (natively, lambda arguments: interpret(kernel, arguments, cells)):
        own = {name: value.copy() for name, value in memory.items()}
        at = {f"at_{name}": value.ctypes.data for name, value in own.items()}
        way(
            {
                p.name: own[p.name] if isinstance(p, Buffer) else at[p.name]
                for p in kernel.parameters
            }
        )
        left.append(own)
    for name in memory.keys() - {"words"}:  # which hold addresses
        np.testing.assert_array_equal(left[0][name], left[1][name], err_msg=name)
    return left[0]


class Calls:
    """Emits calls; ``words`` hold what inner loops are given."""

    def __init__(self, k):
        self.k, self.used = k, 0
        self.words, self.at = k.buffer("words", "i64", written=True), k.scalar("at_words", "i64")

    def __call__(self, function, arrays, dimensions, steps):
        begin = self.used
        for value in (*arrays, *dimensions, *steps):
            self.k.store(self.words, self.used, self.k.const(value, "i64"), 0)
            self.used += 1
        given = [begin, begin + len(arrays), begin + len(arrays) + len(dimensions)]
        address = self.k.const(function, "i64")
        self.k.invoke(address, *(self.at + 8 * place for place in given), self.k.const(0, "i64"))


def addresses(k, *names):
    return [k.scalar(f"at_{name}", "i64") for name in names]


@pytest.mark.parametrize("cells", [(0, 3), (1, 2)])
def test_an_inner_loop_sees_what_was_stored_before_and_is_seen_after(cells):
    k = Builder()
    x, out, seen = (k.buffer(name, "f64", written=True) for name in ("x", "out", "seen"))
    at_x, at_out = addresses(k, "x", "out")
    call, add = Calls(k), inner_loop(np.add, "dd->d")
    with k.grid(3) as grid:
        k.store(x, grid.i, 10.0, 0)
        k.store(out, 4, -1.0, 0)
        call(add, [at_x, at_x + 8, at_out], [4], [8, 8, 8])
        k.store(seen, grid.i, k.load(out, 0, 0) + k.load(out, 4, 0), 0)
        k.store(x, grid.i, k.load(out, grid.i, 0), 0)
    memory = {"x": np.arange(5.0), "out": np.zeros(6), "seen": np.zeros(3), "words": WORDS}
    found = run_with_addresses(k.finish(), memory, cells)
    x, seen = np.arange(5.0), np.zeros(3)
    for cell in range(*cells):
        x[cell] = 10
        out = x[:4] + x[1:]
        x[cell], seen[cell] = out[cell], out[0] - 1
    assert found["x"].tolist() == x.tolist()
    assert found["seen"].tolist() == seen.tolist()
    assert found["out"].tolist() == [*out, -1, 0]


def test_an_inner_loop_goes_by_its_steps():
    """Every other element, backwards, and one element again and again."""
    k = Builder()
    k.buffer("x", "f64")
    k.buffer("out", "f64", written=True)
    at_x, at_out = addresses(k, "x", "out")
    call, subtract = Calls(k), inner_loop(np.subtract, "dd->d")
    with k.grid(1):
        call(subtract, [at_x, at_x + 40, at_out], [3], [16, -8, 8])
        call(subtract, [at_x + 8, at_x + 40, at_out + 24], [2], [0, -8, 16])
    x = np.arange(6.0) ** 2
    found = run_with_addresses(k.finish(), {"x": x, "out": np.zeros(6), "words": WORDS})
    assert found["out"].tolist() == [*(x[:5:2] - x[:2:-1]), x[1] - x[5], 0, x[1] - x[4]]


@pytest.mark.parametrize("dtype", ["d", "f"])
@pytest.mark.parametrize("turned", [False, True])
def test_matrix_products_have_numpys_bits(dtype, turned):
    """In the second operand rows may be columns."""
    element, size = {"d": ("f64", 8), "f": ("f32", 4)}[dtype]
    rng = np.random.default_rng(0)
    a, b = (rng.random(shape).astype(dtype) for shape in ((5, 7), (3, 7) if turned else (7, 3)))
    k = Builder()
    for name in ("a", "b"):
        k.buffer(name, element)
    out = k.buffer("out", element, written=True)
    call, product = Calls(k), inner_loop(np.matmul, f"{dtype * 2}->{dtype}")
    steps = [7, 1, *([1, 7] if turned else [3, 1]), 3, 1]
    with k.grid(1):
        call(
            product,
            addresses(k, "a", "b", "out"),
            [1, 5, 7, 3],
            [0, 0, 0, *(size * s for s in steps)],
        )
        with k.lanes(0, 15) as lanes:
            k.note(k.load(out, lanes.i))
    memory = {"a": a.ravel(), "b": b.ravel(), "out": np.zeros(15, dtype), "words": WORDS}
    found = run_with_addresses(k.finish(), memory)["out"]
    assert found.tobytes() == (a @ (b.T if turned else b)).tobytes()


def test_an_inner_loop_is_called_where_a_cell_comes_to_it():
    """In turns of loops and in branches, and not after the cell has been left; without data."""
    called = []

    def note(args, dimensions, steps, data):
        count = ctypes.cast(dimensions, ctypes.POINTER(ctypes.c_int64))[0]
        step = ctypes.cast(steps, ctypes.POINTER(ctypes.c_int64))[0]
        called.append((ctypes.cast(args, ctypes.POINTER(ctypes.c_int64))[0], count, step, data))

    function = INNER_LOOP(note)
    address = ctypes.cast(function, ctypes.c_void_p).value
    k = Builder()
    x = k.buffer("x", "f64")
    call = Calls(k)
    with k.grid(3) as grid:
        value = k.load(x, grid.i, 0)
        with k.if_(value > 1.0) as positive:
            call(address, [7], [1], [2])
            positive.yield_()
        k.leave_if(k.eq(value, 5.0))
        with k.loop(0, 2) as turns:
            call(address, [9], [3], [4])
            turns.yield_()
    run_with_addresses(k.finish(), {"x": np.array([0.0, 5.0, 2.0]), "words": WORDS}, (0, 3))
    in_turns, in_branch = (9, 3, 4, None), (7, 1, 2, None)
    once = [in_turns, in_turns, in_branch, in_branch, in_turns, in_turns]
    assert called == [*once, *once]


# -- notes of cells that are left ------------------------------------------------------------------
def noted(kernel, memory, cells):
    """The event word, natively and by the interpreter."""
    verify_kernel(kernel)
    words, event = words_of([memory[p.name] for p in kernel.parameters])
    ENTRY(current_session().backend.compile(kernel).address)(words, *cells)
    assert event.value == interpret(kernel, memory, cells)
    return event.value


INF = math.inf


@pytest.mark.parametrize(
    ("values", "bits"),
    [
        ((1.0, 2.0, 3.0, 4.0), 0),
        ((1.0, INF, 3.0, 4.0), 1),
        ((1.0, -INF, 3.0, 4.0), 0),
        ((INF, -INF, 3.0, 4.0), 1),
        ((-INF, -INF, 3.0, INF), 1),
        ((-INF, -INF, -INF, -INF), 0),
        ((1.0, math.nan, 3.0, -INF), 1),
    ],
)
@pytest.mark.parametrize("bit", [0, 5])
def test_a_cell_that_is_left_forgets_what_it_noted(values, bits, bit):
    """And nothing else: negative values leave, after notes of what is not finite."""
    k = Builder()
    x = k.buffer("x", "f64")
    with k.grid(4) as grid:
        value = k.load(x, grid.i, 0)
        k.note(value, bit)
        k.leave_if(value < 0.0)
    kernel = k.finish()
    memory = {"x": np.array(values)}
    assert noted(kernel, memory, (0, 4)) == bits << bit
    for cell, value in enumerate(values):
        kept = not math.isfinite(value) and not value < 0
        assert noted(kernel, memory, (cell, cell + 1)) == kept << bit


@pytest.mark.parametrize("cells", [1, 3])
@pytest.mark.parametrize("where", ["lanes", "loop", "branch", "while"])
@pytest.mark.parametrize("leaves_at", [-1, 0, 2])
def test_notes_within_blocks_are_forgotten_likewise(where, leaves_at, cells):
    """Of several bits and types; the cell is left in a loop after them, or not at all."""
    k = Builder()
    x, small = k.buffer("x", "f64"), k.buffer("small", "f32")
    with k.grid(cells) as grid:
        if where == "lanes":
            with k.lanes(0, 9) as lanes:
                k.note(k.load(x, lanes.i))
                k.note(k.load(small, lanes.i), 3)
        elif where == "loop":
            with k.loop(0, 9) as loop:
                k.note(k.load(x, loop.i, 0))
                k.note(k.load(small, loop.i, 0), 3)
                loop.yield_()
        elif where == "branch":
            with k.if_(k.eq(k.load(x, 0, 0), 0.0)) as branch:
                k.note(k.load(x, 4, 0))
                k.note(k.load(small, 4, 0) > 2.0, 3)
                branch.yield_()
        else:
            with k.while_([k.const(0, "index")]) as loop:
                k.note(k.load(x, loop.carry[0], 0))
                k.note(k.load(small, loop.carry[0], 0), 3)
                loop.yield_(loop.carry[0] < 8, loop.carry[0] + 1)
        with k.loop(0, 4) as turns:
            k.leave_if(k.eq(turns.i, leaves_at) & k.eq(grid.i, cells - 1))
            k.note(k.load(x, turns.i, 0) > 2.0, 7)
            turns.yield_()
    x = np.arange(9.0)
    x[4] = math.inf
    event = noted(k.finish(), {"x": x, "small": x.astype("f")}, (0, cells))
    in_all_cells = 1 | 1 << 3 | 1 << 7
    assert event == (in_all_cells if leaves_at < 0 or cells > 1 else 0)


def refused(build):
    k = Builder()
    x = k.buffer("x", "f64", written=True)
    build(k, x)
    with pytest.raises(KernelError) as error:
        verify_kernel(k.finish())
    return str(error.value)


def test_lanes_cannot_be_left():
    def build(k, x):
        with k.grid(1), k.lanes(0, 4) as lanes:
            k.leave_if(k.load(x, 0, 0) > 0.0)
            k.store(x, lanes.i, 0.0)

    assert "outside of lanes" in refused(build)


def test_lanes_call_no_inner_loop():
    def build(k, x):
        at = k.const(0, "i64")
        with k.grid(1), k.lanes(0, 4) as lanes:
            k.invoke(at, at, at, at)
            k.store(x, lanes.i, 0.0)

    assert "outside of lanes" in refused(build)


def test_an_inner_loop_is_given_addresses():
    def build(k, x):
        at = k.const(0, "index")
        with k.grid(1):
            k.invoke(at, at, at, at)

    assert "invoke" in refused(build)


def test_a_while_says_whether_it_goes_on():
    def build(k, x):
        with k.grid(1):
            block = k.while_([k.load(x, 0, 0)])
            block.__enter__()
            k.leave(block, (block.carry[0],))

    assert "while" in refused(build)


# -- products --------------------------------------------------------------------------------------
NUMBERS = (2, 5, 7, 3, 35, 0, 15, 7, 1, 1, 7, 3, 1)
"""Two matrices by one that lies in columns."""


@pytest.mark.parametrize("dtype", ["d", "f"])
@pytest.mark.parametrize("special", [1.0, math.inf, math.nan, 3e38])
def test_products_by_numpys_loop_have_its_bits_and_events(dtype, special):
    rng = np.random.default_rng(0)
    a, b = rng.random((2, 5, 7)).astype(dtype), rng.random((3, 7)).astype(dtype)
    a[1, 2, 3], b[1, 3] = special, -special
    k = Builder()
    element = {"d": "f64", "f": "f32"}[dtype]
    left, right = (k.buffer(name, element) for name in ("left", "right"))
    product = k.buffer("product", element, written=True)
    address = k.const(inner_loop(np.matmul, f"{dtype * 2}->{dtype}"), "i64")
    with k.grid(2) as grid:
        k.store(product, grid.i, 9.0, 0)
        k.note(k.multiply(address, (left, right, product), NUMBERS))
    kernel = k.finish()
    verify_kernel(kernel)
    assert "multiply product = left @ right" in to_text(kernel)
    with np.errstate(all="ignore"):
        expected = a @ b.T
    reported = []
    every = dict.fromkeys(("divide", "over", "invalid"), "call")
    with np.errstate(**every, call=lambda *what: reported.append(what)):
        np.matmul(a, b.T)
    compiled = current_session().backend.compile(kernel)
    out, event = np.zeros((2, 5, 3), dtype), ctypes.c_int64(0)
    words = [x.ctypes.data for x in (a, b, out)] + [ctypes.addressof(event)]
    ENTRY(compiled.address)((ctypes.c_int64 * 4)(*words), 0, 2)
    memory = {"left": a.ravel(), "right": b.ravel(), "product": np.zeros(30, dtype)}
    noted_by_interpreter = interpret(kernel, memory)
    assert out.tobytes() == memory["product"].tobytes() == expected.tobytes()
    assert bool(event.value) == bool(noted_by_interpreter) == bool(reported)


def test_a_million_cells_with_products_have_stack_enough():
    k = Builder()
    x, made = k.buffer("x", "f64"), k.buffer("made", "f64", written=True)
    address = k.const(inner_loop(np.matmul, "dd->d"), "i64")
    with k.grid(1_000_000):
        k.note(k.multiply(address, (x, x, made), (1,) * 13))
    compiled = current_session().backend.compile(k.finish())
    values, event = np.full(2, 3.0), ctypes.c_int64(0)
    words = (values.ctypes.data, values[1:].ctypes.data, ctypes.addressof(event))
    ENTRY(compiled.address)((ctypes.c_int64 * 3)(*words), 0, 1_000_000)
    assert values.tolist() == [3.0, 9.0]


@pytest.mark.parametrize("wrong", ["lanes", "read-only", "types", "numbers"])
def test_products_are_refused(wrong):
    def build(k, x):
        y = k.buffer("y", "f32" if wrong == "types" else "f64")
        address, made = k.const(0, "i64"), y if wrong == "read-only" else x
        numbers = NUMBERS[:-1] if wrong == "numbers" else NUMBERS
        with k.grid(1):
            if wrong != "lanes":
                k.multiply(address, (y, y, made), numbers)
                return
            with k.lanes(0, 4):
                k.multiply(address, (y, y, made), numbers)

    assert refused(build)
