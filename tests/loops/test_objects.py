"""Lists of objects in native loops. Oracle: the undecorated functions, on objects made alike.

All that the objects hold is compared to the bit, with the identity of their arrays.
"""

import ast
import itertools
from contextlib import suppress
from types import SimpleNamespace

import numpy as np
import pytest

import runmat_jit as runmat
from runmat_jit.loops import objects
from runmat_jit.loops.source import Chain, find_loops
from tests.capture.behavior import module, observe

pytestmark = pytest.mark.usefixtures("steps_aside")


@pytest.fixture(autouse=True)
def any_list(monkeypatch, request):
    """However little a loop does, its objects are packed."""
    if "pays" not in request.fixturenames:
        monkeypatch.setattr(objects, "ARRAY", 0)
        monkeypatch.setattr(objects, "NUMBER", 0)


CLASS = """
import numpy as np

class Body:
    scale = 0.5

    def __init__(self, number, rng):
        self.r, self.v = rng.integers(-9, 9, (2, 3)) * 0.25
        self.r, self.v = self.r.copy(), self.v.copy()
        self.m, self.n, self.on = 1.0 + number, number, number % 2 == 0
        self.q = np.float64(number * 0.5)
        self.w = rng.integers(-9, 9, (2, 4)) * 0.5
        self.name = f"body {number}"

    def kick(self, dt, by=2.0):
        self.v += dt * self.r * by
        self.n += 1

    def energy(self):
        return 0.5 * self.m * (self.v[0] ** 2 + self.v[1] * self.v[2])

    def heavy(self, limit):
        if self.m > limit:
            return self.m - limit
        return 0.0

    def both(self):
        self.kick(0.25)
        return self.energy()

def share(world):
    for b, o in zip(world.bodies, world.walls):
        o.r = b.r

class World:
    def __init__(self, count, seed=0):
        rng = np.random.default_rng(seed)
        self.bodies = [Body(number, rng) for number in range(count)]
        self.dt, self.total = 0.25, 0.0
"""
BODIES = {
    "in place": "b.v += world.dt * b.r / b.m\nb.r += world.dt * b.v",
    "numbers": "b.m = b.m * 0.5 + i\ns += b.m",
    "numbers in place": "b.m += 0.5\nb.n -= 2\nb.q *= 1.5",
    "truth values": "b.on = not b.on\nif b.on:\n    s += 1.0",
    "elements": "b.v[0] = b.r[1] * b.m\nb.v[i % 3] += 1.0",
    "all elements": "b.r[:] = 0.0\nb.w[:] = b.w * 2.0",
    "rows": "b.w[1] += b.w[0]\ns += b.w[0, 2]",
    "sums": "s += np.sum(b.r * b.v) + b.w.sum()",
    "pairs": "for o in world.bodies:\n    if o is not b:\n        b.v += (o.r - b.r) * o.m",
    "pairs by index": "for j in range(len(world.bodies)):\n    s += world.bodies[j].m * b.n",
    "the same one": "for o in world.bodies:\n    if o is b:\n        s += o.m",
    "methods": "b.kick(0.5)\ns += b.energy()",
    "keywords": "b.kick(by=1.5, dt=0.125)",
    "methods of methods": "s += b.both() + b.heavy(2.0)",
    "names": "r = b.r\nr += 1.0\ns += r[0]",
    "breaks": "if b.m > 3.0:\n    break\nb.v *= 2.0",
    "numbers of NumPy's": "b.q = b.q + b.r[0]",
    "ufuncs": "np.add(b.r, b.v, out=b.r)\nnp.multiply(b.r, 0.5, out=b.r)",
    # what stays Python's
    "another class": "b.n = b.n + 0.5",
    "another array": "b.r = b.r + 1.0",
    "text": "s += len(b.name)",
    "of the class": "s += b.scale * b.m",
    "a new attribute": "b.extra = b.m",
    "an exception": "s += 1.0 / b.n",
    "an index": "s += b.v[i + 1]",
    "too large": "b.n = b.n + 9223372036854775806",
}
NATIVE = [*itertools.takewhile(lambda name: name != "another class", BODIES)]


