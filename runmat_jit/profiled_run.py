"""One run of a script whose functions are timed, plain or decorated: a process of its own.

``python -m runmat_jit.profiled_run ORDER RESULT script.py [arguments]``, both JSON files:

- ORDER: ``{"plain": bool, "left": [function, ...]}``. A plain run times every function; in another
  one, all functions but those of ``left`` are decorated.
- RESULT: the tree of calls (see :class:`CallNode`), and what explanations of the functions say.

A function is named ``file:line:qualified name``. Functions at the top level of a module and methods
of its classes are wrapped, in the script and in modules that lie beside it; generators and
coroutines are not.
"""

from __future__ import annotations

import ast
import functools
import json
import sys
import threading
import types
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import field
from importlib.machinery import FileFinder, SourceFileLoader
from pathlib import Path
from time import perf_counter
from typing import Any, Final

from runmat_jit.core.slotted import slotted_object
from runmat_jit.core.wording import count
from runmat_jit.jit_function import JitFunction

MARK: Final = "__runmat_profiled__"
"""The name of the decorator that is added to each function."""
DEFAULTS: Final = {"device": None, "precision": "exact", "fullgraph": False, "compile": None}
"""Options of ``@runmat.jit`` without arguments."""
_TRANSPARENT: Final = frozenset(
    ("staticmethod", "classmethod", "property", "setter", "cache", "lru_cache", "jit")
)
"""Decorators that take what a decorated function is; under others functions stay as they are."""
_INSTALLED: Final = ("site-packages", "dist-packages")
_CALIBRATED, _PARTS = 20_000, 20
"""Calls that are timed, and in how many parts: the least time of a part counts."""


@slotted_object
class CallNode:
    """Calls of one function from one chain of callers: a node of the tree of calls.

    Recursive calls belong to the outermost one.
    """

    function: str
    parent: CallNode | None
    calls: int = 0
    seconds: float = 0.0
    first: float = 0.0
    """The seconds of the first call; all seconds are with those of callees."""
    children: dict[str, CallNode] = field(default_factory=dict)

    def of(self, function: str) -> CallNode:
        """Return the node of a function that is called here."""
        found = self.children.get(function)
        if found is None:
            found = self.children[function] = CallNode(function, self)
        return found

    def has(self, function: str) -> bool:
        """Return True if the function is this one or one of its callers."""
        node: CallNode | None = self
        while node is not None:
            if node.function == function:
                return True
            node = node.parent
        return False


