"""The program's MATLAB script, run by ``runmat_jit.matlab``."""

from __future__ import annotations

import inspect
from pathlib import Path

import runmat_jit as runmat
from benchmarks.peers.peer import Implementation, PeerUnavailableError
from benchmarks.program import Program
from runmat_jit import matlab
from runmat_jit.runtime.session import current_session

SCRIPTS = Path(__file__).parent.with_name("programs") / "matlab"


def implement(name: str, program: Program) -> Implementation:
    if not program.outputs:
        raise PeerUnavailableError(f"matlab: there is no script of {name}")
    script, parameters = SCRIPTS / f"{program.name}.m", [*inspect.signature(program.fn).parameters]

    def run(*arguments):
        workspace = matlab.run(script, dict(zip(parameters, arguments, strict=True)))
        results = tuple(workspace[output] for output in program.outputs)
        return results if len(results) > 1 else results[0]

    return Implementation(
        "matlab",
        {"runmat_jit": runmat.__version__},
        run,
        threads=current_session().threads,
        squeezes=True,
        note="parsed and converted to MATLAB's memory order in each call",
    )
