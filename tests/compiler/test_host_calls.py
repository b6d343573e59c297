"""Programs with host calls. Oracles: the reference interpreter, and NumPy itself."""

import gc
import warnings
import weakref
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import runmat_jit as runmat
from runmat_jit.backends.reference.interpret import run as run_reference
from runmat_jit.compiler.compile_graph import compile_graph, verified
from runmat_jit.compiler.compiler import Compiler, DeviceExecutor
from runmat_jit.compiler.explain import Explanation
from runmat_jit.compiler.host_step import laid_out, show
from runmat_jit.compiler.region_report import region_reports
from runmat_jit.compiler.verified_program import VerificationError, like
from runmat_jit.core.extent import Scope
from runmat_jit.core.protocols import EventsRaise
from runmat_jit.core.source import SourceLine
from runmat_jit.core.types import TensorType, c_strides
from runmat_jit.graph.node import Fresh, GraphBuilder, Output
from runmat_jit.graph.parse import parse
from runmat_jit.ops import product
from runmat_jit.ops.host_call import HostCall
from runmat_jit.ops.table import ROWS
from runmat_jit.runtime.session import Session, current_session
from tests.graph.host_calls import ALIKE, CALLS, parsed
from tests.graph.random_graphs import EXACT_ROWS, HOST, arrays, bits_equal, graphs

pytestmark = pytest.mark.sampled(3)

NONE = frozenset()
ALL = frozenset(("divide", "over", "invalid"))
X = "$0 : float64[4] strides (1,)\n"
F64 = np.dtype("float64")


def sort(operand, kind="float64[4]"):
    return f"host_call({operand}, call='sort()') : {kind}"


def program(text):
    return compile_graph(current_session(), parsed(text))


def agrees(graph, *inputs):
    """The results of the program, which are those of the interpreter, as is what was written."""
    copies = [like(value, np.array(value)) for value in inputs]
    compiled = compile_graph(current_session(), graph)
    found = compiled.run(list(inputs), NONE)
    expected = run_reference(graph, copies)
    fresh = [e for e, o in zip(expected, graph.outputs, strict=True) if isinstance(o.target, Fresh)]
    assert len(fresh) == len(found)
    assert all(map(bits_equal, fresh, found))
    assert all(map(bits_equal, copies, inputs))
    return found


# -- where values lie ------------------------------------------------------------------------------
def test_a_call_runs_between_what_it_reads_and_what_reads_it():
    text = f"{X}%0 = negative($0)\n%1 = {sort('%0')}\n%2 = subtract(%1, $0)\n"
    (found,) = agrees(parsed(f"{text}return %2 -> fresh (0,)\n"), np.array([3.0, 1, 2, 5]))
    assert found.tolist() == [-8.0, -4.0, -4.0, -6.0]


def test_a_result_is_an_output_an_operand_and_another_output():
    text = f"{X}%0 = {sort('$0')}\n%1 = add(%0, %0)\n%2 = {sort('%0').replace('sort', 'flip')}\n"
    text += "return %0 -> fresh (0,)\nreturn %1 -> fresh (0,)\n"
    text += "return %0 -> fresh (0,)\nreturn %2 -> fresh (0,)\n"
    found = agrees(parsed(text), np.array([3.0, 1, 2, 5]))
    assert not any(np.shares_memory(a, b) for n, a in enumerate(found) for b in found[:n])


def test_the_memory_of_a_result_is_what_the_call_returned():
    made = []

    def fn(x):
        made.append(np.sort(x))
        return made[-1]

    text = f"{X}%0 = {sort('$0')}\nreturn %0 -> fresh (0,)\n"
    compiled = compile_graph(current_session(), parse(text, calls={"sort()": HostCall(fn, "s")}))
    (found,) = compiled.run([np.arange(4.0)], NONE)
    assert found is made[0]


@pytest.mark.parametrize("name", ALIKE)
@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_a_result_lies_as_its_output_asks(name, order):
    text = "$0 : float64[3, 5] strides (5, 1)\n"
    text += f"%0 = host_call($0, call='{name}') : float64[3, 5]\n%1 = multiply(%0, 2.0)\n"
    text += f"return %0 -> fresh {order}\nreturn %1 -> fresh {order}\n"
    x = np.random.default_rng(0).random((3, 5))
    for found in agrees(parsed(text), x):
        assert found.transpose(order).flags.c_contiguous
        assert found.flags.writeable


