"""Where a recording is: one object for each line. Oracle: the frame's own line number."""

import sys

from runmat_jit.capture.tape.lines import Lines


def lines_of(lines):
    """What a program in another file is told, and the numbers that its frame has."""
    seen = []

    def ask():
        seen.append((lines.here(), sys._getframe(1).f_lineno))

    exec(compile("a(); a()\n\nfor _ in 'xy':\n    a()\na()\n", "<user>", "exec"), {"a": ask})
    return seen


def test_each_line_is_one_object_whatever_instruction_runs():
    lines = Lines().recorded()
    lines._ours[__file__] = True
    seen = [*lines_of(lines), *lines_of(lines)]
    assert [line.source.line for line, _ in seen] == [number for _, number in seen]
    once = seen[:5]
    assert [number for _, number in once] == [1, 1, 4, 4, 5]
    assert once[0][0] is once[1][0]
    assert once[2][0] is once[3][0]
    assert len({id(line) for line, _ in once}) == 3


def test_lines_of_equal_code_are_not_mixed_up():
    """Two functions with equal code may have other globals: what their lines call differs."""
    lines = Lines().recorded()
    lines._ours[__file__] = True
    text = "def f(a):\n    a()\n"
    spaces = [{"__name__": name} for name in ("one", "other")]
    for space in spaces:
        exec(compile(text, "<user>", "exec"), space)
    seen = []
    for space in (*spaces, *spaces):
        space["f"](lambda: seen.append(lines.here()))
    assert [line.source.namespace.globals()["__name__"] for line in seen] == ["one", "other"] * 2
    assert seen[0] is seen[2]
    assert seen[1] is seen[3]
