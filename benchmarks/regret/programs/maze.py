"""A maze: carved by a walk, searched in breadth and by A*, and solved by value iteration."""

import heapq
from collections import deque

import numpy as np

from benchmarks.regret.decorate import jit

MOVES = ((0, 1), (1, 0), (0, -1), (-1, 0))


@jit
def carve(rng, rows, columns):
    grid = np.ones((2 * rows + 1, 2 * columns + 1), dtype=np.uint8)
    grid[1, 1] = 0
    stack = [(0, 0)]
    while stack:
        row, column = stack[-1]
        choices = []
        for dr, dc in MOVES:
            r, c = row + dr, column + dc
            if 0 <= r < rows and 0 <= c < columns and grid[2 * r + 1, 2 * c + 1]:
                choices.append((dr, dc))
        if not choices:
            stack.pop()
            continue
        dr, dc = choices[rng.integers(len(choices))]
        grid[2 * row + 1 + dr, 2 * column + 1 + dc] = 0
        grid[2 * (row + dr) + 1, 2 * (column + dc) + 1] = 0
        stack.append((row + dr, column + dc))
    return grid


@jit
def open_walls(grid, rng, count):
    inner = np.argwhere(grid[1:-1, 1:-1] == 1) + 1
    for row, column in inner[rng.permutation(len(inner))[:count]]:
        grid[row, column] = 0
    return grid


@jit
def neighbors(grid, cell):
    row, column = cell
    return [(row + dr, column + dc) for dr, dc in MOVES if not grid[row + dr, column + dc]]


@jit
def trace_back(parents, goal):
    path = [goal]
    while parents[path[-1]] is not None:
        path.append(parents[path[-1]])
    return path[::-1]


@jit
def breadth_first(grid, start, goal):
    parents, queue = {start: None}, deque([start])
    while queue:
        cell = queue.popleft()
        if cell == goal:
            return trace_back(parents, goal), len(parents)
        for each in neighbors(grid, cell):
            if each not in parents:
                parents[each] = cell
                queue.append(each)
    return [], len(parents)


@jit
def distance(a, b):
    return abs(a[0] - b[0]) + abs(a[1] - b[1])


@jit
def a_star(grid, start, goal):
    costs, parents = {start: 0}, {start: None}
    heap = [(distance(start, goal), start)]
    while heap:
        _, cell = heapq.heappop(heap)
        if cell == goal:
            return trace_back(parents, goal), len(parents)
        for each in neighbors(grid, cell):
            cost = costs[cell] + 1
            if cost < costs.get(each, 1 << 30):
                costs[each], parents[each] = cost, cell
                heapq.heappush(heap, (cost + distance(each, goal), each))
    return [], len(parents)


@jit
def relax(values, free, goal):
    best = np.full_like(values, np.inf)
    for dr, dc in MOVES:
        best = np.minimum(best, np.roll(values, (dr, dc), axis=(0, 1)))
    updated = np.where(free, np.minimum(values, best + 1), np.inf)
    updated[goal] = 0
    return updated


@jit
def distances_to(grid, goal, limit):
    free = grid == 0
    values = np.full(grid.shape, np.inf)
    values[goal] = 0
    for number in range(limit):
        updated = relax(values, free, goal)
        if np.array_equal(updated, values):
            return values, number
        values = updated
    return values, limit


@jit
def descend(values, start):
    cell, path = start, [start]
    while values[cell] > 0:
        options = [(cell[0] + dr, cell[1] + dc) for dr, dc in MOVES]
        cell = min(options, key=lambda each: values[each])
        path.append(cell)
    return path


def run():
    rng = np.random.default_rng(8)
    grid = open_walls(carve(rng, 18, 18), rng, 60)
    start, goal = (1, 1), (35, 35)
    found, seen = breadth_first(grid, start, goal)
    other, fewer = a_star(grid, start, goal)
    values, rounds = distances_to(grid, goal, 400)
    walked = descend(values, start)
    return len(found), len(other), len(walked), seen, fewer, rounds
