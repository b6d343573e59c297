"""Audio: synthesis, effects, dynamics and features as people write them."""

import numpy as np

from tests.parity.program import program, rounded_as_given

RATE = 8000
NAMES = "C C# D D# E F F# G G# A A# B".split()
NOTES = {name: 440.0 * 2 ** ((i - 9) / 12) for i, name in enumerate(NAMES)}


def sound(rng, shape, dtype):
    t = np.arange(shape[-1]) / RATE
    wave = 0.6 * np.sin(2 * np.pi * 440 * t) + 0.1 * rng.normal(0, 1, shape)
    if np.dtype(dtype).kind == "i":
        wave = wave.clip(-1, 1) * np.iinfo(dtype).max
    return (wave.astype(dtype),)


@program(sound, shapes=((16,), (4000,)), dtypes=("int16", "float32", "int32"))
def normalize_loudness(samples, target_db=-12.0):
    if samples.dtype == np.int16:
        samples = samples.astype(np.float32) / 32768
    elif samples.dtype.kind != "f":
        raise TypeError(f"cannot normalize {samples.dtype}")
    rms = np.sqrt(np.mean(samples**2))
    gain = 10 ** (target_db / 20) / max(float(rms), 1e-9)
    out = np.clip(samples * gain, -1, 1)
    return (out * 32767).astype(np.float32), 20 * np.log10(rms)


@program(sound, shapes=((40,), (300,)), dtypes=("float64", "float32"))
def feedback_echo(x, delay=17, feedback=0.4, mix=0.5):
    wet = x.copy()
    for start in range(delay, len(x), delay):
        stop = min(start + delay, len(x))
        wet[start:stop] += feedback * wet[start - delay : stop - delay]
    return (1 - mix) * x + mix * wet


def envelope(n, attack=0.1, decay=0.2, sustain=0.7, release=0.3):
    a, d, r = (int(n * part) for part in (attack, decay, release))
    s = n - a - d - r
    rise = np.linspace(0, 1, a, endpoint=False)
    fall = np.linspace(1, sustain, d, endpoint=False)
    return np.concatenate([rise, fall, np.full(s, sustain), np.linspace(sustain, 0, r)])


@program(sound, shapes=((40,), (800,)), dtypes=("float64", "float32"))
def play_melody(noise, melody=(("A", 1), ("C#", 2), ("E", 1))):
    beat = len(noise) // sum(length for _, length in melody)
    track = np.zeros_like(noise)
    at = 0
    for name, length in melody:
        n = beat * length
        t = np.arange(n) / RATE
        tone = sum(np.sin(2 * np.pi * NOTES[name] * h * t) / h for h in (1, 2, 3))
        track[at : at + n] += (tone * envelope(n)).astype(track.dtype)
        at += n
    return 0.5 * track + 0.01 * noise, at


@program(sound, shapes=((25,), (2000,)), dtypes=("float64", "float32"))
def soft_knee_compressor(x, threshold=-20.0, ratio=4.0, knee=6.0):
    level = 20 * np.log10(np.abs(x) + 1e-6)
    over = level - threshold
    slope = 1 / ratio - 1
    bend = slope * (over + knee / 2) ** 2 / (2 * knee)
    reduction = np.where(2 * np.abs(over) <= knee, bend, slope * over)
    reduction = np.where(2 * over < -knee, 0.0, reduction)
    return x * 10 ** (reduction / 20), reduction.min()


@program(sound, shapes=((2, 30), (2, 1000)), dtypes=("float64", "float32", "int16"))
def stereo_mid_side(stereo, width=1.3):
    left, right = stereo
    mid = (left.astype(float) + right) / 2
    side = (left.astype(float) - right) / 2 * width
    widened = np.array([mid + side, mid - side])
    if stereo.dtype.kind == "i":
        info = np.iinfo(stereo.dtype)
        widened = widened.round().clip(info.min, info.max).astype(stereo.dtype)
    balance = np.dot(left.astype(float), right) / np.dot(left.astype(float), left)
    return widened, balance


@program(sound, shapes=((64,), (512,)), dtypes=("float64", "float32"))
def pitch_by_autocorrelation(x, low=200.0, high=1000.0):
    x = x - x.mean()
    n = 1 << (2 * x.size - 1).bit_length()
    spectrum = np.fft.rfft(x, n)
    ac = np.fft.irfft(spectrum * np.conj(spectrum), n)[: x.size]
    shortest, longest = int(RATE / high), min(int(RATE / low), x.size - 2)
    lag = shortest + int(np.argmax(ac[shortest : longest + 1]))
    a, b, c = ac[lag - 1 : lag + 2]
    shift = 0.5 * (a - c) / (a - 2 * b + c)
    return RATE / (lag + shift), ac / ac[0]


@program(sound, shapes=((64,), (700,)), dtypes=("float64", "float32"))
def mel_energies(x, frame=64, n_mels=8):
    to_mel = lambda f: 2595 * np.log10(1 + f / 700)
    from_mel = lambda m: 700 * (10 ** (m / 2595) - 1)
    points = from_mel(np.linspace(to_mel(0.0), to_mel(RATE / 2), n_mels + 2))
    freqs = np.fft.rfftfreq(frame, 1 / RATE)
    bank = np.zeros((n_mels, freqs.size))
    for m in range(n_mels):
        lo, mid, hi = points[m : m + 3]
        bank[m] = np.maximum(0, np.minimum((freqs - lo) / (mid - lo), (hi - freqs) / (hi - mid)))
    starts = range(0, len(x) - frame + 1, frame // 2)
    frames = [x[i : i + frame] * np.hamming(frame) for i in starts]
    power = np.abs(np.fft.rfft(frames, axis=-1)) ** 2
    return np.log(power @ bank.T + 1e-8)


@program(sound, shapes=((18,), (900,)), dtypes=("float64", "float32"), amplified=rounded_as_given)
def mu_law_round_trip(x, mu=255):
    x = np.clip(x, -1, 1)
    compressed = np.sign(x) * np.log1p(mu * np.abs(x)) / np.log1p(mu)
    codes = np.floor((compressed + 1) / 2 * mu + 0.5)
    y = 2 * codes / mu - 1
    expanded = np.sign(y) * (1 / mu) * ((1 + mu) ** np.abs(y) - 1)
    return compressed, bool(np.abs(expanded - x).max() < 0.03)


@program(sound, shapes=((30,), (600,)), dtypes=("float64", "float32"))
def voice_activity(x, frame=10, factor=0.8, hangover=1):
    usable = x[: x.size - x.size % frame].reshape(-1, frame)
    energy = (usable**2).sum(axis=1)
    active = energy > factor * energy.mean()
    held = active.copy()
    for shift in range(1, hangover + 1):
        held[shift:] |= active[:-shift]
    edges = np.diff(held.astype(int), prepend=0, append=0)
    begins, ends = np.where(edges == 1)[0], np.where(edges == -1)[0]
    segments = [(int(a) * frame, int(b) * frame) for a, b in zip(begins, ends)]
    print(f"{len(segments)} segment(s)")
    return segments, held


@program(sound, shapes=((15,), (450,)), dtypes=("float64", "float32"))
def resample_and_dither(x, ratio=0.75, bits=8, rng=None):
    rng = rng or np.random.default_rng(5)
    at = np.arange(0, x.size - 1, 1 / ratio)
    y = np.interp(at, np.arange(x.size), x)
    step = 2.0 ** (1 - bits)
    noise = rng.triangular(-1, 0, 1, y.size) * step
    quantized = np.floor(y / step) * step
    return y, np.abs(quantized - y).max() <= step, noise.std()
