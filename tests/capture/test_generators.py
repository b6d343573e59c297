"""Random generators, NumPy's and our own, in decorated functions.

Oracle: the undecorated function with equal generators: results to the bit, and the generators'
states after each call.
"""

import copy
import functools
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import runmat_jit as runmat
from tests.capture.behavior import bits_of

KINDS = {
    "default_rng": np.random.default_rng,
    **{
        name: lambda seed, name=name: np.random.Generator(getattr(np.random, name)(seed))
        for name in ("PCG64", "PCG64DXSM", "MT19937", "Philox", "SFC64")
    },
    "RandomState": np.random.RandomState,
    "runmat": runmat.random.default_rng,
}
MODULES = pytest.mark.parametrize("random", [np.random, runmat.random])


def state_of(rng):
    """Everything that later numbers depend on, comparable."""
    if isinstance(rng, np.random.RandomState):
        return str(rng.get_state(legacy=False))
    if isinstance(rng, runmat.random.Generator):
        return str(rng.state)
    return str(rng.bit_generator.state), rng.bit_generator.seed_seq.n_children_spawned


def agree(fn, make, *, calls=5, change=None, replayed=None):
    """Call both with inputs of their own, over and over."""
    decorated = runmat.jit(fn)
    expected_args, found_args = make(), make()
    for number in range(calls):
        for args in (expected_args, found_args):
            if change is not None:
                change(number, *args)
        outcomes = []
        for call, args in ((fn, expected_args), (decorated, found_args)):
            np.random.seed(number)
            try:
                result = bits_of(call(*args))
            except ValueError as error:
                result = str(error)
            generators = [
                a for a in args if isinstance(a, np.random.Generator | runmat.random.Generator)
            ]
            states = [state_of(g) for g in (*generators, np.random.mtrand._rand)]
            outcomes.append((result, bits_of(args), states))
        assert outcomes[0] == outcomes[1], number
    if replayed is not None:
        assert bool(decorated.cache_info().hits) == replayed, decorated.explain(*found_args)
    return decorated


def x_and(*kinds):
    return lambda: (np.arange(6.0), *(KINDS[kind](n) for n, kind in enumerate(kinds)))


@pytest.mark.parametrize("kind", KINDS)
def test_an_argument(kind):
    agree(lambda x, rng: x + rng.normal(size=6) * 2, x_and(kind), replayed=True)


@pytest.mark.parametrize(
    "draw",
    [
        lambda x, rng: rng.random(),
        lambda x, rng: rng.random(3, dtype=np.float32),
        lambda x, rng: rng.integers(0, 9, size=x.shape),
        lambda x, rng: rng.integers(5),
        lambda x, rng: rng.standard_normal(x.shape[0]) + x,
        lambda x, rng: rng.permutation(7),
        lambda x, rng: rng.permutation(x) * 2,
        lambda x, rng: rng.permuted(x.reshape(2, 3), axis=1),
        lambda x, rng: rng.choice(7, (2, 2)),
        lambda x, rng: rng.choice([1, 2, 3]),
        lambda x, rng: rng.multivariate_normal(np.zeros(2), np.eye(2)),
        lambda x, rng: rng.uniform(-1, 1, 3).sum() + rng.exponential() + rng.poisson(3.0),
        lambda x, rng: (rng.bytes(3), rng.random()),
        lambda x, rng: rng.standard_normal(out=x) is x,
        lambda x, rng: rng.shuffle(x),
        lambda x, rng: (rng.shuffle(x[::2]), x * 2),
    ],
)
@pytest.mark.parametrize("kind", ["default_rng", "runmat"])
def test_kinds_of_draws(draw, kind):
    agree(draw, x_and(kind))


GLOBAL = np.random.default_rng(3)


@MODULES
def test_a_global_and_a_closure_and_an_attribute(random, monkeypatch):
    class Model:
        def __init__(self, rng):
            self.rng = rng

        def noise(self, x):
            return x + self.rng.normal(size=x.shape)

    def build():
        rng, model = random.default_rng(1), Model(random.default_rng(2))
        return lambda x: (x * rng.random(), model.noise(x), GLOBAL.random(2), model.rng.random())

    plain, fn = build(), build()
    decorated, both = runmat.jit(fn), [random.default_rng(3), random.default_rng(3)]
    for seed in range(4):
        results = []
        for call, generator in zip((plain, decorated), both, strict=True):
            monkeypatch.setattr(sys.modules[__name__], "GLOBAL", generator)
            results.append(bits_of(call(np.ones(3))))
            generator.random(seed)
        assert results[0] == results[1]
        assert state_of(both[0]) == state_of(both[1])
    assert decorated.cache_info().hits == 3


