"""Loops that draw from NumPy's own generators. Oracle: the undecorated function, with a seed.

The numbers, and where the generator is afterwards, are compared to the bit.
"""

import threading

import numpy as np
import pytest

import runmat_jit as runmat
from runmat_jit.core.generators import DRAWS
from runmat_jit.kernel.walk import every_instruction
from runmat_jit.loops import drawing, program, variant
from runmat_jit.loops.numpy_draws import DISTRIBUTIONS
from runmat_jit.runtime.session import current_session
from tests.capture.behavior import compare, observe
from tests.capture.plain_hooks import function_from

pytestmark = pytest.mark.sampled(9)

BITS = ("PCG64", "PCG64DXSM", "MT19937", "Philox", "SFC64")
N, STEPS = 7, 9


@pytest.fixture
def counted():
    """How often loops have run natively, and left, since the last question."""
    count, last = current_session().telemetry, {}

    def since():
        now = {name: count.snapshot()[name] for name in ("loops_run", "loops_left")}
        made = tuple(now[name] - last.get(name, 0) for name in now)
        last.update(now)
        return made

    since()
    return since


def half(rng):
    return rng.random() < 0.5


def made_of(body, result):
    lines = "\n        ".join(body.strip().split("\n"))
    text = f"def f(rng, x, n, steps):\n    a = 0.0\n    for t in range(steps):\n        {lines}\n"
    return function_from(f"{text}    return {result}\n", np=np, half=half)


def given(seed, bits="PCG64"):
    x = np.random.default_rng(seed).integers(-8, 9, N) * 0.25
    return np.random.Generator(getattr(np.random, bits)(seed)), x, N, STEPS


def states(*rngs):
    return [repr(rng.bit_generator.state) for rng in rngs]


def check(fn, calls=3, bits="PCG64"):
    """Values and what the generator is afterwards are those of plain Python."""
    decorated = runmat.jit(fn)
    for seed in range(calls):
        mine, its = given(seed, bits), given(seed, bits)
        compare(observe(fn, mine, {}), observe(decorated, its, {}))
        assert states(mine[0]) == states(its[0])


# -- what is drawn ---------------------------------------------------------------------------------
ARGUMENTS = {"a": "0.75", "b": "2.5", "shape": "1.5", "df": "3", "p": "0.3"}
CALLS = {
    name: ", ".join(ARGUMENTS[parameter] for parameter, default, _ in row.parameters if not default)
    if any(default is None for _, default, _ in row.parameters)
    else ""
    for name, row in DISTRIBUTIONS.items()
}
MORE = {
    "uniform": ("-1, 2", "t, high=t + 1", "-0.5", "high=x[0] + 9"),
    "normal": ("1, 2", "x[1], 0.5 + t", "scale=3", "loc=t"),
    "exponential": ("2", "scale=t + 0.5"),
    "gamma": ("0.5", "0.5, 3", "t + 1.0"),
    "beta": ("0.5, 0.5", "3, 0.2", "b=1, a=1"),
    "standard_gamma": ("0.5", "1", "7"),
    "poisson": ("0.5", "50", "1000"),
    "geometric": ("0.9", "1", "0.01"),
    "random": ("dtype=np.float32", "dtype='d'"),
    "standard_normal": ("dtype=np.float32",),
    "integers": (
        *("5", "-3, 4", "0, 2**40", "2**62", "-2**62, 2**62 - 1", "1", "len(x)", "t + 1"),
        *("0, 2**32", "2**32 - 1", "0, t, endpoint=True", "9, dtype=np.int64", "n"),
    ),
}
EVERY = [
    *((name, args) for name, args in CALLS.items()),
    *((name, args) for name, every in MORE.items() for args in every),
]


@pytest.mark.parametrize("bits", BITS)
@pytest.mark.parametrize(("name", "args"), EVERY)
def test_every_draw(name, args, bits, counted):
    """A number, a vector and a matrix of each distribution."""
    sized = f"{args}, size=" if args else "size="
    body = f"a = rng.{name}({args})\nx = x * 0.5 + a\ny = rng.{name}({sized}n)\nx = x - y"
    body += f"\nz = rng.{name}({sized}(2, n))\nx = x + z[0] * z[1]"
    check(made_of(body, "x, y, z, a"), bits=bits)
    if "2**62" not in args:  # Python's integers go on
        assert counted() == (3, 0)


def test_the_names_of_draws_are_known_where_loops_are_found():
    assert {*DISTRIBUTIONS, "integers", "choice", "permutation"} == DRAWS


