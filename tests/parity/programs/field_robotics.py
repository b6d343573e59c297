"""Robotics: transforms, filters, planning and control as people write them."""

import heapq
from dataclasses import dataclass

import numpy as np

from tests.parity.program import program, rounded_as_given


def angles(rng, shape, dtype):
    return (rng.uniform(-np.pi, np.pi, shape).astype(dtype),)


def cloud(rng, shape, dtype):
    return (rng.normal(0, 3, (shape[0], 3)).astype(dtype),)


def occupancy(rng, shape, dtype):
    grid = (rng.random(shape) < 0.25).astype(dtype)
    grid[0, 0] = grid[-1, -1] = 0
    return (grid,)


@program(angles, shapes=((3,), (6,)), dtypes=("float64", "float32"))
def planar_arm_forward(q, lengths=None):
    lengths = np.ones_like(q) if lengths is None else np.asarray(lengths)
    if lengths.shape != q.shape:
        raise ValueError(f"{q.size} joints but {lengths.size} links")
    heading = np.cumsum(q)
    joints = np.cumsum(np.stack([lengths * np.cos(heading), lengths * np.sin(heading)]), axis=1)
    jacobian = np.empty((2, q.size), dtype=q.dtype)
    for i in range(q.size):
        jacobian[0, i] = -(lengths[i:] * np.sin(heading[i:])).sum()
        jacobian[1, i] = (lengths[i:] * np.cos(heading[i:])).sum()
    return joints[:, -1], jacobian, np.sqrt(np.linalg.det(jacobian @ jacobian.T))


def quat_multiply(a, b):
    w1, x1, y1, z1 = np.moveaxis(a, -1, 0)
    w2, x2, y2, z2 = np.moveaxis(b, -1, 0)
    return np.stack(
        [
            w1 * w2 - x1 * x2 - y1 * y2 - z1 * z2,
            w1 * x2 + x1 * w2 + y1 * z2 - z1 * y2,
            w1 * y2 - x1 * z2 + y1 * w2 + z1 * x2,
            w1 * z2 + x1 * y2 - y1 * x2 + z1 * w2,
        ],
        axis=-1,
    )


@program(cloud, shapes=((4,), (120,)), dtypes=("float64", "float32"))
def rotate_by_quaternion(points, axis=(0, 0, 1), angle=0.7):
    axis = np.asarray(axis, dtype=points.dtype)
    q = np.concatenate([[np.cos(angle / 2)], np.sin(angle / 2) * axis])
    conj = q * np.array([1, -1, -1, -1])
    pure = np.pad(points, ((0, 0), (1, 0)))
    return quat_multiply(quat_multiply(q, pure), conj)[..., 1:]


class Kalman:
    """Constant velocity in one dimension."""

    def __init__(self, dt, q=0.01, r=0.3):
        self.F = np.array([[1, dt], [0, 1]])
        self.H = np.array([[1.0, 0.0]])
        self.Q, self.R = q * np.eye(2), np.array([[r]])
        self.x, self.P = np.zeros((2, 1)), np.eye(2)

    def predict(self):
        self.x = self.F @ self.x
        self.P = self.F @ self.P @ self.F.T + self.Q

    def update(self, z):
        S = self.H @ self.P @ self.H.T + self.R
        K = self.P @ self.H.T @ np.linalg.inv(S)
        innovation = z - (self.H @ self.x).item()
        self.x = self.x + K * innovation
        self.P = (np.eye(2) - K @ self.H) @ self.P
        return innovation


@program(angles, shapes=((6,), (40,)), dtypes=("float64", "float32"))
def track_with_kalman(measured):
    filter_ = Kalman(dt=0.1)
    estimates, surprises = [], []
    for z in measured:
        filter_.predict()
        surprises.append(filter_.update(float(z)))
        estimates.append(filter_.x[:, 0])
    return np.array(estimates), np.array(surprises), np.trace(filter_.P)


