"""What is stale, which printed cells changed, and which changed input, formula or file changed them."""

from __future__ import annotations

import contextlib
import html
import itertools
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from functools import cache, partial
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from ledger.book import inject
from ledger.book.media import MEDIA, WORDS
from ledger.display.answer import Answer, json_text
from ledger.errors import first_of
from ledger.evaluate.trace import find
from ledger.project.build import BuiltProject, name_of
from ledger.project.causes import Cause, causes, explains
from ledger.project.differences import PrintedChange, ViewCells, printed_changes, view_cells
from ledger.project.stamp import FRESH

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from ledger.book.chapters import Draft
    from ledger.evaluate.claims import ClaimFinding
    from ledger.evaluate.findings import ValueFinding

Views = Callable[[str], ViewCells | None]

#: More changed cells of one file are left out; of those under one cause, the text leaves out more.
_MOST_PER_FILE, _MOST = 60, 12
MISSING, DIFFERS, EDITED = "missing", "stale", "edited by hand"


@dataclass(frozen=True, slots=True)
class Stale:
    """A file that is not what it should be, and why."""

    file: str
    why: str


@dataclass(frozen=True, slots=True)
class CheckResult:
    """All stale files, the cells that changed, the causes with the numbers of the cells each changed.

    `claims` and `findings` are what is to be said of claims and values, each with its report.
    """

    stale: tuple[Stale, ...]
    changes: tuple[PrintedChange, ...]
    causes: tuple[tuple[Cause, tuple[int, ...]], ...]
    repair: str
    claims: tuple[tuple[str, ClaimFinding], ...] = ()
    findings: tuple[tuple[str, ValueFinding], ...] = ()

    @property
    def is_fresh(self) -> bool:
        """Whether every output and chapter is what it should be."""
        return not self.stale

    @property
    def are_claims_right(self) -> bool:
        """Whether every claim holds, but for rows in which it is known to fail."""
        return not any(claim.is_wrong for _, claim in self.claims)


def answer(found: CheckResult, form: str) -> Answer:
    """Return what is stale in a project and why, as text or JSON."""
    text = _json(found) if form == "json" else "\n".join(_lines(found))
    return Answer(text, bool(found.stale) or not found.are_claims_right)


def told(built: BuiltProject) -> Mapping[str, object]:
    """Return what a check says, and whether it finds something, while nothing is stale."""
    found = _fresh(built)
    return {form: answer(found, form).data for form in ("text", "json")} | {
        "found": not found.are_claims_right
    }


def _fresh(built: BuiltProject) -> CheckResult:
    """Return what is to be said of the claims and the values of a project of which nothing is stale."""
    claims = tuple((each.name, claim) for each in built.reports for claim in each.claims)
    findings = tuple((each.name, finding) for each in built.reports for finding in each.findings)
    return CheckResult((), (), (), "", claims, findings)


def check(built: BuiltProject) -> CheckResult:
    """Return what differs between the files as they are and as they should be."""
    pages = {page.path: page for page in built.pages}
    views: Views = cache(partial(view_cells, {each.name: each.worked for each in built.reports}))
    stale: list[Stale] = []
    found: list[PrintedChange] = []
    for path, data in sorted(built.files.items()):
        name, page = name_of(built.root, path), pages.get(path)
        old = page.data if page else path.read_bytes() if path.is_file() else None
        edited = page is not None and bool(page.protected())
        if old != data or edited:
            stale.append(Stale(name, EDITED if edited else MISSING if old is None else DIFFERS))
            here = _in_chapter(page, built, views) if page else _in_output(name, old, data, views)
            found += itertools.islice(sorted(here, key=lambda each: each.line), _MOST_PER_FILE)
    if not stale:
        return _fresh(built)
    blocks = sorted({block.name for page in built.pages for block in page.protected()})
    repair = " ".join(["tile-ledger build", *(f"--overwrite {name}" for name in blocks)])
    return replace(
        _fresh(built), stale=tuple(stale), changes=tuple(found), causes=_assigned(built, found), repair=repair
    )


