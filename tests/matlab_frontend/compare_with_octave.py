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
    "accumarray_forms": "Octave has identifiers of its own",
    "arguments_blocks": "Octave has no arguments blocks",
    "bits_of_classes": "Octave accepts fractions",
    "callers_and_names": "Octave defines functions where they stand in a script",
    "cells_of_one_class": "Octave has identifiers of its own",
    "cleanup_objects": "Octave defines functions where they stand in a script",
    "commands_and_comments": "Octave needs a display for graphics commands",
    "control_try": "Octave has identifiers of its own",
    "counts_in_bins": "Octave has no histcounts",
    "creation": "mat2str of empty matrices",
    "dates_as_numbers": "Octave adds months without their ends",
    "differential_equations": "Octave's ode45 takes other steps",
    "ends_within_ends": "Octave's end in the argument of a function handle is 0",
    "errors_with_causes": "Octave's MException has no causes",
    "eval_with_outputs": "Octave shows assignments in one line",
    "files_delimited": "Octave's dlmwrite writes all digits",
    "files_errors": "Octave has identifiers of its own",
    "files_folders": "Octave has messages of its own",
    "files_mat": "Octave shows structs in another layout",
    "files_matrices": "Octave has no readmatrix",
    "files_numbers": "Octave reads the start of 'name' as a number that is missing",
    "files_textscan": "Octave shows cells in another layout",
    "filters_with_state": "Octave has identifiers of its own",
    "formats_by_place": "Octave's sprintf knows no places",
    "functions_anonymous": "Octave shows blanks around operators",
    "gpu_guards": "Octave has no gpuArray",
    "gpu_script": "Octave has no gpuArray",
    "gpu_static_makers": "Octave has no gpuArray",
    "image_normalize": "Octave's mean takes no vector of dimensions",
    "input_parser": "Octave has messages of its own",
    "integer_quotients": "Octave's idivide rounds otherwise, its literals are exact",
    "integers_of_64_bits": "Octave's literals are exact",
    "integers_wide": "Octave prints unsigned 64-bit integers as doubles",
    "interp_and_integrals": "Octave prints NA",
    "json_both_ways": "Octave shows structs in another layout",
    "loops_without_steps": "Octave evaluates both sides of | for a row",
    "maps_with_numbers": "Octave has identifiers of its own",
    "moving_windows": "Octave's movmean knows no 'omitnan'",
    "nargin_checks": "the message of narginchk",
    "nested_functions": "Octave has no nested functions in scripts",
    "options_of_searches": "Octave's fzero follows TolX",
    "outputs_and_formats": "Octave reads %bx otherwise",
    "ranges": "MATLAB counts the second half of a range from its end",
    "regexp_forms": "Octave has identifiers of its own",
    "remainders_near_whole": "Octave's mod(3, Inf) is NaN",
    "running_extremes": "Octave's cumsum knows no 'reverse'",
    "sets_of_rows": "Octave shows cells in another layout",
    "special_and_trigonometric": "Octave shows complex numbers in another layout",
    "stats_options": "Octave's sum knows no 'omitnan'",
    "strings_double_quoted": "Octave has no strings",
    "tables": "Octave has no tables",
    "text_matrix_and_case": "Octave shows cells in another layout",
    "texts_justified": "Octave shows cells in another layout",
    "texts_splitting": "Octave's regexprep knows no $0",
    "times": "Octave has no datetime",
    "validation_of_arguments": "Octave has messages of its own",
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
