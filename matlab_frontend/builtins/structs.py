"""Structs and maps."""

from __future__ import annotations

from typing import Any

import numpy as np

from matlab_frontend.builtins.cells import elements
from matlab_frontend.builtins.options import options_of
from matlab_frontend.builtins.registry import Call, builtin
from matlab_frontend.errors import MatlabError
from matlab_frontend.values.array import (
    Cell,
    MapObject,
    Struct,
    Value,
    count_of,
    shape_of,
)
from matlab_frontend.values.make import cell, cell_row, objects, text, wrap
from matlab_frontend.values.read import (
    cell_of,
    is_text,
    lines_of,
    number_of,
    struct_of,
    text_of,
    wrong_class,
)


@builtin("struct")
def struct(_: Call, *pairs: Value) -> Value:
    """A struct from names and values; cell arrays make struct arrays."""
    if len(pairs) == 1 and count_of(pairs[0]) == 0:
        return Struct((), np.empty((0, 0), object))
    if len(pairs) % 2:
        raise MatlabError(
            "MATLAB:StructRefMissingFieldName",
            "Field and value input arguments must come in pairs.",
        )
    names = [text_of(name, "A field name") for name in pairs[::2]]
    values = list(pairs[1::2])
    shape = next((shape_of(v) for v in values if isinstance(v, Cell) and count_of(v) != 1), (1, 1))
    count = int(np.prod(shape))
    columns = []
    for value in values:
        if not isinstance(value, Cell):
            columns.append([value] * count)
        elif count_of(value) == 1:
            columns.append([value.data.item()] * count)
        elif shape_of(value) != shape:
            raise MatlabError(
                "MATLAB:dimagree", "Array dimensions of the values of a struct must match."
            )
        else:
            columns.append(list(value.data.flat))
    made = [
        {name: column[k] for name, column in zip(names, columns, strict=True)} for k in range(count)
    ]
    return Struct(tuple(dict.fromkeys(names)), objects(made, shape))


@builtin("fieldnames")
def fieldnames(_: Call, x: Value) -> Value:
    """Names of the fields, as a column of cells."""
    names = struct_of(x).fields
    return cell([text(name) for name in names], (len(names), 1))


@builtin("isfield")
def isfield(_: Call, x: Value, names: Value) -> Value:
    """True if a struct has fields."""
    known = x.fields if isinstance(x, Struct) else ()
    if not isinstance(names, Cell):
        return is_text(names) and text_of(names) in known
    flags = [is_text(name) and text_of(name) in known for name in names.data.flat]
    return wrap("logical", np.array(flags, bool).reshape(names.data.shape))


@builtin("rmfield")
def rmfield(_: Call, x: Value, names: Value) -> Value:
    """A struct without some fields."""
    held = struct_of(x)
    gone = lines_of(names)
    for name in gone:
        if name not in held.fields:
            raise MatlabError(
                "MATLAB:rmfield:InvalidFieldname",
                f"A field named '{name}' doesn't exist.",
            )
    kept = tuple(name for name in held.fields if name not in gone)
    made = [{name: item[name] for name in kept} for item in held.data.flat]
    return Struct(kept, objects(made, shape_of(x)))


@builtin("setfield")
def setfield(_: Call, x: Value, name: Value, value: Value) -> Value:
    """A struct with a field changed."""
    element: dict[str, Any] = {**struct_of(x).data.item(), text_of(name): value}
    return Struct(tuple(element), objects([element], (1, 1)))


@builtin("getfield")
def getfield(_: Call, x: Value, name: Value) -> Value:
    """The value of a field."""
    held = struct_of(x)
    if text_of(name) not in held.fields:
        raise MatlabError("MATLAB:nonExistentField", f'Unrecognized field name "{text_of(name)}".')
    found: Value = held.data.flat[0][text_of(name)]
    return found


@builtin("struct2cell")
def struct2cell(_: Call, x: Value) -> Value:
    """The values of a struct's fields as a column of cells, one for each element of an array."""
    held = struct_of(x)
    values = [element[name] for element in held.data.flat for name in held.fields]
    size = (len(held.fields), *shape_of(x))
    return cell(values, (len(held.fields), 1) if count_of(x) == 1 else size)


