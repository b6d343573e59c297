"""Text, ``print`` and warnings of a program; oracle: plain Python."""

import builtins
import contextlib
import io
import sys
import warnings
from collections import namedtuple

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

import runmat_jit as runmat
from tests.capture.behavior import check, compare, observe

Pair = namedtuple("Pair", "low high")


def vector(rng):
    return (np.round(rng.normal(size=5), 3),)


def whole(rng):
    return (rng.integers(0, 3, size=5),)


def f_strings(x):
    width = 12
    return (
        f"{x.mean():.3f} of {x.size}",
        f"{x[0]!r:>{width}}|{x[1]!s}",
        f"{x}",
        f"{x[0] > 0} {int(x[1])} {x.tolist()}",
        f"{{}}{x[0]:+.1e}",
        x + 1,
    )


def builtins_that_make_text(x):
    return str(x[0]), repr(x.sum()), format(x.max(), ".2f"), ascii(x[:2]), str(x.tolist()), x * 2


def percent_and_format(x):
    template = "%6.2f"
    named = "%(a)s and %(b).1f" % {"a": x[0], "b": x[1]}
    formatted = "{:.1f}/{b}".format(x[0], b=x[1])  # noqa: UP032  (the method is tested)
    return "%s of %d" % (x[:2], x.size), template % x[0], named, formatted


def joined(x):
    words = [f"{v:.1f}" for v in x]
    return (
        ", ".join(words),
        "-".join(f"{v:.0f}" for v in x),
        " ".join(map(str, x)),
        sorted(words),
        max(words),
    )


def methods_of_text(x):
    text = f"{x[0]:.2f}"
    return (
        text.upper() + "!" * 2,
        text[0],
        text.split("."),
        text.startswith("-"),
        len(text),
        "." in text,
    )


def numbers_from_text(x):
    return float(f"{x[0]:.1f}") * x, int(str(int(x[1] * 10))), ord(f"{x[2]:.0f}"[-1]), x.tobytes()


def grown_text(x):
    report = ""
    for number, value in enumerate(x):
        report += f"{number}: {value:.2f}\n"
    return report.strip().replace("\n", ";"), x.sum()


def printed(x):
    y = x * 2
    print("sum", y.sum(), end="; ")
    y[0] = 7
    print(f"first {y[0]:.1f}", y, [y[1], "a"], sep="\t")
    print()
    x += y
    print({"x": x.tolist()}, x.max(), flush=True)
    return y


def warns(x):
    if x.sum() > 0:
        warnings.warn(f"sum {x.sum():.2f}", RuntimeWarning, stacklevel=1)
    warnings.warn("always")  # noqa: B028  (what most programs write)
    return x * 2


@pytest.mark.parametrize(
    "fn",
    [
        f_strings,
        builtins_that_make_text,
        percent_and_format,
        joined,
        methods_of_text,
        numbers_from_text,
        grown_text,
        printed,
        warns,
    ],
    ids=lambda fn: fn.__name__,
)
def test_text_and_what_is_printed_is_pythons(fn):
    check(fn, vector, seeds=(0, 0, 1, 2, 0, 1))


def keys_of_text(x):
    names = {"0": "none", "1": "one"}
    found = [names.get(str(v), "many") for v in x.tolist()]
    kind = "none" if f"{x[0]}" == "0" else "some"
    return found, kind, str(x[1]) in ("1", "2"), {f"{x[2]}": x * 2}


def matched(x):
    match f"{x[0]}":
        case "0":
            return x
        case "1" | "2":
            return x * 2
    return None


@pytest.mark.parametrize("fn", [keys_of_text, matched], ids=lambda fn: fn.__name__)
def test_python_decides_by_text(fn):
    check(fn, whole, seeds=(0, 1, 2, 3, 4, 0, 1, 2, 3, 4))


@given(
    st.lists(st.floats(width=32), min_size=1, max_size=4), st.sampled_from(["", ".3f", ">9", "e"])
)
def test_text_of_any_float_is_pythons(values, spec):
    def fn(x, spec):
        return [format(v, spec) for v in x.tolist()], f"{x[0]:{spec}}", f"{x!r}", str(x[-1])

    decorated = runmat.jit(fn)
    for array in (np.ones(len(values)), np.array(values), -np.array(values)):
        compare(observe(fn, (array.copy(), spec), {}), observe(decorated, (array, spec), {}))


SCALE, NAMES = 2, ["low", "high"]


