"""Classes that files define: their properties, methods and objects."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from matlab_frontend import nodes
from matlab_frontend.display_elements import inline
from matlab_frontend.errors import MatlabError
from matlab_frontend.interpreter import calls
from matlab_frontend.interpreter.declared_arguments import valid
from matlab_frontend.interpreter.frame import Frame, Scope
from matlab_frontend.interpreter.library import ClassFile
from matlab_frontend.interpreter.nesting import variables_in
from matlab_frontend.nodes.classes import ClassBlock, ClassDefinition, EnumerationMember
from matlab_frontend.subscripts import EVERYTHING
from matlab_frontend.values.array import Extension, Join, Value, kind_of
from matlab_frontend.values.make import cell, empty, text
from matlab_frontend.values.read import is_text, text_of
from runmat_jit.core.frozen import frozen
from runmat_jit.core.slotted import slotted_object

if TYPE_CHECKING:
    from matlab_frontend.interpreter.interpreter import Interpreter

_HANDLES = ("handle", "matlab.mixin.Copyable")
"""Superclasses whose objects are shared by all variables that hold them."""
_OPERATORS: Mapping[tuple[str, int], str] = {
    **{(symbol, 2): name for symbol, name in {
        "+": "plus", "-": "minus", "*": "mtimes", ".*": "times", "/": "mrdivide",
        "./": "rdivide", "\\": "mldivide", ".\\": "ldivide", "^": "mpower", ".^": "power",
        "==": "eq", "~=": "ne", "!=": "ne", "<": "lt", ">": "gt", "<=": "le", ">=": "ge",
        "&": "and", "|": "or", ":": "colon",
    }.items()},
    ("-", 1): "uminus", ("+", 1): "uplus", ("~", 1): "not", ("!", 1): "not",
    ("'", 1): "ctranspose", (".'", 1): "transpose", (":", 3): "colon",
}  # fmt: skip
_UNSUPPORTED = ("subsref", "subsasgn", "subsindex", "numArgumentsFromSubscript", "parenReference")
"""Methods that would change what indexing means."""


@frozen
class Property:
    """A property: its declaration, its attributes in lower case, and the class that has it."""

    declaration: nodes.ArgumentDeclaration
    attributes: Mapping[str, str]
    owner: Class

    def is_set(self, name: str) -> bool:
        """True if an attribute is true."""
        return self.attributes.get(name, "false").lower() == "true"

    def access(self, kind: str) -> str:
        """``public``, ``protected``, ``private`` or ``immutable``, to get or to set it."""
        return self.attributes.get(kind, self.attributes.get("access", "public")).lower()


@frozen
class Method:
    """A method, its attributes in lower case, and the class that has it."""

    function: nodes.Function
    attributes: Mapping[str, str]
    owner: Class

    @property
    def is_static(self) -> bool:
        return self.attributes.get("static", "false").lower() == "true"


@dataclass(eq=False)
class Class:
    """A class; ``parents`` are those that files define, too."""

    interpreter: Interpreter
    definition: ClassDefinition
    scope: Scope
    parents: tuple[Class, ...]
    properties: dict[str, Property] = field(default_factory=dict)
    methods: dict[str, Method] = field(default_factory=dict)
    members: dict[str, EnumerationMember] = field(default_factory=dict)
    is_handle: bool = False
    abstract: set[str] = field(default_factory=set)
    _constants: dict[str, Value] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.is_handle = any(parent.is_handle for parent in self.parents) or any(
            name in _HANDLES for name in self.definition.parents
        )
        for parent in reversed(self.parents):
            self.properties.update(parent.properties)
            self.methods.update(parent.methods)
            self.abstract |= parent.abstract - parent.methods.keys()
        for block in self.definition.blocks:
            self._read(block)
        for name in _UNSUPPORTED:
            if name in self.methods:
                message = f"Class '{self.name}' defines '{name}', which is not supported."
                raise MatlabError("MATLAB:class:unsupportedMethod", message)

    def _read(self, block: ClassBlock) -> None:
        attributes = {name.lower(): value for name, value in block.attributes}
        for declaration in block.properties:
            self.properties[declaration.name] = Property(declaration, attributes, self)
        for function in block.functions:
            self.methods[function.name] = Method(function, attributes, self)
        self.abstract |= set(block.signatures) if block.kind == "methods" else set()
        self.abstract -= {function.name for function in block.functions}
        for member in block.members:
            self.members[member.name] = member

    @property
    def name(self) -> str:
        return self.definition.name

    @property
    def lineage(self) -> Iterator[Class]:
        """The class itself, its parents, and theirs."""
        yield self
        for parent in self.parents:
            yield from parent.lineage

    def names(self) -> set[str]:
        """The names of all classes that an object belongs to."""
        listed = (set(one.definition.parents) | {one.name} for one in self.lineage)
        return set().union(*listed) | ({"handle"} if self.is_handle else set())

    def _evaluate(self, node: nodes.Expression) -> Value:
        frame = Frame(self.scope, self.name, caller=self.interpreter.frame)
        return self.interpreter.compile_value(node)(frame)

    def default(self, name: str) -> Value:
        """What a property holds before anything is assigned to it."""
        declaration = self.properties[name].declaration
        if declaration.default is None:
            return empty()
        return self.properties[name].owner._evaluate(declaration.default)

    def member(self, name: str) -> Value:
        """``Class.name``: a constant property or a member of the enumeration.

        Raises:
            MatlabError: there is no such thing.

        """
        known = self._constants.get(name)
        if known is not None:
            return known
        if name in self.members:
            arguments = [self._evaluate(node) for node in self.members[name].arguments]
            made = self.construct(arguments, member=name)
        elif name in self.properties and self.properties[name].is_set("constant"):
            made = self.default(name)
        else:
            message = (
                f"The class {self.name} has no Constant property or Static method named '{name}'."
            )
            raise MatlabError("MATLAB:subscripting:classHasNoPropertyOrMethod", message)
        self._constants[name] = made
        return made

    def construct(self, arguments: Sequence[Value], *, member: str = "") -> Value:
        """A new object.

        Raises:
            MatlabError: the class is abstract, or its constructor raises it.

        """
        if self.members and not member:
            message = f"Objects of the enumeration '{self.name}' are made by its members alone."
            raise MatlabError("MATLAB:class:invalidEnum", message)
        missing = {name for name, one in self.properties.items() if one.is_set("abstract")}
        missing |= self.abstract - self.methods.keys()
        declared = {key.lower(): value for key, value in self.definition.attributes}
        if missing or declared.get("abstract", "false").lower() == "true":
            message = f"Abstract classes cannot be instantiated. Class '{self.name}' is abstract."
            raise MatlabError("MATLAB:class:abstract", message)
        held = {
            name: self.default(name)
            for name, one in self.properties.items()
            if not one.is_set("constant") and not one.is_set("dependent")
        }
        return self.initialize(Object(self, held, self.name, member), arguments)

    def initialize(self, made: Object, arguments: Sequence[Value]) -> Object:
        """Run the constructor of this class on an object, after those of its parents."""
        constructor = self.methods.get(self.name)
        if constructor is None or constructor.owner is not self:
            for k, parent in enumerate(self.parents):
                made = parent.initialize(made, arguments if k == 0 else ())
            if arguments and not self.parents:
                raise MatlabError("MATLAB:TooManyInputs", "Too many input arguments.")
            return made
        function = constructor.function
        result = function.outputs[0] if function.outputs else "obj"
        mentioned = variables_in(function.body)
        for parent in self.parents:
            if f"{result}@{parent.name}" not in mentioned:
                made = parent.initialize(made, ())
        found = calls.call_function(
            self.interpreter, function, self.scope, arguments, 1, preset={result: made}
        )
        assert isinstance(found[0], Object), "a constructor gives its object"
        return found[0]

    def call(self, method: Method, arguments: Sequence[Value], outputs: int) -> list[Value]:
        """Run a method."""
        self.check_access(method)
        scope = method.owner.scope
        return calls.call_function(self.interpreter, method.function, scope, arguments, outputs)

    def check_access(self, method: Method) -> None:
        """Raise an error if the code that runs may not call a method."""
        self._check(method.attributes.get("access", "public").lower(), method)

    def _check(self, access: str, method: Method) -> None:
        if not self.may(access, method.owner):
            name = method.function.name
            message = f"Cannot access method '{name}' in class '{self.name}'."
            raise MatlabError("MATLAB:class:MethodRestricted", message)

    def may(self, access: str, owner: Class) -> bool:
        """True if the code that runs may use what has an access."""
        frame = self.interpreter.frame
        file = "" if frame is None else frame.scope.file
        if access == "public" or file == owner.scope.file:
            return True
        running = self.interpreter.class_at(file)
        return access == "protected" and running is not None and owner in running.lineage


@slotted_object
class Object(Extension):
    """An object: of a handle class its values are shared, else copied when they change."""

    owner: Class
    values: dict[str, Value]
    kind: str
    member: str = ""
    """The name of a member of an enumeration."""
    is_valid: bool = True
    """True if ``delete`` was not called yet."""

    def index(self, engine: Any, subscripts: list[Any]) -> Value:
        if all(subscript is EVERYTHING or subscript == 1.0 for subscript in subscripts):
            return self
        raise self.refusal("An array")

    def field(self, engine: Any, name: str) -> Value:
        self._check_valid()
        one = self.owner.properties.get(name)
        if one is None:
            message = f"Unrecognized method, property, or field '{name}' for class '{self.kind}'."
            raise MatlabError("MATLAB:noSuchMethodOrField", message)
        if not self.owner.may(one.access("getaccess"), one.owner):
            message = f"You cannot get the '{name}' property of class '{self.kind}'."
            raise MatlabError("MATLAB:class:GetProhibited", message)
        if one.is_set("constant"):
            return self.owner.member(name)
        getter = self._access_method("get", name)
        if getter is not None:
            return self.owner.call(getter, [self], 1)[0]
        if name not in self.values:
            message = f"The dependent property '{name}' of class '{self.kind}' has no get method."
            raise MatlabError("MATLAB:class:noGetMethod", message)
        return self.values[name]

    def _access_method(self, kind: str, name: str) -> Method | None:
        """``get.Name`` or ``set.Name``, unless it is what runs."""
        running = self.owner.interpreter.frame
        if running is not None and running.name == f"{kind}.{name}":
            return None
        return self.owner.methods.get(f"{kind}.{name}")

    def put_field(self, engine: Any, name: str, value: Value) -> Value:
        self._check_valid()
        one = self.owner.properties.get(name)
        if one is None:
            message = f"Unrecognized property '{name}' for class '{self.kind}'."
            raise MatlabError("MATLAB:noPublicFieldForClass", message)
        if not self._may_set(one):
            message = f"You cannot set the '{name}' property of class '{self.kind}'."
            raise MatlabError("MATLAB:class:SetProhibited", message)
        interpreter = self.owner.interpreter
        frame = Frame(one.owner.scope, caller=interpreter.frame)
        where = f"property '{name}' of class '{self.kind}'"
        value = valid(interpreter, one.declaration, value, frame, where)
        setter = self._access_method("set", name)
        if setter is not None:
            made = self.owner.call(setter, [self, value], len(setter.function.outputs[:1]))
            return made[0] if made else self
        if self.owner.is_handle:
            self.values[name] = value
            return self
        return Object(self.owner, {**self.values, name: value}, self.kind)

    def _check_valid(self) -> None:
        if not self.is_valid:
            raise MatlabError("MATLAB:class:InvalidHandle", "Invalid or deleted object.")

    def _may_set(self, one: Property) -> bool:
        access = one.access("setaccess")
        if one.is_set("constant") or access == "none":
            return False
        if access != "immutable":
            return self.owner.may(access, one.owner)
        running = self.owner.interpreter.frame
        return running is not None and running.name == one.owner.name

    def overload(self, name: str) -> Callable[..., Any] | None:
        method = self.owner.methods.get(name)
        if name == "delete" and self.owner.is_handle:
            return lambda call, *_: self._delete(call)
        if method is not None and name != self.kind and not method.is_static:
            owner = self.owner
            return lambda call, *given: tuple(owner.call(method, given, call.outputs)) or None
        function = _FOR_ALL.get(name)
        if function is not None and (name not in _OF_HANDLES or self.owner.is_handle):
            return function
        return None

    def _delete(self, call: Any) -> None:
        """Run the class's own ``delete`` and end the object's life."""
        method = self.owner.methods.get("delete")
        if method is not None and self.is_valid:
            self.owner.call(method, [self], call.outputs)
        self.is_valid = False

    def operate(
        self, operator: str, function: Callable[..., Value], engine: Any, operands: list[Value]
    ) -> Value:
        name = _OPERATORS[operator, len(operands)]
        for operand in operands:
            if isinstance(operand, Object) and name in operand.owner.methods:
                owner = operand.owner
                made = owner.call(owner.methods[name], operands, 1)
                return made[0]
        if name in ("eq", "ne") and self.member and any(map(is_text, operands)):
            names = [x.member if isinstance(x, Object) else text_of(x) for x in operands]
            return (names[0] == names[1]) == (name == "eq")
        if name in ("eq", "ne") and (self.owner.is_handle or self.member):
            return (operands[0] is operands[1]) == (name == "eq")
        kinds = ", ".join(f"'{kind_of(operand)}'" for operand in operands)
        message = f"Operator '{operator}' is not supported for operands of type {kinds}."
        raise MatlabError("MATLAB:UndefinedFunction", message)

    def join(self, engine: Any, values: list[Value], axis: int, join: Join) -> Value:
        method = self.owner.methods.get("horzcat" if axis == 1 else "vertcat")
        if method is None:
            raise self.refusal("An array")
        return self.owner.call(method, values, 1)[0]

    def show(self, engine: Any) -> tuple[str, tuple[str, ...]]:
        if "disp" in self.owner.methods:
            return "", tuple(self._printed().removesuffix("\n").split("\n"))
        if self.member:
            return f"{self.kind} enumeration", (f"    {self.member}",)
        names = [
            name
            for name, one in self.owner.properties.items()
            if one.access("getaccess") == "public" and not one.is_set("hidden")
        ]
        if not names:
            return f"{self.kind} with no properties.", ()
        width = max(map(len, names)) + 4
        lines = (f"{name:>{width}}: {inline(engine, self.field(engine, name))}" for name in names)
        return f"{self.kind} with properties:", tuple(lines)

    def _printed(self) -> str:
        """What the class's own ``disp`` prints."""
        session, printed = self.owner.interpreter.session, list[str]()
        write, session.write = session.write, printed.append
        try:
            self.owner.call(self.owner.methods["disp"], [self], 0)
        finally:
            session.write = write
        return "".join(printed)


