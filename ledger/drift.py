"""What is stale, which printed cells moved, and which changed input, formula or file moved them."""

from __future__ import annotations

import difflib
import html
import itertools
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ledger import inject
from ledger.causes import Cause, Cell, causes, explains
from ledger.explain import find
from ledger.trace import Spot
from ledger.views import row_numbers

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ledger.book import Page
    from ledger.edition import Edition
    from ledger.plan import PlannedView

#: More moved cells of one file are not told.
_MOST_PER_FILE = 60
MISSING, DIFFERS, EDITED = "missing", "stale", "edited by hand"
_CELL_END = re.compile(r"(?<!\\)\|")
# What a line begins with: all before a colon, else its first word.
_HEAD = re.compile(r"[^:：=]+(?=\s*[:：])|\S+")
_SHOWN_AS = (".md", ".txt")


@dataclass(frozen=True, slots=True)
class Moved:
    """A printed cell, or a word of a line, that is not what it should be; `cells` are those it may print."""

    file: str
    line: int
    where: str
    old: str
    new: str
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class Stale:
    """A file that is not what it should be, and why."""

    file: str
    why: str


@dataclass(frozen=True, slots=True)
class Drift:
    """All stale files, the cells that moved, and the causes with the numbers of the cells each moved."""

    stale: tuple[Stale, ...]
    moved: tuple[Moved, ...]
    causes: tuple[tuple[Cause, tuple[int, ...]], ...]
    repair: str


def drift(made: Edition) -> Drift:
    """Return what differs between the files as they are and as they should be."""
    pages = {page.path: page for page in made.pages}
    stale: list[Stale] = []
    moved: list[Moved] = []
    for path, data in sorted(made.files.items()):
        name = path.relative_to(made.root).as_posix()
        old = path.read_bytes() if path.is_file() else None
        page = pages.get(path)
        edited = page is not None and bool(page.protected())
        if old == data and not edited:
            continue
        stale.append(Stale(name, EDITED if edited else MISSING if old is None else DIFFERS))
        found_here = _moved_in(page, made) if page else _moved_output(name, old, data, made)
        moved += itertools.islice(found_here, _MOST_PER_FILE)
    found = causes(made) if stale else ()
    return Drift(tuple(stale), tuple(moved), _assigned(made, found, moved), _repair(made))


def _repair(made: Edition) -> str:
    edited = sorted({block.name for page in made.pages for block in page.protected()})
    return " ".join(["tile-ledger build", *(f"--overwrite {name}" for name in edited)])


def _assigned(
    made: Edition, found: Sequence[Cause], moved: Sequence[Moved]
) -> tuple[tuple[Cause, tuple[int, ...]], ...]:
    """Return each cause with the numbers of the cells it moved."""
    reports = {built.name: built.worked for built in made.built}
    of_cell = [{cause for cell in each.cells for cause in explains(reports, found, cell)} for each in moved]
    return tuple((cause, tuple(i for i, of in enumerate(of_cell) if cause in of)) for cause in found)


def _moved_in(page: Page, made: Edition) -> Iterator[Moved]:
    """Yield what moved in the blocks and values of a chapter."""
    views = _views(made)
    plans = {built.name: (built.worked.plan, built.worked.result) for built in made.built}
    for block, content in page.blocks():
        if inject.is_stale(block, content) or inject.is_edited(block):
            first = page.chapter.text.count("\n", 0, block.start) + 1
            old = page.chapter.text[block.start : block.stop]
            yield from _compare(page.chapter.name, first, old, content, views.get(block.name))
    for value in page.chapter.values:
        text = page.values.get(value.key)
        if text is not None and inject.is_moved(value, text):
            plan, _, spot = find(value.path, plans)
            old, new = html.unescape(value.text), html.unescape(text)
            cells = ((plan.name, spot),)
            yield Moved(page.chapter.name, value.line, value.path, old, new, cells)