def reads(x):
    print(SCALE, NAMES, f"{NAMES[0]} {x.sum()}")
    return f"{SCALE}", x * SCALE


def test_globals_and_lists_in_text_are_never_stale(monkeypatch):
    decorated = runmat.jit(reads)

    def agree():
        compare(observe(reads, (np.ones(3),), {}), observe(decorated, (np.ones(3),), {}))

    agree()
    agree()
    monkeypatch.setattr(sys.modules[__name__], "SCALE", 5)
    agree()
    NAMES[0] = "lower"
    agree()
    NAMES.append("highest")
    agree()
    monkeypatch.setattr(builtins, "print", lambda *args: sys.stdout.write(f"mine {args[0]}\n"))
    agree()


def test_numpys_print_options_are_outside_state():
    def fn(x):
        print(x)
        return f"{x}", str(x[0]), "%s" % x, np.array2string(x), x * 2

    decorated = runmat.jit(fn)
    for options in ({}, {}, {"precision": 2}, {}, {"legacy": "1.13"}, {"precision": 2}):
        with np.printoptions(**options):
            x = np.array([1.23456, 2.0])
            compare(observe(fn, (x,), {}), observe(decorated, (x,), {}))


class Named:
    def __init__(self, name):
        self.name = name

    def __str__(self):
        return f"<{self.name}>"


WHO = Named("a")


def test_text_that_an_object_makes_itself_is_never_stale(monkeypatch):
    def fn(x):
        return f"{WHO}", str(WHO), [f"{[WHO]}"[:2]], "%s" % WHO, x * 2

    decorated = runmat.jit(fn)
    for name in ("a", "a", "b"):
        monkeypatch.setattr(WHO, "name", name)
        compare(observe(fn, (np.ones(2),), {}), observe(decorated, (np.ones(2),), {}))


def test_standard_outputs_that_run_code_are_left_to_python():
    class Counting(io.StringIO):
        def write(self, text):
            self.count = getattr(self, "count", 0) + 1
            return super().write(text)

    def fn(x):
        y = x * 2
        print("sum", y.sum())
        return y

    decorated, stream, other = runmat.jit(fn), Counting(), io.StringIO()
    for number in range(1, 4):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(sys, "stdout", stream)
            decorated(np.ones(3))
            patch.setattr(sys, "stdout", other)
            decorated(np.ones(3))
        assert stream.getvalue() == other.getvalue() == "sum 6.0\n" * number
        assert stream.count == 4 * number


def test_what_a_stream_cannot_take_is_printed_once_and_raised_by_python():
    def fn(x, name):
        x += 1
        print("value", x[0], name)
        return x * 2

    decorated, x = runmat.jit(fn), np.zeros(2)
    decorated(x, "a")
    raw = io.BytesIO()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding="ascii"))
        decorated(x, "a")
        with pytest.raises(UnicodeEncodeError) as caught:
            decorated(x, "ä")
        sys.stdout.flush()
        sys.stdout.close()
        with pytest.raises(ValueError, match="closed"):
            decorated(x, "a")
    assert caught.traceback[-1].name == "fn" or caught.traceback[-2].name == "fn"
    assert x.tolist() == [4, 4]


def test_a_text_that_fails_halfway_is_not_begun_twice():
    def fn(x):
        x += 1
        print("value", "ä", x[0])
        return x * 2

    written = []
    for function in (fn, runmat.jit(fn)):
        x, raw = np.zeros(2), io.BytesIO()
        stream = io.TextIOWrapper(raw, encoding="ascii")
        for _ in range(2):
            function(x)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(sys, "stdout", stream)
            with pytest.raises(UnicodeEncodeError):
                function(x)
        stream.flush()
        written.append((raw.getvalue(), x.tolist()))
    assert written[0] == written[1] == (b"value ", [3, 3])


class Counting(io.StringIO):
    """A stream that changes what the program reads."""

    def write(self, text):
        SCALE[0] += 1.0
        return super().write(text)


SCALE = [1.0]


def test_a_stream_with_code_of_its_own_runs_it_where_the_program_is():
    def fn(x):
        y = x * SCALE[0]
        print("value")
        return y, x * SCALE[0]

    found = []
    for function in (fn, runmat.jit(fn)):
        SCALE[0] = 1.0
        with contextlib.redirect_stdout(io.StringIO()):
            results = [function(np.ones(2)) for _ in range(2)]
        with contextlib.redirect_stdout(Counting()):
            results += [function(np.ones(2)) for _ in range(2)]
        found.append([[each.tolist() for each in result] for result in results])
    assert found[0] == found[1]
    assert found[0][-1] != found[0][-2]


