"""Calls that differ in the extents of their arrays alone: recorded a few times, then computed.

The first call of a family is recorded as any other; so is one of a second shape, where recordings
have to be earned. The next is recorded with extents that remember their formulas, which gives a
path for every shape: the conditions under which another one would have been recorded alike, and
graphs as formulas. Where it says of the last plain recording what was recorded there it is trusted,
else once it says of a later call what is recorded there. From then on calls that meet the
conditions run it, and nothing is kept for their shape.

A call that comes to a decision as no call of the family did goes on in Python, and in a tree of its
shape's own; the second one gives a further branch of the family's tree in the same way.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable, Sequence
from dataclasses import field, replace
from typing import Any

import numpy as np

from runmat_jit.capture.replay.bailout import Tally
from runmat_jit.capture.replay.key import Key, layout_of
from runmat_jit.capture.replay.steps import LengthStep, Numbers, ShapedBatchStep, ShapesStep
from runmat_jit.capture.replay.tree import Departure, Fork, Segment, prune
from runmat_jit.capture.shapes.paths import (
    Leg,
    Path,
    batches_of,
    fits,
    is_plain,
    lengths_of,
    outline,
    shaped_path,
    shapes_of,
)
from runmat_jit.capture.tape.entries import Return
from runmat_jit.core.extent import Scope, plain
from runmat_jit.core.log import LOG
from runmat_jit.core.protocols import Executor
from runmat_jit.core.slotted import slotted, slotted_object
from runmat_jit.core.types import c_strides
from runmat_jit.graph.node import Graph

FAMILIES = 64
SITES = 64
"""Decisions of one family, and outcomes of them, at which it learns."""
CANDIDATES = 6
"""Recordings with formulas of one site: conditions divide its shapes."""
FAILURES = 3
"""Recordings that were wrong, after which a site is recorded for each shape."""

Extents = tuple[int, ...]
Shape = tuple[int, ...]


class Symbols:
    """The numbers of one call's arguments as symbols, and the graphs that were made of them."""

    def __init__(self, leaves: Sequence[Any]) -> None:
        self.scope = Scope()
        self.graphs: list[Graph] = []
        self.usable = True
        self.arrays: dict[int, tuple[tuple[int, ...], tuple[int, ...]]] = {}
        """Shape and strides (bytes) of each argument that is an array, by slot."""
        self.lengths: dict[str, Any] = {}
        """The traced values of those that the program asked for, by the name of the formula."""
        self.shape: Shape | None = None
        """Of what NumPy computes just now, in formulas, if a law tells."""
        self._strided: list[bool] = []
        for slot, leaf in enumerate(leaves):
            if type(leaf) is np.ndarray:
                self.arrays[slot] = self._array(leaf)

    def describes(self, shape: Extents, strides: Extents, itemsize: int) -> bool:
        """True if the law tells of an array that NumPy has made: its shape, in C order."""
        if self.shape is None or tuple(map(plain, self.shape)) != shape:
            return False
        return strides == tuple([step * itemsize for step in c_strides(shape)])

    def _array(self, array: np.ndarray) -> tuple[tuple[int, ...], tuple[int, ...]]:
        layout, shape = layout_of(array), tuple(map(self._named, array.shape))
        self._strided.append(layout is None)
        if layout is None:
            return shape, tuple(map(self.scope.symbol, array.strides))
        axes = range(array.ndim)
        steps = c_strides(shape, tuple(axes if layout == "C" else reversed(axes)))
        return shape, tuple([step * array.itemsize for step in steps])

    def _named(self, number: int) -> int:
        """An extent; arrays of no or one element along an axis are not like others."""
        symbol = self.scope.symbol(number)
        return number if symbol < 2 and symbol == number else symbol

    def extents(self) -> Numbers:
        """A function of a call's slots: the values of the symbols."""
        slots = tuple(zip(self.arrays, self._strided, strict=True))
        if len(slots) == 1 and not self._strided[0]:
            ((only, _),) = slots
            return lambda values: values[only].shape

        def extents(values: Sequence[Any]) -> Extents:
            found: Extents = ()
            for slot, strided in slots:
                found += values[slot].shape
                if strided:
                    found += values[slot].strides
            return found

        return extents


