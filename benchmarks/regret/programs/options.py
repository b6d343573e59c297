"""A book of options: closed forms, a tree, implied volatilities and simulated paths."""

import math

import numpy as np

from benchmarks.regret.decorate import jit


@jit
def normal_cdf(x):
    t = 1 / (1 + 0.2316419 * np.abs(x))
    poly = t * (
        0.319381530 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429)))
    )
    tail = np.exp(-0.5 * x * x) / math.sqrt(2 * math.pi) * poly
    return np.where(x >= 0, 1 - tail, tail)


@jit
def d_values(spot, strike, years, rate, sigma):
    root = sigma * np.sqrt(years)
    d1 = (np.log(spot / strike) + (rate + 0.5 * sigma**2) * years) / root
    return d1, d1 - root


@jit
def call_price(spot, strike, years, rate, sigma):
    d1, d2 = d_values(spot, strike, years, rate, sigma)
    return spot * normal_cdf(d1) - strike * np.exp(-rate * years) * normal_cdf(d2)


@jit
def put_price(spot, strike, years, rate, sigma):
    return call_price(spot, strike, years, rate, sigma) - spot + strike * np.exp(-rate * years)


@jit
def greeks(spot, strike, years, rate, sigma):
    d1, d2 = d_values(spot, strike, years, rate, sigma)
    density = np.exp(-0.5 * d1**2) / np.sqrt(2 * np.pi)
    return {
        "delta": normal_cdf(d1),
        "gamma": density / (spot * sigma * np.sqrt(years)),
        "vega": spot * density * np.sqrt(years),
        "rho": strike * years * np.exp(-rate * years) * normal_cdf(d2),
    }


@jit
def implied(prices, spot, strike, years, rate):
    sigma = np.full(prices.shape, 0.3)
    for _ in range(20):
        error = call_price(spot, strike, years, rate, sigma) - prices
        vega = greeks(spot, strike, years, rate, sigma)["vega"]
        sigma = np.clip(sigma - error / np.maximum(vega, 1e-8), 1e-3, 3)
        if np.abs(error).max() < 1e-9:
            break
    return sigma


@jit
def american_put(spot, strike, years, rate, sigma, steps):
    dt = years / steps
    up = math.exp(sigma * math.sqrt(dt))
    chance = (math.exp(rate * dt) - 1 / up) / (up - 1 / up)
    discount = math.exp(-rate * dt)
    prices = spot * up ** np.arange(steps, -steps - 1, -2)
    values = np.maximum(strike - prices, 0)
    for _ in range(steps):
        prices = prices[:-1] / up
        values = discount * (chance * values[:-1] + (1 - chance) * values[1:])
        values = np.maximum(values, strike - prices)
    return values[0]


@jit
def paths(rng, spot, rate, sigma, years, steps, count):
    dt = years / steps
    shocks = rng.normal(size=(steps, count))
    drift = (rate - 0.5 * sigma**2) * dt
    return spot * np.exp(np.cumsum(drift + sigma * math.sqrt(dt) * shocks, axis=0))


@jit
def asian_call(rng, spot, strike, rate, sigma, years):
    simulated = paths(rng, spot, rate, sigma, years, 50, 4000)
    payoff = np.maximum(simulated.mean(axis=0) - strike, 0)
    price = math.exp(-rate * years) * payoff
    return price.mean(), price.std() / math.sqrt(len(price))


class Book:
    def __init__(self, rng, count):
        self.strike = rng.uniform(70, 130, count)
        self.years = rng.uniform(0.1, 2, count)
        self.sigma = rng.uniform(0.1, 0.6, count)
        self.amount = rng.integers(-50, 50, count)

    @jit
    def value(self, spot, rate):
        prices = call_price(spot, self.strike, self.years, rate, self.sigma)
        return (self.amount * prices).sum()

    @jit
    def delta(self, spot, rate):
        return (
            self.amount * greeks(spot, self.strike, self.years, rate, self.sigma)["delta"]
        ).sum()

    @jit
    def ladder(self, spots, rate):
        return np.array([(self.value(spot, rate), self.delta(spot, rate)) for spot in spots])


def run():
    rng = np.random.default_rng(2)
    book = Book(rng, 2000)
    ladder = book.ladder(np.linspace(80, 120, 21), 0.02)
    prices = call_price(100.0, book.strike, book.years, 0.02, book.sigma)
    sigma = implied(prices, 100.0, book.strike, book.years, 0.02)
    tree = american_put(100.0, 105.0, 1.0, 0.03, 0.25, 400)
    asian, error = asian_call(rng, 100.0, 100.0, 0.02, 0.3, 1.0)
    return (
        float(ladder.sum()),
        float(np.median(np.abs(sigma - book.sigma))) < 1e-3,
        float(tree),
        float(asian),
    )
