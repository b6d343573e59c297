"""Loops over elements change arrays in place, and compile nothing. Oracle: counts, no clocks.

Copies are counted by the memory of the array: after the first assignment it stays where it is.
"""

import numpy as np
import pytest

import runmat_jit as runmat
from matlab_frontend.draws import SingleDraws
from matlab_frontend.interpreter.interpreter import Interpreter
from matlab_frontend.parser import parse
from matlab_frontend.run import engine_for, run_source
from matlab_frontend.session import Session
from matlab_frontend.source import Source
from matlab_frontend.values.array import Array, Cell, Struct
from runmat_jit.random import default_rng


def run(code, **variables):
    session = Session(engine_for("cpu"), write=lambda _: None)
    return run_source(Source(code), variables, session)


MOVING = {
    "writing elements": "x = zeros(1, 9000); for k = 1:40, x(k) = k; end",
    "reading elements": "x = ones(1, 9000); s = 0; for k = 1:40, s = s + x(k); end",
    "reading what is computed": "x = rand(90) + 1; s = 0; for k = 1:40, s = s + x(k, k); end",
    "truth values": "x = true(1, 9000); for k = 2:2:80, x(k) = false; end",
    "columns": "X = zeros(90); for t = 2:40, X(:, t) = X(:, t-1) + 1; end",
    "rows": "X = zeros(90); for t = 2:40, X(t, :) = X(t-1, :) + 1; end",
    "ranges": "x = zeros(1, 9000); for k = 1:40, x(k:k+3) = x(k+1:k+4) + 1; end",
    "ranges with steps": "x = true(1, 9000); for k = 2:40, x(k*k:k:end) = false; end",
    "stencils": "u = zeros(90); v = u; for i = 2:40, v(i, 2) = u(i-1, 2) + u(i+1, 2); end",
    "growth": "v = zeros(1, 9000); for k = 1:40, v(end+1) = k; end",
    "growth by columns": "v = zeros(90); for k = 1:40, v(:, end+1) = k; end",
    "single precision": "x = zeros(1, 9000, 'single'); for k = 1:40, x(k) = k; end",
    "fields": "s.x = zeros(1, 9000); for k = 1:40, s.x(k) = k; end",
    "cells": "c = {zeros(1, 9000)}; for k = 1:40, c{1}(k) = k; end",
    "lists of positions": "x = ones(1, 9000); for k = 1:40, x([k k+1]) = x([k+1 k]); end",
    "columns by lists": "X = ones(90); for k = 1:40, X(:, [1 k]) = X(:, [k 1]); end",
    "integers": "x = zeros(1, 9000, 'int32'); for k = 1:40, x(k) = x(k) + k; end",
    "joined elements": "v = ones(1, 9000); for k = 1:40, v = [v k]; end",
    "joined rows": "v = ones(90); for k = 1:40, v = [v; v(k, :)]; end",
    "joined in a new variable": "v = ones(1, 9000); for k = 1:40, w = [v ones(1, k)]; end",
    "deletion": "x = ones(1, 9000); for k = 1:40, x(k) = []; end",
}


@pytest.mark.parametrize("code", MOVING.values(), ids=MOVING)
def test_a_subscript_that_moves_compiles_no_program_of_its_own(code):
    built = []
    for steps in (code, code.replace("40", "80")):
        runmat.telemetry.reset()
        run(steps)
        built.append(runmat.telemetry.snapshot()["programs_built"])
    assert built[1] <= built[0] <= 2


def test_large_columns_of_a_matrix_share_the_programs_of_their_arithmetic():
    runmat.telemetry.reset()
    found = run("X = ones(5000, 30); for t = 2:30, X(:, t) = 0.5 * X(:, t-1) + X(:, t); end")["X"]
    assert runmat.telemetry.snapshot()["programs_built"] <= 3
    np.testing.assert_allclose(found[0], 2 - 0.5 ** np.arange(30))


