"""Oracle: the generator (mpmath), which is a development tool."""

import subprocess
import sys
from pathlib import Path

import mpmath as mp
import pytest

from runmat_jit.kernel.math import coefficients

ROOT = Path(__file__).parents[3]


def test_the_committed_coefficients_are_those_of_the_generator():
    tool = ROOT / "tools" / "fit_coefficients.py"
    text = subprocess.run([sys.executable, tool], check=True, capture_output=True, text=True).stdout
    committed = Path(coefficients.__file__).read_text(encoding="utf-8")
    assert committed == text, "run python tools/fit_coefficients.py"


@pytest.mark.parametrize("kind", ["f32", "f64"])
def test_split_constants_add_up(kind):
    with mp.workprec(200):
        digits = sum({"f32": (24, 24, 24), "f64": (53, 53, 53)}[kind])
        error = mp.pi - mp.fsum(coefficients.PI[kind])
        assert abs(error) < mp.ldexp(1, 1 - digits)


def test_first_parts_leave_room_for_an_exact_product():
    first = {kind: coefficients.LN2[kind][0] for kind in ("f32", "f64")}
    assert (first["f32"] * 2**16).is_integer()  # 8 more digits for the exponent
    assert (first["f64"] * 2**42).is_integer()  # 11 more