@slotted_object
class Candidate:
    """A path for every shape that meets the conditions of a scope, made of a recorded one."""

    recorded: Path
    path: Path
    scope: Scope
    lengths: tuple[LengthStep, ...] = ()
    """Those that the program asked for."""
    shapes: tuple[Shape, ...] = ()
    """Those of arrays that NumPy's own calls make."""

    @property
    def measured(self) -> bool:
        """True if plain recordings have less to compare: then it is another one with formulas."""
        return bool(self.lengths or self.shapes)

    def holds(self, extents: Extents) -> bool:
        """True if a call with these extents would have been recorded alike."""
        return self.scope.values(extents) is not None

    def common(self, path: Path, extents: Extents) -> int:
        """Number of segments that are those recorded for extents; 0 where the family is wrong.

        Where Python decided otherwise than in the candidate, those up to there.
        """
        if path[0].outcome != self.recorded[0].outcome:
            return 0
        for number, (ours, recorded, theirs) in enumerate(
            zip(self.path, self.recorded, path, strict=False)
        ):
            if number and theirs.outcome != recorded.outcome:
                return number
            if outline(recorded.segment) != outline(theirs.segment):
                return 0
            batches = zip(batches_of((ours,)), batches_of((theirs,)), strict=True)
            if not all(b.shows(other.program, extents) for b, other in batches):
                return 0
        return len(self.path)

    def measures(self, path: Path, extents: Extents) -> bool:
        """True if its formulas give the lengths that were recorded for extents."""
        found = self.scope.values(extents)
        if found is None:
            return False
        theirs = {step.slot: plain(step.number) for step in lengths_of(path)}
        pairs = [(step.number, theirs.get(step.slot)) for step in self.lengths]
        for ours, other in zip(self.shapes, shapes_of(path), strict=False):
            pairs += zip(ours, map(plain, other), strict=True)
        values = [(found.get(self.scope.name(a), a), b) for a, b in pairs if b is not None]
        return all(a == b for a, b in values)

    def prepare(self, extents: Extents) -> None:
        """Have programs ready for extents like these."""
        for batch in self.batches():
            batch.template.prepare(extents)

    def batches(self) -> list[ShapedBatchStep]:
        """The batches of the path."""
        return [batch for batch in batches_of(self.path) if isinstance(batch, ShapedBatchStep)]

    def split(self, count: int) -> Candidate:
        """Take away all but some segments: what is left of it."""
        fork = self.path[count - 1].segment.exit
        assert isinstance(fork, Fork), "another segment follows"
        fork.outcomes.clear()
        rest, recorded = self.path[count:], self.recorded[count:]
        self.path, self.recorded = self.path[:count], self.recorded[:count]
        first = rest[0].segment
        conditions = self.path[0].segment.early[:1]
        first = replace(first, early=(*conditions, *first.early))
        return replace(self, path=(Leg(rest[0].outcome, first), *rest[1:]), recorded=recorded)


@slotted
class Intent:
    """Purpose of a recording: a new candidate, or the trial of one."""

    symbols: Symbols | None = None
    trial: Candidate | None = None


@slotted_object
class Site:
    """A place of a family's tree where calls go on, and what was recorded there."""

    fork: Fork
    outcome: Hashable
    patience: int = 1
    """Shapes that are recorded as any other call before one is recorded with formulas."""
    shapes: int = 0
    """Shapes that were, so far."""
    reference: tuple[Path, Extents] | None = None
    """The last plain recording, and its extents."""
    trusted: tuple[Candidate, ...] = ()
    untried: tuple[Candidate, ...] = ()
    hosted: bool = False
    """Plain recordings had arrays that NumPy's own calls made."""
    failures: int = 0

    def intent(self, leaves: Sequence[Any], slots: Sequence[Any]) -> Intent:
        """How a call is to be recorded from here on; ``slots`` are those of its replay."""
        for candidate in self.untried:
            first = candidate.path[0].segment
            if not first.holds([*slots, *(None,) * (first.size - len(slots))]):
                return Intent(Symbols(leaves) if candidate.measured else None, trial=candidate)
        count = len(self.trusted) + len(self.untried)
        known = self.shapes >= self.patience or self.hosted
        if not known or self.failures >= FAILURES or count >= CANDIDATES:
            return Intent()
        return Intent(symbols=Symbols(leaves))

    def refer(self, path: Path, extents: Extents) -> None:
        """Take in a plain recording."""
        self.shapes += self.reference is None or self.reference[1] != extents
        self.reference = path, extents


