"""Programs of many files; oracles: MATLAB's order of precedence, and what the files say."""

from itertools import product
from pathlib import Path

import pytest

from matlab_frontend.cli import main
from matlab_frontend.errors import MatlabError, MatlabSyntaxError
from matlab_frontend.run import engine_for, run_source
from matlab_frontend.search_path import SearchPath
from matlab_frontend.session import Session
from matlab_frontend.source import Source


def write(folder, files):
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def run(folder, files, *, results=None, engine=None, current=None):
    """What ``main.m`` prints, and the variables that it leaves."""
    write(folder, files)
    printed = []
    path = SearchPath((folder,), current or folder)
    session = Session(
        *(() if engine is None else (engine,)),
        write=printed.append,
        write_error=printed.append,
        path=path,
    )
    made = run_source(Source.from_file(folder / "main.m"), {}, session, results)
    return "".join(printed), made


PLACES = ("local", "private", "home", "current", "path", "builtin")


@pytest.mark.parametrize("present", list(product((False, True), repeat=5)), ids=str)
def test_the_first_place_that_has_a_function_gives_it(tmp_path, present):
    """Of the file, of ``private``, beside the program, in the current folder, on the path."""
    files = {"current/empty.txt": "", "lib/empty.txt": ""}
    folders = ("private/", "", "current/", "lib/")
    for place, folder, there in zip(PLACES[1:], folders, present[1:], strict=False):
        if there:
            files[f"{folder}magic.m"] = f"function y = magic(x)\ny = '{place}';\n"
    code = "addpath(fullfile(pwd, '..', 'lib'))\nr = magic(3);\n"
    files["main.m"] = code + ("function y = magic(x)\ny = 'local';\nend\n" if present[0] else "")
    write(tmp_path, files)
    _, made = run(tmp_path, {}, current=tmp_path / "current")
    first = next((place for place, there in zip(PLACES, present, strict=False) if there), None)
    assert made["r"] == first if first else made["r"].shape == (3, 3)


def test_a_script_shares_the_variables_of_its_caller_and_its_functions_are_its_own(tmp_path):
    files = {
        "main.m": "a = 1; setup; b = a; setup; c = in_function(); try, own(1), catch e, end",
        "setup.m": "a = own(a);\nfunction y = own(x)\ny = x + 10;\nend\n",
        "in_function.m": "function a = in_function()\na = 5; setup\n",
    }
    _, made = run(tmp_path, files)
    assert (made["a"], made["b"], made["c"]) == (21, 11, 15)
    assert made["e"].identifier == "MATLAB:UndefinedFunction"


@pytest.mark.parametrize(
    ("reader", "code"),
    [
        ("y = sum(x);", "reader"),
        ("y = sum(x);", "run reader"),
        ("y = sum(x);", "run('reader.m')"),
        ("function reader()\nassignin('base', 'y', sum(evalin('caller', 'x')));\n", "reader"),
        ("function reader()\nassignin('caller', 'y', evalin('base', 'sum(x)'));\n", "reader()"),
    ],
)
def test_large_variables_that_only_another_file_reads_are_there(tmp_path, reader, code):
    """Nothing in the text of the caller reads them, and nobody asks for its variables."""
    main_file = f"x = 2 * ones(1, 10000) + 1;\n{code}\nfprintf('%g\\n', y)\n"
    files = {"main.m": main_file, "reader.m": reader}
    printed, _ = run(tmp_path, files, results=frozenset(), engine=engine_for("cpu"))
    assert printed == "30000\n"


def test_a_script_takes_no_arguments_and_gives_no_outputs(tmp_path):
    files = {"main.m": "try, x = script_here; catch e, end", "script_here.m": "a = 1;"}
    _, made = run(tmp_path, files)
    assert made["e"].identifier == "MATLAB:scriptNotAFunction"


def test_return_leaves_the_script_alone(tmp_path):
    files = {"main.m": "x = 1; part; x = x + 1;", "part.m": "x = 10; if x, return, end, x = 100;"}
    assert run(tmp_path, files)[1]["x"] == 11


def test_run_goes_to_the_folder_of_the_script_and_back(tmp_path):
    files = {
        "main.m": "before = pwd; run(fullfile('sub', 'inside')); after = pwd;",
        "sub/inside.m": "there = pwd; v = beside(1);",
        "sub/beside.m": "function y = beside(x)\ny = x + 1;\n",
    }
    _, made = run(tmp_path, files)
    assert made["there"] == str(tmp_path / "sub")
    assert made["before"] == made["after"] == str(tmp_path)
    assert made["v"] == 2


def test_packages_and_imports(tmp_path):
    files = {
        "main.m": "a = pack.f(1); b = pack.deep.g(2); h = @pack.f; c = h(3); import pack.deep.g\n"
        "d = g(4); import pack.*\ne = f(5); try, pack.none(1), catch x, end",
        "+pack/f.m": "function y = f(x)\ny = 10 * x;\n",
        "+pack/+deep/g.m": "function y = g(x)\ny = pack.f(x) + 1;\n",
    }
    _, made = run(tmp_path, files)
    assert [made[name] for name in "abcde"] == [10, 21, 30, 41, 50]
    assert made["x"].identifier == "MATLAB:UndefinedFunction"


