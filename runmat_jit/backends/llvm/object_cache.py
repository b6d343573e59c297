"""Object code kept between processes: one file for each text, machine and version of LLVM.

Beside it lie programs, and what LLVM says of the machine, so that it need not be loaded.
"""

from __future__ import annotations

import contextlib
import os
import stat
import time
from pathlib import Path
from typing import Final

from runmat_jit.core.log import LOG
from runmat_jit.core.private_files import private_directory, read_private, write_private
from runmat_jit.core.sha256 import sha256

VERSION = 2
"""To be raised where compiling changes without the text changing: passes, relocation, layout."""

_DIGEST_BYTES: Final = 32
_ENTRY_BYTES: Final = 64 << 20
"""Of an entry, at most; the largest kernels take less than a hundredth of it."""
OBJECT, PROGRAM, HOST, PROFILE = ".o", ".program", ".host", ".profile"
"""Suffixes of entries: object code, how programs use it, what LLVM says of a machine, and what was
measured of it."""
_SUFFIXES: Final = (OBJECT, PROGRAM, HOST, PROFILE, ".part")
"""Of entries, and of what a process has left behind that was stopped while it wrote one."""

_LOOKED: Final = "looked"
"""A file that was written when the directory was last listed."""
_LATELY: Final = 3600.0
"""Seconds for which nobody need list it again."""


class ObjectCache:
    """Files in a directory of the user's; whatever is not an entry put there for a key is a miss.

    An entry is its contents behind a digest of the key and the contents: one that is damaged, or
    another key's, is not used. Nor is one that another user can have written (`private_files`).
    Writers replace files whole, so processes may share the directory without locks; it need not be
    writable. The first fault that is met is told in one line of the log.

    Args:
        directory: Where the files lie; made (for this user alone) by the first write.
        limit_bytes: About how much may lie there; the files used least recently go first.

    """

    def __init__(self, directory: Path, limit_bytes: int = 256 << 20) -> None:
        self.directory, self.limit_bytes = directory, limit_bytes
        self.hits = self.misses = self._puts = 0
        self._told = False

    @staticmethod
    def key(*parts: object) -> str:
        """The name of an entry: a digest of everything that decides its contents."""
        digest = sha256()
        for part in (VERSION, *parts):
            text = str(part).encode()
            digest.update(len(text).to_bytes(8, "little") + text)
        return digest.hexdigest()

    def get(self, key: str, suffix: str = OBJECT) -> bytes | None:
        """The contents of an entry; None where there is none that is whole, ours and this key's."""
        path = self.directory / f"{key}{suffix}"
        try:
            data = read_private(path, _ENTRY_BYTES)
        except FileNotFoundError:
            self.misses += 1
            return None
        except OSError as error:
            self.misses += 1
            self.tell(error)
            return None
        contents = data[_DIGEST_BYTES:]
        if _digest(key, contents) != data[:_DIGEST_BYTES]:
            self.misses += 1
            self.tell(f"{path} is damaged")
            return None
        with contextlib.suppress(OSError):  # a warmed cache may be read-only
            os.utime(path)  # used now
        self.hits += 1
        return contents

    def put(self, key: str, contents: bytes, suffix: str = OBJECT) -> None:
        """Keep an entry, if the disk lets us."""
        with contextlib.suppress(OSError):
            path = self.directory / f"{key}{suffix}"
            write_private(path, _digest(key, contents) + contents)
            self._prune()

    def tell(self, fault: object) -> None:
        """One line in the log for all faults: kernels are compiled instead."""
        if not self._told:
            self._told = True
            LOG.warning("Kept object code is not used: %s", fault)

    def _prune(self) -> None:
        """Delete what was not used for longest, down to half the limit.

        Only at every 64th entry of a process, and at the first one where nobody has looked for an
        hour: listing a full directory takes longer than compiling.
        """
        self._puts += 1
        if self._puts % 64 and (self._puts > 1 or self._looked_lately()):
            return
        facts = sorted(self._entries(), key=lambda pair: pair[1].st_mtime)
        excess = sum(each.st_size for _, each in facts) - self.limit_bytes
        if excess <= 0:
            return
        excess += self.limit_bytes // 2
        for path, each in facts:
            if excess <= 0:
                return
            with contextlib.suppress(OSError):  # another process may prune, too
                os.unlink(path)  # noqa: PTH108  (a path of thousands)
            excess -= each.st_size

    def _looked_lately(self) -> bool:
        """True if the directory was listed within the hour; from now on it was."""
        stamp = self.directory / _LOOKED
        with contextlib.suppress(FileNotFoundError):
            if abs(time.time() - stamp.stat().st_mtime) < _LATELY:
                return True
        write_private(stamp, b"")
        return False

    def _entries(self) -> list[tuple[str, os.stat_result]]:
        """The files of the cache, with their sizes and times."""
        found = []
        with os.scandir(private_directory(self.directory)) as entries:
            for entry in entries:
                with contextlib.suppress(OSError):  # gone meanwhile
                    facts = entry.stat(follow_symlinks=False)
                    if entry.name.endswith(_SUFFIXES) and stat.S_ISREG(facts.st_mode):
                        found.append((entry.path, facts))
        return found


def _digest(key: str, contents: bytes) -> bytes:
    """What an entry begins with; the length of a key is fixed, so that no two inputs are one."""
    return sha256(key.encode() + contents).digest()