def _is_a(_: Any, value: Object, kind: Value) -> Value:
    return text_of(kind) in value.owner.names()


def _is_equal(call: Any, first: Value, *others: Value) -> Value:
    return all(_same(call, first, other) for other in others)


def _same(call: Any, one: Value, two: Value) -> bool:
    if not isinstance(one, Object) or not isinstance(two, Object) or one.owner is not two.owner:
        return False
    if one is two:
        return True
    if one.member or two.member:
        return False
    pairs = ((one.values[name], two.values[name]) for name in one.values)
    return all(bool(call.interpreter.call_one(text("isequal"), *pair)) for pair in pairs)


def _public(value: Object, kind: str) -> list[str]:
    """The names of public properties or methods."""
    if kind == "methods":
        listed = value.owner.methods.items()
        return sorted(
            name
            for name, one in listed
            if "." not in name and one.attributes.get("access", "public") == "public"
        )
    return [
        name for name, one in value.owner.properties.items() if one.access("getaccess") == "public"
    ]


def _listed(kind: str) -> Callable[..., Any]:
    def function(call: Any, value: Object) -> Value | None:
        names = _public(value, kind)
        if call.outputs:
            return cell([text(name) for name in names], (len(names), 1))
        lines = "".join(f"    {name}\n" for name in names)
        call.session.write(f"\n{kind.capitalize()} for class {value.kind}:\n\n{lines}\n")
        return None

    return function


