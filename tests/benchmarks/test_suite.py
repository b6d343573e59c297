"""The suite. Oracles: errors put in by hand, figures computed by hand, a real browser."""

import json
import math
import re
from pathlib import Path

import numpy as np
import pytest

from benchmarks import page, plots, results, suite
from benchmarks.peers import NAMES, load
from benchmarks.peers.peer import PeerUnavailableError
from benchmarks.program import Parity, Program, check, copied, excess
from benchmarks.programs import GROUPS, chosen, programs, sizes_of
from benchmarks.programs.six import uniform
from benchmarks.results import Result, Results
from runmat_jit.__main__ import main
from tests.browser import DESKTOP, PHONE, seen

ALL = programs()
SOME = ["six.elementwise", "six.image_4k", "named.k_means", "list_loops.distances"]


def result_of(program, step=0):
    arguments = program.arguments(program.small, step)
    return arguments, program.fn(*map(copied, arguments))


# -- programs --------------------------------------------------------------------------------------
def test_uniform_numbers_are_the_congruential_step_of_their_index():
    expected = [(1664525 * i + 1013904223) % 2**32 / 2**32 for i in range(5, 9)]
    np.testing.assert_array_equal(uniform(4, 5), np.float32(expected))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("group", GROUPS)
def test_numpy_passes_and_inputs_are_reproducible(group):
    for name, program in chosen(group).items():
        arguments, found = result_of(program)
        assert check(program, arguments, found).worst < 0.5, name
        again = program.arguments(program.small, 0)
        assert excess(again_of(again), again_of(arguments), 0.0, 1e-300) == 0.0, name


def again_of(arguments):
    return tuple(value for value in arguments if isinstance(value, np.ndarray | int | float))


