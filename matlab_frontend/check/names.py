"""Names that nothing defines, and calls with more or fewer arguments than a function takes.

Only what is certain is an error: where a variable may come from elsewhere (``eval``, ``load``, a
script that is called, a caller that sets it), nothing is said.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import field
from pathlib import Path

from matlab_frontend import nodes
from matlab_frontend.builtins.not_supported import NOT_SUPPORTED
from matlab_frontend.builtins.registry import find
from matlab_frontend.check.finding import Finding, finding
from matlab_frontend.check.tree import Tree, names_mentioned
from matlab_frontend.interpreter.captures import below
from matlab_frontend.interpreter.references import chain
from matlab_frontend.source import Source, Span
from runmat_jit.core.slotted import slotted

_MAKES_VARIABLES = frozenset({"eval", "evalc", "load", "run", "keyboard", "input", "import"})


def check_program(path: Path, program: nodes.Program, tree: Tree) -> list[Finding]:
    """What is wrong with the names of a file."""
    local = {function.name: function for function in _all_functions(program)}
    found: list[Finding] = []
    if path.stem in tree.changers:
        return found
    for function in _outer_functions(program):
        variables = {"ans"}.union(*(_variables_of(one) for one in _with_nested(function)))
        parts = (function,)
        if not _is_uncertain(parts, variables, tree):
            walk = _Walk(program.source, tree, local, variables, _texts(parts), found)
            for one in _with_nested(function):
                walk.block((*one.arguments, *one.body))
        found += _unassigned_outputs(function, program.source, tree)
    # What is called from a script may set variables of it by way of others.
    if program.statements and not tree.changers and not tree.is_called(path):
        variables = {"ans"} | _assigned(program.statements)
        if not _is_uncertain(program.statements, variables, tree):
            texts = _texts(program.statements)
            walk = _Walk(program.source, tree, local, variables, texts, found)
            walk.block(program.statements)
    return found


def _all_functions(program: nodes.Program) -> Iterator[nodes.Function]:
    for function in _outer_functions(program):
        yield from _with_nested(function)


def _outer_functions(program: nodes.Program) -> Iterator[nodes.Function]:
    yield from program.functions
    if program.definition is not None:
        for block in program.definition.blocks:
            yield from block.functions


def _with_nested(function: nodes.Function) -> Iterator[nodes.Function]:
    yield function
    for inner in function.nested:
        yield from _with_nested(inner)


def _is_uncertain(parts: Iterable[nodes.Node], variables: set[str], tree: Tree) -> bool:
    """True if some code may have variables that its text does not assign."""
    called = names_mentioned(parts) - variables
    return bool(called & (_MAKES_VARIABLES | tree.changers | tree.scripts()))


def _texts(parts: Iterable[nodes.Node]) -> set[str]:
    """Texts, which may be names whose existence is asked for."""
    literals = (nodes.CharLiteral, nodes.StringLiteral)
    found = {node.text for node in below(*parts) if isinstance(node, literals)}
    words = (node.words for node in below(*parts) if isinstance(node, nodes.Command))
    return found.union(*words)


def _variables_of(function: nodes.Function) -> set[str]:
    return {*function.inputs, *function.outputs} | _assigned(function.body)


def _assigned(parts: Iterable[nodes.Node]) -> set[str]:
    """Variables that some statements assign."""
    found: set[str] = set()
    for node in below(*parts):
        match node:
            case nodes.Assignment(targets=targets):
                found.update(_base(x) for x in targets if not isinstance(x, nodes.Placeholder))
            case nodes.Deletion(target=target) | nodes.For(target=target):
                found.add(_base(target))
            case nodes.Global(names=names) | nodes.Persistent(names=names):
                found.update(names)
            case nodes.Try(error=str(name)):
                found.add(name)
    return found


def _base(node: nodes.Expression) -> str:
    first, _ = chain(node)
    return first.name if isinstance(first, nodes.Name) else ""


def _unassigned_outputs(function: nodes.Function, source: Source, tree: Tree) -> Iterator[Finding]:
    variables = {*function.inputs}.union(*(_assigned(f.body) for f in _with_nested(function)))
    if _is_uncertain((function,), variables, tree):
        return
    missing = [name for name in function.outputs if name not in variables and function.body]
    for name in missing:
        if name != "varargout":
            message = f"the output '{name}' of '{function.name}' is assigned nowhere"
            yield finding(source, function.span, message, is_warning=True)


@slotted
class _Walk:
    """Goes through the code of a function; ``doubt``: an error would be caught there."""

    source: Source
    tree: Tree
    local: dict[str, nodes.Function]
    variables: set[str]
    texts: set[str]
    found: list[Finding]
    doubt: int = 0
    told: set[str] = field(default_factory=set)

    def block(self, parts: Iterable[object]) -> None:
        for part in parts:
            self.visit(part)

    def visit(self, part: object) -> None:
        match part:
            case tuple():
                self.block(part)
            case nodes.Try():
                self.doubt += 1
                self.block(part.body)
                self.doubt -= 1
                self.block(part.handler)
            case nodes.Assignment():
                self.assignment(part)
            case nodes.AnonymousFunction():
                outer = self.variables
                self.variables = {*outer, *part.parameters}
                self.visit(part.body)
                self.variables = outer
            case nodes.ArgumentDeclaration():
                self.declaration(part)
            case nodes.FunctionHandle():
                self.known(part.name, part.span, is_warning=True)
            case nodes.Command():
                self.call(part.name, part.span, len(part.words))
            case nodes.Name():
                self.call(part.name, part.span, 0)
            case nodes.Index(target=nodes.Name(name=name, span=span)):
                self.call(name, span, _count(part.arguments))
                self.block(part.arguments)
            case nodes.Field() | nodes.DynamicField() | nodes.CellIndex():
                self.part_of(part)
            case nodes.Node():
                self.block(part.parts())

    def declaration(self, node: nodes.ArgumentDeclaration) -> None:
        """A declared argument: a validator that stands alone is called with its value."""
        for validator in node.validators:
            if isinstance(validator, nodes.Name):
                self.call(validator.name, validator.span, 1)
            else:
                self.visit(validator)
        self.visit(node.default)

    def part_of(self, node: nodes.Field | nodes.DynamicField | nodes.CellIndex) -> None:
        """A part of something: what it starts from is a variable, a package or a class."""
        first, steps = chain(node)
        if isinstance(first, nodes.Name):
            self.known(first.name, first.span)
        else:
            self.visit(first)
        for step in steps:
            if isinstance(step, nodes.Index | nodes.CellIndex):
                self.block(step.arguments)
            elif isinstance(step, nodes.DynamicField):
                self.visit(step.name)

    def assignment(self, node: nodes.Assignment) -> None:
        self.visit(node.value)
        for target in node.targets:
            if not isinstance(target, nodes.Placeholder | nodes.Name):
                for step in chain(target)[1]:
                    self.block(step.parts()[1:])
        name = _called(node.value)
        several = any(isinstance(x, nodes.CellIndex | nodes.Field) for x in node.targets)
        if name is None or name in self.variables or several:
            return
        function = self.local.get(name) or self.tree.function(name)
        if function is None or function.outputs[-1:] == ("varargout",):
            return
        wanted, given = len(node.targets), len(function.outputs)
        if wanted > given and name not in self.tree.methods:
            asked = f"{wanted} asked for" if wanted > 1 else "one is asked for"
            self.tell(node.span, f"'{name}' gives {_outputs(given)}, and {asked}")

    def call(self, name: str, span: Span, count: int | None) -> None:
        """A name with arguments behind it; None: nobody knows how many."""
        if name in self.variables or not self.known(name, span) or count is None:
            return
        if name in self.tree.methods:
            return
        function = self.local.get(name) or self.tree.function(name)
        least, most = 0, None
        if function is not None:
            variadic = function.inputs[-1:] == ("varargin",) or function.arguments
            most = None if variadic else len(function.inputs)
        elif not self.tree.has_file(name):
            builtin = find(name)
            if builtin is not None:
                least, most = builtin.least, builtin.most
        if most is not None and count > most:
            self.tell(span, f"'{name}' takes {_arguments(most)} at most, and is given {count}")
        elif count < least:
            self.tell(span, f"'{name}' takes {_arguments(least)} at least, and is given {count}")

    def known(self, name: str, span: Span, *, is_warning: bool = False) -> bool:
        """True if a name is defined; if not, report it once."""
        if name in self.variables or name in self.local or name in self.tree.names:
            return True
        first = name.partition(".")[0]
        if "@" in name or name in self.texts or first in self.tree.names or name in self.told:
            return False
        self.told.add(name)
        message = f"unrecognized function or variable '{name}'"
        if name in NOT_SUPPORTED:
            message = f"'{name}' is a function of MATLAB's that is not supported yet"
        self.tell(span, message, is_warning=is_warning)
        return False

    def tell(self, span: Span, message: str, *, is_warning: bool = False) -> None:
        doubtful = is_warning or self.doubt > 0
        self.found.append(finding(self.source, span, message, is_warning=doubtful))


def _called(node: nodes.Expression) -> str | None:
    """The name that a value is the call of, if it is one."""
    if isinstance(node, nodes.Index):
        node = node.target
    return node.name if isinstance(node, nodes.Name) else None


def _count(arguments: tuple[nodes.Expression, ...]) -> int | None:
    """Number of arguments; None where one may stand for several."""
    count = 0
    for argument in arguments:
        if isinstance(argument, nodes.CellIndex | nodes.Field | nodes.DynamicField):
            return None
        if isinstance(argument, nodes.Index) and not isinstance(argument.target, nodes.Name):
            return None
        count += 2 if isinstance(argument, nodes.NamedArgument) else 1
    return count


def _arguments(count: int) -> str:
    return "1 argument" if count == 1 else f"{count} arguments"


def _outputs(count: int) -> str:
    return {0: "no output", 1: "1 output"}.get(count, f"{count} outputs")
