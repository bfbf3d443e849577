"""All that a build writes: the files of each report, and the chapters with their blocks and values."""

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
from ledger.declarations.toml import project, report_names
from ledger.display.answer import Answer
from ledger.errors import LedgerError, Place, Problems, near, plural
from ledger.evaluate.claims import ClaimFinding, claim_findings
from ledger.evaluate.findings import DENORMAL, INEXACT, KNIFE_EDGE, PRINTED_AS_0, ValueFinding
from ledger.project import stamp
from ledger.project.publish import UNCHANGED, WRITTEN, locked, publish
from ledger.project.reports import evaluate_reports, raise_located
from ledger.workbook.write import workbook_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ledger.declarations.model import ProjectFile


_DIGITS = 16
_ERROR_VALUE, _FAILED = "error value", "failed claim"
_ADJECTIVES = (INEXACT, DENORMAL, PRINTED_AS_0)


@dataclass(frozen=True, slots=True, eq=False)
class BuiltReport:
    """A report's files by name, what a reader should know of its values, and what they are made from."""

    name: str
    files: Mapping[str, bytes]
    findings: tuple[ValueFinding, ...]
    claims: tuple[ClaimFinding, ...]
    worked: EvaluatedReport


def build(root: Path, names: Sequence[str], inputs: Mapping[str, str]) -> tuple[BuiltReport, ...]:
    """Return every file of the named reports, of all if none is named; `inputs` are set on every sheet.

    Nothing is written; every mistake of every report is raised at once, with line and column.
    """
    problems = Problems()
    reports = evaluate_reports(root, names, inputs, problems)
    texts = [render(each.press, each.views, problems) for each in reports]
    raise_located(problems, root)
    return tuple(map(_built, reports, texts))


def _built(worked: EvaluatedReport, texts: Mapping[str, str]) -> BuiltReport:
    """Return a report with the texts of its views and its workbook as files."""
    name = worked.plan.name
    workbook = {f"{name}.xlsx": workbook_bytes(worked.plan, worked.result, origins(worked))}
    files = {file: text.encode() for file, text in texts.items()} | workbook
    claims = claim_findings(worked.plan, worked.result)
    return BuiltReport(name, files, worked.result.findings, claims, worked)


def origins(worked: EvaluatedReport) -> dict[str, str]:
    """Return a hash of each declaration's content and of each template that was used, for the record."""
    templates = worked.press.templates
    texts = {file: repr(model) for file, model in worked.declared.models}
    texts[PROJECT_FILE] = worked.plan.language
    texts |= {f"{templates.name}/{name}": text.replace("\r\n", "\n") for name, text in templates.used.items()}
    return {name: hashlib.sha256(texts[name].encode()).hexdigest()[:_DIGITS] for name in sorted(texts)}


@dataclass(frozen=True, slots=True)
class Request:
    """What is to be built: some reports or all, inputs set, another folder, edited blocks to overwrite."""

    names: Sequence[str] = ()
    inputs: Mapping[str, str] = field(default_factory=dict)
    out: Path | None = None
    overwrite: frozenset[str] = frozenset()

    def is_whole(self) -> bool:
        """Whether the project as it is declared is asked for, all of it."""
        return not self.names and not self.inputs and self.out is None


@dataclass(frozen=True, slots=True, eq=False)
class BuiltProject:
    """Reports and chapters as they should be: all files by path, beside what they are made from."""

    root: Path
    project: ProjectFile
    reports: tuple[BuiltReport, ...]
    pages: tuple[Draft, ...]
    files: Mapping[Path, bytes]


def build_project(root: Path, request: Request) -> BuiltProject:
    """Return all that a build writes; raise every mistake in declarations, inputs, templates and chapters.

    An edited block keeps its text here; `Draft.protected` lists them.
    """
    where, problems = project(root), Problems()
    reports: tuple[BuiltReport, ...] = ()
    chapters: tuple[Draft, ...] = ()
    try:
        reports = build(root, request.names, request.inputs)
    except LedgerError as error:
        problems.extend(error)  # the chapters' markers are read all the same
    if request.out is None:
        files = chapter_files(root, where.chapters, problems)
        worked = [each.worked for each in reports]
        chapters = pages(root, files, worked, report_names(root, where), problems)
    known = {block.name for page in chapters for block in page.chapter.blocks}
    for name in sorted(request.overwrite - known):
        problems.add(f"--overwrite {name}: no chapter has such a block", hint=near(name, known))
    raise_located(problems, root)
    folder = request.out or root / where.reports
    outputs = {folder / each.name / name: data for each in reports for name, data in each.files.items()}
    outputs |= {page.path: _chapter_text(page, request.overwrite, problems).encode() for page in chapters}
    raise_located(problems, root)
    return BuiltProject(root, where, reports, chapters, outputs)


def _chapter_text(page: Draft, overwrite: frozenset[str], problems: Problems) -> str:
    """Return a chapter as it should be; a template that hides the marker below its own text is a problem."""
    text = page.text(overwrite)
    if text != page.chapter.text:
        read(page.chapter.name, text, problems)
    return text


def name_of(root: Path, path: Path) -> str:
    """Return what a file is called from the project's folder, also if it lies outside."""
    return Path(os.path.relpath(path, root)).as_posix()


