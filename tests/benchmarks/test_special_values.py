"""What special values cost. Oracle: NumPy, with which every case is compared before it is timed."""

import numpy as np
import pytest

from benchmarks.test_special_values import CASES, DTYPES, KINDS, Case, check, operands
from runmat_jit.ops.mathematical import ROWS


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kind", KINDS)
def test_a_tenth_of_the_operands_is_special(kind, dtype):
    plain, mixed = (operands((1, 2), s, dtype, 10_000) for s in (None, KINDS[kind][dtype]))
    assert 0.08 < (plain != mixed).mean() < 0.12
    if kind == "subnormal":
        assert (mixed < np.finfo(dtype).tiny).mean() > 0.08


@pytest.mark.parametrize("exact", [True, False])
def test_a_wrong_result_ends_the_run(exact):
    case, right = Case(np.square, (0, 1), exact=exact), np.array([1, np.nan, 2.0])
    check(case, right, right.copy())
    for wrong in ([1, np.nan, 2.00001], [1, 1, 2], [1, np.nan, np.nan]):
        with pytest.raises(AssertionError):
            check(case, np.array(wrong), right)


def test_every_row_of_mathematics_is_measured():
    spelled = {"power": "**", "pow": "**"}
    rows = {spelled.get(row.name, row.name) for row in ROWS} | {"%", "//", "fmod"}
    assert {name for name in rows if not any(name in case for case in CASES)} == set()
