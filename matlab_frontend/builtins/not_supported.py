"""Functions of MATLAB's that are not there yet, though programs use them."""

from __future__ import annotations

from collections.abc import Mapping

_NAMES: Mapping[str, str] = {
    "linear algebra": "balance bicgstab eigs gallery gmres hadamard invhilb ldl pcg qz rosser svds",
    "mathematics": "airy betainc ellipke expint legendre ode15s triplequad",
    "fitting": "fminunc griddata interp3 interpft interpn lsqnonlin lsqnonneg quadprog",
    "geometry": "convhull delaunay inpolygon polyarea scatteredInterpolant",
    "signals": "blackman butter convn filter2 freqz hamming hann medfilt1 periodogram",
    "statistics": "kurtosis skewness standardizeMissing",
    "graphics": (
        "camlight daspect findobj gcbo ginput gray hgtransform image ishold light lighting "
        "rotate3d surface text uicontrol waitbar"
    ),
    "the rest": "categorical curl divergence nargchk optimoptions RandStream rcond syms timetable",
}
NOT_SUPPORTED = frozenset(name for names in _NAMES.values() for name in names.split())
"""Names of MATLAB and its most common toolboxes; a program may still define such a function."""