@program(occupancy, shapes=((4, 5), (6, 5)), dtypes=("int8", "bool"))
def shortest_path_on_a_grid(grid):
    start, goal = (0, 0), (grid.shape[0] - 1, grid.shape[1] - 1)
    cost = np.full(grid.shape, np.inf)
    cost[start] = 0
    queue = [(0, start)]
    while queue:
        c, (y, x) = heapq.heappop(queue)
        if (y, x) == goal:
            return c, np.isfinite(cost)
        for dy, dx in ((0, 1), (1, 0), (0, -1), (-1, 0)):
            ny, nx = y + dy, x + dx
            if 0 <= ny < grid.shape[0] and 0 <= nx < grid.shape[1] and not grid[ny, nx]:
                if c + 1 < cost[ny, nx]:
                    cost[ny, nx] = c + 1
                    heapq.heappush(queue, (c + 1, (ny, nx)))
    return None, np.isfinite(cost)


@dataclass(frozen=True)
class Gains:
    p: float = 1.2
    i: float = 0.4
    d: float = 0.05
    limit: float = 2.0


@program(angles, shapes=((4,), (60,)), dtypes=("float64", "float32"))
def pid_with_saturation(setpoints, gains=Gains(), dt=0.1):
    y = np.zeros(setpoints.shape)
    integral = np.zeros_like(y)
    previous = setpoints - y
    saturated = 0
    for _ in range(15):
        error = setpoints - y
        integral += error * dt
        u = gains.p * error + gains.i * integral + gains.d * (error - previous) / dt
        limited = np.clip(u, -gains.limit, gains.limit)
        saturated += int((limited != u).sum())
        y = y + dt * (limited - 0.5 * y)
        previous = error
    return y, saturated


@program(cloud, shapes=((6,), (80,)), dtypes=("float64", "float32"))
def align_point_clouds(points):
    c, s = np.cos(0.3), np.sin(0.3)
    moved = points @ np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]]).T + [0.5, -1, 2]
    pc, mc = points.mean(axis=0), moved.mean(axis=0)
    u, _, vt = np.linalg.svd((points - pc).T @ (moved - mc))
    rotation = vt.T @ np.diag([1, 1, np.sign(np.linalg.det(vt.T @ u.T))]) @ u.T
    shift = mc - rotation @ pc
    residual = np.linalg.norm(points @ rotation.T + shift - moved, axis=1)
    return np.round(rotation, 4), np.round(shift, 4), bool(residual.max() < 1e-4)


@program(angles, shapes=((8,), (181,)), dtypes=("float64", "float32"))
def lidar_scan_to_map(bearing, size=10, resolution=0.5):
    ranges = 1 + np.abs(bearing) % 1.5
    points = np.c_[ranges * np.cos(bearing), ranges * np.sin(bearing)]
    cells = np.floor(points / resolution).astype(int) + size // 2
    inside = ((cells >= 0) & (cells < size)).all(axis=1)
    hits = np.zeros((size, size), dtype=np.uint16)
    np.add.at(hits, tuple(cells[inside].T), 1)
    log_odds = np.where(hits > 0, 0.85 * hits, -0.4)
    return hits, 1 - 1 / (1 + np.exp(log_odds)), inside.mean()


def of_cancelling_directions(theta):
    """The angle of a sum of unit vectors: as many roundings as the sum is shorter than they are."""
    return rounded_as_given(theta) * len(theta) / abs(np.sum(np.exp(3j * theta)))


@program(
    angles,
    shapes=((5,), (300,)),
    dtypes=("float64", "float32"),
    amplified=of_cancelling_directions,
)
def wrap_and_average_angles(theta, weights=None):
    wrapped = (3 * theta + np.pi) % (2 * np.pi) - np.pi
    if weights is None:
        weights = np.ones(len(theta))
    mean = np.angle(np.sum(weights * np.exp(1j * wrapped)))
    difference = np.arctan2(np.sin(wrapped - mean), np.cos(wrapped - mean))
    unwrapped = np.unwrap(theta)
    return wrapped, difference, unwrapped[-1] - unwrapped[0]


@program(cloud, shapes=((5,), (90,)), dtypes=("float64", "float32"))
def particle_filter_resample(points, seed=11):
    rng = np.random.default_rng(seed)
    weights = np.exp(-0.5 * (points**2).sum(axis=1) / 9)
    weights /= weights.sum()
    effective = 1 / np.sum(weights**2)
    positions = (rng.random() + np.arange(len(points))) / len(points)
    chosen = np.minimum(np.searchsorted(np.cumsum(weights), positions), len(points) - 1)
    points[:] = points[chosen]
    points += rng.normal(0, 0.01, points.shape)
    return effective, np.bincount(chosen, minlength=len(points)), rng.integers(100)