def test_an_update_takes_the_memory_of_a_result_and_not_that_of_an_input():
    update = "update({}, $1, offset=0, shape=(2,), strides=(2,))"
    text = f"{X}$1 : float64[2] strides (1,)\n%0 = {sort('$0')}\n%1 = {update.format('%0')}\n"
    text += f"%2 = {update.format('$0')}\n%3 = {sort('%2')}\n%4 = {update.format('%3')}\n"
    text += "return %1 -> fresh (0,)\nreturn %4 -> fresh (0,)\n"
    graph = parsed(text)
    agrees(graph, np.array([3.0, 1, 2, 5]), np.array([8.0, 9]))
    plan = compile_graph(current_session(), graph).plan
    assert [base.op.name for base in plan.in_place.values()] == ["host_call", "host_call"]


def test_a_call_reads_what_an_update_in_place_has_made():
    text = f"{X}$1 : float64[2] strides (1,)\n%0 = negative($0)\n"
    text += "%1 = update(%0, $1, offset=0, shape=(2,), strides=(2,))\n"
    text += f"%2 = {sort('%1')}\nreturn %2 -> fresh (0,)\n"
    graph = parsed(text)
    agrees(graph, np.array([3.0, 1, 2, 5]), np.array([8.0, 9]))
    assert len(compile_graph(current_session(), graph).plan.in_place) == 1


def test_an_operand_is_read_before_an_update_takes_its_memory():
    text = f"{X}$1 : float64[2] strides (1,)\n%0 = exp($0)\n"
    text += "%1 = update(%0, $1, offset=0, shape=(2,), strides=(2,))\n"
    text += f"%2 = {sort('%0')}\n%3 = {sort('%1')}\nreturn %1 -> fresh (0,)\n"
    text += "return %2 -> fresh (0,)\nreturn %3 -> fresh (0,)\n"
    graph = parsed(text)
    x = np.array([3.0, 1, 2, 5])
    found = compile_graph(current_session(), graph).run([x, np.array([8.0, 9])], NONE)
    np.testing.assert_array_max_ulp(found[1], np.sort(np.exp(x)), 2)


def test_a_call_reads_an_input_as_it_was():
    text = f"{X}%0 = negative($0)\n%1 = {sort('$0')}\nreturn %0 -> into $0 offset 0 strides (1,)\n"
    text += "return %1 -> fresh (0,)\nreturn %1 -> into $0 offset 0 strides (1,)\n"
    x = np.array([3.0, 1, 2, 5])
    (found,) = agrees(parsed(text), x)
    assert found.tolist() == x.tolist() == [1.0, 2.0, 3.0, 5.0]


@pytest.mark.parametrize("view", ["transpose(%0, axes=(1, 0))", "transpose($0, axes=(1, 0))"])
def test_views_are_shown_and_nothing_is_copied(view):
    seen = []
    text = f"$0 : float64[3, 5] strides (5, 1)\n%0 = negative($0)\n%1 = {view}\n"
    text += "%2 = host_call(%1, call='see') : float64[5, 3]\nreturn %2 -> fresh (0, 1)\n"
    text += "return %0 -> fresh (0, 1)\n"
    call = HostCall(lambda x: seen.append(x) or np.array(x, order="C"), "see")
    agrees(parse(text, calls={"see": call}), np.arange(15.0).reshape(3, 5))
    assert seen[0].strides == (8, 40)
    assert len(compile_graph(current_session(), parse(text, calls={"see": call})).kernels) == 1


def test_numbers_are_numpy_scalars_and_arrays_without_axes_are_arrays():
    seen = []
    text = "$0 : float32[] by value\n$1 : float32[] strides ()\n%0 = add($1, $0) : float32[]\n"
    text += "%1 = count(number=7) : int64[]\n"
    text += "%2 = host_call($0, $1, %0, %1, int32(3), call='see') : float64[]\n"
    call = HostCall(lambda *operands: seen.extend(operands) or np.float64(1), "see")
    graph = parse(f"{text}return %2 -> fresh ()\n", calls={"see": call})
    agrees(graph, np.array(0.5, np.float32), np.array(1.5, np.float32))
    kinds = [np.float32, np.ndarray, np.ndarray, np.int64, np.int32]
    assert [type(operand) for operand in seen] == kinds * 2


def test_results_are_freed_when_nothing_needs_them():
    alive = []

    def fn(x):
        gc.collect()
        counts.append(sum(each() is not None for each in alive))
        result = np.array(x)
        alive.append(weakref.ref(result))
        return result

    counts = []
    lines = "".join(f"%{n} = {sort(f'%{n - 1}' if n else '$0')}\n" for n in range(9))
    graph = parse(f"{X}{lines}return %8 -> fresh (0,)\n", calls={"sort()": HostCall(fn, "s")})
    compile_graph(current_session(), graph).run([np.arange(4.0)], NONE)
    assert max(counts) == 1


