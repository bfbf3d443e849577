"""Outputs as a set: which files differ, and their whole replacement."""

from __future__ import annotations

import contextlib
import os
import stat
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from ledger.errors import LedgerError, Place, Problem, Problems
from ledger.project.results import UNCHANGED, WRITTEN

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

_READABLE = 0o644
_FAR = 2**30
# No name of a file is in it: some are as long as a name can be.
_TEMPORARY = (".tile-ledger-", ".tmp")


def publish(files: Mapping[Path, bytes], before: Mapping[Path, bytes] | None = None) -> dict[Path, str]:
    """Write each file that differs and return what became of every one.

    `before` holds what was read of files that are rewritten: one that changed since is not written over.

    A file is replaced whole: a reader finds the old bytes or the new ones, also after a crash.  All that can
    fail, such as a full disk, is done for every file before the first is replaced.  What a killed run left
    beside the files is removed.
    """
    differ = [path for path in sorted(files) if _content(path) != files[path]]
    _check(differ)
    _sweep(files)
    staged: dict[Path, Path] = {}
    try:
        for path in differ:
            staged[path] = _staged(path, files[path])
        _check_unchanged(before or {})
        for path, temporary in staged.items():
            _replace(temporary, path)
    finally:
        for temporary in staged.values():
            temporary.unlink(missing_ok=True)
    return {path: WRITTEN if path in staged else UNCHANGED for path in files}


def remove(root: Path, names: Iterable[str]) -> list[Path]:
    """Remove files of a project, and folders that are empty then; return what was removed."""
    removed: list[Path] = []
    for path in (root / name for name in names):
        try:
            path.unlink()
        except OSError as error:
            raise LedgerError(Problem(f"cannot be removed: {error.strerror}", _place(path))) from None
        removed.append(path)
        with contextlib.suppress(OSError):  # somebody's own file is in it
            path.parent.rmdir()
    return removed


def _content(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _unwritable(path, error) from None


def _check_unchanged(before: Mapping[Path, bytes]) -> None:
    """Refuse to write over what somebody changed in the meantime."""
    problems = Problems()
    for path, data in before.items():
        if _content(path) != data:
            problems.add("changed while building", _place(path), "nothing is lost: build again")
    problems.raise_any()


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the file at `path` locked, so that two builds of one project come one after the other.

    It is a file that is there anyway: a build that fails leaves nothing behind.  (The libraries that lock on
    every system put a file of their own beside it, or need another library on Windows.)
    """
    with path.open("rb") as file:
        _lock(file.fileno())  # until the file is closed
        yield


def _lock(handle: int) -> None:
    """Wait until this process alone holds an open file."""
    if sys.platform == "win32":
        # A locked byte cannot be read there: this one is far behind the end of the file.
        os.lseek(handle, _FAR, os.SEEK_SET)
        while True:
            with contextlib.suppress(OSError):  # which it raises after ten seconds of waiting
                msvcrt.locking(handle, msvcrt.LK_LOCK, 1)
                return
    else:
        fcntl.flock(handle, fcntl.LOCK_EX)


def _target(path: Path) -> Path:
    """Return the file that is replaced: what a link leads to."""
    return Path(os.path.realpath(path))


def _check(paths: Iterable[Path]) -> None:
    """Refuse what cannot be replaced, before anything is."""
    problems = Problems()
    for path in paths:
        target = _target(path)
        folder = next(each for each in target.parents if each.exists())
        # The mode counts for the root user, too: whoever took the right to write wanted that.
        if target.exists() and not (target.stat().st_mode & stat.S_IWUSR and os.access(target, os.W_OK)):
            problems.add("cannot be written: the file is read-only", _place(path))
        elif not os.access(folder, os.W_OK):
            problems.add(f"cannot be written: no permission in {folder.name}", _place(path))
    problems.raise_any()


def _sweep(paths: Iterable[Path]) -> None:
    """Remove what a killed run left in the folders of some files."""
    for folder in sorted({_target(path).parent for path in paths}):
        for path in folder.glob("*".join(_TEMPORARY)):
            with contextlib.suppress(OSError):  # what cannot be removed does no harm
                path.unlink()


def _staged(path: Path, data: bytes) -> Path:
    """Return a file beside the one that it will replace, with its mode and the new bytes."""
    target = _target(path)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(_TEMPORARY[1], _TEMPORARY[0], target.parent)
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
        raise _unwritable(path, error) from None
    return Path(name)


def _replace(temporary: Path, path: Path) -> None:
    try:
        temporary.replace(_target(path))
    except OSError as error:
        raise _unwritable(path, error) from None


def _unwritable(path: Path, error: OSError) -> LedgerError:
    return LedgerError(Problem(f"cannot be written: {error.strerror}", _place(path)))


def _place(path: Path) -> Place:
    """Return a file as it is called from here."""
    return Place(Path(os.path.relpath(path)).as_posix())
