"""What the tab key offers; oracle: names that are there, written by hand."""

import pytest

from matlab_frontend.interactive.base_workspace import BaseWorkspace
from matlab_frontend.interactive.completion import completions
from matlab_frontend.interactive.line_editing import candidates


@pytest.fixture
def workspace(tmp_path, monkeypatch):
    (tmp_path / "zigzag_function.m").write_text("function zigzag_function\n")
    (tmp_path / "zig-zag data.csv").write_text("1\n")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "inner.mat").write_text("")
    monkeypatch.chdir(tmp_path)
    made = BaseWorkspace()
    made.run("zigzag_value = 3; s.name = 1; s.inner.number = 2; s.inner.nought = 0;", "<text>")
    made.run("function zigzag_typed\nend", "<text>")
    return made


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("zigzag", ["zigzag_function", "zigzag_typed", "zigzag_value"]),
        ("x = 1 + zigzag_v", ["zigzag_value"]),
        ("x = linsp", ["linspace"]),
        ("otherw", ["otherwise"]),
        ("s.", ["s.inner", "s.name"]),
        ("y = s.inner.n", ["s.inner.nought", "s.inner.number"]),
        ("s.name.", []),
        (
            "gpuArray.ran",
            ["gpuArray.rand", "gpuArray.randi", "gpuArray.randn", "gpuArray.randperm"],
        ),
        ("x = csvread('zig", ["zig-zag data.csv", "zigzag_function.m"]),
        ("load fold", ["folder/"]),
        ("load folder/", ["folder/inner.mat"]),
        ("load nowhere/", []),
        ("x'", []),
        ("", []),
    ],
)
def test_names_that_begin_so_are_offered(workspace, line, found):
    assert completions(line, workspace) == found


@pytest.mark.parametrize(
    ("line", "word", "whole", "candidate"),
    [
        ("x = zig", "zig", "zigzag", "zigzag"),
        ("s.na", "na", "s.name", "name"),
        ("s.na", "s.na", "s.name", "s.name"),
        ("csvread('zig-za", "za", "zig-zag data.csv", "zag data.csv"),
        ("load folder/", "", "folder/inner.mat", "inner.mat"),
    ],
)
def test_what_stands_before_the_word_stays(line, word, whole, candidate):
    assert candidates(line, word, lambda _: [whole]) == [candidate]