@dataclass(frozen=True, slots=True)
class BuildResult:
    """What a build did: what became of each file by its path, "written" or "unchanged".

    `findings` are those of each report's values, `claims` what is to be said of its claims, `notes` what else
    a reader should know.
    """

    root: Path
    files: Mapping[Path, str]
    findings: Mapping[str, tuple[ValueFinding, ...]]
    claims: Mapping[str, tuple[ClaimFinding, ...]]
    notes: tuple[str, ...]

    @property
    def written(self) -> tuple[Path, ...]:
        """The files that differed, and were replaced."""
        return tuple(path for path, became in self.files.items() if became == WRITTEN)

    @property
    def are_claims_right(self) -> bool:
        """Whether every claim holds, but for rows in which it is known to fail."""
        return not any(each.is_wrong for found in self.claims.values() for each in found)


def write(root: Path, request: Request, told: Callable[[BuiltProject], Mapping[str, object]]) -> BuildResult:
    """Write all files that differ, and return what became of each and what a reader should know of values.

    A build of the whole project leaves a stamp, by which the next check knows that nothing changed; `told`
    returns what that check is to say.
    """
    with locked(root / PROJECT_FILE):
        hashes = _input_hashes(root) if request.is_whole() else None
        built = build_project(root, request)
        _refuse_edits(built, request.overwrite)
        became = publish(built.files, {page.path: page.data for page in built.pages})
        notes = [] if hashes is None else _leave_stamp(built, hashes, told(built))
    notes += [str(each) for page in built.pages for each in warnings(page.chapter)]
    files = {path: became[path] for path in sorted(became)}
    findings = {each.name: each.findings for each in built.reports}
    claims = {each.name: each.claims for each in built.reports}
    return BuildResult(root, files, findings, claims, tuple(notes))


def answer(result: BuildResult) -> Answer:
    """Return what became of each file, below it what a reader should know and the counts."""
    talk = [f"{report}: {each}" for report, found in result.findings.items() for each in found]
    for report, claims in result.claims.items():
        talk += [line for each in claims for line in each.lines(report)]
    talk += [*result.notes, _counts(result)]
    lines = [f"{became:9}  {_shown(path, result.root)}" for path, became in result.files.items()]
    return Answer("\n".join(lines), not result.are_claims_right, closing="\n".join(talk))


def _shown(path: Path, root: Path) -> Path:
    """Return a file as it is called from the project's folder, in full if it lies outside."""
    full = path.absolute()
    return full.relative_to(root) if full.is_relative_to(root) else path


def _refuse_edits(built: BuiltProject, overwrite: frozenset[str]) -> None:
    """Raise every block that somebody edited by hand and that a build would change."""
    problems = Problems()
    for page in built.pages:
        for block in page.protected():
            if block.name not in overwrite:
                place = Place(page.chapter.name, block.line, block.column)
                hint = f"undo the edit, or write over it: tile-ledger build --overwrite {block.name}"
                problems.add(f"block {block.name!r} was edited by hand", place, hint)
    problems.raise_any()


def _patterns(where: ProjectFile) -> dict[str, tuple[str, ...]]:
    """Return what a stamp watches: for each folder the patterns of the files in it."""
    patterns: dict[str, tuple[str, ...]] = {".": (PROJECT_FILE, *where.chapters)}
    for folder, pattern in (
        (where.reports, "*.toml"),
        (where.models, "*.toml"),
        (where.scenarios, "**/*.csv"),
        (where.templates, "**/*.j2"),
    ):
        patterns[folder] = (*patterns.get(folder, ()), pattern)
    return patterns


def _input_hashes(root: Path) -> dict[str, str]:
    """Return hashes of all inputs, to be called before a build: a file that is edited during it is stale."""
    return {name: stamp.hash_of(root / name) for name in stamp.inputs(root, _patterns(project(root)))}


def _leave_stamp(built: BuiltProject, hashes: Mapping[str, str], told: Mapping[str, object]) -> list[str]:
    """Write the stamp of all files that were read and written; return a line of talk if that fails."""
    tables = [table.source for each in built.reports for table in each.worked.plan.tables.values()]
    named = {source.name: stamp.hash_of(source.path) for source in tables if source is not None}
    outputs = {
        name_of(built.root, path): hashlib.sha256(data).hexdigest() for path, data in built.files.items()
    }
    text = stamp.stamp_text(_patterns(built.project), {**named, **hashes, **outputs}, told)
    try:
        publish({built.root / stamp.STAMP: text.encode()})
    except LedgerError as error:
        return [f"{error}: the next check will do the whole work"]
    return []


def _counts(result: BuildResult) -> str:
    """Return how many files were written and unchanged, and how many cells to look at."""
    totals = dict.fromkeys((KNIFE_EDGE, *_ADJECTIVES, _ERROR_VALUE, _FAILED), 0)
    for finding in (each for found in result.findings.values() for each in found):
        totals[finding.what if finding.what in totals else _ERROR_VALUE] += finding.rows
    totals[_FAILED] = sum(bool(each.failed) for found in result.claims.values() for each in found)
    became = list(result.files.values())
    files = [f"{became.count(word)} {word}" for word in (WRITTEN, UNCHANGED)]
    cells = [f"{n} {word if word in _ADJECTIVES else plural(n, word)}" for word, n in totals.items()]
    return ", ".join((*files, *cells))
