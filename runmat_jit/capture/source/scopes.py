"""Python's static scoping, read from the syntax tree: what a scope binds, where a name is found."""

import ast
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import field
from enum import Enum
from typing import Any

from runmat_jit.core.frozen import frozen

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp


class Where(Enum):
    """Where a name that is read in the function being rewritten is found."""

    LOCAL = "bound inside the function: an ordinary variable"
    FREE = "bound by a function around it"
    GLOBAL = "a global or builtin"
    UNSETTLED = "bound by the class body, but perhaps later: then it is FREE or GLOBAL"


SCOPED = frozenset(
    {
        *(ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef, ast.arg, ast.AnnAssign),
        *(ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp),
    }
)
BINDING = frozenset(
    {
        *(ast.Name, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.arg, ast.Import),
        *(ast.ImportFrom, ast.ExceptHandler, ast.MatchAs, ast.MatchStar, ast.MatchMapping),
        *(ast.Global, ast.Nonlocal),
    }
)
CHILDLESS = frozenset({ast.Constant, ast.Load, ast.Store, ast.Del, ast.Pass, ast.alias})


@frozen
class Scope:
    """The names one scope binds (with the line of the first binding), mangled."""

    bound: dict[str, int] = field(default_factory=dict)
    global_names: set[str] = field(default_factory=set)
    nonlocal_names: set[str] = field(default_factory=set)
    deleted: set[str] = field(default_factory=set)
    is_class: bool = False


def mangle(name: str, class_name: str | None) -> str:
    """The name as the compiler writes it inside the class: ``__x`` in ``C`` is ``_C__x``."""
    if class_name is None or not name.startswith("__") or name.endswith("__") or "." in name:
        return name
    stripped = class_name.lstrip("_")
    return f"_{stripped}{name}" if stripped else name


def scope_of(roots: Iterable[ast.AST], class_name: str | None, *, is_class: bool = False) -> Scope:
    """Names that statements or expressions bind in the scope that they stand in."""
    scope = Scope(is_class=is_class)
    pending = list(roots)
    while pending:
        node = pending.pop()
        kind = type(node)
        if kind in CHILDLESS:
            continue
        if kind in BINDING:
            _note_bindings(node, scope, class_name)
        pending.extend(_children_in_scope(node) if kind in SCOPED else _children(node))
    return scope


def _note_bindings(node: Any, scope: Scope, class_name: str | None) -> None:
    if isinstance(node, ast.Global | ast.Nonlocal):
        declared = scope.global_names if isinstance(node, ast.Global) else scope.nonlocal_names
        declared.update(mangle(name, class_name) for name in node.names)
        return
    names = [mangle(name, class_name) for name in _bound_by(node)]
    for name in names:
        scope.bound[name] = min(node.lineno, scope.bound.get(name, node.lineno))
    if isinstance(node, ast.ExceptHandler) or isinstance(getattr(node, "ctx", None), ast.Del):
        scope.deleted.update(names)


def assigned_by(statement: ast.stmt) -> list[ast.AST]:
    """The nodes whose names have surely been assigned when the statement has ended."""
    match statement:
        case ast.Assign(targets=targets):
            return [*targets]
        case ast.AnnAssign(target=target, value=ast.expr()) | ast.AugAssign(target=target):
            return [target]
        case ast.Import() | ast.ImportFrom() | ast.FunctionDef() | ast.ClassDef():
            return [statement]
    return []


def _bound_by(node: ast.AST) -> list[str]:
    match node:
        case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
            return [name]
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            return [node.name]
        case ast.arg(arg=name):
            return [name]
        case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
            return [(alias.asname or alias.name).split(".")[0] for alias in aliases]
        case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)):
            return [name]
        case ast.MatchStar(name=str(name)) | ast.MatchMapping(rest=str(name)):
            return [name]
    return []


def _children(node: ast.AST) -> Iterator[ast.AST]:
    for name in node._fields:
        value = getattr(node, name, None)
        if isinstance(value, list):
            yield from (element for element in value if isinstance(element, ast.AST))
        elif isinstance(value, ast.AST):
            yield value


