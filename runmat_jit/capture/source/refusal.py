"""Reason why a function cannot be rewritten."""

from runmat_jit.core.frozen import frozen
from runmat_jit.core.reasons import require_cause


@frozen
class Refused:
    """The function runs as plain Python.

    Attributes:
        reason: A row of the table of reasons, for example ``"stores-global"``.
        line: The line in the user's file.

    """

    reason: str
    line: int

    def __post_init__(self) -> None:
        require_cause(self.reason)


class Refusal(Exception):  # noqa: N818, it is caught inside the package and becomes a value
    """Raised where a node has no exact rewriting."""

    def __init__(self, reason: str, line: int) -> None:
        super().__init__(reason, line)
        self.refused = Refused(reason, line)
