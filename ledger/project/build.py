"""All that a build writes: the files of each report, and the chapters with their blocks and values."""

from __future__ import annotations

import hashlib
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING

from ledger.book.chapter import read
from ledger.book.chapters import Draft, ReadChapter, chapter_files, check_marked, pages, read_chapters
from ledger.book.inject import warnings
from ledger.book.render import EvaluatedReport, render
from ledger.declarations.files import ProjectFiles, matching, name_of
from ledger.declarations.project import PROJECT_FILE
from ledger.declarations.toml import chosen, located, project, report_names
from ledger.errors import LedgerError, Place, Problem, Problems, near
from ledger.evaluate.claims import ClaimFinding, claim_findings
from ledger.evaluate.findings import DENORMAL, INEXACT, KNIFE_EDGE, PRINTED_AS_0, ValueFinding
from ledger.project import stamp
from ledger.project.orphans import Orphans, orphans, remembered, watched
from ledger.project.publish import locked, publish, remove
from ledger.project.reports import evaluate_reports, raise_located
from ledger.project.results import REMOVED, UNCHANGED, BuildResult
from ledger.project.stamp import NewStamp
from ledger.workbook.write import workbook_bytes

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from ledger.declarations.model import ProjectFile
    from ledger.project.results import Said
    from ledger.project.stamp import Entry, Stamp


_DIGITS = 16
#: What is counted of values and claims, each as one and as several of it are called.
_ERROR_VALUE, _FAILED = "error value|error values", "failed claim|failed claims"
_COUNTED = {
    KNIFE_EDGE: f"{KNIFE_EDGE}|{KNIFE_EDGE}s",
    **{word: word for word in (INEXACT, DENORMAL, PRINTED_AS_0)},
}


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
    files, problems = ProjectFiles(root), Problems()
    where = project(files)
    found = _build(files, where, chosen(files, where, names, problems), inputs, problems)
    raise_located(problems, root)
    return found


def _build(
    files: ProjectFiles,
    where: ProjectFile,
    names: Sequence[str],
    inputs: Mapping[str, str],
    problems: Problems,
) -> tuple[BuiltReport, ...]:
    """Return every file of the named reports, none at all after adding what is wrong to `problems`."""
    reports = evaluate_reports(files, where, names, inputs, problems)
    texts = [render(each.press, each.views, problems) for each in reports]
    return () if problems.found else tuple(map(_built, reports, texts))


def _built(worked: EvaluatedReport, texts: Mapping[str, str]) -> BuiltReport:
    """Return a report with the texts of its views and its workbook as files."""
    name = worked.plan.name
    try:
        workbook = {f"{name}.xlsx": workbook_bytes(worked.plan, worked.result, origins(worked))}
    except LedgerError as error:
        raise located(error, worked.declared.root, worked.declared.project) from None
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


def _said(built: BuiltReport) -> Said:
    """Return what is to be said of a report's values and claims, as a stamp keeps it."""
    counts = dict.fromkeys((*_COUNTED.values(), _ERROR_VALUE, _FAILED), 0)
    for finding in built.findings:
        counts[_COUNTED.get(finding.what, _ERROR_VALUE)] += finding.rows
    counts[_FAILED] = sum(bool(each.failed) for each in built.claims)
    return {
        "findings": [asdict(each) for each in built.findings],
        "claims": [asdict(each) for each in built.claims],
        "lines": {
            "findings": [f"{built.name}: {each}" for each in built.findings],
            "claims": [line for each in built.claims for line in each.lines(built.name)],
        },
        "counts": counts,
        "is_wrong": any(each.is_wrong for each in built.claims),
    }


@dataclass(frozen=True, slots=True)
class Request:
    """What is to be built: some reports or all, inputs set, another folder, edited blocks to overwrite.

    `prune` removes what an earlier build wrote and nothing writes any more.
    """

    names: Sequence[str] = ()
    inputs: Mapping[str, str] = field(default_factory=dict)
    out: Path | None = None
    overwrite: frozenset[str] = frozenset()
    prune: bool = False

    def is_as_declared(self) -> bool:
        """Whether the project is asked for as it is declared, or a part of it."""
        return not self.inputs and self.out is None

    def is_whole(self) -> bool:
        """Whether all of it is."""
        return self.is_as_declared() and not self.names


