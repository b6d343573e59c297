"""Finance: returns, risk, options, bonds and portfolios as people write them."""

import itertools
import math
from collections import namedtuple

import numpy as np

from tests.parity.program import program

TRADING_DAYS = 252
CDF_COEFFICIENTS = (0.319381530, -0.356563782, 1.781477937, -1.821255978, 1.330274429)
Greeks = namedtuple("Greeks", ["price", "delta", "vega"])


def prices(rng, shape, dtype):
    steps = rng.normal(0.0003, 0.012, shape)
    return (np.asarray(100 * np.exp(np.cumsum(steps, axis=0)), dtype=dtype),)


def spots_and_strikes(rng, shape, dtype):
    spot = rng.uniform(50, 150, shape).astype(dtype)
    strike = rng.uniform(60, 140, shape).astype(dtype)
    years = rng.uniform(0.1, 2.0, shape).astype(dtype)
    return spot, strike, years


def cash_flows(rng, shape, dtype):
    flows = rng.uniform(20, 80, shape)
    flows[0] = -0.55 * flows[1:].sum()
    return (flows.astype(dtype),)


def normal_cdf(x):
    """Abramowitz and Stegun 26.2.17."""
    k = 1 / (1 + 0.2316419 * np.abs(x))
    poly = 0.0
    for coefficient in reversed(CDF_COEFFICIENTS):
        poly = k * (coefficient + poly)
    tail = np.exp(-x * x / 2) / math.sqrt(2 * math.pi) * poly
    return np.where(x >= 0, 1 - tail, tail)


@program(spots_and_strikes, shapes=((8,), (1001,)), dtypes=("float64", "float32"))
def black_scholes(spot, strike, years, rate=0.02, sigma=0.25):
    root = sigma * np.sqrt(years)
    d1 = (np.log(spot / strike) + (rate + 0.5 * sigma**2) * years) / root
    d2 = d1 - root
    price = spot * normal_cdf(d1) - strike * np.exp(-rate * years) * normal_cdf(d2)
    density = np.exp(-0.5 * d1**2) / math.sqrt(2 * math.pi)
    return Greeks(price, delta=normal_cdf(d1), vega=spot * density * np.sqrt(years))


@program(prices, shapes=((30,), (600,)), dtypes=("float64", "float32"))
def risk_report(price):
    returns = np.diff(price) / price[:-1]
    peak = np.maximum.accumulate(price)
    drawdown = price / peak - 1
    report = {
        "annual_return": returns.mean() * TRADING_DAYS,
        "volatility": returns.std(ddof=1) * math.sqrt(TRADING_DAYS),
        "max_drawdown": float(drawdown.min()),
        "worst_day": int(returns.argmin()),
        "var_95": np.percentile(returns, 5),
    }
    if report["volatility"]:
        report["sharpe"] = report["annual_return"] / report["volatility"]
    report["cvar_95"] = returns[returns <= report["var_95"]].mean()
    return report


@program(prices, shapes=((40,), (500,)), dtypes=("float64", "float32"))
def moving_average_crossover(price, fast=5, slow=15):
    def sma(window):
        total = np.cumsum(np.insert(price, 0, 0))
        out = np.full(price.shape, np.nan, dtype=price.dtype)
        out[window - 1 :] = (total[window:] - total[:-window]) / window
        return out

    with np.errstate(invalid="ignore"):
        above = sma(fast) > sma(slow)
    signal = np.zeros(len(price), dtype=np.int8)
    signal[1:] = above[1:].astype(np.int8) - above[:-1].astype(np.int8)
    signal[:slow] = 0
    buys, sells = np.flatnonzero(signal == 1), np.flatnonzero(signal == -1)
    return signal, buys.tolist(), sells.tolist()


@program(cash_flows, shapes=((6,), (25,)), dtypes=("float64",))
def internal_rate_of_return(flows, guess=0.1, tolerance=1e-9):
    periods = np.arange(len(flows))
    rate = guess
    for iteration in range(100):
        discount = (1 + rate) ** -periods
        value = (flows * discount).sum()
        slope = -(periods * flows * discount).sum() / (1 + rate)
        if slope == 0:
            raise ZeroDivisionError("flat present value")
        step = value / slope
        rate -= step
        if abs(step) < tolerance:
            return round(float(rate), 6), iteration < 50
    return None