@dataclass(frozen=True, slots=True, eq=False)
class _Shown:
    """A view, and the rows of its sheet that it prints."""

    report: str
    view: PlannedView
    rows: range

    def cells(self, row: int | None, column: int | None) -> tuple[Cell, ...]:
        """Return the cells that a place of the view prints; all of a record, where no place is known."""
        if self.view.kind == "matrix" or (row is None and len(self.rows) > 1):
            return ()
        columns = self.view.columns if column is None else self.view.columns[column : column + 1]
        number = self.rows[row or 0]
        return tuple((self.report, Spot(self.view.sheet, number, each.node)) for each in columns)


def _views(made: Edition) -> dict[str, _Shown]:
    return {
        f"{built.name}/{view.name}": _Shown(
            built.name, view, row_numbers(view, built.worked.result.sheets[view.sheet])
        )
        for built in made.built
        for view in built.worked.plan.views
    }


def _moved_output(name: str, old: bytes | None, data: bytes, made: Edition) -> Iterator[Moved]:
    """Yield what moved in a view's Markdown, or in its text if that is a template of its own."""
    report, _, file = name.rpartition("/")
    view = _views(made).get(f"{report.rpartition('/')[2]}/{file.rpartition('.')[0]}")
    if old is None or view is None or not name.endswith(_SHOWN_AS):
        return
    if name.endswith(".txt") and not view.view.templates:
        return  # its Markdown has told the same
    try:
        yield from _compare(name, 1, old.decode("utf-8"), data.decode("utf-8"), view)
    except UnicodeDecodeError:
        return


def _compare(name: str, first: int, old: str, new: str, view: _Shown | None) -> Iterator[Moved]:
    """Yield what differs between two texts of a view: cells of a table, else words; of blank text nothing."""
    if not old.strip() or not new.strip():
        return
    ours, theirs = _table(old, first), _table(new, 1)
    if not ours or not theirs or [*map(len, ours.values())][:1] != [*map(len, theirs.values())][:1]:
        yield from _compare_lines(name, first, old, new, view)
        return
    (_, heads), *rows = theirs.items()
    before = {cells[0]: (line, cells) for line, cells in ours.items()}
    for number, (_, cells) in enumerate(rows):
        line, were = before.get(cells[0], (first, None))
        if were is None:
            yield Moved(name, line, cells[0], "", "a new row", ())
            continue
        for column, (head, was, now) in enumerate(zip(heads, were, cells, strict=True)):
            if was != now:
                shown = view.cells(number, column) if view else ()
                yield Moved(name, line, f"{cells[0]} · {head}", was, now, shown)
    for key in before.keys() - {cells[0] for cells in theirs.values()}:
        yield Moved(name, before[key][0], key, "the row", "gone", ())


def _table(text: str, first: int) -> dict[int, list[str]]:
    """Return the cells of a Markdown table by line; empty if the text has none."""
    found: dict[int, list[str]] = {}
    for number, line in enumerate(text.splitlines(), first):
        bare = line.strip()
        if bare.startswith("|") and bare.endswith("|") and set(bare) - set("|-: "):
            found[number] = [html.unescape(cell.strip()) for cell in _CELL_END.split(bare)[1:-1]]
    return found


def _compare_lines(name: str, first: int, old: str, new: str, view: _Shown | None) -> Iterator[Moved]:
    ours, theirs = old.splitlines(), new.splitlines()
    for tag, a, b, c, d in difflib.SequenceMatcher(None, ours, theirs, autojunk=False).get_opcodes():
        if tag == "equal" or not any(line.strip() for line in (*ours[a:b], *theirs[c:d])):
            continue
        for i in range(max(b - a, d - c)):
            was = ours[a + i] if a + i < b else ""
            now = theirs[c + i] if c + i < d else ""
            cells = view.cells(None, None) if view else ()
            yield from _compare_words(name, first + min(a + i, b), was, now, cells)


def _compare_words(name: str, line: int, was: str, now: str, cells: tuple[Cell, ...]) -> Iterator[Moved]:
    """Yield the words of a line that moved, under what the line begins with; the whole line if words came."""
    ours, theirs = was.split(), now.split()
    if len(ours) != len(theirs):
        yield Moved(name, line, "", was.strip(), now.strip(), cells)
        return
    head = _HEAD.match(now.strip())
    for old, new in zip(ours, theirs, strict=True):
        if old != new:
            yield Moved(name, line, head[0] if head else "", old, new, cells)
