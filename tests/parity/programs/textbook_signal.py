"""Signal processing: filters, transforms, estimation from sequences."""

import numpy as np

from tests.parity.program import program


def signal(rng, shape, dtype):
    n = shape[0]
    t = np.arange(n) / 16
    return ((np.sin(2 * np.pi * t) + 0.3 * rng.normal(size=n)).astype(dtype),)


def two_signals(rng, shape, dtype):
    return signal(rng, shape, dtype) + signal(rng, shape, dtype)


def hidden_markov(rng, shape, dtype):
    """Transition and emission probabilities, observed symbols."""
    transition = rng.dirichlet(np.ones(3), 3).astype(dtype)
    emission = rng.dirichlet(np.ones(4), 3).astype(dtype)
    return transition, emission, rng.integers(0, 4, shape[0])


@program(signal)
def moving_average(x, width=5):
    sums = np.cumsum(np.insert(x, 0, 0))
    return (sums[width:] - sums[:-width]) / width


@program(signal)
def direct_convolution(x):
    kernel = np.array([0.25, 0.5, -0.125, 1.0], dtype=x.dtype)
    out = np.zeros(len(x) + len(kernel) - 1, dtype=x.dtype)
    for shift, weight in enumerate(kernel):
        out[shift : shift + len(x)] += weight * x
    return out


@program(signal)
def fir_band_pass(x, taps=11, low=0.05, high=0.2):
    n = np.arange(taps) - (taps - 1) / 2
    ideal = 2 * high * np.sinc(2 * high * n) - 2 * low * np.sinc(2 * low * n)
    window = 0.54 - 0.46 * np.cos(2 * np.pi * np.arange(taps) / (taps - 1))
    return np.convolve(x, (ideal * window).astype(x.dtype), mode="same")


@program(signal, shapes=((12,), (60,)))
def biquad_filter(x):
    b, a = (0.2, 0.4, 0.2), (1.0, -0.5, 0.25)
    y = np.zeros_like(x)
    x1 = x2 = y1 = y2 = x.dtype.type(0)
    for i in range(len(x)):
        y[i] = b[0] * x[i] + b[1] * x1 + b[2] * x2 - a[1] * y1 - a[2] * y2
        x1, x2 = x[i], x1
        y1, y2 = y[i], y1
    return y


@program(signal, shapes=((12,), (80,)))
def exponential_smoothing(x, alpha=0.3):
    level = x[0]
    smooth = [level]
    for value in x[1:]:
        level = alpha * value + (1 - alpha) * level
        smooth.append(level)
    return np.array(smooth)


@program(two_signals, shapes=((12,), (50,)))
def least_mean_squares(x, desired, taps=4, step=0.05):
    w = np.zeros(taps, dtype=x.dtype)
    errors = np.zeros_like(x)
    for n in range(taps, len(x)):
        window = x[n - taps : n][::-1]
        errors[n] = desired[n] - w @ window
        w += step * errors[n] * window
    return w, errors


@program(two_signals, shapes=((12,), (40,)))
def recursive_least_squares(x, desired):
    order, forget = 3, 0.98
    p = np.eye(order, dtype=x.dtype) * 100
    w = np.zeros(order, dtype=x.dtype)
    for n in range(order, len(x)):
        u = x[n - order : n]
        gain = p @ u / (forget + u @ p @ u)
        w = w + gain * (desired[n] - w @ u)
        p = (p - np.outer(gain, u) @ p) / forget
    return w


@program(signal, shapes=((12,), (40,)))
def kalman_filter(measured):
    """Position and velocity from noisy positions."""
    f = np.array([[1, 1], [0, 1]], dtype=measured.dtype)
    h = np.array([[1, 0]], dtype=measured.dtype)
    noise = 0.01 * np.eye(2, dtype=measured.dtype)
    state = np.zeros((2, 1), dtype=measured.dtype)
    p = np.eye(2, dtype=measured.dtype)
    positions = []
    for z in measured:
        state = f @ state
        p = f @ p @ f.T + noise
        s = h @ p @ h.T + 0.1
        gain = p @ h.T / s
        state = state + gain * (z - h @ state)
        p = (np.eye(2, dtype=measured.dtype) - gain @ h) @ p
        positions.append(state[0, 0])
    return np.asarray(positions), p


@program(hidden_markov, shapes=((6,), (16,)))
def viterbi(transition, emission, observed):
    log_transition = np.log(transition)
    log_emission = np.log(emission)
    score = np.log(np.full(3, 1 / 3)) + log_emission[:, observed[0]]
    back = np.zeros((len(observed), 3), dtype=np.int64)
    for t, symbol in enumerate(observed[1:], start=1):
        candidates = score[:, None] + log_transition
        back[t] = candidates.argmax(axis=0)
        score = candidates.max(axis=0) + log_emission[:, symbol]
    path = [int(score.argmax())]
    for t in range(len(observed) - 1, 0, -1):
        path.append(int(back[t, path[-1]]))
    return path[::-1]


