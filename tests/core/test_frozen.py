"""Immutable values. Oracle: dataclasses that are frozen and have slots."""

import copy
import pickle
from dataclasses import dataclass, field, fields, is_dataclass, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runmat_jit.core.frozen import frozen, frozen_object


@frozen
class Pair:
    """Two fields, one of which does not count, and a default."""

    first: object
    second: tuple[int, ...] = ()
    note: str = field(default="", compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Reference:
    """The same."""

    first: object
    second: tuple[int, ...] = ()
    note: str = field(default="", compare=False, repr=False)


@frozen
class Single:
    """One field."""

    only: float


@frozen
class Nothing:
    """No field."""


@frozen
class Named:
    """Methods of its own."""

    name: str

    def __repr__(self) -> str:
        return f"<{self.name}>"

    def __hash__(self) -> int:
        return 7


@frozen_object
class Thing:
    """Known by identity."""

    parts: tuple[int, ...]


VALUES = st.tuples(
    st.one_of(st.integers(0, 2), st.floats(), st.text(max_size=1)),
    st.lists(st.integers(0, 1), max_size=2).map(tuple),
    st.text(max_size=1),
)


@given(one=VALUES, other=VALUES)
def test_values_are_compared_hashed_and_shown_as_dataclasses_are(one, other):
    assert (Pair(*one) == Pair(*other)) is (Reference(*one) == Reference(*other))
    assert hash(Pair(*one)) == hash(Reference(*one))
    assert repr(Pair(*one)) == repr(Reference(*one)).replace("Reference", "Pair")


def test_a_value_is_a_dataclass_with_slots():
    assert is_dataclass(Pair)
    assert [each.name for each in fields(Pair)] == [each.name for each in fields(Reference)]
    assert Pair.__match_args__ == Reference.__match_args__
    assert replace(Pair(1), second=(2,)) == Pair(1, (2,))
    with pytest.raises(AttributeError):
        Pair(1).third = 3
    with pytest.raises(TypeError):
        Pair()


def test_values_of_other_classes_are_not_equal():
    assert Single(1.0) != Pair(1.0)
    assert Single(1.0) != 1.0
    nan = float("nan")
    assert Single(nan) == Single(nan)  # as tuples that hold one object
    assert Single(nan) != Single(float("nan"))
    assert Nothing() == Nothing()
    assert {Nothing(): 1}[Nothing()] == 1
    assert repr(Nothing()) == "Nothing()"


def test_methods_of_the_class_itself_stay():
    assert (repr(Named("x")), hash(Named("x"))) == ("<x>", 7)
    assert Named("x") == Named("x")


def test_values_are_copied_and_pickled():
    value = Pair([1, 2], (3,), "note")
    for made in (pickle.loads(pickle.dumps(value)), copy.copy(value), copy.deepcopy(value)):
        assert made == value
        assert made.note == "note"


def test_objects_are_known_by_identity():
    one, other = Thing((1,)), Thing((1,))
    assert one == one  # noqa: PLR0124  (identity is what is asked for)
    assert one != other
    assert len({one, other}) == 2
    assert repr(one) == "Thing(parts=(1,))"
