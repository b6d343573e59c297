"""Rewrites a function so that all it does with values passes through hooks.

The rewritten function keeps its globals, its cells, its name and its lines; it has one more free
variable, ``__rt__``, which holds the hooks (see ``hook_base``).
"""

import __future__

import ast
import builtins
import dis
import inspect
import itertools
import types
from collections.abc import Iterator, Mapping
from dataclasses import field
from functools import partial
from typing import Any

from runmat_jit.capture.source.hook_calls import RUNTIME, constant, placed
from runmat_jit.capture.source.node_rewriter import Handler, NodeRewriter
from runmat_jit.capture.source.refusal import Refusal, Refused
from runmat_jit.capture.source.rewrite_definitions import (
    DEFINITIONS,
    function_body,
    refuse_type_parameters,
)
from runmat_jit.capture.source.rewrite_direct import (
    DIRECT,
    HooksAsConstant,
    direct_body,
    direct_loop,
    with_hooks,
)
from runmat_jit.capture.source.rewrite_expressions import EXPRESSIONS
from runmat_jit.capture.source.rewrite_patterns import PATTERNS
from runmat_jit.capture.source.rewrite_statements import STATEMENTS
from runmat_jit.capture.source.rewrite_stores import STORES
from runmat_jit.capture.source.scopes import FunctionNode, Scopes, parameters
from runmat_jit.capture.source.source_text import (
    Located,
    compile_module,
    future_flags,
    nested_codes,
)
from runmat_jit.core.frozen import frozen
from runmat_jit.core.installed import is_installed
from runmat_jit.loops.source import LoopSource, find_loops, refused_loops

__all__ = ["Refused", "Rewritten", "bind", "rewrite"]

HANDLERS = {**EXPRESSIONS, **STORES, **DEFINITIONS, **STATEMENTS, **PATTERNS}

REFUSED_FLAGS = {
    inspect.CO_COROUTINE: "coroutine-function",
    inspect.CO_ASYNC_GENERATOR: "coroutine-function",
    inspect.CO_ITERABLE_COROUTINE: "coroutine-function",
    inspect.CO_GENERATOR: "generator-function",
}


@frozen
class Rewritten:
    """Code that calls hooks.

    Attributes:
        code: The rewritten function's code; ``bind`` makes a function of it.
        free: The free variables that may be read through the ``free`` hook.
        codes: ``code`` and the code of all functions and classes defined in it.
        direct: Loops alone are hooks.
        loops: The loops that may run natively, by number.
        refused_loops: The construct that keeps each of the others in Python, by line.
        inner: Code of the functions defined in it, as it was before, by the rewritten one.

    """

    code: types.CodeType
    free: tuple[str, ...]
    codes: frozenset[types.CodeType]
    direct: bool
    loops: tuple[LoopSource, ...] = ()
    refused_loops: Mapping[int, str] = field(default_factory=dict)
    inner: Mapping[types.CodeType, types.CodeType] = field(default_factory=dict)


def rewrite(
    fn: types.FunctionType, located: Located, *, direct: bool = False
) -> Rewritten | Refused:
    """The function's code with hooks, or why there is none. Leaves ``located`` as it is.

    ``direct``: loops alone are hooks.
    """
    code = fn.__code__
    for flag, reason in REFUSED_FLAGS.items():
        if code.co_flags & flag:
            return Refused(reason, code.co_firstlineno)
    loops = find_loops(located.node, partial(where_found, code))
    try:
        definition = _rewritten_definition(fn, located, DIRECT if direct else HANDLERS, loops)
        if direct:
            definition = HooksAsConstant().visit(definition)
        module = _module_around(definition, code, located)
        compiled = compile_module(module, code.co_filename, future_flags(code))
    except Refusal as refusal:
        return refusal.refused
    except RecursionError:
        return Refused("nested-too-deeply", code.co_firstlineno)
    except (SyntaxError, ValueError):  # a hook where the grammar allows no call
        return Refused("unknown-syntax", code.co_firstlineno)
    new = _code_within(compiled, code.co_qualname)
    outside = set(new.co_freevars) - {RUNTIME}
    assert outside <= set(code.co_freevars), "rewriting makes no variable free"
    codes = frozenset(nested_codes(new))
    inner = {} if direct else dict(codes_by_rewritten(new, code))
    refused = refused_loops(located.node, loops)
    return Rewritten(new, code.co_freevars, codes, direct, tuple(loops.values()), refused, inner)


