"""Random straight-line kernels; oracle: the interpreter of kernels."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from runmat_jit.kernel.build import Builder
from runmat_jit.kernel.evaluate import DTYPES

KINDS = ("f32", "f64", "i32", "i64", "i1")
FLOATS, INTEGERS = KINDS[:2], KINDS[2:4]
BY_KIND = {
    **dict.fromkeys(FLOATS, ("add", "sub", "mul", "div", "fma", "neg", "abs", "copysign", "floor")),
    **dict.fromkeys(
        INTEGERS, ("add", "sub", "mul", "neg", "abs", "and", "or", "xor", "shl", "ashr")
    ),
    "i1": ("and", "or", "xor"),
}
COMPARISONS = ("lt", "le", "gt", "ge", "eq", "ne")
ARITY = {"fma": 3, "neg": 1, "abs": 1, "floor": 1}
CONVERT = {
    ("i32", "f32"): "sitofp",
    ("i64", "f64"): "sitofp",
    ("i1", "f64"): "uitofp",
    ("f32", "f64"): "fpext",
    ("f64", "f32"): "fptrunc",
    ("i64", "i32"): "trunc",
    ("i1", "i64"): "sext",
    ("i32", "i64"): "zext",
}


def finite_or_not(kind):
    if kind == "i1":
        return st.booleans()
    if kind in FLOATS:
        return st.floats(width=32)
    return st.integers(-(2**31), 2**31 - 1)


@st.composite
def programs(draw):
    """Steps that choose an operation, and where its operands are among the values so far."""
    choice = st.integers(0, 10_000)
    return draw(st.lists(st.tuples(choice, choice, choice, choice), min_size=1, max_size=25))


def build(program, constants):
    b = Builder()
    inputs = {k: b.buffer(f"in_{k}", "bool" if k == "i1" else k) for k in KINDS}
    scalars = {k: b.scalar(f"scalar_{k}", k) for k in KINDS}
    n = b.scalar("n", "index")
    outs = {k: b.buffer(f"out_{k}", "bool" if k == "i1" else k, written=True) for k in KINDS}
    with b.lanes(0, n) as lanes:
        values = {k: [b.load(inputs[k], lanes.i), scalars[k], constants[k]] for k in KINDS}
        for step in program:
            append(b, values, step)
        for kind in KINDS:
            b.store(outs[kind], lanes.i, values[kind][-1])
            for value in values[kind][3:]:
                if kind in FLOATS:
                    b.note(value)
    return b.finish()


def append(b, values, step):
    """Add one value; at least one operand is no constant, so that it has a type."""
    which, *places = step
    kind = KINDS[places[0] % len(KINDS)]
    pool = values[kind]
    first = pool[places[1] % (len(pool) - 1) if len(pool) > 3 else places[1] % 2]
    first = pool[0] if not hasattr(first, "type") else first
    others = [pool[p % len(pool)] for p in (places[2], places[1] * 7 + places[2])]
    conversions = [(to, op) for (before, to), op in CONVERT.items() if before == kind]
    operations = [*BY_KIND[kind], "compare", "select", *(["convert"] if conversions else [])]
    op = operations[which % len(operations)]
    if op == "convert":
        to, name = conversions[places[2] % len(conversions)]
        values[to].append(b.convert(name, first, to))
    elif op == "compare":
        names = COMPARISONS if kind != "i1" else COMPARISONS[4:]
        values["i1"].append(b.prim(names[places[2] % len(names)], first, others[0]))
    elif op == "select":
        pool.append(b.select(values["i1"][0], first, others[0]))
    elif op == "copysign":  # of what was loaded: the sign of a NaN that was computed is open
        pool.append(b.prim(op, first, pool[0]))
    elif op in ("shl", "ashr"):
        pool.append(b.prim(op, first, b.prim("and", first, 31)))
    else:
        pool.append(b.prim(op, first, *others[: ARITY.get(op, 2) - 1]))


@given(
    program=programs(),
    constants=st.fixed_dictionaries({k: finite_or_not(k) for k in KINDS}),
    seed=st.integers(0, 1000),
)
def test_random_kernels_mean_what_they_say(for_random_kernels, program, constants, seed):
    kernel = build(program, constants)
    rng = np.random.default_rng(seed)
    n = int(rng.integers(0, 90))
    memory = {"n": n}
    for kind in KINDS:
        dtype = DTYPES[kind]
        size = n + 4
        raw = rng.integers(0, 256, size * 8, dtype=np.uint8).view(np.uint64)[:size]
        numbers = raw.astype(np.uint8) > 127 if kind == "i1" else raw.view(dtype)[:size]
        memory[f"in_{kind}"] = np.ascontiguousarray(numbers)
        memory[f"out_{kind}"] = np.zeros(size, dtype)
        memory[f"scalar_{kind}"] = numbers[0].item()
    for_random_kernels.check(kernel, memory, 0, n)
    for_random_kernels.check(kernel, memory, n // 3, n)
