"""The ways Python, IPython and pytest compile a source text, and the functions it then holds.

Code objects depend on more than the text of their function: before a call, Python 3.11 loads the
method of a name the module imports differently from any other. So a whole module is compiled as it
was the first time, and a function is found in it only by an equal code object.
"""

import __future__

import ast
import sys
import types
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Final

from runmat_jit.capture.source.scopes import FunctionNode
from runmat_jit.core.errstate import current_filters
from runmat_jit.core.frozen import frozen
from runmat_jit.core.locks import new_lock

FUTURE_FLAGS: int = sum(
    getattr(__future__, name).compiler_flag
    for name in __future__.all_feature_names
    # In code objects these two bits say something else, and both features are long mandatory.
    if name not in {"nested_scopes", "generators"}
)


_PARSING: Final = new_lock()
"""Held while a text is parsed: all threads of Python 3.11 count the depth of trees in one place.

Where two parse at once, Python may raise SystemError ("recursion depth mismatch").
"""
_PARSES: Final = 9


@frozen
class Located:
    """Exactly the source of a function.

    Attributes:
        node: Its definition, part of a tree that is shared: not to be changed.
        filename: As the code object has it.
        first_line: The first decorator's line, else the definition's.
        class_name: The class whose body holds the function, for private names.

    """

    node: FunctionNode
    filename: str
    first_line: int
    class_name: str | None


NameAndLine = tuple[str, int]


@frozen
class CompiledText:
    """A text compiled in one way: its tree, and its code objects by name and first line."""

    tree: ast.Module
    codes: Mapping[NameAndLine, list[types.CodeType]]

    def find(self, code: types.CodeType) -> Located | None:
        """The function whose code equals the given one, if there is exactly one."""
        name, line = code.co_name, code.co_firstlineno
        if code not in self.codes.get((name, line), []):
            return None
        candidates = [
            located
            for located in _functions_around(self.tree, line, code.co_filename)
            if located.first_line == line and name == getattr(located.node, "name", "<lambda>")
        ]
        if len(candidates) > 1:
            candidates = _told_apart(code, candidates)
        return candidates[0] if len(candidates) == 1 else None


def future_flags(code: types.CodeType) -> int:
    """The ``__future__`` features under which the code was compiled."""
    return code.co_flags & FUTURE_FLAGS


def parse_text(filename: str, text: str, flags: int) -> ast.Module | None:
    """The syntax tree of a text, or None if it has none."""
    try:
        with _no_syntax_warnings(), _PARSING:
            tree = _parse(text, filename, flags | ast.PyCF_ONLY_AST)
    except (SyntaxError, ValueError, OverflowError, RecursionError, MemoryError):
        return None
    assert isinstance(tree, ast.Module), "exec mode gives modules"
    return tree


def _parse(text: str, filename: str, flags: int) -> object:
    """Parse a text; again where a thread that is not ours has parsed at the same time."""
    for _ in range(_PARSES):
        with suppress(SystemError):
            return compile(text, filename, "exec", flags, dont_inherit=True)
    return compile(text, filename, "exec", flags, dont_inherit=True)


def compile_module(source: str | ast.Module, filename: str, flags: int) -> types.CodeType:
    """The code of a module, with this process's optimization level and no repeated warnings."""
    with _no_syntax_warnings():
        code = compile(source, filename, "exec", flags, dont_inherit=True)
    assert isinstance(code, types.CodeType), "no flag asks for a tree"
    return code


def compiled_text(
    tree: ast.Module, filename: str, flags: int, text: str | None = None
) -> CompiledText | None:
    """A tree and its code objects, or None if it does not compile.

    Args:
        tree: What is compiled.
        filename: As the code objects shall have it.
        flags: ``__future__`` features that hold beside those the tree imports.
        text: The text of the tree, if it is just that: then no expression in it is too deep.

    """
    try:
        module = compile_module(text or tree, filename, flags)
    except (SyntaxError, ValueError, OverflowError, RecursionError, MemoryError):
        return None
    codes: dict[NameAndLine, list[types.CodeType]] = {}
    for code in nested_codes(module):
        codes.setdefault((code.co_name, code.co_firstlineno), []).append(code)
    return CompiledText(tree, codes)


