"""The table of reasons; oracles: the identifiers written in the source text, and the rows' form."""

import ast
import re
from pathlib import Path

import pytest

from runmat_jit.capture.source.refusal import Refused
from runmat_jit.capture.tape.entries import Effect
from runmat_jit.core.reasons import CAUSES, Reason

PACKAGE = Path(__file__).parents[2] / "runmat_jit"
NAMED_BY = {"effect", "Reason", "Effect", "Refusal", "Refused", "NotCapturable"}


def used():
    """The first argument of every call that names a reason, where it is a text."""
    found = {}
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call) or not node.args:
                continue
            name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            first = node.args[0]
            if name in NAMED_BY and isinstance(first, ast.Constant):
                found.setdefault(first.value, f"{path.name}:{node.lineno}")
    return found


def test_every_reason_in_the_code_is_in_the_table():
    unknown = {name: place for name, place in used().items() if re.fullmatch(r"[a-z-]+", name)}
    assert {name: place for name, place in unknown.items() if name not in CAUSES} == {}


def test_every_row_of_the_table_is_used_in_the_code():
    text = "".join(
        path.read_text(encoding="utf-8")
        for path in PACKAGE.rglob("*.py")
        if path.name != "reasons.py"
    )
    assert [name for name in CAUSES if f'"{name}"' not in text] == []


@pytest.mark.parametrize("make", [Reason, lambda *a: Effect(*a, None), lambda a, _: Refused(a, 1)])
def test_an_unknown_reason_is_an_error(make):
    with pytest.raises(AssertionError, match="no reason of the table"):
        make("some-reason", "with a detail")


@pytest.mark.parametrize("cause", CAUSES.values(), ids=lambda cause: cause.id)
def test_a_row_is_a_name_and_two_sentences(cause):
    assert re.fullmatch(r"[a-z]+(-[a-z]+)*", cause.id)
    for sentence in (cause.cause, cause.hint):
        assert sentence[0].isupper() or sentence[0] == "`"
        assert sentence.endswith(".")
        assert len(sentence) <= 200
