"""Graphics and the desktop: accepted and ignored, so that programs that draw still compute."""

from __future__ import annotations

from matlab_frontend.builtins.registry import Builtin, Call
from matlab_frontend.errors import MatlabError
from matlab_frontend.values.array import Value
from matlab_frontend.values.make import empty

_IGNORED = (
    *("figure", "plot", "axis", "hold", "set", "title", "xlabel", "ylabel", "zlabel", "get"),
    *("colormap", "drawnow", "subplot", "gca", "gcf", "clf", "legend", "view", "surf", "colorbar"),
    *("shading", "grid", "ylim", "xlim", "zlim", "imagesc", "semilogy", "semilogx", "loglog"),
    *("line", "caxis", "plot3", "patch", "contour", "contourf", "mesh", "quiver", "print"),
    *("scatter", "imshow", "bar", "saveas", "histogram", "close", "clc", "more", "box"),
    *("beep", "cla", "axes", "errorbar", "area", "pie", "stem"),
)


_ANSWERS = (
    *("axis", "caxis", "close", "colormap", "contour", "contourf", "get", "view"),
    *("xlim", "ylim", "zlim"),
)
"""Functions whose outputs are no handles: without a screen there is nothing to answer."""


def _ignored(name: str) -> Builtin:
    def function(call: Call, *arguments: Value) -> Value | None:
        del arguments
        if call.outputs and name in _ANSWERS:
            raise MatlabError(
                "MATLAB:graphics:noScreen", f"Outputs of {name} are not there: there is no screen."
            )
        return empty() if call.outputs else None

    return Builtin(name, function, 0, None, f"Accepts {name} and does nothing: there is no screen.")


GENERATED = tuple(map(_ignored, _IGNORED))
