"""In some packages no module imports another that imports it, for types neither."""

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "runmat_jit"


def modules(package):
    found = {}
    for path in (PACKAGE / package).rglob("*.py"):
        parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
        if parts[-1] != "__init__":
            found[".".join(parts)] = path
    return found


def imports_of(path, package, known):
    """The modules of a package that a file imports anywhere, in functions and for types too."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(package):
            for name in node.names:
                full = f"{node.module}.{name.name}"
                yield full if full in known else node.module


def cycle_in(graph):
    """The modules of a cycle; none where there is no cycle."""
    left = {module: set(needed) & graph.keys() for module, needed in graph.items()}
    while left:
        free = [module for module, needed in left.items() if not needed & left.keys()]
        if not free:
            return sorted(left)
        for module in free:
            del left[module]
    return []


@pytest.mark.parametrize("package", ["capture", "loops"])
def test_a_package_has_no_import_cycle(package):
    known = modules(package)
    root = f"{PACKAGE.name}.{package}"
    graph = {name: set(imports_of(path, root, known)) - {name} for name, path in known.items()}
    assert len(graph) > 40
    assert any(graph.values())
    assert cycle_in(graph) == []


def test_a_cycle_would_be_found():
    assert cycle_in({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": set()}) == ["a", "b", "c"]
    assert cycle_in({"a": {"b"}, "b": set()}) == []