@dataclass(frozen=True, slots=True, eq=False)
class BuiltProject:
    """Reports and chapters as they should be: all files by path, beside what they are made from.

    `names` are the reports that are asked for.  Those in `kept`, and the chapters in `kept_chapters`, are as
    the stamp `before` has them, and were not worked out.  `chapters` are all others that were read, `pages`
    those that hold something of a report; `reading` notes what was read of the project itself.  `orphans` is
    None where another report may write them.
    """

    root: Path
    project: ProjectFile
    names: tuple[str, ...]
    reports: tuple[BuiltReport, ...]
    chapters: tuple[ReadChapter, ...]
    pages: tuple[Draft, ...]
    files: Mapping[Path, bytes]
    reading: ProjectFiles
    before: Stamp | None
    kept: Mapping[str, Entry]
    kept_chapters: Mapping[str, Entry]
    orphans: Orphans | None

    def said(self) -> dict[str, Said]:
        """Return what is to be said of each report."""
        worked = {each.name: _said(each) for each in self.reports}
        return {name: worked[name] if name in worked else self.kept[name]["said"] for name in self.names}

    def concerns(self, chapter: Entry) -> bool:
        """Whether a chapter names one of the reports that are asked for."""
        return not {*self.names}.isdisjoint(chapter["reports"])

    def notes(self) -> list[str]:
        """Return what a reader should know of the chapters."""
        found = {page.chapter.name: [*map(str, warnings(page.chapter))] for page in self.pages}
        found |= {name: each["notes"] for name, each in self.kept_chapters.items() if self.concerns(each)}
        return [note for name in sorted(found) for note in found[name]]


def build_project(root: Path, request: Request, before: Stamp | None = None) -> BuiltProject:
    """Return all that a build writes; raise every mistake in declarations, inputs, templates and chapters.

    What a stamp shows to be as it should is left out.  An edited block keeps its text here;
    `Draft.protected` lists them.
    """
    reading, problems = ProjectFiles(root), Problems()
    where = project(reading)
    names = chosen(reading, where, request.names, problems)
    paths = chapter_files(reading, where.chapters, problems) if request.out is None else ()
    known = report_names(reading, where)
    chapters, kept, kept_chapters = _kept(reading, names, known, paths, before, problems)
    worked = [name for name in names if name not in kept]
    reports = _build(reading, where, worked, request.inputs, problems)
    if paths and not problems.found and not any(each["reports"] for each in kept_chapters.values()):
        check_marked(chapters, problems)
    drafts = pages(chapters, [each.worked for each in reports], known, problems)
    _check_overwritten(chapters, request.overwrite, problems)
    raise_located(problems, root)
    folder = request.out or root / where.reports
    outputs = {folder / each.name / name: data for each in reports for name, data in each.files.items()}
    outputs |= {page.path: _chapter_text(page, request.overwrite, problems).encode() for page in drafts}
    raise_located(problems, root)
    built = BuiltProject(
        root, where, names, reports, chapters, drafts, outputs, reading, before, kept, kept_chapters, None
    )
    return replace(built, orphans=_orphans(built)) if request.out is None else built


def _kept(
    reading: ProjectFiles,
    names: Sequence[str],
    known: Sequence[str],
    paths: Sequence[Path],
    before: Stamp | None,
    problems: Problems,
) -> tuple[tuple[ReadChapter, ...], dict[str, Entry], dict[str, Entry]]:
    """Return the chapters that are to be written anew, as read; the reports and chapters that can stay.

    A chapter that changed needs every report that it names, and one that names a report that changed, too.
    """
    trusted, found = ({}, {}) if before is None else (before.reports, before.chapters)
    found = {name: each for name, each in found.items() if {*known}.issuperset(each["reports"])}
    by_name = {name_of(reading.root, path): path for path in paths}
    chapters = read_chapters(reading, [by_name[name] for name in by_name if name not in found], problems)
    needed = {report for each in chapters for report in each.reports}
    kept = {name: trusted[name] for name in names if name in trusted and name not in needed}
    worked = {*names} - kept.keys()
    same = {
        name: found[name] for name in by_name if name in found and worked.isdisjoint(found[name]["reports"])
    }
    again = [path for name, path in by_name.items() if name in found and name not in same]
    return (*chapters, *read_chapters(reading, again, problems)), kept, same


def _check_overwritten(chapters: Iterable[ReadChapter], names: frozenset[str], problems: Problems) -> None:
    """Add a problem for each block that is to be written over and that no chapter has."""
    known = {block.name for each in chapters if each.chapter for block in each.chapter.blocks}
    for name in sorted(names - known):
        problems.add(f"--overwrite {name}: no chapter has such a block", hint=near(name, known))


def _chapter_text(page: Draft, overwrite: frozenset[str], problems: Problems) -> str:
    """Return a chapter as it should be; a template that hides the marker below its own text is a problem."""
    text = page.text(overwrite)
    if text != page.chapter.text:
        read(page.chapter.name, text, problems)
    return text


def _orphans(built: BuiltProject) -> Orphans | None:
    """Return what nothing writes any more, None where a report that is not known may write it."""
    before, known = built.before, report_names(built.reading, built.project)
    trusted = (
        {} if before is None else {name: before.reports[name] for name in known if name in before.reports}
    )
    if {*trusted, *built.names} != {*known}:
        return None
    owned = {name_of(built.root, path) for path in built.files}
    owned |= {name for each in trusted.values() for name, _ in before.outputs(each)} if before else set()
    chapters = {each.name for each in built.chapters} | built.kept_chapters.keys()
    return orphans(built.root, built.project, owned, chapters, before)


