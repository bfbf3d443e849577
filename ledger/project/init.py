"""A starter book: a model, a report, a chapter, and what a build and a commit hook need."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ledger.declarations.project import packaged
from ledger.errors import LedgerError, Problem
from ledger.project.publish import publish

if TYPE_CHECKING:
    from pathlib import Path

# A leading dot would hide it from the tools that make the package.
_NAMES = {"gitattributes": ".gitattributes", "gitignore": ".gitignore"}


def start(folder: Path) -> tuple[str, ...]:
    """Write a starter book into a new or an empty folder, and return the names of its files."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise LedgerError(Problem(f"{folder} is not empty", hint="name a new folder"))
    source = packaged("book")
    files = {
        path.relative_to(source).as_posix(): path for path in sorted(source.rglob("*")) if path.is_file()
    }
    publish({folder / _NAMES.get(name, name): path.read_bytes() for name, path in files.items()})
    return tuple(sorted(_NAMES.get(name, name) for name in files))