def program(body):
    """Return a module with a function that runs a body for all objects, some times."""
    lines = "\n".join(f"            {line}" for line in body.split("\n"))
    return CLASS + (
        "\ndef f(world, n):\n    s = 0.0\n    for i in range(n):\n"
        f"        for b in world.bodies:\n{lines}\n    return s\n"
    )


def facts(world):
    """Return all that the objects of a world hold."""
    return [
        {n: (type(v), np.asarray(v).dtype, np.asarray(v).tolist()) for n, v in vars(body).items()}
        for body in world.bodies
    ]


def arrays(world):
    return [v for body in world.bodies for v in vars(body).values() if type(v) is np.ndarray]


def direct(space):
    """Return the form of a program in which loops alone are compiled."""
    decorated = runmat.jit(space["f"])
    with suppress(ArithmeticError, IndexError):
        decorated(space["World"](2), 1)
    return decorated._captured[1].direct_form()


def compared(text, counts=(5, 1, 2, 0, 5), change=lambda _world: None):
    """Compare calls of both forms of a program on worlds of several sizes."""
    plain, ours = module(text), module(text)
    form = direct(ours)
    for count in counts:
        worlds = [each["World"](count) for each in (plain, ours)]
        for world in worlds:
            change(world)
        before = [arrays(world) for world in worlds]
        expected, found = observe(plain["f"], (worlds[0], 3), {}), observe(form, (worlds[1], 3), {})
        assert (found.error, repr(found.result)) == (expected.error, repr(expected.result))
        assert facts(worlds[1]) == facts(worlds[0])
        kept = [
            [a is b for a, b in zip(arrays(world), old, strict=False)]
            for world, old in zip(worlds, before, strict=True)
        ]
        assert kept[0] == kept[1]


@pytest.mark.parametrize("body", BODIES)
def test_what_loops_do_with_objects(body):
    compared(program(BODIES[body]))


@pytest.mark.parametrize("body", NATIVE)
def test_they_run_natively(natively, body):
    space = module(program(BODIES[body]))
    form = direct(space)
    natively()
    for _ in range(3):
        form(space["World"](5), 3)
    assert natively() >= 3


def shared(world):
    world.bodies[0].r = world.bodies[-1].r


def of_one_matrix(world):
    matrix = np.arange(3.0 * len(world.bodies)).reshape(-1, 3)
    for body, row in zip(world.bodies, matrix, strict=True):
        body.r = row


def of_another_attribute(world):
    for body in world.bodies:
        body.r = body.w[0, :3]


def of_several_shapes(world):
    world.bodies[0].v = np.ones(4)


def of_several_classes(world):
    world.bodies[0].m = 2


def without_one(world):
    del world.bodies[0].m


def twice(world):
    world.bodies.append(world.bodies[0])


def with_another(world):
    world.bodies.append(type("Other", (), dict(vars(world.bodies[0])))())


def read_only(world):
    world.bodies[0].v.flags.writeable = False


def a_tuple(world):
    world.bodies = tuple(world.bodies)


CHANGES = (
    *(shared, of_one_matrix, of_another_attribute, of_several_shapes, of_several_classes),
    *(without_one, twice, with_another, read_only, a_tuple),
)


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("body", ["in place", "all elements", "sums", "pairs", "methods"])
def test_objects_that_are_not_alike_or_share_memory(body, change):
    compared(program(BODIES[body]), (5, 2), change)


CLASSES = {
    "a property": "    @property\n    def m(self):\n        return 2.0\n    @m.setter\n"
    "    def m(self, value):\n        pass\n",
    "getattr": "    def __getattr__(self, name):\n        raise AttributeError(name)\n",
    "getattribute": "    def __getattribute__(self, name):\n"
    "        return object.__getattribute__(self, name)\n",
    "setattr": "    def __setattr__(self, name, value):\n"
    "        object.__setattr__(self, name, value * 1)\n",
    "a method that writes": "    def energy(self):\n        self.m += 1.0\n        return self.m\n",
    "a class method": "    @classmethod\n    def energy(cls):\n        return 1.0\n",
    "equal ones": "    def __eq__(self, other):\n        return True\n    __hash__ = None\n",
}


