"""Variances: block moments, in one read. Oracles: exact sums, the same graph without fusion and on
other devices, to the bit, and NumPy's warnings."""

import itertools
import math
import warnings
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import runmat_jit as runmat
from runmat_jit.core.types import TensorType
from runmat_jit.graph.apply import apply
from runmat_jit.graph.node import Fresh, GraphBuilder, Output
from runmat_jit.graph.text import to_text
from runmat_jit.lower.lower import lower_plan
from runmat_jit.ops.table import ROWS
from runmat_jit.passes.pipeline import optimize
from runmat_jit.plan.argument import NodeBuffer
from runmat_jit.plan.device import CPU, Device
from runmat_jit.plan.make_plan import make_plan
from tests.graph.random_graphs import bits_equal
from tests.lower.execute import compiled, execute, regions

pytestmark = pytest.mark.sampled(3)

GPU = Device("gpu")
SHAPES = (
    ((16_385,), (0,)),
    ((257, 33), (0,)),
    ((300, 5), (0,)),
    ((1_000, 70), (0,)),
    ((3, 20_000), (1,)),
    ((3, 9_000), (0, 1)),
    ((40, 3, 500), (0, 2)),
    ((20, 30, 40, 3), (0, 1, 2)),
    ((2, 700, 5), (1,)),
    ((37, 500), (0,)),
    ((37, 500), (0, 1)),
    ((300, 7), (0, 1)),
    ((600, 4, 3), (0, 2)),
)
"""With the axes that are reduced: rows and columns of several cells, whole and with a rest; one
cell and then others; and what is read twice: one cell has it all, or few elements lie together."""
USERS = ("alone", "with the mean", "standardized", "of a computed value", "of two")


@dataclass
class Case:
    """A program that asks for variances, and data for it."""

    shape: tuple
    axes: tuple
    dtype: str = "float32"
    order: str = "C"
    user: str = "alone"

    def graph(self):
        shape, order = self.shape, self.order
        builder, kind = GraphBuilder(), TensorType(np.dtype(self.dtype), shape)
        inner = [shape[a + 1 :] if order == "C" else shape[:a] for a in range(len(shape))]
        x = builder.input(ROWS["input"], kind, tuple(map(math.prod, inner)), None)

        def make(name, *args, **params):
            made = apply(name, *args, **params)
            return builder.make(made.op, made.args, made.params, made.type)

        def reduced(name, x, **params):
            return make(name, x, axis=self.axes, keepdims=True, **params)

        y = make("multiply", make("sin", x), x) if self.user == "of a computed value" else x
        wanted = [reduced("var", y, ddof=0)]
        if self.user == "with the mean":
            wanted += [reduced("mean", y, dtype=None), reduced("std", y, ddof=0)]
        if self.user in ("standardized", "of a computed value"):
            rest = make("subtract", y, reduced("mean", y, dtype=None))
            wanted += [make("divide", rest, make("sqrt", wanted[0]))]
        if self.user == "of two":
            rest = make("subtract", y, reduced("mean", y, dtype=None))
            wanted += [make("var", rest, axis=self.axes, keepdims=False, ddof=0)]
        outputs = [Output(node, Fresh(tuple(range(node.type.ndim)))) for node in wanted]
        return optimize(builder.finish(outputs))

    def data(self, seed, offset, special=0):
        rng = np.random.default_rng(seed)
        x = rng.normal(offset, 1, self.shape)
        odd = [math.inf, -math.inf, math.nan, -0.0, 0.0, 1e30, -1e30]
        at = rng.integers(0, x.size, special)
        x.reshape(-1)[at] = rng.choice(odd, special)
        return np.asarray(x, self.dtype, order=self.order)


CASES = st.builds(
    lambda what, *others: Case(*what, *others),
    st.sampled_from(SHAPES),
    st.sampled_from(["float32", "float64"]),
    st.sampled_from("CF"),
    st.sampled_from(USERS),
)


@given(CASES, st.sampled_from([0.0, 1.0, 1e4]), st.integers(0, 3), st.integers(0, 2**20))
@settings(max_examples=max(24, settings.default.max_examples))
def test_bits_depend_neither_on_fusion_nor_on_the_device(case, offset, special, seed):
    graph, x = case.graph(), case.data(seed, offset, special)
    with np.errstate(all="ignore"):
        expected, _ = execute(graph, [x], run=compiled)
        for disabled, device in (
            (("elementwise",), CPU),
            (("map_reduce_broadcast",), CPU),
            ((), GPU),
        ):
            found, _ = execute(graph, [x], disabled, run=compiled, device=device)
            assert all(map(bits_equal, expected, found)), (to_text(graph), disabled, device)


