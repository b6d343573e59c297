"""Seismic traces: a synthetic shot, moveout, stacking, filters, picks and an envelope."""

import numpy as np

from benchmarks.regret.decorate import jit


@jit
def ricker(frequency, dt, length):
    t = (np.arange(length) - length // 2) * dt
    a = (np.pi * frequency * t) ** 2
    return (1 - 2 * a) * np.exp(-a)


@jit
def reflectivity(samples, depths, strengths):
    found = np.zeros(samples)
    for depth, strength in zip(depths, strengths, strict=True):
        found[depth] = strength
    return found


@jit
def trace(offset, dt, samples, layers, wavelet):
    found = np.zeros(samples)
    for time, velocity, strength in layers:
        arrival = np.sqrt(time**2 + (offset / velocity) ** 2)
        index = int(arrival / dt)
        if index < samples:
            found[index] += strength / (1 + offset / 3000)
    return np.convolve(found, wavelet, mode="same")


@jit
def gather(rng, offsets, dt, samples, layers):
    wavelet = ricker(25.0, dt, 61)
    traces = np.array([trace(offset, dt, samples, layers, wavelet) for offset in offsets])
    return traces + rng.normal(0, 0.02, traces.shape)


@jit
def moveout(traces, offsets, dt, velocity):
    samples = traces.shape[1]
    time = np.arange(samples) * dt
    found = np.zeros_like(traces)
    for number, offset in enumerate(offsets):
        shifted = np.sqrt(time**2 + (offset / velocity) ** 2)
        found[number] = np.interp(shifted, time, traces[number], right=0.0)
    return found


@jit
def semblance(corrected, width):
    kernel = np.ones(width) / width
    stacked = np.convolve(corrected.sum(axis=0) ** 2, kernel, mode="same")
    energy = np.convolve((corrected**2).sum(axis=0), kernel, mode="same")
    return stacked / (len(corrected) * energy + 1e-9)


@jit
def scan(traces, offsets, dt, velocities):
    return np.array([semblance(moveout(traces, offsets, dt, v), 21) for v in velocities])


@jit
def bandpass(signal, dt, low, high):
    frequencies = np.fft.rfftfreq(len(signal), dt)
    response = 1 / (1 + (frequencies / high) ** 8) - 1 / (1 + (frequencies / low) ** 8)
    return np.fft.irfft(np.fft.rfft(signal) * response, len(signal))


@jit
def agc(signal, width):
    power = np.convolve(signal**2, np.ones(width) / width, mode="same")
    return signal / (np.sqrt(power) + 1e-6)


@jit
def envelope(signal):
    spectrum = np.fft.fft(signal)
    spectrum[1 : len(signal) // 2] *= 2
    spectrum[len(signal) // 2 + 1 :] = 0
    return np.abs(np.fft.ifft(spectrum))


@jit
def picks(signal, short, long, threshold):
    found, sta, lta, armed = [], 0.0, 1e-3, True
    for number in range(len(signal)):
        power = signal[number] * signal[number]
        sta += (power - sta) / short
        lta += (power - lta) / long
        if armed and sta / lta > threshold:
            found.append(number)
            armed = False
        elif sta / lta < 1.0:
            armed = True
    return found


class Survey:
    def __init__(self, rng, dt=0.002, samples=750):
        self.dt = dt
        self.layers = [(0.3, 1600.0, 1.0), (0.7, 2100.0, -0.7), (1.1, 2600.0, 0.5)]
        self.offsets = np.linspace(100, 1500, 24)
        self.traces = gather(rng, self.offsets, dt, samples, self.layers)

    @jit
    def process(self):
        self.traces = np.array([bandpass(each, self.dt, 5, 60) for each in self.traces])
        return np.array([agc(each, 101) for each in self.traces])

    @jit
    def velocities(self):
        tried = np.linspace(1400, 2900, 16)
        power = scan(self.traces, self.offsets, self.dt, tried)
        at = [int(time / self.dt) for time, _, _ in self.layers]
        return tried[power[:, at].argmax(axis=0)]

    @jit
    def stack(self, velocity):
        return moveout(self.traces, self.offsets, self.dt, velocity).mean(axis=0)


def run():
    survey = Survey(np.random.default_rng(4))
    balanced = survey.process()
    velocities = survey.velocities()
    stacked = survey.stack(2000.0)
    first = picks(stacked, 8, 60, 2.5)
    return (
        float(velocities.sum()),
        float(envelope(stacked).max()),
        len(first),
        float(balanced.std()),
    )
