"""Discrete algorithms: sorting, graphs, dynamic programming, integers and bits."""

import numpy as np

from tests.parity.program import program

INTEGERS = ("int64", "int32")


def integers(rng, shape, dtype):
    return (rng.integers(-50, 50, shape).astype(dtype),)


def naturals(rng, shape, dtype):
    return (rng.integers(0, 1000, shape).astype(dtype),)


def octets(rng, shape, dtype):
    return rng.integers(0, 256, shape).astype(np.uint8), rng.integers(0, 256, shape).astype(
        np.uint8
    )


def distances(rng, shape, dtype):
    """A directed graph's edge lengths, infinite where there is no edge."""
    n = shape[0]
    length = rng.integers(1, 20, (n, n)).astype(dtype)
    length[rng.random((n, n)) < 0.6] = np.inf
    np.fill_diagonal(length, 0)
    return (length,)


def words(rng, shape, dtype):
    return rng.integers(0, 4, shape), rng.integers(0, 4, shape[0] + 2)


GRAPHS = ((5,), (14,))


@program(integers, shapes=((4,), (8,)), dtypes=("int64", "float32"))
def bitonic_sorting_network(values):
    x = values.copy()
    n = len(x)
    k = 2
    while k <= n:
        j = k // 2
        while j > 0:
            i = np.arange(n)
            partner = i ^ j
            first = i < partner
            a, b = x[i[first]], x[partner[first]]
            ascending = (i[first] & k) == 0
            x[i[first]] = np.where(ascending, np.minimum(a, b), np.maximum(a, b))
            x[partner[first]] = np.where(ascending, np.maximum(a, b), np.minimum(a, b))
            j //= 2
        k *= 2
    return x


@program(integers, dtypes=("int64", "float64"))
def odd_even_transposition_sort(x):
    for phase in range(12):
        left, right = x[phase % 2 : -1 : 2], x[phase % 2 + 1 :: 2]
        low, high = np.minimum(left, right), np.maximum(left, right)
        left[:], right[:] = low, high
    return bool((np.diff(x) >= 0).all())


@program(integers, shapes=((6,), (14,)), dtypes=("int64", "float32"))
def insertion_sort(x):
    moves = 0
    for i in range(1, len(x)):
        value = x[i].copy()
        j = i - 1
        while j >= 0 and x[j] > value:
            x[j + 1] = x[j]
            j -= 1
            moves += 1
        x[j + 1] = value
    return moves