def test_files_that_come_change_and_go_are_noticed(tmp_path):
    code = """for k = 1:3
      f = fopen('made_here.m', 'w');
      fprintf(f, 'function y = made_here()\\ny = %s;\\n', repmat('1', 1, k)); fclose(f);
      r(k) = made_here();
    end
    delete('made_here.m')
    try, made_here(), catch e, end
    """
    _, made = run(tmp_path, {"main.m": code})
    assert made["r"].tolist() == [[1, 11, 111]]
    assert made["e"].identifier == "MATLAB:UndefinedFunction"


def test_persistent_variables_outlive_changes_of_the_path(tmp_path):
    files = {
        "main.m": "a = tally(); addpath('lib'); b = tally(); cd('lib'); c = tally();",
        "tally.m": "function y = tally()\npersistent n\n"
        "if isempty(n), n = 0; end\nn = n + 1; y = n;",
        "lib/empty.txt": "",
    }
    _, made = run(tmp_path, files)
    assert [made[name] for name in "abc"] == [1, 2, 3]


def test_the_search_path_is_changed_shown_and_searched(tmp_path):
    files = {
        "main.m": "addpath(genpath('lib')); p = path; a = inner(); rmpath(fullfile('lib', 'sub'));"
        "try, inner(), catch e, end, w = which('outer_one'); addpath('other', '-end'); q = path;"
        "v = 1; k = {which('v'), which('sin'), which('nothing_here')};",
        "lib/outer_one.m": "function y = outer_one()\ny = 1;\n",
        "lib/sub/inner.m": "function y = inner()\ny = 2;\n",
        "lib/private/hidden.m": "",
        "lib/+pack/f.m": "",
        "other/empty.txt": "",
    }
    _, made = run(tmp_path, files)
    lib = str(tmp_path / "lib")
    assert made["p"].split(":") == [lib, f"{lib}/sub"]
    assert made["a"] == 2
    assert made["e"].identifier == "MATLAB:UndefinedFunction"
    assert made["w"] == f"{lib}/outer_one.m"
    assert made["q"].split(":") == [lib, str(tmp_path / "other")]
    assert made["k"] == ["variable", "built-in (sin)", ""]


def test_private_functions_see_each_other_and_nobody_else_does(tmp_path):
    files = {
        "main.m": "addpath('lib'); a = uses(1); try, secret(1), catch e, end",
        "lib/uses.m": "function y = uses(x)\ny = secret(x);\n",
        "lib/private/secret.m": "function y = secret(x)\ny = more(x) + 1;\n",
        "lib/private/more.m": "function y = more(x)\ny = 10 * x;\n",
    }
    _, made = run(tmp_path, files)
    assert made["a"] == 11
    assert made["e"].identifier == "MATLAB:UndefinedFunction"


def test_an_error_tells_the_calls_that_led_to_it(tmp_path, capsys):
    files = {
        "main.m": "x = 1;\nouter(x)\n",
        "outer.m": "function outer(x)\nif x\n  inner(x + 1)\nend\n",
        "inner.m": "function inner(x)\nerror('my:id', 'value %d', x)\n",
    }
    write(tmp_path, files)
    assert main([str(tmp_path / "main.m")]) == 1
    assert capsys.readouterr().err == (
        "Error (my:id): value 2\n"
        f"{tmp_path}/inner.m:2:1 in inner\n"
        "  error('my:id', 'value %d', x)\n"
        "  ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^\n"
        f"{tmp_path}/outer.m:3:3 in outer\n"
        f"{tmp_path}/main.m:2:1\n"
    )


def test_a_long_chain_of_calls_is_cut(tmp_path, capsys):
    write(tmp_path, {"main.m": "down(1)\nfunction down(x)\ndown(x + 1)\nend\n"})
    assert main([str(tmp_path / "main.m")]) == 1
    lines = capsys.readouterr().err.splitlines()
    assert lines[0].startswith("Error (MATLAB:recursionLimit)")
    assert lines[-1] == "and 481 more calls"


def test_a_file_that_is_no_program_says_so_where_it_is_called(tmp_path):
    files = {"main.m": "if false, broken(1), end\nok = 1;\n", "broken.m": "function y = broken(x\n"}
    assert run(tmp_path, files)[1]["ok"] == 1
    with pytest.raises(MatlabSyntaxError) as caught:
        run(tmp_path, {**files, "main.m": "broken(1)\n"})
    assert Path(caught.value.filename) == tmp_path / "broken.m"


def test_cleanups_run_when_an_error_ends_the_program(tmp_path):
    files = {"main.m": "c = onCleanup(@() disp('cleaned')); error('my:id', 'ends')"}
    write(tmp_path, files)
    printed = []
    session = Session(write=printed.append, path=SearchPath((tmp_path,), tmp_path))
    with pytest.raises(MatlabError, match="ends"):
        run_source(Source.from_file(tmp_path / "main.m"), {}, session)
    assert printed == ["cleaned\n"]


def test_nested_functions_of_other_files_keep_their_variables_apart(tmp_path):
    files = {
        "main.m": "a = make(1); b = make(100); a(); x = [a() b()];",
        "make.m": "function h = make(n)\nh = @step;\n"
        "function y = step()\nn = n + 1; y = n;\nend\nend\n",
    }
    assert run(tmp_path, files)[1]["x"].tolist() == [[3, 101]]
