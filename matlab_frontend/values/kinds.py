"""MATLAB's classes of arrays and the NumPy dtypes that hold them."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np

INTEGER_KINDS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
FLOAT_KINDS = ("double", "single")
NUMERIC_KINDS = (*FLOAT_KINDS, *INTEGER_KINDS)

DTYPES: Mapping[str, np.dtype] = MappingProxyType(
    {
        "double": np.dtype(np.float64),
        "single": np.dtype(np.float32),
        "logical": np.dtype(np.bool_),
        "char": np.dtype(np.uint16),  # UTF-16 code units, as MATLAB's
        "string": np.dtype(object),
        **{kind: np.dtype(kind) for kind in INTEGER_KINDS},
    }
)
"""The dtype of a class; complex numbers have the complex dtype of the same precision."""

COMPLEX_DTYPES: Mapping[str, np.dtype] = MappingProxyType(
    {"double": np.dtype(np.complex128), "single": np.dtype(np.complex64)}
)

_KINDS = {
    **{dtype: kind for kind, dtype in DTYPES.items() if kind not in ("char", "string")},
    **{dtype: kind for kind, dtype in COMPLEX_DTYPES.items()},
}


def kind_of_dtype(dtype: np.dtype) -> str:
    """The class that holds a NumPy dtype; half precision and such become double."""
    return _KINDS.get(dtype, "double")
