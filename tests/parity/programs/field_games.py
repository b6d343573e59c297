"""Games and graphics: automata, rays, noise, sprites and boards as people write them."""

from enum import Enum
from types import SimpleNamespace

import numpy as np

from tests.parity.program import program

PALETTE = np.array([[0, 0, 0], [255, 64, 0], [64, 255, 0], [0, 64, 255]], dtype=np.uint8)


class Mark(Enum):
    EMPTY = 0
    CROSS = 1
    NOUGHT = 2


def cells(rng, shape, dtype):
    return ((rng.random(shape) < 0.4).astype(dtype),)


def vectors(rng, shape, dtype):
    return (rng.normal(0, 1, (*shape, 3)).astype(dtype),)


def unit_values(rng, shape, dtype):
    return (rng.random(shape).astype(dtype),)


@program(cells, shapes=((6, 6), (40, 33)), dtypes=("int64", "uint8", "bool"))
def game_of_life(board, generations=3):
    alive = board.astype(np.int8)
    populations = []
    for _ in range(generations):
        neighbors = sum(
            np.roll(np.roll(alive, dy, 0), dx, 1)
            for dy in (-1, 0, 1)
            for dx in (-1, 0, 1)
            if dy or dx
        )
        alive = ((neighbors == 3) | ((alive == 1) & (neighbors == 2))).astype(np.int8)
        populations.append(int(alive.sum()))
        if not populations[-1]:
            break
    return alive.astype(board.dtype), populations


@program(unit_values, shapes=((5, 6), (24, 32)), dtypes=("float64", "float32"))
def mandelbrot(jitter, limit=20):
    h, w = jitter.shape
    c = np.linspace(-2, 0.6, w)[None, :] + 1j * np.linspace(-1.1, 1.1, h)[:, None] + 1e-3 * jitter
    z = np.zeros_like(c)
    escaped = np.full(c.shape, limit, dtype=np.int32)
    for i in range(limit):
        active = escaped == limit
        z[active] = z[active] ** 2 + c[active]
        escaped[active & (np.abs(z) > 2)] = i
    return escaped, (escaped == limit).mean()


@program(vectors, shapes=((4,), (200,)), dtypes=("float64", "float32"))
def ray_sphere_shading(directions, center=(0.0, 0.0, 4.0), radius=1.5, light=(0.5, 0.7, -0.5)):
    d = directions / np.linalg.norm(directions, axis=-1, keepdims=True)
    center = np.array(center, dtype=d.dtype)
    b = d @ center
    disc = b**2 - (center @ center - radius**2)
    hit = (disc > 0) & (b > 0)
    t = np.where(hit, b - np.sqrt(np.where(hit, disc, 0)), np.inf)
    normal = np.zeros_like(d)
    normal[hit] = (t[hit, None] * d[hit] - center) / radius
    lamp = np.array(light) / np.linalg.norm(light)
    return np.clip(normal @ lamp, 0, None), hit.sum(), t


@program(unit_values, shapes=((7, 7), (20, 20)), dtypes=("float64", "float32"))
def value_noise(lattice, size=12, octaves=2):
    fade = lambda t: t * t * t * (t * (t * 6 - 15) + 10)
    total = np.zeros((size, size), dtype=lattice.dtype)
    amplitude = 1.0
    for octave in range(octaves):
        at = np.linspace(0, 2 * (octave + 1), size, endpoint=False)
        i = at.astype(int)
        f = fade(at - i).astype(lattice.dtype)
        a, b = lattice[np.ix_(i, i)], lattice[np.ix_(i, i + 1)]
        c, d = lattice[np.ix_(i + 1, i)], lattice[np.ix_(i + 1, i + 1)]
        fx, fy = f[None, :], f[:, None]
        total += amplitude * ((a + (b - a) * fx) * (1 - fy) + (c + (d - c) * fx) * fy)
        amplitude /= 2
    return total / total.max()