def _copy(_: Any, value: Object) -> Value:
    return Object(value.owner, dict(value.values), value.kind)


_FOR_ALL: Mapping[str, Callable[..., Any]] = {
    "isa": _is_a,
    "isequal": _is_equal,
    "isobject": lambda _, value: True,  # noqa: ARG005  (of every object)
    "properties": _listed("properties"),
    "fieldnames": _listed("properties"),
    "methods": _listed("methods"),
    "isprop": lambda _, value, name: text_of(name) in value.owner.properties,
    "ismethod": lambda _, value, name: text_of(name) in value.owner.methods,
    "isvalid": lambda _, value: value.is_valid,
    "copy": _copy,
    "eq": lambda _, one, two: one is two,
    "ne": lambda _, one, two: one is not two,
}
"""Functions of all objects that do not define their own."""
_OF_HANDLES = ("isvalid", "copy", "eq", "ne")


def class_of(interpreter: Interpreter, file: ClassFile) -> Class:
    """The class that a file defines, with its parents.

    Raises:
        MatlabError: a parent is not there.

    """
    definition = file.program.definition
    assert definition is not None, "the file defines a class"
    parents: list[Class] = []
    for name in definition.parents:
        if name in _HANDLES:
            continue
        found = interpreter.find_function(name, file.scope)
        if not isinstance(found, ClassFile):
            message = f"The specified superclass '{name}' contains a parse error, cannot be found "
            message += "on the search path, or is not supported."
            raise MatlabError("MATLAB:class:undefinedSuperclass", message)
        parents.append(interpreter.class_of(found))
    return Class(interpreter, definition, file.scope, tuple(parents))


def call_superclass(
    interpreter: Interpreter, name: str, arguments: Sequence[Value], outputs: int, frame: Frame
) -> list[Value]:
    """``obj@Parent(...)`` in a constructor, ``method@Parent(obj, ...)`` in a method.

    Raises:
        MatlabError: there is no such class or method.

    """
    left, _, parent_name = name.partition("@")
    held = frame.variables.get(left)
    if isinstance(held, Object) and parent_name in _HANDLES:
        return [held]
    found = interpreter.find_function(parent_name, frame.scope)
    if not isinstance(found, ClassFile):
        message = f"'{parent_name}' is no superclass."
        raise MatlabError("MATLAB:class:InvalidSuperclass", message)
    parent = interpreter.class_of(found)
    if isinstance(held, Object):
        made = frame.variables[left] = parent.initialize(held, arguments)
        return [made]
    method = parent.methods.get(left)
    if method is None:
        message = f"The superclass '{parent_name}' has no method '{left}'."
        raise MatlabError("MATLAB:class:InvalidSuperclass", message)
    return calls.call_function(interpreter, method.function, method.owner.scope, arguments, outputs)
