"""Oracle: NumPy indexing of arrays whose memory lies in Fortran order."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from matlab_frontend.engine import NumpyEngine
from matlab_frontend.errors import MatlabError
from matlab_frontend.indexing import delete, read, write
from matlab_frontend.subscripts import Everything, Span
from matlab_frontend.values.make import reverse, row

ENGINE = NumpyEngine()
ROWS, COLUMNS, PAGES = 3, 4, 2


def pages():
    return np.arange(1.0, 1 + ROWS * COLUMNS * PAGES).reshape(ROWS, COLUMNS, PAGES, order="F")


def some(extent):
    """A subscript as MATLAB has it, and the positions from 0 that it means."""
    several = st.lists(st.integers(1, extent), min_size=1, max_size=5)
    return st.one_of(
        st.integers(1, extent).map(lambda k: (float(k), [k - 1])),
        several.map(lambda ks: (row(ks), [k - 1 for k in ks])),
        st.tuples(st.integers(1, extent), st.integers(1, extent)).map(
            lambda ab: (Span(*ab), list(range(ab[0] - 1, ab[1])))
        ),
        st.just((Everything(), list(range(extent)))),
    )


@given(r=some(ROWS), c=some(COLUMNS), p=some(PAGES))
def test_three_subscripts_read_what_an_open_mesh_reads(r, c, p):
    array = pages()
    made = read(ENGINE, reverse(array), (r[0], c[0], p[0])).T
    expected = array[np.ix_(r[1], c[1], p[1])]
    assert np.array_equal(made.reshape(expected.shape, order="F"), expected)


@given(r=some(ROWS), c=some(COLUMNS * PAGES))
def test_the_last_of_two_subscripts_runs_over_all_pages(r, c):
    array = pages()
    folded = array.reshape(ROWS, COLUMNS * PAGES, order="F")
    made = read(ENGINE, reverse(array), (r[0], c[0])).T
    assert np.array_equal(made, folded[np.ix_(r[1], c[1])])


@given(k=some(ROWS * COLUMNS * PAGES))
def test_one_subscript_counts_column_by_column(k):
    array = pages()
    made = read(ENGINE, reverse(array), (k[0],))
    assert np.array_equal(made.ravel(), array.ravel(order="F")[k[1]])


@given(r=some(ROWS), c=some(COLUMNS), p=some(PAGES), exclusive=st.booleans())
def test_assignment_of_a_scalar_changes_exactly_the_elements_named(r, c, p, exclusive):
    array = pages()
    data = reverse(array)
    made = write(ENGINE, data, (r[0], c[0], p[0]), np.full((1, 1), -1.0), exclusive=exclusive)
    expected = array.copy()
    expected[np.ix_(r[1], c[1], p[1])] = -1.0
    assert np.array_equal(made.T, expected)
    if not exclusive:
        assert np.array_equal(data.T, array)


@given(rows=st.integers(1, 6), columns=st.integers(1, 6))
def test_assignment_outside_grows_with_zeros(rows, columns):
    array = np.arange(1.0, 7.0).reshape(2, 3)
    made = write(
        ENGINE, reverse(array), (float(rows), float(columns)), np.full((1, 1), 9.0), exclusive=False
    ).T
    expected = np.zeros((max(2, rows), max(3, columns)))
    expected[:2, :3] = array
    expected[rows - 1, columns - 1] = 9.0
    assert np.array_equal(made, expected)


@given(ks=st.sets(st.integers(1, COLUMNS), max_size=COLUMNS))
def test_deleting_columns_keeps_the_others(ks):
    array = pages()[:, :, 0]
    made = delete(ENGINE, reverse(array), (Everything(), row(sorted(ks)))).T
    expected = np.delete(array, [k - 1 for k in ks], axis=1)
    assert made.size == expected.size
    assert np.array_equal(made.ravel(), expected.ravel())


@pytest.mark.parametrize(
    ("subscripts", "message"),
    [
        ((0.0,), "Array indices must be positive integers or logical values."),
        ((1.5,), "Array indices must be positive integers or logical values."),
        ((7.0,), "Index exceeds the number of array elements. Index must not exceed 6."),
        ((3.0, 1.0), "Index in position 1 exceeds array bounds. Index must not exceed 2."),
        ((1.0, 4.0), "Index in position 2 exceeds array bounds. Index must not exceed 3."),
    ],
)
def test_a_wrong_subscript_is_named_as_matlab_names_it(subscripts, message):
    with pytest.raises(MatlabError) as caught:
        read(ENGINE, np.ones((3, 2)), subscripts)
    assert (caught.value.identifier, caught.value.message) == ("MATLAB:badsubscript", message)


def test_sizes_that_differ_are_refused():
    with pytest.raises(MatlabError) as caught:
        write(ENGINE, np.ones((3, 2)), (Everything(), 1.0), np.ones((3, 1)), exclusive=False)
    assert "left side is 2-by-1 and the size of the right side is 1-by-3" in caught.value.message
