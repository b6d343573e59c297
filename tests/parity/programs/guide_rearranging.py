"""Programs after NumPy's guide: padding, tiling, rolling, joining, splitting, grids."""

import numpy as np

from tests.parity.program import normal, program, two_normal

TABLES = ((4, 6), (8, 10))


@program(normal, shapes=TABLES)
def padded_borders(image):
    edge = np.pad(image, 1, mode="edge")
    zero = np.pad(image, ((0, 0), (2, 1)))
    return edge[:-2, 1:-1] + edge[2:, 1:-1], zero, np.pad(image[0], 2, mode="reflect")


@program(normal)
def tiles_and_repeats(x):
    return np.tile(x[:3], (2, 2)), np.repeat(x[:4], 2), np.repeat(x[:2], [1, 3]), np.resize(x, 5)


@program(normal, shapes=TABLES)
def rolled_neighbors(grid):
    left, right = np.roll(grid, 1, axis=1), np.roll(grid, -1, axis=1)
    up, down = np.roll(grid, 1, axis=0), np.roll(grid, -1, axis=0)
    return left + right + up + down - 4 * grid, np.roll(grid, 2)


@program(two_normal)
def joined_arrays(a, b):
    return (
        np.concatenate([a, b]),
        np.stack([a, b], axis=1),
        np.vstack((a, b)),
        np.hstack((a[:2], b)),
        np.append(a, 1.0),
        np.r_[a[:2], 0, b[:2]],
    )


@program(normal, shapes=TABLES)
def split_and_join_again(table):
    left, right = np.hsplit(table, 2)
    parts = np.array_split(table, 3)
    left[0] = 0
    return np.concatenate((right, left), axis=1), [p.sum() for p in parts], np.vsplit(table, 2)[1]


@program(normal)
def potential_on_a_grid(x):
    grid = np.linspace(-1, 1, 9)
    xx, yy = np.meshgrid(grid, grid)
    r = np.sqrt(xx**2 + yy**2 + 0.01)
    return x[0] / r, np.mgrid[0:3, 0:2].sum(axis=0), np.ogrid[0:3, 0:2][0]


@program(normal, shapes=TABLES)
def block_matrices(a):
    zero = np.zeros_like(a)
    block = np.block([[a, zero], [zero, -a]])
    return block, np.rot90(a), np.flipud(a) + np.fliplr(a)


@program(normal, shapes=((4, 6), (8, 12)))
def pooled_blocks(image):
    rows, columns = image.shape
    blocks = image.reshape(rows // 2, 2, columns // 2, 2)
    return blocks.mean(axis=(1, 3)), blocks.max(axis=(1, 3))


@program(normal, shapes=TABLES)
def grown_in_a_loop(table):
    kept = []
    for row in table:
        if row[0] > 0:
            kept.append(row * 2)
    return np.array(kept) if kept else np.empty((0, table.shape[1]))


@program(normal)
def dimensions_added_and_removed(x):
    column = np.expand_dims(x, 1)
    table = np.atleast_2d(x)
    return column - table[:, :3], np.squeeze(table), column.reshape(-1, 1, 1).ndim


@program(normal)
def game_of_life_step(x):
    side = 3
    cells = (x[: side * side] > 0).reshape(side, side).astype(int)
    wide = np.pad(cells, 1)
    neighbors = sum(
        wide[1 + dy : 1 + dy + side, 1 + dx : 1 + dx + side]
        for dy in (-1, 0, 1)
        for dx in (-1, 0, 1)
        if (dy, dx) != (0, 0)
    )
    return (neighbors == 3) | ((cells == 1) & (neighbors == 2))


@program(normal, shapes=TABLES)
def swap_rows_and_columns(table):
    table[[0, 1]] = table[[1, 0]]
    table[:, 0], table[:, 1] = table[:, 1].copy(), table[:, 0].copy()
    return table[::-1, ::-1]
