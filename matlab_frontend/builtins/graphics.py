"""Graphics and the desktop: accepted and ignored, so that programs that draw still compute."""

from __future__ import annotations

from matlab_frontend.builtins.registry import Builtin, Call
from matlab_frontend.values.array import Value
from matlab_frontend.values.make import empty

_IGNORED = (
    *("figure", "plot", "axis", "hold", "set", "title", "xlabel", "ylabel", "zlabel", "get"),
    *("colormap", "drawnow", "subplot", "gca", "gcf", "clf", "legend", "view", "surf", "colorbar"),
    *("shading", "grid", "ylim", "xlim", "zlim", "imagesc", "semilogy", "semilogx", "loglog"),
    *("line", "caxis", "plot3", "patch", "contour", "contourf", "mesh", "quiver", "print"),
    *("scatter", "imshow", "bar", "saveas", "hist", "histogram", "close", "clc", "more", "box"),
    *("addpath", "rmpath", "fflush", "beep", "cla", "axes", "errorbar", "area", "pie", "stem"),
)


def _ignored(name: str) -> Builtin:
    def function(call: Call, *arguments: Value) -> Value | None:
        del arguments
        return empty() if call.outputs else None

    return Builtin(name, function, 0, None, f"Accepts {name} and does nothing: there is no screen.")


GENERATED = tuple(map(_ignored, _IGNORED))