def codes_by_rewritten(
    new: types.CodeType, old: types.CodeType
) -> Iterator[tuple[types.CodeType, types.CodeType]]:
    """Code of the functions in a function, after and before it was rewritten.

    They are found by name, line and number of arguments; of several alike, in their order.
    """
    found = [_functions_in(code) for code in (new, old)]
    for key, rewritten in found[0].items():
        original = found[1].get(key, [])
        if len(original) == len(rewritten):
            for pair in zip(rewritten, original, strict=True):
                yield pair
                yield from codes_by_rewritten(*pair)


def _functions_in(code: types.CodeType) -> dict[tuple[str, int, int], list[types.CodeType]]:
    found: dict[tuple[str, int, int], list[types.CodeType]] = {}
    for const in code.co_consts:
        if isinstance(const, types.CodeType):
            key = const.co_name, const.co_firstlineno, const.co_argcount
            found.setdefault(key, []).append(const)
    return found


def compiled_form(fn: types.FunctionType, located: Located) -> Rewritten | Refused:
    """Code of a definition that another one has been made of, with its hooks as a constant."""
    code, node = fn.__code__, located.node
    assert isinstance(node, ast.FunctionDef), "a form of a function"
    definition = ast.FunctionDef(
        name=code.co_name,
        args=_bare_arguments(node.args),
        body=node.body,
        decorator_list=_placeholder_decorators(node),
    )
    definition = HooksAsConstant().visit(placed(definition, node))
    try:
        module = _module_around(definition, code, located)
        compiled = compile_module(module, code.co_filename, future_flags(code))
    except Refusal as refusal:
        return refusal.refused
    except (SyntaxError, ValueError, RecursionError):
        return Refused("unknown-syntax", code.co_firstlineno)
    new = _code_within(compiled, code.co_qualname)
    return Rewritten(new, code.co_freevars, frozenset(nested_codes(new)), direct=True)


def bind(rewritten: Rewritten, fn: types.FunctionType, hooks: Any) -> types.FunctionType:
    """The rewritten function with the globals, cells, defaults and names of ``fn``."""
    cells = dict(zip(fn.__code__.co_freevars, fn.__closure__ or (), strict=True))
    cells[RUNTIME] = types.CellType(hooks)
    closure = tuple(cells[name] for name in rewritten.code.co_freevars)
    code = with_hooks(rewritten.code, hooks) if rewritten.direct else rewritten.code
    bound = types.FunctionType(code, fn.__globals__, fn.__name__, fn.__defaults__, closure)
    bound.__kwdefaults__ = fn.__kwdefaults__
    copy_annotations(fn, bound)
    bound.__qualname__ = fn.__qualname__
    bound.__module__ = fn.__module__
    bound.__doc__ = fn.__doc__
    bound.__dict__.update(fn.__dict__)
    return bound


def copy_annotations(fn: Any, to: Any) -> None:
    """Give a function the annotations of another; deferred ones (from Python 3.14 on) stay so."""
    if hasattr(fn, "__annotate__"):
        to.__annotate__ = fn.__annotate__
    else:
        to.__annotations__ = fn.__annotations__


def _rewritten_definition(
    fn: types.FunctionType,
    located: Located,
    handlers: Mapping[type[ast.AST], Handler],
    loops: Mapping[ast.AST, LoopSource],
) -> ast.FunctionDef:
    """The definition without defaults and annotations: ``bind`` takes them from ``fn``."""
    code, node = fn.__code__, located.node
    refuse_type_parameters(node)
    rewriter = NodeRewriter(
        handlers,
        Scopes(frozenset(code.co_freevars), located.class_name),
        is_builtin=lambda name: _is_builtin(fn, name),
        is_module=lambda name: isinstance(fn.__globals__.get(name), types.ModuleType),
        is_helper=lambda name: _has_loops(_outside(fn, name)),
        package=fn.__globals__.get("__package__") or "",
        annotations_are_text=bool(code.co_flags & __future__.annotations.compiler_flag),
        loops=loops,
        rests=None if handlers is DIRECT else direct_loop,
    )
    definition = ast.FunctionDef(
        name=code.co_name,
        args=_bare_arguments(node.args),
        body=(direct_body if handlers is DIRECT else function_body)(rewriter, node),
        decorator_list=_placeholder_decorators(node),
    )
    return placed(definition, node)


