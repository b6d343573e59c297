"""Bioinformatics: sequences, alignments, expression and phylogeny as people write them."""

import itertools

import numpy as np

from tests.parity.program import program

BASES = "ACGT"
COMPLEMENT = np.array([3, 2, 1, 0])
CODONS = {codon: np.dot(codon, (16, 4, 1)) % 21 for codon in itertools.product(range(4), repeat=3)}


def sequence(rng, shape, dtype):
    return (rng.integers(0, 4, shape).astype(dtype),)


def two_sequences(rng, shape, dtype):
    a = rng.integers(0, 4, shape).astype(dtype)
    b = a.copy()
    b[rng.random(shape) < 0.3] = 2
    return a, b


def expression(rng, shape, dtype):
    return (rng.negative_binomial(3, 0.1, shape).astype(dtype),)


@program(sequence, shapes=((12,), (300,)), dtypes=("int8", "int64"))
def gc_content_and_reverse_complement(seq, window=6):
    gc = (seq == 1) | (seq == 2)
    rolling = np.convolve(gc.astype(float), np.ones(window), "valid") / window
    reverse = COMPLEMENT[seq][::-1]
    text = "".join(BASES[b] for b in reverse[:10])
    return gc.mean(), rolling, reverse, text


@program(sequence, shapes=((10,), (400,)), dtypes=("int8", "int64"))
def count_kmers(seq, k=3):
    powers = 4 ** np.arange(k)[::-1]
    windows = np.lib.stride_tricks.sliding_window_view(seq, k)
    codes = windows.astype(np.int64) @ powers
    counts = np.bincount(codes, minlength=4**k)
    p = counts[counts > 0] / counts.sum()
    entropy = -(p * np.log2(p)).sum()
    return counts.reshape((4,) * k), entropy


@program(two_sequences, shapes=((4,), (7,)), dtypes=("int8", "int64"))
def needleman_wunsch(a, b, match=2, mismatch=-1, gap=-2):
    n, m = len(a), len(b)
    score = np.zeros((n + 1, m + 1), dtype=int)
    score[:, 0] = gap * np.arange(n + 1)
    score[0, :] = gap * np.arange(m + 1)
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            diagonal = score[i - 1, j - 1] + (match if a[i - 1] == b[j - 1] else mismatch)
            score[i, j] = max(diagonal, score[i - 1, j] + gap, score[i, j - 1] + gap)
    return score, score[-1, -1]


@program(two_sequences, shapes=((9,), (500,)), dtypes=("int8", "int64"))
def jukes_cantor(a, b):
    if a.shape != b.shape:
        raise ValueError("align the sequences first")
    p = np.mean(a != b)
    if p >= 0.75:
        return float("inf")
    transitions = np.sum((a != b) & (np.abs(a - b) == 2))
    return -0.75 * np.log(1 - 4 * p / 3), int(transitions)


@program(expression, shapes=((6, 4), (60, 10)), dtypes=("int64", "float64", "float32"))
def log_cpm_and_fold_change(counts, prior=0.5):
    library = counts.sum(axis=0)
    cpm = np.log2((counts + prior) / (library + 2 * prior) * 1e6)
    half = counts.shape[1] // 2
    control, treated = cpm[:, :half], cpm[:, half:]
    change = treated.mean(axis=1) - control.mean(axis=1)
    spread = np.sqrt((control.var(axis=1, ddof=1) + treated.var(axis=1, ddof=1)) / half) + 0.1
    top = np.argsort(-np.abs(change / spread))[:3]
    return cpm, change, top


@program(expression, shapes=((5, 3), (50, 8)), dtypes=("float64", "float32"))
def quantile_normalize(table):
    order = np.argsort(table, axis=0, kind="stable")
    reference = np.sort(table, axis=0).mean(axis=1)
    out = np.empty_like(table)
    for column, rows in enumerate(order.T):
        out[rows, column] = reference
    return out, reference


def p_values(rng, shape, dtype):
    return (rng.beta(0.5, 2, shape).astype(dtype),)


@program(p_values, shapes=((7,), (300,)), dtypes=("float64", "float32"))
def benjamini_hochberg(p, alpha=0.05):
    n = p.size
    order = np.argsort(p)
    ranked = p[order] * n / np.arange(1, n + 1)
    adjusted = np.minimum.accumulate(ranked[::-1])[::-1]
    q = np.empty_like(p)
    q[order] = np.minimum(adjusted, 1)
    discoveries = np.flatnonzero(q <= alpha)
    print(len(discoveries), "discoveries")
    return q, discoveries


@program(sequence, shapes=((15,), (180,)), dtypes=("int8", "int64"))
def translate_and_find_orf(seq, stop=20):
    codons = seq[: len(seq) // 3 * 3].reshape(-1, 3).tolist()
    protein = np.array([CODONS[tuple(codon)] for codon in codons])
    stops = np.flatnonzero(protein == stop)
    bounds = np.concatenate(([-1], stops, [protein.size]))
    lengths = np.diff(bounds) - 1
    longest = lengths.argmax()
    return protein, protein[bounds[longest] + 1 : bounds[longest + 1]]


def distances(rng, shape, dtype):
    points = rng.random((shape[0], 3))
    return (np.sqrt(((points[:, None] - points) ** 2).sum(-1)).astype(dtype),)


@program(distances, shapes=((4,), (9,)), dtypes=("float64", "float32"))
def upgma_tree(distance):
    clusters = {i: (str(i), 1) for i in range(len(distance))}
    d = {(i, j): float(distance[i, j]) for i in clusters for j in clusters if i < j}
    heights = []
    new = len(distance)
    while len(clusters) > 1:
        i, j = min(d, key=d.get)
        heights.append(d[i, j] / 2)
        (left, ni), (right, nj) = clusters.pop(i), clusters.pop(j)
        for k in clusters:
            dik, djk = d[min(i, k), max(i, k)], d[min(j, k), max(j, k)]
            d[k, new] = (ni * dik + nj * djk) / (ni + nj)
        d = {pair: value for pair, value in d.items() if not {i, j} & set(pair)}
        clusters[new] = (f"({left},{right})", ni + nj)
        new += 1
    return clusters[new - 1][0], np.array(heights)


@program(sequence, shapes=((8,), (40,)), dtypes=("int64",))
def viterbi_two_states(observed):
    start = np.log(np.array([0.6, 0.4]))
    trans = np.log(np.array([[0.9, 0.1], [0.2, 0.8]]))
    emit = np.log(np.array([[0.3, 0.2, 0.2, 0.3], [0.1, 0.4, 0.4, 0.1]]))
    delta = start + emit[:, observed[0]]
    back = np.zeros((len(observed), 2), dtype=np.int8)
    for t, symbol in enumerate(observed[1:], start=1):
        options = delta[:, None] + trans
        back[t] = options.argmax(axis=0)
        delta = options.max(axis=0) + emit[:, symbol]
    path = [int(delta.argmax())]
    for t in range(len(observed) - 1, 0, -1):
        path.append(int(back[t, path[-1]]))
    return path[::-1], delta.max()
