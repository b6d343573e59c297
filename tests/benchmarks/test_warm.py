"""The benchmark of warm calls: every function is measured, and goes through a gate."""

import pytest

import runmat_jit as runmat
from benchmarks import warm


def test_a_quick_run_measures_every_function(capsys):
    warm.main(["--quick"])
    shown = capsys.readouterr().out
    assert all(fn.__name__ in shown for fn in warm.FUNCTIONS)


@pytest.mark.parametrize("fn", warm.FUNCTIONS, ids=lambda fn: fn.__name__)
def test_what_is_measured_needs_no_python(fn):
    decorated = runmat.jit(fn)
    args, kwargs = warm.arguments(fn)
    for _ in range(warm.WARM):
        decorated(*args, **kwargs)
    gate = decorated._captured[1].gatekeeper.gate
    gate.flush()
    decorated(*args, **kwargs)
    assert sum(int(entry.words[1]) - entry.counted[0] for entry in gate._entries) == 1