def test_a_python_integer_is_drawn_where_one_is_asked_for(counted):
    check(made_of("a = rng.integers(9, dtype=int)\nx = x + a", "x, a"))
    assert counted() == (3, 0)


ORDERS = {
    "in a branch": "if x[t % n] > 0:\n    a += rng.normal()\nelse:\n    a -= rng.random()",
    "in a condition": "if half(rng) and rng.random() < 0.5 or rng.normal() > 0:\n    a += 1",
    "in an expression": "a += rng.random() if half(rng) else rng.normal()",
    "in a comparison": "a += 0.2 < rng.random() < rng.random()",
    "in an order": "a += rng.random() - 2 * rng.exponential() / rng.random()",
    "in an index": "x[rng.integers(n)] = rng.normal()",
    "in an inner loop": "for _ in range(rng.integers(4)):\n    a += rng.normal()",
    "until one is small": "while rng.random() > 0.3:\n    a += 1",
    "until the loop ends": "a += rng.random()\nif a > 3:\n    break",
    "that end the loop": "a += 1\nif rng.random() < 0.1:\n    break",
    "for the next turn": "if rng.random() < 0.5:\n    continue\na += rng.random()",
    "that nobody reads": "b = rng.random()\nc = rng.normal(size=n)\na += rng.random()",
    "of an argument": "a += rng.normal(rng.random(), rng.exponential())",
    "that are kept": "y = rng.random(n)\nz = rng.random(n)\nx = x + y - z\ny = z",
    "of two names": "other = rng\na += rng.random() - other.random()",
    "of a shape": "x = x + rng.random(x.shape)",
    "of a short array": "y = rng.normal(size=3)\na += y[0] * y[1] - y[2]",
    "as many as are told": "b = rng.random(steps)\nc = rng.random((steps, n))\na += b[0] * c[1, 2]",
    "of some": "a += rng.choice(5) - rng.choice(x) * rng.choice([-1, 1]) + rng.choice((0.5, t))",
    "a permutation": "x = rng.permutation(x)\na += rng.random()",
    "a permutation of integers": "y = rng.permutation(n)\na += x[y[0]] + rng.permutation(5)[1]",
    "a shuffle": "rng.shuffle(x)\na += rng.normal()",
    "a shuffle of a part": "rng.shuffle(x[1:t])\nrng.shuffle(x[::2])\nrng.shuffle(x[::-1])",
    "a shuffle of its own": "y = x * 2\nrng.shuffle(y)\nx[0] = y[1]",
    "of places": "x[t % n] = rng.random(len(x))[1] if n > 1 else 0",
}


@pytest.mark.parametrize("name", ORDERS)
def test_every_order(name, counted):
    check(made_of(ORDERS[name], "x, a"))
    assert counted() == (3, 0) or name == "of places"


@pytest.mark.parametrize("size", [-1, 0, 1, 2, 5, 10**15])
@pytest.mark.parametrize("steps", [0, 3])
def test_any_number_that_is_told(size, steps):
    def fn(rng, size, steps):
        a = 0.0
        for _ in range(steps):
            b = rng.random(size)
            a += b.sum() + rng.random()
        return a

    decorated = runmat.jit(fn)
    for seed in range(3):
        mine, its = given(seed)[0], given(seed)[0]
        compare(observe(fn, (mine, size, steps), {}), observe(decorated, (its, size, steps), {}))
        assert states(mine) == states(its)


@pytest.mark.parametrize("number", ["x.sum()", "int(x.sum())", "len(x) * 2", "x[0]", "x.max() - 2"])
def test_numbers_that_the_function_computes(number):
    """Nobody knows them when the loop is looked at, or only what they are now."""
    fn = function_from(
        f"def f(rng, x):\n    n, a = {number}, 0.0\n    for t in range(9):\n"
        "        a += rng.random(n).sum()\n    return a\n",
        np=np,
    )
    decorated = runmat.jit(fn)
    for extent in (3, 3, 4, 3, 5, 2):
        mine, its = given(extent)[0], given(extent)[0]
        args = (np.arange(extent) + 1,)
        compare(observe(fn, (mine, *args), {}), observe(decorated, (its, *args), {}))
        assert states(mine) == states(its)


def test_a_walk_of_many_slices(counted, monkeypatch):
    monkeypatch.setattr(variant, "SLICE", 0.0)
    monkeypatch.setattr(variant, "_FIRST_SLICE", 3)
    check(made_of("for _ in range(40):\n    a += rng.normal()", "a"))
    assert counted() == (3, 0)


