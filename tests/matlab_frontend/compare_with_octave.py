"""Compares the expected output of the MATLAB programs with GNU Octave's: a tool, not a test.

Run ``python tests/matlab_frontend/compare_with_octave.py`` where ``octave-cli`` is installed. White
space is not compared: Octave's layouts are not MATLAB's.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from difflib import unified_diff
from pathlib import Path

PROGRAMS = Path(__file__).parent / "programs"
DIFFERENT = {
    "commands_and_comments": "Octave needs a display for graphics commands",
    "control_try": "Octave has identifiers of its own",
    "creation": "mat2str of empty matrices",
    "functions_anonymous": "Octave shows blanks around operators",
    "gpu_guards": "Octave has no gpuArray",
    "gpu_script": "Octave has no gpuArray",
    "image_normalize": "Octave's mean takes no vector of dimensions",
    "integers_wide": "Octave prints unsigned 64-bit integers as doubles",
    "interp_and_integrals": "Octave prints NA",
    "outputs_and_formats": "Octave reads %bx otherwise",
    "nargin_checks": "the message of narginchk",
    "ranges": "MATLAB counts the second half of a range from its end",
    "stats_options": "Octave's sum knows no 'omitnan'",
    "strings_double_quoted": "Octave has no strings",
    "text_matrix_and_case": "Octave shows cells in another layout",
    "texts_splitting": "Octave's regexprep knows no $0",
}
"""Programs whose output MATLAB and Octave do not share, and why; display layouts besides."""


def octave_output(program: Path) -> str:
    """What Octave prints; functions at the end of a script are moved to its beginning."""
    lines = program.read_text(encoding="utf-8").split("\n")
    at = next((k for k, line in enumerate(lines) if line.startswith("function ")), len(lines))
    with tempfile.NamedTemporaryFile("w", suffix=".m", delete=False) as file:
        file.write("\n".join(["1;", *lines[at:], *lines[:at], ""]))
    ran = subprocess.run(
        ["octave-cli", "--norc", "-q", file.name], capture_output=True, check=False
    )
    Path(file.name).unlink()
    return ran.stdout.decode(errors="replace")


def words(text: str) -> list[str]:
    """Lines without blanks that only make the layout."""
    return [" ".join(line.split()) for line in text.split("\n") if line.strip()]


def main() -> int:
    """Print the differences; 0 if there are none beyond those known."""
    unexpected = 0
    for program in sorted(PROGRAMS.glob("*.m")):
        if program.stem in DIFFERENT or program.stem.startswith(("display_", "errors_")):
            continue
        expected = words(program.with_suffix(".txt").read_text(encoding="utf-8"))
        printed = words(octave_output(program))
        if expected != printed:
            unexpected += 1
            sys.stdout.write(
                "\n".join(unified_diff(printed, expected, "octave", program.stem, lineterm=""))
                + "\n"
            )
    sys.stdout.write(f"{unexpected} programs differ\n")
    return int(unexpected > 0)


if __name__ == "__main__":
    sys.exit(main())
