"""Arrays that kernels cannot read, beside arrays of numbers; oracle: plain Python."""

import itertools
import sys

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

import runmat_jit as runmat
from tests.capture.behavior import check, compare, module, observe

SEEDS = (0, 0, 1, 2, 0, 1)
PARTICLE = np.dtype([("name", "U2"), ("mass", "f8"), ("count", "i4")])
PACKED = np.dtype([("flag", "?"), ("mass", "f8")])


def labels_of_numbers(x):
    names = np.array(["low", "middle", "high"])
    found = names[np.digitize(x, [-0.5, 0.5])]
    counts = [int((found == name).sum()) for name in ("low", "high")]
    return found, counts, np.where(x > 0, "up", "down"), x[found == "high"] * 2


def text_of_arrays(x):
    words = np.round(x, 1).astype(str)
    joined = np.char.add(words, "!")
    back = words.astype(float) * 2
    return words, joined, back


def dates(x):
    start = np.datetime64("2024-02-27")
    days = start + np.arange(x.size).astype("timedelta64[D]")
    gaps = np.diff(days) / np.timedelta64(1, "h")
    return days, gaps * x[1:], days[x > 0], days.max() - start


def records(x):
    table = np.zeros(x.size, PARTICLE)
    table["mass"] = x * 2
    mass = table["mass"]
    mass += 1
    table["count"] = np.arange(x.size)
    table["name"][0] = "He"
    heavy = table[table["mass"] > 1]
    mass[0] = -5
    table.sort(order="mass")
    return table, mass, heavy, table["mass"].sum(), table["count"] * 2


def packed_records(x):
    table = np.zeros(x.size, PACKED)
    table["mass"] = x
    table["flag"] = x > 0
    doubled = table["mass"] * 2
    table["mass"][table["flag"]] = 9
    return doubled, table["mass"] + x, table, table["flag"] & True


def other_bytes(x):
    swapped = x.astype(">f8")
    swapped[1:] *= 2
    long = x.astype(np.longdouble)
    return swapped, swapped.sum(), np.sqrt(swapped**2) + x, swapped.astype(float) + 1, long * 2


@pytest.mark.parametrize(
    "fn",
    [labels_of_numbers, text_of_arrays, dates, records, packed_records, other_bytes],
    ids=lambda fn: fn.__name__,
)
def test_arrays_that_kernels_cannot_read_are_repeated_without_python(fn):
    check(fn, lambda rng: (rng.normal(size=7),), seeds=SEEDS, replayed=True)


def test_items_of_arrays_of_text_are_text():
    def fn(x):
        words = np.round(x, 1).astype(str)
        return np.array([f"{v:.1f}" for v in x]), [str(w) for w in words], words[0], words[1] * 2

    check(fn, lambda rng: (rng.normal(size=7),), seeds=SEEDS)


def test_arguments_of_all_kinds_beside_numbers():
    def fn(symbols, days, table, swapped, x):
        mass = table["mass"]
        x += swapped
        mass *= 2
        table["count"][symbols == "H"] = 7
        swapped[:2] = x[:2]
        return x[symbols == "H"].sum(), mass + x, days[x > 0], table["count"] * 1, swapped * 2

    def make(rng):
        table = np.zeros(4, PARTICLE)
        table["mass"] = rng.normal(size=4)
        symbols = np.array(["H", "O", "He", "H"])[rng.permutation(4)]
        days = np.arange(4).astype("datetime64[D]") + np.timedelta64(int(rng.integers(9)), "D")
        return symbols, days, table, rng.normal(size=4).astype(">f8"), rng.normal(size=4)

    check(fn, make, seeds=SEEDS, replayed=True)


def test_records_and_their_fields_among_the_arguments_share_memory():
    def fn(table, mass, x):
        mass += x
        first = table["mass"] * 2
        table["mass"] = x
        second = mass + 1
        mass[1:] = first[1:]
        return first, second, table.copy(), mass

    def make(rng):
        table = np.zeros(5, np.dtype([("mass", "f8"), ("count", "i8")]))
        table["mass"] = rng.normal(size=5)
        return table, table["mass"], rng.normal(size=5)

    check(fn, make, seeds=SEEDS, replayed=True)


@given(st.lists(st.sampled_from("abcdef"), min_size=5, max_size=5), st.data())
def test_fields_and_records_in_any_order(steps, data):
    k = data.draw(st.integers(0, 3))

    def fn(table, x):
        mass, out = table["mass"], []
        for step in steps:
            if step == "a":
                mass += x
            elif step == "b":
                table["mass"][k:] = mass[:1] * 2
            elif step == "c":
                out.append(table["mass"] + mass)
            elif step == "d":
                table[k] = table[0]
            elif step == "e":
                x[1:] = mass[:-1]
            else:
                out.append(table[::2].copy())
        return out, mass, x

    decorated = runmat.jit(fn)
    for seed in (1, 1, 2):
        args = []
        for _ in range(2):
            table = np.zeros(4, PARTICLE)
            table["mass"] = np.arange(4.0) * seed
            args.append((table, np.ones(4) * seed))
        compare(observe(fn, args[0], {}), observe(decorated, args[1], {}))


