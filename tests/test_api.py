"""Oracle: the undecorated function, and the documented form of what decorated ones tell."""

import copy
import html
import os
import pickle
import re

import cloudpickle
import numpy as np
import pytest

import runmat_jit as runmat
from runmat_jit.runtime.session import use_session
from runmat_jit.verified_call import VerificationError


@runmat.jit
def scaled(x, factor=2.0, *, shift=0.0):
    """Scale and shift."""
    return x * factor + shift


class Model:
    def __init__(self, weight):
        self.weight = weight

    @runmat.jit
    def apply(self, x):
        return x * self.weight

    @staticmethod
    @runmat.jit
    def twice(x):
        return x + x

    @runmat.jit
    @classmethod
    def name_and_sum(cls, x):
        return cls.__name__, x.sum()


def test_a_decorated_function_looks_like_the_function():
    assert scaled.__name__ == "scaled"
    assert scaled.__doc__ == "Scale and shift."
    assert scaled.__wrapped__(np.ones(2)).tolist() == [2, 2]
    assert "scaled" in repr(scaled)


def test_methods_static_methods_and_class_methods():
    model = Model(3.0)
    x = np.arange(4.0)
    for _ in range(2):
        np.testing.assert_array_equal(model.apply(x), x * 3)
        np.testing.assert_array_equal(Model.twice(x), x + x)
        assert Model.name_and_sum(x) == ("Model", 6.0)
    model.weight = 5.0
    np.testing.assert_array_equal(model.apply(x), x * 5)


@pytest.mark.parametrize("dump", [pickle.dumps, cloudpickle.dumps])
def test_pickles_hold_the_function_and_no_traces(dump):
    scaled(np.ones(3))
    again = pickle.loads(dump(scaled))
    np.testing.assert_array_equal(again(np.ones(3), shift=1.0), np.full(3, 3.0))


def test_copies_work():
    for again in (copy.copy(scaled), copy.deepcopy(scaled)):
        np.testing.assert_array_equal(again(np.ones(3)), np.full(3, 2.0))


@pytest.mark.parametrize("wrong", [Model, 3])
def test_what_is_no_function_is_refused_with_advice(wrong):
    with pytest.raises(TypeError, match=r"instead: __init__|takes a function"):
        runmat.jit(wrong)


@pytest.mark.parametrize("wrong", [Model, 3, None])
def test_the_decorator_with_options_refuses_the_same(wrong):
    with pytest.raises(TypeError, match=r"instead: __init__|takes a function"):
        runmat.jit(device="cpu")(wrong)


@pytest.mark.parametrize(
    "options", [{"device": "tpu"}, {"precision": "sloppy"}, {"fullgraph": "no"}]
)
def test_unknown_options_are_refused(options):
    with pytest.raises(runmat.ArgumentError, match=r"there (are|is)"):
        runmat.jit(**options)


def test_the_package_lists_what_it_offers():
    assert {*runmat.__all__, "__version__"} == set(dir(runmat))
    assert [name for name in runmat.__all__ if not hasattr(runmat, name)] == []


def test_jit_of_a_jit_is_itself():
    assert runmat.jit(scaled) is scaled


def test_disable_runs_plain_python():
    scaled.clear_cache()
    with runmat.disable():
        scaled(np.ones(5))
    assert scaled.cache_info()[:3] == (0, 0, 0)
    scaled(np.ones(5))
    assert scaled.cache_info().misses == 1


def test_cache_info_counts_and_clear_cache_forgets():
    scaled.clear_cache()
    for _ in range(3):
        scaled(np.ones(6))
    info = scaled.cache_info()
    assert (info.hits, info.misses, info.traces, info.keys) == (2, 1, 1, 1)
    scaled.clear_cache()
    assert scaled.cache_info().traces == 0


def test_calls_before_clear_cache_are_not_counted_after_it():
    for _ in range(10):  # the last of which need no Python
        scaled(np.ones(6))
    scaled.clear_cache()
    assert scaled.cache_info()[:3] == (0, 0, 0)


