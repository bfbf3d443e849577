"""All that a build writes: the outputs of reports, and the chapters with what belongs into them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ledger.book import Page, chapter_files, pages
from ledger.build import Built, build
from ledger.chapter import read
from ledger.declarations import located, project, report_names
from ledger.errors import LedgerError, Place, Problems, near

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from ledger.model import Project


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked for: some reports or all, inputs set, another folder, edited blocks to overwrite."""

    names: Sequence[str] = ()
    given: Mapping[str, str] = field(default_factory=dict)
    out: Path | None = None
    overwrite: frozenset[str] = frozenset()

    def is_whole(self) -> bool:
        """Whether the project as it is declared is asked for, all of it."""
        return not self.names and not self.given and self.out is None


@dataclass(frozen=True, slots=True, eq=False)
class Edition:
    """Reports and chapters as they should be; `before` holds the bytes of the chapters that were read."""

    root: Path
    project: Project
    built: tuple[Built, ...]
    pages: tuple[Page, ...]
    files: Mapping[Path, bytes]
    before: Mapping[Path, bytes]


def edition(root: Path, request: Request) -> Edition:
    """Return all that a build writes; raise every mistake in declarations, inputs, templates and chapters.

    An edited block keeps its text here; `protected` tells them.
    """
    where = project(root)
    built = build(root, request.names, request.given)
    problems = Problems()
    found: tuple[Page, ...] = ()
    if request.out is None:
        files = chapter_files(root, where.chapters, problems)
        found = pages(root, files, [each.worked for each in built], report_names(root, where), problems)
    _check_overwrite(request, found, problems)
    _raise_located(problems, root, where)
    folder = request.out or root / where.reports
    outputs = {folder / each.name / name: data for each in built for name, data in each.files.items()}
    chapters = {page.path: _chapter_text(page, request.overwrite, problems).encode() for page in found}
    _raise_located(problems, root, where)
    return Edition(root, where, built, found, outputs | chapters, {page.path: page.data for page in found})


def _raise_located(problems: Problems, root: Path, where: Project) -> None:
    try:
        problems.raise_any()
    except LedgerError as error:
        raise located(error, root, where) from None


def _chapter_text(page: Page, overwrite: frozenset[str], problems: Problems) -> str:
    """Return a chapter as it should be; a template that hides the marker below its own text is a problem."""
    text = page.text(overwrite)
    if text != page.chapter.text:
        read(page.chapter.name, text, problems)
    return text


def _check_overwrite(request: Request, found: Sequence[Page], problems: Problems) -> None:
    known = {block.name for page in found for block in page.chapter.blocks}
    for name in sorted(request.overwrite - known):
        problems.add(f"--overwrite {name}: no chapter has such a block", hint=near(name, known))


def refuse_edits(made: Edition, overwrite: frozenset[str]) -> None:
    """Raise every block that somebody edited by hand and that a build would change."""
    problems = Problems()
    for page in made.pages:
        for block in page.protected():
            if block.name not in overwrite:
                place = Place(page.chapter.name, block.line, block.column)
                hint = f"undo the edit, or write over it: tile-ledger build --overwrite {block.name}"
                problems.add(f"block {block.name!r} was edited by hand", place, hint)
    problems.raise_any()


def stamped(made: Edition) -> tuple[dict[str, list[str]], list[str]]:
    """Return what a stamp watches: patterns by folder, and the files that match none."""
    where = made.project
    patterns: dict[str, list[str]] = {
        ".": ["ledger.toml", *where.chapters],
        where.reports: ["*.toml"],
        where.models: ["*.toml"],
        where.scenarios: ["**/*.csv"],
        where.templates: ["**/*.j2"],
    }
    tables = [table.source for each in made.built for table in each.worked.plan.tables.values()]
    named = [source.name for source in tables if source is not None]
    return patterns, [*named, *(path.relative_to(made.root).as_posix() for path in made.files)]
