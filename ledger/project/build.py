"""All that a build writes: the outputs of reports, and the chapters with what belongs into them."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from ledger.book.chapter import read
from ledger.book.chapters import Draft, chapter_files, pages
from ledger.book.inject import warnings
from ledger.book.render import EvaluatedReport, render
from ledger.declarations.project import PROJECT_FILE
from ledger.declarations.toml import located, project, report_names
from ledger.errors import LedgerError, Place, Problems, near
from ledger.evaluate.findings import FAILS, INEXACT, KNIFE_EDGE, ValueFinding
from ledger.plan.names import Settings
from ledger.project import stamp
from ledger.project.reports import evaluate_reports, raise_located
from ledger.workbook.write import workbook_bytes

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ledger.declarations.model import Project


_DIGITS = 16


@dataclass(frozen=True, slots=True, eq=False)
class Built:
    """A report's outputs by file name, what a reader should know of its values, and where they come from."""

    name: str
    files: Mapping[str, bytes]
    findings: tuple[ValueFinding, ...]
    worked: EvaluatedReport


def build(root: Path, names: Sequence[str], given: Mapping[str, str]) -> tuple[Built, ...]:
    """Return every output of the named reports, of all if none is named.

    Nothing is written; every mistake of every report is raised at once, with line and column.
    """
    problems = Problems()
    found = []
    for worked in evaluate_reports(
        root, names, Settings({name: (text,) for name, text in given.items()}), problems
    ):
        before = len(problems.found)
        texts = render(worked.press, worked.views, problems)
        if len(problems.found) == before:
            files = {name: text.encode() for name, text in texts.items()}
            workbook = f"{worked.plan.name}.xlsx"
            files[workbook] = (
                b"" if problems.found else workbook_bytes(worked.plan, worked.result, origins(worked))
            )
            found.append(Built(worked.plan.name, files, worked.result.findings, worked))
    raise_located(problems, root)
    return tuple(found)


def origins(worked: EvaluatedReport) -> dict[str, str]:
    """Return a hash of what each declaration says and of each template that was used, for the record."""
    templates = worked.press.templates
    said = {file: repr(model) for file, model in worked.declared.models}
    said[PROJECT_FILE] = worked.plan.language
    said |= {f"{templates.name}/{name}": text.replace("\r\n", "\n") for name, text in templates.used.items()}
    return {name: hashlib.sha256(said[name].encode()).hexdigest()[:_DIGITS] for name in sorted(said)}


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
    pages: tuple[Draft, ...]
    files: Mapping[Path, bytes]
    before: Mapping[Path, bytes]


def edition(root: Path, request: Request) -> Edition:
    """Return all that a build writes; raise every mistake in declarations, inputs, templates and chapters.

    An edited block keeps its text here; `protected` tells them.
    """
    where, problems = project(root), Problems()
    built: tuple[Built, ...] = ()
    found: tuple[Draft, ...] = ()
    try:
        built = build(root, request.names, request.given)
    except LedgerError as error:
        problems.extend(error)  # the chapters' markers are read all the same
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


def _chapter_text(page: Draft, overwrite: frozenset[str], problems: Problems) -> str:
    """Return a chapter as it should be; a template that hides the marker below its own text is a problem."""
    text = page.text(overwrite)
    if text != page.chapter.text:
        read(page.chapter.name, text, problems)
    return text


def name_of(root: Path, path: Path) -> str:
    """Return what a file is called from the project's folder, also if it lies outside."""
    return Path(os.path.relpath(path, root)).as_posix()


def _check_overwrite(request: Request, found: Sequence[Draft], problems: Problems) -> None:
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


@dataclass(frozen=True, slots=True)
class Watched:
    """What a stamp watches: patterns by folder, and the hash that each file had before it was read."""

    where: Mapping[str, tuple[str, ...]]
    files: Mapping[str, str]


def watched(root: Path) -> Watched:
    """Return what a stamp watches, to be called before a build: a file that is edited during it is stale."""
    where = project(root)
    patterns: dict[str, tuple[str, ...]] = {".": (PROJECT_FILE, *where.chapters)}
    for folder, pattern in (
        (where.reports, "*.toml"),
        (where.models, "*.toml"),
        (where.scenarios, "**/*.csv"),
        (where.templates, "**/*.j2"),
    ):
        patterns[folder] = (*patterns.get(folder, ()), pattern)
    return Watched(patterns, {name: stamp.hash_of(root / name) for name in stamp.inputs(root, patterns)})


def stamp_text(made: Edition, seen: Watched) -> str:
    """Return the stamp of what was read and of what was written, as its bytes should be."""
    tables = [table.source for each in made.built for table in each.worked.plan.tables.values()]
    named = {source.name: stamp.hash_of(source.path) for source in tables if source is not None}
    outputs = {
        name_of(made.root, path): hashlib.sha256(data).hexdigest() for path, data in made.files.items()
    }
    return stamp.stamp_text(seen.where, {**named, **seen.files, **outputs})


_FAILED = "failed claim"


def notes(made: Edition) -> tuple[str, ...]:
    """Return what a reader should know of values, and what of the chapters works in an unexpected way."""
    found = [f"{built.name}: {finding}" for built in made.built for finding in built.findings]
    return (*found, *(str(each) for page in made.pages for each in warnings(page.chapter)))


def counts(became: Mapping[Path, str], made: Edition) -> str:
    """Return how many files were written and unchanged, and how many cells to look at."""
    totals = {KNIFE_EDGE: 0, INEXACT: 0, "error value": 0, _FAILED: 0}
    for built in made.built:
        for finding in built.findings:
            if finding.what == FAILS:
                totals[_FAILED] += 1
            else:
                totals[finding.what if finding.what in totals else "error value"] += finding.rows
    files = list(became.values())
    words = [f"{files.count(word)} {word}" for word in ("written", "unchanged")]
    for word, count in totals.items():
        words.append(f"{count} {word}{'' if count == 1 or word == INEXACT else 's'}")
    return ", ".join(words)
