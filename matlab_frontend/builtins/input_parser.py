"""``inputParser``: arguments by position and by name, with default values and validation."""

from __future__ import annotations

from collections.abc import Sequence

from matlab_frontend.builtins.registry import Builtin, Call, builtin
from matlab_frontend.errors import MatlabError
from matlab_frontend.values.array import (
    AnonymousHandle,
    NamedHandle,
    ParserObject,
    Struct,
    Value,
    count_of,
    kind_of,
)
from matlab_frontend.values.make import text
from matlab_frontend.values.read import is_text, is_true, text_of, wrong_class


@builtin("inputParser")
def input_parser(_: Call) -> Value:
    """An object that reads the arguments of a function."""
    settings: dict[str, Value] = {
        "FunctionName": text(""),
        "CaseSensitive": False,
        "KeepUnmatched": False,
        "PartialMatching": True,
        "StructExpand": True,
    }
    return ParserObject(settings=settings)


def _parser(x: Value) -> ParserObject:
    if not isinstance(x, ParserObject):
        raise wrong_class("inputParser", x)
    return x


@builtin("addRequired")
def add_required(_: Call, parser: Value, name: Value, validator: Value | None = None) -> None:
    """An argument that must be given, in this place."""
    _parser(parser).required[text_of(name)] = validator


@builtin("addOptional")
def add_optional(
    _: Call, parser: Value, name: Value, default: Value, validator: Value | None = None
) -> None:
    """An argument in its place that may be left out."""
    _parser(parser).optional[text_of(name)] = (default, validator)


def _add_parameter(
    _: Call, parser: Value, name: Value, default: Value, validator: Value | None = None
) -> None:
    _parser(parser).parameters[text_of(name)] = (default, validator)


@builtin("addSwitch")
def add_switch(_: Call, parser: Value, name: Value) -> None:
    """An argument that is true where its name is given."""
    _parser(parser).parameters[text_of(name)] = (False, _SWITCH)


_SWITCH = NamedHandle("addSwitch")
"""Marks the parameters that are followed by no value."""


@builtin("parse")
def parse(call: Call, parser: Value, *arguments: Value) -> None:
    """Read arguments into ``Results``, ``Unmatched`` and ``UsingDefaults``."""
    reader = _parser(parser)
    left = list(arguments)
    results: dict[str, Value] = {}
    if len(left) < len(reader.required):
        raise _error("notEnoughInputs", "Not enough input arguments.")
    for name, validator in reader.required.items():
        results[name] = _checked(call, name, left.pop(0), validator)
    _read_optional(call, reader, left, results)
    unmatched = _read_parameters(call, reader, left, results)
    defaults = {**reader.optional, **reader.parameters}
    missing = [name for name in defaults if name not in results]
    results.update({name: defaults[name][0] for name in missing})
    reader.results, reader.unmatched = results, unmatched
    reader.using_defaults = tuple(missing)


def _read_optional(
    call: Call, reader: ParserObject, left: list[Value], results: dict[str, Value]
) -> None:
    """Take arguments in their places; a text that is not valid there begins the names."""
    for name, (_, validator) in reader.optional.items():
        if not left:
            return
        value = left[0]
        named = is_text(value) and (validator is None or _match(reader, text_of(value)) is not None)
        if named or (is_text(value) and not _accepts(call, validator, value)):
            return
        results[name] = _checked(call, name, left.pop(0), validator)


def _read_parameters(
    call: Call, reader: ParserObject, left: Sequence[Value], results: dict[str, Value]
) -> dict[str, Value]:
    """Take names and values, or structs of them; gives those that no parameter has."""
    unmatched: dict[str, Value] = {}
    at = 0
    while at < len(left):
        key, at = left[at], at + 1
        if isinstance(key, Struct) and count_of(key) == 1:
            pairs: dict[str, Value] = dict(key.data.item())
        elif not is_text(key):
            raise _error(
                "ParamMustBeChar",
                "Expected a string scalar or character vector for the parameter name, instead "
                f"the input type was '{kind_of(key)}'.",
            )
        elif reader.parameters.get(_match(reader, text_of(key)) or "", (0, None))[1] is _SWITCH:
            pairs = {text_of(key): True}
        elif at == len(left):
            raise (
                _unmatched(text_of(key))
                if _match(reader, text_of(key)) is None
                else (_error("ParamMissingValue", f"No value was given for '{text_of(key)}'."))
            )
        else:
            pairs, at = {text_of(key): left[at]}, at + 1
        for given, value in pairs.items():
            name = _match(reader, given)
            if name is not None:
                results[name] = _checked(call, name, value, reader.parameters[name][1])
            elif is_true(call.engine, reader.settings["KeepUnmatched"]):
                unmatched[given] = value
            else:
                raise _unmatched(given)
    return unmatched


def _match(reader: ParserObject, given: str) -> str | None:
    """The parameter that a name means: exactly, without case, or by its beginning."""
    fold = not reader.settings["CaseSensitive"]
    wanted = given.lower() if fold else given
    names = {name.lower() if fold else name: name for name in reader.parameters}
    if wanted in names:
        return names[wanted]
    begun = [name for key, name in names.items() if wanted and key.startswith(wanted)]
    return begun[0] if len(begun) == 1 and reader.settings["PartialMatching"] is True else None


def _unmatched(given: str) -> MatlabError:
    return _error(
        "UnmatchedParameter", f"'{given}' is not a recognized parameter of this function."
    )


def _error(problem: str, message: str) -> MatlabError:
    return MatlabError(f"MATLAB:InputParser:{problem}", message)


def _accepts(call: Call, validator: Value | None, value: Value) -> bool:
    """True if a validation function gives true, or nothing without an error."""
    if validator is None or validator is _SWITCH:
        return True
    try:
        made = call.interpreter.call(validator, (value,), 1)
    except MatlabError as error:
        if error.identifier in ("MATLAB:maxlhs", "MATLAB:TooManyOutputs"):  # it has no output
            call.interpreter.call(validator, (value,), 0)
            return True
        raise
    return not made or is_true(call.engine, made[0])


def _checked(call: Call, name: str, value: Value, validator: Value | None) -> Value:
    """A value that its validation function accepts.

    Raises:
        MatlabError: it does not.

    """
    try:
        valid = _accepts(call, validator, value)
        reason = "It must satisfy the function: " + _shown(validator)
    except MatlabError as error:
        valid, reason = False, error.message.removesuffix(".")
    if not valid:
        raise _error("ArgumentFailedValidation", f"The value of '{name}' is invalid. {reason}.")
    return value


def _shown(validator: Value | None) -> str:
    if isinstance(validator, AnonymousHandle):
        return validator.text
    return validator.name if isinstance(validator, NamedHandle) else ""


GENERATED = (
    Builtin("addParameter", _add_parameter, 3, 4, "An argument that is given by its name."),
    Builtin("addParamValue", _add_parameter, 3, 4, "An argument that is given by its name."),
)
