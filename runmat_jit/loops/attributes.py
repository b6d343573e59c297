"""Facts of lists of objects on which native loops depend; :mod:`.objects` finds them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from runmat_jit.core.frozen import frozen
from runmat_jit.loops.source import Chain


@frozen
class PackedAttribute:
    """An attribute of all objects: the operand that holds it, packed.

    ``is_python``: its elements are numbers of Python's.
    """

    name: str
    chain: Chain
    is_python: bool


@frozen
class Objects:
    """Facts of a list of objects of one class that a loop depends on.

    ``methods``: the functions of the class that the loop may call, by their names.
    """

    attributes: tuple[PackedAttribute, ...]
    methods: tuple[tuple[str, Any], ...]

    def attribute(self, name: str) -> PackedAttribute | None:
        """Return an attribute by its name; None: it is not packed."""
        return next((each for each in self.attributes if each.name == name), None)

    def with_methods(self, of: Callable[[Any], Any]) -> Objects:
        """Return the same facts with other functions as methods."""
        return Objects(self.attributes, tuple([(name, of(fn)) for name, fn in self.methods]))
