"""However a call ends, and however it is run, each of its effects happens as often as without us.

Oracle: undecorated Python.
"""

import functools
import random
import zlib

import pytest

import runmat_jit as runmat
from tests.capture.endings import BODIES, EFFECTS, ENDINGS, SIZES, TEXTS, WAYS, first_difference
from tests.conftest import PROFILE

SAMPLES = 4 if PROFILE == "default" else 200
"""Programs of each effect."""


def samples(effect):
    """Programs with an effect: others for each, the same at each run."""
    draw = random.Random(zlib.crc32(effect.encode()))
    for _ in range(SAMPLES):
        text = draw.choice(list(TEXTS))
        body = draw.choice(list(BODIES)) if text == "straight" else "small"
        size, way = draw.choice(list(SIZES)), draw.choice(WAYS)
        yield text, body, draw.choice(list(ENDINGS)), size, way


@pytest.mark.parametrize("effect", EFFECTS)
def test_an_effect_happens_as_often_as_in_plain_python(effect):
    for text, body, ending, size, way in samples(effect):
        case = {"body": body, "effect": effect, "ending": ending, "size": size, "way": way}
        found = first_difference(text, **case)
        assert found is None, f"{text}, {case}: {found}"


@pytest.mark.sampled(3)
@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("body", ["small", "ours"])
def test_calls_that_are_let_through_are_made_once(body, ending):
    case = {"body": body, "effect": "pop", "ending": ending, "size": "few", "way": 70}
    assert first_difference("straight", **case) is None


def through_cache(n):
    @functools.lru_cache(None)
    def fib(k):
        return k if k < 2 else fib(k - 1) + fib(k - 2)

    return fib(n)


def through_partial(n):
    def count(k):
        return 0 if k == 0 else 1 + functools.partial(count, k - 1)()

    return count(n)


def through_map(n):
    def count(k):
        return 0 if k == 0 else 1 + sum(map(count, [k - 1]))

    return count(n)


@pytest.mark.parametrize("fn", [through_cache, through_partial, through_map])
def test_recursion_through_unknown_code_gets_as_deep_as_plain_python(fn):
    deepest = max(n for n in range(50, 400, 50) if reaches(fn, n))
    decorated = runmat.jit(fn)
    for n in (10, 17, deepest, *[30] * 25, deepest):
        assert decorated(n) == fn(n)


def reaches(fn, n):
    """Whether plain Python does it, below whatever has called."""
    try:
        fn(n + 50)
    except RecursionError:
        return False
    return True
