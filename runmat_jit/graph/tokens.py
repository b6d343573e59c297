"""The tokens of one line of a graph's text, and a cursor over them."""

from __future__ import annotations

import re
from typing import NoReturn

from runmat_jit.core.slotted import slotted

_TOKEN = re.compile(
    r"""\s*(?:
      (?P<reference>[%$]\d+)
    | (?P<number>-?(?:0x[0-9a-f]+|\d+(?:\.\d*)?(?:e[+-]?\d+)?|(?:inf|nan)\b(?!=)))
    | (?P<name>[A-Za-z_]\w*)
    | (?P<string>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")
    | (?P<mark>->|[()\[\]=:,])
    | (?P<end>(?:\#.*)?$)
    )""",
    re.VERBOSE,
)


class GraphSyntaxError(ValueError):
    """Text that is no graph; the message begins with line and column."""


@slotted
class TokenLine:
    """The tokens of a line (kind, text, column from 1); the last one has the kind ``end``."""

    number: int
    tokens: list[tuple[str, str, int]]
    position: int = 0

    @classmethod
    def of(cls, text: str, number: int) -> TokenLine:
        """Split a line.

        Raises:
            GraphSyntaxError: a character that begins no token.

        """
        tokens: list[tuple[str, str, int]] = []
        end = 0
        for match in _TOKEN.finditer(text):
            if match.start() != end:
                break
            kind, end = match.lastgroup or "end", match.end()
            tokens.append((kind, match[kind], match.start(kind) + 1))
        if not tokens or tokens[-1][0] != "end":
            column = end + len(text[end:]) - len(text[end:].lstrip()) + 1
            odd = text[column - 1]
            raise GraphSyntaxError(f"line {number}, column {column}: {odd!r} begins no token")
        return cls(number, tokens)

    @property
    def kind(self) -> str:
        return self.tokens[self.position][0]

    @property
    def text(self) -> str:
        return self.tokens[self.position][1]

    def take(self, kind: str) -> str:
        """The next token's text, which must be of ``kind``."""
        found, text, _ = self.tokens[self.position]
        if found != kind:
            self.fail(f"expected a {kind}")
        self.position += 1
        return text

    def integer(self) -> int:
        """The next token, which must be a whole number."""
        text = self.take("number")
        try:
            return int(text, 0)
        except ValueError:
            self.fail("expected an integer", back=1)

    def accept(self, text: str) -> bool:
        """Step over the next token if it is ``text``."""
        if self.tokens[self.position][1] != text or self.kind == "end":
            return False
        self.position += 1
        return True

    def expect(self, text: str) -> None:
        if not self.accept(text):
            self.fail(f"expected {text!r}")

    def fail(self, message: str, back: int = 0) -> NoReturn:
        """Raise an error at the next token, or at one ``back`` tokens before it."""
        kind, text, column = self.tokens[self.position - back]
        seen = "the end of the line" if kind == "end" else repr(text)
        raise GraphSyntaxError(f"line {self.number}, column {column}: {message}, found {seen}")