@builtin("cell2struct")
def cell2struct(call: Call, values: Value, names: Value, dimension: Value = 1.0) -> Value:
    """Structs from cells; the dimension of the fields is the first one unless said otherwise."""
    fields = lines_of(names)
    data = cell_of(values).data
    table = data.T if number_of(call.engine, dimension) == 1 else data
    columns = table.reshape(len(fields), -1)
    made = [dict(zip(fields, column, strict=True)) for column in columns.T]
    return Struct(tuple(fields), objects(made, (len(made), 1)))


@builtin("orderfields")
def orderfields(_: Call, x: Value) -> Value:
    """A struct with its fields in the order of their names."""
    held = struct_of(x)
    names = tuple(sorted(held.fields))
    made = [{name: item[name] for name in names} for item in held.data.flat]
    return Struct(names, objects(made, shape_of(x)))


@builtin("containers.Map")
def containers_map(call: Call, *arguments: Value) -> Value:
    """A map from texts or numbers to values."""
    if arguments and is_text(arguments[0]) and text_of(arguments[0]) in _MAP_OPTIONS:
        return _map_by_options(arguments)
    if not arguments:
        return MapObject({}, "char")
    options_of(arguments[2:], ("uniformvalues",), "Containers:Map")  # any values are kept
    keys = arguments[0]
    several = isinstance(keys, Cell) or (not is_text(keys) and count_of(keys) != 1)
    listed = elements(call, keys) if several and not isinstance(keys, Cell) else [keys]
    listed = list(keys.data.flat) if isinstance(keys, Cell) else listed
    values = arguments[1] if len(arguments) > 1 else cell_row([])
    held = [values]
    if several:
        held = list(values.data.flat) if isinstance(values, Cell) else elements(call, values)
    plain = [key_of(call, key) for key in listed]
    if len(plain) != len(held):
        raise MatlabError(
            "MATLAB:Containers:Map:NumKeysNotMatchingValues",
            "The number of keys and values must be the same.",
        )
    kind = "char" if all(isinstance(key, str) for key in plain) else "double"
    return MapObject(dict(zip(plain, held, strict=True)), kind)


_MAP_OPTIONS = ("KeyType", "ValueType", "UniformValues")


def _map_by_options(arguments: tuple[Value, ...]) -> Value:
    options = options_of(arguments, tuple(map(str.lower, _MAP_OPTIONS)), "Containers:Map")
    kind = text_of(options["keytype"]) if "keytype" in options else "char"
    return MapObject({}, kind)


def key_of(call: Call, key: Value) -> str | float:
    """A key of a map as Python holds it."""
    return text_of(key) if is_text(key) else number_of(call.engine, key)


def map_of(x: Value) -> MapObject:
    """The value as a map.

    Raises:
        MatlabError: it is of another class.

    """
    if not isinstance(x, MapObject):
        raise wrong_class("containers.Map", x)
    return x


@builtin("isKey")
def is_key(call: Call, x: Value, keys: Value) -> Value:
    """True if a map has keys."""
    held = map_of(x)
    if isinstance(keys, Cell):
        flags = [key_of(call, key) in held.items for key in keys.data.flat]
        return wrap("logical", np.array(flags, bool).reshape(keys.data.shape))
    return key_of(call, keys) in held.items


@builtin("keys")
def keys(_: Call, x: Value) -> Value:
    """The keys of a map, in order."""
    found = sorted(map_of(x).items, key=lambda key: (isinstance(key, str), key))
    return cell_row([text(key) if isinstance(key, str) else key for key in found])


@builtin("values")
def values(call: Call, x: Value, wanted: Value | None = None) -> Value:
    """The values of a map, in the order of its keys, or those of some keys."""
    held = map_of(x)
    if isinstance(wanted, Cell):
        return cell_row([held.at(key_of(call, key)) for key in wanted.data.flat])
    ordered = sorted(held.items, key=lambda key: (isinstance(key, str), key))
    return cell_row([held.items[key] for key in ordered])


@builtin("remove")
def remove(call: Call, x: Value, gone: Value) -> Value:
    """A map without some keys: it changes itself."""
    held = map_of(x)
    for key in gone.data.flat if isinstance(gone, Cell) else [gone]:
        plain = key_of(call, key)
        held.at(plain)
        del held.items[plain]
    return held
