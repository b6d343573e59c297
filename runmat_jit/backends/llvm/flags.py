"""The flags that machines keep of floating-point events, as the C library names them."""

from __future__ import annotations

from runmat_jit.backends.llvm.target import Target

_MASKS = {"x86_64": (0x01, 0x04, 0x08), "aarch64": (0x01, 0x02, 0x04)}
"""The C library's masks of these events, FE_INVALID, FE_DIVBYZERO and FE_OVERFLOW."""
_OF_WINDOWS = (0x10, 0x08, 0x04)


def flags_of(target: Target) -> tuple[int, ...]:
    """Masks of the events that :data:`runmat_jit.core.errstate.FLAGS` names."""
    return _OF_WINDOWS if target.system == "windows" else _MASKS[target.architecture]
