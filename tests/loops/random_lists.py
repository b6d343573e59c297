"""Random programs of loops that append to lists, as text: what the property tests run."""

from __future__ import annotations

import random

from tests.loops.random_loops import Writer
from tests.loops.random_loops import arguments as arguments_of_arrays

_BEFORE = (
    "[]",
    "[]",
    "[]",
    "[0]",
    "[0.5]",
    "[x[0]]",
    "[1, 2.0]",
    "[None]",
    "['a', 3]",
    "[x[0], 1]",
)


class ListWriter(Writer):
    """Writes one program: its arrays and numbers as of others, and two lists, or one twice."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.open = False
        """Whether numbers may be read of the lists."""

    def atom(self):
        if self.open and self.rng.random() < 0.15:
            name = self.pick("p", "q")
            return self.pick(f"len({name})", f"{name}[-1]", f"{name}[{self.index()}]")
        return super().atom()

    def item(self, depth=2):
        kind = self.rng.random()
        if depth and kind < 0.15:
            return f"({self.item(depth - 1)}, {self.item(depth - 1)})"
        if depth and kind < 0.2:
            return f"[{self.item(depth - 1)}, {self.atom()}]"
        if kind < 0.25:
            return self.pick("None", "'a'", "True", "()", "[]")
        if kind < 0.55:
            return self.pick(*self.bound, *self.indices)
        return self.expression(1)

    def statement(self, indent, depth, *, in_loop):
        if in_loop and self.rng.random() < 0.45:
            self.lines.append(f"{indent}{self.pick('p', 'p', 'q')}.append({self.item()})")
            return
        super().statement(indent, depth, in_loop=in_loop)

    def program(self):
        self.lines = ["def f(x, y, a, k, q):"]
        self.lines.append(f"    s = {self.pick('0', '0.0', '1', 'x[0]', 'k')}")
        self.lines.append("    c = 0")
        self.lines.append(f"    p = {self.pick(*_BEFORE, 'q')}")
        self.open = self.rng.random() < 0.3
        self.loop("    ", self.pick(1, 2))
        if self.rng.random() < 0.4:
            self.loop("    ", 1)
        self.lines.append("    return s, c, p")
        return "\n".join(self.lines) + "\n"


def program(seed):
    """The text of a program."""
    return ListWriter(seed).program()


def arguments(seed):
    """Makes the arguments of a program: the same each time."""
    others = arguments_of_arrays(seed)
    first = random.Random(seed).choice(([], [], [2], [0.5, 1.5], ["a"]))  # noqa: S311  (nothing is secret)
    return lambda: (*others(), list(first))
