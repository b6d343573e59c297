"""The rewrite engine: rules as data, applied bottom-up to a fixed point without recursion."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field

from runmat_jit.core.frozen import frozen
from runmat_jit.core.slotted import slotted
from runmat_jit.core.source import SourceLine
from runmat_jit.graph.node import Graph, GraphBuilder, Node, Output
from runmat_jit.passes.events import reports_events

Replace = Callable[[Node], Node | None]


@frozen
class Rule:
    """A law that lets one computation stand for another, bit for bit.

    ``replace`` gives a node equal to its argument, or None where the law does not apply. It may
    make new nodes freely; the engine interns them and rewrites them in turn. A rule that ``drops``
    may leave operands uncomputed, and with them the floating-point events they would report.
    """

    ops: tuple[str, ...]
    law: str
    replace: Replace
    drops: bool = False

    @property
    def name(self) -> str:
        return self.replace.__name__


def rule(*ops: str, law: str, drops: bool = False) -> Callable[[Replace], Rule]:
    """Declare the function below as a rule about ``ops``."""
    return lambda replace: Rule(ops, law, replace, drops)


def rewrite(graph: Graph, rules: Sequence[Rule]) -> Graph:
    """Apply ``rules`` until none applies. Operands first, rules in their order.

    A replacement takes the user's line of what it replaces. Should dropping rules leave something
    uncomputed that may report a floating-point event, they are not applied to this graph at all.
    """
    by_op = _by_op(rules)
    if all(_replacement(node, by_op) is None for node in graph.nodes):
        return graph
    rewriting = _Rewriting(by_op)
    result = rewriting.run(graph)
    kept = [each for each in rules if not each.drops]
    if len(kept) < len(rules) and rewriting.loses_events(graph, result):
        return _Rewriting(_by_op(kept)).run(graph)
    return result


@slotted
class _Rewriting:
    """``final`` maps a node to its fixed point.

    A node that was replaced waits: ``waiting`` has it as this builder knows it, and what it waits
    for.
    """

    rules: Mapping[str, Sequence[Rule]]
    builder: GraphBuilder = field(default_factory=GraphBuilder)
    final: dict[Node, Node] = field(default_factory=dict)
    waiting: dict[Node, tuple[Node, Node]] = field(default_factory=dict)
    replaced: set[Node] = field(default_factory=set)

    def run(self, graph: Graph) -> Graph:
        for node in graph.inputs:
            self.final[node] = self.builder.adopt_input(node)
        for node in graph.nodes:
            self.finish(node)
        return self.builder.finish(
            Output(self.final[output.node], output.target) for output in graph.outputs
        )

    def finish(self, root: Node) -> None:
        """Bring ``root``, and whatever it or its replacements need, to the fixed point."""
        stack: list[tuple[Node, SourceLine | None]] = [(root, root.line)]
        while stack:
            node, line = stack[-1]
            if node in self.final:
                stack.pop()
            elif node in self.waiting:
                new, step = self.waiting.pop(node)
                assert step in self.final, f"a rule about {new.op.name} needs what it replaces"
                self.final[node] = self.final[new] = self.final[step]
            elif missing := [arg for arg in node.args if arg not in self.final]:
                stack.extend((arg, arg.line or line) for arg in reversed(missing))
            else:
                before = self.step(node, line)
                if before is not None:
                    stack.append((before, before.line or line))

    def step(self, node: Node, line: SourceLine | None) -> Node | None:
        """Finish a node whose operands are finished, or give what is to be finished before."""
        new = self.intern(node, line)
        if new in self.final:
            self.final[node] = self.final[new]
            return None
        assert new not in self.replaced, f"the rules about {new.op.name} undo each other"
        step = _replacement(new, self.rules)
        if step is None:
            self.final[node] = self.final[new] = new
        else:
            self.waiting[node] = new, step
            self.replaced.add(new)
        return step

    def intern(self, node: Node, line: SourceLine | None) -> Node:
        args = tuple(map(self.final.__getitem__, node.args))
        if args == node.args and (node.line is not None or line is None):
            return self.builder.adopt(node)
        return self.builder.make(node.op, args, node.params, node.type, node.line or line)

    def loses_events(self, graph: Graph, result: Graph) -> bool:
        """Is something left out that might have reported a floating-point event?"""
        live = set(result.nodes)
        return any(self.final[n] not in live for n in graph.nodes if reports_events(n))


def _replacement(node: Node, rules: Mapping[str, Sequence[Rule]]) -> Node | None:
    """What the first rule that applies makes of a node."""
    for candidate in rules.get(node.op.name, ()):
        found = candidate.replace(node)
        if found is not None and found is not node:
            assert found.type == node.type, f"{candidate.name}: {node} is not {found}"
            return found
    return None


def _by_op(rules: Sequence[Rule]) -> dict[str, list[Rule]]:
    found: dict[str, list[Rule]] = {}
    for each in rules:
        for op in each.ops:
            found.setdefault(op, []).append(each)
    return found
