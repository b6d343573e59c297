"""Object code kept between processes: one file for each text, machine and version of LLVM."""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
from pathlib import Path

VERSION = 1
"""To be raised where compiling changes without the text changing: passes, relocation, layout."""

_DIGEST_BYTES = 32


class ObjectCache:
    """Files in a directory of the user's; a damaged, unreadable or missing one is a miss.

    Writers replace files whole, so processes may share the directory without locks.

    Args:
        directory: Where the files lie; made (for this user alone) by the first write.
        limit_bytes: About how much may lie there; the files used least recently go first.

    """

    def __init__(self, directory: Path, limit_bytes: int = 256 << 20) -> None:
        self.directory, self.limit_bytes = directory, limit_bytes
        self.hits = self.misses = self._puts = 0

    @staticmethod
    def key(*parts: object) -> str:
        """The name of an entry: a digest of everything that decides its contents."""
        digest = hashlib.sha256()
        for part in (VERSION, *parts):
            text = str(part).encode()
            digest.update(len(text).to_bytes(8, "little") + text)
        return digest.hexdigest()

    def get(self, key: str) -> bytes | None:
        """The contents of an entry; None where there is none that is whole."""
        path = self._path(key)
        try:
            data = path.read_bytes()
            os.utime(path)  # used now
        except OSError:
            data = b""
        contents = data[_DIGEST_BYTES:]
        if hashlib.sha256(contents).digest() != data[:_DIGEST_BYTES]:
            self.misses += 1
            return None
        self.hits += 1
        return contents

    def put(self, key: str, contents: bytes) -> None:
        """Keep an entry, if the disk lets us."""
        with contextlib.suppress(OSError):
            self.directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(dir=self.directory, suffix=".part")
            try:
                with os.fdopen(handle, "wb") as file:
                    file.write(hashlib.sha256(contents).digest() + contents)
                Path(name).replace(self._path(key))
            except OSError:
                Path(name).unlink(missing_ok=True)
                raise
            self._prune()

    def clear(self) -> None:
        """Delete every entry."""
        for path in self._entries():
            path.unlink(missing_ok=True)

    def nbytes(self) -> int:
        """Bytes that the entries take."""
        return sum(path.stat().st_size for path in self._entries())

    def _entries(self) -> list[Path]:
        return list(self.directory.glob("*.o"))

    def _path(self, key: str) -> Path:
        return self.directory / f"{key}.o"

    def _prune(self) -> None:
        """Delete what was not used for longest, down to half the limit.

        Only at the first and every 64th entry of a process: listing a full directory takes longer
        than compiling.
        """
        self._puts += 1
        if self._puts % 64 and self._puts != 1:
            return
        facts = sorted(((p, p.stat()) for p in self._entries()), key=lambda pair: pair[1].st_mtime)
        excess = sum(stat.st_size for _, stat in facts) - self.limit_bytes
        if excess <= 0:
            return
        excess += self.limit_bytes // 2
        for path, stat in facts:
            if excess <= 0:
                return
            path.unlink(missing_ok=True)
            excess -= stat.st_size
