"""Oracle: the values that went in."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from matlab_frontend.engine import NumpyEngine
from matlab_frontend.errors import MatlabError
from matlab_frontend.values.array import kind_of, shape_of
from matlab_frontend.workspace import Workspace, from_python, to_python

ENGINE = NumpyEngine()


@given(
    array=st.sampled_from(["f8", "f4", "i4", "u1", "?", "c16"]).flatmap(
        lambda dtype: hnp.arrays(
            dtype, hnp.array_shapes(min_dims=2, max_dims=3, min_side=2, max_side=4)
        )
    )
)
def test_an_array_comes_back_as_it_went_in(array):
    back = to_python(ENGINE, from_python(array))
    assert back.dtype == array.dtype
    assert np.array_equal(back, array, equal_nan=array.dtype.kind in "fc")


@pytest.mark.parametrize("dtype", ["f8", "f4", "i1", "u2", "i8", "?", "c8", "c16"])
def test_a_dtype_is_kept(dtype):
    array = np.ones((2, 3), dtype)
    assert to_python(ENGINE, from_python(array)).dtype == np.dtype(dtype)


@pytest.mark.parametrize(
    "value", ["text", "", {"a": 1.0, "b": "x"}, ["one", 2.0, [3.0, "four"]], 2.5, True]
)
def test_python_values_come_back(value):
    assert to_python(ENGINE, from_python(value)) == value


def test_a_vector_becomes_a_row():
    assert shape_of(from_python(np.arange(3.0))) == (1, 3)


def test_lists_of_numbers_become_rows_of_doubles():
    value = from_python([1, 2, 3])
    assert (kind_of(value), shape_of(value)) == ("double", (1, 3))


def test_a_workspace_is_a_mapping():
    workspace = Workspace(ENGINE, {"x": 2.0, "s": from_python("text")})
    assert dict(workspace) == {"x": 2.0, "s": "text"}
    assert repr(workspace) == "Workspace(s, x)"


def test_values_without_a_class_are_refused():
    with pytest.raises(MatlabError, match="no MATLAB class"):
        from_python(np.array(["2024-01-01"], "M8[D]"))