@MODULES
def test_a_generator_that_is_replaced_between_calls(random):
    class Holder:
        rng = None

    def fn(x):
        return x + Holder.rng.normal(size=3)

    decorated = runmat.jit(fn)
    for seed in (1, 1, 2, 3):
        Holder.rng = random.default_rng(seed)
        expected = fn(np.ones(3)).tolist()
        Holder.rng = random.default_rng(seed)
        assert decorated(np.ones(3)).tolist() == expected


def test_one_made_inside_begins_anew_in_each_call():
    def fn(x, rng):
        mine = np.random.default_rng(5)
        other = np.random.Generator(np.random.Philox(7))
        old = np.random.RandomState(2)
        return x + mine.normal(size=6), other.random(2), old.rand(), rng.random()

    agree(fn, x_and("default_rng"), replayed=True)


def test_an_unseeded_one_made_inside_differs_in_each_call():
    decorated = runmat.jit(lambda x: x + np.random.default_rng().random())
    assert len({decorated(np.zeros(1)).item() for _ in range(6)}) == 6


def test_the_idiom_of_libraries():
    def fn(x, seed=None):
        rng = np.random.default_rng(seed)
        return x + rng.random()

    for make in (lambda: (np.ones(2), 4), lambda: (np.ones(2), np.random.default_rng(4))):
        agree(fn, make)


def test_spawned_generators():
    def fn(x, rng):
        first, second = rng.spawn(2)
        return x + first.normal(size=6) - second.random(), rng.random()

    agree(fn, x_and("default_rng"))


def test_two_generators_in_turn():
    def fn(x, a, b):
        first = a.random(3)
        second = b.random(2)
        return first, second, a.normal(), b.normal(), a.random()

    agree(fn, x_and("default_rng", "MT19937"), replayed=True)
    agree(fn, lambda: (np.ones(2), *[np.random.default_rng(4)] * 2))


def test_two_generators_on_one_bit_generator():
    def make():
        source = np.random.PCG64(3)
        return np.ones(2), np.random.Generator(source), np.random.Generator(source)

    agree(lambda x, a, b: (a.random(), b.random(), a.integers(9), b.integers(9)), make)


def draws_that_decide(x, rng):
    a = rng.normal(size=2)
    if a[0] > 0:
        return x + rng.random(), a
    for _ in range(int(rng.integers(0, 3))):
        x = x * rng.random()
    while rng.random() < 0.5:
        x = x + rng.exponential()
    return x


def draws_and_exceptions(x, rng):
    x[0] = rng.random()
    try:
        if rng.random() < 0.5:
            raise ValueError("half of the calls")
        x[1] = rng.random()
    except ValueError:
        x[2] = rng.random()
    if rng.random() < 0.3:
        raise ValueError("some of the calls")
    return x


def draws_that_fail(x, rng):
    first = rng.random()
    scale = first - 0.5
    return rng.normal(0.0, scale), rng.random()


def draws_around_effects(x, rng):
    first = rng.random()
    kept = [str(first)]
    rng.shuffle(kept)
    state = rng.bit_generator.state
    second = rng.random()
    rng.bit_generator.state = state
    return first, second, rng.random(), kept


def sizes_that_are_drawn(x, rng):
    n = int(rng.integers(1, 5))
    return rng.random(n) * x[:n]


def draws_by_methods_kept(x, rng):
    draw, pick = rng.normal, functools.partial(rng.choice, replace=False)
    return [draw() for _ in range(4)], pick(x, 3)


@pytest.mark.parametrize(
    "fn",
    [
        draws_that_decide,
        draws_and_exceptions,
        draws_that_fail,
        draws_around_effects,
        sizes_that_are_drawn,
        draws_by_methods_kept,
    ],
)
def test_draws_among_other_things(fn):
    agree(fn, x_and("default_rng"), calls=12)


def test_numbers_of_arguments_in_draws():
    def fn(x, rng, n, scale):
        return rng.normal(n, scale, size=n), rng.integers(0, n), rng.uniform(size=(n, 2))

    decorated = runmat.jit(fn)
    a, b = np.random.default_rng(1), np.random.default_rng(1)
    for n in (2, 2, 3, 4, 2, 3, 3):
        assert bits_of(decorated(np.ones(2), b, n, n / 2)) == bits_of(fn(np.ones(2), a, n, n / 2))
    assert state_of(a) == state_of(b)


