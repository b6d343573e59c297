"""What multiplies normal vectors so that they have a covariance."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

Array = np.ndarray


def factor_of(
    mean: Any, cov: Any, check_valid: str, tol: float, method: str
) -> tuple[Array, Array]:
    """The mean, and a factor: a matrix whose product with its transpose is the covariance.

    Raises:
        ValueError: as NumPy's ``multivariate_normal``.
        numpy.linalg.LinAlgError: Cholesky's method has no factor.

    """
    if method not in ("eigh", "svd", "cholesky"):
        raise ValueError("method must be one of {'eigh', 'svd', 'cholesky'}")
    middle, matrix = np.asarray(mean, np.float64), np.asarray(cov, np.float64)
    if middle.ndim != 1:
        raise ValueError("mean must be 1 dimensional")
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ValueError("cov must be 2 dimensional and square")
    if middle.shape[0] != matrix.shape[0]:
        raise ValueError("mean and cov must have same length")
    if check_valid not in ("warn", "raise", "ignore"):
        raise ValueError("check_valid must equal 'warn', 'raise', or 'ignore'")
    if method == "cholesky":
        return middle, np.linalg.cholesky(matrix)
    if method == "svd":
        vectors, values, turned = np.linalg.svd(matrix)
        is_valid = np.allclose((turned.T * values) @ turned, matrix, rtol=tol, atol=tol)
    else:
        values, vectors = np.linalg.eigh(matrix)
        is_valid = not np.any(values < -tol)
    if check_valid != "ignore" and not is_valid:
        words = "covariance is not symmetric positive-semidefinite."
        if check_valid == "raise":
            raise ValueError(words)
        warnings.warn(words, RuntimeWarning, stacklevel=3)
    return middle, vectors * np.sqrt(np.abs(values))
