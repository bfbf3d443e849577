"""What is stale, which printed cells moved, and which changed input, formula or file moved them."""

from __future__ import annotations

import html
import itertools
from dataclasses import asdict, dataclass
from functools import cache
from typing import TYPE_CHECKING

from ledger.book import inject
from ledger.display.answer import json_text
from ledger.errors import first_of
from ledger.evaluate.trace import find
from ledger.project.build import Edition, name_of
from ledger.project.causes import Cause, causes, explains
from ledger.project.differences import PrintedChange, ViewCells, printed_changes, view_cells
from ledger.project.stamp import FRESH, FRESH_JSON

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from ledger.book.chapters import Draft

    Views = Callable[[str], ViewCells | None]


#: More moved cells of one file are not told.
_MOST_PER_FILE = 60
MISSING, DIFFERS, EDITED = "missing", "stale", "edited by hand"
_SHOWN_AS = (".md", ".txt")


@dataclass(frozen=True, slots=True)
class Stale:
    """A file that is not what it should be, and why."""

    file: str
    why: str


@dataclass(frozen=True, slots=True)
class CheckResult:
    """All stale files, the cells that moved, and the causes with the numbers of the cells each moved."""

    stale: tuple[Stale, ...]
    moved: tuple[PrintedChange, ...]
    causes: tuple[tuple[Cause, tuple[int, ...]], ...]
    repair: str


def check(made: Edition) -> CheckResult:
    """Return what differs between the files as they are and as they should be."""
    pages = {page.path: page for page in made.pages}
    views = _views(made)
    stale: list[Stale] = []
    found: list[PrintedChange] = []
    for path, data in sorted(made.files.items()):
        name = name_of(made.root, path)
        page = pages.get(path)
        old = page.data if page else path.read_bytes() if path.is_file() else None
        edited = page is not None and bool(page.protected())
        if old == data and not edited:
            continue
        stale.append(Stale(name, EDITED if edited else MISSING if old is None else DIFFERS))
        here = _in_chapter(page, made, views) if page else _in_output(name, old, data, views)
        found += itertools.islice(sorted(here, key=lambda each: each.line), _MOST_PER_FILE)
    return CheckResult(tuple(stale), tuple(found), _assigned(made, found) if stale else (), _repair(made))


def _repair(made: Edition) -> str:
    edited = sorted({block.name for page in made.pages for block in page.protected()})
    return " ".join(["tile-ledger build", *(f"--overwrite {name}" for name in edited)])


def _assigned(made: Edition, found: Sequence[PrintedChange]) -> tuple[tuple[Cause, tuple[int, ...]], ...]:
    """Return each cause with the numbers of the cells it moved.

    That a file changed is told where no change in it is known that says more, or where a cell needs it.
    """
    known = causes(made)
    reports = {built.name: built.worked for built in made.built}
    of_cell = cache(lambda cell: explains(reports, known, cell))
    whole = tuple(cause for cause in known if cause.is_whole())
    of_moved = [{cause for cell in each.cells for cause in of_cell(cell)} or set(whole) for each in found]
    told: dict[tuple[str, ...], tuple[Cause, list[int]]] = {}
    for cause in known:
        # An input of several sheets is told once.
        _, numbers = told.setdefault((cause.place, cause.what, cause.old, cause.new), (cause, []))
        numbers += (i for i, of in enumerate(of_moved) if cause in of and i not in numbers)
    fine = {cause.file for cause in known if not cause.is_whole()}
    return tuple(
        (cause, tuple(sorted(of)))
        for cause, of in told.values()
        if of or not cause.is_whole() or cause.file not in fine
    )


def _views(made: Edition) -> Views:
    """Return what finds a view by REPORT/VIEW, each worked out once and only if it is asked for."""
    reports = {built.name: built.worked for built in made.built}

    @cache
    def view(name: str) -> ViewCells | None:
        report, _, rest = name.partition("/")
        return view_cells(reports[report], rest) if report in reports else None

    return view