@pytest.mark.parametrize("what", CLASSES)
@pytest.mark.parametrize("body", ["numbers", "methods", "pairs"])
def test_classes_that_do_more(body, what):
    text = program(BODIES[body]).replace("class World", f"{CLASSES[what]}\nclass World")
    if what == "setattr":
        text = text.replace('self.name = f"body {number}"', "")
    compared(text)


OTHERS = {
    "two lists of the same": ("world.walls = list(world.bodies)", "for o in world.walls:"),
    "a list of some": ("world.walls = world.bodies[::2]", "for o in world.walls:"),
    "others": ("world.walls = World(3, 9).bodies", "for o in world.walls:"),
    "others with these arrays": (
        "world.walls = World(5, 9).bodies\n    share(world)",
        "for o in world.walls:",
    ),
    "one by name": ("o = world.bodies[-1]", "for _ in range(1):"),
}


@pytest.mark.parametrize("what", OTHERS)
@pytest.mark.parametrize("body", ["b.m += o.m", "b.r += o.r", "o.n += b.n\n    s += o.r[0]"])
def test_objects_that_are_reached_in_several_ways(body, what):
    prepared, head = OTHERS[what]
    text = program(f"{head}\n    {body}")
    compared(text.replace("    s = 0.0\n    for", f"    s = 0.0\n    {prepared}\n    for"))


def test_a_method_of_the_class_is_read_anew():
    text = program("s += b.energy()") + (
        "\ndef change():\n    Body.energy = lambda self: self.m * 4.0\n"
    )
    plain, ours = module(text), module(text)
    form = direct(ours)
    for number in range(4):
        if number == 2:
            plain["change"]()
            ours["change"]()
        assert form(ours["World"](5), 3) == plain["f"](plain["World"](5), 3)


def test_a_run_that_may_not_store_to_views_stores_to_nothing():
    """Nothing is done twice: a matrix is stored to beside the rows of another one."""
    text = program("world.sums[0] += b.m\nb.r += 1.0")
    text = text.replace(
        "self.dt, self.total", "self.sums = np.zeros(3)\n        self.dt, self.total"
    )
    plain, ours = module(text), module(text)
    form = direct(ours)
    for _ in range(3):
        worlds = [each["World"](5) for each in (plain, ours)]
        for world in worlds:
            of_one_matrix(world)
        plain["f"](worlds[0], 3)
        form(worlds[1], 3)
        assert worlds[1].sums.tolist() == worlds[0].sums.tolist()
        assert facts(worlds[1]) == facts(worlds[0])


def test_arrays_of_the_caller_that_objects_show():
    """A row of a matrix that the loop itself stores to: Python runs the loop."""
    text = program("matrix[0] += 1.0\ns += b.r[0]").replace(
        "f(world, n)", "f(world, n, matrix=None)"
    )
    text = text.replace("    s = 0.0\n    for", "    s = 0.0\n    matrix = world.matrix\n    for")

    def change(world):
        world.matrix = np.zeros((len(world.bodies) + 1, 3))
        for number, body in enumerate(world.bodies):
            body.r = world.matrix[number]

    text = text.replace(
        "self.dt, self.total", "self.matrix = np.zeros((3, 3))\n        self.dt, self.total"
    )
    compared(text, (5, 2), change)


@pytest.mark.parametrize(
    ("body", "count", "pays"),
    [
        ("s += b.m * b.q", 3000, False),
        ("b.r += 1.0", 500, False),
        ("for o in world.bodies:\n    b.v += o.r * o.m", 30, True),
    ],
)
def test_objects_are_packed_where_python_takes_longer(body, count, pays):
    """A pass over numbers takes less time in Python than packing them does."""
    space = module(program(body))
    lines = ast.parse(program(body))
    function = next(node for node in lines.body if getattr(node, "name", "") == "f")
    (outer, *_) = find_loops(function, lambda name: "glob" if name == "np" else "local").values()
    lists = {Chain("world", ("bodies",)): space["World"](count).bodies}
    converter = SimpleNamespace(undecorated=lambda _fn: None, helper=lambda _fn: None)
    found = objects.packs_of(lists, {Chain("n"): 1}, outer, converter)
    assert bool(found) is pays