def _assigned(
    built: BuiltProject, found: Sequence[PrintedChange]
) -> tuple[tuple[Cause, tuple[int, ...]], ...]:
    """Return each cause with the numbers of the cells it changed.

    A whole file is a cause where no change of an input or a formula in it is known, or where a cell needs it.
    """
    known = causes(built)
    of_cell = cache(partial(explains, {each.name: each.worked for each in built.reports}, known))
    whole = {cause for cause in known if cause.is_whole()}
    of_change = [{cause for cell in each.cells for cause in of_cell(cell)} or whole for each in found]
    merged: dict[tuple[str, ...], tuple[Cause, list[int]]] = {}
    for cause in known:
        # An input of several sheets is one cause.
        _, numbers = merged.setdefault((cause.place, cause.what, cause.old, cause.new), (cause, []))
        numbers += (i for i, of in enumerate(of_change) if cause in of and i not in numbers)
    fine = {cause.file for cause in known if not cause.is_whole()}
    return tuple(
        (cause, tuple(sorted(of)))
        for cause, of in merged.values()
        if of or not cause.is_whole() or cause.file not in fine
    )


def _in_chapter(page: Draft, built: BuiltProject, views: Views) -> Iterator[PrintedChange]:
    """Yield what changed in the blocks and values of a chapter."""
    name, text = page.chapter.name, page.chapter.text
    for block, content in page.blocks():
        view = views(block.name)
        if view and (inject.is_stale(block, content) or inject.is_edited(block)):
            first, old = text.count("\n", 0, block.start) + 1, text[block.start : block.stop]
            changes = (
                printed_changes(name, first, old, content, WORDS[block.medium], view) if block.content else ()
            )
            how = "written in another way" if block.content else "not written yet"
            yield from list(changes) or [PrintedChange(name, block.line, block.name, "", how, ())]
    plans = {each.name: (each.worked.plan, each.worked.result) for each in built.reports}
    for value in page.chapter.values:
        wanted = page.values.get(value.key)
        if wanted is not None and inject.is_moved(value, wanted):
            plan, _, spot = find(value.path, plans)
            old, new = html.unescape(value.text), html.unescape(wanted)
            yield PrintedChange(name, value.line, value.path, old, new, ((plan.name, spot),))


def _in_output(name: str, old: bytes | None, data: bytes, views: Views) -> Iterator[PrintedChange]:
    """Yield what changed in a view's Markdown, or in its text if that is a template of its own."""
    path = PurePosixPath(name)
    view = views(f"{path.parent.name}/{path.stem}")
    # Without a template of its own, the Markdown has the same changes as the text.
    if old is None or view is None or path.suffix not in {".md", ".txt" if view.view.templates else ""}:
        return
    with contextlib.suppress(UnicodeDecodeError):
        yield from printed_changes(name, 1, old.decode(), data.decode(), MEDIA[path.suffix[1:]], view)


def _lines(found: CheckResult) -> Iterator[str]:
    """Yield stale files and changed cells under the change that caused them, and how to repair them."""
    yield from (line for report, claim in found.claims for line in claim.lines(report))
    if not found.stale:
        yield FRESH
        return
    for cause, numbers in found.causes:
        yield f"{cause.place} {cause.what} {f'{cause.old} → ' if cause.old else ''}{cause.new}"
        yield from _cell_lines(found.changes[i] for i in numbers)
    explained = {i for _, numbers in found.causes for i in numbers}
    rest = [each for i, each in enumerate(found.changes) if i not in explained]
    if rest:
        unexplained = "no change of an input or a declaration explains these"
        yield unexplained if found.causes else "edited, or of an older build"
        yield from _cell_lines(rest)
    yield from (f"{each.why:16}  {each.file}" for each in found.stale)
    count = "1 file is" if len(found.stale) == 1 else f"{len(found.stale)} files are"
    yield f"{count} stale; run: {found.repair}"


def _cell_lines(changes: Iterable[PrintedChange]) -> Iterator[str]:
    """Yield the place and both texts of the first cells that changed, and how many more there are."""
    lines = []
    for each in changes:
        where = f"  {each.where}" if each.where else ""
        lines.append(f"{each.file}:{each.line}{where}  {each.old or '∅'} → {each.new or '∅'}")
    yield from (f"  {line}" for line in first_of(lines, _MOST))


def _json(found: CheckResult) -> str:
    """Return the same as one JSON object."""
    return json_text(
        {
            "fresh": not found.stale,
            "causes": [
                {"place": each.place, "what": each.what, "old": each.old, "new": each.new, "moved": numbers}
                for each, numbers in found.causes
            ],
            "moved": [
                {key: value for key, value in asdict(each).items() if key != "cells"}
                for each in found.changes
            ],
            "stale": [asdict(each) for each in found.stale],
            "claims": [{"report": report, **asdict(claim)} for report, claim in found.claims],
            "findings": [{"report": report, **asdict(each)} for report, each in found.findings],
            "repair": found.repair,
        }
    )
