"""Classes: read with the first program that defines one."""

from __future__ import annotations

from typing import TypeAlias

from matlab_frontend.nodes.expressions import Expression
from matlab_frontend.nodes.node import Node
from matlab_frontend.nodes.program import ArgumentDeclaration, Function
from runmat_jit.core.frozen import frozen

Attributes: TypeAlias = tuple[tuple[str, str], ...]
"""``(Access = private, Static)``: names and values, ``true`` where none is written."""


@frozen
class EnumerationMember(Node):
    """``Name`` or ``Name (arguments)`` of an enumeration."""

    name: str
    arguments: tuple[Expression, ...]


@frozen
class ClassBlock(Node):
    """``properties``, ``methods``, ``enumeration`` or ``events`` of a class."""

    kind: str
    attributes: Attributes
    properties: tuple[ArgumentDeclaration, ...]
    functions: tuple[Function, ...]
    members: tuple[EnumerationMember, ...]
    signatures: tuple[str, ...]
    """Names of methods that are declared and not defined, and of events."""


@frozen
class ClassDefinition(Node):
    """``classdef (attributes) Name < parents``; methods of properties are named ``get.Name``."""

    name: str
    attributes: Attributes
    parents: tuple[str, ...]
    blocks: tuple[ClassBlock, ...]