class Timer:
    """The tree of the calls of a run, of its main thread."""

    def __init__(self) -> None:
        self.root = self.now = CallNode("", None)
        self.thread = threading.get_ident()

    def call(self, name: str, function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        """Make a call, and add its time to the tree."""
        parent = self.now
        if threading.get_ident() != self.thread or parent.has(name):
            return function(*args, **kwargs)
        node = self.now = parent.of(name)
        start = perf_counter()
        try:
            return function(*args, **kwargs)
        finally:
            seconds = perf_counter() - start
            self.now = parent
            node.calls += 1
            node.seconds += seconds
            if node.calls == 1:
                node.first = seconds


class ScriptRun:
    """The functions of a script, timed or decorated."""

    def __init__(
        self, *, plain: bool, left: Iterable[str] = (), options: Mapping[str, Any] = DEFAULTS
    ) -> None:
        self.plain, self.left, self.options = plain, set(left), dict(options)
        self.timer = Timer()
        self.decorated: dict[str, JitFunction[..., Any]] = {}
        self.timed_class = _timed(self.timer)

    def wrap(self, function: Any) -> Any:
        """Return what stands for a function in this run: the decorator that is added."""
        code = getattr(function, "__code__", None)
        if code is None:  # a class, or what another decorator has made
            return function
        name = f"{code.co_filename}:{code.co_firstlineno}:{function.__qualname__}"
        if self.plain:
            return functools.wraps(function)(_timing(self.timer, name, function))
        if name in self.left:
            return function
        made = self.decorated[name] = self.timed_class(function, name, self.options)
        return made

    def result(self, seconds: float) -> dict[str, Any]:
        """Return what the parent process reads."""
        called = {call.function for call in _nodes(self.timer.root)}
        return {
            "seconds": seconds,
            "overhead": _overhead() if self.plain else 0.0,
            "tree": _tree(self.timer.root),
            "said": {
                name: said_of(function)
                for name, function in self.decorated.items()
                if name in called
            },
        }


def _timing(timer: Timer, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    def timed(*args: Any, **kwargs: Any) -> Any:
        return timer.call(name, function, args, kwargs)

    return timed


def _timed(timer: Timer) -> Any:
    """Return the class of decorated functions whose outermost calls are timed."""

    class Timed(JitFunction[..., Any]):
        """A decorated function that times the calls that no other one makes."""

        def __init__(self, function: Any, name: str, options: dict[str, Any]) -> None:
            self._profiled_name = name
            super().__init__(function, dict(options))

        def __call__(self, *args: Any, **kwargs: Any) -> Any:
            found = vars(self)["__call__"]  # where what is called is put, as the class has its own
            if timer.now is not timer.root:
                return found(*args, **kwargs)
            return timer.call(self._profiled_name, found, args, kwargs)

    Timed.__name__ = JitFunction.__name__  # by which capture knows decorated functions
    return Timed


def end_timing(function: Any) -> None:
    """Make an ordinary decorated function of one that is timed."""
    entry = vars(function).pop("__call__")
    del function._profiled_name
    object.__setattr__(function, "__class__", JitFunction)
    object.__setattr__(function, "__call__", entry)


def said_of(function: JitFunction[..., Any]) -> dict[str, Any]:
    """Return what became of the calls of a function, in words."""
    explanations = function.explanations()
    last = explanations[-1] if explanations else function.unrecorded()
    if last is None:
        return {}
    native = sum(": natively" in loop for loop in last.loops)
    in_python = [loop for loop in last.loops if ": in Python" in loop]
    kernels = sum(region.kernels for region in last.regions)
    done = [count(kernels, "kernel")] if kernels else []
    done += [count(native, "native loop")] if native else []
    why = [*map(str, last.reasons), *(f"loop of {loop}" for loop in in_python), *last.notes]
    return {"mode": last.mode, "why": why, "done": ", ".join(done)}


def _nodes(root: CallNode) -> Iterator[CallNode]:
    for node in root.children.values():
        yield node
        yield from _nodes(node)


def _tree(root: CallNode) -> list[dict[str, Any]]:
    return [
        {
            "function": node.function,
            "calls": node.calls,
            "seconds": node.seconds,
            "first": node.first,
            "callees": _tree(node),
        }
        for node in root.children.values()
    ]


def _overhead() -> float:
    """Return the seconds that timing adds to a call, on a machine that does nothing else."""

    def nothing() -> None:
        pass

    def least(function: Callable[[], None]) -> float:
        times = []
        for _ in range(_PARTS):
            start = perf_counter()
            for _ in range(_CALIBRATED // _PARTS):
                function()
            times.append(perf_counter() - start)
        return min(times)

    timed = least(_timing(Timer(), "nothing", nothing))
    return max(0.0, timed - least(nothing)) * _PARTS / _CALIBRATED


# -- the script and the modules beside it ----------------------------------------------------------
class Wrapping(ast.NodeTransformer):
    """Adds the decorator to functions and methods; what they define inside stays."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        special = node.name.startswith("__") and node.name != "__call__"
        yields = any(isinstance(part, ast.Yield | ast.YieldFrom) for part in _own(node))
        if not special and not yields and all(map(_is_transparent, node.decorator_list)):
            mark = ast.Name(MARK, ast.Load(), lineno=node.lineno, col_offset=node.col_offset)
            node.decorator_list.append(ast.copy_location(mark, node))
        return node

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AsyncFunctionDef:
        return node

    def visit_Lambda(self, node: ast.Lambda) -> ast.Lambda:
        return node


def _is_transparent(decorator: ast.expr) -> bool:
    made = decorator.func if isinstance(decorator, ast.Call) else decorator
    return ast.unparse(made).rpartition(".")[2] in _TRANSPARENT


def _own(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the parts of a function that are not those of one inside."""
    for part in ast.iter_child_nodes(node):
        yield part
        if not isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef):
            yield from _own(part)


def wrapped_code(source: bytes | str, path: str) -> types.CodeType:
    """Return the code of a module whose functions have the decorator."""
    tree = Wrapping().visit(ast.parse(source, path))
    return compile(ast.fix_missing_locations(tree), path, "exec", dont_inherit=True)


def import_wrapped(directory: Path, run: ScriptRun) -> None:
    """Have modules below a directory imported with their functions wrapped."""

    class WrappingLoader(SourceFileLoader):
        """Reads the source of a module; compiled files know nothing of the decorator."""

        def get_code(self, fullname: str) -> types.CodeType:
            path = self.get_filename(fullname)
            return wrapped_code(self.get_data(path), path)

        def exec_module(self, module: types.ModuleType) -> None:
            vars(module)[MARK] = run.wrap
            super().exec_module(module)

    find = FileFinder.path_hook((WrappingLoader, [".py"]))

    def hook(entry: str) -> Any:
        path = Path(entry).resolve()
        if not path.is_relative_to(directory) or any(part in _INSTALLED for part in path.parts):
            raise ImportError(entry)
        return find(entry)

    sys.path_hooks.insert(0, hook)
    sys.path_importer_cache.clear()


def main(arguments: list[str]) -> None:
    """Run the script as ``__main__``, and write the result however it ends."""
    order, result, script, *rest = arguments
    run = ScriptRun(**json.loads(Path(order).read_text(encoding="utf-8")))
    path = Path(script).resolve()
    sys.argv = [script, *rest]
    sys.path[0] = str(path.parent)
    import_wrapped(path.parent, run)
    module = types.ModuleType("__main__")
    vars(module).update({"__file__": script, MARK: run.wrap})
    sys.modules["__main__"] = module
    code = wrapped_code(path.read_bytes(), str(path))
    start = perf_counter()
    try:
        exec(code, vars(module))  # noqa: S102  (the script is the user's, as for Python)
    finally:
        found = run.result(perf_counter() - start)
        Path(result).write_text(json.dumps(found), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
