"""Finance: option prices, returns, risk, indicators."""

import math
from dataclasses import dataclass

import numpy as np

from tests.parity.program import program


def prices(rng, shape, dtype):
    steps = rng.normal(0.0005, 0.01, shape)
    return ((100 * np.exp(np.cumsum(steps))).astype(dtype),)


def options(rng, shape, dtype):
    spot = rng.uniform(80, 120, shape).astype(dtype)
    strike = rng.uniform(80, 120, shape).astype(dtype)
    return spot, strike, rng.uniform(0.25, 2, shape).astype(dtype)


def returns_of_assets(rng, shape, dtype):
    common = rng.normal(0, 0.01, (*shape, 1))
    return ((common + rng.normal(0.001, 0.01, (*shape, 4))).astype(dtype),)


def normal_cdf(x):
    """Abramowitz and Stegun, 26.2.17."""
    t = 1 / (1 + 0.2316419 * np.abs(x))
    poly = t * (0.319381530 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978))))
    tail = np.exp(-x * x / 2) / math.sqrt(2 * math.pi) * (poly + 1.330274429 * t**5)
    return np.where(x >= 0, 1 - tail, tail)


@program(options)
def black_scholes(spot, strike, years, rate=0.03, volatility=0.25):
    spread = volatility * np.sqrt(years)
    d1 = (np.log(spot / strike) + (rate + volatility**2 / 2) * years) / spread
    d2 = d1 - spread
    discounted = strike * np.exp(-rate * years)
    call = spot * normal_cdf(d1) - discounted * normal_cdf(d2)
    return call, call - spot + discounted


@dataclass
class Greeks:
    """Sensitivities of a call."""

    delta: np.ndarray
    gamma: np.ndarray
    vega: np.ndarray


@program(options)
def greeks(spot, strike, years):
    root = np.sqrt(years)
    d1 = np.log(spot / strike) / (0.2 * root) + 0.1 * root
    density = np.exp(-(d1**2) / 2) / math.sqrt(2 * math.pi)
    return Greeks(normal_cdf(d1), density / (spot * 0.2 * root), spot * density * root)


@program(options, shapes=((5,), (20,)))
def implied_volatility(spot, strike, years):
    """Bisection for all options at once; the prices come from a volatility of 0.3."""

    def price(volatility):
        spread = volatility * np.sqrt(years)
        d1 = np.log(spot / strike) / spread + spread / 2
        return spot * normal_cdf(d1) - strike * normal_cdf(d1 - spread)

    target = price(0.3)
    low, high = np.full_like(spot, 0.05), np.ones_like(spot)
    for _ in range(8):
        middle = (low + high) / 2
        cheap = price(middle) < target
        low, high = np.where(cheap, middle, low), np.where(cheap, high, middle)
    return (low + high) / 2


@program(
    lambda rng, shape, dtype: (dtype.type(rng.uniform(90, 110)), shape[0]), shapes=((4,), (12,))
)
def american_put_on_a_tree(spot, steps):
    up = np.exp(0.3 * np.sqrt(1 / steps))
    down = 1 / up
    growth = np.exp(0.05 / steps)
    p = (growth - down) / (up - down)
    j = np.arange(steps + 1)
    value = np.maximum(100 - spot * up ** (2.0 * j - steps), 0)
    for step in range(steps - 1, -1, -1):
        stock = spot * up ** (2.0 * np.arange(step + 1) - step)
        hold = (p * value[1:] + (1 - p) * value[:-1]) / growth
        value = np.maximum(hold, 100 - stock)
    return value[0]


@program(lambda rng, shape, dtype: (dtype.type(100), rng, shape[0]))
def monte_carlo_asian_option(spot, rng, paths):
    steps = 10
    z = rng.standard_normal((paths, steps)).astype(type(spot))
    log_returns = (0.02 - 0.02) / steps + 0.2 / np.sqrt(steps) * z
    path = spot * np.exp(np.cumsum(log_returns, axis=1))
    payoff = np.maximum(path.mean(axis=1) - 100, 0) * math.exp(-0.02)
    return payoff.mean(), payoff.std(ddof=1) / math.sqrt(paths)


@program(returns_of_assets)
def portfolio_statistics(returns):
    weights = np.array([0.4, 0.3, 0.2, 0.1], dtype=returns.dtype)
    mean = returns.mean(axis=0) * 252
    covariance = np.cov(returns, rowvar=False) * 252
    volatility = np.sqrt(weights @ covariance @ weights)
    contributions = weights * (covariance @ weights) / volatility**2
    return {"mean": weights @ mean, "volatility": volatility, "shares": contributions}