def test_explain_names_kinds_lines_and_bytes(tmp_path):
    @runmat.jit
    def softmax(x):
        e = np.exp(x - x.max(axis=1, keepdims=True))
        return e / e.sum(axis=1, keepdims=True)

    x = np.random.default_rng(0).standard_normal((7, 100)).astype(np.float32)
    softmax(x)
    explanation = softmax.explain(x)
    assert explanation.kinds == ["map_reduce_broadcast"]
    assert explanation.devices == ["cpu"]
    assert explanation.mode == "replayed"
    assert explanation.reasons == ()
    assert "test_api.py" in str(explanation)
    assert explanation.to_dict()["kinds"] == ["map_reduce_broadcast"]
    explanation.to_html(tmp_path / "page.html")
    assert "map_reduce_broadcast" in (tmp_path / "page.html").read_text()


def test_a_page_of_an_explanation_holds_all_that_is_printed(tmp_path):
    @runmat.jit
    def sorted_tails(x):
        y = np.exp(x)
        return np.median(y[1:] - y[:-1]), os.getpid()

    explanation = sorted_tails.explain(np.ones(40))
    explanation.to_html(tmp_path / "page.html")
    page = re.sub(r"<[^>]*>", "", (tmp_path / "page.html").read_text())
    page = html.unescape(page)
    printed = " ".join(str(explanation).split())
    said = [*explanation.host_calls, *explanation.notes, *map(str, explanation.reasons)]
    said += [str(reason) for region in explanation.regions for reason in region.reasons]
    assert len(said) >= 4
    assert [each for each in said if each not in page or each not in printed] == []


