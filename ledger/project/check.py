"""What is stale, which printed cells changed, and which changed input, formula or file changed them."""

from __future__ import annotations

import contextlib
import html
import itertools
from collections.abc import Callable
from functools import cache, partial
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from ledger.book import inject
from ledger.book.media import MEDIA, WORDS
from ledger.declarations.files import content, name_of
from ledger.evaluate.trace import find
from ledger.project.causes import causes, explains
from ledger.project.differences import (
    Cause,
    PrintedChange,
    Stale,
    ViewCells,
    printed_changes,
    view_cells,
)
from ledger.project.results import LEFT, ORPHAN, CheckResult

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ledger.book.chapters import Draft
    from ledger.project.build import BuiltProject

Views = Callable[[str], ViewCells | None]

#: More changed cells of one file are left out.
_MOST_PER_FILE = 60
MISSING, DIFFERS, EDITED = "missing", "stale", "edited by hand"


def check(built: BuiltProject) -> CheckResult:
    """Return what differs between the files as they are and as they should be."""
    pages = {page.path: page for page in built.pages}
    views: Views = cache(partial(view_cells, {each.name: each.worked for each in built.reports}))
    stale: list[Stale] = []
    found: list[PrintedChange] = []
    for path, data in sorted(built.files.items()):
        name, page = name_of(built.root, path), pages.get(path)
        old = page.data if page else content(path, name) if path.is_file() else None
        edited = page is not None and bool(page.protected())
        if old != data or edited:
            stale.append(Stale(name, EDITED if edited else MISSING if old is None else DIFFERS))
            here = _in_chapter(page, built, views) if page else _in_output(name, old, data, views)
            found += itertools.islice(sorted(here, key=lambda each: each.line), _MOST_PER_FILE)
    prune = built.orphans is not None and bool(built.orphans.outputs)
    if built.orphans:
        stale += [Stale(name, ORPHAN) for name in built.orphans.outputs]
        stale += [Stale(name, LEFT) for name in built.orphans.chapters]
    if not stale:
        return CheckResult(built.said())
    blocks = sorted({block.name for page in built.pages for block in page.protected()})
    options = [*(["--prune"] if prune else []), *(f"--overwrite {name}" for name in blocks)]
    repair = " ".join(["tile-ledger build", *options]) if any(each.why != LEFT for each in stale) else ""
    return CheckResult(built.said(), stale, found, _assigned(built, found), repair)


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
    for block, now in page.blocks():
        view = views(block.name)
        if view and (inject.is_stale(block, now) or inject.is_edited(block)):
            first, old = text.count("\n", 0, block.start) + 1, text[block.start : block.stop]
            changes = (
                printed_changes(name, first, old, now, WORDS[block.medium], view) if block.content else ()
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
