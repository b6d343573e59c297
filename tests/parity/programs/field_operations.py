"""Operations research: assignment, routing, queues and inventory as people write them."""

import itertools
from collections import deque
from contextlib import suppress

import numpy as np

from tests.parity.program import program


def costs(rng, shape, dtype):
    return (rng.uniform(1, 20, shape).astype(dtype),)


def demand(rng, shape, dtype):
    return (rng.poisson(12, shape).astype(dtype),)


class InfeasibleError(ValueError):
    """No plan meets the constraints."""


@program(costs, shapes=((3, 3), (6, 6), (7, 8)), dtypes=("float64", "float32", "int64"))
def assignment_by_enumeration(cost):
    n, m = cost.shape
    if n != m or n > 6:
        raise InfeasibleError(f"cannot enumerate {n} by {m}")
    rows = np.arange(n)
    best, plan = np.inf, None
    for permutation in itertools.permutations(range(n)):
        if permutation[0] > n // 2:
            break
        total = cost[rows, permutation].sum()
        if total < best:
            best, plan = total, permutation
    return best, plan


@program(costs, shapes=((6, 2), (25, 2)), dtypes=("float64", "float32"))
def nearest_neighbor_tour(cities):
    unvisited = set(range(1, len(cities)))
    tour = [0]
    while unvisited:
        candidates = sorted(unvisited)
        gap = np.hypot(*(cities[candidates] - cities[tour[-1]]).T)
        tour.append(candidates[int(gap.argmin())])
        unvisited.remove(tour[-1])
    loop = cities[tour + [0]]
    return tour, np.linalg.norm(np.diff(loop, axis=0), axis=1).sum()


@program(demand, shapes=((7,), (120,)), dtypes=("int64", "float64"))
def inventory_with_reorder_point(daily, reorder=30, batch=60, lead=2):
    stock, pipeline = 50, deque([0] * lead, maxlen=lead)
    lost, levels, orders = 0, [], 0
    for need in daily:
        stock += pipeline.popleft()
        sold = min(stock, int(need))
        lost += int(need) - sold
        stock -= sold
        if stock + sum(pipeline) < reorder:
            pipeline.append(batch)
            orders += 1
        else:
            pipeline.append(0)
        levels.append(stock)
    return {"lost": lost, "orders": orders, "service": 1 - lost / daily.sum()}, np.array(levels)


@program(costs, shapes=((8,), (40,)), dtypes=("float64", "float32"))
def single_server_queue(service, spread=1.1):
    arrivals = np.cumsum(service[::-1] * spread)
    start = np.empty_like(arrivals)
    finish = np.empty_like(arrivals)
    free = 0.0
    for i, (arrival, length) in enumerate(zip(arrivals, service)):
        start[i] = max(arrival, free)
        finish[i] = free = start[i] + length
    wait = start - arrivals
    utilization = service.sum() / finish[-1]
    return wait.mean(), wait.max(), utilization


def items(rng, shape, dtype):
    return rng.integers(1, 60, shape).astype(dtype), rng.integers(1, 12, shape)


@program(items, shapes=((5,), (12,)), dtypes=("int64", "float64", "float32"))
def knapsack(value, weight, capacity=25):
    best = np.zeros(capacity + 1, dtype=value.dtype)
    taken = np.zeros((len(value), capacity + 1), dtype=bool)
    for i, (v, w) in enumerate(zip(value, weight)):
        if w > capacity:
            continue
        candidate = best[: capacity + 1 - w] + v
        better = candidate > best[w:]
        taken[i, w:] = better
        best[w:] = np.where(better, candidate, best[w:])
    chosen, room = [], capacity
    for i in reversed(range(len(value))):
        if taken[i, room]:
            chosen.append(i)
            room -= int(weight[i])
    return best[-1], chosen[::-1], room


@program(costs, shapes=((4, 4), (20, 20)), dtypes=("float64", "float32"))
def all_pairs_shortest_paths(length):
    d = length.copy()
    np.fill_diagonal(d, 0)
    d[d > 14] = np.inf
    for k in range(len(d)):
        np.minimum(d, d[:, k, None] + d[None, k, :], out=d)
    reachable = np.isfinite(d)
    return d, reachable.all(), d[reachable].max()


@program(costs, shapes=((3, 4), (8, 15)), dtypes=("float64", "float32"))
def transport_northwest_corner(cost):
    rows, cols = cost.shape
    supply = [10 * cols] * rows
    need = [10 * rows] * cols
    if sum(supply) != sum(need):
        raise InfeasibleError("unbalanced")
    plan = np.zeros(cost.shape)
    i = j = 0
    while i < rows and j < cols:
        amount = min(supply[i], need[j])
        plan[i, j] = amount
        supply[i] -= amount
        need[j] -= amount
        if supply[i] == 0:
            i += 1
        else:
            j += 1
    return plan, np.vdot(plan, cost), np.count_nonzero(plan)


@program(costs, shapes=((3, 5), (6, 20)), dtypes=("float64", "float32"))
def projected_gradient(weights, target=10.0, step=0.002, steps=15):
    x = np.full(weights.shape[1], 0.5, dtype=weights.dtype)
    objective = lambda at: float(((weights @ at - target) ** 2).sum())
    before = objective(x)
    for k in range(steps):
        gradient = 2 * weights.T @ (weights @ x - target)
        np.clip(x - step / (1 + k) * gradient, 0, 1, out=x)
    return x, objective(x), objective(x) <= before


@program(items, shapes=((6,), (50,)), dtypes=("int64", "float64"))
def schedule_by_due_date(duration, due):
    rules = {"edd": np.argsort(due, kind="stable"), "spt": np.argsort(duration, kind="stable")}
    results = {}
    for name, order in rules.items():
        finish = duration[order].cumsum()
        late = np.maximum(finish - 5 * due[order], 0)
        results[name] = (late.sum(), late.max(), int((late > 0).sum()))
    with suppress(KeyError):
        results["edd"] = results["edd"] + (results["missing"],)
    return results


@program(costs, shapes=((4, 3), (30, 8)), dtypes=("float64", "float32"))
def topsis_ranking(scores, weights=None, benefit=None):
    n = scores.shape[1]
    weights = np.full(n, 1 / n, scores.dtype) if weights is None else np.asarray(weights)
    benefit = np.arange(n) % 2 == 0 if benefit is None else benefit
    v = weights * scores / np.sqrt((scores**2).sum(axis=0))
    ideal = np.where(benefit, v.max(axis=0), v.min(axis=0))
    worst = np.where(benefit, v.min(axis=0), v.max(axis=0))
    up = np.linalg.norm(v - ideal, axis=1)
    down = np.linalg.norm(v - worst, axis=1)
    closeness = down / (up + down)
    return closeness, closeness.argsort()[::-1]


@program(demand, shapes=((10,), (200,), (1,)), dtypes=("float64", "float32"))
def holt_forecast(y, horizon=3, alpha=0.4, beta=0.2):
    if len(y) < 2:
        raise ValueError("two observations at least")
    level, trend = y[0], y[1] - y[0]
    fitted = [level]
    for value in y[1:]:
        fitted.append(level + trend)
        previous = level
        level = alpha * value + (1 - alpha) * (level + trend)
        trend = beta * (level - previous) + (1 - beta) * trend
    errors = y - np.array(fitted)
    return (
        level + trend * np.arange(1, horizon + 1),
        np.mean(np.abs(errors)),
        np.sqrt((errors**2).mean()),
    )
