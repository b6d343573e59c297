"""Has calls that are replayed again and again go through a gate, which needs no Python.

An entry of the gate (see :mod:`.gate_entries`) is made at the second replay of a kind of call, and
taken away when more becomes known of the function. All else falls to Python.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Hashable
from typing import Any, Final

from runmat_jit.capture.replay.gate_entries import EntryMaker, Rest
from runmat_jit.capture.replay.key import Given, Key
from runmat_jit.capture.replay.tree import Fork
from runmat_jit.core.gates import Gate, Gates, NotForGates
from runmat_jit.core.hotness import KINDS, OFTEN, is_due
from runmat_jit.core.locks import new_lock
from runmat_jit.core.log import LOG

LARGE: Final = 4 * KINDS
"""Slots of a trace, beyond which an entry that cannot be made is tried once."""


class Gatekeeper:
    """The gate of one function, and the calls that may go through it.

    ``install`` puts the gate before what Python does; None takes it away.
    """

    def __init__(
        self,
        fn: types.FunctionType,
        gates: Callable[[], Gates | None],
        install: Callable[[Gate | None], None],
    ) -> None:
        self._fn, self._gates, self._install = fn, gates, install
        self._seen: dict[Hashable, int] = {}
        self._refused: dict[Hashable, str] = {}
        self._extents: dict[Hashable, tuple[Hashable, int]] = {}
        """By what calls have in common but their extents: those of the last, and how often they
        were others."""
        self._lock = new_lock()
        self.gate: Gate | None = None

    def offer(
        self,
        key: Key,
        root: Fork,
        given: Given,
        slots: list[Any],
        *,
        count: Callable[[int], None],
        rest: Rest,
        of_family: bool,
    ) -> None:
        """A call has been replayed by Python; ``slots`` are as the replay left them.

        ``count`` will be told of those that need none; ``rest`` makes the rest of others;
        ``of_family``: the replay was one for many extents.
        """
        if of_family and self._offer_for_all_extents(key, root, given, slots, count=count):
            return
        seen = self._seen.get(key, 0) + 1
        if len(self._seen) > KINDS:
            self._seen.clear()
            self._refused.clear()
        self._seen[key] = seen
        is_final = key in self._refused and len(slots) > LARGE
        if is_final or (of_family and seen < OFTEN) or not is_due(seen):
            return
        gates = self._gates()
        if gates is None:
            return
        try:
            args, kwargs, contents = given
            writer = gates.writer(len(args), tuple(kwargs))
            maker = EntryMaker(writer, self._fn, slots, rest, tuple(kwargs), contents=contents)
            maker.make(root, (*args, *kwargs.values()))
            entry = writer.entry(key, count, replays=True)
        except NotForGates as why:
            self._refused[key] = str(why)
            if self.gate is not None:
                self.gate.remove(key)
            return
        except Exception:  # the call has its result, and must not fail for the sake of later ones
            LOG.exception("no gate was made; please report this")
            return
        self._refused.pop(key, None)
        self._add(gates, entry)

    def _offer_for_all_extents(
        self,
        key: Key,
        root: Fork,
        given: Given,
        slots: list[Any],
        *,
        count: Callable[[int], None],
    ) -> bool:
        """Make an entry for calls of all extents, where those of calls change, if it can be."""
        common, extents = key
        last, others = self._extents.get(common, (None, 0))
        others += last is not None and extents != last
        if len(self._extents) > KINDS:
            self._extents.clear()
        self._extents[common] = extents, others
        if extents == last or not others or others & (others - 1):
            return False
        gates = self._gates()
        if gates is None:
            return False
        args, kwargs, contents = given
        names = tuple(kwargs)
        try:
            writer = gates.writer(len(args), names)
            maker = EntryMaker(
                writer, self._fn, slots, _no_rest, names, contents=contents, shaped=True
            )
            maker.make(root, (*args, *kwargs.values()))
            self._add(gates, writer.entry((common, *maker.programs), count, replays=True))
        except NotForGates:
            return False
        except Exception:  # the call has its result, and must not fail for the sake of later ones
            LOG.exception("no gate was made; please report this")
            return False
        return True

    def _add(self, gates: Gates, entry: Any) -> None:
        with self._lock:
            if self.gate is None:
                self.gate = gates.gate(_not_installed)
            self.gate.add(entry)
            self._install(self.gate)

    def close(self) -> None:
        """Have Python look at all calls: what is known of them has changed."""
        with self._lock:
            self._seen.clear()
            self._refused.clear()
            self._extents.clear()
            if self.gate is not None:
                self.gate.clear()
                self._install(None)

    def refusal(self, key: Hashable) -> str | None:
        """Reason why calls with a key do not go through the gate, as far as that is known."""
        return self._refused.get(key)

    def flush(self) -> None:
        """Have the calls so far counted."""
        if self.gate is not None:
            self.gate.flush()


def _no_rest(*_args: Any) -> Any:
    raise AssertionError("such entries begin nothing that must not be begun again")


def _not_installed(*_args: Any, **_kwargs: Any) -> Any:
    raise AssertionError("a gate gets its fallback where it is installed")
