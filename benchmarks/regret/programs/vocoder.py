"""A phase vocoder with a periodogram: frames, windows, stretched phases, filters and notes."""

import numpy as np

from benchmarks.regret.decorate import jit

RATE = 8000


@jit
def tone(frequency, seconds, attack=0.02):
    t = np.arange(int(seconds * RATE)) / RATE
    partials = sum(np.sin(2 * np.pi * frequency * k * t) / k for k in range(1, 5))
    return partials * np.minimum(t / attack, 1) * np.exp(-2 * t)


@jit
def melody(notes, seconds):
    return np.concatenate([tone(440 * 2 ** (note / 12), seconds) for note in notes])


@jit
def frames(signal, size, hop):
    count = 1 + (len(signal) - size) // hop
    index = np.arange(size)[None, :] + hop * np.arange(count)[:, None]
    return signal[index]


@jit
def analyze(signal, size, hop):
    return np.fft.rfft(frames(signal, size, hop) * np.hanning(size), axis=1)


@jit
def wrap(phase):
    return phase - 2 * np.pi * np.round(phase / (2 * np.pi))


@jit
def stretch(spectra, factor, size, hop):
    positions = np.arange(0, len(spectra) - 1, 1 / factor)
    expected = 2 * np.pi * hop * np.arange(spectra.shape[1]) / size
    phase, found = np.angle(spectra[0]), []
    for position in positions:
        number = int(position)
        part = position - number
        left, right = spectra[number], spectra[number + 1]
        magnitude = (1 - part) * np.abs(left) + part * np.abs(right)
        found.append(magnitude * np.exp(1j * phase))
        phase = phase + expected + wrap(np.angle(right) - np.angle(left) - expected)
    return np.array(found)


@jit
def synthesize(spectra, size, hop):
    window = np.hanning(size)
    signal = np.zeros(hop * (len(spectra) - 1) + size)
    weight = np.full(len(signal), 1e-8)
    for number, frame in enumerate(np.fft.irfft(spectra, size, axis=1)):
        start = number * hop
        signal[start : start + size] += frame * window
        weight[start : start + size] += window**2
    return signal / weight


@jit
def preemphasis(signal, coefficient=0.95):
    found = np.empty_like(signal)
    found[0] = signal[0]
    for number in range(1, len(signal)):
        found[number] = signal[number] - coefficient * signal[number - 1]
    return found


@jit
def resonator(signal, frequency, radius):
    a1, a2 = 2 * radius * np.cos(2 * np.pi * frequency / RATE), -radius * radius
    found, y1, y2 = np.empty_like(signal), 0.0, 0.0
    for number in range(len(signal)):
        y = signal[number] + a1 * y1 + a2 * y2
        found[number] = y
        y1, y2 = y, y1
    return found


@jit
def periodogram(signal, size):
    spectra = np.abs(analyze(signal, size, size // 2)) ** 2
    return spectra.mean(axis=0)


@jit
def pitch(spectrum, size):
    peak = spectrum[2:].argmax() + 2
    left, middle, right = np.log(spectrum[peak - 1 : peak + 2] + 1e-12)
    return (peak + 0.5 * (left - right) / (left - 2 * middle + right)) * RATE / size


class Voice:
    def __init__(self, signal, size=512, hop=128):
        self.signal, self.size, self.hop = signal, size, hop

    @jit
    def stretched(self, factor):
        spectra = analyze(self.signal, self.size, self.hop)
        longer = stretch(spectra, factor, self.size, self.hop)
        return Voice(synthesize(longer, self.size, self.hop), self.size, self.hop)

    @jit
    def level(self):
        return 20 * np.log10(np.sqrt((self.signal**2).mean()) + 1e-9)


def run():
    voice = Voice(melody((0, 4, 7), 0.4))
    longer = voice.stretched(1.4)
    filtered = resonator(preemphasis(longer.signal), 700.0, 0.95)
    return (
        float(pitch(periodogram(longer.signal, 1024), 1024)),
        float(longer.level()),
        float(filtered.std()),
    )
