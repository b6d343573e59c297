"""Host calls for tests: pure functions by name, in all the ways in which results may lie."""

import numpy as np

from runmat_jit.graph.parse import parse
from runmat_jit.ops.host_call import HostCall


def strided(x):
    """Every second element of new memory."""
    memory = np.empty((*x.shape, 2), x.dtype)
    memory[..., 0] = x
    return memory[..., 0]


def frozen(x):
    """A result that cannot be written."""
    result = np.array(x)
    result.flags.writeable = False
    return result


CALLS = {
    call.name: call
    for call in (
        HostCall(np.sort, "sort()"),
        HostCall(lambda x: np.array(np.flip(x)), "flip()"),
        HostCall(lambda x: np.array(x, order="F"), "fortran()"),
        HostCall(strided, "strided()"),
        HostCall(frozen, "frozen()"),
        HostCall(lambda x, y: np.array(np.broadcast_arrays(x, y)[0]), "first()"),
        HostCall(np.count_nonzero, "count_nonzero()"),
        HostCall(lambda: np.arange(6.0).reshape(2, 3), "table()"),
        HostCall(np.roll, "roll()"),
        HostCall(np.cumsum, "cumsum()"),
    )
}
ALIKE = ("sort()", "flip()", "fortran()", "strided()", "frozen()")
"""Those whose result is as their operand, which has an axis."""


def parsed(text):
    """The graph of a text whose host calls are these."""
    return parse(text, calls=CALLS)