# -- endings ---------------------------------------------------------------------------------------
ENDINGS = {
    "a deviation becomes negative": "a += rng.normal(0, 5.5 - t)",
    "a deviation is zero": "a += rng.normal(0, 5 - t)",
    "an interval becomes empty": "a += rng.integers(6 - t)",
    "an interval is turned": "a += rng.uniform(t, 5.5)",
    "an interval is infinite": "a += rng.uniform(0, 1 if t < 5 else np.inf)",
    "a shape is no number": "a += rng.gamma(np.nan if t > 5 else 1.0)",
    "a chance is too large": "a += rng.geometric(0.2 * t + 0.1)",
    "there is nothing to choose": "a += rng.choice(x[t:])",
    "there is no number to choose": "a += rng.choice(5 - t)",
    "an index is out of range": "a += rng.random() + x[t]",
    "NumPy warns": "a += rng.random()\nx[0] = 1 / x[1]\nx[1] = x[1] * (t < 5)",
    "an integer is too large": "b = rng.integers(2**62)\na = b * 2**t",
    "an exception is caught": "try:\n    a += rng.random() + x[t]\nexcept IndexError:\n    a = -a",
}


@pytest.mark.parametrize("name", ENDINGS)
def test_every_ending(name):
    """What has been drawn before the loop ends, or leaves, is drawn once."""
    check(made_of(ENDINGS[name], "x, a"), calls=6)


ELSEWHERE = {
    "a choice of some": "x = x + rng.choice(x, 7)",
    "a choice of rows": "a += rng.choice(np.ones((2, 2)))[0]",
    "a choice by chances": "a += rng.choice(2, p=[0.25, 0.75])",
    "a permutation of rows": "y = rng.permutation(np.ones((3, 2)))\na += y[0, 0]",
    "a shuffle of rows": "y = np.outer(x, x)\nrng.shuffle(y)\na += y[0, 1]",
    "a shuffle of a list": "y = [1, 2, 3]\nrng.shuffle(y)",
    "a shuffle along an axis": "rng.shuffle(x, axis=0)",
    "a binomial number": "a += rng.binomial(5, 0.3)",
    "means for each": "x = x + rng.normal(x, 1)",
    "another dtype": "a += rng.integers(5, dtype=np.int32)",
    "floats for integers": "a += rng.integers(5.0)",
    "into an array": "rng.random(out=x)",
    "a method by another name": "draw = rng.random\na += draw()",
    "a state": "a += rng.bit_generator.state['has_uint32']",
    "a size that is too large": "a += rng.random(n * 10**15)[0] if t > 99 else 1",
    "a truth value for a size": "a += rng.random(n > 1)[0]",
    "an argument too many": "a += rng.random(None, 'd', None, 1)",
    "a dtype that there is not": "a += rng.standard_cauchy(dtype=None)",
    "a size that changes": "a += rng.random(t + 1)[0]",
    "no size": "x = x + rng.random(())",
    "a negative size": "x = x + rng.random(-n)",
}


@pytest.mark.parametrize("name", ELSEWHERE)
def test_other_draws_are_those_of_python(name):
    check(made_of(ELSEWHERE[name], "x, a"))


def test_generators_of_other_classes_are_left_to_python(counted):
    class Own(np.random.Generator):
        def random(self):
            return 0.5

    class Bits(np.random.PCG64):
        pass

    fn = made_of("a += rng.random()", "a")
    decorated = runmat.jit(fn)
    for kind, bits in ((Own, np.random.PCG64), (np.random.Generator, Bits)):
        mine, its = (kind(bits(3)) for _ in range(2))
        rest = given(1)[1:]
        compare(observe(fn, (mine, *rest), {}), observe(decorated, (its, *rest), {}))
        assert states(mine) == states(its)
    assert counted()[0] == 0


# -- several generators ----------------------------------------------------------------------------
def two(first, second, steps):
    a = 0.0
    for _ in range(steps):
        a = 0.5 * a + first.random() - second.normal()
    return a


def test_two_generators(counted):
    decorated = runmat.jit(two)
    for seed in range(3):
        (a, *_), (b, *_), (c, *_), (d, *_) = (given(s) for s in (seed, 9, seed, 9))
        assert two(a, b, 9) == decorated(c, d, 9)
        assert states(a, b) == states(c, d)
    assert counted() == (3, 0)


def test_two_generators_of_the_same_bits(counted):
    """They draw by turns, whoever is asked."""
    decorated = runmat.jit(two)
    for seed in range(3):
        pairs = []
        for _ in range(2):
            first = given(seed)[0]
            pairs.append((first, np.random.Generator(first.bit_generator)))
        assert two(*pairs[0], 9) == decorated(*pairs[1], 9)
        assert states(pairs[0][0]) == states(pairs[1][0])
    assert counted() == (3, 0)


