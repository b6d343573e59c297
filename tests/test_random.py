"""Oracle: NumPy's Generator for types, shapes and errors; the rows' own meaning for the numbers.

Distributions are compared with the exact ones by statistics that a right generator exceeds once in
thousands of seeds; the seeds are fixed, so a test that passes keeps passing.
"""

import copy
import pickle
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtr

import runmat_jit as runmat
from runmat_jit.ops.table import ROWS
from runmat_jit.runtime.session import Session, current_session, use_session

MANY = 200_000
FLOATS = ("float32", "float64")
WHOLE = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "bool")
SHAPES = (0, 1, 3, (), (0, 3), (2, 3), [4, 1], np.int64(2), (5000,), (70, 80), np.array([2, 2]))


@pytest.fixture
def own_session():
    before = use_session(Session())
    yield current_session()
    use_session(before)


def both(seed=1):
    return runmat.random.default_rng(seed), np.random.default_rng(seed)


def meaning(rng, name, count, **params):
    """The next ``count`` numbers, by the row's definition in NumPy."""
    state = rng.state["state"]
    key, counter = (np.array(state[part], np.uint64).view(np.int64) for part in ("key", "counter"))
    return ROWS[name].numpy(np.arange(count), key, counter, **params)


# -- numbers --------------------------------------------------------------------------------------
@given(seed=st.integers(0, 2**128), count=st.integers(0, 200))
def test_uniforms_are_those_of_the_row(seed, count):
    rng = runmat.random.Generator(seed)
    for dtype in FLOATS:
        expected = meaning(rng, "random_uniform", count, dtype=dtype)
        np.testing.assert_array_equal(rng.random(count, dtype), expected, strict=True)


@given(
    low=st.integers(-(2**63), 2**63 - 1),
    span=st.integers(0, 2**64 - 1),
    count=st.integers(0, 100),
)
def test_integers_are_shares_of_the_bits(low, span, count):
    high = min(low + span, 2**63 - 1)
    rng = runmat.random.Generator(3)
    bits = meaning(rng, "random_bits", count).view(np.uint64).tolist()
    expected = [low + (word * (high - low + 1) >> 64) for word in bits]
    assert rng.integers(low, high, count, endpoint=True).tolist() == expected


@pytest.mark.parametrize("dtype", WHOLE)
def test_integers_of_every_dtype_fill_their_range_and_agree(dtype):
    low, high = (0, 1) if dtype == "bool" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
    found = runmat.random.Generator(8).integers(low, high, 4000, dtype, endpoint=True)
    assert found.dtype == dtype
    exact = [int(number) for number in found]
    assert low <= min(exact) < low + (high - low) / 100 + 1
    assert high - (high - low) / 100 - 1 < max(exact) <= high
    narrow = runmat.random.Generator(8).integers(0, 2, 4000, dtype)
    np.testing.assert_array_equal(narrow, runmat.random.Generator(8).integers(0, 2, 4000))


def test_normals_lie_by_the_row():
    rng = runmat.random.Generator(5)
    for dtype in FLOATS:
        expected = meaning(rng, "random_normal", 1001, dtype=dtype)
        np.testing.assert_allclose(rng.standard_normal(1001, dtype), expected, rtol=1e-6)


# -- streams --------------------------------------------------------------------------------------
def test_equal_seeds_give_equal_numbers_and_others_do_not():
    draws = [runmat.random.Generator(seed).random(5).tolist() for seed in (1, 1, 2, [1, 2], None)]
    assert draws[0] == draws[1]
    assert len({tuple(draw) for draw in draws}) == 4


def test_the_key_is_the_documented_function_of_the_seed():
    low, high = np.random.SeedSequence(42).generate_state(2).tolist()
    state = runmat.random.Generator(42).state
    assert state["state"] == {"key": low | high << 32, "counter": 0}
    assert runmat.random.Generator(np.random.SeedSequence(42)).state == state