def statement_at(tree: ast.Module, line: int) -> ast.Module | None:
    """The top-level statement around a line, as a module: IPython compiles them one by one."""
    for statement in tree.body:
        if _stands_on(statement, line):
            return ast.Module([statement], [])
    return None


def with_test_assertions(filename: str, text: str, flags: int) -> ast.Module | None:
    """The tree after pytest's rewriting of ``assert``, if pytest runs in this process."""
    rewriting = sys.modules.get("_pytest.assertion.rewrite")
    tree = parse_text(filename, text, flags) if rewriting else None
    if rewriting is None or tree is None:
        return None
    try:
        with _no_syntax_warnings():
            rewriting.rewrite_asserts(tree, text.encode())
    except (AttributeError, TypeError):  # another version of what is private to pytest
        return None
    return tree


def nested_codes(code: types.CodeType) -> list[types.CodeType]:
    """The code object and all code objects in it."""
    found = [code]
    for outer in found:
        found.extend(const for const in outer.co_consts if isinstance(const, types.CodeType))
    return found


def _functions_around(tree: ast.Module, line: int, filename: str) -> Iterator[Located]:
    """The functions and lambdas that stand on the line."""
    pending: list[tuple[ast.AST, str | None]] = [(tree, None)]
    while pending:
        node, class_name = pending.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            yield Located(node, filename, _first_line(node), class_name)
        own_name = node.name if isinstance(node, ast.ClassDef) else class_name
        for name, value in ast.iter_fields(node):
            inner = own_name if name == "body" else class_name
            children = value if isinstance(value, list) else [value]
            pending.extend((child, inner) for child in children if _stands_on(child, line))


def _stands_on(node: object, line: int) -> bool:
    if not isinstance(node, ast.expr | ast.stmt):
        return isinstance(node, ast.AST)
    end = node.end_lineno or node.lineno
    return line <= end and (node.lineno <= line or _first_line(node) <= line)


def _first_line(node: ast.expr | ast.stmt) -> int:
    """Where the code object of a definition begins: at its first decorator, if it has one."""
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(decorator.lineno for decorator in decorators)])


def _told_apart(code: types.CodeType, lambdas: list[Located]) -> list[Located]:
    """Of several lambdas that begin on a line, the one that the code was compiled from."""
    instructions = [
        ((line, column), (end_line, end_column))
        for line, end_line, column, end_column in code.co_positions()
        if line and end_line and column is not None and end_column  # end 0: the function's start
    ]
    if not instructions:  # a constant in Python 3.12, or columns are off (-X no_debug_ranges)
        return [located for located in lambdas if _code_alone(located, code) == code][:1]
    start = min(start for start, _ in instructions)
    end = max(end for _, end in instructions)
    around = [located for located in lambdas if _body_span(located)[0] <= start]
    around = [located for located in around if end <= _body_span(located)[1]]
    starts = [_body_span(located)[0] for located in around]
    # Lambdas around the code are nested in one another: the innermost begins last.
    return [located for located in around if _body_span(located)[0] == max(starts)]


def _code_alone(located: Located, code: types.CodeType) -> types.CodeType:
    assert isinstance(located.node, ast.Lambda), "two definitions cannot begin on one line"
    tree = ast.Module([ast.copy_location(ast.Expr(located.node), located.node)], [])
    module = compile_module(tree, located.filename, future_flags(code))
    return nested_codes(module)[1].replace(co_flags=code.co_flags)  # it is not nested here


def _body_span(located: Located) -> tuple[tuple[int, int], tuple[int, int]]:
    body = located.node.body
    assert isinstance(body, ast.expr), "two definitions cannot begin on one line"
    end = body.end_lineno or body.lineno, body.end_col_offset or body.col_offset
    return (body.lineno, body.col_offset), end


@contextmanager
def _no_syntax_warnings() -> Iterator[None]:
    """Python has shown the text's syntax warnings when it compiled it first.

    ``warnings.catch_warnings`` replaces the list of filters, which other threads may be doing too,
    and makes warnings appear again that were to be shown once.
    """
    filters = current_filters()
    ignored = [("ignore", None, kind, None, 0) for kind in (SyntaxWarning, DeprecationWarning)]
    filters[:0] = ignored
    try:
        yield
    finally:
        for entry in ignored:
            if entry in filters:
                filters.remove(entry)
