"""The table: every operation that the compiler knows, one row each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from runmat_jit.ops import (
    angles,
    arg_extrema,
    arithmetic,
    assemble,
    cast,
    compare,
    complex_numbers,
    contract,
    create,
    difference,
    grids,
    host_call,
    indexing,
    linear,
    logical,
    mathematical,
    move,
    norm,
    product,
    random,
    reduce,
    rounding,
    scan,
    special,
    statistics,
    structure,
    unusual,
)
from runmat_jit.ops.spec import Op, RowError, check

_MODULES = (
    arithmetic,
    compare,
    logical,
    rounding,
    mathematical,
    angles,
    special,
    unusual,
    complex_numbers,
    cast,
    reduce,
    statistics,
    arg_extrema,
    scan,
    create,
    grids,
    move,
    assemble,
    difference,
    contract,
    linear,
    norm,
    indexing,
    random,
    structure,
    host_call,
    product,
)


def collect(rows: tuple[Op, ...]) -> Mapping[str, Op]:
    """Rows by name, each checked.

    Raises:
        RowError: a row contradicts itself, or two rows share a name, a spelling or a method.

    """
    for row in rows:
        check(row)
    by_method: tuple[tuple[str, str], ...] = tuple((m, r.name) for r in rows for m in r.methods)
    _refuse_doubles([row.name for row in rows], "name")
    _refuse_doubles([method for method, _ in by_method], "method")
    _refuse_doubles([c for row in rows for c in dict.fromkeys(row.spellings)], "spelling")
    _refuse_doubles([row.matlab for row in rows if row.matlab is not None], "MATLAB name")
    return MappingProxyType({row.name: row for row in rows})


def _refuse_doubles(keys: list[Any], what: str) -> None:
    if len(set(keys)) < len(keys):
        doubles = sorted({str(key) for key in keys if keys.count(key) > 1})
        raise RowError(f"two rows share a {what}: {', '.join(doubles)}")


ROWS = collect(tuple(row for module in _MODULES for row in module.ROWS))
_BY_CALLABLE = {spelling: row for row in ROWS.values() for spelling in row.spellings}
_OF_LIBRARIES = {row.library.name: row for row in ROWS.values() if row.library is not None}
_BY_METHOD = {method: row for row in ROWS.values() for method in row.methods}


def row_of(function: Callable[..., Any]) -> Op | None:
    """The row that a ufunc, a NumPy function or an operator means."""
    try:
        found = _BY_CALLABLE.get(function)
    except TypeError:  # a callable without a hash is none of ours
        return None
    return _row_of_library(function) if found is None and type(function) is np.ufunc else found


def _row_of_library(ufunc: np.ufunc) -> Op | None:
    """The row that a ufunc of a library means."""
    row = _OF_LIBRARIES.get(ufunc.__name__)
    return row if row is not None and row.library is not None and row.library.means(ufunc) else None


def row_of_method(name: str) -> Op | None:
    """The row that an array's method means; the array is the first argument of ``bind``."""
    return _BY_METHOD.get(name)
