"""Oracle: value semantics: a variable changes only by its own assignments."""

import pytest

from matlab_frontend.run import run_source
from matlab_frontend.session import Session
from matlab_frontend.source import Source


def run(code):
    return run_source(Source(code), {}, Session(write=lambda _: None))


SHARERS = {
    "another variable": "y = x;",
    "a cell": "c = {x}; y = c{1};",
    "a field": "s.f = x; y = s.f;",
    "a captured value": "f = @() x; y = f();",
    "a reshaped value": "y = reshape(x, 1, []);",
    "a transposed value": "y = x';",
    "a column of it": "y = x(:);",
    "an argument": "y = id(x);",
    "a map": "m = containers.Map(); m('x') = x; y = m('x');",
    "a comma list": "c = {x, x}; [y, z] = c{:};",
}
PREPARATIONS = ("x = [1 2 3];", "x = 1:3;", "x = zeros(1, 3); x(1) = 1;", "x = []; x(3) = 1;")


@pytest.mark.parametrize("preparation", PREPARATIONS)
@pytest.mark.parametrize("sharer", SHARERS.values(), ids=SHARERS)
def test_a_copy_keeps_its_elements_when_the_original_changes(preparation, sharer):
    code = f"{preparation} {sharer} before = y; x(1) = 99; x(2) = 98; same = isequal(y, before);"
    workspace = run(code + "\nfunction y = id(x), y = x; end")
    assert workspace["same"]
    assert workspace["x"][0, :2].tolist() == [99, 98]


def test_an_argument_that_a_function_changes_stays_as_it_was():
    code = "x = [1 2 3]; y = change(x);\nfunction v = change(v), v(1) = 9; v(2) = 8; end"
    workspace = run(code)
    assert workspace["x"].tolist() == [[1, 2, 3]]
    assert workspace["y"].tolist() == [[9, 8, 3]]


def test_a_long_loop_of_assignments_changes_the_array_in_place():
    counted = run("x = zeros(1, 3000000); for k = 1:200, x(k) = k; end, s = sum(x);")
    assert counted["s"] == 200 * 201 / 2


def test_a_global_variable_changes_for_all_who_share_it():
    code = """
global g
g = [1 2 3]; y = g;
change();
z = g;
function change()
  global g
  g(1) = 7;
end
"""
    workspace = run(code)
    assert workspace["z"].tolist() == [[7, 2, 3]]
    assert workspace["y"].tolist() == [[1, 2, 3]]


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("x(2, 3) = 1;", [[0, 0, 0], [0, 0, 1]]),
        ("x = 1:3; x(5) = 9;", [[1, 2, 3, 0, 9]]),
        ("x = 5; x(3) = 1;", [[5, 0, 1]]),
        ("x = [1; 2]; x(4) = 1;", [[1], [2], [0], [1]]),
        ("x = 1:4; x([true false true false]) = [];", [[2, 4]]),
    ],
)
def test_assignment_grows_and_deletion_shrinks(code, expected):
    assert run(code)["x"].tolist() == expected


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("x = zeros(1, 2, 'int8'); x(1) = 300;", "int8"),
        ("x = false(1, 2); x(1) = 5;", "logical"),
        ("x = 'ab'; x(1) = 65;", "char"),
        ("x = single([1 2]); x(1) = 5;", "single"),
        ("x = []; x(2) = int8(5);", "int8"),
    ],
)
def test_an_array_keeps_its_class_when_elements_are_assigned(code, kind):
    assert run(code + " k = class(x);")["k"] == kind
