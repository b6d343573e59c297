"""Assignment into variables, elements, cells and fields, with growth and deletion.

A target such as ``s.x(k).y`` is a path of keys. The subscripts are computed first; then each step
changes what it finds in place if only its container holds it, and a copy of that one level if
somebody else does: values that are held twice are never changed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from matlab_frontend import nodes
from matlab_frontend.errors import MatlabError
from matlab_frontend.indexing import delete
from matlab_frontend.interpreter.captures import mentions_end
from matlab_frontend.interpreter.frame import Frame
from matlab_frontend.interpreter.ownership import ALONE, is_alone, references
from matlab_frontend.interpreter.references import (
    Step,
    chain,
    compile_field_name,
    contents,
    field_values,
    index,
    map_key,
)
from matlab_frontend.interpreter.replace import (
    append_element,
    put_element,
    put_part,
    reach,
    replace,
)
from matlab_frontend.residency import spread
from matlab_frontend.subscripts import Subscript
from matlab_frontend.values.array import (
    Array,
    Cell,
    Extension,
    MapObject,
    ParserObject,
    Struct,
    Value,
    as_array,
    count_of,
    kind_of,
    shape_of,
)
from matlab_frontend.values.make import empty, objects, struct, wrap

if TYPE_CHECKING:
    from matlab_frontend.engine import Engine
    from matlab_frontend.interpreter.evaluate import Arguments
    from matlab_frontend.interpreter.interpreter import Interpreter

Assign: TypeAlias = Callable[[Frame, Value], None]
"""A compiled target: stores a value."""
_NOTHING = empty()


class _Key(NamedTuple):
    """One step of a path: subscripts in parentheses or braces, or the name of a field."""

    node: Step
    subscripts: list[Subscript]
    name: str


def compile_target(interpreter: Interpreter, target: nodes.Target) -> Assign:
    """Compile what a target means: storing a value there.

    Running it raises MatlabError where an index is wrong, or sizes or classes do not go together.
    """
    if isinstance(target, nodes.Placeholder):
        return _drop
    if isinstance(target, nodes.Name):
        return _variable(target.name)
    base, steps = chain(target)
    if not isinstance(base, nodes.Name):
        return _no_target(target)
    if len(steps) == 1 and isinstance(steps[0], nodes.Index):
        return _elements(interpreter, base.name, steps[0])
    path = _compile_path(interpreter, base.name, steps)
    name = base.name

    def run(frame: Frame, value: Value) -> None:
        keys = path(frame)
        store(interpreter, frame.variables, name, keys, value, frame=frame)

    return run


def _drop(_: Frame, _value: Value) -> None:
    """``~`` takes a value and keeps it not."""


def _variable(name: str) -> Assign:
    def run(frame: Frame, value: Value) -> None:
        frame.variables[name] = value

    return run


def _no_target(target: nodes.Target) -> Assign:
    def run(frame: Frame, value: Value) -> None:
        del value
        frame.span = target.span
        raise MatlabError("MATLAB:assignmentTarget", "This cannot be assigned to.")

    return run


def _elements(interpreter: Interpreter, name: str, step: nodes.Index) -> Assign:
    """``variable(subscripts) = value``."""
    arguments, span = interpreter.compile_arguments(step.arguments), step.span
    engine = interpreter.engine

    def run(frame: Frame, value: Value) -> None:
        variables = frame.variables
        held = variables.get(name)
        if type(held) is not Array:
            subscripts = arguments(frame, _NOTHING if held is None else held)
            held = None
            key = _Key(step, subscripts, "")
            store(interpreter, variables, name, [key], value, frame=frame)
            return
        subscripts = arguments(frame, held)
        frame.span = span
        count = references(held)
        alone = is_alone(engine, held, count)
        data = held.data
        if type(data) is np.ndarray and not held.on_device:
            if alone and put_element(data, held.kind, subscripts, value):
                return
            made = append_element(data, held.kind, subscripts, value) if alone else None
            if made is not None:
                variables[name] = Array(held.kind, made)
                return
            made = put_part(data, held.kind, subscripts, value, alone=alone)
            if made is data:
                return
            if made is not None:
                variables[name] = wrap(held.kind, made)
                return
        variables[name] = replace(engine, held, subscripts, value, alone=alone)

    return run


def _compile_path(
    interpreter: Interpreter, name: str, steps: Sequence[Step]
) -> Callable[[Frame], list[_Key]]:
    """Compile the keys of a path; values on the way are read only where an ``end`` asks."""
    parts: list[tuple[Step, Arguments | None, Callable[[Frame], str]]] = [
        (
            step,
            interpreter.compile_arguments(step.arguments)
            if isinstance(step, (nodes.Index, nodes.CellIndex))
            else None,
            compile_field_name(interpreter, step),
        )
        for step in steps
    ]
    asks = [
        at
        for at, step in enumerate(steps)
        if isinstance(step, (nodes.Index, nodes.CellIndex))
        and any(map(mentions_end, step.arguments))
    ]
    last = asks[-1] if asks else -1

    def run(frame: Frame) -> list[_Key]:
        keys: list[_Key] = []
        held: Value | None = frame.variables.get(name) if last >= 0 else None
        for at, (step, arguments, field) in enumerate(parts):
            if arguments is None:
                keys.append(_Key(step, [], field(frame)))
            else:
                keys.append(_Key(step, arguments(frame, _NOTHING if held is None else held), ""))
            held = _inner(interpreter, held, keys[-1]) if at < last else None
        return keys

    return run


def _inner(interpreter: Interpreter, held: Value | None, key: _Key) -> Value | None:
    """What a key leads to, None where that does not exist yet."""
    if held is None:
        return None
    try:
        if isinstance(key.node, nodes.Index):
            return index(interpreter, held, key.subscripts)
        if isinstance(key.node, nodes.CellIndex):
            found = contents(interpreter, held, key.subscripts)
        elif isinstance(held, Extension):
            found = [held.field(interpreter.engine, key.name)]
        else:
            found = field_values(held, key.name)
    except MatlabError:  # outside: it is made by the assignment
        return None
    return found[0] if len(found) == 1 else None


Container: TypeAlias = Any
"""A dictionary of values, or the data of cells."""


def store(
    interpreter: Interpreter,
    container: Container,
    slot: Any,
    keys: Sequence[_Key],
    value: Value,
    *,
    frame: Frame,
) -> None:
    """Store a value in a container that nobody else holds, at the end of a path that begins there.

    Raises:
        MatlabError: an index is wrong, or sizes or classes do not go together.

    """
    if not keys:
        container[slot] = value
        return
    key = keys[0]
    frame.span = key.node.span
    if isinstance(key.node, nodes.Index):
        _store_element(interpreter, container, slot, keys, value, frame=frame)
    elif isinstance(key.node, nodes.CellIndex):
        _store_cell(interpreter, container, slot, keys, value, frame=frame)
    else:
        _store_field(interpreter, container, slot, keys, value, frame=frame)


def _found(container: Container, slot: Any) -> Value | None:
    found: Value | None = container.get(slot) if isinstance(container, dict) else container[slot]
    return found


def _through(
    interpreter: Interpreter, keys: Sequence[_Key], value: Value, *, frame: Frame
) -> Value:
    """A new value, as a path makes it where nothing is yet."""
    box: dict[str, Value] = {}
    store(interpreter, box, "", keys, value, frame=frame)
    return box[""]


def _store_element(
    interpreter: Interpreter,
    container: Container,
    slot: Any,
    keys: Sequence[_Key],
    value: Value,
    *,
    frame: Frame,
) -> None:
    """``held(subscripts)...``."""
    engine = interpreter.engine
    held = _found(container, slot)
    key, rest = keys[0], keys[1:]
    if isinstance(held, MapObject):
        at = map_key(interpreter, key.subscripts[0])
        if at not in held.items:
            held.items[at] = _through(interpreter, rest, value, frame=frame)
        else:
            store(interpreter, held.items, at, rest, value, frame=frame)
        return
    if isinstance(held, Extension):
        value = _inside_extension(interpreter, held, keys, value, frame=frame)
        assign = partial(_replaced, engine)
        container[slot] = held.put(engine, key.subscripts, value, assign)
        return
    if isinstance(value, Extension) and not rest and not _is_stored_full(held, value):
        container[slot] = _put_first(engine, held, key.subscripts, value)
        return
    if rest and not isinstance(held, Struct) and held is not None and count_of(held):
        message = "Unable to perform assignment because dot indexing is not supported for "
        message += f"variables of this type ('{kind_of(held)}')."
        raise MatlabError("MATLAB:structAssToNonStruct", message)
    alone = False
    if isinstance(held, (Array, Cell, Struct)):
        count = references(held)
        alone = is_alone(engine, held, count)
        if alone and not rest and type(held) is Array and type(held.data) is np.ndarray:  # noqa: SIM102  (a question, then the work)
            if put_element(held.data, held.kind, key.subscripts, value):
                return
    of_field = bool(rest) and isinstance(rest[0].node, (nodes.Field, nodes.DynamicField))
    if of_field and isinstance(held, Struct):  # noqa: SIM102  (a question, then the work)
        if _store_in_struct(interpreter, container, slot, keys, value, alone=alone, frame=frame):
            return
    if rest:
        value = _through(interpreter, rest, value, frame=frame)
    container[slot] = replace(engine, held, key.subscripts, value, alone=alone)


def _store_in_struct(
    interpreter: Interpreter,
    container: Container,
    slot: Any,
    keys: Sequence[_Key],
    value: Value,
    *,
    alone: bool,
    frame: Frame,
) -> bool:
    """``s(k).name...`` of a struct array, one element; False where k is no plain number."""
    held = _found(container, slot)
    assert isinstance(held, Struct), "the caller looked"
    fields, name = held.fields, keys[1].name

    def blank() -> dict[str, Value]:
        return dict.fromkeys(fields, empty())

    reached = reach(held.data, keys[0].subscripts, blank, alone=alone)
    if reached is None:
        element = _inner(interpreter, held, keys[0])
        if not isinstance(element, Struct):
            return False
        if count_of(element) != 1:
            _refuse_many()
        box: dict[str, Value] = {"": element}
        del element
        store(interpreter, box, "", keys[1:], value, frame=frame)
        every = with_field(held, name)
        engine = interpreter.engine
        container[slot] = replace(engine, every, keys[0].subscripts, box[""], alone=False)
        return True
    data, place = reached
    held = Struct(fields, data)
    _store_in_elements(interpreter, held, place, keys[1:], value, frame=frame)
    if name not in fields:
        for other in data.flat:
            other.setdefault(name, empty())
        held = Struct((*fields, name), data)
    container[slot] = held
    return True


def with_field(held: Struct, name: str) -> Struct:
    """A struct array whose elements have a field, empty where they had none."""
    if name in held.fields:
        return held
    elements = [{**element, name: empty()} for element in held.data.flat]
    return Struct((*held.fields, name), objects(elements, shape_of(held)))


def _store_in_elements(
    interpreter: Interpreter,
    held: Struct,
    place: tuple[int, ...],
    keys: Sequence[_Key],
    value: Value,
    *,
    frame: Frame,
) -> None:
    """Store in a field of one element of a struct array whose data nobody else holds."""
    data, name = held.data, keys[0].name
    if name not in held.fields:  # all elements get the field
        made = _through(interpreter, keys[1:], value, frame=frame)
        for at in np.ndindex(data.shape):
            data[at] = dict(data[at])
        data[place][name] = made
        return
    element = data[place]
    if references(element) > ALONE:
        element = data[place] = dict(element)
    store(interpreter, element, name, keys[1:], value, frame=frame)


def _store_cell(
    interpreter: Interpreter,
    container: Container,
    slot: Any,
    keys: Sequence[_Key],
    value: Value,
    *,
    frame: Frame,
) -> None:
    """``held{subscripts}...``."""
    engine = interpreter.engine
    held = _found(container, slot)
    key, rest = keys[0], keys[1:]
    if held is None or (not isinstance(held, Cell) and count_of(held) == 0):
        held = Cell(np.empty((0, 0), object))
    if isinstance(held, Extension):
        value = _inside_extension(interpreter, held, keys, value, frame=frame)
        assign = partial(_replaced, engine)
        container[slot] = held.put_contents(engine, key.subscripts, value, assign)
        return
    if isinstance(held, Array) and held.kind == "string" and not rest:
        container[slot] = replace(engine, held, key.subscripts, value, alone=False)
        return
    if not isinstance(held, Cell):
        raise MatlabError(
            "MATLAB:cellAssToNonCell",
            "Unable to perform assignment because brace indexing is not supported for variables "
            "of this type.",
        )
    count = references(held)
    alone = is_alone(engine, held, count)
    reached = reach(held.data, key.subscripts, empty, alone=alone)
    if reached is None:
        inner = _inner(interpreter, held, key) if rest else None
        if inner is not None:
            box: dict[str, Value] = {"": inner}
            store(interpreter, box, "", rest, value, frame=frame)
            value = box[""]
        elif rest:
            value = _through(interpreter, rest, value, frame=frame)
        part = Cell(objects([value], (1, 1)))
        container[slot] = replace(engine, held, key.subscripts, part, alone=alone)
        return
    data, place = reached
    store(interpreter, data, place, rest, value, frame=frame)
    if data is not held.data or not alone:
        container[slot] = Cell(data)


def _store_field(
    interpreter: Interpreter,
    container: Container,
    slot: Any,
    keys: Sequence[_Key],
    value: Value,
    *,
    frame: Frame,
) -> None:
    """``held.name...``."""
    held = _found(container, slot)
    name, rest = keys[0].name, keys[1:]
    if isinstance(held, ParserObject) and name in held.settings:
        store(interpreter, held.settings, name, rest, value, frame=frame)
        return
    if isinstance(held, Extension):
        value = _inside_extension(interpreter, held, keys, value, frame=frame)
        container[slot] = held.put_field(interpreter.engine, name, value)
        return
    if held is None or (isinstance(held, Array) and count_of(held) == 0):
        container[slot] = struct({name: _through(interpreter, rest, value, frame=frame)})
        return
    if not isinstance(held, Struct):
        raise MatlabError(
            "MATLAB:structAssToNonStruct",
            "Unable to perform assignment because dot indexing is not supported for variables of "
            "this type.",
        )
    if shape_of(held) != (1, 1):
        _refuse_many()
    count = references(held)
    if not is_alone(interpreter.engine, held, count):
        held = Struct(held.fields, held.data.copy())
    _store_in_elements(interpreter, held, (0, 0), keys, value, frame=frame)
    if name not in held.fields:
        held = Struct((*held.fields, name), held.data)
    container[slot] = held


def _inside_extension(
    interpreter: Interpreter, held: Extension, keys: Sequence[_Key], value: Value, *, frame: Frame
) -> Value:
    """The value that a first key is to lead to, where a path goes on behind it."""
    if len(keys) == 1:
        return value
    key = keys[0]
    inner = _inner(interpreter, held, key)
    box: dict[str, Value] = {} if inner is None else {"": inner}
    del inner
    store(interpreter, box, "", keys[1:], value, frame=frame)
    return box[""]


def _replaced(engine: Engine, subscripts: list[Subscript], held: Value, value: Value) -> Value:
    """An ordinary array with a value at subscripts."""
    return replace(engine, held, subscripts, value, alone=False)


def _is_stored_full(held: Value | None, value: Extension) -> bool:
    """True if the elements of a value go into an ordinary array as they are."""
    return isinstance(held, (float, bool, Array)) and value.as_array() is not None


def _put_first(
    engine: Engine, held: Value | None, subscripts: list[Subscript], value: Extension
) -> Value:
    """``x(k) = value`` where x is nothing yet."""
    if held is not None and count_of(held):
        if isinstance(held, Cell):
            return replace(engine, held, subscripts, Cell(objects([value], (1, 1))), alone=False)
        message = f"Unable to assign a value of class '{value.kind}' into a {kind_of(held)} array."
        raise MatlabError("MATLAB:invalidConversion", message)
    start = value.index(engine, [empty()])
    assert isinstance(start, Extension), "a part is of the same class"
    return start.put(engine, subscripts, value, partial(_replaced, engine))


def _refuse_many() -> None:
    raise MatlabError(
        "MATLAB:index:expected_one_output_from_expression",
        "Assigning to a field of a struct array needs an index to one element.",
    )


def compile_deletion(
    interpreter: Interpreter, node: nodes.Deletion
) -> tuple[str, Callable[[Frame], None]]:
    """Compile ``x(k) = []``; gives the variable's name too.

    Running it raises MatlabError where an index is wrong, or not whole rows or columns.
    """
    base, steps = chain(node.target)
    name = base.name if isinstance(base, nodes.Name) else ""
    path = _compile_path(interpreter, name, steps)

    def run(frame: Frame) -> None:
        frame.span = node.span
        if not name:
            raise MatlabError("MATLAB:assignmentTarget", "This cannot be assigned to.")
        keys = path(frame)
        held: Value | None = frame.variables.get(name)
        for key in keys[:-1]:
            held = _inner(interpreter, held, key)
        frame.span = node.span
        if isinstance(held, MapObject):
            held.items[map_key(interpreter, keys[-1].subscripts[0])] = empty()
            return
        left = _without(interpreter.engine, held, keys[-1].subscripts)
        store(interpreter, frame.variables, name, keys[:-1], left, frame=frame)

    return name, run


def _without(engine: Engine, held: Value | None, subscripts: Sequence[Subscript]) -> Value:
    """A value without the elements at subscripts."""
    if isinstance(held, Cell):
        return Cell(delete(engine, held.data, subscripts))
    if isinstance(held, Struct):
        return Struct(held.fields, delete(engine, held.data, subscripts))
    if isinstance(held, Extension):
        return held.without(engine, list(subscripts), lambda at, x: _without(engine, x, at))
    array = as_array(held) if held is not None else None
    if array is None:
        raise MatlabError("MATLAB:UndefinedFunction", "There is nothing to delete elements of.")
    return spread(engine, wrap(array.kind, delete(engine, array.data, subscripts)), array)


def assign_fields(
    target: nodes.Field, chosen: np.ndarray | None, values: Sequence[Value], frame: Frame
) -> None:
    """``[s.name] = ...`` and ``[s(k).name] = ...``: one value for each element of a struct array.

    ``chosen``: which elements, from 0, column by column; None: all of them.
    """
    base, _ = chain(target)
    assert isinstance(base, nodes.Name), "the field belongs to a variable"
    held = frame.variables.get(base.name, Struct((), objects([], (0, 0))))
    assert isinstance(held, Struct), "the caller counted its elements"
    every = with_field(held, target.name)
    elements, shape = [dict(element) for element in every.data.flat], shape_of(every)
    places = range(len(elements)) if chosen is None else chosen.tolist()
    most = max(places, default=-1) + 1
    if most > len(elements):  # a vector, or nothing yet
        shape = (most, 1) if shape[1] == 1 and shape[0] > 1 else (1, most)
        blank = dict.fromkeys(every.fields, empty())
        elements += [dict(blank) for _ in range(most - len(elements))]
    for place, value in zip(places, values, strict=True):
        elements[place][target.name] = value
    frame.variables[base.name] = Struct(every.fields, objects(elements, shape))
