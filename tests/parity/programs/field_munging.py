"""Data munging: grouping, joining, cleaning and encoding tables as people write it."""

from collections import Counter, OrderedDict, namedtuple
from functools import partial, reduce

import numpy as np

from tests.parity.program import program

Row = namedtuple("Row", "key total count best", defaults=(None,))
CODES = {0: "north", 1: "south", 2: "east"}


def keyed(rng, shape, dtype):
    return rng.integers(0, 6, shape), rng.normal(5, 3, shape).astype(dtype)


def holed(rng, shape, dtype):
    table = rng.normal(0, 1, shape).astype(dtype)
    table[rng.random(shape) < 0.2] = np.nan
    table[0] = 1.0
    return (table,)


def ints(rng, shape, dtype):
    return (rng.integers(-50, 50, shape).astype(dtype),)


@program(keyed, shapes=((12,), (500,)), dtypes=("float64", "float32"))
def group_by_sum(keys, values):
    unique, inverse, counts = np.unique(keys, return_inverse=True, return_counts=True)
    sums = np.bincount(inverse, weights=values)
    best = np.full(len(unique), -np.inf)
    np.maximum.at(best, inverse, values)
    rows = [Row(int(k), s, int(n), b) for k, s, n, b in zip(unique, sums, counts, best)]
    return sorted(rows, key=lambda row: -row.total)


@program(keyed, shapes=((9,), (200,)), dtypes=("float64", "int64"))
def split_apply_combine(keys, values):
    order = np.argsort(keys, kind="stable")
    k, v = keys[order], values[order]
    starts = np.flatnonzero(np.concatenate(([True], k[1:] != k[:-1])))
    totals = np.add.reduceat(v, starts)
    groups = np.split(v, starts[1:])
    return dict(zip(k[starts].tolist(), totals)), [g.max() - g.min() for g in groups]


@program(holed, shapes=((6, 3), (80, 5)), dtypes=("float64", "float32"))
def impute_columns(table, strategy="mean"):
    zero = lambda table, axis: np.zeros(table.shape[1])
    fillers = {"mean": np.nanmean, "median": np.nanmedian, "zero": zero}
    if strategy not in fillers:
        raise ValueError(f"unknown strategy {strategy!r}; use one of {sorted(fillers)}")
    fill = fillers[strategy](table, axis=0)
    rows, cols = np.where(np.isnan(table))
    table[rows, cols] = fill[cols]
    return len(rows), table.mean(axis=0)


@program(holed, shapes=((5, 4), (60, 3)), dtypes=("float64", "float32"))
def drop_and_report(table):
    complete = ~np.isnan(table).any(axis=1)
    kept = table[complete]
    missing = {f"column {i}": int(n) for i, n in enumerate(np.isnan(table).sum(axis=0)) if n}
    print(f"kept {len(kept)} of {len(table)} rows; missing: {missing}")
    return kept, missing


@program(ints, shapes=((20,), (700,)), dtypes=("int64", "int32", "int16"))
def run_length_encode(x):
    x = x // 25
    change = np.flatnonzero(np.diff(x)) + 1
    starts = np.r_[0, change]
    lengths = np.diff(np.r_[starts, x.size])
    decoded = np.repeat(x[starts], lengths)
    assert np.array_equal(decoded, x)
    return x[starts], lengths, Counter(lengths.tolist()).most_common(1)[0][0] if len(lengths) else 0


@program(ints, shapes=((15,), (300,)), dtypes=("int64", "float64"))
def bin_ages(values):
    ages = np.abs(values)
    edges = [10, 20, 35]
    bins = np.digitize(ages, edges)
    names = np.array(["child", "teen", "young", "adult"])
    labels = names[bins]
    table = OrderedDict((name, int((labels == name).sum())) for name in names)
    return labels, table


def two_tables(rng, shape, dtype):
    left = rng.permutation(shape[0] * 2)[: shape[0]]
    right = rng.permutation(shape[0] * 2)[: shape[0]]
    return left, rng.random(shape).astype(dtype), right, rng.random(shape).astype(dtype)


@program(two_tables, shapes=((6,), (150,)), dtypes=("float64", "float32"))
def inner_join(left_key, left_value, right_key, right_value):
    common, li, ri = np.intersect1d(left_key, right_key, return_indices=True)
    only_left = np.setdiff1d(left_key, right_key)
    joined = np.rec.fromarrays([common, left_value[li], right_value[ri]], names="key,a,b")
    return joined.key, joined.a * joined.b, only_left, np.isin(left_key, common).sum()


@program(ints, shapes=((10,), (100,)), dtypes=("int64", "int32"))
def one_hot_and_back(x):
    region = np.abs(x) % 3
    onehot = np.zeros((x.size, 3), dtype=bool)
    onehot[np.arange(x.size), region] = True
    back = onehot.argmax(axis=1)
    if (back != region).any():
        raise AssertionError("lossy encoding")
    return onehot, [CODES[int(r)] for r in back[:4]]


@program(ints, shapes=((11,), (400,)), dtypes=("int64", "float32"))
def pipeline_of_functions(x):
    steps = [
        partial(np.clip, a_min=-30, a_max=30),
        lambda v: v - v.min(),
        lambda v: v / max(v.max(), 1),
        np.sqrt,
        partial(np.round, decimals=3),
    ]
    return reduce(lambda value, step: step(value), steps, x)


@program(ints, shapes=((4, 6), (30, 12)), dtypes=("int64", "float64"))
def rank_rows_and_mask_ties(table):
    ranks = table.argsort(axis=1).argsort(axis=1)
    ordered = np.sort(table, axis=1)
    ties = (np.diff(ordered, axis=1) == 0).sum(axis=1)
    top = np.take_along_axis(table, table.argmax(axis=1)[:, None], axis=1)[:, 0]
    masked = np.ma.masked_where(ranks < 2, table)
    return ranks, ties, top, masked.sum(axis=1).tolist()


@program(keyed, shapes=((8,), (90,)), dtypes=("float64", "float32"))
def structured_records(keys, values):
    records = np.zeros(len(keys), dtype=[("id", "i4"), ("value", values.dtype), ("flag", "?")])
    records["id"] = keys
    records["value"] = values
    records["flag"] = values > values.mean()
    records.sort(order=["id", "value"])
    flagged = records[records["flag"]]
    return records["id"], flagged["value"].sum(), len(flagged), records.dtype.names


@program(ints, shapes=((7,), (50,)), dtypes=("int64",))
def parse_and_format(x):
    text = ",".join(str(v) for v in x)
    parsed = np.fromstring(text, dtype=np.int64, sep=",")
    fields = np.array(text.split(",")).astype(float)
    padded = [f"{v:+05d}" for v in parsed.tolist()]
    try:
        int("n/a")
    except ValueError as error:
        message = str(error)
    return parsed, fields.mean(), padded[:3], message


@program(keyed, shapes=((3, 4), (5, 6)), dtypes=("float64", "float32"))
def pivot_long_to_wide(keys, values):
    long = []
    for row_keys, row_values in zip(keys, values):
        long += [(int(k), j, v) for j, (k, v) in enumerate(zip(row_keys, row_values))]
    wide = np.full((6, keys.shape[1]), np.nan)
    for k, j, v in long:
        wide[k, j] = v if np.isnan(wide[k, j]) else wide[k, j] + v
    empty = np.isnan(wide).all(axis=1)
    return wide[~empty], np.flatnonzero(empty), len(long)
