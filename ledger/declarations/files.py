"""The files of a project as a run reads them: what was opened, what was looked for, what patterns gave.

Whatever a run takes from a project's folder goes through here, so that a later run can tell whether any of
it is another one now.  This module imports next to nothing: a check with nothing to do asks it, too.
"""

from __future__ import annotations

import hashlib
import os

from ledger.declarations.project import packaged

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

    from ledger.errors import LedgerError

    #: A folder and a pattern of the files in it, as `Path.glob` takes it.
    Pattern = tuple[str, str]

#: In place of the hash of a file that is not there, or that cannot be read.
MISSING = ""
#: In place of the hash of a file that was one thing, and another when it was read again.
_CHANGING = "changing"
_BROUGHT = (packaged("templates"), packaged("models"))


class ProjectFiles:
    """The files of the project at `root`; it notes what is asked of them, each by its name from there.

    `opened` has the hash of each file's bytes, that of none where there was no file; `listed` the names that
    each pattern gave.
    """

    __slots__ = ("listed", "opened", "root")

    def __init__(self, root: Path) -> None:
        self.root = root
        self.opened: dict[str, str] = {}
        self.listed: dict[Pattern, tuple[str, ...]] = {}

    def apart(self) -> ProjectFiles:
        """Return the same files for a reader whose notes are its own, such as one report."""
        return ProjectFiles(self.root)

    def content(self, path: Path) -> bytes:
        """Return the bytes of a file; raise an OSError if it cannot be read, which is noted, too."""
        try:
            data = path.read_bytes()
        except OSError:
            self._note(path, MISSING)
            raise
        self._note(path, hashlib.sha256(data).hexdigest())
        return data

    def has(self, path: Path) -> bool:
        """Whether there is such a file, whether it can be read or not; one that is not there is noted."""
        if os.path.lexists(path) and not path.is_dir():
            return True
        self._note(path, MISSING)
        return False

    def matching(self, folder: str, pattern: str) -> tuple[Path, ...]:
        """Return the files in a folder that match a pattern, sorted; none if it is no pattern."""
        names = self.listed[folder, pattern] = matching(self.root, folder, pattern)
        return tuple(self.root / name for name in names)

    def _note(self, path: Path, digest: str) -> None:
        """Note the hash of a file; what the package brings along counts as the engine's own."""
        if path.is_relative_to(self.root) or not any(map(path.is_relative_to, _BROUGHT)):
            note(self.opened, name_of(self.root, path), digest)


def note(hashes: dict[str, str], name: str, digest: str) -> None:
    """Note the hash of a file; of one that has another hash already, nothing is known any more."""
    if hashes.setdefault(name, digest) != digest:
        hashes[name] = _CHANGING


def matching(root: Path, folder: str, pattern: str) -> tuple[str, ...]:
    """Return the names of the files in a folder that match a pattern, sorted, from the project's folder."""
    base = root / folder
    try:
        found = [path for path in base.glob(pattern) if path.is_file()]
    except (ValueError, NotImplementedError):  # what Python says of "", "/x" and "a**"
        return ()
    return tuple(sorted({name_of(root, path) for path in found}))


def content(path: Path, name: str = "") -> bytes:
    """Return the bytes of a file; raise a LedgerError, which calls it `name` if that is not empty."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise unreadable(error, name or str(path)) from None


def unreadable(error: OSError, name: str) -> LedgerError:
    """Return what is told of a file that cannot be read."""
    from ledger.errors import LedgerError, Place, Problem  # noqa: PLC0415  # a fresh check has no use for it

    return LedgerError(Problem(f"cannot be read: {error.strerror}", Place(name)))


def hash_of(path: Path) -> str:
    """Return the hash of a file's bytes, that of a missing file if it cannot be read: its reader says why."""
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return MISSING


def name_of(root: Path, path: Path) -> str:
    """Return what a file is called from the project's folder, also if it lies outside."""
    try:
        return os.path.relpath(path, root).replace(os.sep, "/")
    except ValueError:  # on another drive of Windows
        return path.as_posix()