@pytest.mark.parametrize(("dtype", "block"), [("float32", 4), ("float64", 2)])
@pytest.mark.parametrize("method", ["random", "standard_normal"])
def test_whole_blocks_drawn_in_parts_are_the_numbers_drawn_at_once(dtype, block, method):
    counts = [block, 3 * block, 0, 1000 * block, 5001 * block]
    parts, whole = runmat.random.Generator(4), runmat.random.Generator(4)
    drawn = [getattr(parts, method)(count, dtype) for count in counts]
    at_once = getattr(whole, method)(sum(counts), dtype)
    np.testing.assert_array_equal(np.concatenate(drawn), at_once)
    assert parts.state == whole.state


def test_a_smaller_draw_begins_as_a_larger_one_and_a_block_is_never_shared():
    few, many = runmat.random.Generator(4), runmat.random.Generator(4)
    np.testing.assert_array_equal(few.random(3), many.random(9)[:3])
    assert few.state["state"]["counter"] == 2
    assert many.state["state"]["counter"] == 5


def test_bits_do_not_depend_on_the_number_of_threads(own_session):
    draws = []
    for count in (1, 2, 5):
        runmat.config(num_threads=count)
        rng = runmat.random.Generator(6)
        draws.append((rng.random(300_001), rng.standard_normal((70, 3001), np.float32)))
    for other in draws[1:]:
        for one, same in zip(draws[0], other, strict=True):
            np.testing.assert_array_equal(one, same)


def test_verified_programs_agree_with_their_graphs(own_session):
    runmat.config(verify=1)
    rng = runmat.random.Generator(6)
    assert rng.standard_normal(1000).std() == pytest.approx(1, abs=0.1)
    assert rng.random((3, 1500), np.float32).mean() == pytest.approx(0.5, abs=0.05)
    assert rng.integers(-3, 3, 1000, np.int32).min() == -3


def test_without_kernels_the_numbers_are_the_same(own_session):
    expected = runmat.random.Generator(2).random((30, 200))
    own_session.__dict__["unsupported"] = "for this test"
    own_session._services.clear()
    found = runmat.random.Generator(2).random((30, 200))
    np.testing.assert_array_equal(found, expected)


def test_the_position_wraps_after_2_to_the_64_blocks():
    rng = runmat.random.Generator(1)
    start = {"bit_generator": "Philox4x32-10", "state": {"key": 7, "counter": 2**64 - 2}}
    rng.state = start
    wrapped = rng.random(10)
    assert rng.state["state"] == {"key": 7, "counter": 3}
    rng.state = {**start, "state": {"key": 7, "counter": 0}}
    np.testing.assert_array_equal(wrapped[4:], rng.random(6))


def test_a_state_brings_the_numbers_back():
    rng = runmat.random.Generator(1)
    rng.random(5)
    state = rng.state
    first = rng.standard_normal(9), rng.integers(100, size=3)
    rng.state = state
    again = rng.standard_normal(9), rng.integers(100, size=3)
    np.testing.assert_array_equal(first[0], again[0])
    np.testing.assert_array_equal(first[1], again[1])


@pytest.mark.parametrize(
    ("state", "error"),
    [
        (3, TypeError),
        ({"bit_generator": "PCG64", "state": {}}, ValueError),
        ({"bit_generator": "Philox4x32-10", "state": {"key": -1, "counter": 0}}, ValueError),
        ({"bit_generator": "Philox4x32-10", "state": {"key": 0, "counter": 2**64}}, ValueError),
    ],
)
def test_a_wrong_state_is_refused_and_changes_nothing(state, error):
    rng = runmat.random.Generator(1)
    before = rng.state
    with pytest.raises(error):
        rng.state = state
    assert rng.state == before


@pytest.mark.parametrize(
    "twin", [copy.copy, copy.deepcopy, lambda rng: pickle.loads(pickle.dumps(rng))]
)
def test_copies_go_on_alike_and_apart(twin):
    rng = runmat.random.Generator(1)
    rng.random(7)
    other = twin(rng)
    np.testing.assert_array_equal(rng.random(7), other.random(7))
    rng.random(7)
    assert rng.state != other.state