def _outside(fn: types.FunctionType, name: str) -> Any:
    """Value of a variable that a function does not set itself."""
    code = fn.__code__
    if name in code.co_freevars and fn.__closure__:
        cell = fn.__closure__[code.co_freevars.index(name)]
        return None if cell == types.CellType() else cell.cell_contents
    is_local = name in code.co_varnames or name in code.co_cellvars
    return None if is_local else fn.__globals__.get(name)


def _has_loops(fn: Any) -> bool:
    """True if a value is a function of the program whose own code has loops."""
    if type(fn) is not types.FunctionType or is_installed(fn):
        return False
    return any("JUMP_BACKWARD" in each.opname for each in dis.get_instructions(fn.__code__))


def where_found(code: types.CodeType, name: str) -> str:
    """Where a function finds a name."""
    if name in code.co_varnames or name in code.co_cellvars:
        return "local"
    return "free" if name in code.co_freevars else "glob"


def _is_builtin(fn: types.FunctionType, name: str) -> bool:
    builtin = getattr(builtins, name, None)
    return builtin is not None and fn.__globals__.get(name, builtin) is builtin


def _bare_arguments(args: ast.arguments) -> ast.arguments:
    for_each = {
        parameter: placed(ast.arg(parameter.arg), parameter) for parameter in parameters(args)
    }
    return ast.arguments(
        posonlyargs=[for_each[parameter] for parameter in args.posonlyargs],
        args=[for_each[parameter] for parameter in args.args],
        vararg=args.vararg and for_each[args.vararg],
        kwonlyargs=[for_each[parameter] for parameter in args.kwonlyargs],
        kw_defaults=[None for _ in args.kw_defaults],
        kwarg=args.kwarg and for_each[args.kwarg],
        defaults=[],
    )


def _placeholder_decorators(node: FunctionNode) -> list[ast.expr]:
    """Something at the first decorator: the code's first line is there."""
    decorators = [] if isinstance(node, ast.Lambda) else node.decorator_list
    return [constant(None, decorator) for decorator in decorators[:1]]


def _module_around(
    definition: ast.FunctionDef, code: types.CodeType, located: Located
) -> ast.Module:
    """A module in which the definition gets its qualified name and its private names.

    Around it stand empty functions and classes of the original names, and around these a function
    whose parameters are the free variables. Nothing of it is ever run.
    """
    names = code.co_qualname.split(".")
    outer = [(name, after == "<locals>") for name, after in itertools.pairwise(names)]
    outer = [(name, is_function) for name, is_function in outer if name != "<locals>"]
    classes = [name for name, is_function in outer if not is_function]
    if (classes[-1] if classes else None) != located.class_name:
        raise Refusal("private-names", located.first_line)
    inner: ast.stmt = definition
    for name, is_function in reversed(outer):
        inner = _function(name, [], [inner]) if is_function else _class(name, inner)
    # A name declared global is not qualified by the function around it.
    first = placed(ast.Global([names[0]]), inner)
    factory = _function("<factory>", [RUNTIME, *code.co_freevars], [first, inner])
    return ast.Module([factory], [])


def _function(name: str, params: list[str], body: list[ast.stmt]) -> ast.FunctionDef:
    args = [placed(ast.arg(param), body[0]) for param in params]
    arguments = ast.arguments([], args, None, [], [], None, [])
    function = ast.FunctionDef(name=name, args=arguments, body=body, decorator_list=[])
    return placed(function, body[0])


def _class(name: str, inner: ast.stmt) -> ast.ClassDef:
    class_ = ast.ClassDef(name=name, bases=[], keywords=[], body=[inner], decorator_list=[])
    return placed(class_, inner)


def _code_within(module: types.CodeType, qualname: str) -> types.CodeType:
    code = module
    for name in ("<factory>", *(name for name in qualname.split(".") if name != "<locals>")):
        consts = (const for const in code.co_consts if isinstance(const, types.CodeType))
        code = next(const for const in consts if const.co_name == name)
    return code
