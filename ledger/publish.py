"""Outputs as a set: which files differ, and their whole replacement."""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from ledger.errors import LedgerError, Problem

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

try:
    import fcntl
except ImportError:  # Windows has no such lock
    fcntl = None  # type: ignore[assignment]

WRITTEN, UNCHANGED = "written", "unchanged"
_READABLE = 0o644


def publish(files: Mapping[Path, bytes], before: Mapping[Path, bytes] | None = None) -> dict[Path, str]:
    """Write each file that differs and return what became of every one.

    `before` holds what was read of files that are rewritten: one that changed since is not written over.

    A file is replaced whole: a reader finds the old bytes or the new ones, also after a crash.  All that can
    fail, such as a full disk, is done for every file before the first is replaced.
    """
    differ = [path for path in sorted(files) if _content(path) != files[path]]
    _check_unchanged(before or {})
    for path in differ:
        _check(path)
    staged: dict[Path, Path] = {}
    try:
        for path in differ:
            staged[path] = _staged(path, files[path])
        for path, temporary in staged.items():
            _replace(temporary, path)
    finally:
        for temporary in staged.values():
            temporary.unlink(missing_ok=True)
    return {path: WRITTEN if path in staged else UNCHANGED for path in files}


def _content(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _told(path, error) from None


def _check_unchanged(before: Mapping[Path, bytes]) -> None:
    """Refuse to write over what somebody changed in the meantime."""
    changed = [path for path, data in before.items() if _content(path) != data]
    if changed:
        hint = "nothing is lost: build again"
        raise LedgerError(*(Problem(f"{path.name} changed while building", hint=hint) for path in changed))


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the file at `path` locked, so that two builds of one project come one after the other.

    It is a file that is there anyway: a build that fails leaves nothing behind.
    """
    with path.open("rb") as file:
        if fcntl is not None:
            fcntl.flock(file, fcntl.LOCK_EX)  # until the file is closed
        yield


def _target(path: Path) -> Path:
    """Return the file that is replaced: what a link leads to."""
    return Path(os.path.realpath(path))


def _check(path: Path) -> None:
    """Refuse what cannot be replaced, before anything is."""
    target = _target(path)
    folder = next(each for each in target.parents if each.exists())
    # The mode counts for the root user, too: whoever took the right to write meant it.
    closed = target.exists() and not target.stat().st_mode & stat.S_IWUSR
    if closed or not os.access(folder, os.W_OK) or (target.exists() and not os.access(target, os.W_OK)):
        raise LedgerError(Problem(f"{path.name} cannot be written: no permission in {folder.name}"))


def _staged(path: Path, data: bytes) -> Path:
    """Return a file beside the one that it will replace, with its mode and the new bytes."""
    target = _target(path)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            Path(name).chmod(target.stat().st_mode & 0o7777 if target.exists() else _READABLE)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise _told(path, error) from None
    return Path(name)


def _replace(temporary: Path, path: Path) -> None:
    try:
        temporary.replace(_target(path))
    except OSError as error:
        raise _told(path, error) from None


def _told(path: Path, error: OSError) -> LedgerError:
    return LedgerError(Problem(f"{path.name} cannot be written: {error.strerror}"))