class Portfolio:
    """Holdings that are rebalanced to targets."""

    def __init__(self, weights, cash=1000.0):
        self.weights = np.asarray(weights)
        self.value = cash
        self.history = []

    def step(self, growth):
        grown = self.weights * growth
        self.value *= grown.sum()
        self.history.append(self.value)
        turnover = np.abs(grown / grown.sum() - self.weights).sum()
        return turnover


@program(prices, shapes=((12, 4), (90, 6)), dtypes=("float64", "float32"))
def rebalanced_portfolio(price):
    assets = price.shape[1]
    portfolio = Portfolio([1 / assets] * assets)
    turnovers = [portfolio.step(today / before) for before, today in itertools.pairwise(price)]
    return portfolio.value, np.array(portfolio.history), np.array(turnovers)


@program(prices, shapes=((30, 3), (120, 8)), dtypes=("float64",))
def minimum_variance_weights(price, ridge=1e-6):
    returns = np.log(price[1:] / price[:-1])
    cov = np.cov(returns, rowvar=False) * TRADING_DAYS
    ones = np.ones(len(cov))
    try:
        raw = np.linalg.solve(cov + ridge * np.eye(len(cov)), ones)
    except np.linalg.LinAlgError:
        raw = ones
    weights = raw / raw.sum()
    risk = np.sqrt(weights @ cov @ weights)
    corr = cov / np.sqrt(np.outer(np.diag(cov), np.diag(cov)))
    return weights, float(risk), np.triu(corr, k=1).max()


def coupons(rng, shape, dtype):
    return rng.uniform(0.5, 6, shape).astype(dtype), rng.integers(1, 30, shape)


@program(coupons, shapes=((5,), (14,)), dtypes=("float64", "float32"))
def bond_table(coupon, years, yield_=0.035):
    rows = []
    for c, n in zip(coupon, years, strict=True):
        t = np.arange(1, n + 1)
        pv = np.append(np.full(n - 1, c), c + 100) / (1 + yield_) ** t
        price = pv.sum()
        duration = (t * pv).sum() / price
        rows.append((price, duration, duration / (1 + yield_)))
    table = np.array(rows)
    order = np.argsort(table[:, 1], kind="stable")
    return table[order], order


@program(prices, shapes=((20,), (40,)), dtypes=("float64", "float32"))
def relative_strength(price, period=7):
    change = np.diff(price)
    gain, loss = change.clip(min=0), -change.clip(max=0)
    average_gain, average_loss = gain[:period].mean(), loss[:period].mean()
    rsi = [np.nan] * period
    for up, down in zip(gain[period:], loss[period:]):
        average_gain = (average_gain * (period - 1) + up) / period
        average_loss = (average_loss * (period - 1) + down) / period
        rs = average_gain / average_loss if average_loss > 0 else np.inf
        rsi.append(100 - 100 / (1 + rs))
    return np.asarray(rsi, dtype=price.dtype)


def simulation(rng, shape, dtype):
    return np.random.default_rng(int(rng.integers(1 << 30))), shape, dtype


@program(simulation, shapes=((16, 10), (300, 24)), dtypes=("float64", "float32"))
def asian_option_monte_carlo(generator, shape, dtype, spot=100.0, strike=98.0):
    paths, steps = shape
    dt = 1.0 / steps
    noise = generator.standard_normal((paths, steps), dtype=dtype)
    noise = np.concatenate([noise, -noise])
    log_paths = np.cumsum((0.01 - 0.02) * dt + 0.2 * np.sqrt(dt) * noise, axis=1)
    average = (spot * np.exp(log_paths)).mean(axis=1)
    payoff = np.maximum(average - strike, 0)
    price = np.exp(-0.01) * payoff.mean()
    error = payoff.std(ddof=1) / np.sqrt(payoff.size)
    return price, error, generator.random()


@program(prices, shapes=((15,), (200,)), dtypes=("float64", "float32", "int64"))
def validated_log_returns(price, *, fill=0.0):
    if price.ndim != 1:
        raise ValueError("one series at a time")
    if np.issubdtype(price.dtype, np.integer):
        raise TypeError(f"prices of dtype {price.dtype} lose cents")
    if (price <= 0).any():
        raise ValueError("prices must be positive")
    out = np.empty(price.shape, price.dtype)
    out[0] = fill
    growth = np.divide(price[1:], price[:-1], out=out[1:])
    np.log(growth, out=growth)
    return out
