"""The same cases on every backend: a fixture for each set of schedules that matters to a case."""

from functools import partial

import pytest

from runmat_jit.backends.wgpu.schedule import Schedule
from tests.backends.conformance.backends import interpreter, llvm, wgpu, wgpu_of_some_width
from tests.backends.wgpu.conftest import adapter  # noqa: F401  (a fixture)

INTERPRETER = {"interpreter": interpreter}
OWN = INTERPRETER | {"llvm": llvm, "wgpu": wgpu}
TARGETS = OWN | {"llvm without AVX-512": partial(llvm, narrow=True)}
WIDTHS = TARGETS | {
    "llvm 4x2": partial(llvm, 4, 2),
    **{f"wgpu {n} lanes": partial(wgpu, Schedule(n, 64, 64)) for n in (1, 2, 4)},
}
RANDOM = INTERPRETER | {name: WIDTHS[name] for name in WIDTHS if name.startswith("llvm")}
RANDOM |= {"wgpu 1, 2 or 4 lanes": wgpu_of_some_width}
BLOCKS = OWN | {
    **{f"llvm {w}x{u}": partial(llvm, w, u) for w, u in ((2, 1), (4, 8), (16, 2))},
    "wgpu 1 lane": partial(wgpu, Schedule(1, 64, 64)),
    "wgpu 4 teams": partial(wgpu, Schedule(4, 64, 16)),
    "wgpu 1 team": partial(wgpu, Schedule(2, 128, 128, full_blocks=True)),
}
_TOTALS_OF_LLVM = ((2, 1), (4, 2), (8, 4), (4, 8), (16, 2), (16, 8), (32, 1), (2, 16))
_TOTALS_OF_WGPU = {
    "4 lanes 16 threads": Schedule(4, 16, 16),
    "16 teams": Schedule(4, 256, 16),
    "4 teams": Schedule(4, 256, 64, full_blocks=True),
    "4 teams unrolled": Schedule(4, 256, 64, full_blocks=True, unroll=4),
    "16 teams unrolled": Schedule(4, 256, 16, full_blocks=True, unroll=16),
    "1 team of 256": Schedule(4, 256, 256),
    "2 teams": Schedule(2, 64, 32),
    "1 team of 128": Schedule(2, 128, 128, full_blocks=True),
    "1 lane": Schedule(1, 64, 64),
}
TOTALS = OWN | {
    **{f"llvm {w}x{u}": partial(llvm, w, u) for w, u in _TOTALS_OF_LLVM},
    **{f"wgpu {name}": partial(wgpu, schedule) for name, schedule in _TOTALS_OF_WGPU.items()},
}
TWO_WIDTHS = OWN | {
    **{f"llvm {w}x{u}": partial(llvm, w, u) for w, u in ((8, 4), (4, 2), (2, 8))},
    "wgpu 8 teams": partial(wgpu, Schedule(4, 64, 8)),
    "wgpu 2 teams": partial(wgpu, Schedule(2, 64, 32)),
}


def backends(family):
    """A fixture with a backend of the family each time; shaders need an adapter."""

    @pytest.fixture(scope="session", params=family)
    def fixture(request):
        if request.param.startswith("wgpu"):
            request.getfixturevalue("adapter")
        return family[request.param]()

    return fixture


backend = backends(OWN)
of_every_target = backends(TARGETS)
of_every_width = backends(WIDTHS)
for_random_kernels = backends(RANDOM)
with_blocks = backends(BLOCKS)
with_totals = backends(TOTALS)
with_two_widths = backends(TWO_WIDTHS)
