"""Why a function cannot be rewritten."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Refused:
    """The function runs as plain Python.

    Attributes:
        reason: A stable identifier, for example ``"stores-global"``.
        line: The line in the user's file.

    """

    reason: str
    line: int


class Refusal(Exception):  # noqa: N818, it is caught inside the package and becomes a value
    """Raised where a node has no exact rewriting."""

    def __init__(self, reason: str, line: int) -> None:
        super().__init__(reason, line)
        self.refused = Refused(reason, line)
