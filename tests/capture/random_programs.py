"""Random straight-line programs as source text, with inputs: what the property tests run.

Each statement is tried on real values before it is kept, so that programs mostly run to their end;
now and then one that raises is kept inside ``try``.
"""

import warnings
from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

EXACT = {
    "binary": ("+", "-", "*", "/", ">", "<=", "==", "!=", "//", "%", "&", "|"),
    "unary": (
        "np.sqrt",
        "np.abs",
        "np.negative",
        "np.floor",
        "np.sign",
        "np.isnan",
        "np.rint",
        "-",
    ),
    "pairs": ("np.maximum", "np.minimum", "np.copysign", "np.logical_and", "np.add"),
    "reductions": (".max({axis})", ".min({axis})", ".any({axis})", ".all({axis})", ".argmax()"),
    "casts": ("int", "bool", "'f4'", "'f8'", "'i4'"),
}
SMOOTH = {
    "binary": ("+", "-", "*"),
    "unary": ("np.sin", "np.cos", "np.tanh", "np.arctan", "-"),
    "pairs": ("np.add", "np.multiply", "np.subtract"),
    "reductions": (".mean({axis})", ".sum({axis})", ".mean({axis}) + {x}", ".max({axis})"),
    "casts": ("a.dtype", "b.dtype"),
}
COMPLEX = {
    "binary": ("+", "-", "*", "/", "==", "!="),
    "unary": ("np.conj", "np.square", "np.isnan", "np.negative", "np.reciprocal", "-"),
    "pairs": ("np.add", "np.multiply", "np.subtract", "np.divide", "np.not_equal"),
    "reductions": (".real{axis:.0}", ".imag{axis:.0}", ".conj({axis:.0})", ".copy({axis:.0})"),
    "casts": ("complex", "'c16'"),
}
WORDS = {"exact": EXACT, "smooth": SMOOTH, "complex": COMPLEX}
INDICES = (
    *("1:", ":-1", "::-1", "::2", "0", "-1", "None", "...", "1:-1", ":, 0", "0, 1:", "..., ::-1"),
    *(
        "..., None",
        "None, ...",
        "[0, -1]",
        ":0",
        "..., 0",
        "::-1, ::2",
        "slice(1, None)",
        "..., 1:",
    ),
)
REALS = ("f8", "f4", "i8", "i4", "?")
VIEWS = (
    *(".T", ".reshape(-1)", ".ravel()", ".copy()", ".transpose()", ".squeeze()", ".flatten()"),
    *(".reshape(-1, 1)", ".swapaxes(0, -1)", ".real", "[...]", ".reshape(2, -1)", ".view()"),
)
OVERLAPS = {
    "itself": lambda a: a,
    "whole": lambda a: a[...],
    "reversed": lambda a: a[::-1] if a.ndim else a,
    "transposed": lambda a: a.T,
    "shifted": lambda a: a[1:] if a.ndim else a,
}
NUMBERS = {
    "exact": (
        "0",
        "1",
        "2.5",
        "-0.0",
        "3",
        "True",
        "np.float32(1.5)",
        "np.int64(2)",
        "t",
        "k",
        "1e300",
    ),
    "smooth": ("1", "0.5", "-0.25", "np.float32(0.5)", "t", "2"),
    "complex": ("1", "2.5", "-0.0", "1j", "2 - 1j", "np.float64(1.5)", "t", "k"),
}


@dataclass(frozen=True)
class Program:
    """Source text of ``f(a, b, t, k)`` and how its inputs are made."""

    text: str
    dtypes: tuple[str, str]
    shapes: tuple[tuple[int, ...], tuple[int, ...]]
    layouts: tuple[str, str]
    overlap: str
    numbers: tuple[float, int]
    seed: int
    special: bool

    def inputs(self, change=0):
        """Fresh arguments; ``change`` makes others of the same kind."""
        rng = np.random.default_rng(self.seed + change)
        a = laid_out(values(rng, self.dtypes[0], self.shapes[0], self.special), self.layouts[0])
        if self.overlap:
            b = OVERLAPS[self.overlap](a)
        else:
            b = laid_out(values(rng, self.dtypes[1], self.shapes[1], self.special), self.layouts[1])
        t, k = self.numbers
        return a, b, t + change * 0.5, k + change


def values(rng, dtype, shape, special):
    made = rng.normal(size=shape) * 3
    if special and np.size(made):
        flat = made.reshape(-1)
        chosen = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1e308, 5e-324, 2.0, -1.0, 0.5])
        where = rng.random(flat.shape) < 0.3
        flat[where] = rng.choice(chosen, int(where.sum()))
    with np.errstate(all="ignore"):
        if dtype != "c16":
            return np.asarray(made).astype(dtype)
        whole = np.asarray(made).astype(dtype)
        whole.imag = values(rng, "f8", shape, special)
        return whole


def laid_out(array, layout):
    """The same values in other memory."""
    if layout == "F":
        return np.asfortranarray(array)
    if layout == "strided" and array.ndim:
        wide = np.repeat(array, 2, axis=0)
        return wide[::2]
    if layout == "reversed" and array.ndim:
        return array[::-1].copy()[::-1]
    if layout == "read-only":
        array.flags.writeable = False
    return array


