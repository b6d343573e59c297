"""Random programs of loops over whole arrays, as text: what the property tests run.

Names hold arrays of the caller's, arrays made before the loop or in it, parts of them, and numbers.
Names share arrays, are swapped and rebound; parts are read and written, also where both overlap.
"""

from __future__ import annotations

import random

import numpy as np

VECTORS, LONG = ("u", "v", "w"), 6


class Writer:
    """Writes one program. ``rounds``: some results are rounded otherwise than NumPy's."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)  # noqa: S311  (nothing is secret)
        self.lines: list[str] = []
        self.indices: list[str] = []
        self.loops = 0
        self.rounds = False
        self.sums = self.rng.random() < 0.3
        self.shared = self.rng.random() < 0.4

    def pick(self, *choices):
        return self.rng.choice(choices)

    def vector(self):
        return self.pick(*VECTORS)

    def index(self):
        return self.pick(*self.indices, "0", "-1", "2") if self.indices else "0"

    # -- expressions -------------------------------------------------------------------------------
    def number(self, depth=1):
        kind = self.rng.random()
        if kind < 0.3 or not depth:
            return self.pick("s", "c", "0.5", "2", "k", "0.25", "-1.0")
        if kind < 0.5:
            return f"{self.vector()}[{self.index()}]"
        if kind < 0.6:
            return f"a[{self.index()}, {self.index()}]"
        if kind < 0.75:
            return f"{self.pick('np.max', 'np.min')}({self.whole(depth - 1)})"
        if kind < 0.8:
            name = self.pick("max", "min", "argmax", "argmin")
            return f"{self.whole(0)}.{name}()"
        if kind < 0.9:
            self.rounds = True  # a kernel may compute a product with what follows it
            return f"({self.vector()} @ {self.vector()})"
        if self.sums:
            self.rounds = True
            return f"{self.pick('np.sum', 'np.mean')}({self.whole(depth - 1)})"
        return f"(s {self.pick('+', '-', '*')} {self.number(0)})"

    def leaf(self):
        """An array of as many elements as x."""
        kind = self.rng.random()
        if kind < 0.6:
            return self.vector()
        if kind < 0.7:
            return f"a[{self.index()}]"
        if kind < 0.8:
            return f"a[:, {self.index()}]"
        if kind < 0.87:
            return f"{self.vector()}[::-1]"
        if kind < 0.92:
            self.rounds = True
            return f"(a @ {self.vector()})"
        if kind < 0.95:
            return self.pick(
                f"np.roll({self.vector()}, {self.pick('1', '-1', 'k', self.index())})",
                f"np.roll(a, 1, axis={self.pick('0', '1')})[{self.index()}]",
                f"a.{self.pick('max', 'min')}(axis={self.pick('0', '1')})",
                f"a.{self.pick('argmax', 'argmin')}(axis={self.pick('0', '1')}) * 0.5",
                f"np.stack([{self.vector()}, {self.vector()}])[{self.pick('0', '-1')}]",
                f"np.outer({self.vector()}, {self.vector()})[{self.index()}]",
            )
        return f"np.dot(a, {self.vector()})"

    def whole(self, depth=2):
        if depth <= 0:
            return self.leaf()
        kind = self.rng.random()
        a = self.whole(depth - 1)
        if kind < 0.45:
            b = self.whole(depth - 1) if self.rng.random() < 0.6 else self.number(depth - 1)
            a, b = (a, b) if self.rng.random() < 0.7 else (b, a)
            return f"({a} {self.pick('+', '-', '*', '+', '-')} {b})"
        if kind < 0.5:
            return f"({a} / {self.pick('2', '4.0', '(abs(v) + 1)', 's')})"
        if kind < 0.6:
            return f"{self.pick('np.maximum', 'np.minimum')}({a}, {self.whole(depth - 1)})"
        if kind < 0.7:
            return f"np.where({a} {self.pick('>', '<=')} {self.number(0)}, {self.leaf()}, {a})"
        if kind < 0.8:
            return f"{self.pick('abs', 'np.abs', '-', 'np.sqrt')}({a})"
        if kind < 0.85:
            return f"({a} ** 2)"
        if kind < 0.9:
            return f"np.clip({a}, -2, {self.pick('2', '1.5')})"
        if kind < 0.93:
            self.rounds = True
            return self.pick(f"np.tanh({a})", "a.sum(axis=1)", "a.sum(axis=0)", "a.mean(axis=0)")
        return a

    def inner(self, depth=1):
        """An array of two elements less than x."""
        name = self.vector()
        part = self.pick(f"{name}[1:-1]", f"{name}[2:]", f"{name}[:-2]", f"a[{self.index()}, 2:]")
        if depth and self.rng.random() < 0.7:
            return f"({part} {self.pick('+', '-', '*')} {self.pick(self.inner(0), self.number(0))})"
        return part

    # -- statements --------------------------------------------------------------------------------
    def statement(self, indent, depth):
        simple = (
            *(self.rebound, self.rebound, self.rebound, self.inner_part, self.part),
            *(self.in_place, self.swapped, self.shared_or_new, self.through_a_view),
            *(self.element, self.to_number, self.to_number, self.of_matrix, self.of_matrix),
            self.of_moving_parts,
        )
        kind = self.rng.random()
        if kind < 0.82:
            self.lines.extend(f"{indent}{line}" for line in self.pick(*simple)().split("\n"))
        elif kind < 0.94 or not depth:
            self.branch(indent)
        else:
            self.loop(indent, depth - 1)

    def rebound(self):
        return f"{self.vector()} = {self.whole()}"

    def inner_part(self):
        return f"{self.vector()}[1:-1] {self.pick('=', '+=', '-=')} {self.inner()}"

    def part(self):
        name = self.vector()
        place = self.pick(f"{name}[:]", f"{name}[...]", f"a[{self.index()}]", "a[:, 1]")
        return f"{place} {self.pick('=', '+=')} {self.whole(1)}"

    def in_place(self):
        return f"{self.vector()} {self.pick('+=', '-=', '*=')} {self.whole(1)}"

    def swapped(self):
        a, b = self.vector(), self.vector()
        value = self.pick(a, self.whole(1))
        return f"{a}, {b} = {b}, {value}" if a != b else f"{a} = {value}"  # of two: 3.11.2 errs

    def shared_or_new(self):
        made = ("np.zeros_like(v)", "u.copy()", "np.ones_like(w)", self.vector(), self.vector())
        return f"{self.vector()} = {self.pick(*made)}"

    def through_a_view(self):
        name = self.vector()
        view = self.pick("a[1]", name, f"{name}[1:]")
        return f"row = {view}\nrow {self.pick('+=', '*=')} {self.number(0)}"

    def element(self):
        return f"{self.vector()}[{self.index()}] {self.pick('=', '+=')} {self.number()}"

    def to_number(self):
        return f"s {self.pick('=', '+=', '=')} {self.number(2)}"

    def of_matrix(self):
        if self.rng.random() < 0.5:
            value = self.pick("a[:-1, :2]", "0.5", "s")
            return f"a[1:, :2] {self.pick('=', '*=')} {value}"
        return f"a = a {self.pick('+', '*')} {self.pick('0.5', 'u', 'a.T', 'v[:, None]')}"

    def of_moving_parts(self):
        """Parts whose extents change from turn to turn."""
        at, name = self.pick("k - 3", *self.indices), self.vector()
        made = (
            *(f"{self.vector()}[{at}:]", f"np.zeros_like({name}[{at}:])", f"a[{at}:, 0]"),
            *(f"{name}[{at}:] * {self.number(0)}", f"a[{at}:, :2].max(axis=1)"),
            f"{self.vector()}[abs(np.arange(len(x))[{at}:]) % len(x)]",
        )
        self.rounds = True
        products = f"a[{at}:] @ {self.vector()}", f"a[{at}:, :{at}] @ {self.vector()}[:{at}]"
        return f"{name}[{at}:] {self.pick('=', '-=')} {self.pick(*made, *products)}"

    def branch(self, indent):
        self.lines.append(f"{indent}if {self.number()} {self.pick('<', '>=')} {self.number(0)}:")
        if self.rng.random() < 0.25:
            self.lines.append(f"{indent}    {self.pick('break', 'continue')}")
            return
        self.block(indent + "    ", 0)
        if self.rng.random() < 0.4:
            self.lines.append(f"{indent}else:")
            self.block(indent + "    ", 0)

    def block(self, indent, depth):
        for _ in range(self.rng.randint(1, 4 if depth else 2)):
            self.statement(indent, depth)

    def loop(self, indent, depth):
        name, self.loops = f"i{self.loops}", self.loops + 1
        source = self.pick(
            "range(k)",
            "range(len(x))",
            "range(1, len(x))",
            "range(len(x) - 1, 0, -2)",
            "rows",
            "while",
        )
        if source == "rows":
            self.lines.append(f"{indent}for {name}, r in enumerate(a):")
            self.lines.append(f"{indent}    {self.vector()} = r * 0.5")
        elif source == "while":
            self.lines.append(f"{indent}{name} = 0")
            self.lines.append(f"{indent}while {name} < k and {self.number(0)} < 50:")
            self.lines.append(f"{indent}    {name} += 1")
        else:
            self.lines.append(f"{indent}for {name} in {source}:")
        bounded = source not in ("range(k)", "while")
        self.indices.extend([name] if bounded else [])
        self.block(indent + "    ", depth)
        if bounded:
            self.indices.pop()

    def program(self):
        start = ("x", "y") if self.shared else ("x.copy()", "y * 1")
        self.lines = ["def f(x, y, a, k):"]
        self.lines += [f"    u = {start[0]}", f"    v = {start[1]}"]
        self.lines += [
            f"    w = {self.pick('u', 'x + y', 'np.zeros_like(x)')}",
            "    s, c = 0.5, 1",
        ]
        if self.rng.random() < 0.5:
            self.lines.append("    a = a.copy()")
        self.loop("    ", 1)
        if self.rng.random() < 0.2:
            self.loop("    ", 0)
        self.lines.append(f"    return s, {', '.join(VECTORS)}, a")
        return "\n".join(self.lines) + "\n"


def program(seed):
    """The text of a program, and whether its results are rounded otherwise than NumPy's."""
    writer = Writer(seed)
    return writer.program(), writer.rounds


def arguments(seed):
    """Makes the arguments of a program: the same each time."""
    rng = random.Random(seed)  # noqa: S311  (as above)
    dtype = rng.choice(("d", "d", "d", "f", "l", "i"))
    others = rng.choice((dtype, dtype, dtype, "d"))
    n, k, special = rng.choice((3, 5, 9, 33)), rng.choice((0, 1, 2, 5)), rng.random()

    def make():
        numbers = np.random.default_rng(seed)
        arrays = []
        for kind, shape in ((dtype, (n,)), (others, (n,)), (dtype, (n, n))):
            values = numbers.integers(-3, 4, shape) * (0.25 if kind in "df" else 1)
            values = values.astype(kind)
            if special < 0.15 and kind in "df":
                values.ravel()[numbers.integers(0, n, 2)] = [np.nan, np.inf]
            arrays.append(values)
        if special > 0.85:
            arrays[0] = np.repeat(arrays[0], 2)[::2]
            arrays[2] = np.asfortranarray(arrays[2])
        elif special > 0.8:
            arrays[1] = arrays[0][::-1]
        elif special > 0.75:
            arrays[1] = arrays[2][0]
        return (*arrays, k)

    return make
