"""What a device can do: how fast it moves and computes, and what it costs to begin.

``python -m runmat_jit calibrate`` measures it; until then the shipped profiles hold. A profile is
data: nothing here asks a clock or a machine.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, TypeVar

from runmat_jit.core.frozen import frozen

if TYPE_CHECKING:
    from runmat_jit.kernel.work import Work

T = TypeVar("T", "Bandwidth", "Products")

VERSION: Final = 3
"""Of the text form: to be raised where the meaning of a number changes."""
_LEAST_US: Final = 1e-6
"""Of an iteration, so that one that computes nothing has a limit, too."""


@frozen
class Bandwidth:
    """Bytes read and written a microsecond, by one thread and by all.

    ``up_to``: bytes of the largest working set for which it holds.
    """

    up_to: int
    one: float
    every: float


@frozen
class Products:
    """Floating-point operations a microsecond of a product of matrices, by all threads.

    ``up_to``: operations of the largest product for which it holds.
    """

    up_to: float
    single: float
    double: float


@frozen
class Link:
    """What a device with memory of its own costs beside its kernels.

    ``upload`` and ``download`` are bytes a microsecond, to which each array adds ``upload_us`` or
    ``download_us``; ``submission_us`` is that of a program whose arrays are there, ``waiting_us``
    what is added where somebody waits for its results; ``opening_us`` is spent once, at the first
    program of a process.
    """

    upload: float
    download: float
    upload_us: float
    download_us: float
    submission_us: float
    waiting_us: float
    opening_us: float

    def transfers_us(self, uploaded: Sequence[int], downloaded: Sequence[int]) -> float:
        """Time to bring arrays of so many bytes to the device, and others back."""
        up = len(uploaded) * self.upload_us + sum(uploaded) / self.upload
        return up + len(downloaded) * self.download_us + sum(downloaded) / self.download


@frozen
class Pace:
    """How fast a device computes tiles of a product: a thousand terms of one in ``us``.

    ``at_once``: how many of them it computes in the time of one, where there are many.
    """

    us: float
    at_once: float

    def product_us(self, tiles: float) -> float:
        """Time for so many tiles."""
        return self.us * max(1.0, tiles / self.at_once)


@frozen
class Tuning:
    """What schedules of a GPU's kernels depend on beside the limits of its adapter.

    ``tiles``: of products, by rows, columns and terms as ``128x256x8``. ``column_threads``: with so
    many the memory is busy though each has some hundred rows, one after the other.
    """

    tiles: Mapping[str, Pace]
    column_threads: int


@frozen
class Profile:
    """A device in numbers, its times in microseconds.

    ``rates``: of an instruction and element, on one thread (a GPU: on all of it), by class and
    width as ``arithmetic4`` (see ``kernel.work``). ``launch_us``: of a kernel. ``wake_us``: of
    waking the other threads. ``link`` and ``tuning``: None for what shares the host's memory.
    """

    name: str
    threads: int
    bandwidth: tuple[Bandwidth, ...]
    rates: Mapping[str, float]
    products: tuple[Products, ...]
    launch_us: float
    wake_us: float
    link: Link | None = None
    tuning: Tuning | None = None
    measured: bool = False

    def iteration_us(self, work: Work) -> float:
        """Time that one thread computes for an iteration."""
        return sum(number * self.rates[f"{kind}{width}"] for (kind, width), number in work.items())

    def memory_us(self, nbytes: float, *, working_set: float = 0.0, threads: int = 1) -> float:
        """Time to move so many bytes of a working set (None: of these alone)."""
        tier = at_size(self.bandwidth, max(working_set, nbytes))
        shared = min(max(threads - 1, 0) / max(self.threads - 1, 1), 1.0)
        return nbytes / (tier.one + shared * (tier.every - tier.one))

    def products_us(self, flops: float, *, double: bool) -> float:
        """Time of a product of matrices."""
        tier = at_size(self.products, flops)
        return flops / (tier.double if double else tier.single)

    @property
    def parallel_from_us(self) -> float:
        """Time on one thread from which waking the others pays."""
        return self.wake_us * self.threads / (self.threads - 1) if self.threads > 1 else 8.0

    @property
    def parallel_from_bytes(self) -> int:
        """The most bytes that one thread moves within that time."""
        most = 0
        for tier in self.bandwidth:
            here = min(int(self.parallel_from_us * tier.one), tier.up_to)
            if here <= most:
                break
            most = here
            if here < tier.up_to:
                break
        return most

    def most_serial(self, iteration_us: float) -> int:
        """The most iterations that are no work for several threads."""
        return int(self.parallel_from_us / max(iteration_us, _LEAST_US))

    def is_parallel(self, total: int, nbytes: int, iteration_us: float) -> bool:
        """True if a launch is long enough to wake other threads for it."""
        return total > self.most_serial(iteration_us) or nbytes > self.parallel_from_bytes


def at_size(tiers: Sequence[T], size: float) -> T:
    """The numbers that hold for a size: of the first tier that reaches it, else of the last."""
    return next((tier for tier in tiers if size <= tier.up_to), tiers[-1])


MEMORY: Final = 1 << 62
"""The largest working set: what does not fit into any cache."""

CPU: Final = Profile(
    "a core of 2.6 GHz with 512-bit vectors",
    2,
    (
        Bandwidth(48 << 10, 70_000.0, 140_000.0),
        Bandwidth(2 << 20, 45_000.0, 66_000.0),
        Bandwidth(32 << 20, 14_000.0, 28_000.0),
        Bandwidth(MEMORY, 9_500.0, 18_000.0),
    ),
    {
        "arithmetic4": 2.1e-5,
        "arithmetic8": 4.4e-5,
        "division4": 2.3e-4,
        "division8": 7.4e-4,
        "conversion4": 1e-5,
        "conversion8": 2e-5,
        "gather4": 8e-4,
        "gather8": 9e-4,
        "scalar8": 3e-4,
    },
    (
        Products(2.0 * 128**3, 56_000.0, 34_000.0),
        Products(2.0 * 700**3, 115_000.0, 52_000.0),
        Products(float(MEMORY), 115_000.0, 58_000.0),
    ),
    launch_us=0.22,
    wake_us=4.0,
)
"""Shipped: measured on two cores of a server; what holds until a machine is measured."""


def shipped_cpu(threads: int) -> Profile:
    """The shipped profile of a machine with so many threads: caches are each core's own."""
    tiers = [
        replace(tier, every=tier.one * (threads if tier.up_to < MEMORY else min(threads, 1.6)))
        for tier in CPU.bandwidth
    ]
    share = threads / CPU.threads
    products = [replace(p, single=p.single * share, double=p.double * share) for p in CPU.products]
    return replace(CPU, threads=threads, bandwidth=tuple(tiers), products=tuple(products))