def test_slices_that_stay_in_place_are_still_fused():
    runmat.telemetry.reset()
    code = "u = x; for k = 1:9, u(2:9999) = 0.25 * u(1:9998) + 0.5 * u(2:9999); end"
    found = run(code, x=np.ones((1, 10_000)))["u"]
    assert runmat.telemetry.snapshot()["kernel_launches"] >= 7
    expected = np.ones(10_000)
    for _ in range(9):
        expected[1:9999] = 0.25 * expected[:9998] + 0.5 * expected[1:9999]
    np.testing.assert_allclose(found[0], expected)


PLACES = {
    "an element": ("x = zeros(1, 8);", "x(k) = k;", "x"),
    "a truth value": ("x = true(1, 8);", "x(k) = false;", "x"),
    "a single": ("x = zeros(1, 8, 'single');", "x(k) = k;", "x"),
    "a character": ("x = 'abcdefgh';", "x(k) = 'z';", "x"),
    "an integer": ("x = zeros(1, 8, 'int32');", "x(k) = k;", "x"),
    "a truth value by a number": ("x = true(1, 8);", "x(k) = 0;", "x"),
    "elements at a list of positions": ("x = zeros(1, 8);", "x([k 2]) = [5 6];", "x"),
    "columns at a list of positions": ("x = zeros(8);", "x(:, [k 2]) = 5;", "x"),
    "an element of a matrix": ("x = zeros(8);", "x(k, 2) = k;", "x"),
    "an element of pages": ("x = zeros(8, 2, 2);", "x(k, 2, 1) = k;", "x"),
    "a column": ("x = zeros(8);", "x(:, k) = ones(8, 1);", "x"),
    "a row": ("x = zeros(8);", "x(k, :) = ones(1, 8);", "x"),
    "a range": ("x = zeros(1, 9);", "x(k:k+1) = [1 2];", "x"),
    "a cell": ("x = cell(1, 8);", "x{k} = k;", "x"),
    "a field's element": ("s.x = zeros(1, 8);", "s.x(k) = k;", "s.x"),
    "a nested field's element": ("s.a.x = zeros(1, 8);", "s.a.x(k) = k;", "s.a.x"),
    "a cell's element": ("c = {1, zeros(1, 8)};", "c{2}(k) = k;", "c{2}"),
    "an element of a struct array": (
        "s = struct('x', {1, zeros(1, 8)});",
        "s(2).x(k) = k;",
        "s(2).x",
    ),
    "an element in a persistent variable": (
        "",
        "keep(k);",
        "persistent",
    ),
}
KEEP = "\nfunction keep(k)\npersistent x\nif isempty(x), x = zeros(1, 8); end\nx(k) = k;\nend\n"


def address_of(value, place):
    """The memory behind ``s.x`` or ``c{2}``."""
    if isinstance(value, Cell) and place[0] == "c":
        value = value.data.flat[1]
    while isinstance(value, Struct):
        value = value.data.flat[-1]["a" if "a" in value.fields else "x"]
    return value.data.__array_interface__["data"]


@pytest.mark.parametrize(("before", "step", "place"), PLACES.values(), ids=PLACES)
def test_what_one_variable_holds_is_changed_where_it_is(before, step, place):
    interpreter = Interpreter(Session(write=lambda _: None))
    frame = interpreter.run(parse(Source(f"{before}\nk = 1; {step} k = 2; {step}{KEEP}")), {})
    store = frame.scope.persistent if place == "persistent" else frame.variables
    where = ("keep", "x") if place == "persistent" else place[0]
    address = address_of(store[where], place)
    interpreter.run_text(f"k = 3; {step} k = 4; {step}", frame)
    assert address_of(store[where], place) == address


