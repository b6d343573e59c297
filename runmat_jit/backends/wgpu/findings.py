"""Results of the float tests of an adapter, and the printing rules that follow from them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from runmat_jit.backends.wgpu.arithmetic import GUARDS, Arithmetic, Guard
from runmat_jit.backends.wgpu.uses import rounding_of
from runmat_jit.core.frozen import frozen
from runmat_jit.kernel.ir import Kernel
from runmat_jit.kernel.primitives import BUILTINS

FLOAT_NAMES = {"f32": "float32", "f64": "float64"}
_GOOD_BUILTIN = 2.0
"""Units in the last place: with our own steps around it, a function stays within 4."""
_EVERY = frozenset({"div", "sqrt", "fma"})


@frozen
class FloatFindings:
    """Results of the tests of one float type.

    ``guard`` is the weakest under which every identity holds and functions have the CPU's bits,
    ``accurate_guard`` the weakest under which formulas and functions are accurate and what is
    rounded to whole numbers is right; None where no level is strong enough.
    """

    guard: Guard | None
    accurate_guard: Guard | None
    fused_fma: bool
    exact_division: bool
    exact_sqrt: bool
    keeps_subnormals: bool
    rounds_to_whole: bool


@frozen
class Findings:
    """Results of all tests by float type, and the errors of the adapter's built-in functions.

    ``builtins`` holds the largest error of each float32 function in ULP, on
    the range to which our own range reduction brings its argument.
    """

    floats: Mapping[str, FloatFindings]
    builtins: Mapping[str, float]

    def arithmetic(self, *, reproducible: bool) -> Arithmetic:
        """Rules for shaders as accurate as operations promise, or as reproducible as possible."""
        guards = {
            kind: (found.guard if reproducible else found.accurate_guard) or GUARDS[-1]
            for kind, found in self.floats.items()
        }
        return Arithmetic(
            max(guards.values(), key=GUARDS.index),
            frozenset(kind for kind in self.floats if self._emulates(kind)),
            self._corrected if reproducible else frozenset(),
            wide=self._wide_is_exact,
            correct_before_jumps=self._corrected,
            fused=frozenset(kind for kind, found in self.floats.items() if found.fused_fma),
            exact=reproducible,
            flushed=frozenset(k for k, found in self.floats.items() if not found.keeps_subnormals),
            whole_by_bits=frozenset(k for k, f in self.floats.items() if not f.rounds_to_whole),
            guards=tuple(sorted(guards.items())),
        )

    def usable_builtins(self) -> frozenset[str]:
        """The adapter's functions that are accurate enough for results that need be no CPU's."""
        return frozenset(n for n in BUILTINS if self.builtins.get(n, math.inf) <= _GOOD_BUILTIN)

    def refusal(self, kernel: Kernel, *, reproducible: bool) -> str | None:
        """Reason why the adapter is not to run a kernel; None where its results are as promised.

        Promised is the CPU's bits (``reproducible``) or each row's accuracy; a kernel that rounds
        no float has both everywhere.
        """
        rounding = rounding_of(kernel)
        for kind in sorted({kind for _, kind in rounding}):
            ops = frozenset(op for op, of in rounding if of == kind)
            reason = self.irreproducible(kind, ops) if reproducible else self.inaccurate(kind)
            if reason is not None:
                return reason
        return None

    def irreproducible(self, kind: str, ops: frozenset[str] = _EVERY) -> str | None:
        """Reason why results of a type may differ from the CPU's; None where they do not.

        Args:
            kind: ``f32`` or ``f64``.
            ops: The operations used that round: ``div``, ``sqrt``, ``fma`` and others.

        """
        found, name = self.floats.get(kind), FLOAT_NAMES[kind]
        if found is None:
            return f"it has no {name}"
        if not found.keeps_subnormals:
            return f"it flushes subnormal {name} numbers to zero"
        corrected = {op for op, of in self._corrected if of == kind and self._wide_is_exact}
        if "div" in ops and not found.exact_division and "div" not in corrected:
            return f"it does not round {name} division correctly"
        if "sqrt" in ops and not found.exact_sqrt and "sqrt" not in corrected:
            return f"it does not round {name} square roots correctly"
        if "fma" in ops and not found.fused_fma and not self._emulates(kind):
            return f"it rounds {name} multiplication and addition twice"
        if found.guard is None:
            return f"its driver rearranges {name} arithmetic in spite of all guards"
        return None

    def inaccurate(self, kind: str) -> str | None:
        """Reason why functions of a type are less accurate than promised; None if none is."""
        found, name = self.floats.get(kind), FLOAT_NAMES[kind]
        if found is None:
            return f"it has no {name}"
        if found.accurate_guard is None:
            return f"its {name} functions are inaccurate in spite of all guards"
        return None

    @property
    def _corrected(self) -> frozenset[tuple[str, str]]:
        """Operations on float32 that are rounded wrongly and can be corrected."""
        f32 = self.floats["f32"]
        if not (self._wide_is_exact or f32.fused_fma):
            return frozenset()
        exact = {"div": f32.exact_division, "sqrt": f32.exact_sqrt}
        return frozenset((op, "f32") for op, right in exact.items() if not right)

    @property
    def _wide_is_exact(self) -> bool:
        wide = self.floats.get("f64")
        return wide is not None and wide.exact_division and wide.exact_sqrt

    def _emulates(self, kind: str) -> bool:
        return not self.floats[kind].fused_fma and "f64" in self.floats

    def to_json(self) -> dict[str, Any]:
        """Plain values, for a file."""
        floats = {kind: asdict(found) for kind, found in self.floats.items()}
        return {"floats": floats, "builtins": dict(self.builtins)}

    @staticmethod
    def from_json(plain: Mapping[str, Any]) -> Findings:
        """The findings that ``to_json`` wrote."""
        floats = {kind: FloatFindings(**found) for kind, found in plain["floats"].items()}
        return Findings(floats, dict(plain["builtins"]))