@program(naturals, dtypes=INTEGERS)
def radix_sort(x):
    digit = 1
    while (x // digit).max() > 0:
        keys = (x // digit) % 10
        x = x[np.argsort(keys, kind="stable")]
        digit *= 10
    return x


@program(naturals, dtypes=INTEGERS)
def counting_sort(x):
    counts = np.zeros(1000, dtype=np.int64)
    np.add.at(counts, x, 1)
    return np.repeat(np.arange(1000), counts), np.flatnonzero(counts > 1)


@program(integers, shapes=((16,), (256,)), dtypes=("int64", "int32"))
def parallel_prefix_sum(x):
    out = x.copy()
    shift = 1
    while shift < len(out):
        out[shift:] = out[shift:] + out[:-shift]
        shift *= 2
    assert (out == np.cumsum(x)).all()
    return out


@program(integers, dtypes=INTEGERS)
def largest_subarray_sum(x):
    ends = np.cumsum(x)
    lowest = np.minimum.accumulate(np.concatenate(([0], ends[:-1])))
    best = ends - lowest
    return best.max(), int(best.argmax())


@program(lambda rng, shape, dtype: (rng.integers(0, 3, shape).astype(dtype),), dtypes=INTEGERS)
def run_length_encoding(x):
    starts = np.flatnonzero(np.concatenate(([True], x[1:] != x[:-1])))
    lengths = np.diff(np.append(starts, len(x)))
    decoded = np.repeat(x[starts], lengths)
    assert np.array_equal(decoded, x)
    return list(zip(x[starts].tolist(), lengths.tolist()))


@program(lambda rng, shape, dtype: (int(shape[0] * 4 + rng.integers(10)),), dtypes=("int64",))
def sieve_of_eratosthenes(limit):
    prime = np.ones(limit + 1, dtype=bool)
    prime[:2] = False
    for n in range(2, int(limit**0.5) + 1):
        if prime[n]:
            prime[n * n :: n] = False
    found = np.nonzero(prime)[0]
    return found, int(np.diff(found).max())


@program(
    lambda rng, shape, dtype: (
        rng.integers(1, 500, shape).astype(dtype),
        rng.integers(1, 500, shape).astype(dtype),
    ),
    dtypes=INTEGERS,
)
def greatest_common_divisors(a, b):
    x, y = a, b
    while np.any(y):
        x, y = np.where(y != 0, y, x), np.where(y != 0, x % np.where(y == 0, 1, y), 0)
    return x, a // x * b


@program(naturals, dtypes=INTEGERS)
def collatz_lengths(start):
    n = start + 1
    length = np.zeros_like(n)
    for _ in range(30):
        active = n != 1
        n = np.where(active, np.where(n % 2 == 0, n // 2, 3 * n + 1), n)
        length += active
    return length


@program(
    lambda rng, shape, dtype: (rng.integers(0, 2**16, shape).astype(dtype),),
    dtypes=("uint16", "int64"),
)
def bits_and_digits(x):
    bits = (x[:, None] >> np.arange(15, -1, -1, dtype=x.dtype)) & 1
    back = (bits.astype(np.int64) * (1 << np.arange(15, -1, -1))).sum(axis=1)
    nibbles = np.stack([(x >> (4 * k)) & 15 for k in range(3, -1, -1)], axis=1)
    digits = np.array(list("0123456789abcdef"))[nibbles]
    first = "".join(digits[0])
    return bits.sum(axis=1), np.array_equal(back, x), first, int(first, 16) == x[0]


@program(
    lambda rng, shape, dtype: (rng.integers(0, 2**31, shape).astype(dtype),),
    dtypes=("uint32", "uint64"),
)
def population_count_and_gray_code(x):
    v = x - ((x >> 1) & 0x55555555)
    v = (v & 0x33333333) + ((v >> 2) & 0x33333333)
    v = (v + (v >> 4)) & 0x0F0F0F0F
    v = v + (v >> 8)
    count = (v + (v >> 16)) & 0x3F
    gray = x ^ (x >> 1)
    return count, gray, int(count.max())


@program(octets, dtypes=("uint8",))
def hamming_distance_and_parity(a, b):
    different = np.bitwise_xor(a, b)
    bits = np.unpackbits(different)
    parity = np.bitwise_xor.reduce(a)
    return int(bits.sum()), int(parity), np.packbits(bits[:16])


@program(octets, dtypes=("uint8",), shapes=((6,), (30,)))
def crc_16(data, _other):
    crc = np.uint16(0xFFFF)
    for byte in data:
        crc ^= np.uint16(byte) << np.uint16(8)
        for _ in range(8):
            if crc & np.uint16(0x8000):
                crc = (crc << np.uint16(1)) ^ np.uint16(0x1021)
            else:
                crc = crc << np.uint16(1)
    return crc, f"{crc:04x}"


@program(octets, dtypes=("uint8",))
def crc_table_and_checksum(data, _other):
    table = np.arange(256, dtype=np.uint32)
    for _ in range(8):
        table = np.where(table & 1, (table >> 1) ^ np.uint32(0xEDB88320), table >> 1)
    crc = 0xFFFFFFFF
    for byte in data[:20].tolist():
        crc = int(table[(crc ^ byte) & 0xFF]) ^ (crc >> 8)
    adler = (1 + data.astype(np.int64).sum()) % 65521
    return table[:4], crc ^ 0xFFFFFFFF, adler


@program(
    lambda rng, shape, dtype: (np.uint32(rng.integers(1, 2**31)), shape[0]),
    dtypes=("uint32",),
    shapes=((5,), (40,)),
)
def xorshift_numbers(state, count):
    numbers = np.empty(count, dtype=np.uint32)
    for k in range(count):
        state ^= state << np.uint32(13)
        state ^= state >> np.uint32(17)
        state ^= state << np.uint32(5)
        numbers[k] = state
    return numbers, (numbers / 2**32).mean()


@program(words, dtypes=("int64",), shapes=((4,), (7,)))
def edit_distance(a, b):
    previous = np.arange(len(b) + 1)
    for i, symbol in enumerate(a, start=1):
        current = np.empty_like(previous)
        current[0] = i
        substitution = previous[:-1] + (b != symbol)
        deletion = previous[1:] + 1
        best = np.minimum(substitution, deletion)
        for j in range(1, len(current)):
            current[j] = min(best[j - 1], current[j - 1] + 1)
        previous = current
    return int(previous[-1])


@program(
    lambda rng, shape, dtype: (
        rng.integers(1, 10, shape[0]),
        rng.uniform(1, 5, shape).astype(dtype),
        15,
    ),
    shapes=((6,), (20,)),
)
def knapsack(weights, values, capacity):
    best = np.zeros(capacity + 1, dtype=values.dtype)
    for weight, value in zip(weights, values):
        if weight > capacity:
            continue
        best[weight:] = np.maximum(best[weight:], best[:-weight] + value)
    return best[-1], best


@program(distances, shapes=GRAPHS)
def floyd_warshall(length):
    shortest = length.copy()
    for k in range(len(shortest)):
        np.minimum(shortest, shortest[:, k, None] + shortest[None, k, :], out=shortest)
    finite = np.isfinite(shortest)
    return shortest, shortest[finite].max(), finite.mean()


@program(distances, shapes=GRAPHS)
def bellman_ford(length):
    n = len(length)
    distance = np.full(n, np.inf)
    distance[0] = 0
    for round_number in range(n):
        candidate = (distance[:, None] + length).min(axis=0)
        if np.array_equal(candidate, distance):
            return distance, round_number
        distance = candidate
    raise ValueError("a negative cycle")


@program(distances, shapes=GRAPHS)
def dijkstra(length):
    n = len(length)
    distance, done = np.full(n, np.inf), np.zeros(n, dtype=bool)
    parent = np.full(n, -1)
    distance[0] = 0
    while not done.all():
        node = int(np.where(done, np.inf, distance).argmin())
        if done[node] or np.isinf(distance[node]):
            break
        done[node] = True
        through = distance[node] + length[node]
        better = through < distance
        distance[better] = through[better]
        parent[better] = node
    return distance, parent


@program(distances, shapes=GRAPHS)
def breadth_first_levels(length):
    linked = np.isfinite(length)
    level = np.full(len(linked), -1)
    frontier = np.zeros(len(linked), dtype=bool)
    frontier[0] = True
    depth = 0
    while frontier.any():
        level[frontier] = depth
        frontier = linked[frontier].any(axis=0) & (level < 0)
        depth += 1
    return level, depth


@program(distances, shapes=GRAPHS)
def page_rank(length, damping=0.85):
    links = np.isfinite(length).astype(np.float64)
    np.fill_diagonal(links, 0)
    degree = links.sum(axis=1)
    transition = np.divide(
        links, degree[:, None], out=np.zeros_like(links), where=degree[:, None] > 0
    )
    transition[degree == 0] = 1 / len(links)
    rank = np.full(len(links), 1 / len(links))
    for _ in range(50):
        new = damping * rank @ transition + (1 - damping) / len(links)
        change = np.abs(new - rank).sum()
        rank = new
        if change < 1e-3:
            break
    return rank, int(rank.argmax())


@program(lambda rng, shape, dtype: (shape[0],), shapes=((5,), (12,)), dtypes=("int64",))
def pascal_triangle_and_catalan(n):
    triangle = np.zeros((n, n), dtype=np.int64)
    triangle[:, 0] = 1
    for row in range(1, n):
        triangle[row, 1:] = triangle[row - 1, 1:] + triangle[row - 1, :-1]
    k = np.arange(1, n // 2)
    catalan = triangle[2 * k, k] // (k + 1)
    return triangle, catalan


@program(lambda rng, shape, dtype: (rng.integers(0, 5, shape),), dtypes=("int64",))
def one_hot_and_transitions(states):
    one_hot = np.zeros((states.size, 5), dtype=np.uint8)
    one_hot[np.arange(states.size), states] = 1
    pair = states[:-1] * 5 + states[1:]
    counts = np.bincount(pair, minlength=25).reshape(5, 5)
    share = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    return one_hot, share