@program(vectors, shapes=((4,), (60,)), dtypes=("float64", "float32"))
def project_vertices(vertices, width=64, height=48, fov=60.0, near=0.1):
    f = 1 / np.tan(np.radians(fov) / 2)
    matrix = np.diag([f * height / width, f, -1.002, 0])
    matrix[2, 3], matrix[3, 2] = -0.2, -1
    view = vertices - np.array([0, 0, 6])
    clip = np.hstack([view, np.ones((len(view), 1))]) @ matrix.T
    visible = clip[:, 3] > near
    ndc = clip[visible, :3] / clip[visible, 3:]
    screen = ((ndc[:, :2] * [1, -1] + 1) / 2 * [width, height]).round(2)
    depth_order = np.argsort(-ndc[:, 2], kind="stable")
    return screen[depth_order], visible


@program(cells, shapes=((3, 3), (5, 5)), dtypes=("int8", "int64"))
def judge_board(board):
    lines = [*board, *board.T, board.diagonal(), np.fliplr(board).diagonal()]
    marks = board + 1
    winners = {Mark(int(line[0]) + 1).name for line in lines if (line == line[0]).all()}
    counts = {mark.name: int((marks == mark.value).sum()) for mark in Mark}
    return sorted(winners), counts


@program(vectors, shapes=((5,), (30,)), dtypes=("float64", "float32"))
def boids_step(position, dt=0.1, radius=1.2):
    flock = SimpleNamespace(x=position, v=np.tanh(position[:, ::-1]))
    offset = flock.x[None] - flock.x[:, None]
    distance = np.sqrt((offset**2).sum(-1))
    near = (distance < radius) & (distance > 0)
    count = near.sum(1, keepdims=True).clip(min=1).astype(position.dtype)
    cohesion = (offset * near[..., None]).sum(1) / count
    alignment = near @ flock.v / count - flock.v * near.any(1, keepdims=True)
    flock.v = flock.v + 0.1 * cohesion + 0.2 * alignment
    speed = np.linalg.norm(flock.v, axis=1, keepdims=True)
    flock.v = np.where(speed > 1, flock.v / speed, flock.v)
    flock.x += dt * flock.v
    return flock.v, near.sum()


@program(cells, shapes=((4, 5), (16, 16)), dtypes=("int64", "uint8"))
def draw_sprites(canvas, positions=((0, 0), (1, 2), (3, 3)), scale=2):
    sprite = np.array([[0, 1, 0], [1, 2, 1], [0, 3, 0]])
    frame = canvas.astype(int)
    for y, x in positions:
        part = frame[y : y + 3, x : x + 3]
        piece = sprite[: part.shape[0], : part.shape[1]]
        part[piece != 0] = piece[piece != 0]
    big = frame.repeat(scale, axis=0).repeat(scale, axis=1)
    rgb = PALETTE[big % len(PALETTE)]
    packed = rgb[..., 0].astype(np.uint32) << 16 | rgb[..., 1].astype(np.uint32) << 8 | rgb[..., 2]
    return rgb, packed


@program(unit_values, shapes=((6,), (100,)), dtypes=("float64", "float32"))
def bezier_and_easing(t, control=((0, 0), (1, 2), (3, -1), (4, 0))):
    def casteljau(points):
        if len(points) == 1:
            return points[0]
        s = t[:, None]
        return casteljau([(1 - s) * p + s * q for p, q in zip(points, points[1:])])

    curve = casteljau([np.asarray(c, dtype=t.dtype) for c in control])
    halves = [lambda u: 4 * u**3, lambda u: 1 - (-2 * u + 2) ** 3 / 2]
    eased = np.piecewise(t, [t < 0.5, t >= 0.5], halves)
    length = np.hypot(*np.diff(curve, axis=0).T).sum()
    return curve, eased, length


@program(cells, shapes=((4, 4), (5, 4)), dtypes=("int64", "int32"))
def slide_2048(board):
    score = 0

    def slide(row):
        nonlocal score
        tiles = [int(v) for v in row if v]
        merged = []
        while tiles:
            if len(tiles) > 1 and tiles[0] == tiles[1]:
                merged.append(2 * tiles[0])
                score += merged[-1]
                tiles = tiles[2:]
            else:
                merged.append(tiles.pop(0))
        return merged + [0] * (len(row) - len(merged))

    board *= 2
    moved = np.array([slide(row) for row in board], dtype=board.dtype)
    return moved, score, not np.array_equal(moved, board)