def test_regions_that_are_alike_are_told_once(tmp_path):
    @runmat.jit
    def turns(x):
        for _ in "." * 20:  # no loop that runs natively
            x = np.sort(np.sqrt(x) + 1)
        return x

    explanation = turns.explain(np.ones((6, 50)))
    told = len(set(explanation.regions))
    assert told < 8
    assert explanation.kinds.count("host") == 20
    assert str(explanation).count("test_api.py") <= 3 * told
    explanation.to_html(tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text().count("<tr>") == 1 + told


def test_explanations_of_long_functions_fit_a_screen():
    @runmat.jit
    def long(x):
        for _ in "." * 40:  # no loop that runs natively
            x = np.sin(x) * 0.5 + 1
        return x

    explanation = long.explain(np.ones(40))
    _, *lines = str(explanation).splitlines()
    shown = [region.operations.count("multiply") for region in set(explanation.regions)]
    assert "".join(lines).count("multiply") == sum(shown) >= 15
    assert max(map(len, lines)) <= 80


def test_explain_makes_a_call_where_there_was_none_and_says_so():
    scaled.clear_cache()
    explanation = scaled.explain(np.ones(11))
    assert "one ordinary call" in explanation.notes[0]
    assert scaled.explain(np.ones(11)).notes == ()


def test_explain_says_why_a_trace_is_not_repeated():
    @runmat.jit
    def branches(x):
        return x + 1 if x[0] in {1.0, 2.0} else x

    branches(np.ones(3))
    explanation = branches.explain(np.ones(3))
    assert explanation.mode == "recorded at every call"
    assert [reason.id for reason in explanation.reasons] == ["value-looked-at"]
    assert "test_api.py" in explanation.reasons[0].line


def test_explain_lists_what_numpy_computes():
    @runmat.jit
    def project(x, t):
        y, places = np.linalg.qr(x)[0] @ x, np.array([0, 1])
        return y[0, 1:] * (t + 1) + np.fft.fft(y[0]).real[1:] + y[places, places].sum()

    x = np.random.default_rng(1).random((4, 4))
    calls = [c.split(" (")[0] for c in (project(x, 2.0), project.explain(x, 2.0))[1].host_calls]
    assert calls == ["qr", "fft", "getitem"]
    regions = [each for each in project.explain(x, 2.0).regions if each.kind == "host"]
    assert [region.operations for region in regions] == [("array(...)",)]
    assert "NumPy computes:" in str(project.explain(x, 2.0))
    assert scaled.explain(np.ones(7)).host_calls == ()


def test_explain_says_why_a_call_is_plain():
    explanation = scaled.explain(np.ma.masked_array([1.0]))
    assert explanation.mode == "plain Python"
    assert "MaskedArray" in str(explanation)


def test_source_shows_every_stage():
    x = np.ones(10, np.float32)
    assert "define void @" in scaled.source(x)
    assert "lanes" in scaled.source(x, backend="kernel")
    assert "multiply" in scaled.source(x, backend="graph")
    with pytest.raises(runmat.ArgumentError, match="there are llvm, wgsl, kernel, graph"):
        scaled.source(x, backend="ptx")
    with pytest.raises(runmat.ArgumentError, match="missing a required argument: 'x'"):
        scaled.source()


def test_fullgraph_raises_where_python_has_to_run():
    @runmat.jit(fullgraph=True)
    def asks_the_system(x):
        return x * os.getpid()

    with pytest.raises(runmat.CaptureError, match="unknown-call: getpid"):
        asks_the_system(np.ones(3))

    @runmat.jit(fullgraph=True)
    def whole(x):
        return x * 2

    assert whole(np.ones(2)).tolist() == [2, 2]


@pytest.mark.parametrize(
    "changes", [{"colour": 1}, {"num_threads": -2}, {"disable_fusion": "x"}, {"verify": 9}]
)
def test_config_refuses_what_it_does_not_know(changes):
    before = runmat.config()
    with pytest.raises(runmat.ConfigError):
        runmat.config(**changes)
    assert runmat.config() == before


def test_fusion_switches_change_kernels_and_no_bits():
    @runmat.jit
    def normalize(x):
        centered = x - x.mean(axis=1, keepdims=True)
        return centered / np.sqrt((centered * centered).mean(axis=1, keepdims=True) + 1e-6)

    x = np.random.default_rng(2).random((50, 333))
    counts, results = {}, {}
    before = runmat.config().disable_fusion
    try:
        for disabled in ("", "map_reduce_broadcast", "reduction", "elementwise", "all"):
            runmat.config(disable_fusion=disabled)
            normalize(x)
            runmat.telemetry.reset()
            results[disabled] = normalize(x)
            counts[disabled] = runmat.telemetry.snapshot()["kernel_launches"]
    finally:
        runmat.config(disable_fusion=before)
    for result in results.values():
        np.testing.assert_array_equal(result, results[""])
    assert counts[""] == 1
    assert counts[""] < counts["map_reduce_broadcast"] <= counts["reduction"] < counts["all"]


@pytest.mark.parametrize("level", [1, 2])
def test_verification_accepts_what_is_right(level):
    @runmat.jit
    def mixed(x, y):
        x[1:] += y[:-1]
        z = np.exp(-x) * y.sum()
        return {"z": z, "m": [z.max(), x]}

    before = runmat.config().verify
    try:
        runmat.config(verify=level)
        for _ in range(3):
            x, y = np.linspace(0, 1, 30), np.linspace(1, 2, 30)
            found = mixed(x, y)
            x2, y2 = np.linspace(0, 1, 30), np.linspace(1, 2, 30)
            expected = mixed.__wrapped__(x2, y2)
            np.testing.assert_allclose(found["z"], expected["z"], rtol=1e-13)
            np.testing.assert_array_equal(x, x2)
            assert found["m"][1] is x
    finally:
        runmat.config(verify=before)


def test_verification_finds_a_result_that_is_wrong():
    def honest(x):
        return x + 1

    decorated = runmat.jit(honest)
    decorated(np.ones(3))
    captured = decorated._captured[1]
    captured.fn = lambda x: x + 2  # the oracle changes: every repeated call must now be refused
    captured.code = captured.fn.__code__
    before = runmat.config().verify
    try:
        session_before = decorated._captured[0]
        object.__setattr__(session_before, "config", runmat.config(verify=2))
        use_session(session_before)
        with pytest.raises(VerificationError, match="result"):
            decorated(np.ones(3))
    finally:
        runmat.config(verify=before)


def test_options_are_given_as_python_writes_them(tmp_path):
    before = runmat.config()
    try:
        assert runmat.config(cache_dir=tmp_path).cache_dir == str(tmp_path)
        assert runmat.config(disable_fusion=["reduction"]).disable_fusion == {"reduction"}
        for name, value in (("num_threads", 2.5), ("device", None), ("log", "loudly")):
            with pytest.raises(runmat.ConfigError, match=f"{name}={value!r}: (an option|it must)"):
                runmat.config(**{name: value})
    finally:
        runmat.config(cache_dir=before.cache_dir, disable_fusion=before.disable_fusion)
