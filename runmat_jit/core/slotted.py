"""Classes of fields with slots, cheap to define.

``dataclass(slots=True)`` compiles up to six functions for each class when it is defined, which for
the two hundred classes of the first call was a third of its time. Here a method is compiled when it
is first called, ``__init__`` after a few calls, and what ``dataclasses`` asks a class for
(``fields``, ``replace``) is made when it is first asked for. Else these are dataclasses.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, field, fields, make_dataclass
from typing import Any, Final, TypeVar, dataclass_transform

T = TypeVar("T")
FEW: Final = 12
"""Instances of a class that are filled field by field: compiling takes as long as some twenty."""


@dataclass_transform(field_specifiers=(field,))
def slotted(cls: type[T]) -> type[T]:
    """A dataclass with slots whose instances may change, and are compared by their fields."""
    return define(cls, ("__eq__",), {"__hash__": None})


@dataclass_transform(eq_default=False, field_specifiers=(field,))
def slotted_object(cls: type[T]) -> type[T]:
    """A dataclass with slots whose instances may change, and are known by identity."""
    return define(cls, ())


def define(
    cls: type[T], methods: tuple[str, ...], others: Mapping[str, object] | None = None
) -> type[T]:
    """A class like this one whose annotated names are its fields, and have slots.

    It gets ``__init__``, ``__repr__``, these ``methods`` and ``others``; what the class itself
    defines stays.
    """
    known, declared = inherited(cls), vars(cls)
    own = {
        name: declared.get(name, MISSING)
        for name, kind in cls.__annotations__.items()
        if not str(kind).startswith("ClassVar")
    }
    every = {**known, **own}
    left_out = {"__dict__", "__weakref__", *own}
    kept = {name: value for name, value in declared.items() if name not in left_out}
    namespace = {
        "__repr__": shown,
        **(others or {}),
        **kept,
        "__slots__": tuple([name for name in own if name not in known]),
        "__match_args__": tuple(every),
        "__dataclass_fields__": Fields(every),
    }
    metaclass: Any = type(cls)
    made = metaclass(cls.__name__, cls.__bases__, namespace)
    made.__qualname__ = cls.__qualname__
    for name in methods:
        if name not in kept:
            setattr(made, name, deferred(made, name, every))
    if "__init__" not in kept:
        made.__init__ = filling(deferred(made, "__init__", every), every)
    return made  # type: ignore[no-any-return]  # a class with the same fields


def inherited(cls: type) -> dict[str, Any]:
    """Fields of the classes below, with their defaults."""
    found: dict[str, Any] = {}
    for base in reversed(cls.__mro__[1:]):
        made = vars(base).get("__dataclass_fields__")
        found |= {} if made is None else made.defaults
    return found


class Fields:
    """Fields by name, as ``dataclasses`` asks for them, made when it does."""

    def __init__(self, defaults: Mapping[str, Any]) -> None:
        self.defaults = defaults
        """A value, what ``field`` gave, or ``MISSING``."""
        self._made: dict[str, Field[Any]] = {}

    def __get__(self, _instance: object, _owner: type | None = None) -> dict[str, Field[Any]]:
        if not self._made:
            declared = [
                (name, Any, field() if default is MISSING else default)
                for name, default in self.defaults.items()
            ]
            text = {"__doc__": "What `dataclasses` would else write, which takes it long."}
            like = make_dataclass(
                "Fields", declared, namespace=text, init=False, repr=False, eq=False
            )
            self._made = {each.name: each for each in fields(like)}
        return self._made


def shown(value: Any) -> str:
    """The class and the fields of a value."""
    parts = [f"{each.name}={getattr(value, each.name)!r}" for each in fields(value) if each.repr]
    return f"{type(value).__qualname__}({', '.join(parts)})"


# -- methods ---------------------------------------------------------------------------------------
def deferred(owner: type, name: str, every: Mapping[str, Any]) -> Callable[..., Any]:
    """A method that is compiled at its first call, and then takes the place of this one."""

    def method(self: Any, /, *args: Any, **kwargs: Any) -> Any:
        compiled = compile_method(name, owner, every)
        setattr(owner, name, compiled)
        return compiled(self, *args, **kwargs)

    return method


def filling(compiled: Callable[..., None], every: Mapping[str, Any]) -> Callable[..., None]:
    """An ``__init__`` that fills a few instances, and leaves later ones to the compiled one.

    So it does with calls that no signature allows, for Python to tell why.
    """
    left = FEW
    assigned: dict[str, Any] | None = None

    def method(self: Any, /, *args: Any, **kwargs: Any) -> None:
        nonlocal left, assigned
        left -= 1
        if assigned is None:
            assigned = given_to_init(every)
        if left < 0 or not fill(self, assigned, args, kwargs):
            compiled(self, *args, **kwargs)

    return method


def fill(
    instance: Any, every: Mapping[str, Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> bool:
    """Assign these fields of an instance; False: these are no arguments for them."""
    given = dict(zip(every, args, strict=False))
    if len(given) < len(args) or not given.keys().isdisjoint(kwargs):
        return False
    given |= kwargs
    missing = [name for name in every if name not in given]
    if len(given) + len(missing) > len(every):
        return False
    for name in missing:
        default = every[name]
        if isinstance(default, Field):
            factory = default.default_factory
            default = default.default if factory is MISSING else factory()
        if default is MISSING:
            return False
        given[name] = default
    assign = object.__setattr__
    for name, value in given.items():
        assign(instance, name, value)
    if hasattr(instance, "__post_init__"):
        instance.__post_init__()
    return True


def given_to_init(every: Mapping[str, Any]) -> dict[str, Any]:
    """The fields that ``__init__`` assigns; ``__post_init__`` assigns the others."""
    return {
        name: given for name, given in every.items() if not isinstance(given, Field) or given.init
    }


def compile_method(name: str, owner: type, every: Mapping[str, Any]) -> Callable[..., Any]:
    """One method of a class with these fields."""
    text, values = _SOURCES[name](owner, every)
    values["__name__"] = owner.__module__
    code = compile(text, __file__, "exec")  # its frames count as this module's
    exec(code, values)  # noqa: S102  (names of fields, nothing else)
    compiled: Any = values[name]
    compiled.__qualname__ = f"{owner.__qualname__}.{name}"
    return compiled  # type: ignore[no-any-return]  # a function


def _source_of_init(owner: type, every: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    # Names that no field has.
    values: dict[str, Any] = {"_missing_": MISSING, "_assign_": object.__setattr__}
    assign = "self.{0} = {1}"
    if "__setattr__" in vars(owner):  # which refuses
        assign = "_assign_(self, '{0}', {1})"
    parameters, lines = ["self"], []
    for name, given in given_to_init(every).items():
        default = given.default if isinstance(given, Field) else given
        factory = given.default_factory if isinstance(given, Field) else MISSING
        if factory is not MISSING:
            values[f"_new_{name}_"] = factory
            parameters.append(f"{name}=_missing_")
            chosen = f"_new_{name}_() if {name} is _missing_ else {name}"
            lines.append(" " + assign.format(name, chosen))
            continue
        if default is not MISSING:
            values[f"_default_{name}_"] = default
        parameters.append(name if default is MISSING else f"{name}=_default_{name}_")
        lines.append(" " + assign.format(name, name))
    if hasattr(owner, "__post_init__"):
        lines.append(" self.__post_init__()")
    return f"def __init__({', '.join(parameters)}):\n" + "\n".join(lines or [" pass"]), values


def _source_of_eq(_owner: type, every: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    text = (
        "def __eq__(self, other):\n"
        " if other.__class__ is self.__class__:\n"
        f"  return {_compared('self', every)} == {_compared('other', every)}\n"
        " return NotImplemented"
    )
    return text, {}


def _source_of_hash(_owner: type, every: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    return f"def __hash__(self):\n return hash({_compared('self', every)})", {}


def _compared(value: str, every: Mapping[str, Any]) -> str:
    """A tuple of the fields that count."""
    names = [name for name, given in every.items() if not isinstance(given, Field) or given.compare]
    return f"({''.join(f'{value}.{name},' for name in names)})"


_SOURCES: Final = {
    "__init__": _source_of_init,
    "__eq__": _source_of_eq,
    "__hash__": _source_of_hash,
}
