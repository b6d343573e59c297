"""Kernels over one axis: some elements a lane where they are drawn together, turns in a loop."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field

from runmat_jit.core.slotted import slotted
from runmat_jit.kernel.ir import Pair, Value
from runmat_jit.lower.blocks_of_draws import BlocksOfDraws
from runmat_jit.lower.body import Body
from runmat_jit.lower.iterations import Turns
from runmat_jit.lower.nest import Access
from runmat_jit.lower.problem import Compute, Operand, Store


@slotted
class Element:
    """One of the elements of a lane: its values, and where accesses point."""

    values: dict[Operand, Value | Pair]
    bases: dict[Access, Value | None]


@slotted
class Flat:
    """Emits what a lane computes.

    ``index``: of the block of lanes. ``draws``: whose blocks the elements of a lane share.
    """

    body: Body
    index: Value
    draws: BlocksOfDraws
    turns: Turns | None
    elements: list[Element] = field(default_factory=list)

    def emit(self, stores: Sequence[Store]) -> None:
        """Emit everything, in the block of lanes."""
        body, turns = self.body, self.turns
        self.begin()
        for store in stores:
            if store.limits:
                body.keep_inside(store.limits)
        if turns is None:
            self.compute(body.computes)
        else:
            self.compute(turns.before)
            self.loop(turns)
            self.compute(turns.after)
        for store in stores:
            self.store(store)

    def begin(self) -> None:
        """Have accesses point at the elements of the lane, and read what is not of single turns."""
        body, width = self.body, self.draws.width
        values, bases = body.values, body.bases
        for number in range(width):
            body.values, body.bases = dict(values), dict(bases)
            at = self.index if width == 1 else self.index * width + number
            body.move(0, at)
            self.elements.append(Element(body.values, body.bases))
        if width > 1:
            body.steps = {access: step * width for access, step in body.steps.items()}
        later = set() if self.turns is None else self.turns.steps.keys()
        for _ in self.each():
            body.load_for(access for access in body.nest.strides if access not in later)

    def each(self) -> Iterator[Element]:
        """The elements, each while it is that which is emitted."""
        for number, element in enumerate(self.elements):
            self.body.values, self.body.bases = element.values, element.bases
            self.body.place = number
            yield element

    def compute(self, computes: Iterable[Compute]) -> None:
        """Compute some operations of each element."""
        body = self.body
        for compute in computes:
            for _ in self.each():
                if compute.node in body.values:
                    continue  # all elements have the same
                body.load_for(compute.operands)
                drawn = self.draws.number(body, compute)
                if drawn is None:
                    body.emit(compute)
                else:
                    body.values[compute.node] = drawn

    def store(self, store: Store) -> None:
        """Store a value of each element; where they lie side by side, all at once."""
        body = self.body
        for _ in self.each():
            body.load_for(store.operands)
        if self.draws.may_store_beside(body, store):
            values = [body.value(store.value) for _ in self.each()]
            body.values, body.bases = self.elements[0].values, self.elements[0].bases
            body.put_beside(store, values)
            return
        for _ in self.each():
            body.store((store,))

    # -- turns -------------------------------------------------------------------------------------
    def loop(self, turns: Turns) -> None:
        """All iterations; what is needed afterwards is known then."""
        body, k = self.body, self.body.builder
        outside = [(element.values, element.bases) for element in self.elements]
        kept = list(dict.fromkeys(turns.left.values()))
        inits: list[Value] = []
        for _ in self.each():
            begun = [body.value(node) for node in turns.carried]
            inits += [value if value.lane else k.splat(value, value.type) for value in begun]
            zeros = [(made.type.dtype.type(0).item(), body.type_of(made)) for made, _ in kept]
            inits += [k.splat(*zero) for zero in zeros]
        count = body.parameter(turns.count)
        with k.loop(0, count, inits) as loop, body.scope():
            carry = iter(loop.carry)
            starts: list[dict[Operand, Value]] = []
            for element in self.elements:
                start: dict[Operand, Value] = {node: next(carry) for node in turns.carried}
                _ = [next(carry) for _ in kept]
                starts.append(start)
                element.values = dict(element.values)
                element.values.update(start)
                element.bases = dict(element.bases)
            for _ in self.each():
                for read, step in turns.steps.items():
                    body.go_on(read, loop.i * body.parameter(step))
            self.compute(turns.made)
            yields: list[Value] = []
            for start, element in zip(starts, self.elements, strict=True):
                body.values = element.values
                yields += [start.get(m) or body.value(m) for m in turns.carried.values()]
                before = {later: start[node] for node, later in turns.carried.items()}
                yields += [before[made] if age else body.value(made) for made, age in kept]
            loop.yield_(*yields)
        out = iter(loop.out)
        for element, (values, bases) in zip(self.elements, outside, strict=True):
            _ = [next(out) for _ in turns.carried]
            found = {which: next(out) for which in kept}
            element.values = {**values, **{node: found[at] for node, at in turns.left.items()}}
            element.bases = bases