@given(
    graphs(("negative", "less", "add", "slice", *("update", *HOST) * 3), max_nodes=14),
    st.integers(0, 99),
)
def test_memory_that_calls_return_is_taken_as_any_other(graph, seed):
    agrees(graph, *arrays(graph, seed))


# -- results ---------------------------------------------------------------------------------------
@pytest.mark.parametrize("shape", [(0,), (0, 4), (4, 0)])
def test_empty_arrays_are_sorted_too(shape):
    strides, axes = c_strides(shape), tuple(range(len(shape)))
    kind = f"float64{list(shape)}"
    text = f"$0 : {kind} strides {strides}\n%0 = negative($0)\n%1 = {sort('%0', kind)}\n"
    text += f"%2 = exp(%1)\nreturn %2 -> fresh {axes}\nreturn %1 -> fresh {axes[::-1]}\n"
    agrees(parsed(text), np.empty(shape))


def test_a_result_that_breaks_its_law_is_a_mistake():
    compiled = program(f"{X}%0 = {sort('$0', 'float64[5]')}\nreturn %0 -> fresh (0,)\n")
    with pytest.raises(AssertionError, match="its law says float64"):
        compiled.run([np.arange(4.0)], NONE)


def test_a_program_of_calls_alone_has_no_kernels():
    compiled = program(f"{X}%0 = {sort('$0')}\nreturn %0 -> fresh (0,)\n")
    assert compiled.kernels == ()
    assert [report.kind for report in region_reports(compiled)] == ["host"]


@given(graph=graphs((*EXACT_ROWS, *HOST)), seed=st.integers(0, 99))
def test_verified_programs_pass(graph, seed):
    compiled = verified(SESSION, compile_graph(SESSION, graph))
    compiled.run(arrays(graph, seed), NONE)


SESSION = Session()


def test_verification_sees_what_follows_a_call():
    text = f"{X}%0 = {sort('$0')}\n%1 = exp(%0)\n%2 = {sort('%1')}\n%3 = add(%1, %2)\n"
    compiled = program(f"{text}return %3 -> fresh (0,)\n")
    right = compiled.program

    class Wrong:
        def run(self, inputs, warn):
            (result,) = right.run(inputs, warn)
            result[2] += 1
            return [result]

    x = np.linspace(0, 1, 4)
    verified(SESSION, compiled).run([x], NONE)
    with pytest.raises(VerificationError, match="fused and unfused differ"):
        verified(SESSION, replace(compiled, program=Wrong())).run([x], NONE)


# -- events ----------------------------------------------------------------------------------------
@pytest.mark.parametrize("before", [True, False])
def test_events_before_and_after_a_call_are_reported_at_the_end(before):
    lines = ("%0 = log($0)", f"%1 = {sort('%0')}", "%2 = negative(%1)")
    if not before:
        lines = ("%0 = negative($0)", f"%1 = {sort('%0')}", "%2 = log(%1)")
    compiled = program("\n".join((X, *lines, "return %2 -> fresh (0,)")))
    for x, texts in (
        (np.zeros(4), ["divide by zero encountered in log"]),
        (np.full(4, 2.0 if before else -2.0), []),
    ):
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            compiled.run([x], ALL)
        assert [str(warning.message) for warning in seen] == texts


def test_an_event_under_an_error_filter_writes_nothing():
    text = f"{X}%0 = log($0)\n%1 = {sort('%0')}\nreturn %1 -> into $0 offset 0 strides (1,)\n"
    x = np.array([0.0, 1, 2, 3])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(EventsRaise):
            program(text).run([x], ALL)
    assert x.tolist() == [0.0, 1, 2, 3]


# -- devices and explanations ----------------------------------------------------------------------
def test_a_program_with_a_call_stays_on_the_cpu_and_no_gpu_is_opened():
    graph = parsed(f"{X}%0 = {sort('$0')}\n%1 = exp(%0)\nreturn %1 -> fresh (0,)\n")
    session = Session()
    compiled = Compiler(session).compile(graph, "gpu")
    assert (compiled.device, "gpu" in session.__dict__) == ("cpu", False)
    assert compiled.device_reason == "sort() is computed by NumPy, in the host's memory"
    resident = Compiler(session).compile(graph, "gpu", resident=True)
    np.testing.assert_array_equal(
        *resident.run([np.ones(4)], NONE), compiled.run([np.ones(4)], NONE)[0]
    )


