"""Programs that see state around them: globals, defaults, closures, attributes, containers."""

import numpy as np

from tests.parity.program import normal, program, two_normal

GAIN = 1.5
SETTINGS = {"low": -1.0, "high": 1.0}
WEIGHTS = np.linspace(0.0, 1.0, 5)


def normal_and_gain(rng, shape, dtype):
    """An array; the module's gain changes with the data."""
    global GAIN
    GAIN = float(rng.uniform(1.0, 3.0))
    return normal(rng, shape, dtype)


def normal_and_settings(rng, shape, dtype):
    SETTINGS["high"] = float(rng.uniform(0.1, 1.0))
    return normal(rng, shape, dtype)


def normal_and_weights(rng, shape, dtype):
    WEIGHTS[:] = rng.normal(size=5)
    return normal(rng, shape, dtype)


@program(normal_and_gain)
def amplify(x):
    y = x * GAIN
    return np.minimum(y, GAIN)


@program(normal_and_settings)
def limit_by_settings(x):
    return np.clip(x, SETTINGS["low"], SETTINGS["high"])


@program(normal_and_weights)
def weigh_with_module_array(x):
    head = x[:5] * WEIGHTS
    return head.sum(), head


def make_scaler(factor):
    def scale(values):
        return values * factor

    return scale


@program(normal)
def closures(x):
    double, triple = make_scaler(2.0), make_scaler(3.0)
    return double(x) + triple(x), double(x[::2])


class Affine:
    def __init__(self, slope, offset):
        self.slope, self.offset = slope, offset

    def __call__(self, x):
        return self.slope * x + self.offset

    def inverse(self, y):
        return (y - self.offset) / self.slope


@program(normal)
def objects_with_methods(x):
    transform = Affine(2.5, -1.0)
    y = transform(x)
    return y, transform.inverse(y)


@program(lambda rng, shape, dtype: ({"x": rng.normal(size=shape).astype(dtype), "n": 3},))
def dictionary_argument(state):
    state["x"] = state["x"] * state["n"]
    state["total"] = state["x"].sum()
    return state


@program(lambda rng, shape, dtype: ([rng.normal(size=shape).astype(dtype) for _ in range(3)],))
def list_argument(parts):
    parts.append(parts[0] + parts[1])
    parts[2] *= 2
    return sum(parts)


@program(two_normal)
def swap_in_place(a, b):
    a[:], b[:] = b.copy(), a.copy()
    return a is b


@program(lambda rng, shape, dtype: ((rng.normal(size=shape).astype(dtype),), {"power": 3}))
def keyword_only(x, *, power=2, root=False):
    y = np.abs(x) ** power
    return np.sqrt(y) if root else y


@program(normal)
def variable_arguments(*arrays, **options):
    scale = options.get("scale", 2)
    return [a * scale for a in arrays]