@pytest.mark.parametrize(
    ("before", "step"),
    [
        ("x = 0;", "x(end+1) = k;"),
        ("x = 0;", "x(end+1, 1) = k;"),
        ("x = true;", "x(end+1) = false;"),
        ("x = 'a';", "x(end+1) = 'b';"),
        ("x = single(0);", "x(end+1) = k;"),
        ("x = {};", "x{end+1} = k;"),
        ("x = struct('a', {});", "x(end+1).a = k;"),
        ("x = struct('a', 0);", "x(end+1) = struct('a', k);"),
        ("x = zeros(3, 1);", "x(:, end+1) = [1; 2; 3];"),
        ("x = zeros(1, 3);", "x(end+1, :) = [1 2 3];"),
        ("x = int32([1 2]);", "x(end+1) = k;"),
        ("x = [];", "x = [x k];"),
        ("x = [];", "x = [x; k];"),
        ("x = zeros(1, 3);", "x = [x; 1 2 k];"),
        ("x = '';", "x = [x 'ab' 'c'];"),
        ("x = {};", "x = [x {k}];"),
        ("x = true;", "x = [x, false];"),
        ("x = 1:9;", "x(end+1) = k; x(1) = [];"),
        ("x = {1, 2, 3};", "x{end+1} = k; x(1) = [];"),
        ("x = 1:400;", "x(end) = [];"),
    ],
)
def test_an_array_that_grows_or_shrinks_by_steps_moves_rarely(before, step):
    interpreter = Interpreter(Session(write=lambda _: None))
    frame = interpreter.run(parse(Source(before)), {})
    places = set()
    for k in range(1, 401):
        frame.variables["k"] = float(k)
        interpreter.run_text(step, frame)
        value = frame.variables["x"]
        if isinstance(value, (Array, Cell, Struct)):
            memory = value.data if value.data.base is None else value.data.base
            places.add(memory.__array_interface__["data"])
            del memory
        del value
    assert len(places) <= 16


def test_what_grows_in_spare_room_is_filled_with_zeros():
    found = run("v = 1:9; for k = 1:9, v(end+2) = k; end, w = v; v(end+3) = 1; w(end+1) = 2;")
    expected = [*range(1, 10), *(x for k in range(1, 10) for x in (0, k))]
    assert found["v"][0].tolist() == [*expected, 0, 0, 1]
    assert found["w"][0].tolist() == [*expected, 2]


PATHS = {
    "s.x(2) = 9;": "s.x = [1 2 3];",
    "s.x{2}(1) = 9;": "s.x = {1, [2 3]};",
    "s.a.x(2) = 9;": "s.a.x = [1 2 3];",
    "s(2).x(2) = 9;": "s = struct('x', {[1 2], [3 4]});",
    "s{2}(2) = 9;": "s = {1, [2 3]};",
    "s{1}.x(2) = 9;": "s = {struct('x', [1 2])};",
    "s{end}(end+1) = 9;": "s = {1, [2 3]};",
    "s.x(end+1) = 9;": "s.x = [1 2 3];",
    "s.n = 9;": "s.x = [1 2 3];",
    "s(2).n = 9;": "s = struct('x', {1, 2});",
    "s(end+1).x = 9;": "s = struct('x', {1, 2});",
    "s{end+1} = 9;": "s = {1, 2};",
    "s(2) = [];": "s = {1, 2};",
    "s.x(2) = [];": "s.x = [1 2 3];",
    "s(end) = []; s(end+1) = 9;": "s = [1 2 3];",
    "s(1) = []; s(1) = 9;": "s = [1 2 3];",
    "s(1) = []; s{1} = 9;": "s = {1, 2, 3};",
    "s(end+1) = 9; s(1) = []; s(end+1) = 8;": "s = [1 2 3];",
    "s = [s 9]; s(2) = 8;": "s = [1 2 3];",
    "s = [s; 9 9 9]; s(2) = 8;": "s = [1 2 3];",
    "s = [s {9}]; s{1} = 8;": "s = {1, 2};",
    "s([1 3]) = [8 9];": "s = [1 2 3];",
    "s(2) = 300;": "s = int8([1 2 3]);",
}
SHARED = {
    "a second variable": "y = s;",
    "a cell": "y = {s};",
    "a field": "y.f = s;",
    "a captured value": "y = @() s;",
    "a part": "y = s(1:end);",
}


