"""Every option, declared once: its environment variable, how it is read, what it means."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Any, Final

from runmat_jit.core.errors import ConfigError
from runmat_jit.core.frozen import immutable

FUSION_KINDS: Final = (
    "elementwise",
    "reduction",
    "map_reduce_broadcast",
    "image_normalize",
    "matmul_epilogue",
    "power_step_normalize",
    "explained_variance",
    "centered_gram",
)
"""The fusion kinds, from the most general to the most special."""
LOOP_KINDS: Final = (
    "element_loop",
    "recurrent_loop",
    "iterative_reduce",
    "prefix_scan",
    "stochastic_evolution",
    "randomized_matmul",
)
"""The kinds of loops that run natively: any; with arrays in registers; with random numbers."""


@immutable
class Option:
    """One option: field of :class:`Config`, environment variable, reader, meaning."""

    name: str
    variable: str
    read: Callable[[str], Any]
    doc: str


def _flag(text: str) -> bool:
    return text.strip().lower() not in ("", "0", "false", "no", "off")


def _count(text: str) -> int:
    count = int(text)
    if count < 0:
        raise ValueError("it must not be negative")
    return count


def _level(text: str) -> int:
    level = int(text or 0)
    if level not in (0, 1, 2):
        raise ValueError("it must be 0, 1 or 2")
    return level


def _kinds(text: str, known: tuple[str, ...] = FUSION_KINDS) -> frozenset[str]:
    names = frozenset(part.strip() for part in text.split(",") if part.strip())
    if "all" in names:
        return frozenset(known)
    unknown = names - set(known)
    if unknown:
        raise ValueError(f"unknown kinds {sorted(unknown)}; there are {', '.join(known)}")
    return names


def _loop_kinds(text: str) -> frozenset[str]:
    return _kinds(text, LOOP_KINDS)


DEVICES: Final = ("cpu", "gpu", "auto")
"""Where a function may be asked to run."""


def _device(text: str) -> str:
    if text not in DEVICES:
        raise ValueError(f"it must be one of {', '.join(DEVICES)}")
    return text


COMPILES: Final = ("hot", "first call")
"""When a function is compiled: once its work so far has cost as much, or at its first call."""


def asks_for_first_call(options: Mapping[str, Any]) -> bool:
    """Return True if options of a function or a session ask to compile at the first call."""
    return options.get("compile") == "first call" or options["device"] == "gpu"


def _compiles(text: str) -> str:
    known = {"first": "first call", **{name: name for name in COMPILES}}
    if text not in known:
        raise ValueError(f"it must be one of {', '.join(COMPILES)}")
    return known[text]


def _log_level(text: str) -> str:
    if not text:
        return text
    import logging  # noqa: PLC0415  (rarely used)

    known = (*logging.getLevelNamesMapping(), "PLACEMENT")
    if text.upper() not in known:
        raise ValueError(f"it must be one of {', '.join(known).lower()}")
    return text.upper()


OPTIONS: Final = (
    Option(
        "device",
        "RUNMAT_DEVICE",
        _device,
        "Where programs run: `cpu`, `gpu`, or `auto`, the device that is predicted to take least.",
    ),
    Option(
        "compile",
        "RUNMAT_COMPILE",
        _compiles,
        "When functions are compiled: `hot`, once their plain calls have taken about as long as "
        "compiling does, or `first call` (`first` will do).",
    ),
    Option(
        "reproducible",
        "RUNMAT_REPRODUCIBLE",
        _flag,
        "One set of bits: functions are compiled at their first call and stay compiled where "
        "results may differ from NumPy's in the last bits. GPU results have the bits of the CPU's; "
        "programs for which an adapter cannot promise that run on the CPU. Otherwise they are "
        "within the GPU accuracy of each operation.",
    ),
    Option(
        "num_threads", "RUNMAT_NUM_THREADS", _count, "Threads of the CPU backend; 0: one a core."
    ),
    Option(
        "disable_jit", "RUNMAT_DISABLE_JIT", _flag, "Run every decorated function as plain Python."
    ),
    Option(
        "disable_fusion",
        "RUNMAT_DISABLE_FUSION",
        _kinds,
        "Fusion kinds to switch off, with commas, or `all`.",
    ),
    Option(
        "disable_loop_fusion",
        "RUNMAT_DISABLE_LOOP_FUSION",
        _loop_kinds,
        "Kinds of loops that are not to run natively, with commas, or `all` (see the guide "
        "to loops).",
    ),
    Option(
        "progress",
        "RUNMAT_PROGRESS",
        _flag,
        "Say on the standard error stream how far a native loop has come that takes more than half "
        "a second, and how many kernels were compiled where that takes more than two seconds (on "
        "a terminal alone); the line vanishes at its end.",
    ),
    Option(
        "trials",
        "RUNMAT_TRIALS",
        _flag,
        "Make some warm calls decorated and plain, time them, and bypass the compiler where plain "
        "ones take less, without "
        "kernels; results keep their bits.",
    ),
    Option(
        "verify",
        "RUNMAT_VERIFY",
        _level,
        "1: run each compiled segment op by op as well and compare (GPU results are reproducible "
        "then); "
        "2: run the undecorated function as well and compare.",
    ),
    Option(
        "log",
        "RUNMAT_LOG",
        _log_level,
        "Level of the `runmat_jit` logger, such as `info` or `debug`, or `placement` for where "
        "programs are placed; the lines are printed on the standard error stream where the program "
        "has set up no logging.",
    ),
    Option(
        "telemetry_out",
        "RUNMAT_TELEMETRY_OUT",
        str,
        "File that gets the counters, and what took how long, as JSON when the process ends (see "
        "the guide to telemetry).",
    ),
    Option(
        "trace_out",
        "RUNMAT_TRACE_OUT",
        str,
        "File that gets every call, compilation, program and loop with its time, for Perfetto or "
        "Chrome, when the process ends.",
    ),
    Option(
        "cache_dir",
        "RUNMAT_CACHE_DIR",
        str,
        "Directory of what is kept between processes, see below; `none`: nothing.",
    ),
)


@immutable
class Config:
    """Values of the options; ``sources`` says where each came from."""

    device: str = "auto"
    compile: str = "hot"
    reproducible: bool = False
    num_threads: int = 0
    disable_jit: bool = False
    disable_fusion: frozenset[str] = frozenset()
    disable_loop_fusion: frozenset[str] = frozenset()
    progress: bool = False
    trials: bool = True
    verify: int = 0
    log: str = ""
    telemetry_out: str = ""
    trace_out: str = ""
    cache_dir: str = ""
    sources: Mapping[str, str] = field(default_factory=dict)

    @property
    def compiles_first(self) -> bool:
        """True if functions are compiled at their first call, whatever that costs."""
        asked = asks_for_first_call({"compile": self.compile, "device": self.device})
        return asked or self.reproducible or bool(self.verify)

    @property
    def wants_times(self) -> bool:
        """True if it is noted what takes how long: each call is made by Python then."""
        return bool(self.telemetry_out or self.trace_out)

    @property
    def wants_cpu_bits(self) -> bool:
        """True if GPU results must have the bits of the CPU's: they are compared with those."""
        return self.reproducible or self.verify == 1


def read_config(environment: Mapping[str, str] | None = None) -> Config:
    """The configuration that the environment asks for; an empty variable is as good as none.

    Raises:
        ConfigError: a variable has a value that it cannot have.

    """
    environment = os.environ if environment is None else environment
    values: dict[str, Any] = {}
    for option in OPTIONS:
        text = environment.get(option.variable)
        if not text:
            continue
        try:
            values[option.name] = option.read(text)
        except ValueError as error:
            raise ConfigError(f"{option.variable}={text!r}: {error}") from None
    names: tuple[str, ...] = Config.__match_args__
    sources = {name: "default" for name in names if name != "sources"}
    sources |= {o.name: o.variable for o in OPTIONS if o.name in values}
    return Config(**values, sources=sources)