def test_capture_is_told_where_host_calls_may_be():
    compiler = Compiler(current_session())
    assert DeviceExecutor(compiler, "cpu").takes_host_calls
    assert not DeviceExecutor(compiler, "cpu").resident("cpu").takes_host_calls
    assert not DeviceExecutor(compiler, "gpu").takes_host_calls
    without = Session()
    without.__dict__["unsupported"] = "no vectors"
    assert not DeviceExecutor(Compiler(without), "cpu").takes_host_calls


def test_without_kernels_the_interpreter_makes_the_calls():
    session = Session()
    session.__dict__["unsupported"] = "no vectors"
    graph = parsed(f"{X}%0 = {sort('$0')}\n%1 = negative(%0)\nreturn %1 -> fresh (0,)\n")
    (found,) = compile_graph(session, graph).run([np.array([3.0, 1, 2, 5])], NONE)
    assert found.tolist() == [-1.0, -2.0, -3.0, -5.0]


def test_regions_and_calls_are_explained_where_they_run():
    builder, kind = GraphBuilder(), TensorType(F64, (1000,))
    x = builder.input(ROWS["input"], kind, (1,), None)
    doubled = builder.make(ROWS["exp"], (x,), {}, kind)
    line = SourceLine("program.py", 7)
    made = builder.make(ROWS["host_call"], (doubled,), {"call": CALLS["sort()"]}, kind, line)
    graph = builder.finish([Output(builder.make(ROWS["tanh"], (made,), {}, kind), Fresh((0,)))])
    reports = region_reports(compile_graph(current_session(), graph))
    assert [report.kind for report in reports] == ["elementwise", "host", "elementwise"]
    host = reports[1]
    assert (host.operations, host.device, host.kernels, host.on_arrays) == (
        ("sort()",),
        "cpu",
        0,
        0,
    )
    assert (host.bytes_read, host.bytes_written, host.reasons) == (8000, 8000, ())
    assert host.lines == (line.short(),)
    text = str(Explanation("f", "replayed", tuple(reports), ()))
    assert "2. host on cpu: NumPy, reads 8 kB, writes 8 kB\n     sort()\n" in text
    assert "3 regions, 2 kernels" in text


def test_regions_are_counted_by_fusion_kind():
    session = Session()
    compile_graph(session, parsed(f"{X}%0 = {sort('$0')}\n%1 = exp(%0)\nreturn %1 -> fresh (0,)\n"))
    assert session.telemetry.snapshot()["regions"] == {"elementwise": 1}


# -- dynamic shapes --------------------------------------------------------------------------------
class Builder:
    """Graphs over a matrix and a number, of any kind of extents."""

    def __init__(self, shape):
        self.builder = GraphBuilder()
        self.shape = shape
        self.x = self.builder.input(ROWS["input"], TensorType(F64, shape), c_strides(shape), None)
        self.n = self.builder.input(ROWS["input"], TensorType(F64, ()), None, None)

    def __call__(self, name, *args, shape=None, **params):
        kind = TensorType(F64, self.shape if shape is None else shape)
        return self.builder.make(ROWS[name], args, params, kind)

    def host(self, name, *args, shape=None):
        return self("host_call", *args, shape=shape, call=CALLS[name])


def between(make):
    return make("exp", make.host("sort()", make("multiply", make.x, make.n))), (0, 1)


def shown(make):
    rows, columns = make.shape
    turned = make("transpose", make("negative", make.x), shape=(columns, rows), axes=(1, 0))
    return make(
        "negative", make.host("flip()", turned, shape=(columns, rows)), shape=turned.type.shape
    ), (1, 0)


def column_major(make):
    return make.host("fortran()", make.host("strided()", make.x)), (1, 0)


def filled(make):
    ones = make("broadcast_to", make.n, shape=make.shape)
    return make("add", make.host("sort()", ones), make.host("frozen()", make.x)), (0, 1)


def counted(make):
    number = make.builder.make(
        ROWS["count"], (), {"number": make.shape[0]}, TensorType(np.dtype("int64"), ())
    )
    return make.host("roll()", make.x, number), (0, 1)


def chained(make):
    value = make.x
    for name in ("sort()", "flip()", "strided()"):
        value = make("multiply", make.host(name, value), make.n)
    return value, (0, 1)


