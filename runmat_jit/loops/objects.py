"""Lists of objects in loops, as in simulations written as classes: ``for b in self.bodies``.

The attributes that a loop names are packed: one array for each, whose first axis counts the
objects. A native run works on these copies; when it has ended, what it has stored is put back: the
elements of arrays into the arrays, numbers as attributes. Objects are known by their index.
"""

from __future__ import annotations

import ast
import functools
import types
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from runmat_jit.core.prices import OPERATIONS
from runmat_jit.core.slotted import slotted
from runmat_jit.loops.attributes import Objects, PackedAttribute
from runmat_jit.loops.source import Chain, LoopSource, chain_of

MOST: Final = 4096
"""Objects of a list; more take longer to pack than arrays are worth."""
ARRAY, NUMBER = 16, 4
"""Operations of Python's that take as long as packing an array, or a number, and back."""
_PYTHONS: Final = (bool, int, float)


@slotted
class Pack:
    """The objects of a list, with the operands that hold their attributes."""

    chain: Chain
    items: Sequence[Any]
    known: Objects
    originals: Mapping[str, Sequence[Any]]
    packed: Mapping[str, np.ndarray]

    def stored(self, call: Any) -> list[PackedAttribute]:
        """Return the attributes that a loop has stored."""
        written = [call.operands[number] for number in call.written]
        return [each for each in self.known.attributes if each.chain in written]


def put_back(packs: Sequence[Pack], call: Any) -> None:
    """Give objects what a native run has stored."""
    for pack in packs:
        for each in pack.stored(call):
            values, originals = pack.packed[each.name], pack.originals[each.name]
            if type(originals[0]) is np.ndarray:
                for original, value in zip(originals, values, strict=True):
                    original[...] = value
                continue
            numbers = values.tolist() if each.is_python else values
            for item, number in zip(pack.items, numbers, strict=True):
                setattr(item, each.name, number)


def are_apart(packs: Sequence[Pack], bases: Sequence[Any]) -> bool:
    """Return False if an object is in several lists, or a loop reads its attributes by a name."""
    found = [id(item) for pack in packs for item in pack.items]
    return len(set(found)) == len(found) and not set(found) & set(map(id, bases))


def packs_of(
    lists: Mapping[Chain, Any], operands: dict[Chain, Any], source: LoopSource, converter: Any
) -> list[Pack]:
    """Pack the lists of objects that a loop reads; their attributes become operands.

    None is packed where Python runs the loop in less time than packing takes.
    """
    found = list[Pack]()
    lengths = {chain: len(value) for chain, value in lists.items() if 0 < len(value) <= MOST}
    counts = {chain: value for chain, value in operands.items() if type(value) is int}
    work = work_of(source, (*lengths.items(), *counts.items())) if lengths else 0
    for chain in lengths:
        packed = [each for pack in found for values in pack.originals.values() for each in values]
        others = (*operands.values(), *packed)
        made = _pack(lists[chain], chain, source.node, others, converter, work=work)
        if made is not None:
            found.append(made)
            operands.update((each.chain, made.packed[each.name]) for each in made.known.attributes)
    return found


@functools.lru_cache(1024)  # a memo of a pure question
def work_of(source: LoopSource, known: tuple[tuple[Chain, int], ...]) -> int:
    """Return about how many operations a loop is, for lists of these lengths and these integers."""
    from runmat_jit.loops import sites  # noqa: PLC0415  (loaded by now)

    values = dict(known)

    def number(node: ast.expr) -> int | None:
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "len":
            chain = chain_of(node.args[0])
            return None if chain is None else values.get(chain)
        return sites.evaluated(node, values.get)

    turns = sites.turns_of(source.node, number)
    return (sites.TURNS if turns is None else turns) * sites.operations_of(source, number)


def _pack(
    value: Any, chain: Chain, node: ast.AST, others: Sequence[Any], converter: Any, *, work: int
) -> Pack | None:
    """Pack a list or a tuple of objects, if they are of one class and their attributes are plain.

    ``node``: the loop; ``others``: arrays that it reads beside them; ``work``: its operations.
    Returns None if the objects differ in what a packed array has to share, or if packing does not
    pay.
    """
    cls: Any = type(value[0])
    if not _is_plain(cls) or any(type(each) is not cls for each in value):
        return None
    if not _pays(len(value), value[0].__dict__, attributes_named(node), work):
        return None
    own = [each.__dict__ for each in value]
    methods, named = _methods_of(cls, own[0], node, converter)
    originals: dict[str, list[Any]] = {}
    for name in sorted(named & own[0].keys()):
        found = [each.get(name) for each in own]
        if not _is_of_class(cls, name) and _are_alike(found):
            originals[name] = found
    arrays = {n: found for n, found in originals.items() if type(found[0]) is np.ndarray}
    views = frozenset(n for n, found in arrays.items() if not all(map(_is_owner, found)))
    is_one_twice = len(set(map(id, value))) < len(value)
    if is_one_twice or not originals or _overlap(arrays, views, others):
        return None
    packed = {name: _packed(found) for name, found in originals.items()}
    for name in views:
        packed[name].flags.writeable = False  # a run that would store to it does not begin
    attributes = tuple(
        [
            PackedAttribute(name, Chain(f"{chain}[]", (name,)), type(found[0]) in _PYTHONS)
            for name, found in originals.items()
        ]
    )
    return Pack(chain, value, Objects(attributes, tuple(methods.items())), originals, packed)