def test_children_differ_and_follow_the_seed():
    children = runmat.random.Generator(1).spawn(3)
    keys = {child.state["state"]["key"] for child in children}
    assert len(keys) == 3
    assert children[1].state == runmat.random.Generator(1).spawn(2)[1].state
    carried = pickle.loads(pickle.dumps(runmat.random.Generator(1)))
    assert carried.spawn(1)[0].state == children[0].state


def test_a_generator_is_passed_on():
    rng = runmat.random.default_rng(1)
    assert runmat.random.default_rng(rng) is rng
    assert repr(rng) == "Generator(Philox4x32-10)"


def test_threads_never_get_the_same_numbers():
    rng = runmat.random.Generator(9)
    rng.random(4)
    found = []
    threads = [
        threading.Thread(target=lambda: found.extend(rng.random(4) for _ in range(50)))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    drawn = np.sort(np.concatenate(found))
    whole = np.sort(runmat.random.Generator(9).random(4 + drawn.size)[4:])
    np.testing.assert_array_equal(drawn, whole)


# -- types, shapes and errors ---------------------------------------------------------------------
@pytest.mark.parametrize("size", [None, *SHAPES], ids=str)
def test_results_have_the_types_and_shapes_of_numpy(size):
    ours, numpy = both()
    for call in (
        lambda rng: rng.random(size),
        lambda rng: rng.random(size, np.float32),
        lambda rng: rng.standard_normal(size, dtype="f4"),
        lambda rng: rng.integers(9, size=size),
        lambda rng: rng.integers(3, 9, size, np.uint8),
        lambda rng: rng.integers(3, size=size, dtype="uint32"),
        lambda rng: rng.integers(9, size=size, dtype=int),
        lambda rng: rng.integers(2, size=size, dtype=bool),
    ):
        found, expected = call(ours), call(numpy)
        assert type(found) is type(expected)
        assert np.shape(found) == np.shape(expected)
        assert np.asarray(found).dtype == np.asarray(expected).dtype


def test_results_own_their_memory():
    rng = runmat.random.Generator(1)
    for size in (3, (2, 3), 5000, (70, 80)):
        assert rng.random(size).flags.owndata
        assert rng.integers(5, size=size).flags.owndata


@pytest.mark.parametrize(
    "out",
    [np.zeros(5), np.zeros((3, 4)), np.zeros((4, 3), order="F"), np.zeros(0), np.zeros(())],
    ids=lambda out: f"{out.shape}{out.strides}",
)
def test_out_is_filled_in_the_order_of_its_memory(out):
    rng = runmat.random.Generator(1)
    expected = runmat.random.Generator(1).random(out.size)
    assert rng.random(out=out) is out
    np.testing.assert_array_equal(out.ravel(order="K"), expected)
    assert rng.standard_normal(out.shape, out=out) is out


REFUSED = [
    lambda rng: rng.random(-1),
    lambda rng: rng.random((2, -1)),
    lambda rng: rng.random(3, dtype=np.int32),
    lambda rng: rng.random(3, dtype=np.float16),
    lambda rng: rng.random(3, dtype=">f8"),
    lambda rng: rng.standard_normal(3, dtype=int),
    lambda rng: rng.random(out=np.zeros(3, np.float32)),
    lambda rng: rng.random(2, out=np.zeros(3)),
    lambda rng: rng.random(out=np.zeros(6)[::2]),
    lambda rng: rng.random(out=np.broadcast_to(0.0, 3)),
    lambda rng: rng.integers(5, 5),
    lambda rng: rng.integers(0),
    lambda rng: rng.integers(6, 5, endpoint=True),
    lambda rng: rng.integers(-1, endpoint=True),
    lambda rng: rng.integers(2**40, dtype=np.int32),
    lambda rng: rng.integers(-1, 5, dtype=np.uint8),
    lambda rng: rng.integers(2**64 + 1, dtype=np.uint64),
    lambda rng: rng.integers(3, dtype=bool),
    lambda rng: rng.integers(9, dtype=float),
    lambda rng: rng.integers("a"),
    lambda rng: rng.integers(0, float("nan")),
    lambda rng: rng.integers(None),
]


@pytest.mark.parametrize("call", REFUSED)
def test_what_numpy_refuses_is_refused_in_its_words(call):
    ours, numpy = both()
    before = ours.state
    with pytest.raises((TypeError, ValueError)) as expected:
        call(numpy)
    with pytest.raises(expected.type) as found:
        call(ours)
    assert str(found.value) == str(expected.value)
    assert ours.state == before


@pytest.mark.parametrize("seed", [-1, [3, -1], 1.5, "a"])
def test_seeds_that_numpy_refuses_are_refused(seed):
    with pytest.raises((TypeError, ValueError)) as expected:
        np.random.default_rng(seed)
    with pytest.raises(expected.type) as found:
        runmat.random.default_rng(seed)
    assert str(found.value) == str(expected.value)


@pytest.mark.parametrize(
    "call",
    [
        lambda rng: rng.random(2.5),
        lambda rng: rng.random("ab"),
        lambda rng: rng.integers(3, size=2.0),
        lambda rng: rng.integers(3, size=2, dtype=">i4"),
    ],
)
def test_other_errors_are_of_the_same_type(call):
    ours, numpy = both()
    with pytest.raises((TypeError, ValueError)) as expected:
        call(numpy)
    with pytest.raises(expected.type):
        call(ours)


def test_arrays_as_bounds_and_lists_to_fill_are_refused():
    rng = runmat.random.Generator(1)
    with pytest.raises(TypeError, match="one low and one high"):
        rng.integers([1, 2], 5)
    with pytest.raises(TypeError, match="out must be an array, not list"):
        rng.random(out=[1.0])


def test_an_empty_draw_needs_no_numbers_between():
    assert runmat.random.Generator(1).integers(0, 0, size=0).shape == (0,)


def test_importing_the_package_does_not_load_random_numbers():
    code = (
        "import sys, runmat_jit\n"
        "bad = {'numpy.random', 'runmat_jit.random', 'runmat_jit.lower'} & {*sys.modules}\n"
        "assert not bad, bad\n"
        "assert runmat_jit.random.default_rng(1).random() < 1\n"
        "try: runmat_jit.nothing\n"
        "except AttributeError as error: assert 'nothing' in str(error)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


# -- distributions --------------------------------------------------------------------------------
def greatest_distance(numbers, distribution):
    """Kolmogorov and Smirnov's statistic times sqrt(n): above 1.95 once in a thousand."""
    exact = distribution(np.sort(numbers.astype(np.float64)))
    n = numbers.size
    steps = np.arange(n + 1) / n
    return max((exact - steps[:-1]).max(), (steps[1:] - exact).max()) * np.sqrt(n)


def in_deviations(values, mean, variance):
    """How many standard errors the mean of the values is off."""
    return abs(values.mean(dtype=np.float64) - mean) / np.sqrt(variance / values.size)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("seed", [1, 2])
def test_uniforms_are_uniform(dtype, seed):
    x = runmat.random.Generator(seed).random(MANY, dtype)
    assert x.min() >= 0
    assert x.max() < 1
    assert greatest_distance(x, lambda v: v) < 1.95
    assert in_deviations(x, 0.5, 1 / 12) < 4
    assert in_deviations((x - 0.5) ** 2, 1 / 12, 1 / 180) < 4
    assert_unrelated(x - x.dtype.type(0.5))


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("seed", [1, 2])
def test_normals_are_normal(dtype, seed):
    z = runmat.random.Generator(seed).standard_normal(MANY, dtype)
    assert greatest_distance(z, ndtr) < 1.95
    for power, mean, variance in ((1, 0, 1), (2, 1, 2), (3, 0, 15), (4, 3, 96)):
        assert in_deviations(z.astype(np.float64) ** power, mean, variance) < 4
    assert_unrelated(z)
    assert_unrelated(z * z - 1)  # both numbers of a pair have one radius and must not show it


def assert_unrelated(values):
    """Neighbors, the next block's numbers, and numbers far apart are not correlated."""
    x = values.astype(np.float64)
    for lag in (1, 2, 3, 4, 5, 8, 1000):
        product = x[lag:] * x[:-lag]
        assert abs(product.sum()) / np.sqrt((product**2).sum()) < 4, lag
    even, odd = x[::2], x[1::2]
    assert abs((even * odd).sum()) / np.sqrt((even**2 * odd**2).sum()) < 4


@pytest.mark.parametrize(("low", "high"), [(0, 2), (-3, 4), (0, 100), (-(2**62), 2**62 + 2**61)])
def test_integers_are_even_over_their_range(low, high):
    x = runmat.random.Generator(12).integers(low, high, MANY)
    assert x.min() >= low
    assert x.max() < high
    shares = ((x.astype(np.float64) - low) / (high - low) * min(high - low, 64)).astype(int)
    cells = min(high - low, 64)
    if high - low == 100:
        shares, cells = x, 100
    counts = np.bincount(shares, minlength=cells)
    expected = MANY / cells
    excess = ((counts - expected) ** 2 / expected).sum() - (cells - 1)
    assert abs(excess) < 4 * np.sqrt(2 * (cells - 1))


def test_streams_of_neighboring_seeds_and_positions_are_unrelated():
    draws = [runmat.random.Generator(seed).standard_normal(MANY // 4) for seed in range(6)]
    for one in range(6):
        for other in range(one):
            product = draws[one] * draws[other]
            assert abs(product.sum()) / np.sqrt((product**2).sum()) < 4.5


# -- in decorated functions -----------------------------------------------------------------------
def noisy(x, rng):
    y = np.exp(x) * 2
    z = rng.standard_normal(x.shape)
    return y + z * 0.5, rng.random(), rng.integers(3, size=2)


def walk(x, rng):
    for _ in range(3):
        x = x + 0.1 * rng.random(x.size)
        if x.sum() > 1:
            x = x * 0.5
    return x


def filling(x, rng):
    y = x * 2
    rng.random(out=y)
    return y + x


def seeded(x, rng):
    inner = runmat.random.default_rng(11)
    state = rng.state
    drawn = inner.random(x.shape) + rng.random(x.shape)
    rng.state = state
    return x * drawn + rng.random(x.shape)


def bound_to_names(x, rng):
    draw = rng.random
    return [draw(x.shape) * x for _ in range(2)]


PROGRAMS = (noisy, walk, filling, seeded, bound_to_names)


@pytest.mark.parametrize("function", PROGRAMS)
def test_decorated_functions_draw_what_undecorated_ones_draw(function):
    x = np.linspace(-1, 1, 9)
    decorated = runmat.jit(function)
    plain, captured = runmat.random.Generator(9), runmat.random.Generator(9)
    for call in range(4):
        expected, found = function(x + call, plain), decorated(x + call, captured)
        for one, other in zip(expected, found, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-14)
        assert plain.state == captured.state


SHARED = runmat.random.Generator(21)


@runmat.jit
def of_a_global(x):
    return x * SHARED.random(x.size, dtype=np.float32) + 1


def test_a_global_generator_goes_on_from_call_to_call():
    x = np.arange(5, dtype=np.float32)
    state = SHARED.state
    expected = [of_a_global.__wrapped__(x) for _ in range(3)]
    SHARED.state = state
    found = [of_a_global(x) for _ in range(3)]
    np.testing.assert_array_equal(found, expected)
    assert not np.array_equal(found[1], found[2])


# -- numbers for calls to come --------------------------------------------------------------------
CALLS = [
    lambda rng: rng.random(),
    lambda rng: rng.random(5),
    lambda rng: rng.random(5, np.float32),
    lambda rng: rng.random(5.0) if rng.state["state"]["counter"] % 2 else rng.random((5,)),
    lambda rng: rng.random((2, 3)),
    lambda rng: rng.random(0),
    lambda rng: rng.random(out=np.empty(5)),
    lambda rng: rng.random(1100),
    lambda rng: rng.standard_normal(),
    lambda rng: rng.standard_normal(7),
    lambda rng: rng.standard_normal(True),
    lambda rng: rng.integers(10),
    lambda rng: rng.integers(10, size=3),
    lambda rng: rng.integers(11, size=3),
    lambda rng: rng.integers(10, size=3, dtype=np.int8),
    lambda rng: rng.integers(2, dtype=bool),
    lambda rng: rng.exponential(2.0, 4),
    lambda rng: rng.choice(5),
    lambda rng: rng.standard_normal([2], "f4"),
]


def outcome(call, rng):
    try:
        return call(rng)
    except TypeError as error:
        return str(error)


@given(
    pattern=st.lists(st.integers(0, len(CALLS) - 1), min_size=1, max_size=4),
    others=st.lists(st.tuples(st.integers(0, 40), st.sampled_from(["call", "back", "key"]))),
)
def test_a_call_gives_what_it_gives_a_generator_that_has_made_no_other(pattern, others):
    """Calls that come again and again, between which others are made, or the state is set."""
    rng, between, taken = runmat.random.default_rng(3), dict(others), []
    for turn in range(40):
        what = between.get(turn)
        if what == "call":
            rng.random(turn)
        elif what is not None:
            state = rng.state
            state["state"]["counter" if what == "back" else "key"] = turn
            rng.state = state
        for number in pattern:
            fresh = runmat.random.default_rng(0)
            fresh.state = rng.state
            made, expected = outcome(CALLS[number], rng), outcome(CALLS[number], fresh)
            assert type(made) is type(expected)
            np.testing.assert_array_equal(made, expected, strict=True)
            assert rng.state == fresh.state
            if isinstance(made, np.ndarray):
                assert made.flags.writeable
                assert made.base is None or not any(np.shares_memory(made, x) for x in taken)
                taken = [*taken[-8:], made]
                made[...] = 0  # nobody else's


@pytest.mark.parametrize("step", [-1, 0, 1, 2, 3, 7])
def test_calls_between_which_the_state_is_set(step):
    rng = runmat.random.default_rng(3)
    for turn in range(12):
        fresh, state = runmat.random.default_rng(0), rng.state
        state["state"]["counter"] = 100 + step * turn
        rng.state = fresh.state = state
        np.testing.assert_array_equal(rng.random(5), fresh.random(5), strict=True)
        assert rng.random() == fresh.random()


def test_calls_of_threads_are_prepared_for_together():
    rng, alone = (runmat.random.default_rng(4) for _ in range(2))
    found = [[] for _ in range(4)]

    def draw(numbers):
        numbers.extend(rng.random() for _ in range(500))

    threads = [threading.Thread(target=draw, args=(numbers,)) for numbers in found]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    expected = [alone.random() for _ in range(2000)]
    assert sorted(x for numbers in found for x in numbers) == sorted(expected)
    assert rng.state == alone.state


def test_a_handler_of_signals_may_draw():
    rng, alone = (runmat.random.default_rng(5) for _ in range(2))
    taken = []
    before = signal.signal(signal.SIGALRM, lambda *_: taken.append(rng.random()))
    signal.setitimer(signal.ITIMER_REAL, 1e-4, 1e-4)
    try:
        while len(taken) < 50:
            taken.append(rng.random())
            taken.extend(rng.random() for _ in range(50))
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert sorted(taken) == sorted(alone.random() for _ in taken)