def graph_of(program, shape, scope=None):
    if scope is not None:
        shape = tuple(map(scope.symbol, shape))
    make = Builder(shape)
    value, order = program(make)
    return make.builder.finish([Output(value, Fresh(order))])


@pytest.mark.parametrize("program", [between, shown, column_major, filled, counted, chained])
def test_programs_of_extents_make_calls_too(program):
    compiler, scope = Compiler(current_session()), Scope()
    template = compiler.template(graph_of(program, (30, 40), scope), scope)
    for shape in ((30, 40), (31, 42), (50, 7), (700, 300), (33, 41)):
        x, n = np.random.default_rng(0).random(shape), np.array(2.5)
        (found,) = template.run(shape, [x, n], NONE)
        plain = compile_graph(current_session(), graph_of(program, shape))
        (expected,) = plain.run([x, n], NONE)
        assert found.strides == expected.strides
        np.testing.assert_array_equal(found, expected)
    assert len(template.dynamic) == 1, "one program is for all of them"
    assert (template.dynamic[0].run([x, n], NONE, *shape)) is not None


def test_a_dynamic_program_is_no_other_with_another_call():
    compiler, scope = Compiler(current_session()), Scope()
    template = compiler.template(graph_of(between, (30, 40), scope), scope)
    template.prepare((30, 40))
    template.prepare((31, 41))
    (made,) = template.dynamic

    def flipped(make):
        return make("exp", make.host("flip()", make("multiply", make.x, make.n))), (0, 1)

    for program, same in ((between, True), (flipped, False)):
        other = compile_graph(current_session(), graph_of(program, (33, 44)))
        assert made.describes(other, (33, 44)) is same


def test_events_of_a_dynamic_program_are_found_with_its_calls():
    compiler, scope = Compiler(current_session()), Scope()

    def logarithm(make):
        return make("log", make.host("sort()", make.x)), (0, 1)

    template = compiler.template(graph_of(logarithm, (30, 40), scope), scope)
    for shape in ((30, 40), (31, 41)):
        template.prepare(shape)
    (made,) = template.dynamic
    with pytest.warns(RuntimeWarning, match="divide by zero encountered in log"):
        made.run([np.zeros((5, 6)), np.array(1.0)], ALL, 5, 6)


# -- memory ----------------------------------------------------------------------------------------
def test_what_lies_is_not_copied_and_what_does_not_is():
    x = np.arange(12.0).reshape(3, 4)
    assert laid_out(x, F64, (3, 4), None, fail) is x
    column_major = np.asfortranarray(x)
    assert laid_out(column_major, F64, (3, 4), (8, 24), fail) is column_major

    def allocate(shape, dtype, strides):
        assert (shape, dtype, strides) == ((3, 4), F64, (8, 24))
        return np.empty(shape, dtype, order="F")

    np.testing.assert_array_equal(laid_out(x, F64, (3, 4), (8, 24), allocate), x)


def fail(*_):
    raise AssertionError("nothing is to be allocated")


def test_memory_is_shown_as_another_array():
    x = np.arange(12.0)
    seen = show(x, np.dtype("int64"), 16, (2, 3), (8, 24))
    np.testing.assert_array_equal(seen, x[2:].view(np.int64)[[[0, 3, 6], [1, 4, 7]]])
    assert np.shares_memory(seen, x)


def weighted(x, d):
    return (0.5 * x.T) @ d


def descended(x, d):
    w = np.zeros(x.shape[1])
    for _ in range(3):
        w = w - 0.5 * x.T @ (x @ w - d) / len(d)
    return w


def of_both(x, d):
    return (x.T + 1) @ (2 * x), (x.T * 2) @ (d[:, None] * x)


@pytest.mark.parametrize("fn", [weighted, descended, of_both])
def test_what_a_product_reads_in_columns_is_stored_so(fn, monkeypatch):
    """Nothing is copied for it. Oracle: undecorated Python, to the bit."""
    found, real = [], product._lying

    def lying(array, lies):
        placed = real(array, lies)
        found.append(placed is array)
        return placed

    monkeypatch.setattr(product, "_lying", lying)
    rng = np.random.default_rng(0)
    x, d = rng.normal(size=(9000, 40)), rng.normal(size=9000)
    decorated = runmat.jit(fn)
    for _ in range(4):
        ours, theirs = decorated(x, d), fn(x, d)
        pairs = zip(ours, theirs, strict=True) if type(ours) is tuple else [(ours, theirs)]
        assert all(np.array_equal(*pair) for pair in pairs)
    assert all(found)  # none, where the plan knows that they lie so
