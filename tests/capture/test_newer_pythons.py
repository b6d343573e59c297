"""What Python has got from 3.14 on, in decorated functions. Oracle: undecorated Python."""

import sys
import textwrap
import threading
import warnings

import numpy as np
import pytest

import runmat_jit as runmat
from tests.capture.behavior import compare_values, module

pytestmark = pytest.mark.skipif(sys.version_info < (3, 14), reason="syntax of Python 3.14")

PROGRAMS = {
    "a template": """
        def f(x):
            y = x * 2
            made = t"{y.sum():.3f} of {len(x)!r}"
            return y, [getattr(part, "value", part) for part in made], made.strings
    """,
    "exceptions without parentheses": """
        def f(x):
            try:
                return np.tanh(x)[99]
            except IndexError, ValueError:
                return x + 1
    """,
    "a jump out of finally": """
        def f(x):
            for n in range(3):
                try:
                    y = x * n
                finally:
                    continue
            return y
    """,
    "annotations that are deferred": """
        def f(x):
            def g(y: Missing, z: also.missing = 2) -> Never:
                return y * z
            return g(x), g.__annotate__ is not None
    """,
    "an annotated variable": """
        def f(x):
            y: Missing = x * 2
            z: Missing
            return y
    """,
    "filters in a block": """
        import warnings
        def f(x):
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                try:
                    return np.log(x - x)
                except RuntimeWarning as warning:
                    return str(warning)
    """,
}


@pytest.mark.filterwarnings("ignore::SyntaxWarning")
@pytest.mark.parametrize("what", PROGRAMS)
def test_syntax(what):
    fn = module(textwrap.dedent(PROGRAMS[what]))["f"]
    decorated = runmat.jit(fn)
    for _ in range(5):
        compare_values(
            fn(np.linspace(0.5, 2, 7)), decorated(np.linspace(0.5, 2, 7)), "", exact=False
        )


@pytest.mark.skipif(
    not getattr(sys.flags, "context_aware_warnings", 0), reason="needs -X context_aware_warnings"
)
def test_filters_of_a_context_are_those_of_its_threads_calls():
    """One thread lets warnings raise, the other shows them: each sees what it asked for."""
    decorated, seen = runmat.jit(lambda x: np.log(x - x)), {}

    def call(action):
        with warnings.catch_warnings(record=action == "always") as caught:
            warnings.simplefilter(action)
            barrier.wait()
            try:
                seen[action] = decorated(np.ones(3)).tolist(), len(caught)
            except RuntimeWarning as warning:
                seen[action] = str(warning)
            barrier.wait()

    barrier = threading.Barrier(2)
    threads = [threading.Thread(target=call, args=(a,)) for a in ("error", "always")]
    for _ in range(2):
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        threads = [threading.Thread(target=call, args=(a,)) for a in ("error", "always")]
        assert seen == {
            "error": "divide by zero encountered in log",
            "always": ([-np.inf] * 3, 1),
        }


def test_deferred_annotations_of_what_leaves_a_call_are_the_programs_own():
    @runmat.jit
    def make(x):
        def inner(y: x.dtype) -> len:
            return y + x

        return inner

    for _ in range(6):
        inner = make(np.ones(2))
        assert inner.__annotate__.__code__.co_freevars == ("x",)
        assert inner.__annotations__ == {"y": np.dtype(float), "return": len}