@pytest.mark.parametrize("wrong", [0.01, np.nan])
@pytest.mark.parametrize("name", SOME[:3])
def test_one_wrong_element_fails(name, wrong):
    arguments, found = result_of(ALL[name])
    first = found[0] if isinstance(found, tuple) else found
    first.flat[first.size // 2] += wrong
    assert not check(ALL[name], arguments, found).ok


@pytest.mark.parametrize("name", SOME)
def test_the_answer_of_another_input_or_of_another_shape_fails(name):
    arguments, _ = result_of(ALL[name])
    assert not check(ALL[name], arguments, result_of(ALL[name], step=1)[1]).ok
    assert not check(ALL[name], arguments, None).ok


def test_a_wrong_metric_fails_though_every_pixel_is_right():
    program = ALL["six.image_4k"]
    arguments, (out, mse) = result_of(program)
    assert not check(program, arguments, (out, mse * np.float32(1.0001))).ok


def test_axes_of_extent_one_count_unless_a_peer_has_others():
    program = Program(np.sort, lambda rng, n: (rng.random(n),), 5, 5)
    arguments, found = result_of(program)
    assert not check(program, arguments, found[np.newaxis]).ok
    assert check(program, arguments, found[np.newaxis], squeezes=True).ok


def test_programs_are_chosen_by_group_name_and_pattern():
    assert set(chosen("six")) == {name for name in ALL if name.startswith("six.")}
    assert list(chosen("named.soft*,lu")) == ["named.softmax", "element_loops.lu"]
    with pytest.raises(KeyError, match="nothing"):
        chosen("nothing")
    program = ALL["six.iir"]
    assert sizes_of("usual", program) == [program.size]
    assert sizes_of("all", program) == list(program.sizes)
    assert sizes_of("7,9", program) == [7, 9]


@pytest.mark.sampled(2)
@pytest.mark.filterwarnings("default")  # peers warn of themselves
@pytest.mark.parametrize("name", NAMES)
def test_each_peer_computes_a_program_or_says_why_not(name):
    program = ALL["six.elementwise"]
    try:
        built = load(name, "six.elementwise")
    except PeerUnavailableError as error:
        pytest.skip(str(error))
    arguments = program.arguments(300, 0)
    found = built.to_numpy(built.run(*built.prepare(arguments)))
    assert check(program, arguments, found, squeezes=built.squeezes).ok


# -- measuring -------------------------------------------------------------------------------------
QUICK = suite.Pace(rounds=2, seconds=0.002, pause=0.0, first_calls=False)


def test_parity_comes_first_and_missing_peers_are_named():
    found = suite.measure("six.elementwise", 1000, ["numpy", "runmat", "nobody"], QUICK)
    assert set(found.figures) == {"numpy", "runmat"}
    assert "there is no peer 'nobody'" in found.missing["nobody"]
    for figures in found.figures.values():
        assert len(figures.seconds) == 2
        assert min(figures.seconds) > 0
        assert figures.parity.ok
    assert found.figures["runmat"].counts["kernel_launches"] == 1


def test_a_wrong_answer_is_never_timed(monkeypatch):
    class Wrong:
        peer = "numpy"

        def __init__(self, *_):
            pass

        def __enter__(self):
            return self

        def __exit__(self, *_):
            pass

        def call(self, method, **_):
            assert method == "parity"
            return Parity(2.0, 0.0, "off")

    monkeypatch.setattr(suite, "Worker", Wrong)
    with pytest.raises(suite.ParityError, match=r"numpy gives a wrong answer for six\.iir"):
        suite.measure("six.iir", 100, ["numpy"], QUICK)


# -- reports ---------------------------------------------------------------------------------------
def made(**seconds):
    return [
        Result("six.iir", size, peer, (each * size, each * size, each * size), 0.5, 0.1)
        for size in (10, 1000)
        for peer, each in seconds.items()
    ]


def made_by(peer, seconds):
    return [Result("q", 1, peer, (seconds,)), Result("q", 1, "numpy", (1.0,))]


FOUND = Results(tuple(made(numpy=4.0, runmat=1.0, jax=2.0)), {"cpu": "<one>"}, {"drjit, x": "no"})


def test_ranks_and_areas_are_those_computed_by_hand():
    ranks = {rank.peer: rank for rank in results.ranking(FOUND)}
    assert list(ranks) == ["runmat", "jax", "numpy"]
    assert ranks["runmat"].speed_up == pytest.approx(4.0)
    assert (ranks["runmat"].first, ranks["jax"].first) == (1, 0)
    few = Results((*FOUND.results, Result("p", 1, "numpy", (9.0,)), Result("p", 1, "jax", (8.0,))))
    few = Results((*few.results, Result("p", 1, "runmat", (7.0,)), *made_by("drjit", 0.01)))
    assert results.ranking(few)[0].peer == "runmat"  # in two programs; Dr.Jit has one
    assert results.area_under_curve(FOUND, "six.iir", "jax") == pytest.approx(2.0)
    assert math.isnan(results.area_under_curve(FOUND, "six.iir", "numba"))
    curve = Results(
        (
            Result("p", 10, "numpy", (1.0,)),
            Result("p", 10, "runmat", (1.0,)),
            Result("p", 1000, "numpy", (4.0,)),
            Result("p", 1000, "runmat", (1.0,)),
        )
    )
    assert results.area_under_curve(curve, "p", "runmat") == pytest.approx(2.0)


def test_regret_is_that_computed_by_hand(tmp_path):
    ratio, lost = results.worst_prefix([3.0, 1.0, 1.0], [1.0, 1.0, 1.0])
    assert (ratio, lost) == (3.0, 1.5)
    assert results.worst_prefix([0.5, 0.5], [1.0, 1.0]) == (0.5, 0.0)
    ours, plain = suite.regret("warm.three_operations", 4)
    assert len(ours) == len(plain) == 4
    found = Results((), {}, {}, {"warm.three_operations": (ours, plain)})
    results.write(found, tmp_path / "out.json")
    assert results.read(tmp_path / "out.json") == found
    assert list(plots.draw_all(found)) == ["regret"]
    assert "regret.maze" in suite.whole_programs()


def test_placements_are_compared_with_the_better_device():
    found = Results(tuple(made(numpy=9.0, runmat=3.0, runmat_cpu=2.0, runmat_gpu=4.0)))
    assert results.placements(found) == {"six.iir [10]": 1.5, "six.iir [1,000]": 1.5}
    assert results.placements(FOUND) == {}


def test_processes_go_from_one_program_to_the_next():
    kept = suite.KeptWorkers()
    for name in ("six.elementwise", "six.iir"):
        found = suite.measure(name, 500, ["numpy", "runmat"], QUICK, start=kept.start)
        assert set(found.figures) == {"numpy", "runmat"}
    assert found.figures["runmat"].counts["kernels_compiled"] > 0
    kept.close()


def test_results_are_read_as_they_were_written(tmp_path):
    results.write(FOUND, tmp_path / "out.json")
    assert results.read(tmp_path / "out.json") == FOUND
    (tmp_path / "other.json").write_text("{}")
    with pytest.raises(ValueError, match="no results"):
        results.read(tmp_path / "other.json")


def test_a_report_has_plots_and_a_page_that_loads_nothing(tmp_path, capsys):
    results.write(FOUND, tmp_path / "out.json")
    arguments = ["bench", "report", str(tmp_path / "out.json"), "--output", str(tmp_path / "r")]
    assert main(arguments) == 0
    written = [Path(line).name for line in capsys.readouterr().out.splitlines()]
    assert {"ranking.png", "speed_up.svg", "first_calls.png", "index.html"} <= set(written)
    text = (tmp_path / "r" / "index.html").read_text()
    assert "&lt;one&gt;" in text
    assert "<td>six.iir</td><td>jax</td><td>0%</td><td>500 ms</td><td>100 ms</td>" in text
    assert not re.search(r"<script|<link|src=|@import", text)
    ids = re.findall(r'\bid="([^"]+)"', text)
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize("width", [PHONE, DESKTOP])
def test_a_browser_shows_the_report(tmp_path, width):
    found = seen(page.page_of(FOUND), width, tmp_path)
    assert found["width"] <= width
    assert found["text_right"] <= width
    assert found["font"] >= 14
    assert found["plots"] == len(plots.draw_all(FOUND)) == 4
    assert found["loaded"] == 0


def test_the_command_measures_and_refuses_what_is_not_there(tmp_path, capsys):
    path = tmp_path / "out.json"
    options = "--only six.elementwise --sizes 500 --rounds 2".split()
    assert main(["bench", *options, "--json", str(path)]) == 0
    assert "in the geometric mean" in " ".join(capsys.readouterr().out.split())
    found = json.loads(path.read_text())["results"]
    assert {(row["peer"], row["size"]) for row in found} == {("numpy", 500), ("runmat", 500)}
    assert all(row["first_cold"] > 0 for row in found)
    for wrong in (
        ["--only", "nothing"],
        ["--peers", "nobody"],
        ["--sizes", "huge"],
        ["repot", "x"],
    ):
        assert main(["bench", *wrong]) == 2
    assert main(["bench", "report", str(tmp_path / "missing.json")]) == 2