@program(returns_of_assets)
def minimum_variance_weights(returns):
    centered = returns - returns.mean(axis=0)
    covariance = centered.T @ centered / (len(returns) - 1)
    raw = np.linalg.solve(covariance, np.ones(covariance.shape[0], dtype=returns.dtype))
    weights = raw / raw.sum()
    if (weights < 0).any():
        weights = np.maximum(weights, 0)
        weights = weights / weights.sum()
    return weights


@program(prices)
def drawdown(price):
    peak = np.maximum.accumulate(price)
    fall = price / peak - 1
    bottom = int(fall.argmin())
    top = int(price[: bottom + 1].argmax())
    return fall, fall[bottom], (top, bottom)


@program(prices)
def sharpe_and_sortino(price):
    returns = np.diff(np.log(price))
    excess = returns - 0.0001
    downside = excess[excess < 0]
    if downside.size < 2:
        return None
    sortino = excess.mean() / np.sqrt((downside**2).mean())
    return excess.mean() / excess.std(ddof=1) * math.sqrt(252), sortino


@program(prices)
def bollinger_bands(price, window=6, width=2.0):
    views = np.lib.stride_tricks.sliding_window_view(price, window)
    middle = views.mean(axis=-1)
    spread = width * views.std(axis=-1)
    last = price[window - 1 :]
    signal = np.select([last > middle + spread, last < middle - spread], [-1, 1], default=0)
    return middle - spread, middle + spread, signal


@program(prices, shapes=((20,), (30,)))
def relative_strength_index(price, period=5):
    change = np.diff(price)
    gain, loss = np.where(change > 0, change, 0), np.where(change < 0, -change, 0)
    up, down = gain[:period].mean(), loss[:period].mean()
    index = np.full(len(price), np.nan, dtype=price.dtype)
    for day in range(period, len(change)):
        up = (up * (period - 1) + gain[day]) / period
        down = (down * (period - 1) + loss[day]) / period
        index[day + 1] = 100 if down == 0 else 100 - 100 / (1 + up / down)
    return index


@program(prices, shapes=((12,), (60,)))
def crossing_averages(price):
    fast, slow = price[0], price[0]
    position, trades = 0, []
    for day, today in enumerate(price):
        fast += (today - fast) * 0.5
        slow += (today - slow) * 0.125
        wanted = 1 if fast > slow else 0
        if wanted != position:
            trades.append((day, "buy" if wanted else "sell"))
            position = wanted
    return trades, float(fast) > float(slow)


@program(returns_of_assets)
def value_at_risk(returns, level=0.9):
    losses = -returns.sum(axis=1)
    ordered = np.sort(losses)
    cut = int(np.ceil(level * len(ordered))) - 1
    return ordered[cut], ordered[cut:].mean()


@program(prices, shapes=((12,), (50,)))
def garch_variance(price):
    returns = np.diff(price) / price[:-1]
    variance = np.empty_like(returns)
    variance[0] = returns.var()
    for t in range(1, len(returns)):
        variance[t] = 1e-6 + 0.08 * returns[t - 1] ** 2 + 0.9 * variance[t - 1]
    likelihood = -0.5 * np.sum(np.log(2 * np.pi * variance) + returns**2 / variance)
    return np.sqrt(variance), likelihood


@program(lambda rng, shape, dtype: (rng.uniform(80, 120, shape).astype(dtype), 0.05))
def bond_yields(price, coupon):
    """Newton for the yield of a ten-year bond at each price."""
    years = np.arange(1, 11, dtype=price.dtype)
    flows = np.full(10, 100 * coupon, dtype=price.dtype)
    flows[-1] += 100
    rate = np.full_like(price, 0.05)
    for _ in range(5):
        discount = (1 + rate[:, None]) ** -years
        value = (flows * discount).sum(axis=1)
        slope = -(years * flows * discount).sum(axis=1) / (1 + rate)
        rate = rate - (value - price) / slope
    return rate


def loan(rng, shape, dtype):
    """A long one at a low rate: large powers of it cancel, and leave nothing but their rounding."""
    months = shape[0]
    rate = () if months <= 1000 else (60 / months,)
    return (dtype.type(rng.uniform(1e4, 1e5)), months, *rate)


@program(loan)
def loan_schedule(principal, months, yearly=0.06):
    if yearly < 0:
        raise ValueError("a rate is not negative")
    monthly = yearly / 12
    payment = principal * monthly / (1 - (1 + monthly) ** -months)
    k = np.arange(months)
    owed = principal * (1 + monthly) ** k - payment * ((1 + monthly) ** k - 1) / monthly
    interest = owed * monthly
    print(f"{months} payments")
    return payment, interest, payment - interest
