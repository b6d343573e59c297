"""The benchmark of warm calls. Oracles: programs that are wrong, slow or endless on purpose."""

import json
import time
from dataclasses import replace

import numpy as np
import pytest

from benchmarks.never_slower import __main__, measure, process, sizes, variants
from tests.parity.program import normal, programs

AMPLIFY = programs()["guide_state.amplify"]


def shipped(program):
    return sizes.sizes_of(program, [])[0]


def test_a_run_checks_times_and_tells_why(tmp_path, capsys):
    path = tmp_path / "found.jsonl"
    asked = ["--programs", "guide_state.amplify", "--sizes", "shipped,1e4", "--json", str(path)]
    found = __main__.main(asked)
    assert [(each.variant, each.asked) for each in found] == [
        (variant, size) for variant in ("plain", "nan", "zeros") for size in (None, 10_000)
    ]
    assert not [each for each in found if each.failed or not each.ratio > 0]
    assert all(each.why.startswith("replayed; 1 kernels in 1 regions") for each in found)
    assert [each.elements for each in found if each.asked] == 3 * [10_000]
    assert len([json.loads(line) for line in path.read_text().splitlines()]) == len(found)
    assert capsys.readouterr().out.count("guide_state.amplify") == len(found)


def test_a_wrong_answer_is_never_timed(monkeypatch):
    monkeypatch.setattr(measure.runmat, "jit", lambda fn: lambda *args: fn(*args) + 1)
    monkeypatch.setattr(measure, "timed", None)
    found = measure.measure(AMPLIFY, "plain", shipped(AMPLIFY))
    assert found.failed.startswith("differs")
    assert np.isnan(found.ratio)


def test_a_function_that_remembers_what_it_was_given_gains_nothing(monkeypatch):
    """Each call gets other data than all calls before."""
    seen = []

    def remembers(fn):
        def call(*args):
            seen.append(args[0].tobytes())
            return fn(*args)

        return call

    monkeypatch.setattr(measure.runmat, "jit", remembers)
    measure.measure(AMPLIFY, "plain", shipped(AMPLIFY))
    assert len(set(seen)) == len(seen)


@pytest.mark.parametrize(
    ("make", "asked", "reached"),
    [
        (normal, [10_000, 100_000], [10_000, 100_000]),
        (lambda rng, shape, dtype: normal(rng, 2 * shape, dtype), [10_000], [10_000]),
        (lambda rng, _, dtype: normal(rng, (5,), dtype), [10_000], []),
    ],
    ids=["a vector", "a matrix of a length", "data that do not grow"],
)
def test_sizes_are_near_what_is_asked_for_however_the_data_grow(make, asked, reached):
    program = replace(AMPLIFY, make=make, shapes=((12,),))
    found = sizes.sizes_of(program, asked)[1:]
    assert len(found) == len(reached)
    assert all(0.5 <= each.elements / n <= 2 for each, n in zip(found, reached, strict=True))


def test_a_program_grows_until_plain_python_takes_too_long(monkeypatch):
    seconds = dict.fromkeys(AMPLIFY.shapes, 0.0)
    monkeypatch.setattr(sizes, "seconds_at", lambda _, shape: seconds.get(shape, shape[0] / 2e4))
    (_, found) = sizes.sizes_of(AMPLIFY, [1_000_000])
    assert found.elements <= 2e4 * sizes.CALL_S


def test_variants_replace_one_float_in_a_hundred():
    wide = replace(AMPLIFY, shapes=((5000,),))
    for name, is_special in (("nan", np.isnan), ("zeros", lambda x: x == 0)):
        args, _ = variants.variant_of(wide, name).arguments(0, (5000,), "float64")
        assert 0.005 < is_special(args[0]).mean() < 0.011
    whole = replace(AMPLIFY, make=lambda *_: (np.arange(3),))
    assert not variants.applies(whole, "nan")


def test_a_program_that_does_not_end_is_told_and_the_next_one_is_measured(monkeypatch):
    monkeypatch.setattr(process, "LIMIT_S", 0.3)
    endless = replace(AMPLIFY, fn=lambda _: time.sleep(60))
    monkeypatch.setattr(process, "programs", lambda: {"endless": endless})
    before = process.signal.signal(process.signal.SIGALRM, process.overdue)
    try:
        (found,) = process.found_of(process.Task("endless", "plain", (), shipped=True))
    finally:
        process.signal.signal(process.signal.SIGALRM, before)
    assert found.failed == "out of time (0 s)"
