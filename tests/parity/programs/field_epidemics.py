"""Epidemiology: compartments, contact networks, rates and survival as people write them."""

import logging
from dataclasses import asdict, dataclass

import numpy as np

from tests.parity.program import program

log = logging.getLogger(__name__)
AGE_BANDS = ["0-17", "18-64", "65+"]
STANDARD = np.array([0.2, 0.6, 0.2])


def rates(rng, shape, dtype):
    return (rng.uniform(0.1, 0.9, shape).astype(dtype),)


def cases(rng, shape, dtype):
    return (rng.poisson(30, shape).astype(dtype),)


@dataclass
class Outcome:
    peak_day: int
    peak: float
    total: float


@program(rates, shapes=((3,), (50,)), dtypes=("float64", "float32"))
def sir_model(beta, gamma=0.2, days=25):
    s, i = np.full_like(beta, 0.99), np.full_like(beta, 0.01)
    curve = np.zeros((days, beta.size), dtype=beta.dtype)
    for day in range(days):
        infections = beta * s * i
        s = s - infections
        i = i + infections - gamma * i
        curve[day] = i
    worst = int(curve.max(axis=0).argmax())
    outcome = Outcome(int(curve[:, worst].argmax()), float(curve.max()), float(1 - s[worst]))
    return asdict(outcome), curve[-1]


@program(cases, shapes=((20,), (200,)), dtypes=("int64", "float64"))
def reproduction_number(daily, serial=(0.2, 0.5, 0.3)):
    w = np.asarray(serial)
    pressure = np.convolve(daily, w)[: len(daily)]
    pressure = np.r_[0, pressure[:-1]]
    with np.errstate(divide="ignore", invalid="ignore"):
        r = daily / pressure
    r[~np.isfinite(r)] = np.nan
    smooth = np.array([np.nanmean(r[max(0, t - 6) : t + 1]) for t in range(1, len(r))])
    log.info("last estimate %.2f", smooth[-1])
    return smooth, int((smooth > 1).sum())


def survival(rng, shape, dtype):
    return rng.integers(1, 15, shape).astype(dtype), rng.random(shape) < 0.7


@program(survival, shapes=((8,), (150,)), dtypes=("int64", "float64"))
def kaplan_meier(time, died):
    times = np.unique(time[died])
    at_risk = np.array([(time >= t).sum() for t in times])
    deaths = np.array([(time[died] == t).sum() for t in times])
    curve = np.cumprod(1 - deaths / at_risk)
    below = np.nonzero(curve <= 0.5)[0]
    median = times[below[0]] if len(below) else None
    with np.errstate(divide="ignore"):
        greenwood = curve * np.sqrt(np.cumsum(deaths / np.maximum(at_risk * (at_risk - deaths), 1)))
    return times, curve, greenwood, median


@program(rates, shapes=((4, 3), (30, 3), (5, 4)), dtypes=("float64", "float32"))
def age_standardized_rates(rate):
    if rate.shape[-1] != len(AGE_BANDS):
        raise ValueError(f"expected {len(AGE_BANDS)} age bands, got {rate.shape[-1]}")
    adjusted = (rate * STANDARD).sum(axis=1) * 1e5
    worst = [AGE_BANDS[i] for i in rate.argmax(axis=1)]
    ratio = adjusted / adjusted.mean()
    return adjusted, worst[:3], np.where(ratio > 1.1, "high", np.where(ratio < 0.9, "low", "usual"))


def two_by_two(rng, shape, dtype):
    return (rng.integers(0, 50, (*shape, 2, 2)).astype(dtype),)


@program(two_by_two, shapes=((3,), (40,)), dtypes=("int64", "float64", "float32"))
def odds_ratios(tables):
    a, b, c, d = tables.reshape(-1, 4).T
    zero = (tables == 0).any(axis=(1, 2))
    a, b, c, d = (part + 0.5 * zero for part in (a, b, c, d))
    ratio = a * d / (b * c)
    se = np.sqrt(1 / a + 1 / b + 1 / c + 1 / d)
    low, high = ratio * np.exp(-1.96 * se), ratio * np.exp(1.96 * se)
    pooled = (a * d / (a + b + c + d)).sum() / (b * c / (a + b + c + d)).sum()
    return np.column_stack((ratio, low, high)), pooled, (low > 1) | (high < 1)


def contacts(rng, shape, dtype):
    upper = np.triu(rng.random(shape) < 0.2, 1)
    return ((upper | upper.T).astype(dtype),)


@program(contacts, shapes=((6, 6), (40, 40)), dtypes=("bool", "int8"))
def outbreak_on_a_network(adjacency, seed=2, chance=0.5):
    rng = np.random.default_rng(seed)
    n = len(adjacency)
    infected = np.zeros(n, dtype=bool)
    infected[0] = True
    recovered = np.zeros_like(infected)
    waves = []
    while infected.any() and len(waves) < 30:
        exposed = adjacency.astype(int) @ infected
        risk = 1 - (1 - chance) ** exposed
        new = (rng.random(n) < risk) & ~infected & ~recovered
        recovered |= infected
        infected = new
        waves.append(int(new.sum()))
    return recovered, waves


@program(rates, shapes=((5,), (200,)), dtypes=("float64", "float32"))
def predictive_values(prevalence, sensitivity=0.9, specificity=0.95):
    for name, value in (("sensitivity", sensitivity), ("specificity", specificity)):
        if not 0 < value <= 1:
            raise ValueError(f"{name} must be a probability, got {value}")
    positive = sensitivity * prevalence + (1 - specificity) * (1 - prevalence)
    ppv = sensitivity * prevalence / positive
    npv = specificity * (1 - prevalence) / (1 - positive)
    rg = (positive + specificity - 1) / (sensitivity + specificity - 1)
    return {"ppv": ppv, "npv": npv}, np.abs(rg - prevalence).max() < 1e-5


@program(cases, shapes=((15,), (40,)), dtypes=("int64", "float32"))
def detect_outbreak(counts, baseline=7, z=2.0):
    alarms = []
    cusum = 0.0
    path = np.zeros(len(counts))
    for t in range(baseline, len(counts)):
        window = counts[t - baseline : t]
        expected, spread = window.mean(), max(window.std(), 1.0)
        score = (counts[t] - expected) / spread
        cusum = max(0.0, cusum + score - 0.5)
        path[t] = cusum
        if score > z:
            alarms.append(t)
    return alarms, path


@program(rates, shapes=((3, 3), (8, 8)), dtypes=("float64", "float32"))
def next_generation_matrix(contact, tolerance=1e-5, max_iter=500):
    mixing = (contact + contact.T) / 2
    vector = np.ones(len(mixing), dtype=mixing.dtype) / len(mixing)
    value = 0.0
    for iteration in range(max_iter):
        product = mixing @ vector
        new = float(np.abs(product).max())
        vector = product / new
        if abs(new - value) < tolerance * new:
            break
        value = new
    else:
        raise ArithmeticError("no convergence")
    return new, vector, iteration < max_iter, np.sort(np.linalg.eigvals(mixing).real)[-1]


@program(cases, shapes=((7, 3), (50, 6)), dtypes=("int64", "float64"))
def summarize_regions(table):
    totals = table.sum(axis=0)
    share = totals / totals.sum()
    growth = table[1:] / np.maximum(table[:-1], 1)
    doubling = np.log(2) / np.log(growth.mean(axis=0))
    lines = [f"region {i}: {int(t)} cases ({s:.1%})" for i, (t, s) in enumerate(zip(totals, share))]
    for line in lines:
        print(line)
    return lines, doubling