@st.composite
def programs(draw, kind):
    """A program of operations that are ``exact`` (their bits are NumPy's), so for ``complex``
    numbers, or ``smooth``.
    """
    pick = lambda choices: draw(st.sampled_from(choices))
    first = pick({"smooth": ("f8", "f4"), "complex": ("c16",)}.get(kind, REALS))
    second = {"smooth": first, "complex": pick(("c16", "f8", "i4"))}.get(kind, pick(REALS))
    dtypes = first, second
    shapes = tuple(pick(((4,), (3, 4), (4,), (), (2, 1, 3), (1, 4), (0, 3), (4, 4))) for _ in "ab")
    layouts = tuple(pick(("C", "C", "F", "strided", "reversed", "read-only")) for _ in "ab")
    overlap = pick(("", "", "", *OVERLAPS))
    numbers = (draw(st.sampled_from((0.5, -1.0, 2.0))), draw(st.integers(-3, 5)))
    seed, special = draw(st.integers(0, 10**6)), kind != "smooth" and draw(st.booleans())
    made = Program("", dtypes, shapes, layouts, overlap, numbers, seed, special)
    text = write(draw, made, WORDS[kind], NUMBERS[kind])
    return Program(text, *(getattr(made, name) for name in list(made.__dataclass_fields__)[1:]))


def write(draw, program, words, numbers):
    """Statements, each tried on real values."""
    a, b, t, k = program.inputs()
    space = {"np": np, "a": a, "b": b, "t": t, "k": k}
    lines = []
    for number in range(draw(st.integers(2, 9))):
        arrays = [name for name in space if name[0] in "abv"]
        statement = draw_statement(draw, words, numbers, arrays, f"v{number}")
        if draw(st.integers(0, 4)) == 0:
            lines += draw_decision(draw, words, numbers, arrays, space)
            continue
        if runs(statement, space):
            lines.append(statement)
        elif draw(st.integers(0, 5)) == 0:
            lines += ["try:", f"    {statement}", "except Exception as e: v = str(e)"]
            space["v"] = ""
    arrays = [name for name in space if name[0] in "abv"]
    kept = draw(st.lists(st.sampled_from(arrays), min_size=1, max_size=4))
    lines.append(f"return {', '.join(kept)}, a")
    return "def f(a, b, t, k):\n" + "".join(f"    {line}\n" for line in lines)


def draw_decision(draw, words, numbers, arrays, space):
    """A branch on a value, both arms of which run here; what only one of them makes is local."""
    pick = lambda choices: draw(st.sampled_from(choices))
    x = pick(arrays)
    condition = pick(
        (f"{x}.sum() > 0", f"({x} > 0).any()", f"{x}.size and {x}.max() < 2", "t * k > 1", "k > 2")
    )
    if not runs(f"__c = {condition}", dict(space)):
        return []
    arms = [draw_statement(draw, words, numbers, arrays, "w") for _ in range(2)]
    arms = [arm if runs(arm, dict(space)) else "pass" for arm in arms]
    return [f"if {condition}:", f"    {arms[0]}", "else:", f"    {arms[1]}"]


def runs(statement, space):
    trial = dict(space)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            exec(statement, trial)
    except Exception:  # noqa: BLE001  (whatever NumPy refuses is not kept)
        return False
    if any(np.size(value) > 4000 for name, value in trial.items() if name[0] in "abv"):
        return False
    space.update({name: value for name, value in trial.items() if name != "__builtins__"})
    return True


def draw_statement(draw, words, numbers, arrays, fresh):
    pick = lambda choices: draw(st.sampled_from(choices))
    x, y = pick(arrays), pick((*arrays, *numbers))
    axis = pick(("", "axis=0", "axis=-1, keepdims=True", "axis=-1"))
    index = pick(INDICES)
    binary = pick(words["binary"])
    arithmetic = pick([word for word in words["binary"] if word in "+-*/"])
    comparisons = [word for word in words["binary"] if word in (">", "==")] or [">"]
    return pick(
        (
            f"{fresh} = {x} {binary} {y}",
            f"{fresh} = {y} {binary} {x}",
            f"{fresh} = {pick(words['unary'])}({x})",
            f"{fresh} = {pick(words['pairs'])}({x}, {y})",
            f"{fresh} = {x}[{index}]",
            f"{fresh} = {x}{pick(VIEWS)}",
            f"{fresh} = {x}{pick(words['reductions']).format(axis=axis, x=x)}",
            f"{fresh} = {x}.astype({pick(words['casts'])})",
            f"{fresh} = np.where({x} {pick(comparisons)} 0, {x}, {y})",
            f"{fresh} = np.concatenate([{x}.ravel(), {pick(arrays)}.ravel()])",
            f"{fresh} = np.broadcast_to({x}, (2, *{x}.shape))",
            f"{fresh} = np.stack([{x}, {x}], axis=-1)",
            f"{x} {arithmetic}= {y}",
            f"{x}[{index}] = {y}",
            f"{x}[{index}] {arithmetic}= {y}",
            f"{x}[{index}] = {pick(arrays)}[{index}]",
            f"{x}[...] = {pick(arrays)}{pick(VIEWS)}",
            f"{x}.{pick(('real', 'imag'))}[{index}] {arithmetic}= {y}",
            f"{fresh} = np.add({x}, {y}, out={x})",
            f"np.copyto({x}, {y})",
            f"{fresh} = {x}.ravel()[0]",
            f"{fresh} = t * k + {x}",
        )
    )
