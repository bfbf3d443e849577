"""Outputs as a set: which files differ, and their whole replacement."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from ledger.errors import LedgerError, Problem

if TYPE_CHECKING:
    from collections.abc import Mapping

WRITTEN, UNCHANGED = "written", "unchanged"
_READABLE = 0o644


def publish(files: Mapping[Path, bytes]) -> dict[Path, str]:
    """Write each file that differs and return what became of every one.

    A file is replaced whole: a reader finds the old bytes or the new ones, also after a crash.
    """
    differ = {path for path, data in files.items() if _content(path) != data}
    for path in differ:
        _prepare(path)
    for path in sorted(differ):
        _replace(path, files[path])
    return {path: WRITTEN if path in differ else UNCHANGED for path in files}


def _content(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _told(path, error) from None


def _prepare(path: Path) -> None:
    """Make the folder, and refuse what cannot be replaced before anything is."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _told(path, error) from None
    if not os.access(path.parent, os.W_OK) or (path.exists() and not os.access(path, os.W_OK)):
        raise LedgerError(Problem(f"{path.name} cannot be written: no permission in {path.parent.name}"))


def _replace(path: Path, data: bytes) -> None:
    """Replace a file, its mode kept and links followed."""
    target = Path(os.path.realpath(path))
    mode = target.stat().st_mode & 0o7777 if target.exists() else _READABLE
    try:
        handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            Path(name).chmod(mode)
            Path(name).replace(target)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise _told(path, error) from None


def _told(path: Path, error: OSError) -> LedgerError:
    return LedgerError(Problem(f"{path.name} cannot be written: {error.strerror}"))
