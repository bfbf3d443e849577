"""A starter book: a model, a report, a chapter, and what a build and a commit hook need."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ledger.declarations.project import packaged
from ledger.display.answer import Answer
from ledger.errors import LedgerError, Problem
from ledger.project.publish import publish

if TYPE_CHECKING:
    from pathlib import Path

# A leading dot would hide it from the tools that make the package.
_NAMES = {"gitattributes": ".gitattributes", "gitignore": ".gitignore"}


def start(folder: Path) -> Answer:
    """Write a starter book into a new or an empty folder, and return the names of its files."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise LedgerError(Problem(f"{folder} is not empty", hint="name a new folder"))
    source = packaged("book")
    names = {path.relative_to(source).as_posix(): path for path in source.rglob("*") if path.is_file()}
    files = {_NAMES.get(name, name): path.read_bytes() for name, path in names.items()}
    publish({folder / name: data for name, data in files.items()})
    lines = (f"written    {name}" for name in sorted(files))
    closing = f"now: cd {folder} && tile-ledger build && tile-ledger check"
    return Answer("\n".join(lines), found=False, closing=closing)
