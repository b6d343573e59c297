"""Sports and metrics: ratings, tables, tracking data and dashboards as people write them."""

import time
from functools import cache, wraps
from operator import itemgetter

import numpy as np

from tests.parity.program import program

POINTS = {"win": 3, "draw": 1, "loss": 0}


def goals(rng, shape, dtype):
    return (rng.poisson(1.4, shape).astype(dtype),)


def track(rng, shape, dtype):
    return (np.cumsum(rng.normal(0.5, 1, (*shape, 2)), axis=0).astype(dtype),)


def ratings(rng, shape, dtype):
    return (rng.normal(1500, 150, shape).astype(dtype),)


@program(goals, shapes=((4, 4), (12, 12)), dtypes=("int64", "int32", "float64"))
def league_table(home):
    away = home.T
    off = ~np.eye(len(home), dtype=bool)
    points = np.where(home == away, POINTS["draw"], POINTS["loss"])
    points[home > away] = POINTS["win"]
    totals = (points * off).sum(axis=1)
    difference = ((home - away) * off).sum(axis=1)
    order = np.lexsort((-difference, -totals))
    return [(int(team), int(totals[team]), int(difference[team])) for team in order]


@program(ratings, shapes=((5,), (24,)), dtypes=("float64", "float32"))
def elo_updates(rating, k=20.0):
    results = []
    for a, b in zip(range(len(rating) - 1), range(1, len(rating))):
        expected = 1 / (1 + 10 ** ((rating[b] - rating[a]) / 400))
        won = float((a * 7 + b) % 3 == 0)
        change = k * (won - expected)
        rating[a] += change
        rating[b] -= change
        results.append(expected)
    return results, rating.mean()


@program(track, shapes=((10,), (500,)), dtypes=("float64", "float32"))
def running_speed_zones(xy, hz=10):
    step = np.linalg.norm(np.diff(xy, axis=0), axis=1)
    speed = step * hz
    zones = {"walk": (0, 5), "jog": (5, 12), "sprint": (12, np.inf)}
    seconds = {}
    for name, (low, high) in zones.items():
        seconds[name] = float(np.sum((speed >= low) & (speed < high)) / hz)
    covered = np.concatenate([[0], step.cumsum()])
    splits = np.interp(np.arange(0, covered[-1], 10), covered, np.arange(len(xy)) / hz)
    return step.sum(), seconds, splits


@cache
def expected_goals(distance, angle):
    return 1 / (1 + np.exp(0.12 * distance - 1.1 * angle))


@program(track, shapes=((6,), (40,)), dtypes=("float64",))
def shot_quality(xy):
    distance = np.round(np.abs(xy[:, 0]) + 5, 1)
    angle = np.arctan2(7.32 * distance, distance**2 + xy[:, 1] ** 2 - 3.66**2)
    quality = [expected_goals(d, round(a, 2)) for d, a in zip(distance.tolist(), angle.tolist())]
    chance = 1 - np.prod(1 - np.array(quality))
    return quality, chance


@program(goals, shapes=((8,), (300,)), dtypes=("int64", "float64"))
def streaks_and_form(scored):
    won = scored >= 2
    padded = np.concatenate(([False], won, [False]))
    edges = np.flatnonzero(padded[1:] != padded[:-1])
    runs = edges[1::2] - edges[::2]
    form = ["W" if w else "L" for w in won[-5:]]
    return runs.max() if runs.size else 0, "".join(form), np.mean(won).item()


@program(goals, shapes=((3, 6), (20, 15)), dtypes=("int64", "float32"))
def poisson_attack_strength(scored, iterations=15):
    attack = np.ones(scored.shape[0])
    defense = np.ones(scored.shape[1])
    for _ in range(iterations):
        attack = scored.sum(axis=1) / defense.sum()
        attack /= max(attack.mean(), 1e-9)
        defense = scored.sum(axis=0) / attack.sum()
    rate = np.outer(attack, defense)
    likelihood = (scored * np.log(rate + 1e-9) - rate).sum()
    return attack, defense, likelihood


def timed(function):
    @wraps(function)
    def wrapper(*args, **kwargs):
        begin = time.perf_counter()
        value = function(*args, **kwargs)
        wrapper.calls += 1
        return value, time.perf_counter() >= begin

    wrapper.calls = 0
    return wrapper


@timed
def rolling_mean(x, n):
    c = np.cumsum(np.concatenate([[0.0], x]))
    return (c[n:] - c[:-n]) / n


@program(ratings, shapes=((9,), (250,)), dtypes=("float64", "float32"))
def timed_rolling_means(values, *windows):
    windows = windows or (2, 3, 7)
    before = rolling_mean.calls
    means = {n: rolling_mean(values, n)[0] for n in windows}
    return means, rolling_mean.calls - before


@program(ratings, shapes=((20,), (1000,)), dtypes=("float64", "float32"))
def latency_dashboard(latency, slo=1600.0):
    quantiles = (50, 90, 99)
    report = {f"p{q}": float(np.percentile(latency, q)) for q in quantiles}
    report["availability"] = np.count_nonzero(latency < slo) / latency.size
    tolerable = (latency > 1500) & (latency <= slo)
    report["apdex"] = (np.sum(latency <= 1500) + 0.5 * np.sum(tolerable)) / len(latency)
    hist, edges = np.histogram(latency, bins=np.arange(800, 2300, 100))
    bars = ["#" * int(10 * h / max(hist.max(), 1)) for h in hist]
    return report, hist, bars


@program(ratings, shapes=((6,), (64,)), dtypes=("float64", "float32"))
def single_elimination(rating):
    field = list(enumerate(rating.tolist()))
    rounds = 0
    while len(field) > 1:
        field.sort(key=itemgetter(1), reverse=True)
        if len(field) % 2:
            field, bye = field[:-1], [field[-1]]
        else:
            bye = []
        pairs = zip(field[: len(field) // 2], reversed(field[len(field) // 2 :]))
        field = [max(pair, key=itemgetter(1)) for pair in pairs] + bye
        rounds += 1
    return field[0][0], rounds, field[0][1]


def retention(rng, shape, dtype):
    return rng.integers(0, shape[0] // 2, shape[0]), rng.integers(0, 28, shape[0]).astype(dtype)


@program(retention, shapes=((12,), (400,)), dtypes=("int64", "int32"))
def weekly_active_users(user, day):
    week = day // 7
    pairs = np.unique(np.stack([user, week], axis=1), axis=0)
    active = np.bincount(pairs[:, 1], minlength=4)
    matrix = np.zeros((user.max() + 1, 4), dtype=bool)
    matrix[pairs[:, 0], pairs[:, 1]] = True
    kept = [(matrix[:, w] & matrix[:, w + 1]).sum() / max(active[w], 1) for w in range(3)]
    return active, np.round(kept, 4), matrix.any(axis=1).sum()
