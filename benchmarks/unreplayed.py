"""Functions whose results, stores, callees or exceptions need Python at each call."""

from __future__ import annotations

import functools
import math
import string
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray


@dataclass
class Point:
    x: Array
    y: Array


class Model:
    """Has a cache, a counter and a running mean."""

    count = 0

    def __init__(self) -> None:
        self.cache: Any = None
        self.calls = 0
        self.moment: Any = 0.0


class Ticker:
    """Counts what is iterated, as progress bars do."""

    def __init__(self, items: Any) -> None:
        self.items, self.done = items, 0

    def __iter__(self) -> Any:
        for item in self.items:
            self.done += 1
            yield item


MODEL = Model()
HISTORY: list[float] = []
TABLE = {"scale": 2.0, "shift": 1.0}
STATE = {"calls": 0}


def begin() -> None:
    """Outside state as it is before a first call."""
    MODEL.__init__()  # type: ignore[misc]  # the object stays the same
    Model.count = STATE["calls"] = 0
    HISTORY.clear()
    window.cache_clear()


# -- results ---------------------------------------------------------------------------------------
def keys_of_a_dict(x):
    return {"a": x * 2, "b": x + 1}.keys()


def values_of_a_dict(x):
    return {"a": x * 2 - 1, "b": x + 1}.values()


def dict_of_scalars(x):
    return {"sum": x.sum(), "max": x.max(), "min": x.min(), "mean": x.mean()}


def dict_by_scalars(x):
    return {x[0]: x * 2 + 1}


def strings(x):
    return np.char.add(np.array(["a", "b"]), "c"), x * 2 + 1


def text_of_dtype(x):
    return x.astype(str)[:2]


def a_dataclass(x):
    return Point(x * 2 + 1, x - 1)


def a_generator(x):
    return (part for part in (x * 2 + 1, x - 1))


def a_closure(x):
    y = x * 2 + 1
    return lambda: y


# -- stores ----------------------------------------------------------------------------------------
def cache_in_object(x):
    MODEL.cache = x * 2 + 1
    return MODEL.cache - x


def counter_in_object(x):
    MODEL.calls += 1
    return x * 2 + 1


def running_mean(x):
    MODEL.moment = MODEL.moment * 0.9 + x * 0.1
    return MODEL.moment


def counter_in_class(x):
    Model.count += 1
    return x * 2 + 1


def counter_in_dict(x):
    STATE["calls"] += 1
    return x * 2 + 1


def appended_outside(x):
    HISTORY.append(float(x.sum()))
    del HISTORY[:-3]
    return x * 2 + 1


def flat_store(x):
    y = x * 2
    y.flat[3] = 1.0
    return y


def flat_read(x):
    return x.flat[3] * 2 + sum(x.flat[:3])


# -- callees ---------------------------------------------------------------------------------------
@functools.lru_cache
def window(n):
    return np.hanning(n)


def cached_helper(x):
    return x * window(len(x)) + 1


def ticked(x):
    total = 0.0
    for part in Ticker((x, x + 1, x * 2)):
        total = total + part.sum()
    return total


def element_iterator(x):
    total = 0.0
    for item in np.nditer(x[:20]):
        total += item * 2
    return total


def filled_template(x):
    return string.Template("$n values").substitute(n=len(x)), x * 2 + 1


def raised_in_numpy_and_caught(x):
    try:
        return x.reshape(7, -1)
    except ValueError:
        return x * 2 + 1


def raised_by_event_and_caught(x):
    with np.errstate(divide="raise"):
        try:
            return x / (x - x[0])
        except FloatingPointError:
            return x * 2 + 1


def singular_and_caught(x):
    a = np.outer(x[:3], x[:3]) * 0
    try:
        return np.linalg.inv(a)
    except np.linalg.LinAlgError:
        return a + 1


# -- exceptions ------------------------------------------------------------------------------------
def bad_shapes(x):
    return x * 2 + x[:7]


def bad_index(x):
    y = x * 2 + 1
    return y[len(x)]


def singular(x):
    return np.linalg.inv(np.outer(x[:3], x[:3]) * 0)


def own_error(x):
    y = x * 2 + 1
    if y.sum() > 0:
        raise ValueError(f"{len(x)} values")
    return y


def own_error_first(x):
    if len(x) > 3:
        raise ValueError("too long")
    return x * 2 + 1


def bad_key(x):
    return x * TABLE["missing"]


def event_raised(x):
    with np.errstate(divide="raise"):
        return x / (x - x)


def checked_elsewhere(x):
    def check(value):
        assert value.max() < 0, "positive"

    check(x * 2 + 1)
    return x


KINDS: tuple[Callable[..., Any], ...] = (
    *(keys_of_a_dict, values_of_a_dict, dict_of_scalars, dict_by_scalars, strings, text_of_dtype),
    *(a_dataclass, a_generator, a_closure),
    *(cache_in_object, counter_in_object, running_mean, counter_in_class, counter_in_dict),
    *(appended_outside, flat_store, flat_read),
    *(cached_helper, ticked, element_iterator, filled_template),
    *(raised_in_numpy_and_caught, raised_by_event_and_caught, singular_and_caught),
)
RAISING: tuple[Callable[..., Any], ...] = (
    *(bad_shapes, bad_index, singular, own_error, own_error_first, bad_key, event_raised),
    checked_elsewhere,
)


def outcome(fn: Callable[..., Any], x: Array) -> Any:
    """What a call gives, or the class and text of what it raises."""
    try:
        return fn(x)
    except Exception as error:  # noqa: BLE001  (whatever it raises is compared)
        return type(error).__name__, str(error)


def plain(value: Any) -> Any:
    """The parts of a result as lists, which compare."""
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, dict):
        return [plain(list(value)), plain(list(value.values()))]
    if isinstance(value, Point):
        return plain((value.x, value.y))
    if callable(value):
        return plain(value())
    return (
        value if isinstance(value, str) or not hasattr(value, "__iter__") else [*map(plain, value)]
    )


def same(expected: Any, found: Any) -> bool:
    """Whether such lists are equal, numbers to some digits."""
    if isinstance(expected, list):
        return len(expected) == len(found) and all(map(same, expected, found))
    if isinstance(expected, float):
        both = math.isnan(expected) and math.isnan(found)
        return both or math.isclose(expected, found, rel_tol=1e-5)
    return bool(expected == found)
