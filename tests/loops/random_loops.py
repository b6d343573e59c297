"""Random programs of loops over elements, as text: what the property tests run.

They read and write elements, count, branch, end turns and loops early, and now and then go out of
range, divide by zero or overflow: then Python has to run them from the beginning.
"""

from __future__ import annotations

import random

import numpy as np

FLOATS, INTEGERS = ("d", "f"), ("l", "i")
PARTS = (
    *("x = x[:]", "y = y[::-1]", "y = x", "x = y[:]", "y = y.copy()", "x = x + 0"),
    *(
        "a = a[::-1]",
        "a = a.reshape(-1, 2)",
        "x = a[:, 1]",
        "y = a.T[0]",
        "x = a.ravel()[: len(y)]",
    ),
)
"""Arrays that show the caller's memory, or do not, as loops store to them."""


DRAWS = (
    *("rng.random()", "rng.normal()", "rng.uniform(-1, k)", "rng.normal(0, k - 1)"),
    *("rng.integers(3)", "rng.integers(-k, 5)", "rng.choice(x)", "rng.poisson(2)"),
    *("rng.random(3)[1]", "rng.random(dtype='f')", "rng.exponential(abs(s))"),
)


class Writer:
    """Writes one program. ``wild``: operations that may end in Python are frequent.

    ``draws``: numbers are drawn from ``rng``.
    """

    def __init__(self, seed: int, *, draws: bool = False) -> None:
        self.draws = draws
        self.rng = random.Random(seed)  # noqa: S311  (nothing is secret)
        self.wild = self.rng.random() < 0.3
        self.floats = self.rng.random() < 0.7
        self.lines: list[str] = []
        self.bound = ["s", "c"]
        self.indices: list[str] = []
        self.fresh = 0

    def pick(self, *choices):
        return self.rng.choice(choices)

    # -- expressions -------------------------------------------------------------------------------
    def index(self):
        """An index of x, y: of 8 elements at least, where it is tame."""
        kinds = [*self.indices, *(f"{i} - 1" for i in self.indices), "0", "-1", "len(x) - 1"]
        if self.wild:
            kinds += [f"{i} + 1" for i in self.indices]
            kinds += ["c", "c % len(x)", f"2 * {self.pick('c', *self.indices)}"]
        return self.pick(*kinds)

    def element(self):
        if self.rng.random() < 0.3:
            return f"a[{self.index()}, {self.pick('0', '-1', '1')}]"
        return f"{self.pick('x', 'y')}[{self.index()}]"

    def literal(self):
        if self.floats and self.rng.random() < 0.6:
            return self.pick("0.5", "2.0", "1e-3", "-0.25", "0.0", "3")
        return self.pick("1", "2", "3", "7", "-2", "0", "5")

    def atom(self):
        if self.draws and self.rng.random() < 0.2:
            return self.pick(*DRAWS)
        return self.pick(
            self.element, self.element, self.literal, lambda: self.pick(*self.bound), self.number
        )()

    def number(self):
        return self.pick(*self.indices, "k", "len(x)", "c")

    def expression(self, depth=2):
        if depth == 0 or self.rng.random() < 0.2:
            return self.atom()
        kind = self.rng.random()
        a = self.expression(depth - 1)
        if kind < 0.6:
            ops = ["+", "-", "*", "+", "-", "*"] + (["/", "//", "%"] if self.wild else [])
            ops += [] if self.floats else ["&", "|", "^", "//", "%"]
            op = self.pick(*ops)
            b = (
                self.pick("2", "3", "0.5" if self.floats else "5")
                if op in ("/", "//", "%") and (not self.wild or self.rng.random() < 0.5)
                else self.expression(depth - 1)
            )
            return f"({a} {op} {b})"
        if kind < 0.7:
            return f"{self.pick('abs', 'abs', 'float', 'int' if self.wild else 'abs')}({a})"
        if kind < 0.8:
            return f"{self.pick('min', 'max')}({a}, {self.expression(depth - 1)})"
        if kind < 0.9:
            return f"({a} if {self.condition(depth - 1)} else {self.expression(depth - 1)})"
        return f"(-{a})"

    def condition(self, depth=1):
        kind = self.rng.random()
        if depth and kind < 0.25:
            op = self.pick("and", "or")
            return f"({self.condition(depth - 1)} {op} {self.condition(depth - 1)})"
        if depth and kind < 0.35:
            return f"(not {self.condition(depth - 1)})"
        op = self.pick("<", "<=", ">", ">=", "==", "!=")
        return f"{self.expression(1)} {op} {self.expression(1)}"

    # -- statements --------------------------------------------------------------------------------
    def block(self, indent, depth, *, in_loop):
        begin = len(self.lines)
        for _ in range(self.rng.randint(1, 3)):
            self.statement(indent, depth, in_loop=in_loop)
        if len(self.lines) == begin:
            self.lines.append(f"{indent}pass")

    def statement(self, indent, depth, *, in_loop):
        kind = self.rng.random()
        if kind < 0.3:
            target = self.pick("x", "y", "a")
            place = f"a[{self.index()}, 0]" if target == "a" else f"{target}[{self.index()}]"
            op = self.pick("=", "=", "+=", "-=", "*=")
            self.lines.append(f"{indent}{place} {op} {self.expression()}")
        elif kind < 0.6:
            name = self.pick(*self.bound)
            if self.rng.random() < 0.3:
                self.lines.append(f"{indent}s, c = c, {self.expression()}")
            elif name == "c":
                self.lines.append(
                    f"{indent}c {self.pick('+=', '+=', '-=')} {self.pick('1', '2', 'k')}"
                )
            else:
                op = self.pick("=", "+=", "+=", "-=", "*=")
                self.lines.append(f"{indent}{name} {op} {self.expression()}")
        elif kind < 0.7 and in_loop:
            name = f"t{self.fresh}"
            self.fresh += 1
            self.lines.append(f"{indent}{name} = {self.expression()}")
            self.lines.append(f"{indent}s += {name} * {self.literal()}")
        elif kind < 0.85 or depth == 0:
            self.lines.append(f"{indent}if {self.condition()}:")
            if in_loop and self.rng.random() < 0.3:
                self.lines.append(f"{indent}    {self.pick('break', 'continue')}")
            else:
                self.block(indent + "    ", 0, in_loop=in_loop)
            if self.rng.random() < 0.4:
                self.lines.append(f"{indent}else:")
                self.block(indent + "    ", 0, in_loop=in_loop)
        else:
            self.loop(indent, depth - 1)

    def loop(self, indent, depth):
        name = f"i{len(self.indices)}"
        outer = self.indices[-1] if self.indices else "k"
        source = self.pick(
            "range(len(x))",
            "range(1, len(x))",
            f"range({outer})",
            "range(len(x) - 1, -1, -1)",
            "range(0, len(x), 2)",
            self.pick("enumerate(y)", "enumerate(y, 1)", "enumerate(y, start=k)"),
            f"({outer}, {self.pick('0', '2', 'k - 1')})" if self.indices else "range(len(x))",
            "while",
        )
        if source == "while":
            counter = f"w{self.fresh}"
            self.fresh += 1
            self.lines.append(f"{indent}{counter} = 0")
            self.lines.append(f"{indent}while {counter} < len(x) and {self.condition(0)}:")
            self.lines.append(f"{indent}    {name} = {counter}")
            self.lines.append(f"{indent}    {counter} += 1")
        elif source.startswith("enumerate"):
            self.lines.append(f"{indent}for {name}, v in {source}:")
            self.lines.append(f"{indent}    s = s + v")
        else:
            self.lines.append(f"{indent}for {name} in {source}:")
        self.indices.append(name)
        self.block(indent + "    ", depth, in_loop=True)
        self.indices.pop()

    def program(self):
        self.lines = ["def f(x, y, a, k, rng=None):"]
        self.lines.append(f"    s = {self.pick('0', '0.0', '1', 'x[0]', 'k')}")
        self.lines.append("    c = 0")
        if self.rng.random() < 0.4:
            self.lines.append(f"    {self.pick(*PARTS)}")
        self.loop("    ", 2)
        if self.rng.random() < 0.3:
            self.loop("    ", 1)
        self.lines.append("    return s, c")
        return "\n".join(self.lines) + "\n"


def program(seed, *, draws=False):
    """The text of a program."""
    return Writer(seed, draws=draws).program()


def arguments(seed):
    """Makes the arguments of a program: the same each time."""
    rng = random.Random(seed)  # noqa: S311  (as above)
    dtypes = [rng.choice((*FLOATS, *FLOATS, *INTEGERS)) for _ in range(3)]
    n, special = rng.choice((8, 9, 12)), rng.random()
    k = rng.choice((0, 1, 3, 6))

    def make():
        numbers = np.random.default_rng(seed)
        arrays = []
        for dtype, shape in zip(dtypes, ((n,), (n,), (n, 2)), strict=True):
            values = numbers.integers(-3, 4, shape) * (0.5 if dtype in FLOATS else 1)
            values = values.astype(dtype)
            if special < 0.2 and dtype in FLOATS:
                values.ravel()[numbers.integers(0, n, 2)] = [np.nan, np.inf]
            if special > 0.9:
                values = values * (1e30 if dtype in FLOATS else 10**6)
            arrays.append(values.astype(dtype))
        if special > 0.8:
            arrays[0] = np.repeat(arrays[0], 2)[::2]
        return (*arrays, k)

    return make
