"""Files that nobody but this user (and root) can have written, as what is run as code must be.

A digest tells damage; only the owner and the permissions tell who wrote a file. Nothing here waits:
a FIFO or a device in the place of a file is an error as any other.
"""

from __future__ import annotations

import os
import stat
from functools import reduce
from operator import or_
from pathlib import Path
from typing import Final

_FLAGS: Final = reduce(
    or_,
    (  # not each of them exists on every system
        getattr(os, name, 0)
        for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_NOCTTY", "O_CLOEXEC", "O_BINARY")
    ),
    os.O_RDONLY,
)
_OTHERS_WRITE: Final = stat.S_IWGRP | stat.S_IWOTH


class NotPrivateError(OSError):
    """Somebody else may have put a file into its place; the message says where."""


def read_private(path: Path, limit_bytes: int) -> bytes:
    """The contents of a file that this user or root has written.

    Raises:
        FileNotFoundError: there is none.
        NotPrivateError: others can have written it, or it is no file of at most ``limit_bytes``.
        OSError: it cannot be read.

    """
    handle = os.open(private_directory(path.parent) / path.name, _FLAGS)
    try:
        facts = os.fstat(handle)
        if not stat.S_ISREG(facts.st_mode):
            raise NotPrivateError(f"{path} is no regular file")
        _require_ours(path, facts, _OTHERS_WRITE)
        if facts.st_size > limit_bytes:
            raise NotPrivateError(f"{path} is too large ({facts.st_size} bytes)")
        with open(handle, "rb", closefd=False) as file:
            return file.read(facts.st_size)
    finally:
        os.close(handle)


def write_private(path: Path, contents: bytes) -> None:
    """Put a file in place, whole: readers see the one before or this one.

    Directories that are missing are made for this user alone.

    Raises:
        NotPrivateError: others could replace the file.
        OSError: it cannot be written.

    """
    directory = private_directory(path.parent, missing_ok=True)
    part = directory / f"{os.urandom(16).hex()}.part"
    handle = new_file(part)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(contents)
        part.replace(directory / path.name)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def new_file(path: Path) -> int:
    """Handle of a file for this user alone that nobody has made before."""
    flags = (_FLAGS & ~os.O_RDONLY) | os.O_WRONLY | os.O_CREAT | os.O_EXCL
    return os.open(path, flags, 0o600)


def private_directory(path: Path, *, missing_ok: bool = False) -> Path:
    """The directory without symbolic links, in which nobody else can put or replace a file.

    All directories above it count: who can rename one of them can replace all below it. In a
    directory with the sticky bit (``/tmp``) only the owner of an entry can.

    Raises:
        FileNotFoundError: there is none, and none is to be made.
        NotPrivateError: others can write to it, or replace it.
        OSError: it cannot be asked for, or not be made.

    """
    real = Path(os.path.realpath(path))
    for step in (*reversed(real.parents), real):
        try:
            facts = step.lstat()
        except FileNotFoundError:
            if not missing_ok:
                raise
            step.mkdir(mode=0o700)
            facts = step.lstat()
        if not stat.S_ISDIR(facts.st_mode):
            raise NotADirectoryError(f"{step} is no directory")
        keeps = step != real and facts.st_mode & stat.S_ISVTX
        _require_ours(step, facts, 0 if keeps else _OTHERS_WRITE)
    return real


def _require_ours(path: Path, facts: os.stat_result, forbidden: int) -> None:
    """Raise where others own a file or directory, or have one of the forbidden permissions."""
    if not hasattr(os, "geteuid"):  # Windows: a user's directories are private, by other means
        return
    if facts.st_uid not in (0, os.geteuid()):
        raise NotPrivateError(f"{path} belongs to another user (uid {facts.st_uid})")
    if facts.st_mode & forbidden:
        mode = stat.S_IMODE(facts.st_mode)
        raise NotPrivateError(f"others can write to {path} (mode {mode:o})")