def test_states_saved_and_restored_between_calls():
    saved = []

    def change(number, x, rng):
        if number % 2:
            rng.bit_generator.state = saved.pop()
        saved.append(copy.deepcopy(rng.bit_generator.state))

    agree(lambda x, rng: x + rng.normal(), x_and("default_rng"), change=change, calls=8)


# -- the global state of NumPy ---------------------------------------------------------------------
def legacy(x):
    first = np.random.rand(2)
    np.random.seed(4)
    return (
        x + np.random.randn(6),
        first,
        np.random.randint(9),
        np.random.choice(x),
        np.random.ranf(),
    )


def legacy_in_place(x):
    np.random.shuffle(x)
    return np.random.permutation(x), np.random.uniform()


def legacy_states(x):
    state = np.random.get_state()
    first = np.random.rand()
    np.random.set_state(state)
    return first == np.random.rand(), x * np.random.rand()


def by_imported_name(x):
    from numpy.random import normal, seed

    seed(3)
    return x + normal(size=6)


@pytest.mark.parametrize("fn", [legacy, legacy_in_place, legacy_states, by_imported_name])
def test_the_global_state(fn):
    agree(fn, x_and())


def test_many_calls_keep_the_stream():
    def fn(x, rng):
        return x * rng.random() + np.random.rand()

    agree(fn, x_and("default_rng"), calls=150, replayed=True)


def test_a_decorated_function_within_another_shares_the_generator():
    inner = runmat.jit(lambda x, rng: x + rng.random())

    def fn(x, rng):
        return inner(x, rng) * rng.random() + inner(x, rng)

    agree(fn, x_and("default_rng"), replayed=True)


DRAWS = {
    "random": lambda rng, x: rng.random(),
    "normal": lambda rng, x: x + rng.normal(size=6),
    "shuffle": lambda rng, x: rng.shuffle(x),
    "branch": lambda rng, x: x * 2 if rng.random() > 0.5 else rng.integers(9),
    "global": lambda rng, x: np.random.rand(),
    "spawn": lambda rng, x: rng.spawn(1)[0].random(),
    "compute": lambda rng, x: (x * 3 + 1).max(),
    "write": lambda rng, x: x.__setitem__(0, rng.random()),
}


@given(st.lists(st.tuples(st.sampled_from(sorted(DRAWS)), st.integers(0, 1)), max_size=8))
def test_any_order_of_draws(program):
    def fn(x, a, b):
        return [DRAWS[name](b if number else a, x) for name, number in program]

    agree(fn, x_and("default_rng", "Philox"), calls=3)


def test_verification_draws_nothing_twice():
    before = runmat.config().verify
    try:
        runmat.config(verify=2)
        agree(lambda x, rng: x + GLOBAL.random() * 0 + rng.random(), x_and("default_rng"))
    finally:
        runmat.config(verify=before)


PROGRAM = """
import sys, numpy as np, runmat_jit as runmat
scaled = runmat.jit(lambda x, f: np.tanh(x) * f(2))
assert scaled(np.zeros(3), abs).sum() == 0
assert "numpy.random" not in sys.modules
drawn = runmat.jit(lambda seed: np.random.default_rng(seed).random(3) + 1)
for _ in range(3):
    assert (drawn(7) == np.random.default_rng(7).random(3) + 1).all()
assert drawn.cache_info().hits == HITS
"""


def test_the_first_call_loads_no_module_of_random_numbers(tmp_path):
    path = tmp_path / "program.py"
    path.write_text(PROGRAM.replace("HITS", "2"))
    subprocess.run([sys.executable, str(path)], check=True)


def test_generators_are_made_of_seeds_where_there_is_no_source():
    """From Python 3.13 on there is one for the text after ``-c`` itself."""
    run = "import sys; exec(compile(sys.argv[1], '<nowhere>', 'exec'))"
    subprocess.run([sys.executable, "-c", run, PROGRAM.replace("HITS", "0")], check=True)


def test_lists_are_shuffled_in_every_call():
    def fn(x, rng):
        items, more = [1.0, 2.0, 3.0, 4.0, 5.0], [6, 7, 8, 9]
        rng.shuffle(items)
        np.random.shuffle(more)
        return x * items[0], items, more

    agree(fn, lambda: (np.ones(3), np.random.default_rng(3)))
