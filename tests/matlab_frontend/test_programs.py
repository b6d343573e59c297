"""Oracle: expected output of MATLAB programs, committed beside them.

The text was compared with GNU Octave's (``compare_with_octave.py``) except where MATLAB differs.
"""

from pathlib import Path

import pytest

from matlab_frontend.run import run_source
from matlab_frontend.session import Session
from matlab_frontend.source import Source

PROGRAMS = sorted((Path(__file__).parent / "programs").glob("*.m"))


def test_there_are_programs_to_run():
    assert len(PROGRAMS) >= 120


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.stem)
def test_a_program_prints_what_matlab_prints(program):
    printed = []
    run_source(Source.from_file(program), {}, Session(write=printed.append))
    assert "".join(printed) == program.with_suffix(".txt").read_text(encoding="utf-8")