NAMES = np.array(["a", "b"])


def reads_names(x):
    return NAMES[(x > 0).astype(int)], x * 2


def test_outside_arrays_of_text_are_never_stale(monkeypatch):
    decorated = runmat.jit(reads_names)

    def agree():
        args = (np.array([-1.0, 1.0]),)
        compare(observe(reads_names, args, {}), observe(decorated, args, {}))

    agree()
    agree()
    assert decorated.cache_info().hits == 1
    NAMES[0] = "c"
    agree()
    assert decorated.cache_info().hits == 2
    monkeypatch.setattr(sys.modules[__name__], "NAMES", np.array(["longer", "names"]))
    agree()
    monkeypatch.setattr(sys.modules[__name__], "NAMES", np.array([b"x", b"y"]))
    agree()


def test_other_lengths_of_arrays_without_extents_are_other_calls():
    def fn(names, x):
        return len(names) * x, names.shape, names[-1:], x.sum()

    decorated = runmat.jit(fn)
    for size in (3, 4, 5, 6, 7, 8, 3):
        for other in (3, size):
            args = np.array(["a"] * other), np.ones(size)
            compare(observe(fn, args, {}), observe(decorated, args, {}))


def test_fields_whose_elements_lie_at_odd_distances_are_numpys():
    pairs = np.zeros(4, np.dtype([("value", "c16"), ("weight", "f8")]))
    pairs["value"] = 1 + 2j
    table = np.ones(3, PARTICLE)

    def fn(x, y):
        x += 1
        return x * 2, y * x[:1], y + 1

    for field in (pairs["value"], pairs["value"][:1], pairs["weight"], table["mass"][:1]):
        decorated = runmat.jit(fn)
        for _ in range(3):
            args = [(field.copy(), np.ones(2)), (field.copy(), np.ones(2))]
            compare(observe(fn, args[0], {}), observe(decorated, args[1], {}))
            before = field.copy()
            expected, found = fn(field, np.ones(2)), None
            field[...] = before
            found = decorated(field, np.ones(2))
            assert all(map(np.array_equal, expected, found))


def test_elements_of_records_stay_views():
    def fn(table, x):
        row = table[0]
        row["mass"] = x[0]
        return table["mass"] * 2, row["count"], table

    check(fn, lambda rng: (np.zeros(3, PARTICLE), rng.normal(size=2)), seeds=SEEDS)


@pytest.mark.parametrize(
    "expression",
    [
        *(
            "x * 2 + y",
            "x.sum() * y",
            "x.sum().copy()",
            "x[0] * y",
            "x.max() + y.astype(x.dtype)",
            "x.cumsum()[y > 1]",
        ),
        *("x ** 2", "np.tanh(x) + y", "x.astype(other) + x", "np.zeros_like(x) + x[:1]", "x // 2"),
        *(
            "np.where(y > 1, x, 0)",
            "np.full(3, x[1], other)",
            "np.add(x, x, dtype=other)",
            "x * other(2)",
        ),
        *(
            "np.array([x[0], other(1)])",
            "np.sum(x, dtype=other) * y",
            "x @ x",
            "TABLE[0] + TABLE * x",
        ),
    ],
)
def test_integers_of_the_same_bits_are_told_apart(expression):
    """``longlong`` equals ``int64``, has its hash, and is another dtype: 30 calls each."""
    text = f"def f(x, y, other):\n    z = {expression}\n    return z, z.dtype.char, x.dtype.char\n"
    fn = module(text)["f"]
    decorated = runmat.jit(fn)
    kinds = [np.int64, np.longlong, np.int64, *6 * [np.longlong], *4 * [np.int64]]
    kinds += [np.longlong, np.int64]
    for kind, other in itertools.product(kinds, (np.int64, np.longlong)):
        fn.__globals__["TABLE"] = np.arange(3, dtype=kind)
        args = np.arange(1, 4, dtype=kind), np.arange(3.0), other
        compare(observe(fn, args, {}), observe(decorated, args, {}))


def test_calls_without_arrays_of_numbers_stay_plain():
    decorated = runmat.jit(lambda names: names == "a")
    decorated(np.array(["a", "b"]))
    assert decorated.cache_info().plain == 1
    assert decorated.explain(np.array(["a", "b"])).reasons[0].id == "array-dtype"
