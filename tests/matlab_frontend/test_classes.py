"""Classes that files define; oracle: what MATLAB's documentation says of each part."""

import pytest

from matlab_frontend.errors import MatlabError
from matlab_frontend.run import run_source
from matlab_frontend.search_path import SearchPath
from matlab_frontend.session import Session
from matlab_frontend.source import Source

POINT = """classdef Point
  % A point in the plane.
  properties
    x (1,1) double = 0
    y = 0
  end
  properties (Constant), NAME = ['po' 'int'], end
  properties (Dependent)
    Norm
  end
  properties (Access = private)
    secret = 42
  end
  properties (SetAccess = immutable)
    made = 'default'
  end
  methods
    function obj = Point(x, y)
      if nargin > 0
        obj.x = x; obj.y = y; obj.made = 'by hand';
      end
    end
    function n = get.Norm(obj)
      n = sqrt(obj.x^2 + obj.y^2);
    end
    function obj = set.y(obj, v)
      if ~isnumeric(v), error('Point:y', 'y must be numeric'); end
      obj.y = v;
    end
    function r = plus(a, b), r = Point(a.x + b.x, a.y + b.y); end
    function r = mtimes(a, b)
      if isnumeric(a), r = Point(a * b.x, a * b.y); else, r = mtimes(b, a); end
    end
    function tf = eq(a, b), tf = a.x == b.x && a.y == b.y; end
    function r = uminus(a), r = Point(-a.x, -a.y); end
    function r = ctranspose(a), r = Point(a.y, a.x); end
    function r = horzcat(varargin), r = numel(varargin); end
    function obj = scale(obj, k), obj.x = obj.x * k; obj.y = helper(obj.y, k); end
    function s = reveal(obj), s = obj.hidden() + obj.secret; end
    function r = double(obj), r = [obj.x obj.y]; end
  end
  methods (Access = private)
    function s = hidden(~), s = 1; end
  end
  methods (Static)
    function p = of(v), p = Point(v(1), v(2)); end
    function r = through(k), r = Point.kept(k); end
  end
  methods (Static, Access = private)
    function r = kept(k), r = 10 * k; end
  end
end
function r = helper(a, k)
r = a * k;
end
"""
ACCOUNT = """classdef Account < handle
  properties (SetAccess = private)
    Balance = 0
  end
  properties
    History = {}
    Table = struct('n', 0)
  end
  methods
    function deposit(obj, x)
      obj.Balance = obj.Balance + x;
      obj.History{end+1} = x;
      obj.Table.n = obj.Table.n + 1;
    end
    function disp(obj), fprintf('  Account with %g\\n', obj.Balance); end
    function delete(obj), fprintf('closed %g\\n', obj.Balance); end
  end
end
"""
SHAPE = """classdef Shape < handle
  properties
    Name = 'none'
  end
  methods
    function obj = Shape(name), if nargin, obj.Name = name; end, end
    function s = describe(obj), s = sprintf('%s %.1f', obj.Name, obj.area()); end
  end
  methods (Abstract)
    a = area(obj)
  end
  methods (Access = protected)
    function s = family(~), s = 'shapes'; end
  end
end
"""
CIRCLE = """classdef Circle < Shape
  properties
    R {mustBePositive} = 1
  end
  methods
    function obj = Circle(r)
      obj@Shape('circle');
      if nargin, obj.R = r; end
    end
    function a = area(obj), a = 10 * obj.R; end
    function s = describe(obj), s = ['* ' describe@Shape(obj) ' of ' obj.family()]; end
  end
end
"""
FILES = {
    "Point.m": POINT,
    "Account.m": ACCOUNT,
    "Shape.m": SHAPE,
    "Circle.m": CIRCLE,
    "Plain.m": "classdef Plain < Shape\nmethods\nfunction a = area(~), a = 1; end\nend\nend\n",
    "Color.m": "classdef Color\nenumeration\nRed, Green\nBlue\nend\nend\n",
    "Level.m": "classdef Level\nproperties\nv\nend\nmethods\nfunction o = Level(v), o.v = v; end\n"
    "end\nenumeration\nLow (1), High (9)\nend\nend\n",
    "describe.m": "function s = describe(x)\ns = 'of a file';\n",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with the classes of this module."""
    made = tmp_path_factory.mktemp("classes")
    for name, text in FILES.items():
        (made / name).write_text(text)
    return made


def run(code, folder):
    """What a program prints, and the variables that it leaves."""
    printed = []
    session = Session(write=printed.append, path=SearchPath((folder,), folder))
    made = run_source(Source(code), {}, session)
    return "".join(printed), made


@pytest.mark.parametrize(
    ("code", "wanted"),
    [
        ("p = Point(3, 4); r = [p.x, p.y, p.Norm];", [3, 4, 5]),
        ("p = Point; r = [p.x, p.y, p.Norm];", [0, 0, 0]),
        ("p = Point(1, 2); q = p; q.x = 9; r = [p.x, q.x];", [1, 9]),
        ("p = Point(1, 2) + Point(3, 5); r = double(p);", [4, 7]),
        ("r = double(2 * Point(1, 2) * 3);", [6, 12]),
        ("r = double(-Point(1, 2));", [-1, -2]),
        ("r = double(Point(1, 2)');", [2, 1]),
        ("r = double(Point(1, 2).scale(3));", [3, 6]),
        ("r = double(scale(Point(1, 2), 3));", [3, 6]),
        ("r = double(Point.of([7 8]));", [7, 8]),
        ("f = @Point.of; r = double(f([7 8]));", [7, 8]),
        ("f = @Point; r = double(f(7, 8));", [7, 8]),
        ("s.p = Point(1, 2); t = s; t.p.x = 5; r = [s.p.x, t.p.x];", [1, 5]),
        ("c = {Point(1, 2)}; c{1}.y = 7; r = [c{1}.y, 0];", [7, 0]),
        ("p = Point; p.y(3) = 2; r = p.y;", [0, 0, 2]),
        ("a = Account; b = a; b.deposit(5); deposit(a, 7); r = [a.Balance, b.Table.n];", [12, 2]),
        ("a = Account; a.deposit(5); a.deposit(6); r = [a.History{:}];", [5, 6]),
        ("r = cellfun(@(s) s.area(), {Circle(2), Plain()});", [20, 1]),
        ("r = arrayfun(@(k) Circle(k).R, 1:2);", [1, 2]),
        ("n = 'x'; p = Point(4, 2); r = [p.(n), 1];", [4, 1]),
        ("v = [7 8]; w = v; v = [v, Point, Point]; r = [v, w];", [3, 7, 8]),
        ("r = [Level.Low.v, Level.High.v];", [1, 9]),
        (
            "x = Color.Blue; switch x, case {Color.Red, 'Green'}, r = 1; otherwise, r = [2 0]; end",
            [2, 0],
        ),
        (
            "switch Point(1, 2), case Point(1, 3), r = [1 0]; case Point(1, 2), r = [2 0]; end",
            [2, 0],
        ),
    ],
)
def test_objects_hold_compute_and_change(folder, code, wanted):
    assert run(code, folder)[1]["r"].ravel().tolist() == wanted


@pytest.mark.parametrize(
    ("code", "wanted"),
    [
        ("Point(1, 2) == Point(1, 2)", True),
        ("isequal(Point(1, 2), Point(1, 2))", True),
        ("isequal(Point(1, 2), Point(1, 3))", False),
        ("isobject(Point)", True),
        ("isa(Circle(1), 'Shape') && isa(Circle(1), 'handle')", True),
        ("isa(Point, 'handle')", False),
        ("strcmp(class(Circle(1)), 'Circle')", True),
        ("Color.Red == Color.Red && Color.Red ~= Color.Blue", True),
        ("isprop(Point, 'x') && ~isprop(Point, 'z')", True),
        ("ismethod(Point, 'scale')", True),
        ("strcmp(Point.NAME, 'point') && strcmp(Point().NAME, 'point')", True),
        ("Point(1, 2).reveal() == 43", True),
        ("Point.through(2) == 20", True),
        ("p = Point(1, 2); n = 'scale'; q = p.(n)(3); r = q.x == 3 && q.y == 6", True),
        ("p = Point(3, 4); n = 'x'; r = p.(n) == 3 && p.('Norm') == 5", True),
        ("strcmp(Point(1, 2).made, 'by hand')", True),
        ("[Point, Point, Point] == 3", True),
        ("strcmp(describe(3), 'of a file')", True),
        ("strcmp(Plain().Name, 'none')", True),
        ("Color.Red == 'Red' && Color.Red ~= 'Blue'", True),
        ("exist('Point') == 8 && exist('describe') == 2", True),
    ],
)
def test_questions_about_objects(folder, code, wanted):
    code = code if "; r = " in code else f"r = {code}"
    assert bool(run(f"{code};", folder)[1]["r"]) is wanted


def test_a_method_calls_that_of_its_parent_and_comes_before_files(folder):
    code = "c = Circle(2); r = {c.describe(), describe(c), describe(Plain('p'))};"
    made = run(code, folder)[1]["r"]
    assert made == ["* circle 20.0 of shapes"] * 2 + ["p 1.0"]


@pytest.mark.parametrize(
    ("code", "identifier"),
    [
        ("p = Point; p.secret", "MATLAB:class:GetProhibited"),
        ("p = Point; p.secret = 1;", "MATLAB:class:SetProhibited"),
        ("p = Point; p.made = 'later';", "MATLAB:class:SetProhibited"),
        ("p = Point; p.NAME = 'x';", "MATLAB:class:SetProhibited"),
        ("p = Point; p.hidden()", "MATLAB:class:MethodRestricted"),
        ("c = Circle(1); c.family()", "MATLAB:class:MethodRestricted"),
        ("Point.kept(2)", "MATLAB:class:MethodRestricted"),
        ("f = @() Point.kept(2); f()", "MATLAB:class:MethodRestricted"),
        ("p = Point; p.nothing", "MATLAB:noSuchMethodOrField"),
        ("p = Point; p.nothing = 1;", "MATLAB:noPublicFieldForClass"),
        ("p = Point; p.y = 'a';", "Point:y"),
        ("p = Point; p.x = [1 2];", "MATLAB:validation:IncompatibleSize"),
        ("p = Point; p.x = {};", "MATLAB:validation:UnableToConvert"),
        ("c = Circle(-1);", "MATLAB:validators:mustBePositive"),
        ("a = Account; a.Balance = 3;", "MATLAB:class:SetProhibited"),
        ("Shape('x')", "MATLAB:class:abstract"),
        ("Point / 2", "MATLAB:UndefinedFunction"),
        ("[Account, Account]", "MATLAB:UndefinedFunction"),
        ("p = Point; p(2)", "MATLAB:UndefinedFunction"),
        ("p = Point; p{1}", "MATLAB:UndefinedFunction"),
        ("sin(Point)", "MATLAB:UndefinedFunction"),
        ("Point.nothing", "MATLAB:subscripting:classHasNoPropertyOrMethod"),
        ("Color.Violet", "MATLAB:subscripting:classHasNoPropertyOrMethod"),
        ("Color('Red')", "MATLAB:class:invalidEnum"),
        ("Account(1)", "MATLAB:TooManyInputs"),
        ("Point(1, 2, 3)", "MATLAB:TooManyInputs"),
        ("nothing_here(Point)", "MATLAB:UndefinedFunction"),
        ("a = Account; delete(a); a.Balance", "MATLAB:class:InvalidHandle"),
    ],
)
def test_what_a_class_does_not_allow_is_an_error(folder, code, identifier):
    with pytest.raises(MatlabError) as caught:
        run(code, folder)
    assert caught.value.identifier == identifier


def test_objects_are_shown_by_their_public_properties_or_by_their_disp(folder):
    printed, _ = run("p = Point(3, 4)\na = Account\ndisp(a)\nc = Color.Red\ns.p = p", folder)
    assert printed == (
        "\np = \n\n  Point with properties:\n\n       x: 3\n       y: 4\n    NAME: 'point'\n"
        "    Norm: 5\n    made: 'by hand'\n\n"
        "\na = \n\n  Account with 0\n\n"
        "  Account with 0\n"
        "\nc = \n\n  Color enumeration\n\n    Red\n\n"
        "\ns = \n\n  struct with fields:\n\n    p: [1\N{MULTIPLICATION SIGN}1 Point]\n\n"
    )


def test_a_handle_that_is_deleted_runs_its_delete_once(folder):
    code = "a = Account; b = a; a.deposit(3); v = isvalid(b); delete(a); delete(a); w = isvalid(b);"
    printed, made = run(code, folder)
    assert printed == "closed 3\n"
    assert (bool(made["v"]), bool(made["w"])) == (True, False)


def test_properties_and_methods_are_listed(folder):
    made = run("p = properties(Point); m = methods(Circle(1));", folder)[1]
    assert made["p"] == ["x", "y", "NAME", "Norm", "made"]
    assert made["m"] == ["Circle", "Shape", "area", "describe"]


@pytest.mark.parametrize("method", ["subsref", "subsasgn"])
def test_a_class_that_changes_what_indexing_means_is_refused(tmp_path, method):
    text = f"classdef A\nmethods\nfunction r = {method}(o, s), r = 1; end\nend\nend\n"
    (tmp_path / "A.m").write_text(text)
    with pytest.raises(MatlabError) as caught:
        run("a = A;", tmp_path)
    assert caught.value.identifier == "MATLAB:class:unsupportedMethod"


def test_a_parent_that_is_not_there_is_named(tmp_path):
    (tmp_path / "A.m").write_text("classdef A < Nobody\nend\n")
    with pytest.raises(MatlabError, match="Nobody") as caught:
        run("a = A;", tmp_path)
    assert caught.value.identifier == "MATLAB:class:undefinedSuperclass"
