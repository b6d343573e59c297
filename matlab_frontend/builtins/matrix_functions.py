"""Functions of whole matrices: roots, logarithms and Schur's form."""

from __future__ import annotations

from typing import Any

import numpy as np

from matlab_frontend.builtins.linear_algebra import made, matrix
from matlab_frontend.builtins.options import word_of
from matlab_frontend.builtins.registry import Call, builtin
from matlab_frontend.errors import MatlabError
from matlab_frontend.values.array import Value


@builtin("sqrtm")
def sqrtm(call: Call, x: Value) -> Value:
    """The principal square root of a matrix."""
    from scipy.linalg import sqrtm as root  # noqa: PLC0415  (SciPy loads slowly and few programs need it)

    return made(call, _real(root(matrix(call, x, square=True))))


@builtin("logm")
def logm(call: Call, x: Value) -> Value:
    """The principal logarithm of a matrix."""
    from scipy.linalg import logm as logarithm  # noqa: PLC0415  (likewise)

    return made(call, _real(logarithm(matrix(call, x, square=True))))


@builtin("schur")
def schur(call: Call, x: Value, form: Value | None = None) -> tuple[Value, ...]:
    """Schur's form of a matrix, before it the unitary factor with two outputs."""
    from scipy.linalg import schur as decompose  # noqa: PLC0415  (likewise)

    word = "real" if form is None else word_of("schur", form, ("real", "complex"))
    triangle, unitary = decompose(matrix(call, x, square=True), output=word)
    if call.outputs < 2:
        return (made(call, triangle),)
    return made(call, unitary), made(call, triangle)


@builtin("qz")
def qz(call: Call, x: Value, y: Value, form: Value | None = None) -> tuple[Value, ...]:
    """Generalized Schur's form of two matrices: ``AA = Q*A*Z``, ``BB = Q*B*Z``, then Q and Z."""
    from scipy.linalg import qz as decompose  # noqa: PLC0415  (likewise)

    word = "complex" if form is None else word_of("qz", form, ("real", "complex"))
    given = matrix(call, x, square=True), matrix(call, y, square=True)
    if call.outputs > 4:
        raise MatlabError("MATLAB:qz:outputs", "qz gives AA, BB, Q and Z, not eigenvectors.")
    if given[0].shape != given[1].shape:
        raise MatlabError("MATLAB:qz:inputsNotSameSize", "Matrices must be the same size.")
    left, right, q, z = decompose(*given, output=word)
    return tuple([made(call, table) for table in (left, right, q.conj().T, z)])


@builtin("hess")
def hess(call: Call, x: Value) -> tuple[Value, ...]:
    """Hessenberg's form of a matrix, before it the unitary factor with two outputs."""
    from scipy.linalg import hessenberg  # noqa: PLC0415  (likewise)

    form, unitary = hessenberg(matrix(call, x, square=True), calc_q=True)
    return (made(call, form),) if call.outputs < 2 else (made(call, unitary), made(call, form))


def _real(table: Any) -> np.ndarray:
    """Real numbers where no imaginary part is there."""
    found = np.asarray(table)
    return found.real if found.dtype.kind == "c" and not found.imag.any() else found
