"""The measured programs; each module holds one, as plain NumPy with its reference."""

from benchmarks.cases import elementwise, image_4k
from benchmarks.cases.case import Case

CASES: dict[str, Case] = {case.name: case for case in (elementwise.CASE, image_4k.CASE)}
