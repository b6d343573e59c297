"""``python -m runmat_jit cache info | clear | prune``: what is kept between processes."""

from __future__ import annotations

import contextlib
import json
import sys
from pathlib import Path
from typing import Final

from runmat_jit.runtime.session import cache_directory, current_session

PARTS: Final = {
    "objects": "compiled kernels, and the programs made of them",
    "adapters": "what was found of adapters",
    "profiles": "what devices can do, as measured",
}
"""The directories in the cache's, and what lies there; nothing else is looked at, or deleted."""


def cache_command(action: str, *, as_json: bool = False, keep_bytes: int = 64 << 20) -> int:
    """Tell of the cache, or make it smaller; the exit status.

    Args:
        action: ``info``; ``clear``: delete all; ``prune``: delete the compiled code that was not
            used for longest, down to a size.
        as_json: Whether a JSON object is printed.
        keep_bytes: What ``prune`` leaves of compiled code, in bytes.

    """
    config = current_session().config
    if config.cache_dir == "none":
        sys.stdout.write("null\n" if as_json else "nothing is kept: cache_dir is none\n")
        return 0
    directory = cache_directory(config)
    deleted = 0
    if action == "clear":
        deleted = _delete([file for part in PARTS for file in _files(directory / part)], 0)
    elif action == "prune":
        deleted = _delete(_files(directory / "objects"), keep_bytes)
    found = {part: _facts(directory / part) for part in PARTS}
    if as_json:
        told = {"directory": str(directory), "deleted": deleted, "parts": found}
        sys.stdout.write(json.dumps(told, indent=1) + "\n")
        return 0
    lines = [str(directory)]
    for part, facts in found.items():
        size = f"{facts['files']} files, {facts['bytes'] / 1e6:.1f} MB"
        lines.append(f"  {part:10}{size:24}{PARTS[part]}")
    if action != "info":
        lines.append(f"deleted: {deleted} files")
    sys.stdout.write("\n".join(lines) + "\n")
    return 0


def _files(directory: Path) -> list[Path]:
    """The files of a part, those used last at the end; links are no files of ours."""
    if not directory.is_dir() or directory.is_symlink():
        return []
    found = []
    for path in directory.iterdir():
        with contextlib.suppress(OSError):  # gone meanwhile
            if path.is_file() and not path.is_symlink():
                found.append((path.stat().st_mtime, path))
    return [path for _, path in sorted(found)]


def _facts(directory: Path) -> dict[str, int]:
    files = _files(directory)
    return {"files": len(files), "bytes": sum(_size(file) for file in files)}


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:  # another process may prune, too
        return 0


def _delete(files: list[Path], keep_bytes: int) -> int:
    """Delete the first of these files until the others are small enough; how many."""
    excess, deleted = sum(map(_size, files)) - keep_bytes, 0
    for path in files:
        if excess <= 0 and keep_bytes:
            break
        excess -= _size(path)
        with contextlib.suppress(OSError):
            path.unlink()
            deleted += 1
    return deleted