def test_prints_before_a_new_outcome_are_not_repeated():
    def fn(x):
        print("before", x[0])
        x += 1
        if x.sum() > 4:
            print("large")
        else:
            print("small")
        print("after", x[0])
        return x * 2

    check(fn, lambda rng: (rng.integers(0, 3, size=3).astype(float),), seeds=range(8))


def test_prints_stand_in_order_with_stores_draws_and_warnings():
    def fn(x, rng):
        view = x[1:]
        print(view)
        view *= rng.normal()
        print(rng.random(), view[0])
        y = np.log(x - x)
        print(y[0])
        x[:] = y
        return view

    def make(rng):
        return np.ones(3), np.random.default_rng(int(rng.integers(9)))

    check(fn, make, seeds=(0, 1, 2, 0, 3))


def test_prints_to_files_stay_with_python():
    def fn(x, file):
        print(x.sum(), file=file)
        return x * 2

    decorated, file = runmat.jit(fn), io.StringIO()
    for _ in range(3):
        decorated(np.ones(2), file)
    assert file.getvalue() == "2.0\n" * 3


def test_warnings_that_are_errors_come_from_the_users_line():
    decorated = runmat.jit(warns)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        decorated(np.ones(2))
        decorated(np.ones(2))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(RuntimeWarning, match=r"sum 2\.00") as caught:
            decorated(np.ones(2))
    assert caught.traceback[-1].name == "warns"


def test_a_warning_of_a_level_above_is_attributed_to_the_caller():
    def fn(x):
        warnings.warn("of the caller", UserWarning, stacklevel=2)
        return x * 2

    check(fn, vector)


def test_named_tuples_and_text_by_the_locale_are_the_same():
    def fn(x):
        return str(Pair(x[0], x[1])), f"{x[0]:n}", f"{x[1]:5n}", f"{Pair(1, 2)}", x + 1

    check(fn, vector)


def test_python_decides_by_long_text():
    def fn(x):
        text = ",".join(f"{v:.3f}" for v in np.tile(x, 60).tolist()[:200])
        return {text: 1}, x * 2

    check(fn, vector)


def test_callables_that_builtins_get_see_text():
    def fn(x):
        words = [f"{v:.0f}" for v in x]
        upper = list(map(str.upper, words))
        digits = [list(map(ord, words[:1])), list(map(len, words)), list(map(int, words))]
        return upper, sorted(words, key=str.lower), digits, list(filter(str.isdigit, words))

    check(fn, vector, seeds=(0, 0, 1, 1))


def test_lists_of_arrays_are_followed():
    def fn(x):
        rows = x.reshape(-1, 1).tolist()
        total = 0
        for (value,) in rows:
            total += value if value > 0 else 0
        return rows, total, x[0].tolist(), (x > 0).tolist(), sorted(x.tolist())

    check(fn, vector, seeds=(0, 0, 1, 1), replayed=True)
    check(lambda x: np.tile(x, 50).tolist(), vector)


def test_results_that_numpy_puts_into_arrays_are_repeated():
    def fn(x):
        out, positive = np.zeros(5), x > 0
        np.divide(1.0, x, out=out, where=positive)
        view = x[1:]
        np.cumsum(view, out=out[1:])
        np.add.accumulate(x, out=x)
        low, high = np.empty(()), np.empty(5)
        x.max(out=low)
        np.modf(x, out=(high, x))
        return out, view, low, high, np.round(x, 1, out=x) is x

    check(fn, vector, seeds=(0, 0, 1, 2), replayed=True)


def test_results_put_into_arrays_of_unknown_origin_are_effects():
    kept = [np.zeros(5)]

    def fn(x):
        return np.divide(1.0, x, out=kept[0]), x + 1

    check(fn, vector)


def test_calls_that_print_are_not_run_twice_to_verify_them():
    def fn(x):
        print(x.sum())
        return x * 2

    before, out = runmat.config().verify, io.StringIO()
    try:
        runmat.config(verify=2)
        decorated = runmat.jit(fn)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(sys, "stdout", out)
            for _ in range(4):
                decorated(np.ones(2))
    finally:
        runmat.config(verify=before)
    assert out.getvalue() == "2.0\n" * 4
