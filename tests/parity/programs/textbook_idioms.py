"""What scientific scripts are made of: views, buffers, branches, errors, small data classes."""

from dataclasses import dataclass, field, replace

import numpy as np

from tests.parity.program import program


def normal(rng, shape, dtype):
    return (rng.normal(size=shape).astype(dtype),)


def plane(rng, shape, dtype):
    return (rng.normal(size=(shape[0], 6)).astype(dtype),)


def records(rng, shape, dtype):
    return (
        {
            "time": np.arange(shape[0], dtype=dtype),
            "value": rng.normal(size=shape).astype(dtype),
            "ok": rng.random(shape) < 0.8,
        },
    )


@program(normal)
def detrend_in_place(x):
    t = np.linspace(-1, 1, x.size, dtype=x.dtype)
    slope = (t @ x) / (t @ t)
    x -= x.mean()
    x -= slope * t
    return slope


@program(plane)
def borders_through_views(a):
    first, last = a[:, 0], a[:, -1]
    diagonal = np.einsum("ii->i", a[:6, :6])
    first[:] = last
    last *= 2
    diagonal += 1
    flat = a.reshape(-1)
    flat[::7] = 0
    return first, flat[:10]


@program(plane)
def one_buffer_for_all(a):
    work = np.empty_like(a)
    np.multiply(a, a, out=work)
    np.sqrt(work, out=work)
    np.add(work, 1, out=work)
    np.log(work, out=a)
    return np.subtract(work, a, out=work).sum(axis=0)


@program(normal)
def normalize_or_leave(x, tolerance=1e-6):
    scale = np.abs(x).max()
    if scale < tolerance:
        return x
    if x.mean() < 0:
        return -x / scale
    return x / scale


@program(normal)
def safe_logarithm(x):
    try:
        with np.errstate(invalid="raise"):
            return np.log(x)
    except FloatingPointError as error:
        return str(error), np.log(np.abs(x) + 1)


@program(normal)
def validated_reshape(x, columns=4):
    try:
        return x.reshape(-1, columns), "exact"
    except ValueError:
        missing = -x.size % columns
        return np.pad(x, (0, missing)).reshape(-1, columns), f"{missing} added"


@program(normal)
def printed_report(x):
    low, high = x.min(), x.max()
    print("size", x.size, "positive", int((x > 0).sum()))
    print(f"first {x[0]:.3f}, above zero: {bool(low > 0)}")
    if high > 1:
        print("large values at", np.flatnonzero(x > 1)[:3].tolist())
    return high - low


@program(records)
def cleaned_records(table):
    keep = table["ok"] & (np.abs(table["value"]) < 2)
    cleaned = {name: column[keep] for name, column in table.items() if name != "ok"}
    cleaned["rate"] = np.gradient(cleaned["value"]) if keep.sum() > 2 else None
    table["used"] = keep
    return cleaned


@dataclass(frozen=True)
class Grid:
    """A uniform grid and the values on it."""

    start: float
    step: float
    values: np.ndarray

    def points(self):
        return self.start + self.step * np.arange(self.values.size)


@program(lambda rng, shape, dtype: (Grid(0.5, 0.25, rng.normal(size=shape).astype(dtype)),))
def refined_grid(grid):
    fine = np.empty(2 * grid.values.size - 1, dtype=grid.values.dtype)
    fine[::2] = grid.values
    fine[1::2] = (grid.values[1:] + grid.values[:-1]) / 2
    finer = replace(grid, step=grid.step / 2, values=fine)
    return finer, finer.points()[-1]


@dataclass
class Running:
    """A running mean that objects keep between batches."""

    count: int = 0
    mean: float = 0.0
    history: list = field(default_factory=list)

    def update(self, batch):
        self.count += len(batch)
        self.mean += (batch.sum() - len(batch) * self.mean) / self.count
        self.history.append(self.mean)


@program(lambda rng, shape, dtype: (Running(), rng.normal(size=shape).astype(dtype)))
def batches_into_an_object(running, x):
    for batch in np.array_split(x, 3):
        running.update(batch)
    return running


@program(normal)
def rolling_windows(x, width=4):
    shape, strides = (x.size - width + 1, width), (x.strides[0], x.strides[0])
    windows = np.lib.stride_tricks.as_strided(x, shape, strides)
    ranked = np.argsort(windows, axis=1)[:, -1]
    return windows.max(axis=1), windows.min(axis=1), ranked


@program(normal)
def trimmed_until_stable(x, limit=2.0):
    kept = x
    for passes in range(10):
        center, spread = kept.mean(), kept.std()
        inside = np.abs(kept - center) <= limit * spread
        if inside.all():
            break
        kept = kept[inside]
    return kept, passes


@program(plane)
def columns_by_kind(a):
    kinds = ["raw", "square", "log", "rank", "sign", "skip"]
    out = {}
    for kind, column in zip(kinds, a.T):
        match kind:
            case "raw":
                out[kind] = column
            case "square":
                out[kind] = column**2
            case "log":
                out[kind] = np.log1p(np.abs(column))
            case "rank":
                out[kind] = column.argsort().argsort() / (len(column) - 1)
            case "sign":
                out[kind] = np.sign(column).astype(int)
            case _:
                continue
    return out


@program(normal)
def generator_of_chunks(x):
    def chunks(size):
        for start in range(0, len(x), size):
            yield x[start : start + size]

    norms = [np.sqrt((chunk**2).sum()) for chunk in chunks(5)]
    return max(norms), sum(1 for norm in norms if norm > 2)


@program(plane)
def broadcasting_distances(a):
    b = a[::2]
    difference = a[:, np.newaxis] - b[np.newaxis]
    euclidean = np.sqrt((difference**2).sum(-1))
    manhattan = np.abs(difference).sum(-1)
    chebyshev = np.abs(difference).max(-1)
    unit = a / np.linalg.norm(a, axis=1)[:, None]
    return euclidean, manhattan, chebyshev, unit @ unit[0]


@program(plane)
def missing_values(a):
    a[a > 1.5] = np.nan
    mean = np.nanmean(a, axis=0)
    rows, columns = np.where(np.isnan(a))
    filled = a.copy()
    filled[rows, columns] = mean[columns]
    return filled, np.isnan(a).sum(axis=0), np.nanmax(a)


@program(normal)
def clipped_accumulator(x):
    total = np.zeros((), dtype=x.dtype)
    for value in x[:12]:
        total += value
        np.clip(total, -1, 1, out=total)
    return total, total.ndim


@program(normal)
def piecewise_function(x):
    out = np.piecewise(x, [x < -1, (x >= -1) & (x < 1)], [lambda v: -1 / v, lambda v: v**2, 3.0])
    steps = np.digitize(x, [-1.0, 0.0, 1.0])
    return out, steps, np.choose(steps, [x, -x, x * x, np.zeros_like(x)])


@program(normal)
def raising_on_bad_input(x):
    if not np.isfinite(x).all():
        raise ValueError("the data are not finite")
    if x[0] > x[-1]:
        raise ArithmeticError(f"{x.size} values do not rise")
    return np.log(x - x.min() + 1)


@program(normal)
def complex_signal_and_back(x):
    z = x + 1j * np.roll(x, 1)
    magnitude, phase = np.abs(z), np.angle(z)
    back = magnitude * np.exp(1j * phase)
    return back.real, np.conj(z) * z, z.imag.max()


@program(plane)
def structure_of_results(a):
    total = a.sum()
    return [total / a.size, (a.T, a[1:3]), {"shape": a.shape, "any": bool((a > 2).any())}, None]