def _in_chapter(page: Draft, made: Edition, views: Views) -> Iterator[PrintedChange]:
    """Yield what moved in the blocks and values of a chapter."""
    name, text = page.chapter.name, page.chapter.text
    for block, content in page.blocks():
        view = views(block.name)
        if view and (inject.is_stale(block, content) or inject.is_edited(block)):
            first, old = text.count("\n", 0, block.start) + 1, text[block.start : block.stop]
            found = (
                list(printed_changes(name, first, old, content, block.medium, view)) if block.content else []
            )
            how = "written in another way" if block.content else "not written yet"
            yield from found or [PrintedChange(name, block.line, block.name, "", how, ())]
    plans = {built.name: (built.worked.plan, built.worked.result) for built in made.built}
    for value in page.chapter.values:
        wanted = page.values.get(value.key)
        if wanted is not None and inject.is_moved(value, wanted):
            plan, _, spot = find(value.path, plans)
            old, new = html.unescape(value.text), html.unescape(wanted)
            yield PrintedChange(name, value.line, value.path, old, new, ((plan.name, spot),))


def _in_output(name: str, old: bytes | None, data: bytes, views: Views) -> Iterator[PrintedChange]:
    """Yield what moved in a view's Markdown, or in its text if that is a template of its own."""
    report, _, file = name.rpartition("/")
    view = views(f"{report.rpartition('/')[2]}/{file.rpartition('.')[0]}")
    if old is None or view is None or not name.endswith(_SHOWN_AS):
        return
    if name.endswith(".txt") and not view.view.templates:
        return  # its Markdown has told the same
    try:
        yield from printed_changes(
            name, 1, old.decode("utf-8"), data.decode("utf-8"), name.rpartition(".")[2], view
        )
    except UnicodeDecodeError:
        return


# Cells that moved under one cause.
_MOST = 12


def drift_text(found: CheckResult) -> str:
    """Return stale files and moved cells under the change that moved them, and how to repair them."""
    if not found.stale:
        return FRESH
    return "\n".join(_drift_lines(found))


def _drift_lines(found: CheckResult) -> Iterator[str]:
    told: set[int] = set()
    for cause, numbers in found.causes:
        change = f"{cause.old} → {cause.new}" if cause.old else cause.new
        yield f"{cause.place} {cause.what} {change}"
        yield from _moved_lines([found.moved[i] for i in numbers])
        told.update(numbers)
    rest = [each for i, each in enumerate(found.moved) if i not in told]
    if rest:
        yield (
            "no change of an input or a declaration explains these"
            if found.causes
            else "edited, or of an older build"
        )
        yield from _moved_lines(rest)
    for each in found.stale:
        yield f"{each.why:16}  {each.file}"
    count = "1 file is" if len(found.stale) == 1 else f"{len(found.stale)} files are"
    yield f"{count} stale; run: {found.repair}"


def _moved_lines(moved: list[PrintedChange]) -> Iterator[str]:
    lines = []
    for each in moved:
        where = f"  {each.where}" if each.where else ""
        lines.append(f"{each.file}:{each.line}{where}  {each.old or '∅'} → {each.new or '∅'}")
    yield from (f"  {line}" for line in first_of(lines, _MOST))


def drift_json(found: CheckResult) -> str:
    """Return the same as one JSON object."""
    if not found.stale:
        return FRESH_JSON
    moved = [{key: value for key, value in asdict(each).items() if key != "cells"} for each in found.moved]
    causes = [
        {"place": cause.place, "what": cause.what, "old": cause.old, "new": cause.new, "moved": list(numbers)}
        for cause, numbers in found.causes
    ]
    return json_text(
        {
            "fresh": False,
            "causes": causes,
            "moved": moved,
            "stale": [asdict(each) for each in found.stale],
            "repair": found.repair,
        }
    )
