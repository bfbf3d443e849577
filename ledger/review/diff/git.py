"""What git keeps: the files of a revision, those of the working tree, the repository's own settings."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ledger.errors import LedgerError, Problem

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_FILE_MODES = frozenset({"100644", "100755"})
# A spreadsheet that has a workbook open keeps its lock beside it, under the workbook's name.
_LOCK = "~$"
_HINTS = {
    "not a git repository": "run it in a git repository, or name two workbooks",
    "dubious ownership": "git says how to trust it: git status",
}


@dataclass(frozen=True, slots=True)
class Repository:
    """A repository: the folder of its working tree, and the folder in which paths are named."""

    top: Path
    here: Path


def repository(here: Path) -> Repository:
    """Return the repository that a folder lies in; raise a LedgerError if there is none."""
    top = _git(here, "rev-parse", "--show-toplevel").decode().rstrip("\n")
    return Repository(Path(top).resolve(), here.resolve())


def commit(inside: Repository, revision: str) -> str:
    """Return the commit that a revision means; raise a LedgerError if it means none."""
    if revision.startswith("-"):
        raise _refused(f"{revision!r} is not a revision: it begins with a dash")
    done = _run(inside.top, "rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}")
    if done.returncode:
        raise _refused(f"unknown revision {revision!r}", "git log --oneline lists them; paths stand after --")
    return done.stdout.decode().strip()


def committed(inside: Repository, commit_: str, paths: Sequence[str], suffix: str) -> dict[str, bytes]:
    """Return the files of a commit under some paths whose names end in `suffix`."""
    listed = _git(inside.top, "ls-tree", "-r", "-z", commit_, "--", *_from_top(inside, paths))
    found = {}
    for line in _texts(listed):
        about, _, name = line.partition("\t")
        if _is_meant(name, suffix):
            mode, _, blob = about.split(" ")
            if mode in _FILE_MODES:
                found[name] = _git(inside.top, "cat-file", "blob", blob)
    return dict(sorted(found.items()))


def present(inside: Repository, paths: Sequence[str], suffix: str) -> dict[str, bytes]:
    """Return the same of the working tree, with files that git does not know yet but would not ignore."""
    options = ("--cached", "--others", "--exclude-standard", "-z")
    listed = _git(inside.top, "ls-files", *options, "--", *_from_top(inside, paths))
    names = sorted({name for name in _texts(listed) if _is_meant(name, suffix)})
    files = {name: inside.top / name for name in names}
    return {name: _content(path) for name, path in files.items() if path.is_file() and not path.is_symlink()}


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise _refused(f"{path.name}: cannot be read: {error.strerror}") from None


def settings(inside: Repository, sections: str) -> dict[str, str]:
    """Return what the repository's own configuration sets in sections that match a pattern."""
    done = _run(inside.top, "config", "--local", "-z", "--get-regexp", sections)
    lines = (line.partition("\n") for line in _texts(done.stdout))
    return {key: value for key, _, value in lines if key}


def set_(inside: Repository, values: Mapping[str, str]) -> None:
    """Set values in the repository's own configuration."""
    for key, value in values.items():
        _git(inside.top, "config", "--local", "--replace-all", key, value)


def unset(inside: Repository, keys: Sequence[str]) -> None:
    """Take settings out of the repository's own configuration."""
    for key in keys:
        _git(inside.top, "config", "--local", "--unset-all", key)


def attribute(inside: Repository, name: str, path: str) -> str:
    """Return the attribute that git gives a path."""
    return _texts(_git(inside.top, "check-attr", "-z", name, "--", path))[2]


def _texts(told: bytes) -> list[str]:
    """Return what git tells with option -z; a name need not be UTF-8."""
    return told.decode("utf-8", "surrogateescape").split("\0")


def _is_meant(name: str, suffix: str) -> bool:
    return name.lower().endswith(suffix) and not Path(name).name.startswith(_LOCK)


def _from_top(inside: Repository, paths: Sequence[str]) -> list[str]:
    """Return paths as they are called in the repository: `ls-tree` knows no `..`."""
    found = []
    for path in paths:
        full = Path(os.path.abspath(inside.here / path))  # noqa: PTH100  # a link is a file of its own in git
        if not full.is_relative_to(inside.top):
            raise _refused(f"{path!r} is outside the repository")
        # An empty path is refused, and a point is no path in a commit.
        found += [full.relative_to(inside.top).as_posix()] if full != inside.top else []
    return found


def _git(folder: Path, *arguments: str) -> bytes:
    done = _run(folder, *arguments)
    if done.returncode:
        lines = done.stderr.decode("utf-8", "replace").strip().splitlines() or ["no reason given"]
        what = lines[0].removeprefix("fatal: ").removeprefix("error: ")
        raise _refused(f"git: {what}", next((hint for sign, hint in _HINTS.items() if sign in what), ""))
    return done.stdout


def _run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    """Run git without a shell; its messages are read, so they are asked for in English."""
    environment = {**os.environ, "LC_ALL": "C", "GIT_OPTIONAL_LOCKS": "0"}
    command = ("git", "--literal-pathspecs", *arguments)
    try:
        return subprocess.run(  # noqa: S603  # revisions are checked, and paths stand after --
            command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, capture_output=True, check=False
        )
    except FileNotFoundError:
        raise _refused("git is missing", "install git, or name two workbooks") from None


def _refused(what: str, hint: str = "") -> LedgerError:
    return LedgerError(Problem(what, hint=hint))