def _children_in_scope(node: ast.AST) -> Iterator[ast.AST]:
    """The parts of such a node that are evaluated (or bound) in the scope that it stands in."""
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            yield from node.decorator_list
            yield from _evaluated_by_definition(node.args)
            if node.returns:
                yield node.returns
        case ast.Lambda(args=args):
            yield from _evaluated_by_definition(args)
        case ast.ClassDef():
            yield from (*node.decorator_list, *node.bases, *node.keywords)
        case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
            # An assignment expression inside binds in the scope around; the targets do not.
            yield from ([node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt])
            for generator in node.generators:
                yield from (generator.iter, *generator.ifs)
        case ast.AnnAssign(target=ast.Name(), simple=0, value=None):
            yield node.annotation  # `(x): int` binds nothing
        case ast.AnnAssign():
            yield from _children(node)
        case ast.arg():
            pass  # annotations are evaluated around the function


def _evaluated_by_definition(args: ast.arguments) -> Iterator[ast.expr]:
    yield from args.defaults
    yield from (default for default in args.kw_defaults if default)
    for parameter in parameters(args):
        if parameter.annotation:
            yield parameter.annotation


def parameters(args: ast.arguments) -> list[ast.arg]:
    """All parameters, in the order of the code object's variables."""
    stars = [star for star in (args.vararg, args.kwarg) if star]
    return [*args.posonlyargs, *args.args, *args.kwonlyargs, *stars]


class Scopes:
    """The scopes around the node being rewritten, innermost last.

    Args:
        free: Free variables of the decorated function.
        class_name: The class whose body holds the function, for private names.

    """

    def __init__(self, free: frozenset[str], class_name: str | None) -> None:
        self.class_name = class_name
        self._free = free
        self._stack: list[Scope] = []
        self._assigned: set[str] = set()  # in the class body being rewritten, up to here

    @property
    def in_class(self) -> bool:
        """True if the node stands directly in a class body."""
        return bool(self._stack) and self._stack[-1].is_class

    def mangle(self, name: str) -> str:
        return mangle(name, self.class_name)

    def where(self, name: str) -> Where:
        """Where the name is found when it is read here."""
        mangled = self.mangle(name)
        for depth, scope in enumerate(reversed(self._stack)):
            if scope.is_class and depth:
                continue  # a class body is no scope for what stands inside its functions
            if mangled in scope.global_names:
                return Where.GLOBAL
            if mangled in scope.bound and mangled not in scope.nonlocal_names:
                settled = not scope.is_class or mangled in self._assigned
                return Where.LOCAL if settled else Where.UNSETTLED
        return Where.FREE if mangled in self._free else Where.GLOBAL

    def binds_nonlocal(self, name: str) -> bool:
        """True if a name of this scope's ``nonlocal`` is bound by a function inside ours."""
        around = [scope for scope in self._stack if not scope.is_class]
        return any(name in scope.bound and name not in scope.nonlocal_names for scope in around)

    def note_assigned(self, nodes: Iterable[ast.AST]) -> None:
        """Remember the names that targets or definitions in a class body have bound."""
        if self.in_class:
            scope = scope_of(nodes, self.class_name)
            self._assigned |= scope.bound.keys() - self._stack[-1].deleted

    @contextmanager
    def branch(self) -> Iterator[None]:
        """Around a block that may not run: what it assigns is not surely assigned after it."""
        before = set(self._assigned)
        try:
            yield
        finally:
            self._assigned = before

    @contextmanager
    def entered(self, scope: Scope, class_name: str | None = None) -> Iterator[None]:
        """Around the body of a function, class (then with its name) or comprehension."""
        saved = self.class_name, self._assigned
        if scope.is_class:
            self.class_name = class_name
            scope.bound.update({"__module__": 0, "__qualname__": 0})
        self._assigned = {"__module__", "__qualname__"}
        self._stack.append(scope)
        try:
            yield
        finally:
            self._stack.pop()
            self.class_name, self._assigned = saved
