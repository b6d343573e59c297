"""The benchmark of complex numbers. Oracle: NumPy, with which each program is compared first."""

import numpy as np
import pytest

import runmat_jit as runmat
from benchmarks.complex_numbers import DTYPES, PROGRAMS, chain, main, measure, operands


def test_a_quick_run_prints_a_row_for_each_program_and_dtype(capsys):
    main(["--quick"])
    rows = capsys.readouterr().out.splitlines()[2:]
    assert len(rows) == len(PROGRAMS) * len(DTYPES)


def test_a_wrong_result_ends_the_run(monkeypatch):
    monkeypatch.setattr(runmat, "jit", lambda program: lambda *args: program(*args) * (1 + 1e-15))
    with pytest.raises(AssertionError):
        measure(chain, operands(100, "complex128"), 1, 1)
    assert np.iscomplexobj(operands(3, "complex64")[0])