@slotted_object
class Family:
    """Traces of calls that differ in extents alone; ``patience``: see :class:`Site`."""

    patience: int = 1
    root: Fork = field(default_factory=Fork)
    """The trusted candidates, as a tree to replay."""
    misses: int = 0
    tally: Tally = field(default_factory=Tally)
    poor_below: int = 0
    """As of records; so are ``gains_at_gate``, ``fruitless`` and ``work``."""
    gains_at_gate: bool = True
    fruitless: int = 0
    work: int = 0
    left: Any = None
    """The record of a call that ran away: those of other extents are taken to do so, too."""
    sites: dict[tuple[Fork, Hashable], Site] = field(default_factory=dict)

    def site(self, fork: Fork, outcome: Hashable) -> Site | None:
        """Learning site of an outcome of a fork; None where there are too many."""
        found = self.sites.get((fork, outcome))
        if found is None and len(self.sites) < SITES:
            found = self.sites[fork, outcome] = Site(fork, outcome, self.patience)
        return found

    def learn(
        self,
        site: Site,
        extents: Extents,
        path: Path,
        *,
        intent: Intent,
        executor: Executor,
    ) -> None:
        """Take in what a recording from a site on gave."""
        path = (Leg(site.outcome, path[0].segment), *path[1:])
        try:
            if intent.symbols is not None and intent.trial is None:
                made = candidate_of(path, intent.symbols, executor)
                self.add(site, made, extents)
            elif is_plain(path):
                site.refer(path, extents)
            elif is_plain(path, hosted=True):
                site.hosted = True
            if intent.trial is not None and intent.trial in site.untried:
                site.untried = tuple(each for each in site.untried if each is not intent.trial)
                if not self.compare(site, intent.trial, path, extents):
                    site.failures += 1
        except Exception:  # the call has its result, and must not fail for the sake of later ones
            LOG.exception("nothing was learned for other shapes; please report this")
            site.failures = FAILURES

    def add(self, site: Site, made: Candidate | None, extents: Extents) -> None:
        """Take in a candidate, at once if it says of the reference what was recorded."""
        if made is None or (site.reference is None and not made.measured):
            site.failures += 1
            return
        made.prepare(extents)
        plain_one = None if made.measured else site.reference
        tried = plain_one is not None and plain_one[1] != extents and made.holds(plain_one[1])
        if plain_one is None or not tried or not self.compare(site, made, *plain_one):
            site.untried = (*site.untried, made)

    def compare(self, site: Site, candidate: Candidate, path: Path, extents: Extents) -> bool:
        """Have later calls run what of a candidate is right for these extents, if anything is."""
        count = candidate.common(path, extents)
        if not count or not candidate.measures(path, extents):
            return False
        if count < len(candidate.path):
            rest = candidate.split(count)
            fork = candidate.path[-1].segment.exit
            assert isinstance(fork, Fork), "it is where Python decided otherwise"
            if (ours := self.site(fork, rest.path[0].outcome)) is not None:
                ours.untried = (rest,)
            theirs = self.site(fork, path[count].outcome)
            if theirs is not None and is_plain(path[count:]):
                theirs.refer(path[count:], extents)
        candidate.prepare(extents)
        site.trusted = (*site.trusted, candidate)
        site.fork.add(site.outcome, candidate.path[0].segment)
        prune(self.root)
        return True

    def latest(self, extents: Extents) -> list[Segment]:
        """The segments that the last calls went along, of those that hold for these extents."""
        found: list[Segment] = []
        fork: Fork | Return = self.root
        while isinstance(fork, Fork):
            known = [each for segments in fork.outcomes.values() for each in segments]
            fitting = [each for each in known if fits(each, extents)]
            if not fitting:
                break
            found.append(max(fitting, key=lambda segment: segment.used))
            fork = found[-1].exit
        return found


@slotted
class Families:
    """The families of one function's calls; ``patience``: see :class:`Site`."""

    patience: int = 1
    known: OrderedDict[Hashable, Family] = field(default_factory=OrderedDict)

    def of(self, key: Key) -> Family | None:
        """Family of a call whose shape has no record of its own."""
        return self.known.get(key[0])

    def leave(self, key: Key, record: Any) -> None:
        """A recording has run away."""
        if key[1]:
            self.known.setdefault(key[0], Family(self.patience)).left = record

    def site(self, key: Key, departure: Departure | None) -> Site | None:
        """Where a call is recorded that no tree could finish, if something is learned there."""
        if not key[1]:
            return None
        family = self.known.setdefault(key[0], Family(self.patience))
        if len(self.known) > FAMILIES:
            self.known.popitem(last=False)
        if departure is None:
            return family.site(family.root, None)
        return family.site(departure.fork, departure.outcome) if departure.whole else None


def candidate_of(path: Path, symbols: Symbols, executor: Executor) -> Candidate | None:
    """Candidate for other extents, of a recording with symbols."""
    batches = batches_of(path)
    if not is_plain(path) or not symbols.usable or len(batches) != len(symbols.graphs):
        return None
    templates = [executor.template(graph, symbols.scope) for graph in symbols.graphs]
    if None in templates:
        return None
    symbols.scope.close()
    extents = symbols.extents()
    lengths = lengths_of(path)
    numbers = tuple([length.number for length in lengths])
    holds = symbols.scope.function(numbers)
    slots = tuple([length.slot for length in lengths])
    conditions = ShapesStep(extents, holds, slots, symbols.scope, numbers)
    made = shaped_path(
        path, dict(zip(map(id, batches), templates, strict=True)), extents, symbols.scope
    )
    first = replace(made[0].segment, early=(conditions, *made[0].segment.early))
    ours = (Leg(path[0].outcome, first), *made[1:])
    return Candidate(path, ours, symbols.scope, lengths, shapes_of(path))