@pytest.mark.parametrize(("shape", "axes"), SHAPES)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_variances_are_those_of_exact_sums(shape, axes, dtype):
    """However far the mean is from zero, and where a column begins with something else."""
    case = Case(shape, axes, dtype)
    for offset, first in ((1e4, 0.0), (1.0, 1e4)):
        x = case.data(1, offset)
        x[tuple(0 if a in axes else slice(None) for a in range(len(shape)))] += first
        (found,), _ = execute(case.graph(), [x], run=compiled)
        expected = exact_variance(x, axes)
        error = abs(float(Fraction(float(found.flat[0])) / expected - 1))
        assert error <= 16 * np.finfo(dtype).eps, (offset, first, error)


def exact_variance(x, axes):
    """Of the first of the groups of elements."""
    group = x[tuple(slice(None) if a in axes else 0 for a in range(x.ndim))]
    values = [Fraction(float(v)) for v in group.ravel()]
    mean = sum(values) / len(values)
    return sum((v - mean) ** 2 for v in values) / len(values)


@pytest.mark.parametrize("value", [0.1, -3e5, 0.0, 1e-38])
@pytest.mark.parametrize(("shape", "axes"), SHAPES)
def test_equal_elements_have_no_variance_below_zero(shape, axes, value):
    x = np.full(shape, value, np.float32)
    (found,), _ = execute(Case(shape, axes).graph(), [x], run=compiled)
    assert not np.signbit(found).any()
    assert np.all(found <= np.square(16 * np.spacing(np.float32(abs(value)))))


@pytest.mark.parametrize("device", [CPU, GPU])
@pytest.mark.parametrize(("shape", "axes"), SHAPES[:8])
def test_elements_are_read_once_for_all_moments_and_once_for_what_uses_them(shape, axes, device):
    for user, reads in (("alone", 1), ("with the mean", 1), ("standardized", 2)):
        graph = Case(shape, axes, user=user).graph()
        assert kernels_that_read_the_input(graph, device) == reads, user


def kernels_that_read_the_input(graph, device):
    (x,) = graph.inputs
    plan = make_plan(graph, regions(graph, device=device), device)
    kernels = [launch for region in lower_plan(plan) for launch in region]
    return sum(
        any(isinstance(a, NodeBuffer) and a.node is x for a in launch.arguments)
        for launch in kernels
    )


def test_what_a_program_writes_out_keeps_its_two_passes():
    def written_out(x):
        return np.mean(np.square(x - np.mean(x)))

    x = np.random.default_rng(1).normal(5, 2, 100_000)
    mean = runmat.jit(np.mean)(x)
    squares = runmat.jit(lambda x, mean: np.mean(np.square(x - mean)))(x, mean)
    assert runmat.jit(written_out)(x) == squares


BIG = 1e30
EVENTS = {
    "nothing": [],
    "a NaN": [math.nan],
    "an infinity": [math.inf],
    "infinities": [math.inf, -math.inf],
    "an infinity and a NaN": [math.inf, math.nan],
    "squares too large": [BIG, -BIG],
    "a sum too large": [3e38, 3e38, 3e38],
}


@pytest.mark.parametrize("name", EVENTS)
@pytest.mark.parametrize("place", [0, 700])
@pytest.mark.parametrize(
    ("shape", "axes"), [((70_000,), 0), ((1_000, 3), 0), ((40, 3, 500), (0, 2))]
)
def test_events_are_numpys_at_every_call(name, place, shape, axes):
    """Whether kernels note results or rises: calls with and without events take turns."""

    def deviation(x):
        return np.std(x, axis=axes)

    fast, calm = runmat.jit(deviation), np.random.default_rng(2).normal(size=shape)
    odd = calm.astype(np.float32)
    odd.reshape(-1)[place : place + len(EVENTS[name])] = EVENTS[name]
    for x in itertools.chain([odd] * 4, [calm.astype(np.float32)], [odd] * 3):
        assert reports(fast, x) == reports(deviation, x)


def reports(function, x):
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        result = function(x)
    return sorted(str(each.message) for each in seen), np.isnan(result).tolist()