@pytest.mark.parametrize("shared", SHARED.values(), ids=SHARED)
@pytest.mark.parametrize(("step", "before"), PATHS.items(), ids=PATHS)
def test_whoever_holds_a_value_keeps_it_when_a_path_into_it_is_assigned(step, before, shared):
    kept = "y()" if "@" in shared else "y"
    code = f"{before} {shared} {step} kept = {kept}; clear s y; {before} {shared} fresh = {kept};"
    assert run(f"{code} same = isequal(kept, fresh);")["same"]


PENDING = {
    "an element": "x(7) = 9;",
    "a list": "x([7 8]) = [8 9];",
    "a mask": "x(x > 1) = 9;",
    "a range": "x(7:9) = 9;",
    "growth": "x(end+1) = 9; x(1) = 9;",
    "joining": "x = [x 9]; x(1) = 9;",
    "deletion": "x(end) = []; x(1) = 9;",
    "a loop": "for k = 1:3, x(k) = 9; x([k k+1]) = 8; end",
}


@pytest.mark.parametrize("step", PENDING.values(), ids=PENDING)
@pytest.mark.parametrize("made", ["2 * ones(1, 5000)", "x0", "x0 + 1"])
def test_what_waits_to_be_computed_sees_the_elements_as_they_were(step, made):
    code = f"""
x = {made}; first = x(1); y = x + 1; z = x; s.x = x; {step}
same = all(y == first + 1) && all(z == first) && all(s.x == first);
"""
    assert run(code, x0=np.full((1, 5000), 2.0))["same"]


@pytest.mark.parametrize("element", ['"a"', "{1}", "'a'", "int64(3)", "2i", "struct('a', 1)"])
def test_large_arrays_of_what_is_never_compiled_are_repeated_and_changed(element):
    code = f"x = repmat({element}, 1, 5000); y = x; x(3) = x(2); x(end+1) = x(1);"
    found = run(f"{code} n = numel(x); same = isequal(x(1:5000), y);")
    assert (found["n"], found["same"]) == (5001, True)


def test_an_assignment_that_fails_changes_nothing():
    code = """
s.x = [1 2 3]; c = {1, [2 3]}; q = struct('a', {1, 2});
try, s.new(0) = 1; catch, end
try, s.x(0) = 1; catch, end
try, c{5}(0) = 1; catch, end
try, c{2}(1, 2, 3) = [1 2]; catch, end
try, q(3).b(0) = 1; catch, end
same = isequal(s, struct('x', [1 2 3])) && isequal(c, {1, [2 3]});
same = same && isequal(q, struct('a', {1, 2}));
"""
    assert run(code)["same"]


@pytest.mark.parametrize(
    "order", [["uniform"], ["normal"], ["bits"], ["uniform", "normal", "bits"]]
)
def test_numbers_drawn_one_by_one_are_those_of_draws_of_one_element(order):
    ahead, plain = SingleDraws(default_rng(5)), default_rng(5)
    draws = {
        "uniform": lambda: plain.random((1, 1)).item(),
        "normal": lambda: plain.standard_normal((1, 1)).item(),
        "bits": lambda: plain.integers(-(1 << 63), 1 << 63, (1, 1)).item() + (1 << 63),
    }
    for k in range(600):
        name = order[k % len(order)]
        assert ahead.next(name) == draws[name]()
    ahead.stop()
    assert ahead.generator.state == plain.state


def test_an_array_drawn_after_single_numbers_goes_on_where_they_ended():
    found = run(
        "rng(1); a = rand; b = rand(1, 3); c = randi(9); s = rng; d = rand; rng(s); e = rand;"
    )
    again = run("rng(1); a = rand(1, 1); b = rand(1, 3); c = randi([1 9]); d = rand(1, 1);")
    for name in "abcd":
        np.testing.assert_array_equal(found[name], again[name])
    assert found["d"] == found["e"]