TUNING: Final = Tuning(
    {
        "128x256x8": Pace(200.0, 118.0),
        "128x128x8": Pace(138.0, 125.0),
        "256x64x8": Pace(128.0, 125.0),
        "128x64x8": Pace(73.0, 150.0),
        "64x64x8": Pace(42.0, 151.0),
        "32x64x16": Pace(28.0, 158.0),
    },
    1 << 16,
)
"""Shipped: of a server's card; that of another is measured with its profile."""

GPU: Final = Profile(
    "a small GPU in a processor",
    1,
    (Bandwidth(MEMORY, 40_000.0, 40_000.0),),
    {
        "arithmetic4": 3e-6,
        "arithmetic8": 1e-4,
        "division4": 2.4e-5,
        "division8": 1e-3,
        "conversion4": 6e-6,
        "conversion8": 1e-4,
        "gather4": 1e-4,
        "gather8": 2e-4,
        "scalar8": 6e-4,
    },
    (Products(2.0 * 512**3, 5e4, 1.5e3), Products(float(MEMORY), 3.3e5, 1e4)),
    launch_us=15.0,
    wake_us=0.0,
    link=Link(4_000.0, 1_000.0, 100.0, 250.0, 70.0, 600.0, 800_000.0),
    tuning=TUNING,
)
"""Shipped: of the slowest that is worth the name. A better card is used less than it could be until
it is measured; with numbers of a server's card, small ones would be chosen for what they are slow
at.
"""

