"""What an earlier build wrote and nothing writes now: outputs without a view, chapters without a pattern.

A file is taken for one only where it shows that it was generated: the last build's stamp has its bytes, its
report's workbook names its view, it is a workbook of ours, or its Markdown and its HTML hold the same cells.
Whatever else somebody puts beside the outputs is left alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from ledger.book.chapter import read
from ledger.book.media import MEDIA
from ledger.declarations.files import hash_of, matching
from ledger.declarations.project import PROJECT_FILE
from ledger.errors import LedgerError, Problems
from ledger.xlsx.record import record
from ledger.xlsx.workbook import read_workbook

if TYPE_CHECKING:
    from collections.abc import Iterator
    from collections.abc import Set as AbstractSet

    from ledger.declarations.files import Pattern
    from ledger.declarations.model import ProjectFile
    from ledger.project.stamp import Stamp

# What no part of a pattern of plain names holds.
_WILD = frozenset("*?[")
_WORKBOOK = ".xlsx"


@dataclass(frozen=True, slots=True)
class Orphans:
    """Outputs that no report writes any more, and files with generated text that are no chapters any more."""

    root: Path
    outputs: tuple[str, ...]
    chapters: tuple[str, ...]

    def left(self) -> dict[str, str]:
        """Return what is still there, each output with its hash, as a stamp keeps it."""
        hashes = {name: hash_of(self.root / name) for name in self.outputs}
        return {name: each for name, each in hashes.items() if each} | dict.fromkeys(self.chapters, "")

    def notes(self) -> Iterator[str]:
        """Yield what a reader should know of the chapters, which nothing removes."""
        for name in self.chapters:
            yield f"{name}: no pattern in {PROJECT_FILE} matches this chapter any more: it stays as it is"


def watched(where: ProjectFile) -> tuple[Pattern, ...]:
    """Return the patterns that find orphans: what lies in the folders of outputs and of chapters."""
    return tuple(dict.fromkeys([(where.reports, "*/*"), *map(_around, where.chapters)]))


def _around(pattern: str) -> Pattern:
    """Return the folder that a pattern of chapters begins with, and the pattern of all files like them there.

    >>> _around("chapters/*.md"), _around("README.md")
    (('chapters', '**/*.md'), ('.', '*.md'))
    """
    path = PurePosixPath(pattern)
    fixed: list[str] = []
    for part in path.parts[:-1]:
        if not _WILD.isdisjoint(part):
            break
        fixed.append(part)
    name = f"*{path.suffix or '.md'}"
    return ("/".join(fixed), f"**/{name}") if fixed else (".", name)


def orphans(
    root: Path,
    where: ProjectFile,
    owned: AbstractSet[str],
    chapters: AbstractSet[str],
    before: Stamp | None,
) -> Orphans:
    """Return what nothing writes any more; `owned` are the outputs of all reports, and the chapters."""
    known = remembered(root, before, owned | chapters) if before else {}
    outputs = {name for name, digest in known.items() if digest and hash_of(root / name) == digest}
    folders: dict[str, set[str]] = {}
    for name in matching(root, where.reports, "*/*"):
        if name not in owned:
            folders.setdefault(name.rpartition("/")[0], set()).add(name)
    changed = {name for name, digest in known.items() if digest} - outputs
    for folder, names in folders.items():
        outputs.update(_evident(root, folder, names - changed))
    found = {name for pattern in map(_around, where.chapters) for name in matching(root, *pattern)}
    texts = {name for name in (found | known.keys()) - outputs - chapters if _is_generated(root, name)}
    return Orphans(root, tuple(sorted(outputs - chapters)), tuple(sorted(texts)))


def remembered(root: Path, before: Stamp, owned: AbstractSet[str]) -> dict[str, str]:
    """Return what earlier builds wrote of which nothing is owned now, with its hash then, none of a chapter.

    An output that has another hash now is somebody's own.
    """
    known = {**before.left, **before.written, **dict.fromkeys(before.built, "")}
    return {name: digest for name, digest in known.items() if name not in owned and (root / name).is_file()}


def _evident(root: Path, folder: str, names: set[str]) -> Iterator[str]:
    """Yield the files in a folder of outputs, owned by no report, that show that they were generated."""
    stems: dict[str, set[str]] = {}
    for name in names:
        stem, _, ending = name.rpartition(".")
        if ending in MEDIA:
            stems.setdefault(stem, set()).add(name)
    workbook = f"{folder}/{PurePosixPath(folder).name}{_WORKBOOK}"
    views = _recorded_views(root, workbook) if stems or workbook in names else None
    if views is not None and workbook in names:
        yield workbook
    for stem, found in stems.items():
        if PurePosixPath(stem).name in (views or ()) or _are_one_view(root, stem):
            yield from found


def _recorded_views(root: Path, workbook: str) -> frozenset[str] | None:
    """Return the views that the workbook of a folder prints, None if it is none of ours."""
    try:
        found = record(read_workbook(workbook, (root / workbook).read_bytes()))
    except (OSError, LedgerError):
        return None
    return frozenset(cell.view for cell in found.printed) if found.report == Path(workbook).stem else None


def _are_one_view(root: Path, stem: str) -> bool:
    """Whether files of one stem are a view in every medium: its Markdown has the cells of its HTML."""
    if not all((root / f"{stem}.{ending}").is_file() for ending in MEDIA):
        return False
    try:
        texts = {ending: (root / f"{stem}.{ending}").read_bytes().decode() for ending in ("html", "md")}
    except (OSError, UnicodeDecodeError):
        return False
    cells = {
        ending: {cell for line in text.splitlines() for cell in MEDIA[ending].cells(line)}
        for ending, text in texts.items()
    }
    return bool(cells["html"]) and cells["html"] <= cells["md"]


def _is_generated(root: Path, name: str) -> bool:
    """Whether a file holds text that a build wrote between markers, and belongs to this project."""
    path = root / name
    inside = [folder for folder in path.parents if root in folder.parents]
    if any((folder / PROJECT_FILE).is_file() for folder in inside):
        return False
    try:
        text = path.read_bytes().decode()
    except (OSError, UnicodeDecodeError):
        return False
    found = read(name, text, Problems()) if "ledger:" in text else None
    if found is None:
        return False
    return any(each.sum for each in found.blocks) or any(each.text for each in found.values)