def write(root: Path, request: Request) -> BuildResult:
    """Write all files that differ, and return what became of each and what a reader should know of values.

    A build of the project as it is declared leaves a stamp, by which the next one knows what changed.
    """
    _check_prune(request)
    with locked(root / PROJECT_FILE):
        before = stamp.read(root) if request.is_as_declared() else None
        if before is not None and request.overwrite:
            before = before.forget()
        built = build_project(root, request, before)
        _refuse_edits(built, request.overwrite)
        became = publish(built.files, {page.path: page.data for page in built.pages})
        if request.prune and built.orphans:
            became |= dict.fromkeys(remove(root, built.orphans.outputs), REMOVED)
        notes = built.notes()
        notes += built.orphans.notes() if built.orphans else ()
        if request.is_as_declared():
            notes += _leave_stamp(built)
    if before is not None:
        files = [name for each in built.kept.values() for name, _ in before.outputs(each)]
        named = [name for name, each in built.kept_chapters.items() if built.concerns(each)]
        became |= {root / name: UNCHANGED for name in (*files, *named)}
    return BuildResult(
        root, {path: became[path] for path in sorted(became)}, built.said(), notes, _left(built, became)
    )


def _check_prune(request: Request) -> None:
    """Refuse to remove what is left over where not the whole project is built: the rest may write it."""
    if request.prune and not request.is_whole():
        hint = "run it alone: tile-ledger build --prune"
        raise LedgerError(Problem("--prune needs all reports, as they are declared", hint=hint))


def _left(built: BuiltProject, became: Mapping[Path, str]) -> list[str]:
    """Return the outputs that nothing writes any more and that are still there."""
    names = built.orphans.outputs if built.orphans else ()
    return [name for name in names if built.root / name not in became]


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


def _leave_stamp(built: BuiltProject) -> list[str]:
    """Write the stamp of what was read and written; return a line of talk if that fails."""
    try:
        publish({built.root / stamp.STAMP: _stamp(built).text().encode()})
    except LedgerError as error:
        return [f"{error}: the next check will do the whole work"]
    return []


def _stamp(built: BuiltProject) -> NewStamp:
    """Return the stamp of a project that was built, or of a part of it with what is still as it was."""
    new = NewStamp()
    hashes = {
        name_of(built.root, path): hashlib.sha256(data).hexdigest() for path, data in built.files.items()
    }
    known = report_names(built.reading, built.project)
    _stamp_reports(built, known, hashes, new)
    _stamp_chapters(built, hashes, new)
    chapters = sorted({each.name for each in built.chapters} | built.kept_chapters.keys())
    opened = {name: digest for name, digest in built.reading.opened.items() if name not in chapters}
    new.project = new.entry(opened, {}, {}, reports=known, chapters=chapters)
    for (folder, pattern), names in built.reading.listed.items():
        new.pattern(folder, pattern, names)
    for folder, pattern in watched(built.project):
        new.pattern(folder, pattern, matching(built.root, folder, pattern))
    owned = {*new.outputs(), *chapters}
    if built.before is not None:
        new.left = remembered(built.root, built.before, owned)
    if built.orphans is not None:
        new.left |= built.orphans.left()
    return new


def _stamp_reports(
    built: BuiltProject, known: Sequence[str], hashes: Mapping[str, str], new: NewStamp
) -> None:
    """Note the reports that were worked out, and all others that are as they were built."""
    said = built.said()
    for each in built.reports:
        read_files = each.worked.declared.files
        folder = name_of(built.root, built.root / built.project.reports / each.name)
        outputs = {f"{folder}/{name}": hashes[f"{folder}/{name}"] for name in each.files}
        new.reports[each.name] = new.entry(
            read_files.opened, read_files.listed, outputs, said=said[each.name]
        )
    if built.before is not None:
        for name in known:
            if name in built.before.reports and name not in new.reports:
                new.reports[name] = new.kept(built.before, built.before.reports[name])


def _stamp_chapters(built: BuiltProject, hashes: Mapping[str, str], new: NewStamp) -> None:
    """Note the chapters of which all was looked at: the block of another report may be another one there."""
    notes = {page.chapter.name: [*map(str, warnings(page.chapter))] for page in built.pages}
    worked = {each.name for each in built.reports}
    known = () if built.before is None else built.before.chapters
    for each in built.chapters:
        if worked >= each.reports or (each.name in known and new.reports.keys() >= each.reports):
            opened = {each.name: hashes.get(each.name, each.digest)}
            new.chapters[each.name] = new.entry(
                opened, {}, {}, reports=sorted(each.reports), notes=notes.get(each.name, [])
            )
    if built.before is not None:
        for name, entry in built.kept_chapters.items():
            if new.reports.keys() >= {*entry["reports"]}:
                new.chapters[name] = new.kept(built.before, entry)
