"""Loops along lines that workgroups copy together. Oracle: the interpreter, to the bit."""

import numpy as np
import pytest

from runmat_jit.backends.wgpu.facts import Facts
from runmat_jit.backends.wgpu.schedule import Limits, schedule_for
from runmat_jit.backends.wgpu.staged import walked_lines
from runmat_jit.kernel.build import Builder
from runmat_jit.kernel.interpret import interpret
from tests.backends.wgpu.shaders import hardware_runner, run

pytestmark = pytest.mark.usefixtures("adapter")

WIDTH = 70


def declared(element):
    b, names = Builder(), ("x", "y", "out", "more")
    buffers = [b.buffer(name, element, written=name in ("out", "more")) for name in names]
    return b, buffers, [b.scalar(name, "index") for name in ("n", "length", "step")]


def along(form, element="f32"):
    """Running results of lines, some lines a cell: ``form`` says what else an iteration does."""
    b, (x, y, out, more), (n, length, step) = declared(element)
    down = n if form == "down" else 1
    with b.grid(b.scalar("cells", "index")) as cell:
        first, last = cell.i * WIDTH, (cell.i + 1) * WIDTH
        with b.lanes(first, b.select(last < n, last, n)) as lanes:
            begin = lanes.i if form == "down" else lanes.i * step
            stride = 1 if form == "down" else step
            with b.loop(0, length, (b.splat(1, element),)) as loop:
                at = begin + loop.i * down
                value = b.load(x, at, stride=stride)
                if form == "two arrays":
                    value = value * b.load(y, at + 1, stride=stride)
                if form == "what is stored":
                    value = value + b.load(out, at, stride=stride)
                if form == "two results":
                    b.store(more, at + 1, value * value, stride=stride)
                if form == "some lanes":
                    with b.if_any(value > 0, ()):
                        b.store(more, at, value, stride=stride)
                if form == "a weight":
                    value = value * b.load(y, loop.i, stride=0)
                after = loop.carry[0] + value
                b.store(out, at, after, stride=stride)
                loop.yield_(after)
            b.store(more, lanes.i * step + length + 1, loop.out[0], stride=step)
    return b.finish()


def turned(form, element="f32"):
    """What is computed of elements of lines and of their transposes; nothing is carried."""
    b, (x, y, out, more), (n, length, step) = declared(element)
    with b.grid(b.scalar("cells", "index")) as cell:
        first, last = cell.i * WIDTH, (cell.i + 1) * WIDTH
        with b.lanes(first, b.select(last < n, last, n)) as lanes, b.loop(0, length) as loop:
            along, across = lanes.i * step + loop.i, lanes.i + loop.i * n
            value = b.load(x, along, stride=step) * 3 + b.load(y, across)
            if form == "both":
                b.store(more, along, value * value, stride=step)
            if form == "of what is stored":
                value = value + b.load(out, across)
            b.store(out, lanes.i if form == "the last" else across, value)
    return b.finish()


FREE = {"turned": 1, "both": 2, "of what is stored": 1, "the last": 1}
ACCESSES = {
    "one array": 2,
    "two arrays": 3,
    "two results": 2,
    "what is stored": 1,
    "some lanes": 2,
    "a weight": 2,
    "down": 0,
}
"""How many accesses are copied together."""


@pytest.mark.sampled(3)
@pytest.mark.parametrize("form", [*ACCESSES, *FREE])
@pytest.mark.parametrize("element", ["f32", "i32"])
@pytest.mark.parametrize("length", [0, 1, 31, 32, 33, 100])
def test_lines_have_the_interpreters_bits(form, element, length):
    kernel, found = (turned if form in FREE else along)(form, element), []
    n, step = 150, length + 3
    for compute in (interpret, lambda k, a: run(k, a, (0, 3), using=hardware_runner())):
        rng = np.random.default_rng(length)
        dtype = np.float32 if element == "f32" else np.int32
        arrays = {
            name: rng.integers(-3, 4, n * step + 8).astype(dtype)
            for name in ("x", "y", "out", "more")
        }
        numbers = {"n": n, "length": length, "step": step, "cells": 3}
        arguments = arrays | numbers
        compute(kernel, {p.name: arguments[p.name] for p in kernel.parameters})
        found.append((arrays["out"], arrays["more"]))
    for ours, expected in zip(*found, strict=True):
        assert np.array_equal(ours, expected)


@pytest.mark.parametrize(("form", "count"), [*ACCESSES.items(), *FREE.items()])
def test_which_accesses_are_copied(form, count):
    kernel = (turned if form in FREE else along)(form)
    assert len(walked_lines(kernel)) == count
    schedule = schedule_for(kernel, Limits())
    assert (schedule.down > 1) == (form in ("turned", "both"))


def test_lines_are_copied_by_hardware_where_no_memory_is_shared():
    kernel = along("one array")
    assert schedule_for(kernel, Limits()).chunk == 32
    assert not schedule_for(kernel, Limits(software=True)).chunk
    assert not schedule_for(kernel, Limits(), facts=Facts(shared=frozenset({"x"}))).chunk
    assert not schedule_for(kernel, Limits(shared_bytes=1024)).chunk
    assert not schedule_for(along("one array", "f64"), Limits()).chunk