@program(hidden_markov, shapes=((6,), (16,)))
def forward_algorithm(transition, emission, observed):
    alpha = emission[:, observed[0]] / 3
    log_likelihood = 0.0
    history = np.empty((len(observed), 3), dtype=transition.dtype)
    for t in range(len(observed)):
        if t > 0:
            alpha = (alpha @ transition) * emission[:, observed[t]]
        total = alpha.sum()
        alpha = alpha / total
        log_likelihood = log_likelihood + np.log(total)
        history[t] = alpha
    return history, log_likelihood


@program(signal)
def autocorrelation(x, lags=6):
    centered = x - x.mean()
    energy = centered @ centered
    shifted = [centered[k:] @ centered[: len(x) - k] for k in range(lags)]
    return np.array(shifted) / energy


@program(signal)
def spectral_low_pass(x, cutoff=0.15):
    spectrum = np.fft.rfft(x)
    frequency = np.fft.rfftfreq(len(x))
    spectrum[frequency > cutoff] = 0
    return np.fft.irfft(spectrum, n=len(x)).astype(x.dtype)


@program(signal)
def periodogram_with_window(x):
    n = len(x)
    window = np.hanning(n).astype(x.dtype)
    power = np.abs(np.fft.rfft((x - x.mean()) * window)) ** 2 / (window**2).sum()
    power[1:-1] *= 2
    decibels = 10 * np.log10(power + 1e-6)
    return decibels, int(power.argmax())


@program(signal, shapes=((16,), (64,)))
def radix_two_fft(x):
    n = len(x)
    if n == 1:
        return x.astype(np.complex128)
    even, odd = radix_two_fft(x[::2]), radix_two_fft(x[1::2])
    twiddle = np.exp(-2j * np.pi * np.arange(n // 2) / n) * odd
    return np.concatenate([even + twiddle, even - twiddle])


@program(signal)
def discrete_cosine_transform(x):
    n = min(len(x), 32)
    k = np.arange(n)
    basis = np.cos(np.pi / n * (k[None, :] + 0.5) * k[:, None]).astype(x.dtype)
    scale = np.full(n, np.sqrt(2 / n), dtype=x.dtype)
    scale[0] = np.sqrt(1 / n)
    transformed = scale * (basis @ x[:n])
    back = basis.T @ (scale * transformed)
    return transformed, bool(np.abs(back - x[:n]).max() < 1e-3)


@program(signal, shapes=((16,), (64,)))
def haar_wavelet(x):
    approximation = x
    details = []
    while len(approximation) > 2:
        even, odd = approximation[0::2], approximation[1::2]
        details.append((even - odd) / np.sqrt(2, dtype=x.dtype))
        approximation = (even + odd) / np.sqrt(2, dtype=x.dtype)
    return approximation, details


@program(signal)
def goertzel(x, frequency=1 / 16):
    n = np.arange(len(x))
    real = np.sum(x * np.cos(2 * np.pi * frequency * n))
    imaginary = -np.sum(x * np.sin(2 * np.pi * frequency * n))
    return np.hypot(real, imaginary), np.arctan2(imaginary, real)


@program(signal)
def zero_crossings_and_peaks(x):
    signs = np.signbit(x)
    crossings = np.flatnonzero(signs[1:] != signs[:-1])
    inner = x[1:-1]
    peaks = np.where((inner > x[:-2]) & (inner > x[2:]) & (inner > 0.5))[0] + 1
    return crossings, peaks, len(crossings) / len(x)


@program(signal)
def short_time_energy(x, frame=8, hop=4):
    count = 1 + (len(x) - frame) // hop
    frames = np.lib.stride_tricks.as_strided(
        x, (count, frame), (hop * x.strides[0], x.strides[0]), writeable=False
    )
    energy = (frames**2).mean(axis=1)
    return energy, energy > 1.5 * np.median(energy)


@program(signal)
def envelope_by_hilbert(x):
    n = len(x)
    spectrum = np.fft.fft(x)
    gain = np.zeros(n)
    gain[0] = 1
    if n % 2 == 0:
        gain[n // 2] = 1
        gain[1 : n // 2] = 2
    else:
        gain[1 : (n + 1) // 2] = 2
    return np.abs(np.fft.ifft(spectrum * gain)).astype(x.dtype)


@program(signal)
def mu_law_quantization(x, mu=255):
    limited = np.clip(x, -1, 1).astype(np.float64)
    companded = np.sign(limited) * np.log1p(mu * np.abs(limited)) / np.log1p(mu)
    codes = np.floor((companded + 1) / 2 * mu + 0.5).astype(np.uint8)
    decoded = 2 * codes / mu - 1
    expanded = np.sign(decoded) * ((1 + mu) ** np.abs(decoded) - 1) / mu
    return codes, expanded
