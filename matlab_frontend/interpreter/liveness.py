"""Variables that nothing reads any more after a statement, so that they need not be computed.

Backward over the statements of one function: a variable is live where some way on from there reads
it before it is assigned as a whole. What cannot be told from the text is taken to read everything.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import field
from typing import TypeAlias

from matlab_frontend import nodes
from matlab_frontend.interpreter.captures import below
from runmat_jit.core.frozen import frozen
from runmat_jit.core.slotted import slotted

Names: TypeAlias = frozenset[str]
_NONE: Names = frozenset()
_BY_TEXT = frozenset(
    (
        "eval",
        "evalc",
        "evalin",
        "assignin",
        "who",
        "whos",
        "save",
        "load",
        "isvarname",
        "run",
        "keyboard",
    )
)
"""Functions that read variables by names that are computed."""


def dead_names(
    body: nodes.Block,
    results: Names | None,
    is_read_elsewhere: Callable[[Names], bool] = lambda _: False,
) -> Mapping[int, tuple[str, ...]]:
    """For the identity of each statement the names that nothing reads after it.

    Args:
        body: The statements of a function or a script.
        results: What is read at the end; None for everything.
        is_read_elsewhere: Whether code that some names call, such as a script, reads variables.

    """
    found = list(below(body))
    names = _mentioned(found)
    if names & _BY_TEXT or any(map(_asks_by_text, found)) or is_read_elsewhere(names):
        return {}
    shared = {name for node in found if isinstance(node, _SHARED) for name in node.names}
    made = _Liveness(frozenset(shared), names if results is None else results)
    made.block(body, _Ways(made.results, made.results, made.results))
    return made.dead


_SHARED = (nodes.Global, nodes.Persistent)
_LITERALS = (nodes.CharLiteral, nodes.StringLiteral)


@frozen
class _Ways:
    """What is live after a statement, and after the loop, or its step, around it.

    ``always`` is live throughout: what a handler reads when an error leads there.
    """

    after: Names
    end: Names
    step: Names
    always: Names = _NONE


@slotted
class _Liveness:
    shared: Names
    results: Names
    dead: dict[int, tuple[str, ...]] = field(default_factory=dict)
    known: dict[int, Names] = field(default_factory=dict)

    def mentioned(self, *parts: nodes.Node) -> Names:
        """Names anywhere in some nodes, each of which is walked once."""
        made = _NONE
        for part in parts:
            names = self.known.get(id(part))
            if names is None:
                names = self.known[id(part)] = _mentioned(below(part))
            made = made | names if made else names
        return made

    def block(self, block: nodes.Block, ways: _Ways) -> Names:
        """What is live before some statements."""
        live = ways.after | ways.always
        for statement in reversed(block):
            touched = self.touched(statement) - self.shared - live
            self.dead[id(statement)] = tuple(sorted(touched))
            here = _Ways(live, ways.end, ways.step, ways.always)
            live = _joined(self.before(statement, here), ways.always)
        return live

    def touched(self, statement: nodes.Statement) -> Names:
        """Names anywhere in a statement."""
        match statement:
            case nodes.Assignment(targets=(nodes.Name(name=name),)):
                return self.mentioned(statement.value) | {name}
        return self.mentioned(statement)

    def before(self, node: nodes.Statement, ways: _Ways) -> Names:
        """What is live before a statement."""
        match node:
            case nodes.Assignment(targets=(nodes.Name(name=name),)):
                read = self.mentioned(node.value)
                kept = (
                    ways.after - {name} if name in ways.after and name not in read else ways.after
                )
                return _joined(kept, read)
            case nodes.If():
                arms = [self.block(arm.body, ways) for arm in node.branches]
                tests = self.mentioned(*(arm.condition for arm in node.branches))
                return self.block(node.otherwise, ways).union(tests, *arms)
            case nodes.Switch():
                arms = [self.block(arm.body, ways) for arm in node.cases]
                tests = self.mentioned(node.subject, *(arm.value for arm in node.cases))
                return self.block(node.otherwise, ways).union(tests, *arms)
            case nodes.For():
                return self.loop(node.body, ways, self.mentioned(node.target, node.columns))
            case nodes.While() | nodes.DoUntil():
                return self.loop(node.body, ways, self.mentioned(node.condition))
            case nodes.Try() | nodes.UnwindProtect():
                handler = node.handler if isinstance(node, nodes.Try) else node.cleanup
                caught = self.block(handler, ways)
                tried = _Ways(ways.after, ways.end, ways.step, ways.always | caught)
                return self.block(node.body, tried) | caught
            case nodes.Return():
                return self.results
            case nodes.Break():
                return ways.end
            case nodes.Continue():
                return ways.step
        return _joined(ways.after, self.mentioned(node))

    def loop(self, body: nodes.Block, ways: _Ways, head: Names) -> Names:
        """A loop's body comes after itself, until nothing is added."""
        live = ways.after | head
        while True:
            inner = _Ways(live, ways.after, live, ways.always)
            found = live | self.block(body, inner)
            if found == live:
                return live
            live = found


def _joined(names: Names, others: Names) -> Names:
    """Both; long scripts have many names, which are not copied where nothing is added."""
    return names if others <= names else names | others


def _asks_by_text(node: nodes.Node) -> bool:
    """``exist(x)`` with a name that is computed."""
    if not isinstance(node, nodes.Index) or not isinstance(node.target, nodes.Name):
        return False
    literal = isinstance(node.arguments[0], _LITERALS) if node.arguments else False
    return node.target.name == "exist" and not literal


def _mentioned(parts: Iterable[nodes.Node]) -> Names:
    """Names among some nodes, texts that could be names included."""
    found = set()
    for node in parts:
        if isinstance(node, nodes.Name | nodes.FunctionHandle):
            found.add(node.name)
        elif isinstance(node, _LITERALS):
            found.add(node.text)
        elif isinstance(node, nodes.Command):
            found.update((node.name, *node.words))
        elif isinstance(node, nodes.Try) and node.error is not None:
            found.add(node.error)
    return frozenset(found)
