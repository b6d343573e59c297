"""Classes of fields. Oracle: dataclasses of the same fields, with slots."""

import copy
import inspect
import pickle
import sys
from dataclasses import FrozenInstanceError, dataclass, field, fields, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runmat_jit.core.frozen import frozen, frozen_object, immutable
from runmat_jit.core.slotted import FEW, slotted, slotted_object

NAMES = ("a", "b", "c", "d")
DECORATORS = {
    slotted: dataclass(slots=True),
    slotted_object: dataclass(slots=True, eq=False),
    frozen: dataclass(slots=True, frozen=True),
    frozen_object: dataclass(slots=True, frozen=True, eq=False),
    immutable: dataclass(slots=True, frozen=True),
}
"""Each with what stands for it in the library; ``frozen`` alone lets fields be assigned."""
DEFAULTS = {
    "none": dict,
    "value": lambda: {"default": 7},
    "factory": lambda: {"default_factory": list},
    "apart": lambda: {"default": 7, "compare": False, "repr": False},
}
KINDS = st.lists(st.sampled_from(list(DEFAULTS)), max_size=len(NAMES))
VALUES = st.one_of(st.integers(0, 1), st.floats(), st.text(max_size=1))
CALLS = st.tuples(
    st.lists(VALUES, max_size=4), st.dictionaries(st.sampled_from([*NAMES, "e"]), VALUES)
)


def build(decorate, kinds, base=object, first=0, **own):
    """A class with fields of these kinds, those without a default first, and members of its own."""
    ordered = sorted(kinds, key=lambda kind: kind != "none")
    body = {
        name: field(**DEFAULTS[kind]()) for name, kind in zip(NAMES[first:], ordered, strict=False)
    }
    about = {"__annotations__": dict.fromkeys(body, "object"), "__module__": __name__}
    return decorate(type("Built", (base,), {"__doc__": "Fields.", **about, **body, **own}))


def outcome(action):
    """What is given, or the class of what is raised."""
    try:
        return action()
    except Exception as error:  # noqa: BLE001  (whatever it is, both must raise it)
        return type(error)


@pytest.mark.parametrize("decorate", DECORATORS, ids=lambda each: each.__name__)
@given(kinds=KINDS, more=KINDS, calls=st.lists(CALLS, min_size=2, max_size=3))
@pytest.mark.parametrize("few", [0, 3, 12])
def test_instances_are_made_compared_hashed_and_shown_as_those_of_dataclasses(
    decorate, few, kinds, more, calls
):
    """Oracle as above; ``few`` of the instances are made before the method is compiled."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("runmat_jit.core.slotted.FEW", few)
        compare_classes(decorate, kinds, more, calls)


def compare_classes(decorate, kinds, more, calls):
    more = [kind for kind in more if kind != "none"]
    made = []
    for each in (decorate, DECORATORS[decorate]):
        base = build(each, kinds)
        below = build(each, more, base, len(kinds)) if len(kinds) < len(NAMES) else base
        instances = [
            outcome(lambda a=a, k=k, c=c: c(*a, **k)) for a, k in calls for c in (base, below)
        ]
        made.append((base, below, instances))
    (_, ours, found), (_, theirs, expected) = made
    assert ours.__slots__ == theirs.__slots__
    assert ours.__match_args__ == theirs.__match_args__
    assert [(f.name, f.compare, f.repr) for f in fields(ours)] == [
        (f.name, f.compare, f.repr) for f in fields(theirs)
    ]
    for one, other in zip(found, expected, strict=True):
        if isinstance(other, type):
            assert one is other
            continue
        assert [getattr(one, n.name) for n in fields(one)] == [
            getattr(other, n.name) for n in fields(other)
        ]
        assert repr(one) == repr(other)
        same = [outcome(lambda a=one, b=b: a == b) for b in found]
        assert same == [outcome(lambda a=other, b=b: a == b) for b in expected]
        hashed = outcome(lambda one=one: hash(one)), outcome(lambda other=other: hash(other))
        assert hashed[0] == hashed[1] or decorate in (slotted_object, frozen_object)
        changed = [outcome(lambda v=v: repr(replace(v, a=3))) for v in (one, other)]
        assert changed[0] == changed[1]


@pytest.mark.parametrize("decorate", DECORATORS, ids=lambda each: each.__name__)
def test_an_assignment_is_refused_where_users_may_try_one(decorate):
    value = build(decorate, ["none"])(1)
    if decorate is not immutable:
        value.a = 2
        assert value.a == 2
        return
    for attempt in (lambda: setattr(value, "a", 2), lambda: delattr(value, "a")):
        with pytest.raises(FrozenInstanceError):
            attempt()
    assert value.a == 1


@immutable
class Kept:
    """Has a module, so that it can be pickled."""

    first: object
    second: tuple[int, ...] = ()


def test_immutable_values_are_copied_and_pickled():
    value = Kept([1], (2,))
    for made in (pickle.loads(pickle.dumps(value)), copy.copy(value), copy.deepcopy(value)):
        assert made == value


def test_what_the_class_defines_stays():
    own = {name: lambda *_: 5 for name in ("__init__", "__eq__", "__hash__", "__repr__")}
    own["__repr__"] = lambda _self: "own"
    own["__init__"] = lambda self: setattr(self, "a", 9)
    made = build(slotted, ["none"], **own)
    assert (made().a, hash(made()), repr(made()), made() == 4) == (9, 5, "own", 5)


def test_post_init_is_called_and_a_factory_is_called_for_each_instance():
    def post(self):
        self.a.append(1)

    made = build(slotted, ["factory"], __post_init__=post)
    assert made().a == made().a == [1]
    assert made().a is not made().a


def test_defining_a_class_compiles_nothing_and_a_method_is_compiled_once(monkeypatch):
    """What the first call's time hangs on. Oracle: the number of compilations."""
    compiled = []
    module = sys.modules["runmat_jit.core.slotted"]
    real = module.compile_method
    monkeypatch.setattr(module, "compile_method", lambda *a: (compiled.append(a[0]), real(*a))[1])
    made = build(frozen, ["none", "value"])
    few = [made(n) for n in range(module.FEW)]
    assert compiled == []
    assert len({*few, *few}) == module.FEW
    assert [made(n) for n in range(module.FEW)] == few
    assert sorted(compiled) == ["__eq__", "__hash__", "__init__"]
    assert inspect.signature(made.__init__).parameters.keys() == {"self", "a", "b"}


def test_fields_may_be_left_to_post_init():
    @slotted
    class Made:
        first: int
        half: float = field(init=False)
        rest: tuple[int, ...] = ()

        def __post_init__(self) -> None:
            self.half = self.first / 2

    for number in range(30):  # filled field by field, then by a compiled method
        made = Made(number, (number,))
        assert (made.first, made.half, made.rest) == (number, number / 2, (number,))
        assert made == Made(first=number, rest=(number,))
        with pytest.raises(TypeError):
            Made(number, 0.5, (number,))


def test_fields_may_have_any_name():
    @slotted
    class Names:
        missing: list = field(default_factory=list)
        assign: int = 3
        other: list = field(default_factory=list)

    for _ in range(2 * FEW):
        made = Names(missing=[1])
        assert (made.missing, made.assign, made.other) == ([1], 3, [])
        assert Names().missing == []
