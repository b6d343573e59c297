"""The loops of elementwise rows: operand dtypes, result dtype and parameters that graphs hold."""

import itertools
from dataclasses import dataclass, field

import numpy as np

from runmat_jit.core.types import COMPILED_DTYPES, TensorType
from runmat_jit.ops.spec import Op, Weak, canonical_params
from runmat_jit.ops.table import ROWS
from tests.ops.operands import combinations, specials

EXPANDED = [row for row in ROWS.values() if row.expand is not None]
MOST_COMBINATIONS = 1500
"""All those of two operands; of three, as many at random."""
EXPONENTS = {"power": (0, 1, 2, 3, 4, 7, 0.5, -1, -2, 1.8, -0.5), "pow": (2, 0.5, 1.8)}


@dataclass(frozen=True)
class Loop:
    row: Op
    dtypes: tuple
    result: np.dtype
    params: dict = field(default_factory=dict)

    def special_operands(self, count=26):
        """Combinations of special values; of integer exponents, those that do not raise."""
        values = [specials(dtype)[:count] for dtype in self.dtypes]
        if self.row.name in ("power", "pow") and self.result.kind == "i":
            values[1] = np.array([0, 1], self.result)
        found = combinations(values)
        if not found or found[0].size <= MOST_COMBINATIONS:
            return found
        chosen = np.random.default_rng(0).permutation(found[0].size)[:MOST_COMBINATIONS]
        return tuple(side[chosen] for side in found)

    def __str__(self):
        names = ",".join(map(str, self.dtypes))
        given = "".join(f" {name}={value}" for name, value in self.params.items())
        return f"{self.row.name}({names}){given}"


def loops(row):
    """Every loop of an expanding row, once."""
    found = {}
    for dtypes in itertools.product(COMPILED_DTYPES, repeat=row.arity):
        for params in _params(row):
            operands = tuple(TensorType(dtype, (3,)) for dtype in dtypes)
            if params.get("exponent") is not None:
                operands = (operands[0], Weak(type(params["exponent"])))
            result = row.result(operands, params)
            if result is not None and result.type.dtype in COMPILED_DTYPES:
                canonical = canonical_params(row, params, operands)
                loop = Loop(row, result.operand_dtypes, result.type.dtype, canonical)
                found[str(loop)] = loop
    return list(found.values())


def _params(row):
    if row.name == "cast":
        return [{"dtype": dtype.name} for dtype in COMPILED_DTYPES]
    if row.name in ("random_uniform", "random_normal"):
        return [{"dtype": "float32"}, {"dtype": "float64"}]
    if row.name in EXPONENTS:
        return [{"exponent": exponent} for exponent in (None, *EXPONENTS[row.name])]
    if row.name in ("copy", "contiguous_copy"):
        return [{"order": "C"}]
    return [{}]


LOOPS = [loop for row in EXPANDED for loop in loops(row)]
