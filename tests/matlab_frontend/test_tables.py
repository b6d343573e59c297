"""Tables; oracles: Python's sorting and grouping, and what was written."""

from itertools import groupby

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from matlab_frontend.run import run_source
from matlab_frontend.search_path import SearchPath
from matlab_frontend.session import Session
from matlab_frontend.source import Source

ROWS = st.lists(
    st.tuples(st.integers(0, 3), st.sampled_from(["b", "a", "x y", "q,r"]), st.floats(-9, 9)),
    min_size=1,
    max_size=6,
)
MAKE = "T = table(k(:), t(:), v(:), 'VariableNames', {'k', 't', 'v'});"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder that the tests of this module write to."""
    return tmp_path_factory.mktemp("tables")


def run(code, folder, rows):
    """The variables that a program leaves that begins with a table of rows."""
    variables = {
        "k": np.array([float(row[0]) for row in rows]),
        "t": [row[1] for row in rows],
        "v": np.array([row[2] for row in rows]),
    }
    session = Session(write=lambda _: None, path=SearchPath(current=folder))
    return run_source(Source(f"{MAKE} {code}"), variables, session)


def column(made, name):
    return np.ravel(made[name]).tolist()


@given(rows=ROWS)
def test_rows_are_sorted_as_python_sorts_them(folder, rows):
    code = "S = sortrows(T, {'t', 'k'}); k2 = S.k; t2 = S.t; v2 = S.v; [~, at] = sortrows(T, -1);"
    made = run(code, folder, rows)
    wanted = sorted(rows, key=lambda row: (row[1], row[0]))
    assert list(zip(column(made, "k2"), made["t2"], column(made, "v2"), strict=True)) == wanted
    downwards = sorted(range(len(rows)), key=lambda at: -rows[at][0])
    assert column(made, "at") == [at + 1 for at in downwards]


@given(rows=ROWS)
def test_groups_are_counted_and_summed(folder, rows):
    code = "G = groupsummary(T, 't', {'sum', 'max'}, 'v'); t2 = G.t; n = G.GroupCount;"
    made = run(f"{code} s = G.sum_v; m = G.max_v;", folder, rows)
    rows = sorted(rows, key=lambda row: row[1])
    groups = [(t, [row[2] for row in part]) for t, part in groupby(rows, key=lambda row: row[1])]
    assert made["t2"] == [t for t, _ in groups]
    assert column(made, "n") == [len(part) for _, part in groups]
    np.testing.assert_allclose(column(made, "s"), [sum(part) for _, part in groups], atol=1e-12)
    assert column(made, "m") == [max(part) for _, part in groups]


@given(rows=ROWS)
def test_a_table_that_is_written_is_read_back(folder, rows):
    code = "writetable(T, 't.csv'); R = readtable('t.csv'); k2 = R.k; t2 = R.t; v2 = R.v;"
    made = run(code, folder, rows)
    assert made["t2"] == [row[1] for row in rows]
    assert column(made, "k2") == [row[0] for row in rows]
    np.testing.assert_allclose(column(made, "v2"), [row[2] for row in rows], rtol=1e-14)


@given(rows=ROWS, keep=st.integers(0, 3))
def test_rows_that_are_chosen_deleted_and_put_together_are_the_table(folder, rows, keep):
    code = f"""a = T(T.k == {keep}, :); b = T; b(b.k == {keep}, :) = []; c = [a; b];
    n = [height(a) height(b) height(c)]; same = isequal(sortrows(c), sortrows(T));
    d = cell2table(table2cell(T), 'VariableNames', {{'k', 't', 'v'}});
    e = struct2table(table2struct(T), 'AsArray', true); same2 = isequal(d, T) && isequal(e, T);"""
    made = run(code, folder, rows)
    chosen = sum(row[0] == keep for row in rows)
    assert column(made, "n") == [chosen, len(rows) - chosen, len(rows)]
    assert made["same"]
    assert made["same2"]


@given(rows=ROWS, others=ROWS)
def test_an_inner_join_has_all_pairs_of_equal_keys(folder, rows, others):
    keys = ", ".join(f"{row[0]}" for row in others)
    numbers = ", ".join(f"{row[2]!r}" for row in others)
    code = f"U = table([{keys}]', [{numbers}]', 'VariableNames', {{'k', 'w'}});"
    made = run(f"{code} J = innerjoin(T, U); k2 = J.k; v2 = J.v; w2 = J.w;", folder, rows)
    wanted = sorted(
        (one[0], at, k, one[2], two[2])
        for at, one in enumerate(rows)
        for k, two in enumerate(others)
        if one[0] == two[0]
    )
    found = list(zip(column(made, "k2"), column(made, "v2"), column(made, "w2"), strict=True))
    assert found == [(key, v, w) for key, _, _, v, w in wanted]
