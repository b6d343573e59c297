"""Benchmarks of indexing. Oracle: NumPy, with which every case is compared before it is timed."""

import numpy as np
import pytest

from benchmarks.indexing import DTYPES, GATHERS, MASKED, check, gathered, main, masked


def test_a_quick_run_prints_a_row_for_each_program_size_and_dtype(capsys):
    main(["--quick"])
    rows = [line for line in capsys.readouterr().out.splitlines() if line.startswith("| `")]
    assert len(rows) == (len(MASKED) + len(GATHERS)) * 2 * len(DTYPES)


def test_a_wrong_result_ends_the_run():
    args = gathered(20, "float64", "random")
    program = GATHERS["x[i] + y"]
    with pytest.raises(AssertionError):
        check(program, lambda *given: program(*given) + 1, args)
    x, mask = masked(20, "float64", 0.5)
    with pytest.raises(AssertionError):
        check(MASKED["x[mask] = 0"], lambda _x, _mask: None, (x, mask))


def test_data_are_what_they_are_called():
    x, mask = masked(1000, "float32", 0.02)
    assert ((x < 0) == mask).all()
    assert 0 < mask.sum() < 60
    assert (np.diff(gathered(100, "float32", "sorted")[1]) >= 0).all()
