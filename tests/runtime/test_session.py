"""Oracle: the configuration given, and NumPy for what decorated functions compute."""

import multiprocessing
import os
import subprocess
import sys
import threading
from dataclasses import replace

import numpy as np
import platformdirs
import pytest

import runmat_jit as runmat
from runmat_jit.core.config import OPTIONS, Config, read_config
from runmat_jit.core.errors import ConfigError
from runmat_jit.runtime.session import Session, cache_directory, current_session, use_session


@runmat.jit
def double_sine(x):
    return 2 * np.sin(x)


@pytest.fixture
def own_session():
    before = use_session(Session())
    yield current_session()
    use_session(before)


def test_two_sessions_work_in_one_process(own_session):
    x = np.linspace(0, 1, 1000)
    first = double_sine(x)
    use_session(Session(replace(read_config(), num_threads=1)))
    assert current_session() is not own_session
    np.testing.assert_array_equal(double_sine(x), first)
    assert current_session().telemetry.snapshot()["calls_recorded"] == 1


def test_native_parts_are_made_once_by_whichever_thread_is_first(own_session):
    found = []
    threads = [threading.Thread(target=lambda: found.append(own_session.launcher)) for _ in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(map(id, found))) == 1


def test_threads_follow_the_option(own_session):
    backend = own_session.backend
    runmat.config(num_threads=3)
    assert current_session().threads == 3
    assert current_session().pool.threads == 3
    assert current_session().backend is backend


def test_bits_do_not_depend_on_the_number_of_threads(own_session):
    x = np.random.default_rng(1).standard_normal((300, 4001)).astype(np.float32)

    @runmat.jit
    def sums(x):
        y = np.exp(x) * 0.5
        return y, y.sum(), y.sum(axis=0), y.mean(axis=1)

    results = []
    for count in (1, 2, 5):
        runmat.config(num_threads=count)
        results.append(sums(x))
    for other in results[1:]:
        for a, b in zip(results[0], other, strict=True):
            np.testing.assert_array_equal(a, b)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_forked_child_computes():
    x = np.linspace(0, 1, 1_000_000)
    expected = double_sine(x)
    context = multiprocessing.get_context("fork")
    queue = context.SimpleQueue()
    child = context.Process(target=lambda: queue.put(bool((double_sine(x) == expected).all())))
    child.start()
    assert queue.get()
    child.join(60)
    assert child.exitcode == 0


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("RUNMAT_NUM_THREADS", "-1"),
        ("RUNMAT_NUM_THREADS", "many"),
        ("RUNMAT_VERIFY", "3"),
        ("RUNMAT_DISABLE_FUSION", "elementwise,nonsense"),
        ("RUNMAT_DEVICE", "tpu"),
        ("RUNMAT_LOG", "loudly"),
    ],
)
def test_a_bad_value_of_a_variable_is_named(variable, value):
    with pytest.raises(ConfigError, match=f"{variable}='{value}'"):
        read_config({variable: value})


def test_an_empty_variable_is_as_good_as_none():
    assert read_config({option.variable: "" for option in OPTIONS}) == read_config({})


def test_the_environment_is_read_and_remembered():
    config = read_config({"RUNMAT_DISABLE_FUSION": "reduction, elementwise", "RUNMAT_VERIFY": "1"})
    assert config.disable_fusion == {"reduction", "elementwise"}
    assert config.verify == 1
    assert config.sources["verify"] == "RUNMAT_VERIFY"
    assert config.sources["num_threads"] == "default"


@pytest.mark.parametrize("caches", [None, "", "/somewhere/else", "relative", " "])
@pytest.mark.parametrize("home", [None, "", "/of/mine", "relative", "/"])
def test_files_are_kept_where_platformdirs_says(monkeypatch, caches, home):
    for name, value in (("XDG_CACHE_HOME", caches), ("HOME", home)):
        if value is None:
            monkeypatch.delenv(name, raising=False)
        else:
            monkeypatch.setenv(name, value)
    expected = platformdirs.user_cache_path("runmat_jit", appauthor=False)
    assert cache_directory(Config()) == expected


def test_importing_the_package_loads_neither_the_compiler_nor_llvm():
    code = (
        "import sys, runmat_jit\n"
        "@runmat_jit.jit\ndef f(x): return x\n"
        "bad = [m for m in sys.modules if m.startswith(('llvmlite', 'scipy', 'wgpu', 'matplotlib',"
        " 'rich', 'runmat_jit.capture', 'runmat_jit.lower', 'runmat_jit.backends',"
        " 'runmat_jit.ops', 'runmat_jit.graph', 'runmat_jit.kernel', 'runmat_jit.plan'))]\n"
        "sys.exit(repr(bad) if bad else 0)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
