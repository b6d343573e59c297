"""Signal processing: filters, spectra and detectors as people write them."""

import numpy as np

from tests.parity.program import program


def signal(rng, shape, dtype):
    t = np.arange(shape[-1])
    return ((np.sin(0.3 * t) + 0.3 * rng.normal(0, 1, shape)).astype(dtype),)


@program(signal, shapes=((12,), (257,)), dtypes=("float64", "float32"))
def moving_average(x, width=5):
    kernel = np.ones(width) / width
    return np.convolve(x, kernel, mode="same"), np.convolve(x, kernel, "valid")


@program(signal, shapes=((32,), (1024,)), dtypes=("float64", "float32"))
def power_spectrum(x, rate=100.0):
    window = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(x.size) / x.size)
    spectrum = np.fft.rfft((x - x.mean(dtype=float)) * window)
    power = np.abs(spectrum) ** 2 / (rate * (window**2).sum())
    power[1:-1] *= 2
    freqs = np.fft.rfftfreq(x.size, d=1 / rate)
    peak = int(power[1:].argmax()) + 1
    return freqs, power, freqs[peak].item()


@program(signal, shapes=((20,), (70,)), dtypes=("float64", "float32"))
def exponential_smoothing(x, alpha=0.3):
    out = np.empty_like(x)
    state = x[0]
    for i, value in enumerate(x):
        state = alpha * value + (1 - alpha) * state
        out[i] = state
    return out


def biquad(b0, b1, b2, a1, a2):
    """Make a stateful second-order filter."""
    z1 = z2 = 0.0

    def process(samples):
        nonlocal z1, z2
        out = []
        for s in samples:
            y = b0 * s + z1
            z1 = b1 * s - a1 * y + z2
            z2 = b2 * s - a2 * y
            out.append(y)
        return np.array(out)

    return process


@program(signal, shapes=((16,), (120,)), dtypes=("float64", "float32"))
def filter_in_blocks(x, block=8):
    lowpass = biquad(0.2, 0.4, 0.2, -0.3, 0.1)
    blocks = [lowpass(x[i : i + block]) for i in range(0, len(x), block)]
    return np.concatenate(blocks), len(blocks)


@program(signal, shapes=((24,), (140,)), dtypes=("float64", "float32"))
def find_peaks(x, height=0.5, distance=3):
    inner = x[1:-1]
    candidates = np.where((inner > x[:-2]) & (inner >= x[2:]) & (inner > height))[0] + 1
    if candidates.size == 0:
        return np.array([], dtype=int), None
    keep = []
    for index in candidates[np.argsort(x[candidates])[::-1]]:
        if all(abs(int(index) - other) >= distance for other in keep):
            keep.append(int(index))
    keep.sort()
    return np.array(keep), x[keep]


@program(signal, shapes=((64,), (600,)), dtypes=("float64", "float32"))
def spectrogram(x, frame=32, hop=8):
    n = 1 + (len(x) - frame) // hop
    index = np.arange(frame)[None, :] + hop * np.arange(n)[:, None]
    frames = x[index] * np.hanning(frame)
    magnitude = np.abs(np.fft.rfft(frames, axis=1)).T
    return 20 * np.log10(np.maximum(magnitude, 1e-6)), magnitude.sum(axis=0).argmax()


def pair(rng, shape, dtype):
    base = rng.normal(0, 1, shape)
    return base.astype(dtype), np.roll(base, 5).astype(dtype)


@program(pair, shapes=((20,), (400,)), dtypes=("float64", "float32"))
def estimate_delay(a, b):
    a, b = a - a.mean(), b - b.mean()
    corr = np.correlate(b, a, mode="full")
    lag = np.argmax(corr) - (len(a) - 1)
    normalized = corr / (np.linalg.norm(a) * np.linalg.norm(b))
    return int(lag), normalized.max()


@program(signal, shapes=((15,), (333,)), dtypes=("float64", "float32"))
def zero_crossings_and_rms(x, threshold=0.05):
    sign = np.sign(x)
    sign[sign == 0] = 1
    crossings = np.flatnonzero(np.diff(sign))
    fraction = x[crossings] / (x[crossings] - x[crossings + 1])
    rms = np.sqrt(np.mean(np.square(x)))
    gate = np.where(np.abs(x) < threshold, 0, x)
    return crossings + fraction, rms, gate.dtype, gate


@program(signal, shapes=((10,), (200,)), dtypes=("float64", "float32"))
def repair_gaps(x):
    x[2:4] = np.nan
    x[-1] = np.nan
    bad = np.isnan(x)
    good = ~bad
    x[bad] = np.interp(np.flatnonzero(bad), np.flatnonzero(good), x[good])
    return bad.sum(), x.min()


@program(signal, shapes=((8,), (60,)), dtypes=("float64",))
def recursive_fft(x):
    def fft(v):
        n = len(v)
        if n == 1 or n % 2:
            k = np.arange(n)
            return np.exp(-2j * np.pi * np.outer(k, k) / n) @ v
        even, odd = fft(v[::2]), fft(v[1::2])
        twiddle = np.exp(-2j * np.pi * np.arange(n // 2) / n)
        return np.concatenate([even + twiddle * odd, even - twiddle * odd])

    mine = fft(x.astype(complex))
    return mine, np.abs(mine - np.fft.fft(x)).max() < 1e-9


@program(signal, shapes=((3, 40), (8, 256)), dtypes=("float64", "float32"))
def channels_band_power(eeg, bands=(("delta", 1, 4), ("alpha", 8, 13), ("beta", 13, 30)), rate=64):
    freqs = np.fft.rfftfreq(eeg.shape[1], 1 / rate)
    psd = np.abs(np.fft.rfft(eeg - eeg.mean(axis=1, keepdims=True))) ** 2
    total = psd.sum(axis=1)
    inside = {name: (freqs >= low) & (freqs < high) for name, low, high in bands}
    return {name: psd[:, band].sum(axis=1) / total for name, band in inside.items()}
