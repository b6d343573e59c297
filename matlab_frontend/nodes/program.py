"""Functions and files."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

from matlab_frontend.nodes.expressions import Expression
from matlab_frontend.nodes.node import Node
from matlab_frontend.nodes.statements import Block
from matlab_frontend.source import Source
from runmat_jit.core.frozen import frozen

if TYPE_CHECKING:
    from matlab_frontend.nodes.classes import ClassDefinition


@frozen
class ArgumentDeclaration(Node):
    """``name (dimensions) class {validators} = default`` in an ``arguments`` block.

    ``name`` keeps its dot in ``options.name``; ``dimensions`` is empty where none are declared.
    """

    name: str
    dimensions: tuple[Expression, ...]
    class_name: str | None
    validators: tuple[Expression, ...]
    default: Expression | None


@frozen
class ArgumentsBlock(Node):
    """``arguments ... end``; attributes are ``Input``, ``Output`` and ``Repeating``."""

    attributes: tuple[str, ...]
    declarations: tuple[ArgumentDeclaration, ...]


@frozen
class Function(Node):
    """``function [outputs] = name(inputs)``; an input that is not used is named ``IGNORED``.

    ``nested`` functions share the variables of the one that holds them.
    """

    name: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    body: Block
    arguments: tuple[ArgumentsBlock, ...]
    nested: tuple[Function, ...]


@frozen
class Program:
    """A file: a script has statements; a function file none, and its first function is its own.

    A file of a class has its definition, and functions that its methods may call.
    """

    source: Source = field(compare=False, repr=False)
    statements: Block
    functions: tuple[Function, ...]
    definition: ClassDefinition | None = None
