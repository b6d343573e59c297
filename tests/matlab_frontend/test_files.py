"""Files of programs; oracles: Python's ``json``, NumPy's ``tobytes``, and what was written."""

import importlib
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from matlab_frontend.errors import MatlabError
from matlab_frontend.run import run_source
from matlab_frontend.search_path import SearchPath
from matlab_frontend.session import Session
from matlab_frontend.source import Source

CLASSES = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "single")
NUMPY = {"single": "float32", "double": "float64"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder that the tests of this module write to."""
    return tmp_path_factory.mktemp("files")


def run(code, folder, **variables):
    """The variables that a program leaves whose current folder is another one."""
    session = Session(
        write=lambda _: None, write_error=lambda _: None, path=SearchPath(current=folder)
    )
    return run_source(Source(code), variables, session)


TEXT = st.text(st.sampled_from("ab ,1\té\U0001f600"), max_size=6)


@given(lines=st.lists(TEXT, max_size=5), end=st.sampled_from(("\n", "\r\n")), closed=st.booleans())
def test_fgetl_reads_the_lines_that_are_there(folder, lines, end, closed):
    text = end.join(lines) + (end if closed else "")
    (folder / "lines.txt").write_bytes(text.encode())
    code = """f = fopen('lines.txt'); made = {}; ended = [];
    while ~feof(f), x = fgetl(f); if ~ischar(x), break, end
    made{end+1} = x; ended(end+1) = feof(f); end, fclose(f);"""
    made = run(code, folder)
    wanted = text.split("\n")
    if not wanted[-1]:
        wanted.pop()
    assert list(made["made"]) == [line.removesuffix("\r") for line in wanted]
    flags = np.atleast_1d(made["ended"]).ravel().tolist()
    assert flags == [0.0] * (len(wanted) - 1) + [1.0] * bool(wanted)


@pytest.mark.parametrize("kind", [*CLASSES, "double"])
@pytest.mark.parametrize(("machine", "order"), [("ieee-le", "<"), ("ieee-be", ">")])
def test_numbers_are_written_and_read_as_bytes(folder, kind, machine, order):
    dtype = np.dtype(NUMPY.get(kind, kind))
    info = np.iinfo(dtype) if dtype.kind in "iu" else np.finfo(dtype)
    x = np.array([[0, 1, info.min], [3, info.max, 5]], dtype)
    code = f"""f = fopen('x.bin', 'w', '{machine}'); n = fwrite(f, x, '{kind}'); fclose(f);
    f = fopen('x.bin', 'r', '{machine}'); y = fread(f, [2 Inf], '*{kind}'); e = feof(f);
    frewind(f); z = fread(f, 1, '{kind}'); fclose(f);"""
    made = run(code, folder, x=x)
    stored = x.astype(dtype.newbyteorder(order)).tobytes(order="F")
    assert (folder / "x.bin").read_bytes() == stored
    assert made["n"] == 6
    assert made["e"] == 1
    assert made["z"] == 0
    assert made["y"].dtype == dtype
    np.testing.assert_array_equal(made["y"], x)


@pytest.mark.parametrize("kind", CLASSES[:-1])
@given(x=st.floats())
def test_numbers_outside_a_class_are_written_as_its_nearest(folder, kind, x):
    info = np.iinfo(kind)
    code = f"f = fopen('s.bin', 'w'); fwrite(f, x, '{kind}'); fclose(f);"
    run(code, folder, x=x)
    (found,) = np.frombuffer((folder / "s.bin").read_bytes(), kind).tolist()
    if np.isnan(x):
        assert found == 0
    elif not info.min <= x <= info.max:
        assert found == (info.min if x < 0 else info.max)
    else:
        assert abs(found - x) <= 0.5


@given(x=st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=8))
def test_numbers_that_are_printed_with_all_digits_are_read_back(folder, x):
    code = """f = fopen('n.txt', 'w'); fprintf(f, '%.17g\\n', x); fclose(f);
    f = fopen('n.txt'); a = fscanf(f, '%f'); frewind(f); b = textscan(f, '%f'); fclose(f);
    b = b{1}; c = readmatrix('n.txt'); d = dlmread('n.txt'); e = load('n.txt');"""
    made = run(code, folder, x=np.array(x))
    for name in "abcde":
        np.testing.assert_array_equal(np.ravel(made[name]), x)


VALUES = {
    "scalar": "3.5",
    "integers": "int16([1 -2; 3 4])",
    "single": "single([1.5; NaN])",
    "truth": "[true false; false true]",
    "complex": "[1+2i 3; 0 -1i]",
    "complex_single": "single(1+2i)",
    "cube": "reshape(1:24, 2, 3, 4)",
    "text": "'text é'",
    "rows": "['ab'; 'cd']",
    "no_text": "''",
    "nothing": "[]",
    "no_rows": "zeros(0, 3)",
    "cells": "{1, 'a'; [], {2, {true}}}",
    "no_cells": "cell(0, 2)",
    "struct": "struct('a', 1, 'b', struct('c', {{1, 'x'}}))",
    "structs": "struct('k', {1, 'two'; [], {3}})",
    "wide": "uint64(18446744073709551615)",
}


@pytest.mark.parametrize("name", VALUES)
@pytest.mark.parametrize("option", ["", "-v6", "-v7"])
def test_a_value_that_is_saved_is_loaded_with_its_class_and_size(folder, name, option):
    code = f"""x = {VALUES[name]}; y = 1; save('v.mat', 'x', 'y'{f", '{option}'" * bool(option)});
    S = load('v.mat'); z = S.x; same = isequal(x, z) || (isequaln(x, z) && any(isnan(x(:))));
    classes = strcmp(class(x), class(z)); sizes = isequal(size(x), size(z));
    real_ones = isreal(x) == isreal(z);"""
    made = run(code, folder)
    flags = ("same", "classes", "sizes", "real_ones")
    assert [flag for flag in flags if not made[flag]] == []


def test_a_file_of_version_7_3_is_read_through_h5py_or_refused(folder):
    path = folder / "new.mat"
    try:
        h5py = importlib.import_module("h5py")
    except ImportError:
        path.write_bytes(b"MATLAB 7.3 MAT-file" + bytes(500))
        with pytest.raises(MatlabError, match="h5py") as caught:
            run("load('new.mat')", folder)
        assert caught.value.identifier == "MATLAB:load:needsH5py"
        return
    with h5py.File(path, "w", userblock_size=512) as file:

        def put(place, name, data, kind):
            item = place.create_dataset(name, data=data)
            item.attrs["MATLAB_class"] = np.bytes_(kind)
            return item

        put(file, "x", np.array([[1.0, 3.0], [2.0, 4.0], [5.0, 6.0]]), "double")
        put(file, "t", np.array([[104], [105]], np.uint16), "char")
        put(file, "l", np.array([[1], [0]], np.uint8), "logical")
        inner = put(file.create_group("#refs#"), "a", np.array([[7.0]]), "double")
        put(file, "c", np.array([[inner.ref], [inner.ref]], h5py.ref_dtype), "cell")
        group = file.create_group("s")
        group.attrs["MATLAB_class"] = np.bytes_("struct")
        put(group, "f", np.array([[9], [8]], np.int8), "int8")
    made = run("load('new.mat'); n = class(s.f); k = class(l);", folder)
    np.testing.assert_array_equal(made["x"], [[1, 2, 5], [3, 4, 6]])
    assert made["t"] == "hi"
    assert made["l"].tolist() == [[True, False]]
    assert made["c"] == [7.0, 7.0]
    assert made["s"]["f"].tolist() == [[9, 8]]
    assert (made["n"], made["k"]) == ("int8", "logical")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-1000, 1000) | st.text('ab"\\\né', max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("xyz"), inner),
    max_leaves=8,
)


@given(item=JSON)
def test_decoded_json_is_encoded_as_the_same_text_again(folder, item):
    """Once decoded, what null and empty texts became stays what it is."""
    code = "a = jsonencode(jsondecode(t)); b = jsonencode(jsondecode(a)); pretty ="
    code += " jsonencode(jsondecode(a), 'PrettyPrint', true); c = jsonencode(jsondecode(pretty));"
    made = run(code, folder, t=json.dumps(item))
    assert made["a"] == made["b"] == made["c"]
    assert json.loads(made["a"]) == json.loads(made["pretty"])


NUMBERS = st.integers(-50, 50) | st.floats(-1e3, 1e3)


@given(x=st.lists(st.lists(NUMBERS, min_size=2, max_size=2), min_size=2, max_size=4))
def test_numbers_in_json_are_matrices(folder, x):
    made = run("x = jsondecode(t); t2 = jsonencode(x);", folder, t=json.dumps(x))
    np.testing.assert_array_equal(made["x"], np.array(x, float))
    assert json.loads(made["t2"]) == x


def test_files_are_closed_at_the_end_of_a_run(folder):
    session = Session(path=SearchPath(current=folder))
    run_source(Source("f = fopen('open.txt', 'w'); fprintf(f, 'x');"), {}, session)
    assert session.streams.opened == {}
    assert (folder / "open.txt").read_text() == "x"


def test_a_program_that_changes_its_folder_leaves_that_of_the_process(folder, tmp_path):
    made = run(
        "cd(where); f = fopen('here.txt', 'w'); fclose(f); p = pwd;", folder, where=str(tmp_path)
    )
    assert (tmp_path / "here.txt").exists()
    assert made["p"] == str(tmp_path)


@pytest.mark.parametrize(
    ("typed", "code", "wanted"),
    [
        (["3 + 4\n"], "x = input('? ');", 7),
        (["oops(\n", "2\n"], "x = input('? ');", 2),
        (["3 + 4\n"], "x = input('? ', 's');", "3 + 4"),
        (["x = 5;\n", "return\n"], "x = 1; keyboard; x = x + 1;", 6),
        (["x = 5;\n"], "x = 1; keyboard; x = x + 1;", 6),
    ],
)
def test_what_is_typed_is_read(typed, code, wanted):
    left = list(typed)
    session = Session(
        write=lambda _: None,
        write_error=lambda _: None,
        read_line=lambda: left.pop(0) if left else "",
    )
    assert run_source(Source(code), {}, session)["x"] == wanted


def test_input_without_anybody_to_type_is_an_error():
    session = Session(write=lambda _: None, read_line=lambda: "")
    with pytest.raises(MatlabError) as caught:
        run_source(Source("x = input('? ');"), {}, session)
    assert caught.value.identifier == "MATLAB:input:EndOfInput"