def _pays(count: int, own: Mapping[str, Any], named: frozenset[str], work: int) -> bool:
    """Return True if a loop of so many operations takes longer than packing its objects."""
    kinds = [type(own[name]) for name in named & own.keys()]
    arrays = kinds.count(np.ndarray)
    price = count * (ARRAY * arrays + NUMBER * (len(kinds) - arrays))
    return work * (OPERATIONS if arrays else 1) >= 2 * price


def _packed(values: Sequence[Any]) -> np.ndarray:
    """Return arrays, or numbers, side by side."""
    if type(values[0]) is np.ndarray:
        return np.concatenate(values).reshape(len(values), *values[0].shape)
    return np.array(values)


def _methods_of(
    cls: Any, own: Mapping[str, Any], node: ast.AST, converter: Any
) -> tuple[dict[str, Any], frozenset[str]]:
    """Return the methods that a loop, or one of them, names, and all attributes that are named."""
    named, methods = attributes_named(node), dict[str, Any]()
    waiting = sorted(named)
    while waiting:
        name = waiting.pop()
        found = next((vars(base)[name] for base in cls.__mro__ if name in vars(base)), None)
        found = converter.undecorated(found) or found
        if name in methods or name in own or type(found) is not types.FunctionType:
            continue
        source = converter.helper(found)
        if source is not None:
            methods[name] = found
            more = frozenset[str]().union(*map(attributes_named, source.body))
            waiting += sorted(more - named)
            named |= more
    return methods, named


def _is_plain(cls: Any) -> bool:
    """Return True if objects of a class keep their attributes in a dict, and do no more."""
    if cls.__module__.partition(".")[0] in ("builtins", "numpy") or not cls.__dictoffset__:
        return False
    plain = cls.__getattribute__ is object.__getattribute__
    return bool(plain and cls.__setattr__ is object.__setattr__ and not hasattr(cls, "__getattr__"))


def _is_of_class(cls: Any, name: str) -> bool:
    """Return True if a class says what an attribute of its objects is."""
    return any(name in vars(base) for base in cls.__mro__)


def _are_alike(values: Sequence[Any]) -> bool:
    """Return True for arrays of one dtype and shape, and for numbers of one class."""
    first: Any = values[0]
    kind = type(first)
    if len(set(map(type, values))) > 1:
        return False
    if kind is np.ndarray:
        shapes, dtypes = {each.shape for each in values}, {each.dtype for each in values}
        return bool(first.ndim and len(shapes) == len(dtypes) == 1)
    if kind is int:
        return bool(max(map(abs, values)) < 1 << 62)
    is_numpys: bool = issubclass(kind, np.generic) and np.dtype(kind).kind in "bif"
    return kind in (bool, float) or is_numpys


def _is_owner(array: np.ndarray) -> bool:
    """Return True if an array has memory of its own, and may be written."""
    return array.base is None and bool(array.flags.writeable)


def _overlap(
    arrays: Mapping[str, Sequence[np.ndarray]], views: frozenset[str], others: Sequence[Any]
) -> bool:
    """Return True if arrays may share elements with each other, or with other operands."""
    owners = [each for name, found in arrays.items() if name not in views for each in found]
    known = set(map(id, owners))
    if len(known) < len(owners):
        return True
    if any(id(each) in known or id(each.base) in known for name in views for each in arrays[name]):
        return True
    beside = [each for each in others if isinstance(each, np.ndarray)]
    every = [each for found in arrays.values() for each in found] if beside else []
    return any(np.may_share_memory(each, other) for each in every for other in beside)


@functools.lru_cache(512)
def attributes_named(node: ast.AST) -> frozenset[str]:
    """Return the names of all attributes that a statement reads or stores to."""
    return frozenset(each.attr for each in ast.walk(node) if isinstance(each, ast.Attribute))
