"""Where a program finds files: its own folder, the current folder, and the search path."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path


class SearchPath:
    """Folders in the order in which functions and files are looked for.

    The current folder belongs to the run: ``cd`` changes it here and leaves that of the process.

    Attributes:
        home: The folder of the program's own file, which comes first.
        current: The current folder.
        added: Folders of ``addpath``.
        version: Counts the changes after which a name may mean another file.

    """

    def __init__(self, home: tuple[Path, ...] = (), current: Path | None = None) -> None:
        self.home = home
        self.current = Path.cwd() if current is None else current
        self.added: list[Path] = []
        self.version = 0

    def folders(self) -> Iterator[Path]:
        """All folders, each once."""
        yield from dict.fromkeys((*self.home, self.current, *self.added))

    def resolve(self, name: str) -> Path:
        """The path that a name means, as seen from the current folder."""
        path = Path(name)
        return self.current / (path.expanduser() if name.startswith("~") else path)

    def find(self, name: str) -> Path | None:
        """An existing file or folder of a name, in the current folder or on the path."""
        candidates = (self.resolve(name), *(folder / name for folder in self.folders()))
        return next((path for path in candidates if path.exists()), None)

    def go(self, folder: Path) -> None:
        """Change the current folder."""
        self.current = folder
        self.version += 1

    def changed(self) -> None:
        """Look for functions anew: files came or went."""
        self.version += 1