def test_one_of_ours_and_one_of_numpys(counted):
    decorated = runmat.jit(two)
    for seed in range(3):
        ours = [runmat.random.default_rng(seed) for _ in range(2)]
        numpys = [given(seed)[0] for _ in range(2)]
        assert two(ours[0], numpys[0], 9) == decorated(ours[1], numpys[1], 9)
        assert (ours[0].state, *states(numpys[0])) == (ours[1].state, *states(numpys[1]))
    assert counted() == (3, 0)


@pytest.mark.parametrize("place", [0, 1])
def test_a_draw_of_another_thread_is_not_lost(monkeypatch, place):
    """Where others draw from one meanwhile, the run counts for nothing, and all stay."""
    decorated = runmat.jit(two)
    decorated(given(1)[0], given(2)[0], 9)
    rngs, drawn, finish = [given(1)[0], given(2)[0]], [], variant.Variant.finish

    def meanwhile(*args, **kwargs):
        if not drawn:
            other = threading.Thread(target=lambda: drawn.append(rngs[place].random()))
            other.start()
            other.join()
        return finish(*args, **kwargs)

    monkeypatch.setattr(variant.Variant, "finish", meanwhile)
    found = decorated(*rngs, 9)
    again = [given(1)[0], given(2)[0]]
    assert again[place].random() == drawn[0]
    assert two(*again, 9) == found
    assert states(*again) == states(*rngs)


def test_threads_have_the_numbers_of_one_after_the_other():
    """Each number is drawn by one of them."""
    rng, found = given(5)[0], []

    def fn(rng, steps):
        drawn = np.zeros(steps)
        for t in range(steps):
            drawn[t] = rng.random()
        return drawn

    decorated = runmat.jit(fn)
    threads = [
        threading.Thread(target=lambda: found.append(decorated(rng, 2000))) for _ in range(4)
    ]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    again = given(5)[0].random(8000)
    assert np.sort(np.concatenate(found)).tolist() == np.sort(again).tolist()


# -- where generators come from --------------------------------------------------------------------
def test_generators_of_the_function_the_module_and_an_object(counted):
    class Model:
        def __init__(self, seed):
            self.rng = np.random.default_rng(seed)

    shared = np.random.default_rng(4)

    def fn(model, seed, steps):
        own, a = np.random.default_rng(seed), 0.0
        for _ in range(steps):
            a = 0.5 * a + own.random() - model.rng.normal() * shared.random()
        return a, own.random(), shared.random()

    decorated, state = runmat.jit(fn), shared.bit_generator.state
    for seed in range(4):
        shared.bit_generator.state = state
        expected = fn(Model(seed), seed, 9)
        after, shared.bit_generator.state = states(shared), state
        assert decorated(Model(seed), seed, 9) == expected
        assert states(shared) == after
    assert counted()[0] == 4


def test_loops_between_other_draws_are_replayed(counted):
    def fn(rng, x, n, steps):
        x = x + rng.random(n)
        for t in range(steps):
            x[t % n] = rng.normal()
        return x * rng.random(n), rng.random()

    check(fn, calls=5)
    assert counted() == (5, 0)


def test_no_kernel_has_an_address_in_it(monkeypatch):
    """Its code is kept for other processes, where functions lie elsewhere."""
    kernels, compiled = [], program.LoopCall.code

    def code(call, kernel):
        kernels.append(kernel)
        return compiled(call, kernel)

    monkeypatch.setattr(program.LoopCall, "code", code)
    matrix = np.eye(3)

    def fn(rng, x, steps):
        for _ in range(steps):
            x = matrix @ x + rng.random(3) + rng.exponential() + rng.integers(9)
        return x

    runmat.jit(fn)(np.random.default_rng(1), np.ones(3), 9)
    called = [i for kernel in kernels for i in every_instruction(kernel.body) if i.op == "invoke"]
    assert len(called) >= 4
    assert all(instruction.args[0].literal is None for instruction in called)


def test_what_numpy_does_not_export_is_left_to_python(monkeypatch, counted):
    """As on systems where a module's functions are its own."""
    from runmat_jit.loops import numpy_functions  # noqa: PLC0415  (its cache is not to be changed)

    monkeypatch.setattr(numpy_functions, "address_of", lambda _name: None)
    check(made_of("a += rng.random()", "a"))
    assert counted()[0] == 0


def test_copies_are_used_again():
    """One generator of bits of each class is enough, in one thread."""
    check(made_of("a += rng.random()", "a"), calls=6)
    assert len(drawing._SPARE[np.random.PCG64]) == 1