LARGE_GPU: Final = replace(
    GPU,
    name="a large GPU",
    bandwidth=(Bandwidth(MEMORY, 2e6, 2e6),),
    rates={name: 0.02 * rate for name, rate in GPU.rates.items()},
    launch_us=3.0,
    link=Link(12_000.0, 9_000.0, 20.0, 60.0, 20.0, 50.0, 50_000.0),
)
"""Assumed of a GPU before it is measured. A program that this one would not win opens no GPU. The
background opens it, so that the program loses little time."""


# -- text ------------------------------------------------------------------------------------------
def to_dict(profile: Profile) -> dict[str, Any]:
    """Plain lists, strings and numbers; `from_dict` reads them."""
    link, tuning = profile.link, profile.tuning
    return {
        "version": VERSION,
        "name": profile.name,
        "threads": profile.threads,
        "bandwidth": [[tier.up_to, tier.one, tier.every] for tier in profile.bandwidth],
        "rates": dict(profile.rates),
        "products": [[tier.up_to, tier.single, tier.double] for tier in profile.products],
        "launch_us": profile.launch_us,
        "wake_us": profile.wake_us,
        "link": None if link is None else [getattr(link, name) for name in Link.__match_args__],
        "tuning": None if tuning is None else _tuning_to_dict(tuning),
        "measured": profile.measured,
    }


def _tuning_to_dict(tuning: Tuning) -> dict[str, Any]:
    return {
        "tiles": {name: [pace.us, pace.at_once] for name, pace in tuning.tiles.items()},
        "column_threads": tuning.column_threads,
    }


def from_dict(given: object) -> Profile:
    """The profile that `to_dict` has written.

    Raises:
        ValueError: this is none, or one whose numbers cannot be.

    """
    try:
        found = _profile(given)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise ValueError(f"no profile of a device: {error!r}") from error
    if not all(0.0 < number < float("inf") for number in _numbers(found)):
        raise ValueError("no profile of a device: a number is not positive and finite")
    if set(found.rates) != set(CPU.rates) or found.threads < 1:
        raise ValueError("no profile of a device: other classes of instructions")
    if found.tuning is not None and set(found.tuning.tiles) != set(TUNING.tiles):
        raise ValueError("no profile of a device: other tiles of products")
    for tiers in (found.bandwidth, found.products):
        sizes = [tier.up_to for tier in tiers]
        if not sizes or sizes != sorted(set(sizes)):
            raise ValueError("no profile of a device: its sizes do not grow")
    return found


def _profile(given: Any) -> Profile:
    if given["version"] != VERSION:
        raise ValueError(f"a profile of version {given['version']}, not {VERSION}")
    link, tuning = given["link"], given["tuning"]
    return Profile(
        str(given["name"]),
        int(given["threads"]),
        tuple(Bandwidth(int(up_to), float(a), float(b)) for up_to, a, b in given["bandwidth"]),
        {str(name): float(rate) for name, rate in given["rates"].items()},
        tuple(Products(float(up_to), float(a), float(b)) for up_to, a, b in given["products"]),
        float(given["launch_us"]),
        float(given["wake_us"]),
        None if link is None else Link(*map(float, link)),
        None if tuning is None else _tuning(tuning),
        bool(given["measured"]),
    )


def _tuning(given: Any) -> Tuning:
    tiles = {str(name): Pace(float(us), float(at)) for name, (us, at) in given["tiles"].items()}
    return Tuning(tiles, int(given["column_threads"]))


def _numbers(profile: Profile) -> list[float]:
    """All that must be positive; ``wake_us`` may be 0."""
    link, tuning = profile.link, profile.tuning
    paces = () if tuning is None else tuning.tiles.values()
    return [
        *(number for pace in paces for number in (pace.us, pace.at_once)),
        *(() if tuning is None else (tuning.column_threads,)),
        *(number for tier in profile.bandwidth for number in (tier.up_to, tier.one, tier.every)),
        *(number for tier in profile.products for number in (tier.up_to, tier.single, tier.double)),
        *profile.rates.values(),
        profile.launch_us,
        profile.wake_us + 1.0,
        *(() if link is None else (getattr(link, name) for name in Link.__match_args__)),
    ]
